/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that call the host through few ports, a schedule a seed: all answers are the own ones,
 * whoever looks for whom. With a limit some leave before their answer; what is left behind serves
 * others. A block is cancelled while it waits. */
#include "seeds.h"

#include "hostcall_kernels.h"

#include <gpurt/hostcalls.h>

enum {
    BLOCKS = 3,
    THREADS = 5,
    ALL = BLOCKS * THREADS
};

static uint32_t asked[ALL];
static uint64_t stalled;
static struct hostcall_args args;
static int32_t status[ALL];
static uint64_t values[ALL];

GPURT_HOST_FUNCTION(multiply, context, ask, got)
{
    (void)context;
    CHECK_EQ(args.notes[2 * ask->thread], ask->round);
    args.notes[2 * ask->thread + 1] = ask->round + 1;
    got->product = (uint64_t)ask->thread * ask->round;
    got->thread = ask->thread;
    got->round = ask->round;
    got->calls = ++asked[ask->thread];
    return GPURT_OK;
}

GPURT_HOST_FUNCTION(stall, context, ask, got)
{
    (void)context;
    stalled++;
    *got = *ask + 1;
    return GPURT_OK;
}

static void run(const gpurt_kernel_t *kernel, gpurt_status_t want)
{
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    uint32_t wrong;

    memset(asked, 0, sizeof asked);
    memset(status, 0x77, sizeof status);
    OK(gpurt_copy(rt, 0, args.status, status, sizeof status, &err));
    OK(gpurt_fill(rt, 0, args.xcame, 0, 4, &err));
    OK(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
    OK(gpurt_copy(rt, 0, status, args.status, sizeof status, &err));
    OK(gpurt_copy(rt, 0, values, args.values, sizeof values, &err));
    OK(gpurt_copy(rt, 0, &wrong, args.wrong, sizeof wrong, &err));
    CHECK_EQ(gpurt_sync(rt, NULL), want);
    CHECK_EQ(wrong, 0);
}

/* Who has an answer has the own one; who is late has none. Nothing else is told. */
static void late_or_answered(void)
{
    for (uint32_t i = 0; i < ALL; i++) {
        CHECK(status[i] == GPURT_OK || status[i] == GPURT_E_TIMEOUT ||
              status[i] == GPURT_E_FULL);
        CHECK_EQ(values[i], status[i] == GPURT_OK ? i + 1 : 7);
    }
}

static void victims_are_gone(void)
{
    for (uint32_t i = 0; i < ALL; i++)
        if (i / THREADS != args.victim)
            CHECK_EQ(status[i], GPURT_OK);
}

static void game(uint32_t seed)
{
    gpurt_hostcalls_options_t options = {.ports = 1 + seed % 3};
    gpurt_hostcalls_status_t s;

    OK(gpurt_hostcalls_create(rt, &options, &args.calls, &err));
    OK(gpurt_hostcalls_add(rt, &args.calls, multiply, NULL, &err));
    OK(gpurt_hostcalls_add(rt, &args.calls, stall, NULL, &err));
    stalled = 0;
    args.rounds = 3;
    args.ns = 50 * (seed % 7); /* steps of the lanes' clock */
    args.victim = seed % BLOCKS;
    run(&gpurt_kernel_hostcall_stall, GPURT_OK);
    late_or_answered();
    run(&gpurt_kernel_hostcall_cancel, GPURT_OK);
    victims_are_gone();
    args.ns = UINT64_MAX;
    run(&gpurt_kernel_hostcall_multiply, GPURT_OK);
    OK(gpurt_hostcalls_status(rt, &args.calls, &s, &err));
    OK(gpurt_hostcalls_destroy(rt, &args.calls, &err));
    CHECK_EQ(s.calls, stalled + (uint64_t)(3 * ALL - ALL / 2)); /* nothing is lost */
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 60); seeds_next(&s, 3);) {
        args.status = (int32_t *)stage_zeros(sizeof status);
        args.values = (uint64_t *)stage_zeros(sizeof values);
        OK(gpurt_host_create(rt, 2 * ALL * sizeof(uint32_t), (void **)&args.notes, &err));
        args.wrong = (uint32_t *)stage_zeros(4);
        args.xcame = (uint32_t *)stage_zeros(4);
        game(s.seed);
        gpurt_mem_destroy(rt, args.status);
        gpurt_mem_destroy(rt, args.values);
        gpurt_host_destroy(rt, args.notes);
        gpurt_mem_destroy(rt, args.wrong);
        gpurt_mem_destroy(rt, args.xcame);
    }
    return 0;
}
