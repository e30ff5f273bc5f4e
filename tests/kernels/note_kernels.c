/* SPDX-License-Identifier: Apache-2.0 */
#include "note_kernels.h"

#include <gpurt/context.h>
#include <gpurt/device.h>
#include <gpurt/panic.h>

GPURT_DEV void note_leaf(const struct note_args *p)
{
    GPURT_FRAME();
    GPURT_PANIC("leaf %p", (const void *)(p->table + 150));
}

/* Frames that have ended are gone; the outermost of many are counted. */
GPURT_DEVN void note_deep(const struct note_args *p, uint32_t left)
{
    GPURT_FRAME();
    if (left > 1)
        note_deep(p, left - 1);
    if (left == 1)
        note_leaf(p);
}

GPURT_DEV void note_done(void)
{
    GPURT_FRAME();
}

GPURT_KERNEL(panic_notes, struct note_args, p)
{
    if (p->which == 1)
        GPURT_PANIC("alone");
    if (p->which == 2)
        GPURT_CHECK_INDEX(p->table, p->index, NOTE_TABLE, "of the table");
    if (p->which == 3)
        GPURT_PANIC_WINDOW(p->table + 4, 24, "given");
    GPURT_CONTEXT("request", 1u);
    GPURT_CONTEXT("gone", 2);
    GPURT_CONTEXT("user", "joe");
    GPURT_CONTEXT("share", 0.25);
    GPURT_CONTEXT("request", 4711ull);
    GPURT_CONTEXT_END("gone");
    GPURT_WINDOW("table", p->table, NOTE_TABLE * sizeof(uint32_t));
    GPURT_WINDOW("not for long", p->bad, 8);
    GPURT_WINDOW_END("not for long");
    if (gpurt_lane() == 0) {
        gpurt_trail_task(77, 70);
        gpurt_trail_hold(GPURT_HELD_LOCK, "map", p->table);
        gpurt_trail_hold(GPURT_HELD_ALLOCATION, "node", p->table + 1);
        gpurt_trail_release(p->table);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    note_done();
    note_deep(p, NOTE_DEEP);
}

GPURT_KERNEL(panic_crowded, struct note_args, p)
{
    GPURT_CONTEXT("a", 1);
    GPURT_CONTEXT("b", 2);
    GPURT_CONTEXT("c", 3);
    GPURT_CONTEXT("d", 4);
    GPURT_CONTEXT("e", 5);
    GPURT_CONTEXT("f", 6);
    GPURT_CONTEXT("g", 7);
    GPURT_CONTEXT("h", 8);
    GPURT_CONTEXT("i", 9);
    GPURT_CONTEXT("h", 10);
    GPURT_ASSERT(p->which == 99);
}

/* Some lanes of each warp, at once in all of them, each with values that only it can have. */
GPURT_KERNEL(panic_many, struct many_args, p)
{
    uint32_t id = gpurt_global_id(), mine = (id * 2654435761u) ^ p->seed;

    GPURT_CONTEXT("warp", gpurt_block_rank() * 100 + gpurt_warp());
    if ((id + p->seed) % 3 == 0)
        GPURT_ASSERT_EQ(mine, ~mine, "id %u", id);
    gpurt_add_relaxed_dev_u32(p->done, 1);
    gpurt_block_barrier();
    gpurt_add_relaxed_dev_u32(p->done, 1000); /* nobody: each block has lost lanes */
}
