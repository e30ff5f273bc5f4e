/* SPDX-License-Identifier: Apache-2.0 */
/* magazine.h - slots that a warp keeps in shared memory: allocate and free with no atomic.
 *
 *     GPURT_SHARED(gpurt_magazine_t, magazines, 8);          one a warp, blocks of 256
 *     gpurt_magazine_t *m = &magazines[gpurt_warp()];
 *     gpurt_magazine_init(m);
 *     ... p = gpurt_magazine_alloc(m, &args->heap, 48);       all lanes of the warp call
 *     ... gpurt_magazine_free(m, &args->heap, p, 48);
 *     gpurt_magazine_flush(m, &args->heap);                   before the warp ends
 *
 * For kernels that allocate often. Objects are those of the heap: any other lane may free
 * them with gpurt_heap_free, and a magazine takes objects that others have allocated. What
 * it keeps is with the program as far as the heap knows, so flush it when the warp will not
 * need it for long; what was not flushed at the end of the block is lost to the heap.
 * A free says the size that was asked for, because the heap's tables are far away; another
 * size of the same class will do.
 *
 * gpurt_magazine_free does not check pointers. 32 addresses side by side it keeps as a row, and
 * others where they fit into a row that it has; the next requests get them, whether they were
 * the heap's, of that size, or free already: a wrong one may so become the object of two lanes.
 * It sees only what lies in one of its rows already (GPURT_FREE_TWICE). The heap looks at what
 * comes to it: what no row has a place for, and rows that are emptied or flushed. In a heap
 * that checks (GPURT_HEAP_CHECKS) nothing is kept and every pointer is looked at.
 *
 * Context: device code, all 32 lanes of one warp together. size 0 or NULL: this lane takes
 * no part. Only that warp touches its magazine. A warp that is not full, as the last one of a
 * block of 33 threads, must have none: rows without a lane are not cleared, which nothing reports. */
#ifndef GPURT_MAGAZINE_H
#define GPURT_MAGAZINE_H

#include <gpurt/alloc.h>

enum {
    GPURT_MAGAZINE_BINS = 8, /* a class has the bin of its last three bits; they share */
    GPURT_MAGAZINE_ROWS = 4,
    GPURT_MAGAZINE_MOST = 4 /* classes in one call; with more the heap is faster */
};

/* Up to 32 slots of one class that lie side by side; a bit for each that is here. */
typedef struct GPURT_ALIGN(16) gpurt_magazine_row {
    char *base;
    uint32_t slots;
    uint32_t c;
} gpurt_magazine_row_t;

/* Owner: the warp. Written by: its lowest lane, between two meetings of the warp; a call meets before
 * it reads. */
typedef struct gpurt_magazine {
    gpurt_magazine_row_t rows[GPURT_MAGAZINE_BINS][GPURT_MAGAZINE_ROWS];
} gpurt_magazine_t;

GPURT_DEV void gpurt_magazine_init(gpurt_magazine_t *m)
{
    gpurt_magazine_row_t *row = &m->rows[0][0] + gpurt_lane();

    GPURT_STATIC_ASSERT(GPURT_MAGAZINE_BINS * GPURT_MAGAZINE_ROWS == GPURT_WARP_SIZE,
                        "a lane clears a row");
    row->base = NULL;
    row->slots = row->c = 0;
    gpurt_syncwarp(GPURT_FULL_MASK);
}

/* The set bit of a mask that `rank` others lie below. Context: the mask has as many. */
GPURT_DEV uint32_t gpurt_magazine_nth(uint32_t mask, uint32_t rank)
{
    for (; rank; rank--)
        mask &= mask - 1;
    return gpurt_ctz(mask);
}

/* Whether the objects of all lanes lie side by side, and in one chunk. */
GPURT_DEV bool gpurt_magazine_in_row(const char *object, uint32_t bytes)
{
    const char *first = (const char *)(uintptr_t)gpurt_shfl_u64(
        GPURT_FULL_MASK, (uint64_t)(uintptr_t)object, 0);

    return gpurt_all(GPURT_FULL_MASK, object && object == first + gpurt_lane() * bytes);
}

/* Whether lanes ask for, or free, objects of more classes than rows are worth for. */
GPURT_DEV bool gpurt_magazine_is_mixed(uint32_t todo, uint32_t own)
{
    uint32_t classes = 0;

    for (; todo && classes <= GPURT_MAGAZINE_MOST; classes++) {
        uint32_t c = gpurt_shfl_u32(GPURT_FULL_MASK, own, gpurt_leader(todo));

        todo &= ~gpurt_ballot(GPURT_FULL_MASK, own == c);
    }
    return classes > GPURT_MAGAZINE_MOST;
}

/* ---- allocate ------------------------------------------------------------------------ */

/* Whether a row of the bin holds slots of class c. */
GPURT_DEV bool gpurt_magazine_has(const gpurt_magazine_row_t *bin, uint32_t c)
{
    const gpurt_magazine_row_t *row = bin + gpurt_lane() % GPURT_MAGAZINE_ROWS;

    return gpurt_any(GPURT_FULL_MASK, row->slots && row->c == c);
}

/* Takes slots of class c out of a row for the lanes of `need`, in order. Returns: the lanes
 * that got one. */
GPURT_DEV uint32_t gpurt_magazine_take(gpurt_magazine_row_t *row, uint32_t c, uint32_t need,
                                       char **mine)
{
    uint32_t rank = gpurt_popc(need & gpurt_lanes_below()), slots = row->slots, got = 0;
    bool take = row->c == c && (need >> gpurt_lane() & 1u) && rank < gpurt_popc(slots);
    uint32_t at = take ? gpurt_magazine_nth(slots, rank) : 0;

    got = gpurt_ballot(GPURT_FULL_MASK, take);
    if (take)
        *mine = row->base + at * gpurt_class_bytes(c);
    if (!got)
        return 0;
    slots &= ~gpurt_reduce_or_u32(GPURT_FULL_MASK, take ? 1u << at : 0u);
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read the row */
    if (gpurt_lane() == 0)
        row->slots = slots;
    gpurt_syncwarp(GPURT_FULL_MASK);
    return got;
}

/* Gives what a row holds back to the heap. */
GPURT_DEVN void gpurt_magazine_empty(gpurt_magazine_row_t *row, const gpurt_heap_t *h)
{
    char *object = row->base + gpurt_lane() * gpurt_class_bytes(row->c);
    bool mine = row->slots >> gpurt_lane() & 1u;

    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read the row */
    if (gpurt_lane() == 0)
        row->slots = 0;
    if (mine)
        gpurt_heap_free(h, object);
    gpurt_syncwarp(GPURT_FULL_MASK);
}

/* A row of the bin that holds nothing; the last one is emptied for it if none does. */
GPURT_DEV gpurt_magazine_row_t *gpurt_magazine_room(gpurt_magazine_row_t *bin,
                                                    const gpurt_heap_t *h)
{
    for (uint32_t i = 0; i < GPURT_MAGAZINE_ROWS; i++)
        if (!bin[i].slots)
            return bin + i;
    gpurt_magazine_empty(bin + GPURT_MAGAZINE_ROWS - 1, h);
    return bin + GPURT_MAGAZINE_ROWS - 1;
}

GPURT_DEV void gpurt_magazine_put(gpurt_magazine_row_t *row, uint32_t c, char *base,
                                  uint32_t slots)
{
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read what was there */
    if (gpurt_lane() == 0) {
        row->base = base;
        row->slots = slots;
        row->c = c;
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
}

/* The lanes of `need` get a slot each out of 32 new ones; the others' are kept. */
GPURT_DEVN char *gpurt_magazine_refill(gpurt_magazine_row_t *bin, const gpurt_heap_t *h,
                                       uint32_t c, uint32_t need)
{
    bool mine = need >> gpurt_lane() & 1u;
    char *object = NULL;

    if (h->chunk_count) /* it is a heap */
        object = (char *)gpurt_heap_alloc_class(h, GPURT_FULL_MASK, c, 16);
    if (need == GPURT_FULL_MASK)
        return object;
    if (gpurt_magazine_in_row(object, gpurt_class_bytes(c))) {
        gpurt_magazine_row_t *row = gpurt_magazine_room(bin, h);

        gpurt_magazine_put(row, c, object - gpurt_lane() * gpurt_class_bytes(c), ~need);
    } else if (!mine) {
        gpurt_heap_free(h, object);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    return mine ? object : NULL;
}

/* Any sizes, class by class. */
GPURT_DEVN void *gpurt_magazine_alloc_slow(gpurt_magazine_t *m, const gpurt_heap_t *h,
                                           size_t size)
{
    uint32_t todo = gpurt_ballot(GPURT_FULL_MASK, size > 0);
    uint32_t own = size - 1 < GPURT_SMALL_MAX ? gpurt_class_of((uint32_t)size) : 0;
    char *object = NULL;

    if (gpurt_any(GPURT_FULL_MASK, size > GPURT_SMALL_MAX)) {
        if (size > 0)
            object = (char *)gpurt_heap_alloc(h, size);
        gpurt_syncwarp(GPURT_FULL_MASK);
        return object;
    }
    if (gpurt_magazine_is_mixed(todo, own)) {
        if (size > 0)
            object = (char *)gpurt_heap_alloc(h, size);
        /* What the heap lacks, a row may have. */
        todo = gpurt_ballot(GPURT_FULL_MASK, size > 0 && !object);
    }
    while (todo) {
        uint32_t c = gpurt_shfl_u32(GPURT_FULL_MASK, own, gpurt_leader(todo));
        uint32_t need =
            gpurt_ballot(GPURT_FULL_MASK, (todo >> gpurt_lane() & 1u) && own == c);
        gpurt_magazine_row_t *bin = m->rows[c % GPURT_MAGAZINE_BINS];

        todo &= ~need;
        if (gpurt_magazine_has(bin, c))
            for (uint32_t i = 0; i < GPURT_MAGAZINE_ROWS && need; i++)
                need &= ~gpurt_magazine_take(bin + i, c, need, &object);
        if (need) {
            char *fresh = gpurt_magazine_refill(bin, h, c, need);

            object = need >> gpurt_lane() & 1u ? fresh : object;
        }
    }
    return object;
}

#if GPURT_HEAP_CHECKS
/* In a heap that checks every object has its own record and guards: nothing is kept. */
GPURT_DEVN void *gpurt_magazine_alloc_watched(const gpurt_heap_t *h, size_t size,
                                              const char *here)
{
    uint32_t why;
    void *object = size ? gpurt_watch_alloc(h, size, 16, &why, here) : NULL;

    gpurt_syncwarp(GPURT_FULL_MASK);
    return object;
}
#endif

/* Returns: memory of at least `size` bytes, or NULL. here: as of gpurt_heap_alloc_at. */
GPURT_DEV void *gpurt_magazine_alloc_at(gpurt_magazine_t *m, const gpurt_heap_t *h,
                                        size_t size, const char *here)
{
    uint32_t c = gpurt_class_of(size - 1 < GPURT_SMALL_MAX ? (uint32_t)size : 1u);
    uint32_t first = gpurt_shfl_u32(GPURT_FULL_MASK, c, 0), amiss;
    gpurt_magazine_row_t *row = m->rows[c % GPURT_MAGAZINE_BINS], seen;
    uintptr_t object;
    bool hit;

#if GPURT_HEAP_CHECKS
    if (h->watch)
        return gpurt_magazine_alloc_watched(h, size, here);
#else
    (void)here;
#endif
    /* One load, one vote, one store. A class of one bin whose row is another's is no hit. */
    gpurt_syncwarp(GPURT_FULL_MASK); /* what lane 0 wrote last is there */
    seen = *row;
    object = (uintptr_t)seen.base + gpurt_lane() * gpurt_class_bytes(c);
    GPURT_BY_NOW(object); /* while the vote is on its way */
    amiss = ~seen.slots | (seen.c ^ c) | (c ^ first);
    hit = gpurt_all(GPURT_FULL_MASK, !amiss && size - 1 < GPURT_SMALL_MAX);
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read the row */
    GPURT_OFTEN(128);
    if (GPURT_UNLIKELY(!hit)) {
        GPURT_SELDOM();
        return GPURT_FAR(gpurt_magazine_alloc_slow)(m, h, size);
    }
    if (gpurt_lane() == 0)
        row->slots = 0;
    return (void *)object;
}
GPURT_DEV void *gpurt_magazine_alloc(gpurt_magazine_t *m, const gpurt_heap_t *h,
                                     size_t size)
{
    return gpurt_magazine_alloc_at(m, h, size, NULL);
}

/* ---- free ---------------------------------------------------------------------------- */

/* Puts objects of lanes that lie in a row's window there. Returns: whether this lane's did.
 * */
GPURT_DEV bool gpurt_magazine_return(gpurt_magazine_row_t *row, const gpurt_heap_t *h,
                                     uint32_t c, char *object)
{
    uint32_t bytes = gpurt_class_bytes(c), at = 0, bits, slots = row->slots;
    size_t offset = (size_t)(object - row->base);
    bool mine = object && row->c == c && row->base && offset < 32 * bytes;

    if (mine)
        at = gpurt_shape_slot(gpurt_class_shape(c), gpurt_class_shift(c), (uint32_t)offset);
    mine = mine && at * bytes == offset;
    bits = gpurt_reduce_or_u32(GPURT_FULL_MASK, mine ? 1u << at : 0u);
    if (mine && (slots >> at & 1u))
        gpurt_heap_bad_free(h, object, GPURT_FREE_TWICE);
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read the row */
    if (gpurt_lane() == 0)
        row->slots = slots | bits;
    gpurt_syncwarp(GPURT_FULL_MASK);
    return mine;
}

/* A row of objects of one class side by side, where a row of the bin is empty. Returns: whether one
 * was. */
GPURT_DEV bool gpurt_magazine_keep(gpurt_magazine_row_t *bin, uint32_t c, char *object)
{
    uint32_t at = gpurt_lane() % GPURT_MAGAZINE_ROWS;
    uint32_t empty = gpurt_ballot(GPURT_FULL_MASK, !bin[at].slots);

    if (empty)
        gpurt_magazine_put(bin + gpurt_ctz(empty), c, object, GPURT_FULL_MASK);
    return empty != 0;
}

/* Whether the lane's object lies in the window of a row that holds something: it may be there
 * already. */
GPURT_DEV bool gpurt_magazine_near(const gpurt_magazine_t *m, uint32_t c,
                                   const char *object)
{
    const gpurt_magazine_row_t *bin = m->rows[c % GPURT_MAGAZINE_BINS];
    bool near = false;

    for (uint32_t i = 0; i < GPURT_MAGAZINE_ROWS; i++)
        near |= bin[i].slots && bin[i].c == c &&
                (size_t)(object - bin[i].base) < 32 * gpurt_class_bytes(c);
    return near;
}

/* Any objects; what no row has a place for goes to the heap. */
GPURT_DEVN void gpurt_magazine_free_slow(gpurt_magazine_t *m, const gpurt_heap_t *h,
                                         void *object, size_t size)
{
    bool small = object && size - 1 < GPURT_SMALL_MAX;
    uint32_t own = small ? gpurt_class_of((uint32_t)size) : 0;
    uint32_t todo = gpurt_ballot(GPURT_FULL_MASK, small);
    bool row;

    if (!size) /* this lane takes no part */
        object = NULL;
    row = todo == GPURT_FULL_MASK &&
          gpurt_all(GPURT_FULL_MASK, own == gpurt_shfl_u32(GPURT_FULL_MASK, own, 0)) &&
          gpurt_magazine_in_row((char *)object, gpurt_class_bytes(own));
    if (row && gpurt_magazine_keep(m->rows[own % GPURT_MAGAZINE_BINS], own, (char *)object))
        return;
    /* A row without room, and objects of many classes, go to the heap, unless one may lie here. */
    if ((row || gpurt_magazine_is_mixed(todo, own)) &&
        !gpurt_any(GPURT_FULL_MASK, small && gpurt_magazine_near(m, own, (char *)object)))
        todo = 0;
    while (todo) {
        uint32_t c = gpurt_shfl_u32(GPURT_FULL_MASK, own, gpurt_leader(todo));
        bool mine = object && own == c && (todo >> gpurt_lane() & 1u);
        gpurt_magazine_row_t *bin = m->rows[c % GPURT_MAGAZINE_BINS];

        todo &= ~gpurt_ballot(GPURT_FULL_MASK, own == c);
        for (uint32_t i = 0; i < GPURT_MAGAZINE_ROWS; i++)
            if (gpurt_magazine_return(bin + i, h, c, mine ? (char *)object : NULL)) {
                mine = false;
                object = NULL;
            }
    }
    if (object)
        gpurt_heap_free(h, object);
    gpurt_syncwarp(GPURT_FULL_MASK);
}

#if GPURT_HEAP_CHECKS
GPURT_DEVN void gpurt_magazine_free_watched(const gpurt_heap_t *h, void *object,
                                            size_t size, const char *here)
{
    if (object && size)
        gpurt_watch_free(h, object, here);
    gpurt_syncwarp(GPURT_FULL_MASK);
}
#endif

/* size: what was asked for. */
GPURT_DEV void gpurt_magazine_free_at(gpurt_magazine_t *m, const gpurt_heap_t *h,
                                      void *object, size_t size, const char *here)
{
    uint32_t c = gpurt_class_of(size - 1 < GPURT_SMALL_MAX ? (uint32_t)size : 1u);
    uint32_t first = gpurt_shfl_u32(GPURT_FULL_MASK, c, 0), amiss;
    uint64_t base = (uint64_t)(uintptr_t)object - gpurt_lane() * gpurt_class_bytes(c),
             apart;
    gpurt_magazine_row_t *row = m->rows[c % GPURT_MAGAZINE_BINS];
    bool hit;

#if GPURT_HEAP_CHECKS
    if (h->watch) {
        gpurt_magazine_free_watched(h, object, size, here);
        return;
    }
#else
    (void)here;
#endif
    /* Side by side, from lane 0's on, and the row is empty. */
    apart = gpurt_shfl_u64(GPURT_FULL_MASK, base, 0) ^ base;
    gpurt_syncwarp(GPURT_FULL_MASK); /* what lane 0 wrote last is there */
    amiss = (uint32_t)apart | (uint32_t)(apart >> 32) | (c ^ first) | row->slots;
    hit = gpurt_all(GPURT_FULL_MASK, !amiss && size - 1 < GPURT_SMALL_MAX);
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read the row */
    GPURT_OFTEN(128);
    if (GPURT_UNLIKELY(!hit)) {
        GPURT_SELDOM();
        GPURT_FAR(gpurt_magazine_free_slow)(m, h, object, size);
        return;
    }
    if (gpurt_lane() == 0) {
        row->base = (char *)object;
        row->slots = GPURT_FULL_MASK;
        row->c = c;
    }
}

GPURT_DEV void gpurt_magazine_free(gpurt_magazine_t *m, const gpurt_heap_t *h, void *object,
                                   size_t size)
{
    gpurt_magazine_free_at(m, h, object, size, NULL);
}

/* Gives everything back to the heap. */
GPURT_DEVN void gpurt_magazine_flush(gpurt_magazine_t *m, const gpurt_heap_t *h)
{
    gpurt_syncwarp(GPURT_FULL_MASK); /* what lane 0 wrote last is there */
    for (uint32_t bin = 0; bin < GPURT_MAGAZINE_BINS; bin++)
        for (uint32_t i = 0; i < GPURT_MAGAZINE_ROWS; i++)
            if (m->rows[bin][i].slots)
                gpurt_magazine_empty(&m->rows[bin][i], h);
}

#if GPURT_HEAP_CHECKS
#    define gpurt_magazine_alloc(m, h, size) gpurt_magazine_alloc_at(m, h, size, GPURT_HERE)
#    define gpurt_magazine_free(m, h, object, size) \
        gpurt_magazine_free_at(m, h, object, size, GPURT_HERE)
#endif

#endif
