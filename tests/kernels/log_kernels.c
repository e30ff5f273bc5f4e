/* SPDX-License-Identifier: Apache-2.0 */
/* Log calls of every form and type, and a broken bound. */
#include "log_kernels.h"

#include <gpurt/device.h>
#include <gpurt/panic.h>

#include <inttypes.h>

/* The half-filled warp and both arms of the branch are lanes that diverged. */
GPURT_KERNEL(log_lanes, struct log_args, p)
{
    uint32_t i = gpurt_global_id();

    GPURT_INFO("all %u of %u", i, p->what);
    if (i % 3 == 0)
        GPURT_WARN("third %u", i);
    else
        GPURT_LOG_WARP(GPURT_LEVEL_WARN, "rest of warp %u", gpurt_warp());
    GPURT_LOG_BLOCK(GPURT_LEVEL_ERROR, "block %u", gpurt_block_rank());
    GPURT_DEBUG("never %u", i);
    GPURT_ERROR("no arguments");
}

/* Groups of a warp's lanes that go on apart from each other, and log at the same time. */
GPURT_KERNEL(log_arms, struct log_args, p)
{
    uint32_t lane = gpurt_lane();

    for (uint32_t i = p->what * 4; i < p->what * 4 + 4; i++) {
        if (lane % 2)
            GPURT_LOG_WARP(GPURT_LEVEL_INFO, "odd step %u", i);
        else
            GPURT_LOG_WARP(GPURT_LEVEL_INFO, "even step %u", i);
        if (lane % 3 == 0)
            GPURT_INFO("lane %u step %u", lane, i);
        else
            GPURT_INFO("other %u step %u", lane, i);
    }
}

/* Room alone, by lanes that do not gather first as a message's do: their turns meet. */
GPURT_KERNEL(log_turns, struct log_turn_args, p)
{
    uint32_t lane = gpurt_lane();

    for (uint32_t i = 0; i < p->takes; i++)
        p->positions[lane * p->takes + i] =
            gpurt_log_take(gpurt_log_head_here(), 1u << lane, 2, 1);
}

/* The word of the warp's turn says that it is taken, and nobody has it. */
GPURT_KERNEL(log_turn_gone, struct log_args, p)
{
    if (gpurt_lane() == 0)
        gpurt_turn_try();
    gpurt_syncwarp(GPURT_FULL_MASK);
    if (gpurt_lane() == 1) {
        GPURT_LOG_WARP(GPURT_LEVEL_INFO, "gone %u", p->what);
        GPURT_LOG_WARP(GPURT_LEVEL_INFO, "back %u", p->what);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    if (gpurt_lane() == 0)
        gpurt_turn_try(); /* is left so to the block that comes here next */
}

/* A message of each lane and nothing else. */
GPURT_KERNEL(log_one, struct log_args, p)
{
    GPURT_INFO("one %u", p->what);
}

GPURT_KERNEL(log_types, struct log_args, p)
{
    const char *word = p->what ? "one" : "none", *nothing = p->what ? NULL : "none";
    int8_t small = -5;
    uint16_t shorter = 60000;

    GPURT_INFO("%d %u %lld %" PRIu64 " %x", small, shorter, -(1ll << 40), UINT64_MAX,
               0xbeefu);
    GPURT_INFO("%.2f %g %c %s %s %p", 1.5f, 1e100, 'x', word, "lit", (void *)p);
    GPURT_INFO("of %s", nothing);
    GPURT_INFO("%d%d%d%d%d%d%d%d%d%d%d%d 100%%", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    GPURT_INFO("%f|%f|%f|%f|%f|%f|%f|%f|%f|%f|%f|%f", 1., 2., 3., 4., 5., 6., 7., 8., 9.,
               10., 11., (double)gpurt_lane());
}

GPURT_KERNEL(log_limits, struct log_args, p)
{
    for (uint32_t i = 0; i < p->what; i++) {
        GPURT_LOG_EVERY(10, GPURT_LEVEL_INFO, "every");
        GPURT_LOG_FIRST(7, GPURT_LEVEL_INFO, "first");
        GPURT_LOG_LIMIT(5, GPURT_LEVEL_INFO, "limit");
        GPURT_LOG_IF(i == 3, GPURT_LEVEL_INFO, "if %u", i);
    }
}

GPURT_KERNEL(panic_bounds, struct panic_args, p)
{
    uint32_t i = gpurt_global_id();

    GPURT_ASSERT(i < p->limit || i % 8 != 0, "index %u of %u", i, p->limit);
    gpurt_add_relaxed_dev_u32(p->done, 1);
}

/* The other warp of the block logs for ever: a log call of its half warp is a safe point. */
GPURT_KERNEL(panic_logs, struct panic_args, p)
{
    if (gpurt_block_rank() == 1 && gpurt_thread_rank() == 3)
        GPURT_PANIC("limit %u", p->limit);
    while (gpurt_block_rank() == 1 && gpurt_warp() == 1)
        if (gpurt_lane() % 2)
            GPURT_INFO("still here");
        else
            gpurt_relax();
    if (gpurt_block_rank() == 1)
        gpurt_block_barrier();
    gpurt_add_relaxed_dev_u32(p->done, 1);
}
