/* SPDX-License-Identifier: Apache-2.0 */
/* unwind.h - how far a failure goes: thread, block, kernel, trap; and launches that know it.
 *
 * Context: device code. docs/UNWINDING.md tells the whole of it.
 *
 *   GPURT_KERNEL_GUARDED(name, struct type, p)   as GPURT_KERNEL; may be launched with a guard
 *                                                (recover.h), or without; its struct has at
 *                                                most 4,048 bytes
 *   void gpurt_cancel_kernel()                   every block of this launch ends at its next
 *                                                safe point; the caller goes on until its own
 *   bool gpurt_degraded()                        whether the host, or panics, ask for less
 *   bool gpurt_guard_enter(&ticket)              what GPURT_KERNEL_GUARDED does first, for a
 *                                                __global__ function of one's own: return when
 *                                                it says false
 *   void gpurt_unwind(mask)                      what follows a panic's record; never returns
 *   #define GPURT_PANIC_TRAP GPURT_TRAP_...      before the first include of a CUDA file: which
 *                                                of its panics trap, guard or not
 *       GPURT_TRAP_GROUPS, the default: those in a cooperative launch, in a file that includes
 *       cooperative_groups.h, or with -rdc=true. The grid barrier of cooperative groups would wait
 *       for the block that is gone. GPURT_TRAP_NEVER: all grid barriers are gpurt_grid_barrier.
 *       GPURT_TRAP_ALWAYS: all panics, for code that counts arrivals (docs/PANICS.md); the default
 *       in a file that includes <cuda/barrier> before gpurt's headers.
 *
 * gpurt_cancel_kernel reaches a launch with a guard at every safe point; on a GPU within one
 * window of 2^16 cycles. Without a guard, on a GPU, it reaches a block where that waits:
 * gpurt_relax, cluster and grid barriers. */
#ifndef GPURT_UNWIND_H
#define GPURT_UNWIND_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/clock.h>
#include <gpurt/defer.h>
#include <gpurt/ids.h>
#include <gpurt/impl/guard.h>
#include <gpurt/warp.h>

GPURT_DEV bool gpurt_guard_enter(const gpurt_ticket_t *ticket)
{
    gpurt_guard_t *guard = ticket->guard;

    if (!guard)
        return true;
    /* relaxed: written before the launch; by this block only while it runs, to attempt + 1 */
    if (ticket->attempt && gpurt_load_relaxed_sys_u32(&gpurt_guard_blocks(
                               guard)[gpurt_block_rank()]) < ticket->attempt)
        return false;
    gpurt_guard_bind(guard, ticket->attempt);
    gpurt_cancel_point();
    return true;
}

GPURT_DEV bool gpurt_degraded(void)
{
    gpurt_guard_t *guard = gpurt_guard_here();

    return guard && gpurt_load_relaxed_sys_u32(&guard->xdegraded) != 0;
}

GPURT_DEV void gpurt_cancel_kernel(void)
{
    gpurt_stop_kernel(GPURT_STOP_KERNEL);
}

/* One lane, for all that panicked with it. Counts in a window are near, not exact: two panics
 * may both begin it. Returns: GPURT_ON_PANIC_*. */
GPURT_DEVN uint32_t gpurt_guard_judge(gpurt_guard_t *guard)
{
    uint32_t level = gpurt_load_relaxed_sys_u32(&guard->xlevel), count;
    uint32_t total = gpurt_add_relaxed_sys_u32(&guard->xpanics, 1) + 1;
    uint64_t now = gpurt_globaltimer();

    if (guard->degrade_after && total >= guard->degrade_after)
        gpurt_store_relaxed_sys_u32(&guard->xdegraded, 1);
    if (!guard->escalate_after)
        return level;
    if (guard->escalate_window_ns &&
        now - gpurt_load_relaxed_sys_u64(&guard->xwindow_ns) > guard->escalate_window_ns) {
        gpurt_store_relaxed_sys_u64(&guard->xwindow_ns, now);
        gpurt_store_relaxed_sys_u32(&guard->xin_window, 0);
    }
    count = gpurt_add_relaxed_sys_u32(&guard->xin_window, 1) + 1;
    for (uint32_t n = guard->escalate_after; n <= count && level < guard->highest;
         n += guard->escalate_after)
        level++;
    if (level > gpurt_load_relaxed_sys_u32(&guard->xlevel))
        gpurt_add_relaxed_sys_u32(&guard->xescalated, 1);
    return level;
}

/* Ends the calling lanes, and what goes with them at that level. */
GPURT_DEVN GPURT_NORETURN void gpurt_unwind_at(uint32_t level)
{
    if (level >= GPURT_ON_PANIC_TRAP) {
        gpurt_fence_seq_cst_sys(); /* the record is out before all is lost */
        gpurt_trap();
    }
    if (level == GPURT_ON_PANIC_KERNEL)
        gpurt_stop_kernel(GPURT_STOP_PANIC);
    if (level != GPURT_ON_PANIC_THREAD)
        gpurt_cancel_block();
    gpurt_leave();
}

/* mask: the lanes that panicked together, all of which call it. A panic in a handler is one
 * lane's; the handlers below it still run. */
GPURT_DEVN GPURT_NORETURN void gpurt_unwind(uint32_t mask)
{
    gpurt_guard_t *guard = gpurt_guard_here();
    uint32_t level = GPURT_ON_PANIC_BLOCK;

    if (gpurt_must_trap()) {
        gpurt_fence_seq_cst_sys();
        gpurt_syncwarp(mask); /* the lane that writes the record is through with it */
        gpurt_unwind_at(GPURT_ON_PANIC_TRAP);
    }
    if (gpurt_in_deferred()) {
        if (guard)
            gpurt_add_relaxed_sys_u32(&guard->xnested, 1);
        gpurt_leave();
    }
    if (guard) {
        if (gpurt_is_leader(mask))
            level = gpurt_guard_judge(guard);
        level = gpurt_shfl_u32(mask, level, gpurt_leader(mask));
    }
    gpurt_unwind_at(level);
}

/* The body is a function of its own, so that `return` in it comes back here. */
#define GPURT_KERNEL_GUARDED(kernel, args_type, p)                                 \
    typedef struct {                                                               \
        gpurt_ticket_t ticket;                                                     \
        args_type args;                                                            \
    } gpurt_guarded_of_##kernel;                                                   \
    GPURT_DEV void gpurt_guarded_body_of_##kernel(const args_type *p);             \
    GPURT_KERNEL_WRAPPED_(kernel, args_type, gpurt_guarded_of_##kernel,            \
                          offsetof(gpurt_guarded_of_##kernel, args), gpurt_whole_) \
    {                                                                              \
        if (gpurt_guard_enter(&gpurt_whole_->ticket))                              \
            gpurt_guarded_body_of_##kernel(&gpurt_whole_->args);                   \
    }                                                                              \
    GPURT_DEV void gpurt_guarded_body_of_##kernel(const args_type *p)

#endif
