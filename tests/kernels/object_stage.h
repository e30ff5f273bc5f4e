/* SPDX-License-Identifier: Apache-2.0 */
/* object_stage.h - a heap, a collector, and an oracle that follows all handles from the
 * roots in a copy of the heap. */
#ifndef GPURT_TESTS_OBJECT_STAGE_H
#define GPURT_TESTS_OBJECT_STAGE_H

#include "object_kernels.h"
#include "stage.h"

#include <gpurt/gc.h>
#include <gpurt/heap.h>

GPURT_KERNEL_DECLARE(object_mutators, struct object_args);
GPURT_KERNEL_DECLARE(object_storm, struct object_args);
GPURT_KERNEL_DECLARE(object_waits, struct object_args);
GPURT_KERNEL_DECLARE(object_armed, struct object_args);
GPURT_KERNEL_DECLARE(object_list, struct object_args);
GPURT_KERNEL_DECLARE(object_follow, struct object_args);
GPURT_KERNEL_DECLARE(object_hang, struct object_args);
GPURT_KERNEL_DECLARE(object_answers, struct object_args);
GPURT_KERNEL_DECLARE(object_cancelled, struct object_args);

static const gpurt_gc_type_t object_types[OBJECT_TYPES] = {
    {.handles = 3, .tail = GPURT_GC_NO_TAIL, .bytes = 40},
    {.handles = 0, .tail = 2, .bytes = 40},
};

typedef struct stage {
    struct object_args args;
    gpurt_launch_t launch, lane; /* lane: a single one */
    gpurt_gc_entry_t *entries;   /* copies, for the oracle */
    uint64_t *roots;
    char *chunks;
    uint8_t *reached;
} stage_t;

/* What a stage is made of. */
typedef struct setting {
    gpurt_heap_options_t heap;
    uint32_t objects, roots, sections, wait_ms;
    uint32_t blocks, threads, active, rounds, ops, cycles, bytes, dawdle, cells;
    bool alone;
} setting_t;

static inline void stage_open(stage_t *s, const setting_t *set, uint32_t seed)
{
    gpurt_gc_options_t o = {.objects = set->objects,
                            .roots = set->roots,
                            .sections = set->sections,
                            .type_count = OBJECT_TYPES,
                            .wait_ms = set->wait_ms,
                            .types = object_types};
    struct object_args *a = &s->args;
    gpurt_heap_t heap;

    memset(s, 0, sizeof *s);
    OK(gpurt_heap_create(rt, &set->heap, &heap, &err));
    OK(gpurt_gc_create(rt, &heap, &o, &a->gc, &err));
    a->verdict = (object_verdict_t *)stage_zeros(sizeof *a->verdict);
    a->cell_count = set->cells ? set->cells : 64;
    a->cells = (uint64_t *)stage_zeros(a->cell_count * sizeof *a->cells);
    a->rounds = set->rounds;
    a->ops = set->ops;
    a->active = set->active;
    a->cycles = set->cycles;
    a->bytes = set->bytes;
    a->dawdle = set->dawdle;
    a->alone = set->alone;
    a->seed = seed;
    s->launch =
        (gpurt_launch_t){.grid = {set->blocks, 1, 1}, .block = {set->threads, 1, 1}};
    s->lane = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {1, 1, 1}};
    s->entries = (gpurt_gc_entry_t *)malloc(a->gc.entry_count * sizeof *s->entries);
    s->roots = (uint64_t *)malloc(a->gc.root_count * sizeof *s->roots);
    s->chunks = (char *)malloc((size_t)heap.chunk_count * GPURT_CHUNK_BYTES);
    s->reached = (uint8_t *)malloc(a->gc.entry_count);
    CHECK(s->entries && s->roots && s->chunks && s->reached);
}

static inline void stage_close(stage_t *s)
{
    gpurt_heap_t heap = s->args.gc.heap;

    stage_silent(&heap);
    OK(gpurt_gc_destroy(rt, &s->args.gc, &err));
    OK(gpurt_heap_destroy(rt, &heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.verdict), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.cells), GPURT_OK);
    free(s->entries);
    free(s->roots);
    free(s->chunks);
    free(s->reached);
}

static inline object_verdict_t stage_verdict(const stage_t *s)
{
    object_verdict_t v;

    stage_read(&v, s->args.verdict, sizeof v);
    CHECK_MSG(v.xgone == 0, "%u objects were gone though they could be reached", v.xgone);
    CHECK_EQ(v.xwrong, 0);
    CHECK_EQ(v.xanswers, 0);
    CHECK_EQ(v.xlost, 0);
    return v;
}

static inline gpurt_gc_stats_t stage_stats(const stage_t *s)
{
    gpurt_gc_stats_t stats;

    OK(gpurt_heap_check(rt, &s->args.gc.heap, &err));
    OK(gpurt_gc_stats(rt, &s->args.gc, &stats, &err));
    return stats;
}

/* What the heap knows of: as many objects as the collector. */
static inline void stage_heap(const stage_t *s, uint64_t objects)
{
    gpurt_heap_stats_t stats;

    OK(gpurt_heap_stats(rt, &s->args.gc.heap, &stats, &err));
    CHECK_EQ(stats.live - stats.kept, objects);
    for (uint32_t i = 0; i < GPURT_FREE_FAULTS; i++)
        CHECK_EQ(stats.counts.xbad_frees[i], 0);
}

/* ---- the oracle ---------------------------------------------------------------------- */

/* An object that can be reached exists, under that handle, with its words. */
static inline const uint64_t *oracle_object(const stage_t *s, uint64_t handle)
{
    const gpurt_gc_entry_t *e = &s->entries[(uint32_t)handle];
    const uint64_t *words;
    uint32_t at;

    CHECK((uint32_t)handle < s->args.gc.entry_count);
    CHECK_MSG(e->xaddress && e->xgeneration == handle >> 32 && !(e->xmeta & GPURT_GC_DYING),
              "entry %u can be reached and was freed", (uint32_t)handle);
    words = (const uint64_t *)(s->chunks +
                               (e->xaddress - (uint64_t)(uintptr_t)s->args.gc.heap.chunks));
    at = e->xmeta >> 16 == OBJECT_NODE ? OBJECT_NODE_SERIAL : OBJECT_ARRAY_SERIAL;
    CHECK_EQ(words[at + 1], words[at] * 0x9e3779b97f4a7c15ull + 1);
    for (uint32_t i = 4; e->xmeta >> 16 == OBJECT_NODE && i < e->xsize / 8; i++)
        CHECK_EQ(words[i], (words[at] + i) * 0x9e3779b97f4a7c15ull + 1);
    return words;
}

static inline void oracle_push(const stage_t *s, uint32_t *todo, uint32_t *count,
                               uint64_t handle)
{
    if (!handle || s->reached[(uint32_t)handle])
        return;
    oracle_object(s, handle);
    s->reached[(uint32_t)handle] = 1;
    todo[(*count)++] = (uint32_t)handle;
}

/* Returns: how many objects can be reached from the roots. */
static inline uint32_t oracle_count(const stage_t *s)
{
    const gpurt_gc_t *gc = &s->args.gc;
    uint32_t *todo = (uint32_t *)malloc(gc->entry_count * sizeof *todo), count = 0, sum = 0;

    CHECK(todo != NULL);
    stage_read(s->entries, gc->entries, gc->entry_count * sizeof *s->entries);
    stage_read(s->roots, gc->roots, gc->root_count * sizeof *s->roots);
    stage_read(s->chunks, gc->heap.chunks,
               (size_t)gc->heap.chunk_count * GPURT_CHUNK_BYTES);
    memset(s->reached, 0, gc->entry_count);
    for (uint32_t i = 0; i < gc->root_count; i++)
        oracle_push(s, todo, &count, s->roots[i]);
    for (; count; sum++) {
        const gpurt_gc_entry_t *e = &s->entries[todo[--count]];
        uint64_t handle = (uint64_t)e->xgeneration << 32 | (uint32_t)(e - s->entries);
        const uint64_t *words = oracle_object(s, handle);
        bool node = e->xmeta >> 16 == OBJECT_NODE;

        for (uint32_t i = node ? 0 : 2; i < (node ? 2 : e->xsize / 8); i++)
            oracle_push(s, todo, &count, words[i]);
    }
    free(todo);
    return sum;
}

/* Nothing that can be reached is gone; a collection leaves exactly that; and without roots
 * nothing. */
static inline void stage_settle(stage_t *s)
{
    uint32_t reached = oracle_count(s);

    OK(gpurt_gc_collect(rt, &s->args.gc, GPURT_GC_MAJOR_CYCLE, &err));
    CHECK_EQ(oracle_count(s), reached);
    CHECK_EQ(stage_stats(s).objects, reached);
    stage_heap(s, reached);
    OK(gpurt_gc_collect(rt, &s->args.gc, GPURT_GC_MINOR_CYCLE, &err));
    CHECK_EQ(oracle_count(s), reached);
    CHECK_EQ(stage_stats(s).objects, reached);
    OK(gpurt_fill(rt, 0, s->args.gc.roots, 0, s->args.gc.root_count * 8, &err));
    OK(gpurt_sync(rt, &err));
    OK(gpurt_gc_collect(rt, &s->args.gc, GPURT_GC_MAJOR_CYCLE, &err));
    CHECK_EQ(stage_stats(s).objects, 0);
    CHECK_EQ(stage_stats(s).allocated, stage_stats(s).freed);
    stage_heap(s, 0);
}

#endif
