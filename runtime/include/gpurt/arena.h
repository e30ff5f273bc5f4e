/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory of one pass: handed out by moving a pointer, given back all at once.
 *
 *     gpurt_arena_t a;
 *     gpurt_arena_init(&a, scratch, sizeof scratch);       shared memory, a local array, ...
 *     gpurt_arena_grow_from(&a, &p->source, 0);             ... and pieces of a heap after that
 *     struct node *n = (struct node *)gpurt_arena_alloc(&a, sizeof *n);
 *     gpurt_arena_mark_t m = gpurt_arena_mark(&a);
 *     ...                                                   what is allocated from here on
 *     gpurt_arena_release(&a, m);                           ... is gone here
 *     gpurt_arena_reset(&a);                                and here all of it, for the next pass
 *     gpurt_arena_end(&a);
 *
 * An arena is a variable of its owner, which stays in registers: one of a thread, or one of
 * a warp, of which all 32 lanes hold the same copy and call the gpurt_arena_warp_ words
 * together. blockarena.h has the one that a block shares. Arenas nest: an inner one takes
 * what is left of the outer, which refuses requests until the inner has ended.
 *
 * Objects are aligned to 16 bytes; 0 bytes take nothing; 4 GiB and more are refused. Memory is not initialised. A
 * source (arenas.h) keeps a table of who has which pieces of the heap, so that those of a
 * cancelled block can be given back; with a table of none they are not.
 * Context: device code. No other lane may touch the arena of a thread. */
#ifndef GPURT_ARENA_H
#define GPURT_ARENA_H

#include <gpurt/impl/arenatable.h>

enum {
    GPURT_ARENA_PIECE = 4096, /* bytes of the heap at a time, when nothing was chosen */
    GPURT_ARENA_HEADER = 16
};
#define GPURT_ARENA_MOST \
    0xfffffff0u /* bytes of a piece and of an object, and of the first piece */

/* Why a call got nothing. One that gets something leaves the answer of an older one. */
typedef enum gpurt_arena_answer {
    GPURT_ARENA_OK = 0,
    GPURT_ARENA_FULL = 1,      /* no room, and it does not grow */
    GPURT_ARENA_HEAP = 2,      /* the heap has none either */
    GPURT_ARENA_TABLE = 3,     /* as many arenas as the source's table holds have grown */
    GPURT_ARENA_OUTER = 4,     /* an inner arena has not ended */
    GPURT_ARENA_ALIGNMENT = 5, /* not a power of two, or above 64 KiB */
    GPURT_ARENA_MARK = 6,      /* the mark is not of what the arena holds now */
    GPURT_ARENA_ANSWERS
} gpurt_arena_answer_t;

typedef struct gpurt_arena {
    char *at; /* the next object, */
    uint32_t left;
    uint32_t first_bytes; /* the caller's memory */
    char *first;
    const gpurt_arena_source_t *source; /* NULL: does not grow */
    uint64_t pieces;                    /* the newest, as gpurt_arena_unit says */
    uint32_t piece_bytes;
    uint32_t slot; /* of the source's table */
    uint32_t kept; /* what is left, while an inner arena has it */
    uint8_t answer;
    uint8_t pass; /* resets, as far as they fit: marks of other passes are none */
    bool outer;   /* an inner arena is open */
    bool spare;   /* the newest piece is not in use: a reset kept it */
#if GPURT_HEAP_CHECKS
    const char *here; /* "file:line" of the request at hand, for the heap */
#endif
} gpurt_arena_t;

typedef struct gpurt_arena_mark {
    char *at;
    uint64_t pieces;
    uint32_t left;
    uint8_t pass;
    bool spare;
} gpurt_arena_mark_t;

/* The line that asks: code that checks keeps it, for the piece that the request may bring. */
GPURT_DEV void gpurt_arena_ask(gpurt_arena_t *a, const char *here)
{
#if GPURT_HEAP_CHECKS
    a->here = here;
#else
    (void)a;
    (void)here;
#endif
}
GPURT_DEV const char *gpurt_arena_asker(const gpurt_arena_t *a)
{
#if GPURT_HEAP_CHECKS
    return a->here;
#else
    (void)a;
    return NULL;
#endif
}

/* ---- life ---------------------------------------------------------------------------- */

/* memory: the first piece, which stays the caller's, and of which the first 4 GiB less 16 bytes
 * are used; NULL and 0: none. */
GPURT_DEV void gpurt_arena_init(gpurt_arena_t *a, void *memory, size_t bytes)
{
    uint32_t off = (uint32_t)(0 - (uintptr_t)memory) & 15u;
    size_t room = memory && bytes > off ? bytes - off : 0;

    a->first_bytes = room > GPURT_ARENA_MOST ? GPURT_ARENA_MOST : (uint32_t)room & ~15u;
    a->at = a->first = (char *)memory + (a->first_bytes ? off : 0);
    a->left = a->first_bytes;
    a->source = NULL;
    a->pieces = 0;
    a->piece_bytes = a->kept = a->answer = 0;
    a->slot = GPURT_ARENA_NO_SLOT;
    a->pass = 0;
    a->outer = a->spare = false;
    gpurt_arena_ask(a, NULL);
}

/* From now on it takes pieces of the source's heap. bytes: of each, at least 64 and at most 1 GiB;
 * 0: 4 KiB. */
GPURT_DEV void gpurt_arena_grow_from(gpurt_arena_t *a, const gpurt_arena_source_t *source,
                                     size_t bytes)
{
    if (bytes < 64)
        bytes = bytes ? 64 : GPURT_ARENA_PIECE;
    a->piece_bytes = bytes > 1u << 30 ? 1u << 30 : ((uint32_t)bytes + 15) & ~15u;
    a->source = source;
}

/* Why the last call that got nothing got nothing: to be asked behind NULL or false. */
GPURT_DEV gpurt_arena_answer_t gpurt_arena_why(const gpurt_arena_t *a)
{
    return (gpurt_arena_answer_t)a->answer;
}

/* ---- growing ------------------------------------------------------------------------- */
/* The slow path takes and gives the arena by value, so that a caller's stays in registers.
 */
typedef struct gpurt_arena_growth {
    gpurt_arena_t arena;
    char *object;
} gpurt_arena_growth_t;

/* A size as it is handed on: 4 GiB and more become one that is refused. */
GPURT_DEV uint32_t gpurt_arena_asked(size_t size)
{
    return size > 0xffffffffu ? 0xffffffffu : (uint32_t)size;
}

/* Publishes the arena's pieces to others. Asks the slot's number: a pointer that is
 * NULL without one is a pointer to nowhere after ptxas 13.0 (sass_hazards.py). */
GPURT_DEV void gpurt_arena_tell(const gpurt_arena_t *a, uint64_t pieces)
{
    if (a->slot != GPURT_ARENA_NO_SLOT)
        gpurt_store_relaxed_dev_u64(a->source->slots + a->slot,
                                    gpurt_arena_slot_word(a->source, pieces));
}

/* A piece of the heap, known to the table before anything else can happen to its lane: no
 * call in between can end it. Returns: NULL, and why in the arena. */
GPURT_DEV gpurt_arena_piece_t *gpurt_arena_fetch(gpurt_arena_t *a, uint32_t bytes)
{
    const gpurt_arena_source_t *s = a->source;
    gpurt_arena_piece_t *piece;

    if (s->slots && a->slot == GPURT_ARENA_NO_SLOT) {
        a->slot = gpurt_arena_take_slot(s);
        if (a->slot == GPURT_ARENA_NO_SLOT) {
            a->answer = GPURT_ARENA_TABLE;
            return NULL;
        }
    }
    piece = (gpurt_arena_piece_t *)gpurt_heap_alloc_aligned_at(&s->heap, bytes, 16,
                                                               gpurt_arena_asker(a));
    if (!piece) {
        a->answer = GPURT_ARENA_HEAP;
        return NULL;
    }
    piece->next = a->pieces;
    piece->bytes = bytes;
    a->pieces = gpurt_arena_unit(&s->heap, piece);
    gpurt_arena_tell(a, a->pieces);
    if (s->slots)
        gpurt_arena_count(s, a->slot, piece);
    return piece;
}

/* A request that does not fit into what is left. need: bytes with what aligning may take.
 * What is longer than a piece gets one of its own, and the arena goes on where it was. */
GPURT_DEVN gpurt_arena_growth_t gpurt_arena_grown(gpurt_arena_t a, uint32_t size,
                                                  uint32_t align)
{
    gpurt_arena_growth_t out;
    uint64_t need = ((uint64_t)size + 15) / 16 * 16 + (align - 16) + GPURT_ARENA_HEADER;
    gpurt_arena_piece_t *piece = NULL;
    char *object;

    a.answer = a.outer ? GPURT_ARENA_OUTER : GPURT_ARENA_FULL;
    if (!a.outer && a.source) {
        if (a.spare && need <= a.piece_bytes)
            piece = gpurt_arena_piece(&a.source->heap, a.pieces);
        else if (need > GPURT_ARENA_MOST)
            a.answer = GPURT_ARENA_HEAP;
        else
            piece = gpurt_arena_fetch(&a, need > a.piece_bytes ? (uint32_t)need
                                                               : a.piece_bytes);
    }
    object = (char *)piece + GPURT_ARENA_HEADER;
    object += (0 - (uintptr_t)object) & (align - 1);
    if (piece) {
        a.answer = GPURT_ARENA_OK;
        a.spare = false; /* used now, or older than the newest */
        if (piece->bytes <= a.piece_bytes) {
            a.at = object + (size + 15) / 16 * 16;
            a.left = piece->bytes - (uint32_t)(a.at - (char *)piece);
        }
    }
    out.arena = a;
    out.object = piece ? object : NULL;
    return out;
}

/* ---- a thread's ---------------------------------------------------------------------- */

/* Returns: `size` bytes, or NULL (gpurt_arena_why). Of 0 bytes: where the next object would begin,
 * which is NULL in an arena that has no memory yet. */
GPURT_DEV void *gpurt_arena_alloc(gpurt_arena_t *a, size_t size)
{
    char *object = a->at;
    uint32_t step = ((uint32_t)size + 15) & ~15u; /* of what fits */

    if (GPURT_UNLIKELY(size > a->left)) { /* a multiple of 16, so the step fits too */
        gpurt_arena_growth_t more = gpurt_arena_grown(*a, gpurt_arena_asked(size), 16);

        *a = more.arena;
        return more.object;
    }
    a->at = object + step;
    a->left -= step;
    return object;
}

/* align: a power of two up to 64 KiB. */
GPURT_DEV void *gpurt_arena_alloc_aligned(gpurt_arena_t *a, size_t size, size_t align)
{
    uint32_t pad = (uint32_t)((0 - (uintptr_t)a->at) & (align - 1));

    if (!align || (align & (align - 1)) || align > GPURT_CHUNK_BYTES) {
        a->answer = GPURT_ARENA_ALIGNMENT;
        return NULL;
    }
    align = align < 16 ? 16 : align;
    if (GPURT_UNLIKELY(size > a->left || (uint32_t)size + (uint64_t)pad > a->left)) {
        gpurt_arena_growth_t more =
            gpurt_arena_grown(*a, gpurt_arena_asked(size), (uint32_t)align);

        *a = more.arena;
        return more.object;
    }
    a->at += pad;
    a->left -= pad;
    return gpurt_arena_alloc(a, size);
}

/* ---- marks --------------------------------------------------------------------------- */

GPURT_DEV gpurt_arena_mark_t gpurt_arena_mark(const gpurt_arena_t *a)
{
    gpurt_arena_mark_t m;

    m.at = a->at;
    m.pieces = a->pieces;
    m.left = a->left;
    m.pass = a->pass;
    m.spare = a->spare;
    return m;
}

/* Whether a mark's newest piece is still among the arena's. */
GPURT_DEVN bool gpurt_arena_has(const gpurt_heap_t *h, uint64_t pieces, uint64_t unit)
{
    while (pieces != unit && pieces)
        pieces = gpurt_arena_piece(h, pieces)->next;
    return pieces == unit;
}

GPURT_DEV bool gpurt_arena_mark_holds(gpurt_arena_t *a, const gpurt_arena_mark_t *m)
{
    bool holds = !a->outer && m->pass == a->pass;

    if (m->pieces == a->pieces) /* in one piece: not in front of what is in use */
        holds = holds && (m->spare == a->spare ? m->left >= a->left : m->spare);
    else
        holds =
            holds && a->source && gpurt_arena_has(&a->source->heap, a->pieces, m->pieces);
    a->answer = holds ? GPURT_ARENA_OK : a->outer ? GPURT_ARENA_OUTER : GPURT_ARENA_MARK;
    return holds;
}

GPURT_DEV void gpurt_arena_release_to(gpurt_arena_t *a, const gpurt_arena_mark_t *m,
                                      bool frees)
{
    uint64_t pieces = a->pieces;

    a->at = m->at;
    a->left = m->left;
    a->spare = m->spare;
    a->pieces = m->pieces;
    if (!frees || pieces == m->pieces)
        return;
    gpurt_arena_tell(a, m->pieces); /* first: a piece that is free is nobody's */
    gpurt_arena_drop(a->source, a->slot, pieces, m->pieces);
}

/* Ends all objects that are younger than the mark. Returns: false when an inner arena is open, or
 * the mark is not of what the arena holds now; then nothing happens. That is noticed of a mark from
 * before a reset (but 256 of them), and after an older release of one that lies beyond what has been
 * allocated since. Of others after an older release it is not: they end what lies behind them. */
GPURT_DEV bool gpurt_arena_release(gpurt_arena_t *a, gpurt_arena_mark_t m)
{
    bool holds = gpurt_arena_mark_holds(a, &m);

    if (holds)
        gpurt_arena_release_to(a, &m, true);
    return holds;
}

/* The piece that a reset keeps for the next pass. Returns: it, or 0. */
GPURT_DEVN uint64_t gpurt_arena_keep_one(const gpurt_arena_t *a)
{
    const gpurt_heap_t *h = &a->source->heap;
    uint64_t keep = a->pieces;

    while (keep && gpurt_arena_piece(h, keep)->bytes != a->piece_bytes)
        keep = gpurt_arena_piece(h, keep)->next;
    return keep;
}

/* All of the arena but `keep`, which becomes its only piece. */
GPURT_DEVN void gpurt_arena_drop_all(const gpurt_arena_t *a, uint64_t keep)
{
    const gpurt_arena_source_t *s = a->source;
    uint64_t pieces = a->pieces, older = 0;

    if (keep) {
        older = gpurt_arena_piece(&s->heap, keep)->next;
        gpurt_arena_piece(&s->heap, keep)->next = 0;
    }
    gpurt_arena_tell(a, keep); /* first: a piece that is free is nobody's */
    gpurt_arena_drop(s, a->slot, pieces, keep);
    gpurt_arena_drop(s, a->slot, older, 0);
}

GPURT_DEV void gpurt_arena_rewind(gpurt_arena_t *a, uint64_t keep)
{
    a->at = a->first;
    a->left = a->first_bytes;
    a->pieces = keep;
    a->pass++;
    a->spare = keep != 0;
    a->answer = GPURT_ARENA_OK;
}

/* Whether an inner arena is open: then nothing can end. */
GPURT_DEV bool gpurt_arena_is_outer(gpurt_arena_t *a)
{
    a->answer = a->outer ? GPURT_ARENA_OUTER : GPURT_ARENA_OK;
    return a->outer;
}

/* Ends all objects. Returns: false when an inner arena is open; then nothing happens. */
GPURT_DEV bool gpurt_arena_reset(gpurt_arena_t *a)
{
    uint64_t keep = a->pieces ? gpurt_arena_keep_one(a) : 0;

    if (gpurt_arena_is_outer(a))
        return false;
    if (a->pieces)
        gpurt_arena_drop_all(a, keep);
    gpurt_arena_rewind(a, keep);
    return true;
}

/* The same, and gives all pieces back. */
GPURT_DEV bool gpurt_arena_end(gpurt_arena_t *a)
{
    if (gpurt_arena_is_outer(a))
        return false;
    if (a->pieces)
        gpurt_arena_drop_all(a, 0);
    if (a->slot != GPURT_ARENA_NO_SLOT)
        gpurt_store_relaxed_dev_u64(a->source->slots + a->slot, 0);
    a->slot = GPURT_ARENA_NO_SLOT;
    gpurt_arena_rewind(a, 0);
    return true;
}

/* ---- arenas in arenas ---------------------------------------------------------------- */

/* The inner arena has what the outer has left, and grows as it does. */
GPURT_DEV void gpurt_arena_open(gpurt_arena_t *inner, gpurt_arena_t *outer)
{
    gpurt_arena_init(inner, outer->at, outer->left);
    inner->source = outer->source;
    inner->piece_bytes = outer->piece_bytes;
    outer->kept = outer->left;
    outer->left = 0; /* each request of it comes to gpurt_arena_grown now */
    outer->outer = true;
}

/* What remains of the two once the inner one has ended. */
GPURT_DEV void gpurt_arena_part(gpurt_arena_t *inner, gpurt_arena_t *outer)
{
    inner->left = inner->first_bytes = 0;
    inner->source = NULL;
    outer->left = outer->kept;
    outer->outer = false;
}

/* Ends the inner one. Returns: false when it has an inner one itself that is open. */
GPURT_DEV bool gpurt_arena_close(gpurt_arena_t *inner, gpurt_arena_t *outer)
{
    if (!gpurt_arena_end(inner))
        return false;
    gpurt_arena_part(inner, outer);
    return true;
}

/* ---- a warp's ------------------------------------------------------------------------ */
/* Context: all 32 lanes, each with the same copy. Only the lowest one meets heap and table. */

/* The slow path for all lanes: bytes for all of them in a row. */
GPURT_DEVN gpurt_arena_growth_t gpurt_arena_warp_grown(gpurt_arena_t a, uint32_t size)
{
    gpurt_arena_growth_t out;
    uint32_t word;

    out.arena = a;
    out.object = NULL;
    if (gpurt_lane() == 0)
        out = gpurt_arena_grown(a, size, 16);
    word = (uint32_t)out.arena.answer + (uint32_t)out.arena.spare * 0x10000u;
    gpurt_syncwarp(GPURT_FULL_MASK); /* the piece's header, what the heap has acquired */
    word = gpurt_shfl_u32(GPURT_FULL_MASK, word, 0);
    out.object = (char *)(uintptr_t)gpurt_shfl_u64(GPURT_FULL_MASK,
                                                   (uint64_t)(uintptr_t)out.object, 0);
    a.at = (char *)(uintptr_t)gpurt_shfl_u64(GPURT_FULL_MASK,
                                             (uint64_t)(uintptr_t)out.arena.at, 0);
    a.left = gpurt_shfl_u32(GPURT_FULL_MASK, out.arena.left, 0);
    a.pieces = gpurt_shfl_u64(GPURT_FULL_MASK, out.arena.pieces, 0);
    a.slot = gpurt_shfl_u32(GPURT_FULL_MASK, out.arena.slot, 0);
    a.answer = (uint8_t)word;
    a.spare = word >> 16 & 1u;
    out.arena = a;
    return out;
}

/* `bytes` in a row for the warp. Returns: their begin, to all lanes. */
GPURT_DEV char *gpurt_arena_warp_row(gpurt_arena_t *a, uint32_t bytes)
{
    char *row = a->at;
    uint32_t step = (bytes + 15) & ~15u;

    if (GPURT_UNLIKELY(bytes > a->left)) {
        gpurt_arena_growth_t more = gpurt_arena_warp_grown(*a, bytes);

        *a = more.arena;
        return more.object;
    }
    a->at = row + step;
    a->left -= step;
    return row;
}

/* The same size for each lane, side by side: lane i's object lies i steps after lane 0's.
 * Returns: this lane's, NULL to all when there is no room for all. size: up to 64 MiB. */
GPURT_DEV void *gpurt_arena_warp_alloc(gpurt_arena_t *a, size_t size)
{
    uint32_t step = ((uint32_t)size + 15) & ~15u; /* of what may be served */
    char *row = size <= 1u << 26 ? gpurt_arena_warp_row(a, step * GPURT_WARP_SIZE) : NULL;

    if (size > 1u << 26)
        a->answer = GPURT_ARENA_HEAP;
    return row ? row + gpurt_lane() * step : NULL;
}

/* A size of its own for each lane. */
GPURT_DEV void *gpurt_arena_warp_alloc_each(gpurt_arena_t *a, size_t size)
{
    uint32_t step = size <= 1u << 26 ? ((uint32_t)size + 15) & ~15u : 0, sum = step, all;
    bool fits = gpurt_all(GPURT_FULL_MASK, size <= 1u << 26);
    char *row;

    for (uint32_t by = 1; by < GPURT_WARP_SIZE; by *= 2) {
        uint32_t below = gpurt_shfl_up_u32(GPURT_FULL_MASK, sum, by, GPURT_WARP_SIZE);

        sum += gpurt_lane() >= by ? below : 0;
    }
    all = gpurt_shfl_u32(GPURT_FULL_MASK, sum, GPURT_WARP_SIZE - 1);
    row = fits ? gpurt_arena_warp_row(a, all) : NULL;
    if (!fits)
        a->answer = GPURT_ARENA_HEAP;
    return row ? row + (sum - step) : NULL;
}

GPURT_DEV bool gpurt_arena_warp_release(gpurt_arena_t *a, gpurt_arena_mark_t m)
{
    bool holds = gpurt_arena_mark_holds(a, &m);

    gpurt_syncwarp(GPURT_FULL_MASK); /* no lane reads what ends here */
    if (holds)
        gpurt_arena_release_to(a, &m, gpurt_lane() == 0);
    gpurt_syncwarp(GPURT_FULL_MASK);
    return holds;
}

GPURT_DEV bool gpurt_arena_warp_reset(gpurt_arena_t *a)
{
    uint64_t keep = a->pieces ? gpurt_arena_keep_one(a) : 0;

    if (gpurt_arena_is_outer(a))
        return false;
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have looked for it */
    if (a->pieces && gpurt_lane() == 0)
        gpurt_arena_drop_all(a, keep);
    gpurt_arena_rewind(a, keep);
    gpurt_syncwarp(GPURT_FULL_MASK);
    return true;
}

GPURT_DEV bool gpurt_arena_warp_end(gpurt_arena_t *a)
{
    gpurt_arena_t all = *a;

    if (gpurt_arena_is_outer(a))
        return false;
    gpurt_syncwarp(GPURT_FULL_MASK); /* no lane uses it any more */
    if (gpurt_lane() == 0)
        gpurt_arena_end(&all);
    a->slot = GPURT_ARENA_NO_SLOT;
    gpurt_arena_rewind(a, 0);
    gpurt_syncwarp(GPURT_FULL_MASK);
    return true;
}

/* A warp's arenas are opened with gpurt_arena_open and closed with this. */
GPURT_DEV bool gpurt_arena_warp_close(gpurt_arena_t *inner, gpurt_arena_t *outer)
{
    if (!gpurt_arena_warp_end(inner))
        return false;
    gpurt_arena_part(inner, outer);
    return true;
}
/* ---- with the line that asks ----------------------------------------------------------- */
/* A piece of the heap that a request brings counts as asked for there. here: as of
 * gpurt_heap_alloc_at. */

GPURT_DEV void *gpurt_arena_alloc_at(gpurt_arena_t *a, size_t size, const char *here)
{
    gpurt_arena_ask(a, here);
    return gpurt_arena_alloc(a, size);
}
GPURT_DEV void *gpurt_arena_alloc_aligned_at(gpurt_arena_t *a, size_t size, size_t align,
                                             const char *here)
{
    gpurt_arena_ask(a, here);
    return gpurt_arena_alloc_aligned(a, size, align);
}
GPURT_DEV void *gpurt_arena_warp_alloc_at(gpurt_arena_t *a, size_t size, const char *here)
{
    gpurt_arena_ask(a, here);
    return gpurt_arena_warp_alloc(a, size);
}
GPURT_DEV void *gpurt_arena_warp_alloc_each_at(gpurt_arena_t *a, size_t size,
                                               const char *here)
{
    gpurt_arena_ask(a, here);
    return gpurt_arena_warp_alloc_each(a, size);
}

#if GPURT_HEAP_CHECKS
#    define gpurt_arena_alloc(a, size) gpurt_arena_alloc_at(a, size, GPURT_HERE)
#    define gpurt_arena_alloc_aligned(a, size, align) \
        gpurt_arena_alloc_aligned_at(a, size, align, GPURT_HERE)
#    define gpurt_arena_warp_alloc(a, size) gpurt_arena_warp_alloc_at(a, size, GPURT_HERE)
#    define gpurt_arena_warp_alloc_each(a, size) \
        gpurt_arena_warp_alloc_each_at(a, size, GPURT_HERE)
#endif

#endif
