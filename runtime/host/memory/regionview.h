/* SPDX-License-Identifier: Apache-2.0 */
/* regionview.h - regions, as the log is told of them (viewer.h): how full, in how many rows,
 * where, and what was refused. */
#ifndef GPURT_HOST_REGIONVIEW_H
#define GPURT_HOST_REGIONVIEW_H

#include "viewer.h"

#include <gpurt/impl/regionmap.h>

/* It is looked at from now on, until its end. name: may be NULL. Of more than 64 the rest
 * goes untold. */
void gpurt_regionview_begin(gpurt_t *rt, const gpurt_region_t *region, const char *name);
/* It ends: a last look. Context: before its memory goes. */
void gpurt_regionview_end(gpurt_t *rt, const gpurt_region_t *region);

/* For viewer.c, under its lock. */
void gpurt_regionview_tell(gpurt_viewer_t *v, bool last);
void gpurt_regionview_forget(const gpurt_t *rt);

#endif
