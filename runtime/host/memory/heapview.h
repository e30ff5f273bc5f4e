/* SPDX-License-Identifier: Apache-2.0 */
/* heapview.h - heaps, as the log is told of them (viewer.h): how full, of what classes,
 * where, what pools above them served, and who holds most. */
#ifndef GPURT_HOST_HEAPVIEW_H
#define GPURT_HOST_HEAPVIEW_H

#include "viewer.h"

#include <gpurt/heap.h>

/* It ends: a last look, and who still holds memory of it. Context: before it goes. */
void gpurt_heapview_end(gpurt_t *rt, const gpurt_heap_t *heap);

/* For viewer.c, under its lock. */
void gpurt_heapview_tell(gpurt_viewer_t *v, bool last);
void gpurt_heapview_forget(const gpurt_t *rt);

#endif
