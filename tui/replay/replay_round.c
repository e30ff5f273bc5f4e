/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_round.h"

#include "hosttime.h"

#include <string.h>

enum {
    LOOKS = 64 /* at the place, in a round that looks */
};

/* ---- launches ------------------------------------------------------------------------ */

static gpurt_status_t launch(replay_run_t *run, const gpurt_kernel_t *kernel,
                             uint32_t lanes, gpurt_error_t *err)
{
    gpurt_launch_t shape = {.block = {REPLAY_THREADS, 1, 1}};

    shape.grid.x = (lanes + REPLAY_THREADS - 1) / REPLAY_THREADS;
    return gpurt_launch_kernel(run->rt, &shape, kernel, &run->args, sizeof run->args, err);
}

/* A kernel whose warps share calls out, a warp each as far as there is room. */
static gpurt_status_t launch_over(replay_run_t *run, const gpurt_kernel_t *kernel,
                                  uint32_t what, gpurt_error_t *err)
{
    uint64_t most = (uint64_t)run->info.sm_count * 8 * REPLAY_THREADS;
    uint64_t lanes = (uint64_t)(run->args.end - run->args.begin) * GPURT_WARP_SIZE;

    run->args.what = what;
    return launch(run, kernel, (uint32_t)(lanes < most ? lanes : most), err);
}

static gpurt_status_t batch_run(replay_run_t *run, const replay_policy_t *policy,
                                uint32_t batch, gpurt_error_t *err)
{
    struct replay_args *args = &run->args;
    gpurt_status_t st = GPURT_OK;
    uint32_t lanes;

    args->begin = run->trace->batches[batch];
    args->end = run->trace->batches[batch + 1];
    args->pass = run->trace->passes[batch];
    if (args->begin == args->end)
        return GPURT_OK;
    lanes = (args->end - args->begin + policy->calls - 1) / policy->calls;
    if (policy->step == &gpurt_kernel_replay_arenas)
        lanes = args->arena_count; /* all of them go back, and mark */
    if (args->looked_at)
        st = launch_over(run, &gpurt_kernel_replay_look, REPLAY_FREE, err);
    if (st == GPURT_OK)
        st = launch(run, policy->step, lanes, err);
    if (st == GPURT_OK && args->looked_at)
        st = launch_over(run, &gpurt_kernel_replay_write, REPLAY_ALLOC, err);
    return st;
}

/* ---- looking ------------------------------------------------------------------------- */

static gpurt_status_t sums_read(replay_run_t *run, replay_sums_t *out, gpurt_error_t *err)
{
    gpurt_status_t st =
        gpurt_copy(run->rt, GPURT_STREAM_DEFAULT, out, run->args.sums, sizeof *out, err);

    return st == GPURT_OK ? gpurt_sync(run->rt, err) : st;
}

static gpurt_status_t place_look(replay_run_t *run, replay_place_t *place,
                                 replay_outcome_t *out, gpurt_error_t *err)
{
    gpurt_status_t st = sums_read(run, &out->sums, err);

    if (st == GPURT_OK)
        st = place->policy->measure(place, &out->end, err);
    if (st == GPURT_OK && out->end.used > out->peak_used) {
        out->peak_used = out->end.used;
        out->peak_live = out->sums.xbytes - out->sums.xfreed;
    }
    return st;
}

/* Objects that nobody freed. */
static gpurt_status_t left_look(replay_run_t *run, gpurt_error_t *err)
{
    run->args.begin = 0;
    run->args.end = run->trace->call_count;
    return launch_over(run, &gpurt_kernel_replay_look, REPLAY_ALLOC, err);
}

static gpurt_status_t batches_looked(replay_run_t *run, replay_place_t *place,
                                     const replay_watcher_t *watcher, replay_outcome_t *out,
                                     gpurt_error_t *err)
{
    uint32_t every = run->trace->batch_count / LOOKS + 1;
    gpurt_status_t st = GPURT_OK;

    for (uint32_t i = 0; i < run->trace->batch_count && st == GPURT_OK; i++) {
        st = batch_run(run, place->policy, i, err);
        if (st == GPURT_OK && i % every == 0)
            st = place_look(run, place, out, err);
        if (st == GPURT_OK && watcher) {
            st = gpurt_sync(run->rt, err);
            st = st == GPURT_OK ? watcher->see(watcher->context, i, err) : st;
        }
    }
    if (st == GPURT_OK)
        st = left_look(run, err);
    return st == GPURT_OK ? place_look(run, place, out, err) : st;
}

static gpurt_status_t batches_timed(replay_run_t *run, replay_place_t *place,
                                    replay_outcome_t *out, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_sync(run->rt, err);
    uint64_t begin = gpurt_steady_ns();

    for (uint32_t i = 0; i < run->trace->batch_count && st == GPURT_OK; i++)
        st = batch_run(run, place->policy, i, err);
    if (st == GPURT_OK)
        st = gpurt_sync(run->rt, err);
    out->time_ns = gpurt_steady_ns() - begin;
    return st == GPURT_OK ? sums_read(run, &out->sums, err) : st;
}

/* ---- a round ------------------------------------------------------------------------- */

static gpurt_status_t clear(replay_run_t *run, gpurt_error_t *err)
{
    size_t objects = sizeof(uint64_t) * (size_t)run->trace->handles;
    gpurt_status_t st =
        gpurt_fill(run->rt, GPURT_STREAM_DEFAULT, run->args.objects, 0, objects, err);

    if (st == GPURT_OK)
        st = gpurt_fill(run->rt, GPURT_STREAM_DEFAULT, run->args.sums, 0,
                        sizeof *run->args.sums, err);
    return st;
}

/* Whether the policy did what it must. */
static gpurt_status_t judge(const replay_policy_t *policy, const replay_outcome_t *out,
                            gpurt_error_t *err)
{
    const replay_sums_t *s = &out->sums;

    if (s->xdamaged || s->xmisaligned || s->xwrong || out->end.faults)
        return gpurt_fail(err, GPURT_E_FAULT, GPURT_FROM_GPURT, 0,
                          "%s: objects that did not keep their bytes %llu, not aligned "
                          "%llu, wrong calls %llu, faults told %llu",
                          policy->name, (unsigned long long)s->xdamaged,
                          (unsigned long long)s->xmisaligned, (unsigned long long)s->xwrong,
                          (unsigned long long)out->end.faults);
    return GPURT_OK;
}

static gpurt_status_t round_on(replay_run_t *run, replay_place_t *place,
                               const replay_watcher_t *watcher, replay_outcome_t *out,
                               gpurt_error_t *err)
{
    gpurt_status_t st = clear(run, err);

    if (st == GPURT_OK)
        st = run->args.looked_at ? batches_looked(run, place, watcher, out, err)
                                 : batches_timed(run, place, out, err);
    if (st == GPURT_OK)
        st = place->policy->check(place, err);
    return st == GPURT_OK ? judge(place->policy, out, err) : st;
}

static gpurt_status_t round_run(replay_run_t *run, const replay_policy_t *policy,
                                const replay_watcher_t *watcher, replay_outcome_t *out,
                                gpurt_error_t *err)
{
    replay_place_t place;
    gpurt_status_t st, last;

    st = replay_place_make(&place, policy, run->rt, &run->shape, &run->args, err);
    if (st != GPURT_OK)
        return st;
    st = round_on(run, &place, watcher, out, err);
    last = policy->end(&place, st == GPURT_OK ? err : NULL);
    return st == GPURT_OK ? last : st;
}

gpurt_status_t replay_round(replay_run_t *run, const replay_policy_t *policy,
                            replay_outcome_t *out, gpurt_error_t *err)
{
    memset(out, 0, sizeof *out);
    run->args.looked_at = false;
    return round_run(run, policy, NULL, out, err);
}

gpurt_status_t replay_round_looked(replay_run_t *run, const replay_policy_t *policy,
                                   const replay_watcher_t *watcher, replay_outcome_t *out,
                                   gpurt_error_t *err)
{
    memset(out, 0, sizeof *out);
    run->args.looked_at = true;
    return round_run(run, policy, watcher, out, err);
}

/* ---- memory of all rounds ------------------------------------------------------------ */

gpurt_status_t replay_run_open(replay_run_t *run, gpurt_t *rt, const replay_trace_t *trace,
                               const replay_shape_t *shape, gpurt_error_t *err)
{
    size_t calls = sizeof *trace->calls * (size_t)trace->call_count;
    struct replay_args *args = &run->args;
    void *at = NULL;
    gpurt_status_t st;

    memset(run, 0, sizeof *run);
    run->rt = rt;
    run->trace = trace;
    run->shape = *shape;
    args->arena_count = trace->batch_most;
    st = gpurt_info(rt, &run->info);
    if (st == GPURT_OK)
        st = gpurt_mem_create(rt, calls, &at, err);
    args->calls = (const replay_call_t *)at;
    if (st == GPURT_OK)
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, at, trace->calls, calls, err);
    if (st == GPURT_OK)
        st = gpurt_mem_create(rt, sizeof(uint64_t) * (size_t)trace->handles,
                              (void **)&args->objects, err);
    if (st == GPURT_OK)
        st = gpurt_mem_create(rt, sizeof *args->sums, (void **)&args->sums, err);
    if (st == GPURT_OK)
        st = gpurt_mem_create(rt, sizeof *args->arenas * (size_t)args->arena_count,
                              (void **)&args->arenas, err);
    if (st == GPURT_OK)
        st = gpurt_mem_create(
            rt, sizeof *args->marks * (size_t)args->arena_count * REPLAY_MARKS,
            (void **)&args->marks, err);
    return st;
}

void replay_run_close(replay_run_t *run)
{
    void *const memory[] = {(void *)(uintptr_t)run->args.calls, run->args.objects,
                            run->args.sums, run->args.arenas, run->args.marks};

    for (size_t i = 0; run->rt && i < sizeof memory / sizeof *memory; i++)
        gpurt_mem_destroy(run->rt, memory[i]);
}
