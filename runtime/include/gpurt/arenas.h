/* SPDX-License-Identifier: Apache-2.0 */
/* arenas.h - the host's side of arenas: what they grow from, and who has what of it.
 *
 *     gpurt_arena_source_t source;
 *     gpurt_arena_source_create(rt, &heap, 0, &source, &err);
 *     struct args a = {.source = source, ...};     kernels: gpurt_arena_grow_from(&a, &p->source, 0)
 *     ... launch, wait
 *     gpurt_arena_source_sweep(rt, &source, NULL, &err);
 *
 * Arenas give their pieces back themselves when they end. What blocks that were cancelled
 * left behind is found in the source's table: by the sweep, between launches, or by
 * gpurt_arena_sweep (arena.h) at the begin of the next launch, which needs an epoch of its
 * own: gpurt_arena_source_next before each launch. The description may be copied freely; a copy
 * of one that was destroyed is recognised: GPURT_E_HANDLE. Context of all calls: host, any
 * thread. */
#ifndef GPURT_ARENAS_H
#define GPURT_ARENAS_H

#include <gpurt/arena.h>
#include <gpurt/heap.h>

enum {
    GPURT_ARENA_SLOTS = 65536, /* arenas that grow at a time, when nothing was chosen */
    GPURT_ARENA_SOURCES = 1024 /* at a time in a process */
};

/* Of all arenas of a source that have grown and not ended; those of blocks that were
 * cancelled are among them until a sweep. */
typedef struct gpurt_arena_stats {
    uint64_t arenas;
    uint64_t pieces, bytes; /* of the heap that they have */
    uint64_t largest;       /* bytes that one of them has, the most */
    uint64_t taken;         /* bytes of all pieces that arenas have had, and */
    uint64_t refused;       /* arenas that found no slot, both since the source was made */
} gpurt_arena_stats_t;

GPURT_BEGIN_DECLS

/* The heap outlives the source: destroy that first. Where the heap went before it, sweeps say
 * GPURT_E_HANDLE. slots: arenas that can have grown at a time; 0: 65,536. */
gpurt_status_t gpurt_arena_source_create(gpurt_t *rt, const gpurt_heap_t *heap,
                                         uint32_t slots, gpurt_arena_source_t *out,
                                         gpurt_error_t *err);

/* What arenas still have stays with the heap. When it is refused (GPURT_E_HANDLE: destroyed
 * before, or another device's) *source stays as it was. NULL and a source of zeros: nothing. */
gpurt_status_t gpurt_arena_source_destroy(gpurt_t *rt, gpurt_arena_source_t *source,
                                          gpurt_error_t *err);

/* Reads the table. While kernels run, a snapshot whose parts may differ by what they did
 * meanwhile. */
gpurt_status_t gpurt_arena_source_stats(gpurt_t *rt, const gpurt_arena_source_t *source,
                                        gpurt_arena_stats_t *out, gpurt_error_t *err);

/* Gives all pieces back that the table knows. pieces: how many; may be NULL.
 * Context: no kernel uses the source. Returns: GPURT_E_FAULT when a kernel has written over
 * the begin of a piece; others are given back all the same. */
gpurt_status_t gpurt_arena_source_sweep(gpurt_t *rt, const gpurt_arena_source_t *source,
                                        uint64_t *pieces, gpurt_error_t *err);

GPURT_END_DECLS

/* Another epoch for the next launch. */
static inline void gpurt_arena_source_next(gpurt_arena_source_t *source)
{
    source->epoch++;
}

#endif
