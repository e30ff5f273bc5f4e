/* SPDX-License-Identifier: Apache-2.0 */
/* Log calls in the ways that programs make them, and the least that the hardware needs to
 * get as many bytes into the same memory. */
#include "bench_log.h"

#include <gpurt/device.h>

#if GPURT_ON_CUDA
#    include <stdio.h>
#endif

/* On a GPU a number that the compiler knows: one in constant memory would have to be waited for. */
#if GPURT_ON_CUDA
#    define RAW_SLOTS(p) LOG_RAW_SLOTS
#else
#    define RAW_SLOTS(p) (p)->slots
#endif

/* The floor: no site, no time, no tag, no room asked for. */
GPURT_DEV void raw_put(const struct bench_log_args *p, uint32_t lanes, uint32_t value)
{
    uint32_t slot = gpurt_sm() * RAW_SLOTS(p) + gpurt_warp_slot(), lane = gpurt_lane();
    uint32_t *head = p->raw_heads + (size_t)slot * 32;
    uint32_t at = gpurt_load_relaxed_blk_u32(head);
    gpurt_group_t g = {value, {value, value, at}};

    if (lane < lanes)
        gpurt_group_store((gpurt_group_t *)(p->raw + (size_t)slot * p->raw_bytes +
                                            ((at * lanes * 16) & (p->raw_bytes - 1))) +
                              lane,
                          g);
    if (lane == 0)
        gpurt_store_relaxed_blk_u32(head, at + 1);
}

GPURT_DEV void one_call(const struct bench_log_args *p, uint32_t form, uint32_t i)
{
    uint32_t lane = gpurt_lane();

    switch (form) {
    case LOG_WARP_2:
        GPURT_LOG_WARP(GPURT_LEVEL_INFO, "call %u of %u", i, p->calls);
        break;
    case LOG_WARP_0:
        GPURT_LOG_WARP(GPURT_LEVEL_INFO, "a call");
        break;
    case LOG_LANES_1:
        GPURT_INFO("lane's %u", lane + i);
        break;
    case LOG_LANES_4:
        GPURT_INFO("%u %u %u %u", lane, i, lane + i, p->calls);
        break;
    case LOG_DIVERGED:
        if (lane < GPURT_WARP_SIZE / 2)
            GPURT_LOG_WARP(GPURT_LEVEL_INFO, "half of a warp: %u of %u", i, p->calls);
        break;
    case LOG_LIMITED:
        GPURT_LOG_EVERY(1000, GPURT_LEVEL_INFO, "every %u", i);
        break;
    case LOG_OFF:
        GPURT_DEBUG("never %u", i);
        break;
    case LOG_RAW_2:
        raw_put(p, 2, i);
        break;
    case LOG_RAW_WIDE:
        raw_put(p, 32, i);
        break;
    default:
        break;
    }
}

GPURT_DEV void calls_make(const struct bench_log_args *p, uint32_t form)
{
    uint32_t warp = gpurt_global_id() / GPURT_WARP_SIZE;
    uint32_t x = gpurt_lane();

    for (uint32_t i = 0; i < p->calls; i++) {
        uint64_t start, took;

        for (uint32_t j = 0; j < p->spin; j++)
            x = x * 3 + (j ^ x >> 7);
        start = gpurt_clock();
        one_call(p, form, i);
        took = gpurt_clock() - start;
        if (p->cycles && gpurt_lane() == 0)
            /* All 64 bits are asked for, because 32 of them may be read in a slower way. */
            p->cycles[(size_t)warp * p->calls + i] =
                took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
    }
    if (x == 0xdeadbeef)
        *p->sink = x;
}

GPURT_KERNEL(bench_log_warp_2, struct bench_log_args, p)
{
    calls_make(p, LOG_WARP_2);
}
GPURT_KERNEL(bench_log_warp_0, struct bench_log_args, p)
{
    calls_make(p, LOG_WARP_0);
}
GPURT_KERNEL(bench_log_lanes_1, struct bench_log_args, p)
{
    calls_make(p, LOG_LANES_1);
}
GPURT_KERNEL(bench_log_lanes_4, struct bench_log_args, p)
{
    calls_make(p, LOG_LANES_4);
}
GPURT_KERNEL(bench_log_diverged, struct bench_log_args, p)
{
    calls_make(p, LOG_DIVERGED);
}
GPURT_KERNEL(bench_log_limited, struct bench_log_args, p)
{
    calls_make(p, LOG_LIMITED);
}
GPURT_KERNEL(bench_log_off, struct bench_log_args, p)
{
    calls_make(p, LOG_OFF);
}
GPURT_KERNEL(bench_log_nothing, struct bench_log_args, p)
{
    calls_make(p, LOG_NOTHING);
}
GPURT_KERNEL(bench_log_raw_2, struct bench_log_args, p)
{
    calls_make(p, LOG_RAW_2);
}
GPURT_KERNEL(bench_log_raw_wide, struct bench_log_args, p)
{
    calls_make(p, LOG_RAW_WIDE);
}

/* The peer of all who print from a kernel. */
GPURT_KERNEL(bench_log_lines, struct bench_log_args, p)
{
    for (uint32_t i = 0; i < p->calls; i++) {
#if GPURT_ON_CUDA
        printf("message %u of thread %u\n", i, gpurt_global_id());
#endif
    }
}
