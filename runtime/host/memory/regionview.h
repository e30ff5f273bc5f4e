/* SPDX-License-Identifier: Apache-2.0 */
/* regionview.h - the class of objects (watch.h) "region": how full, in how many rows, where, and what
 * was refused. */
#ifndef GPURT_HOST_REGIONVIEW_H
#define GPURT_HOST_REGIONVIEW_H

#include <gpurt/gpurt.h>
#include <gpurt/impl/regionmap.h>

/* It is looked at from now on, until its end. name: may be NULL. */
void gpurt_regionview_begin(gpurt_t *rt, const gpurt_region_t *region, const char *name);
/* It ends: a last look. Context: before its memory goes. */
void gpurt_regionview_end(gpurt_t *rt, const gpurt_region_t *region);

#endif
