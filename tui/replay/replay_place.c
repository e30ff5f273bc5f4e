/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_place.h"

#include <gpurt/arenas.h>
#include <gpurt/heap.h>
#include <gpurt/regions.h>
#include <stdio.h>
#include <string.h>

/* ---- a heap -------------------------------------------------------------------------- */

static gpurt_status_t heap_make(replay_place_t *place, const replay_shape_t *shape,
                                gpurt_error_t *err)
{
    gpurt_heap_options_t o = {.struct_size = sizeof o,
                              .bytes = shape->bytes,
                              .shards = shape->shards,
                              .spread = shape->spread,
                              .run_chunks = shape->run_chunks,
                              .checks = place->policy->checks};

    return gpurt_heap_create(place->rt, &o, &place->args->heap, err);
}

static gpurt_status_t heap_faults(replay_place_t *place, const gpurt_heap_counts_t *counts,
                                  replay_measure_t *out, gpurt_error_t *err)
{
    for (uint32_t i = 0; i < GPURT_FREE_FAULTS; i++)
        out->faults += counts->xbad_frees[i];
    if (!place->policy->checks)
        return GPURT_OK;
    return gpurt_heap_faults(place->rt, &place->args->heap, NULL, 0, &out->faults, err);
}

static gpurt_status_t heap_measure(replay_place_t *place, replay_measure_t *out,
                                   gpurt_error_t *err)
{
    gpurt_heap_stats_t stats;
    gpurt_status_t st = gpurt_heap_stats(place->rt, &place->args->heap, &stats, err);

    memset(out, 0, sizeof *out);
    if (st != GPURT_OK)
        return st;
    out->used = (uint64_t)(stats.chunks - stats.free_chunks) * GPURT_CHUNK_BYTES;
    out->free_bytes = (uint64_t)stats.free_chunks * GPURT_CHUNK_BYTES;
    out->longest = (uint64_t)stats.largest_row * GPURT_CHUNK_BYTES;
    memcpy(out->got, stats.counts.xgot, sizeof out->got);
    return heap_faults(place, &stats.counts, out, err);
}

static gpurt_status_t heap_check(replay_place_t *place, gpurt_error_t *err)
{
    return gpurt_heap_check(place->rt, &place->args->heap, err);
}

static gpurt_status_t heap_end(replay_place_t *place, gpurt_error_t *err)
{
    return gpurt_heap_destroy(place->rt, &place->args->heap, err);
}

/* ---- a region ------------------------------------------------------------------------ */

static gpurt_status_t region_make(replay_place_t *place, const replay_shape_t *shape,
                                  gpurt_error_t *err)
{
    gpurt_region_options_t o = {.struct_size = sizeof o,
                                .fit = place->policy->fit,
                                .bytes = shape->bytes,
                                .granule = shape->granule};

    return gpurt_region_create(place->rt, &o, &place->args->region, err);
}

static gpurt_status_t region_measure(replay_place_t *place, replay_measure_t *out,
                                     gpurt_error_t *err)
{
    gpurt_region_stats_t stats;
    gpurt_status_t st = gpurt_region_stats(place->rt, &place->args->region, &stats, err);

    memset(out, 0, sizeof *out);
    if (st != GPURT_OK)
        return st;
    out->used = stats.live_bytes;
    out->free_bytes = stats.bytes - stats.live_bytes;
    out->longest = stats.largest;
    for (uint32_t i = GPURT_REGION_FOREIGN; i <= GPURT_REGION_TWICE; i++)
        out->faults += stats.counts.xanswers[i];
    return GPURT_OK;
}

static gpurt_status_t region_check(replay_place_t *place, gpurt_error_t *err)
{
    return gpurt_region_check(place->rt, &place->args->region, err);
}

static gpurt_status_t region_end(replay_place_t *place, gpurt_error_t *err)
{
    return gpurt_region_destroy(place->rt, &place->args->region, err);
}

/* ---- arenas -------------------------------------------------------------------------- */

static gpurt_status_t arenas_make(replay_place_t *place, const replay_shape_t *shape,
                                  gpurt_error_t *err)
{
    struct replay_args *args = place->args;
    gpurt_launch_t launch = {.block = {REPLAY_THREADS, 1, 1}};
    gpurt_status_t st;

    if (shape->piece_bytes > shape->bytes)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "arena: a piece of %u bytes does not fit into a heap of %llu",
                          shape->piece_bytes, (unsigned long long)shape->bytes);
    st = heap_make(place, shape, err);
    args->piece_bytes = shape->piece_bytes;
    launch.grid.x = (args->arena_count + REPLAY_THREADS - 1) / REPLAY_THREADS;
    if (st == GPURT_OK)
        st = gpurt_arena_source_create(place->rt, &args->heap, args->arena_count,
                                       &args->source, err);
    if (st == GPURT_OK)
        st = gpurt_launch(place->rt, &launch, replay_arenas_begin, args, err);
    return st;
}

static gpurt_status_t arenas_end(replay_place_t *place, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_arena_source_destroy(place->rt, &place->args->source, err);
    gpurt_status_t last = heap_end(place, st == GPURT_OK ? err : NULL);

    return st == GPURT_OK ? last : st;
}

/* ---- all of them --------------------------------------------------------------------- */

#define HEAP   heap_make, heap_measure, heap_check, heap_end
#define REGION region_make, region_measure, region_check, region_end
#define ARENAS arenas_make, heap_measure, heap_check, arenas_end
const replay_policy_t replay_policies[REPLAY_POLICIES] = {
    {"heap", "a heap, as gpurt_alloc", &gpurt_kernel_replay_heap, 1, 0, 0, HEAP},
    {"cheap", "a heap that checks cheaply", &gpurt_kernel_replay_heap_checked, 1, 0,
     GPURT_CHECKS_CHEAP, HEAP},
    {"full", "a heap that checks fully", &gpurt_kernel_replay_heap_checked, 1, 0,
     GPURT_CHECKS_FULL, HEAP},
    {"first", "a region, first fit", &gpurt_kernel_replay_region, 1, GPURT_FIT_FIRST, 0,
     REGION},
    {"best", "a region, best fit", &gpurt_kernel_replay_region, 1, GPURT_FIT_BEST, 0,
     REGION},
    {"worst", "a region, worst fit", &gpurt_kernel_replay_region, 1, GPURT_FIT_WORST, 0,
     REGION},
    {"pools", "pools of thread, warp and block above a heap", &gpurt_kernel_replay_pools,
     REPLAY_POOL_CALLS, 0, 0, HEAP},
    {"arena", "arenas, one a lane, that end at marks", &gpurt_kernel_replay_arenas, 1, 0, 0,
     ARENAS},
};

const replay_policy_t *replay_policy_find(const char *name, size_t length)
{
    for (uint32_t i = 0; i < REPLAY_POLICIES; i++)
        if (strlen(replay_policies[i].name) == length &&
            memcmp(replay_policies[i].name, name, length) == 0)
            return &replay_policies[i];
    return NULL;
}

/* Of several policies one may refuse what others take, so its text begins with its name. */
static void policy_name(const replay_policy_t *policy, gpurt_error_t *err)
{
    gpurt_error_t why;

    if (!err)
        return;
    why = *err;
    snprintf(err->text, sizeof err->text, "--policy %s: %.*s", policy->name,
             (int)sizeof why.text - 32, why.text);
}

gpurt_status_t replay_place_make(replay_place_t *place, const replay_policy_t *policy,
                                 gpurt_t *rt, const replay_shape_t *shape,
                                 struct replay_args *args, gpurt_error_t *err)
{
    gpurt_status_t st;

    *place = (replay_place_t){policy, rt, args};
    memset(&args->heap, 0, sizeof args->heap);
    memset(&args->region, 0, sizeof args->region);
    memset(&args->source, 0, sizeof args->source);
    st = policy->make(place, shape, err);
    if (st == GPURT_OK)
        return st;
    policy->end(place, NULL);
    policy_name(policy, err);
    return st;
}
