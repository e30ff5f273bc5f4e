/* SPDX-License-Identifier: Apache-2.0 */
/* blockarena.h - the arena that a block shares: any lane takes of it, all is given back at
 * once.
 *
 *     GPURT_SHARED(gpurt_block_arena_t, a, 1);
 *     GPURT_SHARED(char, scratch, 8192);
 *     gpurt_block_arena_init(a, scratch, 8192, &p->source, 0);      all lanes call
 *     void *object = gpurt_block_arena_alloc(a, 100);               any lanes
 *     gpurt_block_arena_reset(a);                                   all lanes
 *     gpurt_block_arena_end(a);                                     all lanes
 *
 * One compare-exchange in shared memory serves the lanes that ask together for one size.
 * When the piece at hand is used up, a lane brings the next one of the heap; others wait for
 * it a while and then bring one themselves. Lock-free. arena.h tells what sources are; the
 * arena of a warp or thread may lie in an object of this one.
 * Context: device code, the lanes of one block. */
#ifndef GPURT_BLOCKARENA_H
#define GPURT_BLOCKARENA_H

#include <gpurt/arena.h>

enum {
    GPURT_BLOCK_ARENA_POLLS = 256 /* how long others wait for who brings a piece */
};

/* The piece at hand in one word: it << 28 | 16-byte units used of it << 1 | somebody brings
 * the next. A piece of 0 is the caller's memory. */
#define GPURT_BLOCK_ARENA_GROWS 1ull
#define GPURT_BLOCK_ARENA_USED  0x7ffffffu

/* Owner: the block. It lies in shared memory. */
typedef struct gpurt_block_arena {
    uint64_t xat;     /* written by: any lane, with atomics */
    uint64_t xpieces; /* the newest, where the source has no table; likewise */
    uint64_t *head;   /* where it is told: there, or a slot of the table */
    char *first;
    gpurt_arena_source_t source;
    uint32_t first_units, piece_units;
    uint16_t grows,
        pass; /* pass: as of gpurt_arena_t; written by: one lane, between barriers */
    uint32_t xanswer; /* why a lane got nothing last (gpurt_arena_answer_t) */
} gpurt_block_arena_t;

typedef struct gpurt_block_arena_mark {
    uint64_t at, pieces;
    uint32_t pass;
} gpurt_block_arena_mark_t;

/* memory: in shared memory, or any of the block's, of which the first 2 GiB less 16 bytes are
 * used; source NULL: does not grow. piece: bytes of the heap at a time, up to 1 GiB; 0: 4 KiB.
 * Context: all lanes of the block. */
GPURT_DEV void gpurt_block_arena_init(gpurt_block_arena_t *a, void *memory, size_t bytes,
                                      const gpurt_arena_source_t *source, size_t piece)
{
    gpurt_arena_t first;

    gpurt_block_barrier(); /* nobody uses what was there before */
    if (gpurt_thread_rank() == 0) {
        gpurt_arena_init(&first, memory, bytes);
        gpurt_arena_grow_from(&first, source, piece);
        a->first = first.first;
        a->first_units = first.first_bytes / 16;
        if (a->first_units > GPURT_BLOCK_ARENA_USED)
            a->first_units = GPURT_BLOCK_ARENA_USED;
        a->piece_units = first.piece_bytes / 16;
        a->xat = a->xpieces = 0;
        a->head = &a->xpieces;
        a->grows = source ? 1 : 0;
        a->pass = 0;
        a->xanswer = GPURT_ARENA_OK;
        if (source)
            a->source = *source;
        if (source && source->slots) {
            uint32_t slot = gpurt_arena_take_slot(source);

            a->head = slot == GPURT_ARENA_NO_SLOT ? NULL : source->slots + slot;
        }
    }
    gpurt_block_barrier();
}

/* The newest piece. */
GPURT_DEV uint64_t gpurt_block_arena_pieces(const gpurt_block_arena_t *a)
{
    /* relaxed: changed by lanes that the caller knows to be done, or compared again */
    return a->head ? gpurt_load_relaxed_dev_u64(a->head) & GPURT_ARENA_UNITS : 0;
}

/* Whether the head is a slot of the source's table. */
GPURT_DEV bool gpurt_block_arena_is_told(const gpurt_block_arena_t *a)
{
    return a->head && a->head != &a->xpieces;
}
GPURT_DEV uint32_t gpurt_block_arena_slot(const gpurt_block_arena_t *a)
{
    if (!gpurt_block_arena_is_told(a))
        return GPURT_ARENA_NO_SLOT;
    return (uint32_t)(a->head - a->source.slots);
}

GPURT_DEV uint64_t gpurt_block_arena_word(const gpurt_block_arena_t *a, uint64_t pieces)
{
    return a->head == &a->xpieces ? pieces : gpurt_arena_slot_word(&a->source, pieces);
}

GPURT_DEV uint32_t gpurt_block_arena_limit(const gpurt_block_arena_t *a, uint64_t at)
{
    return at >> 28 ? a->piece_units : a->first_units;
}

GPURT_DEV char *gpurt_block_arena_place(const gpurt_block_arena_t *a, uint64_t at)
{
    char *base = at >> 28 ? (char *)gpurt_arena_piece(&a->source.heap, at >> 28) : a->first;

    return base + ((size_t)(at >> 1) & GPURT_BLOCK_ARENA_USED) * 16;
}

/* A piece of the heap, on the arena's list before anything else. Returns: NULL, and why. */
GPURT_DEVN gpurt_arena_piece_t *gpurt_block_arena_fetch(gpurt_block_arena_t *a,
                                                        uint64_t units, const char *here)
{
    gpurt_arena_piece_t *piece = NULL;
    uint64_t unit, word;
    uint32_t why = a->head ? GPURT_ARENA_HEAP : GPURT_ARENA_TABLE;

    if (a->head && units < 1u << 27)
        piece = (gpurt_arena_piece_t *)gpurt_heap_alloc_aligned_at(&a->source.heap,
                                                                   units * 16, 16, here);
    if (!piece) {
        gpurt_store_relaxed_blk_u32(&a->xanswer, why); /* relaxed: a report */
        return NULL;
    }
    piece->bytes = (uint32_t)units * 16;
    unit = gpurt_arena_unit(&a->source.heap, piece);
    /* relaxed, all three: who follows the list does it after a barrier or the launch */
    word = gpurt_load_relaxed_dev_u64(a->head);
    do
        piece->next = word & GPURT_ARENA_UNITS;
    while (!gpurt_cas_relaxed_dev_u64(a->head, &word, gpurt_block_arena_word(a, unit)));
    if (gpurt_block_arena_is_told(a))
        gpurt_arena_count(&a->source, gpurt_block_arena_slot(a), piece);
    return piece;
}

/* Waits a while for who brings a piece. Returns: whether to bring one oneself. */
GPURT_DEV bool gpurt_block_arena_wait(gpurt_block_arena_t *a, uint64_t seen)
{
    for (uint32_t polls = 0; polls < GPURT_BLOCK_ARENA_POLLS; polls++) {
        if (gpurt_load_relaxed_blk_u64(&a->xat) != seen) /* relaxed: a look */
            return false;
        gpurt_pause(); /* ends no lane: one of the warp may be who brings it */
    }
    return true;
}

/* Ends the growing of piece `old`, with `next` as the one at hand, or with none: 0. When
 * somebody else has brought one meanwhile, that stays, and ours is for its bringer alone. */
GPURT_DEV void gpurt_block_arena_install(gpurt_block_arena_t *a, uint64_t old,
                                         uint64_t next)
{
    uint64_t at = gpurt_load_relaxed_blk_u64(&a->xat); /* relaxed: compared below */

    while (at >> 28 == old && (at & GPURT_BLOCK_ARENA_GROWS)) {
        uint64_t to = next ? next : at & ~GPURT_BLOCK_ARENA_GROWS;

        if (gpurt_cas_release_blk_u64(&a->xat, &at, to)) /* AB1.rel */
            return;
    }
}

/* `units` do not fit behind `at`. Returns: where they are; or NULL, with *again when it is
 * to be tried once more. */
GPURT_DEVN char *gpurt_block_arena_grow(gpurt_block_arena_t *a, uint64_t at, uint64_t units,
                                        bool *again, const char *here)
{
    uint64_t first = GPURT_ARENA_HEADER / 16, next = 0;
    gpurt_arena_piece_t *piece;

    *again = false;
    if (!a->grows) {
        gpurt_store_relaxed_blk_u32(&a->xanswer, GPURT_ARENA_FULL); /* relaxed: a report */
        return NULL;
    }
    if (units + first > a->piece_units) { /* a piece of its own; the one at hand stays */
        piece = gpurt_block_arena_fetch(a, units + first, here);
        return piece ? (char *)piece + GPURT_ARENA_HEADER : NULL;
    }
    if (at & GPURT_BLOCK_ARENA_GROWS) {
        *again = !gpurt_block_arena_wait(a, at);
        if (*again)
            return NULL;
    } else if (!gpurt_cas_relaxed_blk_u64(&a->xat, &at, at | GPURT_BLOCK_ARENA_GROWS)) {
        *again = true; /* relaxed: the piece is published below */
        return NULL;
    }
    piece = gpurt_block_arena_fetch(a, a->piece_units, here);
    if (piece)
        next = gpurt_arena_unit(&a->source.heap, piece) << 28 | (first + units) << 1;
    gpurt_block_arena_install(a, at >> 28, next);
    return piece ? (char *)piece + GPURT_ARENA_HEADER : NULL;
}

/* So many units in a row, for one lane. */
GPURT_DEV char *gpurt_block_arena_take(gpurt_block_arena_t *a, uint64_t units,
                                       const char *here)
{
    uint64_t at = gpurt_load_relaxed_blk_u64(&a->xat); /* relaxed: compared below */

    for (;;) {
        uint64_t used = at >> 1 & GPURT_BLOCK_ARENA_USED;
        char *object;
        bool again;

        if (GPURT_LIKELY(used + units <= gpurt_block_arena_limit(a, at))) {
            if (gpurt_cas_acquire_blk_u64(&a->xat, &at, at + (units << 1))) /* AB1.acq */
                return gpurt_block_arena_place(a, at);
            continue; /* lock-free: another lane got some */
        }
        object = gpurt_block_arena_grow(a, at, units, &again, here);
        if (!again)
            return object;
        at = gpurt_load_relaxed_blk_u64(&a->xat); /* relaxed: likewise */
    }
}

/* There was no room for all lanes of a group: those that come first are served, as many as there
 * is room for. Returns: this lane's; or NULL. */
GPURT_DEVN char *gpurt_block_arena_part(gpurt_block_arena_t *a, uint64_t units,
                                        uint32_t group, const char *here)
{
    uint32_t lanes = gpurt_popc(group), rank = gpurt_popc(group & gpurt_lanes_below());
    uint32_t served = 0;
    char *object = NULL;

    for (uint32_t n = lanes / 2; n;) {
        uint64_t row = 0;

        if (gpurt_is_leader(group))
            row = (uint64_t)(uintptr_t)gpurt_block_arena_take(a, units * n, here);
        gpurt_syncwarp(group); /* what the leader has acquired holds for all */
        row = gpurt_shfl_u64(group, row, gpurt_leader(group));
        if (!row) {
            n /= 2;
            continue;
        }
        if (rank - served < n) /* no lane that has one: below 0 is more */
            object = (char *)(uintptr_t)row + units * 16 * (rank - served);
        served += n;
        n = n < lanes - served ? n : lanes - served;
    }
    return object;
}

/* Returns: `size` bytes, aligned to 16; NULL: gpurt_block_arena_why says why. 0 bytes count as 1;
 * 2 GiB and more are refused. Where there is no room for all lanes that ask for one size together,
 * those that come first are served. here: as of gpurt_arena_alloc_at. */
GPURT_DEV void *gpurt_block_arena_alloc_at(gpurt_block_arena_t *a, size_t size,
                                           const char *here)
{
    uint32_t asked = gpurt_arena_asked(size);
    uint64_t units = asked ? ((uint64_t)asked + 15) / 16 : 1;
    uint32_t lanes = gpurt_activemask(), group;
    uint64_t row = 0;

    group = gpurt_match_any_u32(lanes, asked);
    if (gpurt_is_leader(group))
        row =
            (uint64_t)(uintptr_t)gpurt_block_arena_take(a, units * gpurt_popc(group), here);
    gpurt_syncwarp(group); /* what the leader has acquired holds for all */
    row = gpurt_shfl_u64(group, row, gpurt_leader(group));
    if (GPURT_UNLIKELY(!row))
        return gpurt_block_arena_part(a, units, group, here);
    return (char *)(uintptr_t)row + units * 16 * gpurt_popc(group & gpurt_lanes_below());
}
GPURT_DEV void *gpurt_block_arena_alloc(gpurt_block_arena_t *a, size_t size)
{
    return gpurt_block_arena_alloc_at(a, size, NULL);
}

GPURT_DEV gpurt_arena_answer_t gpurt_block_arena_why(const gpurt_block_arena_t *a)
{
    return (gpurt_arena_answer_t)gpurt_load_relaxed_blk_u32(&a->xanswer);
}

/* ---- marks --------------------------------------------------------------------------- */
/* Context: all lanes of the block. What others have allocated before is before the mark. */

GPURT_DEV gpurt_block_arena_mark_t gpurt_block_arena_mark(gpurt_block_arena_t *a)
{
    gpurt_block_arena_mark_t m;

    gpurt_block_barrier();
    m.at = gpurt_load_relaxed_blk_u64(&a->xat); /* relaxed: between barriers */
    m.pieces = gpurt_block_arena_pieces(a);
    m.pass = a->pass;
    gpurt_block_barrier();
    return m;
}

/* Goes back to a mark; resets: what a pass's number grows by. Returns: as gpurt_block_arena_release. */
GPURT_DEV bool gpurt_block_arena_back(gpurt_block_arena_t *a, gpurt_block_arena_mark_t m,
                                      uint32_t resets)
{
    uint64_t at, pieces;
    bool holds;

    gpurt_block_barrier();                    /* nobody uses what ends here */
    at = gpurt_load_relaxed_blk_u64(&a->xat); /* relaxed, all: between barriers */
    pieces = gpurt_block_arena_pieces(a);
    holds = m.pieces == pieces ||
            (a->grows && gpurt_arena_has(&a->source.heap, pieces, m.pieces));
    holds = holds && (resets || m.pass == a->pass);
    if (m.at >> 28 == at >> 28 && m.at > at)
        holds = false;
    gpurt_block_barrier(); /* all have looked */
    if (holds && gpurt_thread_rank() == 0) {
        a->pass = (uint16_t)(a->pass + resets);
        gpurt_store_relaxed_blk_u64(&a->xat, m.at);
        if (pieces != m.pieces) {
            gpurt_store_relaxed_dev_u64(a->head, gpurt_block_arena_word(a, m.pieces));
            gpurt_arena_drop(&a->source, gpurt_block_arena_slot(a), pieces, m.pieces);
        }
    } else if (!holds && gpurt_thread_rank() == 0) {
        gpurt_store_relaxed_blk_u32(&a->xanswer, GPURT_ARENA_MARK);
    }
    gpurt_block_barrier();
    return holds;
}

/* Returns: false, and nothing has happened, when the mark is not of what the arena holds, as far as
 * gpurt_arena_release would notice. */
GPURT_DEV bool gpurt_block_arena_release(gpurt_block_arena_t *a, gpurt_block_arena_mark_t m)
{
    return gpurt_block_arena_back(a, m, 0);
}

/* Ends all objects; pieces go back to the heap. */
GPURT_DEV void gpurt_block_arena_reset(gpurt_block_arena_t *a)
{
    gpurt_block_arena_mark_t begin;

    begin.at = begin.pieces = begin.pass = 0;
    gpurt_block_arena_back(a, begin, 1);
}

/* The same, for the last time. */
GPURT_DEV void gpurt_block_arena_end(gpurt_block_arena_t *a)
{
    gpurt_block_arena_reset(a);
    if (gpurt_thread_rank() == 0 && gpurt_block_arena_is_told(a))
        gpurt_store_relaxed_dev_u64(a->head, 0); /* relaxed: as all of the table */
    gpurt_block_barrier();
}
#if GPURT_HEAP_CHECKS
#    define gpurt_block_arena_alloc(a, size) gpurt_block_arena_alloc_at(a, size, GPURT_HERE)
#endif

#endif
