/* SPDX-License-Identifier: Apache-2.0 */
/* places.h - four pools, one above the other: a thread's pocket, its warp's magazine, its
 * block's rack, the heap. What one has no room for goes up, what it lacks comes down.
 *
 *     GPURT_SHARED(gpurt_magazine_t, magazines, 8);       one a warp
 *     GPURT_SHARED(gpurt_rack_t, rack, 1);
 *     gpurt_places_t mine;
 *     gpurt_rack_init(rack);
 *     gpurt_places_init(&mine, &magazines[gpurt_warp()], rack, &p->heap);
 *     ... object = gpurt_places_alloc(&mine, 48);         all lanes of the warp call
 *     ... gpurt_places_free(&mine, object, 48);
 *     gpurt_places_flush(&mine);                          before the warp ends,
 *     gpurt_rack_flush(rack, &p->heap);                   and before the block does
 *
 * Objects are those of the heap: any lane may free them with gpurt_heap_free. Each level
 * counts what it served and what it kept; the flush adds that to the heap's counts, which
 * gpurt_heap_stats shows. A free says the size that was asked for, and its pointer is checked
 * as little as a magazine does: only what lies in the lane's pocket or in a row of its
 * magazine already is seen (GPURT_FREE_TWICE) and left alone. In a heap that checks or traces
 * (GPURT_HEAP_CHECKS) no level keeps anything: each object is the heap's own.
 * Context: device code, all 32 lanes of one warp together. size 0 or NULL: this lane takes
 * no part. */
#ifndef GPURT_PLACES_H
#define GPURT_PLACES_H

#include <gpurt/rack.h>

enum {
    GPURT_POCKET = 2 /* objects that a thread keeps */
};

/* Owner: the lane, in registers. */
typedef struct gpurt_places {
    gpurt_magazine_t *magazine;
    gpurt_rack_t *rack;
    const gpurt_heap_t *heap;
    char *pocket[GPURT_POCKET];
    uint32_t classes[GPURT_POCKET];
    uint32_t got[GPURT_PLACES], put[GPURT_PLACES];
} gpurt_places_t;

GPURT_DEV void gpurt_places_init(gpurt_places_t *k, gpurt_magazine_t *magazine,
                                 gpurt_rack_t *rack, const gpurt_heap_t *h)
{
    k->magazine = magazine;
    k->rack = rack;
    k->heap = h;
    for (uint32_t i = 0; i < GPURT_POCKET; i++) {
        k->pocket[i] = NULL;
        k->classes[i] = 0;
    }
    for (uint32_t i = 0; i < GPURT_PLACES; i++)
        k->got[i] = k->put[i] = 0;
    gpurt_magazine_init(magazine);
}

/* ---- the pocket ---------------------------------------------------------------------- */

GPURT_DEV char *gpurt_pocket_take(gpurt_places_t *k, uint32_t c)
{
    char *object = NULL;

    for (uint32_t i = 0; i < GPURT_POCKET; i++)
        if (!object && k->pocket[i] && k->classes[i] == c) {
            object = k->pocket[i];
            k->pocket[i] = NULL;
        }
    return object;
}

/* Whether it lies here already: it is freed twice, which is told. */
GPURT_DEV bool gpurt_pocket_has(const gpurt_places_t *k, const char *object)
{
    bool has = false;

    for (uint32_t i = 0; i < GPURT_POCKET; i++)
        has |= k->pocket[i] == object;
    if (GPURT_UNLIKELY(has))
        gpurt_heap_bad_free(k->heap, object, GPURT_FREE_TWICE);
    return has;
}

GPURT_DEV bool gpurt_pocket_keep(gpurt_places_t *k, uint32_t c, char *object)
{
    bool kept = false;

    for (uint32_t i = 0; i < GPURT_POCKET; i++) {
        if (!kept && !k->pocket[i]) {
            k->pocket[i] = object;
            k->classes[i] = c;
            kept = true;
        }
    }
    return kept;
}

/* ---- rows between magazine and rack -------------------------------------------------- */

/* Makes room in a bin: its last row goes to the rack, or to the heap. */
GPURT_DEVN void gpurt_places_make_room(gpurt_magazine_row_t *bin, gpurt_rack_t *rack,
                                       const gpurt_heap_t *h)
{
    gpurt_magazine_row_t *last = bin + GPURT_MAGAZINE_ROWS - 1;

    for (uint32_t i = 0; i < GPURT_MAGAZINE_ROWS; i++)
        if (!bin[i].slots)
            return;
    if (gpurt_rack_put(rack, last->c, last->base, last->slots))
        gpurt_magazine_put(last, last->c, last->base, 0);
    else
        gpurt_magazine_empty(last, h);
}

/* Moves rows of class c from the rack into the bin for the lanes of `need`. Returns: the
 * lanes that got an object. */
GPURT_DEVN uint32_t gpurt_places_from_rack(gpurt_magazine_row_t *bin, gpurt_rack_t *rack,
                                           const gpurt_heap_t *h, uint32_t c, uint32_t need,
                                           char **mine)
{
    uint32_t had = 0, slots;
    char *base = NULL;

    while (need & ~had && (slots = gpurt_rack_take(rack, c, &base)) != 0) {
        gpurt_magazine_row_t *row;

        gpurt_places_make_room(bin, rack, h);
        row = gpurt_magazine_room(bin, h);
        gpurt_magazine_put(row, c, base, slots);
        had |= gpurt_magazine_take(row, c, need & ~had, mine);
    }
    return had;
}

/* Gives a row of class c to a warp that lacks it, when there are two. */
GPURT_DEV void gpurt_places_share(gpurt_magazine_row_t *bin, gpurt_rack_t *rack, uint32_t c)
{
    gpurt_magazine_row_t *second = NULL;
    uint32_t rows = 0;

    for (uint32_t i = 0; i < GPURT_MAGAZINE_ROWS; i++)
        if (bin[i].slots && bin[i].c == c) {
            rows++;
            second = bin + i;
        }
    if (rows > 1 && gpurt_rack_is_asked(rack, c) &&
        gpurt_rack_put(rack, c, second->base, second->slots))
        gpurt_magazine_put(second, c, second->base, 0);
}

/* ---- allocate ------------------------------------------------------------------------ */

/* Lanes of `need` want one of class c, which their pockets have not. */
GPURT_DEV char *gpurt_places_class(gpurt_places_t *k, uint32_t c, uint32_t need)
{
    gpurt_magazine_row_t *bin = k->magazine->rows[c % GPURT_MAGAZINE_BINS];
    char *object = NULL, *fresh;
    uint32_t had = 0, me = 1u << gpurt_lane();

    for (uint32_t i = 0; i < GPURT_MAGAZINE_ROWS && need; i++) {
        had = gpurt_magazine_take(bin + i, c, need, &object);
        need &= ~had;
        k->got[GPURT_PLACE_WARP] += (had & me) != 0;
    }
    if (!need)
        return object;
    had = gpurt_places_from_rack(bin, k->rack, k->heap, c, need, &object);
    need &= ~had;
    k->got[GPURT_PLACE_BLOCK] += (had & me) != 0;
    if (!need)
        return object;
    gpurt_rack_ask(k->rack, c);
    gpurt_places_make_room(bin, k->rack, k->heap);
    fresh = gpurt_magazine_refill(bin, k->heap, c, need);
    k->got[GPURT_PLACE_GLOBAL] += (need & me) && fresh;
    return need & me ? fresh : object;
}

#if GPURT_HEAP_CHECKS
/* In a heap that checks every object has its own record and guards: nothing is kept. */
GPURT_DEVN void *gpurt_places_alloc_watched(gpurt_places_t *k, size_t size,
                                            const char *here)
{
    void *object = gpurt_magazine_alloc_watched(k->heap, size, here);

    k->got[GPURT_PLACE_GLOBAL] += object != NULL;
    return object;
}
#endif

/* Returns: memory of at least `size` bytes, or NULL. here: as of gpurt_heap_alloc_at. */
GPURT_DEV void *gpurt_places_alloc_at(gpurt_places_t *k, size_t size, const char *here)
{
    bool small = size - 1 < GPURT_SMALL_MAX;
    uint32_t own = gpurt_class_of(small ? (uint32_t)size : 1u), todo;
    char *object;

#if GPURT_HEAP_CHECKS
    if (k->heap->watch)
        return gpurt_places_alloc_watched(k, size, here);
#else
    (void)here;
#endif
    object = small ? gpurt_pocket_take(k, own) : NULL;
    k->got[GPURT_PLACE_THREAD] += object != NULL;
    todo = gpurt_ballot(GPURT_FULL_MASK, small && !object);
    while (todo) {
        uint32_t c = gpurt_shfl_u32(GPURT_FULL_MASK, own, gpurt_leader(todo));
        uint32_t same = gpurt_ballot(GPURT_FULL_MASK, own == c), need = todo & same;
        char *got = gpurt_places_class(k, c, need);

        if (need >> gpurt_lane() & 1u)
            object = got;
        todo &= ~need;
    }
    if (!small && size) {
        object = (char *)gpurt_heap_alloc(k->heap, size);
        k->got[GPURT_PLACE_GLOBAL] += object != NULL;
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    return object;
}
GPURT_DEV void *gpurt_places_alloc(gpurt_places_t *k, size_t size)
{
    return gpurt_places_alloc_at(k, size, NULL);
}

/* ---- free ---------------------------------------------------------------------------- */

/* Objects of class c of the lanes that have one: into rows of the magazine that they belong
 * to, or as a row. Returns: what this lane still has. */
GPURT_DEV char *gpurt_places_return(gpurt_places_t *k, uint32_t c, char *object)
{
    gpurt_magazine_row_t *bin = k->magazine->rows[c % GPURT_MAGAZINE_BINS];
    bool mine = object != NULL;

    if (gpurt_magazine_in_row(object, gpurt_class_bytes(c))) {
        char *base = object - gpurt_lane() * gpurt_class_bytes(c);

        if (gpurt_magazine_keep(bin, c, object)) {
            k->put[GPURT_PLACE_WARP]++;
            return NULL;
        }
        if (gpurt_rack_put(k->rack, c, base, GPURT_FULL_MASK)) {
            k->put[GPURT_PLACE_BLOCK]++;
            return NULL;
        }
    }
    for (uint32_t i = 0; i < GPURT_MAGAZINE_ROWS; i++)
        if (gpurt_magazine_return(bin + i, k->heap, c, object))
            object = NULL;
    k->put[GPURT_PLACE_WARP] += mine && !object;
    return object;
}

#if GPURT_HEAP_CHECKS
GPURT_DEVN void gpurt_places_free_watched(gpurt_places_t *k, void *object, size_t size,
                                          const char *here)
{
    k->put[GPURT_PLACE_GLOBAL] += object && size;
    gpurt_magazine_free_watched(k->heap, object, size, here);
}
#endif

GPURT_DEV void gpurt_places_free_at(gpurt_places_t *k, void *object, size_t size,
                                    const char *here)
{
    bool small = object && size - 1 < GPURT_SMALL_MAX;
    uint32_t own = gpurt_class_of(small ? (uint32_t)size : 1u), todo;
    char *mine = (char *)object;

#if GPURT_HEAP_CHECKS
    if (k->heap->watch) {
        gpurt_places_free_watched(k, object, size, here);
        return;
    }
#else
    (void)here;
#endif
    if (small && gpurt_pocket_has(k, mine)) {
        mine = NULL;
    } else if (small && gpurt_pocket_keep(k, own, mine)) {
        k->put[GPURT_PLACE_THREAD]++;
        mine = NULL;
    }
    todo = gpurt_ballot(GPURT_FULL_MASK, small && mine);
    while (todo) {
        uint32_t c = gpurt_shfl_u32(GPURT_FULL_MASK, own, gpurt_leader(todo));
        uint32_t same = gpurt_ballot(GPURT_FULL_MASK, own == c) & todo;
        bool take = same >> gpurt_lane() & 1u;
        char *left = gpurt_places_return(k, c, take ? mine : NULL);

        mine = take ? left : mine;
        todo &= ~same;
        gpurt_places_share(k->magazine->rows[c % GPURT_MAGAZINE_BINS], k->rack, c);
    }
    if (mine && size) { /* without a size this lane takes no part */
        gpurt_heap_free(k->heap, mine);
        k->put[GPURT_PLACE_GLOBAL]++;
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
}

GPURT_DEV void gpurt_places_free(gpurt_places_t *k, void *object, size_t size)
{
    gpurt_places_free_at(k, object, size, NULL);
}

/* Gives pockets and magazine back to the heap, and adds up what each level did. */
GPURT_DEVN void gpurt_places_flush(gpurt_places_t *k)
{
    for (uint32_t i = 0; i < GPURT_POCKET; i++) {
        if (k->pocket[i])
            gpurt_heap_free(k->heap, k->pocket[i]);
        k->pocket[i] = NULL;
        gpurt_syncwarp(GPURT_FULL_MASK);
    }
    gpurt_magazine_flush(k->magazine, k->heap);
    for (uint32_t i = 0; i < GPURT_PLACES; i++) {
        uint32_t got = gpurt_reduce_add_u32(GPURT_FULL_MASK, k->got[i]);
        uint32_t put = gpurt_reduce_add_u32(GPURT_FULL_MASK, k->put[i]);

        k->got[i] = k->put[i] = 0;
        if (gpurt_lane() > 0 || !k->heap->counts)
            continue; /* relaxed, both: statistics */
        gpurt_red_add_relaxed_dev_u64(&k->heap->counts->xgot[i], got);
        gpurt_red_add_relaxed_dev_u64(&k->heap->counts->xput[i], put);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
}

#if GPURT_HEAP_CHECKS
#    define gpurt_places_alloc(k, size) gpurt_places_alloc_at(k, size, GPURT_HERE)
#    define gpurt_places_free(k, object, size) \
        gpurt_places_free_at(k, object, size, GPURT_HERE)
#endif

#endif
