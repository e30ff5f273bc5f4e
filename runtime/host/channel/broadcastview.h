/* SPDX-License-Identifier: Apache-2.0 */
/* broadcastview.h - the class of objects (watch.h) "broadcast": who reads, how far the slowest is behind,
 * what was missed, who waits. */
#ifndef GPURT_HOST_BROADCASTVIEW_H
#define GPURT_HOST_BROADCASTVIEW_H

#include <gpurt/gpurt.h>
#include <gpurt/impl/broadcastmap.h>

/* It is looked at from now on, until its end. */
void gpurt_broadcastview_begin(gpurt_t *rt, const gpurt_broadcast_t *broadcast);
/* It ends: a last look. Context: before its memory goes. */
void gpurt_broadcastview_end(gpurt_t *rt, const gpurt_broadcast_t *broadcast);

#endif
