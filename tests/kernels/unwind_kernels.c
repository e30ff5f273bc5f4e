/* SPDX-License-Identifier: Apache-2.0 */
/* Work that fails in every way there is, and what it left to be put in order. */
#define GPURT_DEFER_DEPTH 4
#include "unwind_kernels.h"

#include <gpurt/device.h>

/* ---- handlers ------------------------------------------------------------------------ */
/* arg: the address of the warp's log, with the digit in the low bits. */
GPURT_DEVN void unwind_note(uint64_t arg)
{
    uint64_t *log = (uint64_t *)(uintptr_t)(arg & ~7ull);
    uint64_t was = gpurt_load_relaxed_dev_u64(log);

    /* handlers of different lanes may run beside each other */
    while (!gpurt_cas_relaxed_dev_u64(log, &was, was * 10 + (arg & 7)))
        ;
}

GPURT_DEVN void unwind_note_and_panic(uint64_t arg)
{
    unwind_note(arg);
    GPURT_PANIC("in a handler, on purpose");
}

GPURT_DEVN void unwind_note_safely(uint64_t arg)
{
    gpurt_cancel_point();
    gpurt_relax();
    unwind_note((arg & ~7ull) + (gpurt_cancelled() ? 7 : arg & 7));
    gpurt_relax();
}

GPURT_DEV uint64_t *unwind_log(const struct unwind_args *p)
{
    return &p->log[gpurt_block_rank() * gpurt_warps() + gpurt_warp()];
}

/* Three handlers of the whole warp, the middle one as told. */
GPURT_DEV void unwind_defer_three(uint64_t log, void (*middle)(uint64_t))
{
    (void)gpurt_defer(GPURT_FULL_MASK, unwind_note, log + 1);
    (void)gpurt_defer(GPURT_FULL_MASK, middle, log + 2);
    (void)gpurt_defer(GPURT_FULL_MASK, unwind_note, log + 3);
}

GPURT_DEV void unwind_defer_part(uint64_t log)
{
    bool low = gpurt_lane() < 16;
    uint32_t half = gpurt_ballot(GPURT_FULL_MASK, low);

    (void)gpurt_defer(GPURT_FULL_MASK, unwind_note, log + 1);
    (void)gpurt_defer(low ? half : ~half, unwind_note, log + (low ? 2 : 3));
}

GPURT_DEV void unwind_defer_some(const struct unwind_args *p, uint64_t log)
{
    uint32_t full = GPURT_FULL_MASK;
    gpurt_status_t st = GPURT_OK;

    switch (p->kind) {
    case DEFER_PART:
        unwind_defer_part(log);
        break;
    case DEFER_TAKEN:
        unwind_defer_three(log, unwind_note);
        if (!gpurt_undefer(full, false) || !gpurt_undefer(full, true))
            unwind_note(log + 7);
        break;
    case DEFER_PANIC:
        unwind_defer_three(log, unwind_note_and_panic);
        break;
    case DEFER_FULL:
        for (uint32_t i = 0; i <= GPURT_DEFER_DEPTH; i++)
            st = gpurt_defer(full, unwind_note, log + (st == GPURT_OK ? i + 1 : 7));
        if (st != GPURT_E_NOMEM && gpurt_lane() == 0)
            unwind_note(log + 6);
        break;
    case DEFER_SAFE:
        unwind_defer_three(log, unwind_note_safely);
        break;
    case DEFER_THREAD:
        (void)gpurt_defer(full, unwind_note, log + 1);
        if (gpurt_lane() == p->lane)
            (void)GPURT_DEFER(unwind_note, log + 2);
        break;
    case DEFER_LANES:
        if (gpurt_lane() < 2)
            (void)GPURT_DEFER(unwind_note, log + 1);
        break;
    case DEFER_RETURN:
        (void)gpurt_defer(full, unwind_note, log + 1);
        break;
    default:
        unwind_defer_three(log, unwind_note);
        break;
    }
}

GPURT_KERNEL_GUARDED(unwind_defer, struct unwind_args, p)
{
    unwind_defer_some(p, (uint64_t)(uintptr_t)unwind_log(p));
    if (p->kind == DEFER_RETURN)
        return;
    gpurt_block_barrier(); /* all have noted theirs */
    if ((p->victims >> gpurt_block_rank() & 1u) && gpurt_warp() == 0 &&
        gpurt_lane() == p->lane)
        GPURT_PANIC("block %u, on purpose", gpurt_block_rank());
    gpurt_block_barrier();
    /* where a lane is gone, the mask is not full any more: what was noted is forgotten */
    while (p->kind != DEFER_THREAD && gpurt_undefer(GPURT_FULL_MASK, false))
        ;
    if (gpurt_thread_rank() == UNWIND_THREADS - 1)
        gpurt_add_relaxed_dev_u32(&p->runs[gpurt_block_rank()], 1);
}

/* ---- work ---------------------------------------------------------------------------- */
GPURT_DEV bool unwind_is_victim(const struct unwind_args *p, uint32_t tries)
{
    return (p->victims >> gpurt_block_rank() & 1u) && tries < p->failures &&
           !(p->degraded_passes && gpurt_degraded());
}

/* What ends by a cancellation only. */
GPURT_DEV void unwind_wait(const struct unwind_args *p)
{
    if (gpurt_thread_rank() == 0)
        gpurt_red_add_relaxed_sys_u32(p->started, 1);
    while (p->kind != WORK_ONCE) {
        if (p->kind == WORK_AT_BARRIER)
            gpurt_block_barrier();
        else if (p->kind == WORK_IN_RELAX)
            gpurt_relax();
        else if (p->kind == WORK_AT_GRID)
            gpurt_grid_barrier();
        else
            gpurt_cancel_point();
    }
}

GPURT_DEV void unwind_body(const struct unwind_args *p)
{
    GPURT_SHARED(uint32_t, tries, 1);
    uint32_t block = gpurt_block_rank();

    if (gpurt_thread_rank() == 0)
        *tries = gpurt_add_relaxed_dev_u32(&p->begun[block], 1);
    gpurt_block_barrier();
    if (unwind_is_victim(p, *tries) && gpurt_warp() == 0 && gpurt_lane() == p->lane) {
        if (p->how == WORK_HOW_KERNEL)
            gpurt_cancel_kernel();
        else
            GPURT_PANIC("block %u, try %u, on purpose", block, *tries);
    }
    unwind_wait(p);
    gpurt_block_barrier();
    if (gpurt_thread_rank() == UNWIND_THREADS - 1)
        gpurt_add_relaxed_dev_u32(&p->runs[block], 1);
}

GPURT_KERNEL_GUARDED(unwind_work, struct unwind_args, p)
{
    unwind_body(p);
}

/* The same without a guard's ticket. */
GPURT_KERNEL(unwind_plain, struct unwind_args, p)
{
    unwind_body(p);
}

GPURT_KERNEL_GUARDED(unwind_fallback, struct unwind_args, p)
{
    if (gpurt_thread_rank() == 0)
        gpurt_add_relaxed_dev_u32(&p->runs[gpurt_block_rank()], 100);
}

/* Each block reads what its neighbour of the cluster wrote. */
GPURT_KERNEL_GUARDED(unwind_cluster, struct unwind_args, p)
{
    GPURT_SHARED(uint32_t, mark, 1);
    uint32_t block = gpurt_block_rank();
    uint32_t next = (gpurt_cluster_rank() + 1) % gpurt_cluster_size();

    if (gpurt_thread_rank() == 0) {
        uint32_t tries = gpurt_add_relaxed_dev_u32(&p->begun[block], 1);

        *mark = 7 + gpurt_cluster_rank();
        if (unwind_is_victim(p, tries))
            GPURT_PANIC("block %u of a cluster, on purpose", block);
    }
    gpurt_cluster_barrier();
    if (gpurt_thread_rank() == 0 &&
        *(uint32_t *)gpurt_cluster_shared(mark, next) == 7 + next)
        gpurt_add_relaxed_dev_u32(&p->runs[block], 1);
    gpurt_cluster_barrier(); /* the neighbour reads ours */
}

/* Leaves what a kernel leaves that is trapped behind its panic, and lives on. */
GPURT_KERNEL(unwind_trapped, struct unwind_args, p)
{
    gpurt_store_relaxed_sys_u32(/* relaxed: as panic.h */
                                gpurt_box_trap(gpurt_log_port.xfailed), p->victims);
}
