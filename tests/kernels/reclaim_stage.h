/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim_stage.h - a heap, tables that defer its frees, and what must be true of all. */
#ifndef GPURT_TESTS_RECLAIM_STAGE_H
#define GPURT_TESTS_RECLAIM_STAGE_H

#include "reclaim_kernels.h"
#include "stage.h"

#include <gpurt/heap.h>
#include <gpurt/reclaim.h>

GPURT_KERNEL_DECLARE(reclaim_stack, struct reclaim_args);
GPURT_KERNEL_DECLARE(reclaim_queue, struct reclaim_args);
GPURT_KERNEL_DECLARE(reclaim_queue_begin, struct reclaim_args);
GPURT_KERNEL_DECLARE(reclaim_rest, struct reclaim_args);
GPURT_KERNEL_DECLARE(reclaim_cancelled, struct reclaim_args);
GPURT_KERNEL_DECLARE(reclaim_slots, struct reclaim_args);
GPURT_KERNEL_DECLARE(reclaim_leave_of, struct reclaim_args);
GPURT_KERNEL_DECLARE(reclaim_no_pointer, struct reclaim_args);
GPURT_KERNEL_DECLARE(reclaim_refs, struct reclaim_args);
GPURT_KERNEL_DECLARE(reclaim_refs_end, struct reclaim_args);
GPURT_KERNEL_DECLARE(reclaim_ref_call, struct reclaim_args);

typedef struct stage {
    struct reclaim_args args;
    gpurt_launch_t launch, one; /* one: a single warp */
} stage_t;

/* What a stage is made of; zeros are defaults. */
typedef struct setting {
    gpurt_heap_options_t heap;
    gpurt_epochs_options_t epochs;
    gpurt_hazards_options_t hazards;
    gpurt_refs_options_t refs;
    uint32_t node_bytes, rounds, cells, blocks, threads, dawdle;
    bool alone;
} setting_t;

static inline void stage_open(stage_t *s, const setting_t *set, uint32_t guard,
                              uint32_t seed)
{
    uint32_t lanes = set->blocks * set->threads;
    struct reclaim_args *a = &s->args;

    memset(s, 0, sizeof *s);
    s->launch =
        (gpurt_launch_t){.grid = {set->blocks, 1, 1}, .block = {set->threads, 1, 1}};
    s->one = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {32, 1, 1}};
    OK(gpurt_heap_create(rt, &set->heap, &a->heap, &err));
    OK(gpurt_epochs_create(rt, &a->heap, &set->epochs, &a->epochs, &err));
    OK(gpurt_hazards_create(rt, &a->heap, &set->hazards, &a->hazards, &err));
    OK(gpurt_refs_create(rt, &a->heap, &set->refs, &a->refs, &err));
    a->value_count = lanes * set->rounds;
    a->cell_count = set->cells > lanes ? set->cells : lanes;
    a->node_bytes = set->node_bytes;
    a->rounds = set->rounds;
    a->seed = seed;
    a->guard = guard;
    a->alone = set->alone;
    a->dawdle = set->dawdle;
    a->verdict = (reclaim_verdict_t *)stage_zeros(sizeof *a->verdict);
    a->ends = (uint64_t *)stage_zeros(2 * sizeof *a->ends);
    a->taken = (uint32_t *)stage_zeros(a->value_count * sizeof *a->taken);
    a->cells = (uint64_t *)stage_zeros(a->cell_count * sizeof *a->cells);
}

static inline void stage_close(stage_t *s)
{
    stage_silent(&s->args.heap);
    OK(gpurt_refs_destroy(rt, &s->args.refs, &err));
    OK(gpurt_hazards_destroy(rt, &s->args.hazards, &err));
    OK(gpurt_epochs_destroy(rt, &s->args.epochs, &err));
    OK(gpurt_heap_destroy(rt, &s->args.heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.verdict), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.ends), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.taken), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.cells), GPURT_OK);
}

static inline reclaim_verdict_t stage_verdict(const stage_t *s)
{
    reclaim_verdict_t v;

    stage_read(&v, s->args.verdict, sizeof v);
    return v;
}

static inline uint64_t stage_live(const stage_t *s)
{
    gpurt_heap_stats_t stats;

    OK(gpurt_heap_check(rt, &s->args.heap, &err));
    OK(gpurt_heap_stats(rt, &s->args.heap, &stats, &err));
    for (uint32_t i = 0; i < GPURT_FREE_FAULTS; i++)
        CHECK_MSG(stats.counts.xbad_frees[i] == 0, "%llu frees of kind %u",
                  (unsigned long long)stats.counts.xbad_frees[i], i);
    return stats.live - stats.kept;
}

/* Of the values that came out so far: how many, and how many of them twice. */
static inline uint64_t stage_taken(const stage_t *s, uint32_t *twice)
{
    size_t bytes = s->args.value_count * sizeof(uint32_t);
    uint32_t *taken = (uint32_t *)malloc(bytes);
    uint64_t sum = 0;

    CHECK(taken != NULL);
    stage_read(taken, s->args.taken, bytes);
    *twice = 0;
    for (uint32_t i = 0; i < s->args.value_count; i++) {
        sum += taken[i];
        *twice += taken[i] > 1;
    }
    free(taken);
    return sum;
}

static inline gpurt_reclaim_stats_t stage_reclaimed(const stage_t *s)
{
    gpurt_reclaim_stats_t stats = {0};

    if (s->args.guard == RECLAIM_EPOCH)
        OK(gpurt_epochs_stats(rt, &s->args.epochs, &stats, &err));
    if (s->args.guard == RECLAIM_HAZARD)
        OK(gpurt_hazards_stats(rt, &s->args.hazards, &stats, &err));
    return stats;
}

static inline void stage_sweep(const stage_t *s)
{
    if (s->args.guard == RECLAIM_EPOCH)
        OK(gpurt_epochs_sweep(rt, &s->args.epochs, &err));
    if (s->args.guard == RECLAIM_HAZARD)
        OK(gpurt_hazards_sweep(rt, &s->args.hazards, &err));
}

/* A launch of lanes that push and pop, or (mode 1) only pop. Returns: false when it did not
 * end well, which only an unguarded one may do. */
static inline bool stage_round(stage_t *s, bool queue)
{
    gpurt_error_t err = {0};
    gpurt_status_t st = queue ? gpurt_launch(rt, &s->launch, reclaim_queue, &s->args, &err)
                              : gpurt_launch(rt, &s->launch, reclaim_stack, &s->args, &err);

    if (st == GPURT_OK)
        st = gpurt_stream_sync(rt, 0, &err);
    if (st != GPURT_OK && s->args.guard == RECLAIM_BARE)
        return false;
    ok_at(CHECK_HERE, st, &err);
    return true;
}

/* Lanes push and pop, then pop until nothing comes. Returns: how much went wrong, which is
 * nothing when somebody looks after the nodes. */
static inline uint32_t stage_storm(stage_t *s, bool queue)
{
    gpurt_launch_t lane = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    uint64_t taken = 0, before = ~0ull, pushed;
    uint32_t twice = 0;
    reclaim_verdict_t v;

    if (queue)
        OK(gpurt_launch(rt, &lane, reclaim_queue_begin, &s->args, &err));
    for (uint32_t i = 0; taken != before && i < 20; i++) {
        s->args.mode = i > 0;
        if (!stage_round(s, queue))
            return 1;
        before = i > 1 ? taken : ~0ull;
        taken = stage_taken(s, &twice);
        if (s->args.guard != RECLAIM_BARE) {
            stage_sweep(s);
            RUN_AS(s, one, reclaim_rest);
        }
    }
    v = stage_verdict(s);
    pushed = v.xlives - queue;
    if (s->args.guard == RECLAIM_BARE)
        return v.xreused + v.xwrong + twice + (taken != pushed);
    s->args.mode = 2;
    RUN_AS(s, one, reclaim_rest);
    CHECK_MSG(v.xreused + v.xwrong + twice == 0,
              "%u nodes were used again too early, %u values were none, %u came twice",
              v.xreused, v.xwrong, twice);
    CHECK_EQ(taken, pushed);
    CHECK(taken > 0);
    return 0;
}

/* Nothing waits, nothing leaked, nobody is inside. */
static inline void stage_quiet(stage_t *s, uint64_t abandoned)
{
    gpurt_reclaim_stats_t stats = stage_reclaimed(s);

    CHECK_EQ(stats.retired, stats.freed);
    CHECK_EQ(stats.waiting + stats.lost + stats.open + stats.named, 0);
    CHECK_EQ(stats.abandoned, abandoned);
    CHECK_EQ(stage_live(s), 0);
}

#endif
