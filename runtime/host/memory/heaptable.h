/* SPDX-License-Identifier: Apache-2.0 */
/* heaptable.h - the heaps that exist, and the calls that use each of them now.
 *
 * A call takes a heap and drops it at its end: meanwhile its memory stays, whoever destroys
 * it. A destroy retires it, so that nobody new gets it, and its memory goes with whoever
 * drops it last: the destroyer, or a call that was still inside. Nobody waits for anybody,
 * so a call may last, and a function that gpurt_heap_walk calls may destroy the heap.
 * heapmap.h has what host code calls of this; here is what heap.c makes and ends heaps with.
 * Context of all: host, any thread. */
#ifndef GPURT_HOST_HEAPTABLE_H
#define GPURT_HOST_HEAPTABLE_H

#include "backend.h"
#include "heapmap.h"

/* Enters it under an id of its own, which is set. It is not to be had before it is opened. */
gpurt_status_t gpurt_heaptable_add(gpurt_t *rt, gpurt_heap_t *heap, void *memory,
                                   gpurt_range_t *range, gpurt_error_t *err);
/* All of it is made: from now on it can be taken. */
void gpurt_heaptable_open(const gpurt_heap_t *heap);
/* One that was not opened, whose memory is the caller's again. */
void gpurt_heaptable_remove(const gpurt_heap_t *heap);

/* Takes it and lets nobody else do so any more. Returns: as gpurt_heap_take; of several
 * callers one gets GPURT_OK. */
gpurt_status_t gpurt_heaptable_retire(gpurt_t *rt, const gpurt_heap_t *heap,
                                      gpurt_error_t *err);

/* In a forked child: all heaps are its parent's. Context: no call is inside. */
void gpurt_heaptable_forked(void);

/* Of its chunks, or NULL when it cannot grow. Context: it is taken. */
gpurt_range_t *gpurt_heaptable_range(const gpurt_heap_t *heap);

#endif
