/* SPDX-License-Identifier: Apache-2.0 */
/* rack.h - rows of slots that the warps of a block share: what is too much in one magazine
 * is there for another.
 *
 *     GPURT_SHARED(gpurt_rack_t, rack, 1);
 *     gpurt_rack_init(rack);                          all lanes of the block
 *     gpurt_rack_flush(rack, &p->heap);               all lanes, before the block ends
 *
 * places.h puts rows there and takes them. A row is claimed by one compare-exchange in
 * shared memory; who finds it claimed goes on to the next one, so nobody waits. A warp that
 * had to go to the heap says which class it lacked, and the next one that has more of it
 * than a row gives one.
 * Context: device code, all 32 lanes of a warp together. */
#ifndef GPURT_RACK_H
#define GPURT_RACK_H

#include <gpurt/magazine.h>

/* State of a row: 0 when empty; claimed while somebody reads or writes it; else the class
 * and the warp that put it there. */
#define GPURT_RACK_CLAIMED 0x80000000u

/* base and slots: written by who has claimed the row. */
typedef struct GPURT_ALIGN(16) gpurt_rack_row {
    char *base;
    uint32_t slots;
    uint32_t xstate; /* written by: any warp */
} gpurt_rack_row_t;

/* Owner: the block. It lies in shared memory. */
typedef struct gpurt_rack {
    gpurt_rack_row_t rows[GPURT_WARP_SIZE];
    uint32_t
        xlacking[GPURT_WARP_SIZE]; /* a warp: the class that it found none of, plus one */
    uint32_t xown;                 /* rows that the warp took that had put them, */
    uint32_t xstolen;              /* ... and that another took */
} gpurt_rack_t;

GPURT_DEV uint32_t gpurt_rack_state(uint32_t c)
{
    return (gpurt_warp() & 0x3ffu) << 8 | (c + 1);
}

/* Context: all lanes of the block. */
GPURT_DEV void gpurt_rack_init(gpurt_rack_t *rack)
{
    gpurt_block_barrier();
    for (uint32_t i = gpurt_thread_rank(); i < GPURT_WARP_SIZE; i += gpurt_block_threads())
        rack->rows[i].xstate = rack->xlacking[i] = 0;
    if (gpurt_thread_rank() == 0)
        rack->xown = rack->xstolen = 0;
    gpurt_block_barrier();
}

/* Claims one of the rows that lanes found, by the lowest lane. Returns: it, to all lanes;
 * NULL when others have them all. found: a lane whose row it was; state: what it saw. */
GPURT_DEV gpurt_rack_row_t *gpurt_rack_claim(gpurt_rack_t *rack, bool found, uint32_t state)
{
    uint32_t todo = gpurt_ballot(GPURT_FULL_MASK, found);

    for (; todo; todo &= todo - 1) {
        uint32_t i = gpurt_leader(todo);
        bool mine = false;

        if (gpurt_lane() == i) {
            uint32_t *word = &rack->rows[i].xstate;

            mine =
                gpurt_cas_acquire_blk_u32(word, &state, GPURT_RACK_CLAIMED); /* RK1.acq */
        }
        if (gpurt_any(GPURT_FULL_MASK, mine)) {
            gpurt_syncwarp(GPURT_FULL_MASK); /* what that lane has acquired */
            return &rack->rows[i];
        }
    }
    return NULL;
}

/* Ends a claim. */
GPURT_DEV void gpurt_rack_leave(gpurt_rack_row_t *row, uint32_t state)
{
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read the row */
    if (gpurt_lane() == 0)
        gpurt_store_release_blk_u32(&row->xstate, state); /* RK1.rel */
}

/* Slots of one class that lie side by side. Returns: false when there is no room. */
GPURT_DEVN bool gpurt_rack_put(gpurt_rack_t *rack, uint32_t c, char *base, uint32_t slots)
{
    uint32_t state =
        gpurt_load_relaxed_blk_u32(&rack->rows[gpurt_lane()].xstate); /* relaxed: a look */
    gpurt_rack_row_t *row = gpurt_rack_claim(rack, state == 0, state);

    if (!row)
        return false;
    if (gpurt_lane() == 0) {
        row->base = base;
        row->slots = slots;
    }
    gpurt_rack_leave(row, gpurt_rack_state(c));
    return true;
}

/* A row of class c. Returns: its slots, 0 when there is none. */
GPURT_DEVN uint32_t gpurt_rack_take(gpurt_rack_t *rack, uint32_t c, char **base)
{
    uint32_t state =
        gpurt_load_relaxed_blk_u32(&rack->rows[gpurt_lane()].xstate); /* relaxed: a look */
    bool fits = (state & 0xffu) == c + 1 && !(state & GPURT_RACK_CLAIMED);
    gpurt_rack_row_t *row =
        gpurt_rack_claim(rack, fits && state == gpurt_rack_state(c), state);
    bool own = row != NULL;
    uint32_t slots = 0;

    if (!row)
        row = gpurt_rack_claim(rack, fits, state);
    if (!row)
        return 0;
    *base = row->base;
    slots = row->slots;
    if (gpurt_lane() == 0) /* relaxed: a statistic */
        gpurt_add_relaxed_blk_u32(own ? &rack->xown : &rack->xstolen, 1);
    gpurt_rack_leave(row, 0);
    return slots;
}

/* Says that this warp has looked for class c in vain. */
GPURT_DEV void gpurt_rack_ask(gpurt_rack_t *rack, uint32_t c)
{
    if (gpurt_lane() == 0) /* relaxed, all of this: hints */
        gpurt_store_relaxed_blk_u32(&rack->xlacking[gpurt_warp()], c + 1);
}

/* Whether another warp has said so; then it counts as answered. */
GPURT_DEV bool gpurt_rack_is_asked(gpurt_rack_t *rack, uint32_t c)
{
    uint32_t lacking = gpurt_load_relaxed_blk_u32(&rack->xlacking[gpurt_lane()]);
    uint32_t warps =
        gpurt_ballot(GPURT_FULL_MASK, lacking == c + 1 && gpurt_lane() != gpurt_warp());

    if (warps && gpurt_is_leader(warps))
        gpurt_store_relaxed_blk_u32(&rack->xlacking[gpurt_lane()], 0);
    return warps != 0;
}

/* Gives everything back to the heap. Context: all lanes of the block. */
GPURT_DEVN void gpurt_rack_flush(gpurt_rack_t *rack, const gpurt_heap_t *h)
{
    gpurt_block_barrier(); /* nobody puts or takes */
    for (uint32_t i = gpurt_warp(); i < GPURT_WARP_SIZE; i += gpurt_warps()) {
        const gpurt_rack_row_t *row = &rack->rows[i];
        uint32_t c = (row->xstate & 0xffu) - 1;

        if (row->xstate && (row->slots >> gpurt_lane() & 1u))
            gpurt_heap_free(h, row->base + gpurt_lane() * gpurt_class_bytes(c));
    }
    gpurt_block_barrier();
    for (uint32_t i = gpurt_thread_rank(); i < GPURT_WARP_SIZE; i += gpurt_block_threads())
        rack->rows[i].xstate = 0;
    gpurt_block_barrier();
}

#endif
