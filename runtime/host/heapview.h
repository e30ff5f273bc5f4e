/* SPDX-License-Identifier: Apache-2.0 */
/* heapview.h - how heaps fare, told to the log twice a second (heaprow.h) by a thread that
 * copies their tables: kernels notice nothing of it. A heap that did not change is told of
 * again only every few seconds. GPURT_HEAP_VIEW=TIME in milliseconds, or off. */
#ifndef GPURT_HOST_HEAPVIEW_H
#define GPURT_HOST_HEAPVIEW_H

#include "boxmap.h"

#include <gpurt/heap.h>

/* Context: gpurt_open and gpurt_close, with no call inside. */
void gpurt_heapview_connect(const gpurt_boxmap_t *map, uint32_t section);
void gpurt_heapview_disconnect(void);

/* A heap was made: the thread is there from now on. */
void gpurt_heapview_begin(gpurt_t *rt);
/* It ends: a last look, and who still holds memory of it. Context: before it goes. */
void gpurt_heapview_end(gpurt_t *rt, const gpurt_heap_t *heap);
/* A last look at all that are left; the thread is gone. Context: before gpurt_close. */
void gpurt_heapview_stop(gpurt_t *rt);

#endif
