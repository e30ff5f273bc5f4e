/* SPDX-License-Identifier: Apache-2.0 */
/* arenatable.h - what arenas grow from: pieces of a heap, and the source's table of who has
 * them.
 *
 * arena.h and blockarena.h are what kernels call, arenas.h what the host calls. The table is
 * how pieces of cancelled blocks are found, and how the host knows what arenas have while
 * kernels run. Its words are relaxed, all of them: who acts on them does it after the launch.
 * Context: device code. */
#ifndef GPURT_ARENATABLE_H
#define GPURT_ARENATABLE_H

#include <gpurt/alloc.h>

enum {
    GPURT_ARENA_NO_SLOT = 0x7fffffff
};

/* What arenas grow from. Owner: the host's (arenas.h); or a lane's own, of a heap and zeros,
 * without a table. */
typedef struct gpurt_arena_source {
    gpurt_heap_t heap;
    uint64_t *slots; /* of arenas that have grown: xpieces of each; then the rest of the
                        table */
    uint32_t slot_count;
    uint32_t epoch; /* of the launch */
    uint32_t id;    /* of one that the host made; 0: a lane's own */
} gpurt_arena_source_t;

/* Begins each piece of the heap. Owner: the arena. */
typedef struct GPURT_ALIGN(16) gpurt_arena_piece {
    uint64_t next; /* the one before it, as gpurt_arena_unit says; 0: none */
    uint32_t bytes;
    uint32_t unused;
} gpurt_arena_piece_t;

/* A slot: taken << 63 | epoch << 36 | the newest piece of an arena. Behind the slots a word
 * for each of what its pieces come to: their number << 36 | units of 16 bytes; then one for
 * each of the units that its arenas have taken since the source was made; then one that counts
 * arenas that found no slot. The host looks at all of it while kernels run. */
#define GPURT_ARENA_TAKEN  (1ull << 63)
#define GPURT_ARENA_UNITS  ((1ull << 36) - 1)
#define GPURT_ARENA_EPOCHS ((1u << 27) - 1)
#define GPURT_ARENA_ONE    (1ull << 36) /* of a word of pieces: one of them */

GPURT_HD size_t gpurt_arena_table_words(uint32_t slots)
{
    return 3 * (size_t)slots + 1;
}
GPURT_DEV uint64_t gpurt_arena_weight(const gpurt_arena_piece_t *piece)
{
    return GPURT_ARENA_ONE | piece->bytes / 16;
}
/* Adds to what the pieces of a slot come to. relaxed, both: statistics, whose words arenas do
 * not share. */
GPURT_DEV void gpurt_arena_weigh(const gpurt_arena_source_t *s, uint32_t slot,
                                 uint64_t weight)
{
    gpurt_red_add_relaxed_dev_u64(s->slots + s->slot_count + slot, weight);
}
/* A piece is there. */
GPURT_DEV void gpurt_arena_count(const gpurt_arena_source_t *s, uint32_t slot,
                                 const gpurt_arena_piece_t *piece)
{
    gpurt_arena_weigh(s, slot, gpurt_arena_weight(piece));
    gpurt_red_add_relaxed_dev_u64(s->slots + 2 * (size_t)s->slot_count + slot,
                                  piece->bytes / 16);
}

/* A piece as a number that fits into 36 bits; 0 is none. */
GPURT_DEV uint64_t gpurt_arena_unit(const gpurt_heap_t *h, const void *piece)
{
    return (uint64_t)((const char *)piece - h->chunks) / 16 + 1;
}
GPURT_DEV gpurt_arena_piece_t *gpurt_arena_piece(const gpurt_heap_t *h, uint64_t unit)
{
    return (gpurt_arena_piece_t *)(h->chunks + (unit - 1) * 16);
}
GPURT_DEV uint64_t gpurt_arena_slot_word(const gpurt_arena_source_t *s, uint64_t unit)
{
    return GPURT_ARENA_TAKEN | (uint64_t)(s->epoch & GPURT_ARENA_EPOCHS) << 36 | unit;
}

/* ---- slots and pieces ---------------------------------------------------------------- */

/* Looks for a free slot, from one of the caller's own on. Returns: it, or NO_SLOT, which is
 * counted. */
GPURT_DEVN uint32_t gpurt_arena_take_slot(const gpurt_arena_source_t *s)
{
    uint32_t from = (uint32_t)(gpurt_global_id64() * 0x9e3779b97f4a7c15u >> 40);

    for (uint32_t i = 0; i < s->slot_count; i++) {
        uint32_t slot = (from + i) % s->slot_count;
        uint64_t empty = 0;

        /* relaxed, all of this table: who looks does it after the launch */
        if (gpurt_load_relaxed_dev_u64(s->slots + slot) == 0 &&
            gpurt_cas_relaxed_dev_u64(s->slots + slot, &empty, gpurt_arena_slot_word(s, 0)))
            return slot;
    }
    gpurt_red_add_relaxed_dev_u64(s->slots + 3 * (size_t)s->slot_count, 1);
    return GPURT_ARENA_NO_SLOT;
}

/* Frees pieces down to one that stays. slot: of the table, whose pieces they were; NO_SLOT:
 * of none. */
GPURT_DEVN void gpurt_arena_drop(const gpurt_arena_source_t *s, uint32_t slot,
                                 uint64_t from, uint64_t to)
{
    uint64_t weight = 0;

    while (from != to) {
        gpurt_arena_piece_t *piece = gpurt_arena_piece(&s->heap, from);

        from = piece->next;
        weight += gpurt_arena_weight(piece);
        gpurt_heap_free(&s->heap, piece);
    }
    if (slot != GPURT_ARENA_NO_SLOT && weight)
        gpurt_arena_weigh(s, slot, 0 - weight);
}

/* Gives back what arenas of earlier launches left behind, because their blocks were
 * cancelled. Context: all lanes of a launch, or some, which share the slots out; launches
 * that use the source come one after the other, and each has an epoch of its own. */
GPURT_DEVN void gpurt_arena_sweep(const gpurt_arena_source_t *s, uint32_t lane,
                                  uint32_t lanes)
{
    for (uint32_t i = lane; i < s->slot_count; i += lanes) {
        uint64_t word = gpurt_load_relaxed_dev_u64(s->slots + i);

        if (word == 0 ||
            (word >> 36 & GPURT_ARENA_EPOCHS) == (s->epoch & GPURT_ARENA_EPOCHS))
            continue;
        if (gpurt_cas_relaxed_dev_u64(s->slots + i, &word, 0))
            gpurt_arena_drop(s, i, word & GPURT_ARENA_UNITS, 0);
    }
}

#endif
