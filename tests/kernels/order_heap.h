/* SPDX-License-Identifier: Apache-2.0 */
/* order_heap.h - what the scenes of order_kernels.c have in common, and those of the heap:
 * its sets, runs and slots. For order_kernels.c only. */
#ifndef GPURT_TESTS_ORDER_HEAP_H
#define GPURT_TESTS_ORDER_HEAP_H

#include "order_kernels.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>

/* Class of 16 bytes: 4,096 slots a chunk. */
#define ORDER_CLASS 0u
#define ORDER_RUN   gpurt_run(0, 4096)
#define ORDER_NOTE  0x6e6f7465ull

/* ---- plain words --------------------------------------------------------------------- */

GPURT_DEV void order_write(const struct order_args *p)
{
    p->notes[gpurt_lane()] = ORDER_NOTE;
}

/* Of one lane: the operation that follows is its alone. */
GPURT_DEV void order_write_all(const struct order_args *p)
{
    for (uint32_t i = 0; i < ORDER_NOTES; i++)
        p->notes[i] = ORDER_NOTE;
}

GPURT_DEV void order_blame(const struct order_args *p)
{
    gpurt_red_add_relaxed_dev_u32(p->xwrong, 1); /* relaxed: the host looks */
}

GPURT_DEVN void order_read(const struct order_args *p)
{
    for (uint32_t i = 0; i < ORDER_NOTES; i++)
        if (p->notes[i] != ORDER_NOTE)
            order_blame(p);
}

GPURT_DEV void order_expect(const struct order_args *p, bool so)
{
    if (!so)
        order_blame(p);
}

/* From one block to the next, with no order. */
GPURT_DEV void order_tell(const struct order_args *p, uint64_t value)
{
    gpurt_store_relaxed_dev_u64(p->cells, value);
}
GPURT_DEV uint64_t order_told(const struct order_args *p)
{
    return gpurt_load_relaxed_dev_u64(p->cells);
}

/* ---- sets of chunks ------------------------------------------------------------------ */

/* Context: one lane. first: of the two blocks. */
GPURT_DEVN void order_sets(const struct order_args *p, bool first)
{
    const gpurt_heap_t *h = &p->set;

    if (first) {
        order_write_all(p);
        if (p->scene == ORDER_SET)
            gpurt_tree_put(h, 0, 3, 1);
        else if (p->scene >= ORDER_BRANCH_ROW)
            gpurt_tree_raise_row(h, h->trees, p->scene == ORDER_BRANCH_ROW ? 3 : 70,
                                 p->scene == ORDER_BRANCH_ROW ? 4 : 71);
        else /* in another branch: what they have in common is the root */
            gpurt_tree_raise(h, h->trees, p->scene == ORDER_BRANCH ? 3 : 70);
        return;
    }
    if (p->scene == ORDER_SET)
        order_expect(p, gpurt_tree_pull(h, 0, 3, 1, NULL) == 1);
    else
        gpurt_tree_lower(h, 0, 5);
    order_read(p);
}

GPURT_DEVN void order_news(const struct order_args *p, bool first)
{
    const gpurt_heap_t *h = &p->heap;
    uint64_t known = 0;

    if (first && p->scene == ORDER_KNOWN)
        gpurt_store_relaxed_dev_u64(&h->counts->xtaken_up, 0);
    if (first) {
        order_write_all(p);
        if (p->scene == ORDER_NEWS)
            gpurt_tree_news(h);
        else if (p->scene == ORDER_KNOWN)
            gpurt_run_raise(h, 0, 1);
        else /* as the host does */
            gpurt_store_release_sys_u64(&h->counts->xgrown,
                                        gpurt_load_relaxed_sys_u64(&h->counts->xgrown));
        return;
    }
    if (p->scene == ORDER_NEWS)
        gpurt_run_news(h);
    else if (p->scene == ORDER_KNOWN)
        gpurt_run_known(h);
    else
        gpurt_run_take_up(h, &known);
    order_read(p);
}

/* ---- runs ---------------------------------------------------------------------------- */

/* Chunks of the pool go out and come back: whoever opens one acquires. Context: one lane. */
GPURT_DEV void order_reopen(const struct order_args *p)
{
    uint64_t got = gpurt_tree_pull(&p->heap, GPURT_TREE_POOL, 0, ~0ull, NULL);

    order_write_all(p);
    gpurt_tree_put(&p->heap, GPURT_TREE_POOL, 0, got);
}

/* The first block, one lane of it. */
GPURT_DEVN void order_runs_release(const struct order_args *p)
{
    const gpurt_heap_t *h = &p->heap;

    if (p->scene == ORDER_REST) {
        order_reopen(p);
        return;
    }
    order_write_all(p);
    if (p->scene == ORDER_UNHINT)
        gpurt_run_unhint(h, 0, ORDER_CLASS, false);
    else if (p->scene == ORDER_HINT)
        gpurt_run_hint(gpurt_run_hints(h, ORDER_CLASS, true), 0, 0);
    else if (p->scene == ORDER_HINT_LOOK)
        gpurt_run_steal(h, 1, ORDER_CLASS, true);
    else
        gpurt_run_install(h, 0, ORDER_CLASS, ORDER_RUN, 0);
}

/* The second block, where one lane acquires for itself. */
GPURT_DEVN void order_runs_acquire(const struct order_args *p)
{
    const gpurt_heap_t *h = &p->heap;

    switch (p->scene) {
    case ORDER_TICKET_LOOK:
        order_expect(p, gpurt_run_look(gpurt_run_current(h, 0, ORDER_CLASS), 1, 1) ==
                            ORDER_RUN);
        break;
    case ORDER_STEAL:
        order_expect(p, gpurt_run_steal(h, 1, ORDER_CLASS, false) == ORDER_RUN);
        break;
    case ORDER_HINT:
        gpurt_run_steal(h, 1, ORDER_CLASS, true);
        break;
    case ORDER_HINT_LOOK:
        gpurt_run_hint(gpurt_run_hints(h, ORDER_CLASS, true), 0, 0);
        break;
    default: /* over another's run; after a hint was cleared */
        gpurt_run_install(h, 0, ORDER_CLASS, gpurt_run(1, 4096), 0);
    }
    order_read(p);
}

/* ... and where one acquires for its warp. */
GPURT_DEVN void order_requests(const struct order_args *p)
{
    if (p->scene == ORDER_TICKET_WARP) {
        uint32_t got =
            gpurt_heap_alloc_warp(&p->heap, ORDER_NOTES, 16, (void **)(uintptr_t)p->cells);

        order_expect(p, got == ORDER_NOTES);
        for (uint32_t i = 0; i < got; i++)
            order_expect(p, p->cells[i] != 0);
    } else {
        order_expect(p, gpurt_heap_alloc(&p->heap, 16) != NULL);
    }
    order_read(p);
}

GPURT_DEVN void order_runs(const struct order_args *p, bool first)
{
    if (!first && p->scene <= ORDER_REST && p->scene != ORDER_TICKET_LOOK)
        order_requests(p);
    else if (gpurt_lane() == 0 && first)
        order_runs_release(p);
    else if (gpurt_lane() == 0)
        order_runs_acquire(p);
}

/* A look everywhere in vain, while a run comes: its word is exchanged out between two looks of the
 * other in some schedules. */
GPURT_DEVN void order_dry(const struct order_args *p, bool first)
{
    const gpurt_heap_t *h = &p->heap;

    if (first) {
        order_write_all(p);
        gpurt_run_install(h, 0, ORDER_CLASS, gpurt_run(0, 8) | GPURT_RUN_REUSED, 0);
        return;
    }
    for (uint64_t news = 1; !gpurt_run_dry(h, 0, ORDER_CLASS, gpurt_run_bare(news)); news++)
        if (news % 8 == 0)
            gpurt_relax(); /* or it has the first one's priority for ever */
    if (gpurt_load_relaxed_dev_u64(gpurt_run_current(h, 0, ORDER_CLASS)) & GPURT_RUN_DRY) {
        gpurt_red_add_relaxed_dev_u32(p->xmet, 1);
        order_read(p);
    }
}

/* A thief clears the class's hint, which another shard has left, and finds no shard's; meanwhile a
 * run comes. The last block: it is taken, or found by the next thief. */
GPURT_DEVN void order_hint_class(const struct order_args *p, uint32_t block)
{
    const gpurt_heap_t *h = &p->heap;
    uint64_t *wholes = gpurt_run_wholes(h), *current = gpurt_run_current(h, 0, ORDER_CLASS);
    bool lives, hinted;

    if (block == 0) {
        gpurt_red_or_relaxed_dev_u64(wholes, 1ull << ORDER_CLASS);
        gpurt_run_gather(h);
        return;
    }
    if (block == 1) {
        gpurt_red_or_relaxed_dev_u64(wholes, 1ull << ORDER_CLASS);
        gpurt_run_install(h, 0, ORDER_CLASS, ORDER_RUN, 0);
        return;
    }
    lives = gpurt_run_is_live(gpurt_load_relaxed_dev_u64(current));
    hinted = gpurt_load_relaxed_dev_u64(wholes) >> ORDER_CLASS & 1u;
    order_expect(p, !lives || hinted);
    gpurt_red_add_relaxed_dev_u32(p->xmet, lives && hinted);
}

/* What a thief and who brought a run have left, each after its part: the run is hinted, or the thief
 * has looked again and got it, which is the point. Then nothing is left. */
GPURT_DEV void order_hint_left(const struct order_args *p)
{
    uint64_t *hints = gpurt_run_hints(&p->heap, ORDER_CLASS, false);
    uint64_t *current = gpurt_run_current(&p->heap, 0, ORDER_CLASS);
    bool lives = gpurt_run_is_live(gpurt_load_relaxed_dev_u64(current));
    bool hinted = gpurt_load_relaxed_dev_u64(hints) & 1u;

    order_expect(p, !lives || hinted);
    gpurt_red_add_relaxed_dev_u32(p->xmet, !lives && !hinted);
    gpurt_store_relaxed_dev_u64(current, 0);
}

/* A thief finds that a shard's run is used up, and clears its hint, while the next run comes from
 * who has just seen the hint set. They meet so in few rounds. */
GPURT_DEVN void order_hint_shard(const struct order_args *p, bool first)
{
    const gpurt_heap_t *h = &p->heap;
    uint64_t *brought = p->cells + 1;

    for (uint64_t round = 1; round <= ORDER_ROUNDS; round++) {
        if (first) {
            gpurt_red_or_relaxed_dev_u64(gpurt_run_hints(h, ORDER_CLASS, false), 1);
            order_tell(p, round);
            gpurt_run_steal(h, 1, ORDER_CLASS, false);
            while (gpurt_load_relaxed_dev_u64(brought) < round)
                gpurt_relax();
            order_hint_left(p);
        } else {
            while (order_told(p) < round)
                gpurt_relax();
            gpurt_run_install(h, 0, ORDER_CLASS, ORDER_RUN, 0);
            gpurt_store_relaxed_dev_u64(brought, round);
        }
    }
}

/* ---- slots of a chunk ---------------------------------------------------------------- */

enum {
    ORDER_ROW = 16 /* slots from here on: two words of bits */
};

/* Neighbours, whose bits two lanes set for all. */
GPURT_DEV void order_free_row(const struct order_args *p, uint32_t lane)
{
    const gpurt_heap_t *h = &p->heap;

    if (lane == 0)
        gpurt_store_relaxed_dev_u32(gpurt_slab_state(h, 1), gpurt_state_slab(ORDER_CLASS));
    order_write(p);
    gpurt_heap_free_row(h, gpurt_slab_slot(h, 16, 1, ORDER_ROW + lane), 1, ORDER_ROW, 4096);
}

GPURT_DEVN void order_slots(const struct order_args *p, bool first)
{
    const gpurt_heap_t *h = &p->heap;
    uint32_t lane = gpurt_lane();

    if (first && p->scene == ORDER_UNTAKE) {
        if (lane == 0) {
            order_write_all(p);
            gpurt_slab_untake(h, 1, 0, GPURT_WARP_SIZE);
        }
        return;
    }
    if (first && p->scene == ORDER_FREE_ROW) {
        order_free_row(p, lane);
        return;
    }
    if (first) { /* each lane its own */
        gpurt_store_relaxed_dev_u32(gpurt_slab_state(h, 1), gpurt_state_slab(ORDER_CLASS));
        order_write(p);
        gpurt_heap_free(h, gpurt_slab_slot(h, 16, 1, lane));
        return;
    }
    if (p->scene == ORDER_FREE_ROW)
        order_expect(p, gpurt_slab_claim(h, 1, 4096, ORDER_ROW + lane, 64) ==
                            ORDER_ROW + lane);
    else if (p->scene != ORDER_WIPE)
        order_expect(p, gpurt_slab_claim(h, 1, 4096, lane, GPURT_WARP_SIZE) == lane);
    else if (lane == 0)
        order_expect(p, gpurt_slab_wipe(h, 1, GPURT_WARP_SIZE));
    else
        return;
    order_read(p);
}

/* A slot was promised between the last free and the closing: nothing is wiped. Then the chunk is
 * one whose slots are all with the program. */
GPURT_DEV void order_close_late(const struct order_args *p, uint32_t c)
{
    uint32_t *bits = gpurt_slab_bits(&p->heap, 1), *state = gpurt_slab_state(&p->heap, 1);
    uint32_t slots = 2 * GPURT_WARP_SIZE, lane = gpurt_lane();

    if (lane < 2)
        gpurt_store_relaxed_dev_u32(bits + lane, GPURT_FULL_MASK);
    if (lane == 0)
        gpurt_store_relaxed_dev_u32(state, gpurt_state_slab(c) + slots - 1);
    gpurt_syncwarp(GPURT_FULL_MASK);
    gpurt_slab_close_by_warp(&p->heap, 1, gpurt_state_slab(c) + slots, false);
    gpurt_syncwarp(GPURT_FULL_MASK);
    order_expect(p, gpurt_load_relaxed_dev_u32(bits + lane % 2) == GPURT_FULL_MASK);
    gpurt_syncwarp(GPURT_FULL_MASK);
    if (lane < 2)
        gpurt_store_relaxed_dev_u32(bits + lane, 0);
    if (lane == 0)
        gpurt_store_relaxed_dev_u32(state, gpurt_state_slab(c));
    gpurt_syncwarp(GPURT_FULL_MASK);
}

/* Two rows are all slots of a chunk. The first warp frees the second one, the next warp the other, and
 * so closes the chunk; a third takes it. */
GPURT_DEV void order_close_row(const struct order_args *p, uint32_t block)
{
    const gpurt_heap_t *h = &p->heap;
    uint32_t c = gpurt_class_of(1024), lane = gpurt_lane();
    uint32_t first = block == 0 ? GPURT_WARP_SIZE : 0;

    if (block < 2) {
        if (block == 0) {
            order_close_late(p, c);
            order_write(p);
        }
        gpurt_heap_free_row(h, gpurt_slab_slot(h, 1024, 1, first + lane), 1, first,
                            2 * GPURT_WARP_SIZE);
    } else if (lane == 0) {
        order_expect(p, gpurt_load_relaxed_dev_u32(gpurt_slab_bits(h, 1) + 1) == 0);
        order_expect(p, gpurt_tree_pull(h, GPURT_TREE_POOL, 0, 2, NULL) == 2);
        order_read(p);
    }
}

#endif
