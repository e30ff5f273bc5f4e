/* SPDX-License-Identifier: Apache-2.0 */
/* A wait with a time limit beyond the limit of livelocks ends by GPURT_E_TIMEOUT, and its kernel
 * goes on: by the clock, by rounds and under seeds, also while other lanes spin without a limit.
 * A lane that spins for ever afterwards is a livelock as before. */
#include "must.h"

#include "../kernels/wait_limit_kernels.h"

#include <gpurt/broadcasts.h>
#include <gpurt/channels.h>
#include <gpurt/segrings.h>

#include <time.h>

GPURT_KERNEL_DECLARE(wait_limit, struct wait_limit_args);
GPURT_KERNEL_DECLARE(wait_limit_leaves, struct wait_limit_args);
GPURT_KERNEL_DECLARE(wait_limit_knot, struct wait_limit_args);

enum {
    SPIN_MS = 40, /* and 2,500 rounds: most of 200 ms */
    ROUNDS = 1000
};
#define MS  1000000ull
#define DAY (86400000 * MS)

static gpurt_t *rt;
static gpurt_error_t err;
static const char *const waits[] = {
    "receive",   "receive of a pair", "send",     "first",
    "broadcast", "segments",          "a phaser", "a futex"};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void args_begin(struct wait_limit_args *a)
{
    gpurt_segring_options_t ring = {.bytes = 64};

    must(gpurt_make_channel(rt, &a->any, NULL, &err));
    must(gpurt_make_channel(rt, &a->full, NULL, &err));
    must(gpurt_make_channel(rt, &a->two, NULL, &err));
    must(gpurt_make_broadcast(rt, &a->all, NULL, &err));
    must(gpurt_segring_create(rt, &ring, &a->ring, &err));
    must(gpurt_mem_create(rt, sizeof *a->phaser, (void **)&a->phaser, &err));
    must(gpurt_mem_create(rt, sizeof *a->word, (void **)&a->word, &err));
    must(gpurt_mem_create(rt, sizeof *a->over, (void **)&a->over, &err));
    must(gpurt_mem_create(rt, sizeof *a->answer, (void **)&a->answer, &err));
}

static void args_end(struct wait_limit_args *a)
{
    must(gpurt_channel_destroy(rt, &a->any.channel, &err));
    must(gpurt_channel_destroy(rt, &a->full.channel, &err));
    must(gpurt_channel_destroy(rt, &a->two.channel, &err));
    must(gpurt_broadcast_destroy(rt, &a->all.broadcast, &err));
    must(gpurt_segring_destroy(rt, &a->ring, &err));
    gpurt_mem_destroy(rt, a->phaser);
    gpurt_mem_destroy(rt, a->word);
    gpurt_mem_destroy(rt, a->over);
    gpurt_mem_destroy(rt, a->answer);
}

static gpurt_status_t run(const gpurt_kernel_t *k, struct wait_limit_args *a,
                          uint32_t blocks)
{
    gpurt_launch_t launch = {.grid = {blocks, 1, 1}, .block = {1, 1, 1}};
    gpurt_phaser_t phaser;
    uint32_t zero = 0;

    gpurt_phaser_init(&phaser, 2);
    must(gpurt_copy(rt, 0, a->phaser, &phaser, sizeof phaser, &err));
    must(gpurt_copy(rt, 0, a->word, &zero, sizeof zero, &err));
    must(gpurt_copy(rt, 0, a->over, &zero, sizeof zero, &err));
    must(gpurt_launch_kernel(rt, &launch, k, a, sizeof *a, &err));
    return gpurt_sync(rt, &err);
}

static void waits_run(struct wait_limit_args *a, uint32_t blocks)
{
    int32_t answer = 0;

    for (a->what = 0; a->what < LIMIT_WAITS; a->what++) {
        gpurt_status_t st = run(&gpurt_kernel_wait_limit, a, blocks);

        CHECK_MSG(st == GPURT_OK, "%s: %s", waits[a->what], err.text);
        must(gpurt_copy(rt, 0, &answer, a->answer, sizeof answer, &err));
        must(gpurt_stream_sync(rt, 0, &err));
        CHECK_MSG(answer == GPURT_E_TIMEOUT, "%s: %s", waits[a->what],
                  gpurt_status_name(answer));
    }
}

static void knots_run(struct wait_limit_args *a)
{
    for (a->what = 0; a->what < LIMIT_WAITS; a->what += LIMIT_PHASER)
        CHECK_EQ(run(&gpurt_kernel_wait_limit_knot, a, 1), GPURT_E_LIVELOCK);
}

/* What others spun while a limit ran does not count: they get all of their time after it. */
static void limit_ends_before_the_count(struct wait_limit_args *a)
{
    uint64_t begin = now_ns();

    a->what = LIMIT_RECEIVE;
    CHECK_EQ(run(&gpurt_kernel_wait_limit_leaves, a, 2), GPURT_E_LIVELOCK);
    CHECK(now_ns() - begin >= a->ns + SPIN_MS * MS);
}

/* ns: beyond the limit of livelocks. */
static void limits_are_kept(gpurt_cpu_options_t cpu, uint64_t ns)
{
    gpurt_options_t options = {
        .struct_size = sizeof options, .backend = GPURT_BACKEND_CPU, .cpu = cpu};
    struct wait_limit_args a = {.ns = ns};

    must(gpurt_open(&options, &rt, &err));
    args_begin(&a);
    if (cpu.spin_limit)
        waits_run(&a, 1);
    waits_run(&a, 2);
    knots_run(&a);
    if (!cpu.spin_limit)
        limit_ends_before_the_count(&a);
    args_end(&a);
    must(gpurt_close(rt, &err));
}

int main(void)
{
    gpurt_cpu_options_t by_clock = {.spin_limit_ms = SPIN_MS, .workers = 2};
    gpurt_cpu_options_t by_rounds = {.spin_limit = ROUNDS,
                                     .workers = 1}; /* its own rounds */

    limits_are_kept(by_clock, 300 * MS);
    limits_are_kept(by_rounds, 100 * MS);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        gpurt_cpu_options_t seeded = {.seed = seed,
                                      .spin_limit = ROUNDS,
                                      .schedule = seed % 2 ? GPURT_SCHEDULE_RANDOM
                                                           : GPURT_SCHEDULE_PCT};

        limits_are_kept(seeded, DAY); /* whose clock counts steps */
    }
    return 0;
}
