/* SPDX-License-Identifier: Apache-2.0 */
/* lists [PASSES [MS]] - lists that grow in a region, pass by pass, with scratch in arenas.
 * A pause of MS milliseconds behind each pass leaves time to look:
 *
 *     gpurt-top -- lists 1000 20        key 8: how full the region is, and how fragmented */
#include "lists.h"

#include <gpurt/arenas.h>
#include <gpurt/heap.h>
#include <gpurt/regions.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    BLOCKS = 8,
    THREADS = 64
};

/* All that the program has. Owner: main. */
typedef struct stage {
    gpurt_t *rt;
    gpurt_heap_t heap;
    struct lists_args args;
    gpurt_error_t err;
} stage_t;

static gpurt_status_t zeros(stage_t *s, size_t bytes, void **out)
{
    gpurt_status_t st = gpurt_mem_create(s->rt, bytes, out, &s->err);

    return st == GPURT_OK ? gpurt_fill(s->rt, GPURT_STREAM_DEFAULT, *out, 0, bytes, &s->err)
                          : st;
}

static gpurt_status_t stage_open(stage_t *s)
{
    gpurt_heap_options_t heap = {.bytes = 32 << 20};
    gpurt_region_options_t region = {
        .bytes = 4 << 20, .fit = GPURT_FIT_BEST, .name = "lists"};
    gpurt_status_t st = gpurt_open(NULL, &s->rt, &s->err);
    void *lists = NULL, *counts = NULL;

    if (st == GPURT_OK)
        st = gpurt_heap_create(s->rt, &heap, &s->heap, &s->err);
    if (st == GPURT_OK)
        st = gpurt_region_create(s->rt, &region, &s->args.region, &s->err);
    if (st == GPURT_OK)
        st = gpurt_arena_source_create(s->rt, &s->heap, 0, &s->args.source, &s->err);
    if (st == GPURT_OK)
        st = zeros(s, sizeof(list_t) * BLOCKS * THREADS, &lists);
    if (st == GPURT_OK)
        st = zeros(s, sizeof(lists_counts_t), &counts);
    s->args.lists = (list_t *)lists;
    s->args.counts = (lists_counts_t *)counts;
    return st;
}

static void stage_close(stage_t *s)
{
    gpurt_mem_destroy(s->rt, s->args.counts);
    gpurt_mem_destroy(s->rt, s->args.lists);
    gpurt_arena_source_destroy(s->rt, &s->args.source, NULL);
    gpurt_region_destroy(s->rt, &s->args.region, NULL);
    gpurt_heap_destroy(s->rt, &s->heap, NULL);
    gpurt_close(s->rt, NULL);
}

static gpurt_status_t passes_run(stage_t *s, uint32_t passes, long pause_ms)
{
    static const gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000};
    gpurt_status_t st = GPURT_OK;

    for (s->args.pass = 0; s->args.pass < passes && st == GPURT_OK; s->args.pass++) {
        st = gpurt_launch(s->rt, &launch, lists_grow, &s->args, &s->err);
        if (st == GPURT_OK)
            st = gpurt_sync(s->rt, &s->err);
        if (pause_ms)
            nanosleep(&pause, NULL);
    }
    return st == GPURT_OK ? gpurt_launch(s->rt, &launch, lists_check, &s->args, &s->err)
                          : st;
}

int main(int argc, char **argv)
{
    uint32_t passes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 20;
    stage_t s = {.rt = NULL};
    gpurt_region_stats_t region;
    lists_counts_t counts = {0, 0, 0};
    gpurt_status_t st = stage_open(&s);

    if (st == GPURT_OK)
        st = passes_run(&s, passes, argc > 2 ? strtol(argv[2], NULL, 0) : 0);
    if (st == GPURT_OK)
        st = gpurt_copy(s.rt, GPURT_STREAM_DEFAULT, &counts, s.args.counts, sizeof counts,
                        &s.err);
    if (st == GPURT_OK)
        st = gpurt_region_stats(s.rt, &s.args.region, &region, &s.err);
    if (st == GPURT_OK)
        printf(
            "lists: %u numbers in %llu blocks, %llu KiB of %llu, %llu holes; %u requests "
            "refused: %s\n",
            counts.xnumbers, (unsigned long long)region.live,
            (unsigned long long)(region.live_bytes >> 10),
            (unsigned long long)(region.bytes >> 10), (unsigned long long)region.holes,
            counts.xrefused, counts.xwrong ? "WRONG" : "all right");
    else
        fprintf(stderr, "lists: %s\n", s.err.text);
    stage_close(&s);
    return st != GPURT_OK || counts.xwrong;
}
