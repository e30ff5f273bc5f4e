/* SPDX-License-Identifier: Apache-2.0 */
/* panic.h - a broken invariant on the device: told at once, and the rest goes on.
 *
 *   GPURT_PANIC(fmt, ...)          GPURT_ASSERT(cond, fmt, ...)
 *
 * Context: device code. The lanes that come together make one panic: its slot in the
 * black box holds site, message, arguments of the first lane, the first argument of
 * every lane, block, thread, warp, SM, mask, time and clock. Then the block is cancelled
 * (block.h): those lanes end, the others of the block at their next safe point. Other
 * blocks go on, the context stays healthy, the next launch works. A slot is written once
 * and survives whatever happens to the process. More panics than slots are counted.
 * Before gpurt_open nothing is told, but the block is cancelled all the same. */
#ifndef GPURT_PANIC_H
#define GPURT_PANIC_H

#include <gpurt/log.h>
#include <gpurt/scope.h>
#include <gpurt/unwind.h>

/* args: one 64-bit value an argument. Returns when nothing is connected, too. */
GPURT_DEVN void gpurt_panic_raise(gpurt_site_t *site, uint32_t mask, const uint64_t *args,
                                  uint32_t count)
{
    uint32_t gate, index = 0, leader = gpurt_leader(mask);
    gpurt_panic_t *p;

    if (!gpurt_log_port.groups)
        return;
    gate = gpurt_log_gate(site); /* at any level */
    if (gpurt_log_is_rare(gate) && (int32_t)gate >= 0)
        gate = gpurt_log_define(site);
    if (gpurt_lane() == leader)
        index = gpurt_add_relaxed_sys_u32(gpurt_log_port.xpanics, 1);
    index = gpurt_shfl_u32(mask, index, leader);
    if (index >= gpurt_log_port.panic_count)
        return;
    p = gpurt_log_port.panics + index;
    p->lanes[gpurt_lane()] = count ? args[0] : 0;
    gpurt_syncwarp(mask); /* the lanes' values come before the leader's release */
    if (gpurt_lane() != leader)
        return;
    p->site = gate & GPURT_GATE_NUMBER;
    p->sm = gpurt_sm();
    p->warp_slot = gpurt_warp_slot();
    p->block.x = gpurt_block_x();
    p->block.y = gpurt_block_y();
    p->block.z = gpurt_block_z();
    p->thread.x = gpurt_thread_x();
    p->thread.y = gpurt_thread_y();
    p->thread.z = gpurt_thread_z();
    p->warp = gpurt_warp();
    p->lane = leader;
    p->mask = p->failed = mask;
    p->time_ns = gpurt_globaltimer();
    p->clock = gpurt_clock();
    for (uint32_t i = 0; i < count; i++)
        p->args[i] = args[i];
    gpurt_store_release_sys_u32(&p->xstate, GPURT_PANIC_WRITTEN); /* B6.rel */
}

#define GPURT_PANIC_ARG_(index, x) gpurt_a_[index] = GPURT_ARG_BITS(x);

/* What the lanes of `mask` say, without what follows from it. */
#define GPURT_PANIC_RECORD_(mask, fmt, ...)                                              \
    do {                                                                                 \
        GPURT_FORMAT_CHECK(GPURT_TYPES(_, ##__VA_ARGS__), fmt, ##__VA_ARGS__);           \
        GPURT_SITE(gpurt_s_, GPURT_LEVEL_PANIC, GPURT_KIND_PANIC, fmt, ##__VA_ARGS__);   \
        uint64_t gpurt_a_[GPURT_ARG_COUNT(_, ##__VA_ARGS__) + 1];                        \
                                                                                         \
        gpurt_a_[0] = 0;                                                                 \
        GPURT_ARGS(GPURT_PANIC_ARG_, ##__VA_ARGS__)                                      \
        gpurt_panic_raise(&gpurt_s_, mask, gpurt_a_, GPURT_ARG_COUNT(_, ##__VA_ARGS__)); \
    } while (0)

#define GPURT_PANIC(fmt, ...)                              \
    do {                                                   \
        const uint32_t gpurt_m_ = gpurt_activemask();      \
                                                           \
        GPURT_PANIC_RECORD_(gpurt_m_, fmt, ##__VA_ARGS__); \
        gpurt_unwind(gpurt_m_); /* never returns */        \
    } while (0)

/* fmt is a literal; it says what was expected. */
#define GPURT_ASSERT(cond, fmt, ...)         \
    do {                                     \
        if (GPURT_UNLIKELY(!(cond)))         \
            GPURT_PANIC(fmt, ##__VA_ARGS__); \
    } while (0)

/* In a scope (scope.h), in a function that returns gpurt_status_t: all lanes of `mask` come; those
 * that fail make one panic, and all return GPURT_E_PANIC. */
#define GPURT_SCOPE_ASSERT(mask, scope, cond, fmt, ...)            \
    do {                                                           \
        const uint32_t gpurt_f_ = gpurt_ballot(mask, !(cond));     \
        if (GPURT_UNLIKELY(gpurt_f_ != 0)) {                       \
            if (gpurt_f_ >> gpurt_lane() & 1u) {                   \
                GPURT_PANIC_RECORD_(gpurt_f_, fmt, ##__VA_ARGS__); \
                gpurt_scope_panicked(scope, gpurt_f_);             \
            }                                                      \
            gpurt_syncwarp(mask);                                  \
            return GPURT_E_PANIC;                                  \
        }                                                          \
    } while (0)

#endif
