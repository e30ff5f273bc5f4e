/* SPDX-License-Identifier: Apache-2.0 */
#include "arena_kernels.h"

#include <gpurt/blockarena.h>
#include <gpurt/device.h>

enum {
    LEDGER = 16,
    MARKS = 3,
    SCRATCH = 512, /* bytes of shared memory a lane, warp or block begins with */
    LANES = 64
};

/* What a lane holds, oldest first. */
typedef struct ledger {
    void *pieces[LEDGER];
    uint32_t count;
} ledger_t;

/* The youngest are gone, down to `to`: they were whole till then. */
GPURT_DEVN void ledger_cut(ledger_t *l, uint32_t to, holding_verdict_t *v)
{
    while (l->count > to)
        holding_read(l->pieces[--l->count], v);
}

GPURT_DEV void arena_misplaced(const struct arena_args *p, bool wrong)
{
    if (wrong)
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xmisplaced, 1);
}

/* An object of an arena, if there is one, into the ledger. */
GPURT_DEVN void ledger_add(ledger_t *l, void *object, uint32_t bytes, uint32_t align,
                           const struct arena_args *p)
{
    if (!object) {
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xrefused, 1);
        return;
    }
    arena_misplaced(p, (uintptr_t)object & (align - 1));
    gpurt_red_add_relaxed_dev_u32(&p->verdict->xserved, 1);
    holding_write(object, bytes);
    l->pieces[l->count++] = object;
}

GPURT_DEV uint32_t arena_bytes(const struct arena_args *p, uint32_t *state)
{
    uint32_t most = holding_random(state) % 16 ? p->max_bytes / 8 : p->max_bytes;

    return 4 + holding_random(state) % (most / 4) * 4;
}

GPURT_DEV void arena_perhaps_cancel(const struct arena_args *p, uint32_t *state)
{
    if ((p->mode & ARENA_CANCELS) && gpurt_block_x() % 2 &&
        holding_random(state) % (LANES * 8) == 0)
        gpurt_cancel_block();
}

/* The same for all lanes of a warp, which end together. */
GPURT_DEV void arena_end_cancelled(void)
{
    if (gpurt_any(GPURT_FULL_MASK, gpurt_cancelled()))
        gpurt_thread_exit();
}

GPURT_DEV void arena_begin(const struct arena_args *p)
{
    if (p->mode & ARENA_SWEEPS)
        gpurt_arena_sweep(&p->source, gpurt_global_id(),
                          gpurt_grid_blocks() * gpurt_block_threads());
}

/* ---- a thread's ---------------------------------------------------------------------- */

GPURT_DEVN void arena_inner(const struct arena_args *p, gpurt_arena_t *outer,
                            uint32_t *state)
{
    gpurt_arena_t inner;
    ledger_t l;

    l.count = 0;
    gpurt_arena_open(&inner, outer);
    arena_misplaced(p, gpurt_arena_alloc(outer, 16) != NULL);
    arena_misplaced(p, gpurt_arena_why(outer) != GPURT_ARENA_OUTER);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t bytes = arena_bytes(p, state);

        ledger_add(&l, gpurt_arena_alloc(&inner, bytes), bytes, 16, p);
    }
    ledger_cut(&l, 0, p->verdict);
    arena_misplaced(p, !gpurt_arena_close(&inner, outer));
}

/* Each lane has an arena and does anything with it. */
GPURT_KERNEL(arena_thread, struct arena_args, p)
{
    GPURT_SHARED(uint64_t, scratch, LANES * SCRATCH / 8);
    char *mine = (char *)scratch + gpurt_thread_rank() * SCRATCH;
    uint32_t state = holding_seed(p->seed), marks = 0, depth[MARKS];
    gpurt_arena_mark_t mark[MARKS];
    gpurt_arena_t a;
    ledger_t l;

    l.count = 0;
    arena_begin(p);
    gpurt_arena_init(&a, mine + gpurt_lane() % 8, SCRATCH - 8);
    if (holding_random(&state) % 4)
        gpurt_arena_grow_from(&a, &p->source, p->piece_bytes);
    for (uint32_t round = 0; round < p->rounds; round++) {
        uint32_t what = holding_random(&state) % 16, bytes = arena_bytes(p, &state);
        uint32_t align = 16u << (holding_random(&state) % 8 ? 0 : bytes % 7);

        if (what < 9 && l.count < LEDGER) {
            void *object = what < 6 ? gpurt_arena_alloc(&a, bytes)
                                    : gpurt_arena_alloc_aligned(&a, bytes, align);

            ledger_add(&l, object, bytes, what < 6 ? 16 : align, p);
        } else if (what < 12 && marks < MARKS) {
            depth[marks] = l.count;
            mark[marks++] = gpurt_arena_mark(&a);
        } else if (what < 14 && marks) {
            ledger_cut(&l, depth[--marks], p->verdict);
            arena_misplaced(p, !gpurt_arena_release(&a, mark[marks]));
        } else if (what == 14) {
            arena_inner(p, &a, &state);
        } else {
            ledger_cut(&l, marks = 0, p->verdict);
            arena_misplaced(p, !gpurt_arena_reset(&a));
        }
        arena_perhaps_cancel(p, &state);
        gpurt_cancel_point();
    }
    ledger_cut(&l, 0, p->verdict);
    gpurt_arena_end(&a);
}

/* ---- a warp's ------------------------------------------------------------------------ */

GPURT_KERNEL(arena_warp, struct arena_args, p)
{
    GPURT_SHARED(uint64_t, scratch, LANES / 32 * SCRATCH / 8);
    char *mine = (char *)scratch + gpurt_warp() * SCRATCH;
    uint32_t state = holding_seed(p->seed), depth = 0;
    gpurt_arena_mark_t mark;
    gpurt_arena_t a, inner;
    ledger_t l;

    l.count = 0;
    arena_begin(p);
    gpurt_syncwarp(GPURT_FULL_MASK);
    gpurt_arena_init(&a, mine, SCRATCH);
    gpurt_arena_grow_from(&a, &p->source, p->piece_bytes);
    mark = gpurt_arena_mark(&a);
    for (uint32_t round = 0; round < p->rounds; round++) {
        uint32_t own = arena_bytes(p, &state), any = holding_random(&state);
        uint32_t what = gpurt_shfl_u32(GPURT_FULL_MASK, any, 0) % 14;
        uint32_t bytes = gpurt_shfl_u32(GPURT_FULL_MASK, own, 0);

        if (what < 4 && l.count < LEDGER) {
            ledger_add(&l, gpurt_arena_warp_alloc(&a, bytes), bytes, 16, p);
        } else if (what < 8 && l.count < LEDGER) {
            ledger_add(&l, gpurt_arena_warp_alloc_each(&a, own), own, 16, p);
        } else if (what < 9) {
            depth = l.count;
            mark = gpurt_arena_mark(&a);
        } else if (what < 10) {
            ledger_cut(&l, depth, p->verdict);
            arena_misplaced(p, !gpurt_arena_warp_release(&a, mark));
        } else if (what < 11) {
            gpurt_arena_open(&inner, &a);
            arena_misplaced(p, gpurt_arena_warp_alloc(&a, 4) != NULL);
            depth = l.count < LEDGER ? l.count : LEDGER - 1;
            ledger_cut(&l, depth, p->verdict);
            ledger_add(&l, gpurt_arena_warp_alloc_each(&inner, own), own, 16, p);
            ledger_cut(&l, depth, p->verdict);
            arena_misplaced(p, !gpurt_arena_warp_close(&inner, &a));
            mark = gpurt_arena_mark(&a);
        } else {
            ledger_cut(&l, depth = 0, p->verdict);
            arena_misplaced(p, !gpurt_arena_warp_reset(&a));
            mark = gpurt_arena_mark(&a);
        }
        arena_perhaps_cancel(p, &state);
        arena_end_cancelled();
    }
    ledger_cut(&l, 0, p->verdict);
    gpurt_arena_warp_end(&a);
}

/* ---- a block's ----------------------------------------------------------------------- */

GPURT_DEVN void arena_block_round(const struct arena_args *p, gpurt_block_arena_t *a,
                                  ledger_t *l, uint32_t *state)
{
    uint32_t wanted = holding_random(state) % (LEDGER / 2);
    uint32_t bytes = arena_bytes(p, state);

    for (uint32_t i = 0; i < wanted; i++) {
        ledger_add(l, gpurt_block_arena_alloc(a, bytes), bytes, 16, p);
        if (i % 2)
            bytes = arena_bytes(p, state);
        arena_perhaps_cancel(p, state);
        gpurt_cancel_point();
    }
}

GPURT_KERNEL(arena_block, struct arena_args, p)
{
    GPURT_SHARED(gpurt_block_arena_t, a, 1);
    GPURT_SHARED(uint64_t, scratch, SCRATCH);
    uint32_t state = holding_seed(p->seed), depth;
    ledger_t l;

    l.count = 0;
    arena_begin(p);
    gpurt_block_arena_init(a, scratch, SCRATCH * 8, &p->source, p->piece_bytes);
    for (uint32_t round = 0; round < p->rounds / 4; round++) {
        gpurt_block_arena_mark_t mark;

        arena_block_round(p, a, &l, &state);
        mark = gpurt_block_arena_mark(a);
        depth = l.count;
        arena_block_round(p, a, &l, &state);
        gpurt_block_barrier();
        ledger_cut(&l, depth, p->verdict);
        arena_misplaced(p, !gpurt_block_arena_release(a, mark));
        gpurt_block_barrier();
        ledger_cut(&l, 0, p->verdict);
        if (round % 3 == 2)
            gpurt_block_arena_reset(a);
    }
    gpurt_block_arena_end(a);
}

/* ---- rules --------------------------------------------------------------------------- */

GPURT_DEV uint32_t arena_objects(gpurt_arena_t *a, uint32_t bytes)
{
    uint32_t count = 0;

    while (count < 1000 && gpurt_arena_alloc(a, bytes))
        count++;
    return count;
}

/* Whether it was done, in the second byte, and what the arena says of it. */
GPURT_DEV uint32_t arena_said(bool done, const gpurt_arena_t *a)
{
    return (done ? 0x100u : 0u) | (uint32_t)gpurt_arena_why(a);
}

GPURT_DEVN void arena_rules_nested(uint32_t *rules, char *scratch)
{
    gpurt_arena_mark_t old, young;
    gpurt_arena_t a, inner;

    gpurt_arena_init(&a, scratch, 256);
    rules[RULE_FIXED_FULL] = arena_objects(&a, 33) << 8 | (uint32_t)gpurt_arena_why(&a);
    gpurt_arena_alloc_aligned(&a, 8, 24);
    rules[RULE_ALIGNMENT] = (uint32_t)gpurt_arena_why(&a);
    gpurt_arena_reset(&a);
    gpurt_arena_alloc(&a, 64);
    gpurt_arena_open(&inner, &a);
    rules[RULE_INNER_GETS_REST] = arena_objects(&inner, 16);
    gpurt_arena_alloc(&a, 16);
    rules[RULE_OUTER_ALLOC] = (uint32_t)gpurt_arena_why(&a);
    rules[RULE_OUTER_RESET] = arena_said(gpurt_arena_reset(&a), &a);
    gpurt_arena_close(&inner, &a);
    rules[RULE_OUTER_GOES_ON] = arena_objects(&a, 16) << 8 | arena_objects(&inner, 16);
    rules[RULE_ZERO] = gpurt_arena_alloc(&a, 0) != NULL;
    gpurt_arena_reset(&a);
    old = gpurt_arena_mark(&a);
    gpurt_arena_alloc(&a, 32);
    young = gpurt_arena_mark(&a);
    gpurt_arena_release(&a, old);
    rules[RULE_STALE_NEAR] = arena_said(gpurt_arena_release(&a, young), &a);
    gpurt_arena_reset(&a);
    gpurt_arena_alloc(&a, 64); /* the mark lies in what is in use again */
    rules[RULE_STALE_RESET] = arena_said(gpurt_arena_release(&a, young), &a);
}

GPURT_DEVN void arena_rules_grown(const struct arena_args *p, uint32_t *rules,
                                  char *scratch)
{
    gpurt_arena_mark_t old, young;
    gpurt_arena_t a, b;
    char *at, *again;

    gpurt_arena_init(&a, scratch, 64);
    gpurt_arena_grow_from(&a, &p->narrow, 1024);
    arena_objects(&a, 1);
    gpurt_arena_reset(&a);
    old = gpurt_arena_mark(&a);
    arena_objects(&a, 64);
    young = gpurt_arena_mark(&a);
    gpurt_arena_release(&a, old);
    rules[RULE_STALE_MARK] = arena_said(gpurt_arena_release(&a, young), &a);
    rules[RULE_HUGE] = (uint32_t)(gpurt_arena_alloc(&a, 0xffffffffu) != NULL) << 8 |
                       (uint32_t)gpurt_arena_why(&a);
    gpurt_arena_init(&b, NULL, 0);
    gpurt_arena_grow_from(&b, &p->narrow, 0);
    rules[RULE_NO_TABLE] =
        (uint32_t)(gpurt_arena_alloc(&b, 16) != NULL) << 8 | (uint32_t)gpurt_arena_why(&b);
    gpurt_arena_end(&a);
    at = (char *)gpurt_arena_alloc(&b, 16); /* the slot is free again */
    gpurt_arena_alloc(&b, 50000);
    rules[RULE_LARGE_APART] = (char *)gpurt_arena_alloc(&b, 16) == at + 16;
    gpurt_arena_reset(&b);
    again = (char *)gpurt_arena_alloc(&b, 16);
    rules[RULE_SPARE] = at == again;
    gpurt_arena_end(&b);
}

/* Sizes that 32 bits do not hold, and the largest that they do. */
GPURT_DEV size_t arena_huge(uint32_t i)
{
    return i == 0  ? 0xffffffffu
           : i < 3 ? ((size_t)1 << 32) + 16 * i
                   : ~(size_t)0 - 8 * (5 - i);
}

GPURT_DEVN void arena_rules_huge(const struct arena_args *p, uint32_t *rules)
{
    uint32_t wrong = 0;
    gpurt_arena_t a;

    gpurt_arena_init(&a, NULL, 0);
    gpurt_arena_grow_from(&a, &p->source, 0);
    gpurt_arena_alloc(&a, 16);
    for (uint32_t i = 0; i < 6; i++) {
        wrong +=
            gpurt_arena_alloc(&a, arena_huge(i)) || gpurt_arena_why(&a) != GPURT_ARENA_HEAP;
        wrong += gpurt_arena_alloc_aligned(&a, arena_huge(i), 64) ||
                 gpurt_arena_why(&a) != GPURT_ARENA_HEAP;
    }
    rules[RULE_HUGE_SERVED] = wrong;
    gpurt_arena_alloc_aligned(&a, 16, ((size_t)1 << 32) + 16);
    rules[RULE_HUGE_ALIGNMENT] = (uint32_t)gpurt_arena_why(&a);
    gpurt_arena_end(&a);
    gpurt_arena_init(&a, rules, ((size_t)1 << 32) + 64);
    rules[RULE_HUGE_MEMORY] = a.left;
}

/* One lane; the heap is small. */
GPURT_KERNEL(arena_rules, struct arena_args, p)
{
    GPURT_SHARED(gpurt_arena_piece_t, scratch, 32); /* aligned, so that all of it is used */
    gpurt_arena_source_t plain;
    gpurt_arena_t a;

    if (gpurt_global_id() > 0)
        return;
    arena_rules_nested(p->rules, (char *)scratch);
    arena_rules_grown(p, p->rules, (char *)scratch);
    arena_rules_huge(p, p->rules);
    plain.heap = p->heap; /* a source of a lane's own, without a table */
    plain.slots = NULL;
    plain.slot_count = plain.epoch = 0;
    gpurt_arena_init(&a, NULL, 0);
    gpurt_arena_grow_from(&a, &plain, 65536);
    p->rules[RULE_HEAP_OUT] = arena_objects(&a, 32768) << 8 | (uint32_t)gpurt_arena_why(&a);
    gpurt_arena_end(&a);
}

/* Lanes of a warp that were not refused as they should be. */
GPURT_DEVN uint32_t arena_huge_together(const struct arena_args *p,
                                        gpurt_block_arena_t *shared)
{
    uint32_t wrong = 0;
    gpurt_arena_t a;

    gpurt_arena_init(&a, NULL, 0);
    gpurt_arena_grow_from(&a, &p->source, 0);
    for (uint32_t i = 0; i < 6; i++) {
        size_t huge = arena_huge(i);

        wrong +=
            gpurt_arena_warp_alloc(&a, huge) || gpurt_arena_why(&a) != GPURT_ARENA_HEAP;
        wrong += gpurt_arena_warp_alloc_each(&a, huge) != NULL;
        wrong += gpurt_block_arena_alloc(shared, huge) != NULL;
        wrong += gpurt_block_arena_why(shared) != GPURT_ARENA_HEAP;
    }
    gpurt_arena_warp_end(&a);
    return gpurt_reduce_add_u32(GPURT_FULL_MASK, wrong);
}

/* Lanes that got an object of their own. */
GPURT_DEVN uint32_t arena_served(gpurt_block_arena_t *a, uint32_t bytes)
{
    uint32_t *object = (uint32_t *)gpurt_block_arena_alloc(a, bytes), lane = gpurt_lane();
    bool own;

    if (object)
        object[0] = object[bytes / 4 - 1] = lane;
    gpurt_syncwarp(GPURT_FULL_MASK);
    own = object && object[0] == lane && object[bytes / 4 - 1] == lane;
    gpurt_syncwarp(GPURT_FULL_MASK);
    return gpurt_ballot(GPURT_FULL_MASK, own);
}

/* Answers to a mark: in its own pass, and in the next, where it lies in what is in use again. */
GPURT_DEVN uint32_t arena_stale_block(gpurt_block_arena_t *a)
{
    gpurt_block_arena_mark_t mark;
    uint32_t said;

    if (gpurt_lane() == 0)
        gpurt_block_arena_alloc(a, 128);
    mark = gpurt_block_arena_mark(a);
    said = gpurt_block_arena_release(a, mark);
    gpurt_block_arena_reset(a);
    if (gpurt_lane() == 0)
        gpurt_block_arena_alloc(a, 256);
    said |= (uint32_t)gpurt_block_arena_release(a, mark) << 1;
    said |= (uint32_t)gpurt_block_arena_why(a) << 8;
    gpurt_block_arena_reset(a);
    return said;
}

/* One warp; the heap is small. */
GPURT_KERNEL(arena_rules_together, struct arena_args, p)
{
    GPURT_SHARED(gpurt_block_arena_t, a, 1);
    GPURT_SHARED(gpurt_arena_piece_t, scratch, 32);
    uint32_t rules[RULE_COUNT];

    gpurt_block_arena_init(a, scratch, 512, NULL, 0);
    rules[RULE_STALE_BLOCK] = arena_stale_block(a);
    rules[RULE_PART_FIXED] = arena_served(a, 96);
    rules[RULE_PART_LAST] = arena_served(a, 32);
    gpurt_block_arena_end(a);
    gpurt_block_arena_init(a, NULL, 0, &p->source, 0);
    rules[RULE_PART_GROWN] = arena_served(a, 128 << 10);
    gpurt_block_arena_reset(a);
    rules[RULE_HUGE_TOGETHER] = arena_huge_together(p, a);
    gpurt_block_arena_end(a);
    if (gpurt_lane() > 0)
        return;
    for (uint32_t i = RULE_STALE_BLOCK; i <= RULE_PART_GROWN; i++)
        p->rules[i] = rules[i];
    p->rules[RULE_HUGE_TOGETHER] = rules[RULE_HUGE_TOGETHER];
}
