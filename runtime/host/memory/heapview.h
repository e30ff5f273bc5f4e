/* SPDX-License-Identifier: Apache-2.0 */
/* heapview.h - the classes of objects (watch.h) "heap" and "holder": how full a heap is, of what
 * sizes, where, what pools above it served, and who holds most. */
#ifndef GPURT_HOST_HEAPVIEW_H
#define GPURT_HOST_HEAPVIEW_H

#include <gpurt/heap.h>

/* It is looked at from now on, until its end. */
void gpurt_heapview_begin(gpurt_t *rt, const gpurt_heap_t *heap);
/* It ends: a last look. Context: before its memory goes. */
void gpurt_heapview_end(gpurt_t *rt, const gpurt_heap_t *heap);

#endif
