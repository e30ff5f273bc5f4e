/* SPDX-License-Identifier: Apache-2.0 */
/* gc.h - the host's side of a collector: make one, let it run, look into it.
 *
 *     static const gpurt_gc_type_t types[] = {{.handles = 1 << 0, .tail = GPURT_GC_NO_TAIL,
 *                                              .bytes = 16}};         word 0 is a handle
 *     gpurt_gc_options_t o = {.types = types, .type_count = 1, .roots = 1};
 *     gpurt_gc_create(rt, &heap, &o, &gc, &err);
 *     ... launch kernels that use object.h ...
 *     gpurt_gc_collect(rt, &gc, GPURT_GC_MINOR_CYCLE, &err);          while they run
 *     gpurt_gc_destroy(rt, &gc, &err);
 *
 * Objects are those of an ordinary heap, which others may use too. A collection runs in a
 * stream of its own, beside the kernels that work with objects; none of them is ever
 * stopped. The heap must outlive the collector: destroy that first. Where the heap went
 * before it, collections and the rest but gpurt_gc_stats say GPURT_E_HANDLE. Context of all
 * calls: host, any thread; one collection at a time runs, others wait. */
#ifndef GPURT_GC_H
#define GPURT_GC_H

#include <gpurt/gpurt.h>
#include <gpurt/impl/gcmap.h>

typedef enum gpurt_gc_kind {
    GPURT_GC_MAJOR_CYCLE = 0, /* every object that cannot be reached is freed */
    GPURT_GC_MINOR_CYCLE = 1  /* of the young ones */
} gpurt_gc_kind_t;

typedef struct gpurt_gc_options {
    uint32_t struct_size; /* sizeof(gpurt_gc_options_t), or 0: lets the library grow it */
    uint32_t objects;     /* at a time; default 65,536, at most 16 M */
    uint32_t roots;       /* default 64 */
    uint32_t sections;    /* at a time; default one for each warp that can be resident */
    uint32_t type_count;  /* at most GPURT_GC_TYPES; none: there is one without handles */
    uint32_t wait_ms;     /* how long a collection waits for open sections; 10,000 */
    const gpurt_gc_type_t *types; /* copied */
} gpurt_gc_options_t;

typedef struct gpurt_gc_stats {
    uint64_t objects, bytes; /* that exist: reachable, or not yet collected */
    uint64_t old, dying;     /* of them; dying ones are freed in the next collection */
    uint64_t allocated, freed, freed_bytes;
    uint64_t promoted;                  /* became old */
    uint64_t marked;                    /* looked through in the last collection */
    uint64_t answers[GPURT_GC_ANSWERS]; /* that calls of kernels got */
    uint32_t cycle;
    uint32_t open_sections, oldest_block;
    bool unfinished; /* the last collection waits for a section that is open */
} gpurt_gc_stats_t;

GPURT_BEGIN_DECLS

/* options: NULL for defaults. */
gpurt_status_t gpurt_gc_create(gpurt_t *rt, const gpurt_heap_t *heap,
                               const gpurt_gc_options_t *options, gpurt_gc_t *out,
                               gpurt_error_t *err);

/* Its objects stay in the heap. Refused, as with the pointer of another device, it stays as it
 * was. Context: no kernel uses it. NULL and zeros: nothing. */
gpurt_status_t gpurt_gc_destroy(gpurt_t *rt, gpurt_gc_t *gc, gpurt_error_t *err);

/* A whole cycle. Objects that were unreachable when it began are freed at its end; those
 * that became unreachable meanwhile, in the next one.
 * Returns: GPURT_E_NOT_READY when a section stays open for too long; nothing is lost, and
 * the next call goes on from there. */
gpurt_status_t gpurt_gc_collect(gpurt_t *rt, const gpurt_gc_t *gc, gpurt_gc_kind_t kind,
                                gpurt_error_t *err);

/* Closes sections of warps that were cancelled in them. Context: no kernel uses it. */
gpurt_status_t gpurt_gc_recover(gpurt_t *rt, const gpurt_gc_t *gc, gpurt_error_t *err);

/* Moves objects out of chunks that are nearly empty into ones that are nearly full, so that
 * other sizes can have the chunks. Handles stay as they are. *moved may be NULL.
 * Context: no kernel uses the heap. */
gpurt_status_t gpurt_gc_compact(gpurt_t *rt, const gpurt_gc_t *gc, uint32_t *moved,
                                gpurt_error_t *err);

gpurt_status_t gpurt_gc_stats(gpurt_t *rt, const gpurt_gc_t *gc, gpurt_gc_stats_t *out,
                              gpurt_error_t *err);

GPURT_END_DECLS

#endif
