/* SPDX-License-Identifier: Apache-2.0 */
/* alloccore.h - one request, one free: the allocator itself, without what alloc.h puts
 * around it.
 *
 * Context: device code, any lanes. For alloc.h and alloccheck.h only. */
#ifndef GPURT_ALLOCCORE_H
#define GPURT_ALLOCCORE_H

#include <gpurt/impl/alloc/alloclarge.h>
#include <gpurt/impl/warptally.h>

/* ---- allocate ------------------------------------------------------------------------ */

GPURT_DEV void gpurt_heap_refused(const gpurt_heap_t *h, uint32_t why)
{
    if (h->counts)
        gpurt_tally_red(&h->counts->xrefused[why], 1);
}

/* What a class's slots are like: fetched before the word that tells which one is there. */
typedef struct gpurt_heap_shape {
    uint64_t shape;
    uint32_t bytes;
} gpurt_heap_shape_t;

GPURT_DEV gpurt_heap_shape_t gpurt_heap_shape(uint32_t c)
{
    gpurt_heap_shape_t shape;

    shape.shape = gpurt_class_shape(c);
    shape.bytes = gpurt_class_bytes(c);
    return shape;
}

/* The slot that a ticket of a run of fresh chunks is. */
GPURT_DEV void *gpurt_heap_fresh(const gpurt_heap_t *h, gpurt_heap_shape_t of, uint64_t run,
                                 uint32_t t)
{
    uint32_t more = gpurt_shape_chunk(of.shape, t);

    return gpurt_slab_slot(h, of.bytes, gpurt_run_chunk(run) + more,
                           t - more * gpurt_shape_slots(of.shape));
}

/* The slot that a ticket of a live run is. NULL when a reused chunk's count was wrong. */
GPURT_DEV void *gpurt_heap_slot(const gpurt_heap_t *h, gpurt_heap_shape_t of, uint64_t run,
                                uint32_t t)
{
    uint32_t slots = gpurt_shape_slots(of.shape);

    if (!(run & GPURT_RUN_REUSED))
        return gpurt_heap_fresh(h, of, run, t);
    t = gpurt_slab_claim(h, gpurt_run_chunk(run), slots, t, gpurt_run_limit(run));
    return t < slots ? gpurt_slab_slot(h, of.bytes, gpurt_run_chunk(run), t) : NULL;
}

/* Of the lanes of the mask those whose value is the caller's. */
GPURT_DEV uint32_t gpurt_heap_group(uint32_t lanes, uint32_t value)
{
    uint32_t first = gpurt_shfl_u32(lanes, value, gpurt_leader(lanes));

    return gpurt_all(lanes, value == first) ? lanes : gpurt_match_any_u32(lanes, value);
}

/* Where the first word did not have a slot for each: all lanes go round together until each has
 * its own, so that one that waits never holds up one that brings. From the first word on those of
 * a class part by alignment: the next classes may serve some of them only. */
GPURT_DEV void *gpurt_heap_alloc_rest(const gpurt_heap_t *h, uint32_t lanes, uint32_t group,
                                      uint32_t c, uint32_t align, uint64_t word)
{
    gpurt_run_ask_t ask = {c, c, align, 0, false};
    uint64_t run = 0;
    bool waits = true;
    void *object = NULL;
    uint32_t t = 0, alike = gpurt_heap_group(lanes, align);

    for (;;) {
        uint32_t rest;

        if (waits) {
            run = word;
            t = gpurt_run_ticket(run) + gpurt_popc(group & gpurt_lanes_below());
            waits = run != GPURT_RUN_NONE && t >= gpurt_run_limit(run);
        }
        rest = gpurt_ballot(lanes, waits);
        if (!rest)
            break;
        group &= rest & alike;
        if (waits && gpurt_is_leader(group)) {
            ask.c = c;
            ask.alone = group == rest;
            word = gpurt_run_next(h, &ask, word, gpurt_popc(group));
            c = ask.c;
        }
        /* The leaders are through, and a claim of the other lanes comes after what they acquired. */
        gpurt_syncwarp(lanes);
        word = gpurt_shfl_u64(lanes, word, waits ? gpurt_leader(group) : gpurt_lane());
        c = gpurt_shfl_u32(lanes, c, waits ? gpurt_leader(group) : gpurt_lane());
    }
    if (run != GPURT_RUN_NONE)
        object = gpurt_heap_slot(h, gpurt_heap_shape(c), run, t);
    else
        gpurt_heap_refused(h, GPURT_ALLOC_FULL);
    /* Who came together goes on together, and what the leaders have acquired holds for all. */
    gpurt_syncwarp(lanes);
    return object;
}

/* How many lanes of a group come before the caller. */
GPURT_DEV uint32_t gpurt_heap_rank(uint32_t group)
{
    return group == GPURT_FULL_MASK ? gpurt_lane()
                                    : gpurt_popc(group & gpurt_lanes_below());
}

/* A slot of class c for each lane of the mask; classes may differ. */
GPURT_DEV void *gpurt_heap_alloc_class(const gpurt_heap_t *h, uint32_t lanes, uint32_t c,
                                       uint32_t align)
{
    uint32_t first = gpurt_shfl_u32(lanes, c, gpurt_leader(lanes));
    uint64_t *current = gpurt_run_current(h, gpurt_run_shard(h), c), word = 0;
    gpurt_heap_shape_t shape = gpurt_heap_shape(c);
    uint32_t group = lanes, leader = gpurt_leader(lanes), rank = gpurt_heap_rank(lanes);
    uint32_t n = gpurt_popc(lanes);
    bool alike;

    GPURT_OFTEN(8);
    GPURT_BY_NOW(current); /* while the shuffle is on its way */
    alike = gpurt_all(lanes, c == first);
    if (GPURT_UNLIKELY(!alike)) {
        group = gpurt_match_any_u32(lanes, c);
        leader = gpurt_leader(group);
        n = gpurt_popc(group);
    }
    if (gpurt_lane() == leader)
        word = gpurt_add_acquire_far_u64(current, n); /* AH2.acq */
    gpurt_syncwarp(lanes); /* what the leaders have acquired holds for all */
    word = gpurt_shfl_u64(lanes, word, leader);
    /* The usual case is one for all lanes: nothing to agree on. */
    if (GPURT_LIKELY(alike && gpurt_run_ticket(word) + n <= gpurt_run_limit(word) &&
                     !(word & GPURT_RUN_REUSED)))
        return gpurt_heap_fresh(h, shape, word, gpurt_run_ticket(word) + rank);
    GPURT_SELDOM();
    return gpurt_heap_alloc_rest(h, lanes, group, c, align, word);
}

/* For what of a warp asks, where some lanes do not: each operation must then look who has come. */
GPURT_DEVN void *gpurt_heap_alloc_some(const gpurt_heap_t *h, uint32_t c, uint32_t align)
{
    return gpurt_heap_alloc_class(h, gpurt_activemask(), c, align);
}

/* The smallest class of at least `size` bytes whose slots have that alignment; size and
 * align at most GPURT_SMALL_MAX, align a power of two. So 0 bytes count as 1. */
GPURT_DEV uint32_t gpurt_class_aligned(uint32_t size, uint32_t align)
{
    uint32_t c = gpurt_class_of(size > align ? size : align);

    if (align <= 16) /* all are */
        return c;
    return gpurt_class_bytes(c) & (align - 1) ? gpurt_class_next(c, align) : c;
}

/* What is no slot of a class: whole chunks, or an answer why not. */
GPURT_DEVN void *gpurt_core_alloc_other(const gpurt_heap_t *h, size_t size, size_t align,
                                        uint32_t *why)
{
    void *object = NULL;

    if (!h->chunk_count)
        *why = GPURT_ALLOC_NO_HEAP;
    else if (align > GPURT_CHUNK_BYTES || !align || (align & (align - 1)))
        *why = GPURT_ALLOC_ALIGNMENT;
    else
        object = gpurt_large_alloc(h, size > align ? size : align, why);
    if (*why)
        gpurt_heap_refused(h, *why);
    return object;
}

/* *why: a gpurt_alloc_reason_t. */
GPURT_DEV void *gpurt_core_alloc(const gpurt_heap_t *h, size_t size, size_t align,
                                 uint32_t *why)
{
    uint32_t reason;
    void *object;

    if (GPURT_LIKELY(h->chunk_count && size <= GPURT_SMALL_MAX &&
                     align - 1 < GPURT_SMALL_MAX && !(align & (align - 1)))) {
        uint32_t c = gpurt_class_aligned((uint32_t)size, (uint32_t)align);

        if (GPURT_LIKELY(gpurt_activemask_now() == GPURT_FULL_MASK))
            object = gpurt_heap_alloc_class(h, GPURT_FULL_MASK, c, (uint32_t)align);
        else
            object = gpurt_heap_alloc_some(h, c, (uint32_t)align);
        *why = object ? GPURT_ALLOC_OK : GPURT_ALLOC_FULL;
        return object;
    }
    GPURT_SELDOM();
    object = gpurt_core_alloc_other(h, size, align, &reason);
    *why = reason;
    return object;
}

/* One lane, for n slots: as gpurt_run_next, of class *c, until there are some. */
GPURT_DEVN uint64_t gpurt_core_next(const gpurt_heap_t *h, uint32_t *c, uint64_t run,
                                    uint32_t n)
{
    gpurt_run_ask_t ask = {*c, *c, 16, 0, true};

    do
        run = gpurt_run_next(h, &ask, run, n);
    while (run != GPURT_RUN_NONE && !gpurt_run_is_live(run));
    *c = ask.c;
    return run;
}

/* Why a request of a warp gets less than it asked for. FULL: only if nothing is left. */
GPURT_DEV uint32_t gpurt_core_warp_reason(const gpurt_heap_t *h, size_t size)
{
    if (!h->chunk_count)
        return GPURT_ALLOC_NO_HEAP;
    return size > GPURT_SMALL_MAX ? GPURT_ALLOC_TOO_LARGE : GPURT_ALLOC_FULL;
}

/* So many slots out of a reused chunk, into out. A claim may get none, where an object was freed
 * twice and the count is wrong: the others move up. Returns: how many there were. */
GPURT_DEVN uint32_t gpurt_core_claim_warp(const gpurt_heap_t *h, uint32_t c, uint64_t run,
                                          uint32_t tickets, void **out)
{
    gpurt_heap_shape_t shape = gpurt_heap_shape(c);
    uint32_t there = 0;

    for (uint32_t i = 0; i < tickets; i += GPURT_WARP_SIZE) {
        uint32_t t = i + gpurt_lane(), lanes;
        void *object = NULL;

        if (t < tickets)
            object = gpurt_heap_slot(h, shape, run, gpurt_run_ticket(run) + t);
        lanes = gpurt_ballot(GPURT_FULL_MASK, object != NULL);
        if (object)
            out[there + gpurt_popc(lanes & gpurt_lanes_below())] = object;
        there += gpurt_popc(lanes);
    }
    return there;
}

/* n objects of one size for a warp, into out[0 .. n), with one atomic for up to 1,024 of
 * them. Returns: how many there were; less than n when nothing is left.
 * Context: all 32 lanes of a warp, with the same arguments. */
GPURT_DEVN uint32_t gpurt_core_alloc_warp(const gpurt_heap_t *h, uint32_t n, size_t size,
                                          void **out)
{
    uint32_t done = 0, got, k, c, why = gpurt_core_warp_reason(h, size);
    uint64_t run = 0;

    for (bool brings = false; done < n && why == GPURT_ALLOC_FULL; brings = got < k) {
        c = gpurt_class_of(size ? (uint32_t)size : 1u);
        k = n - done < GPURT_RUN_SLOTS / 4 ? n - done : GPURT_RUN_SLOTS / 4;
        if (gpurt_lane() == 0) {
            if (!brings)
                run = gpurt_add_acquire_far_u64(gpurt_run_current(h, gpurt_run_shard(h), c),
                                                k); /* AH2.acq */
            if (brings || !gpurt_run_is_live(run))
                run = gpurt_core_next(h, &c, run, k);
        }
        /* The others' claims come after what lane 0 acquired. */
        gpurt_syncwarp(GPURT_FULL_MASK);
        run = gpurt_shfl_u64(GPURT_FULL_MASK, run, 0);
        c = gpurt_shfl_u32(GPURT_FULL_MASK, c, 0);
        if (run == GPURT_RUN_NONE)
            break;
        got = gpurt_run_limit(run) - gpurt_run_ticket(run);
        got = got < k ? got : k;
        if (run & GPURT_RUN_REUSED) {
            done += gpurt_core_claim_warp(h, c, run, got, out + done);
            continue;
        }
        for (uint32_t i = gpurt_lane(); i < got; i += GPURT_WARP_SIZE)
            out[done + i] =
                gpurt_heap_fresh(h, gpurt_heap_shape(c), run, gpurt_run_ticket(run) + i);
        done += got;
    }
    gpurt_syncwarp(GPURT_FULL_MASK); /* what lane 0 has acquired, and out, are all lanes' */
    if (done < n && gpurt_lane() == 0)
        gpurt_heap_refused(h, why);
    return done;
}

/* ---- free ---------------------------------------------------------------------------- */

GPURT_DEVN void gpurt_heap_bad_free(const gpurt_heap_t *h, const void *object,
                                    uint32_t fault)
{
    if (!h->counts)
        return;
    /* relaxed: statistics */
    gpurt_red_add_relaxed_dev_u64(&h->counts->xbad_frees[fault], 1);
    gpurt_store_relaxed_dev_u64(&h->counts->xbad_pointer, (uint64_t)(uintptr_t)object);
}

/* What is not a slot of a class. */
GPURT_DEVN void gpurt_heap_free_other(const gpurt_heap_t *h, void *object, size_t offset,
                                      uint32_t state)
{
    uint32_t fault = GPURT_FREE_INTERIOR;

    if (offset >> GPURT_CHUNK_SHIFT >= h->chunk_count)
        fault = GPURT_FREE_FOREIGN;
    else if (offset % GPURT_CHUNK_BYTES == 0 &&
             (state & GPURT_STATE_KIND) == GPURT_STATE_LARGE)
        fault = gpurt_large_free(h, (uint32_t)(offset >> GPURT_CHUNK_SHIFT), state);
    else if (offset % 16 == 0 && (state & GPURT_STATE_KIND) == GPURT_STATE_POOL &&
             gpurt_large_first(h, (uint32_t)(offset >> GPURT_CHUNK_SHIFT)) ==
                 GPURT_TREE_NONE)
        fault = GPURT_FREE_TWICE; /* or never handed out */
    if (fault)
        gpurt_heap_bad_free(h, object, fault);
}

/* A lane of those that free slots of a chunk counts them, n. */
GPURT_DEV void gpurt_heap_count(const gpurt_heap_t *h, uint32_t chunk, uint32_t n,
                                uint32_t slots)
{
    /* relaxed: says how many; the bits order what they held */
    uint32_t old = gpurt_add_relaxed_far_u32(gpurt_slab_state(h, chunk), n);

    if (GPURT_UNLIKELY(gpurt_slab_grows(old, n, slots)))
        gpurt_slab_grown(h, chunk, old, n);
}

/* The chunk's count was `old`, and n make something of it: where they complete it, all lanes close it.
 * Context: all lanes of a warp, n counted by lane 0. */
GPURT_DEV void gpurt_heap_row_grown(const gpurt_heap_t *h, uint32_t chunk, uint32_t old,
                                    uint32_t n, uint32_t slots)
{
    uint32_t now = gpurt_state_free(old) + n;

    if (now == slots)
        gpurt_slab_close_by_warp(h, chunk, old + n, now > n);
    else if (gpurt_lane() == 0)
        gpurt_slab_list(h, chunk, gpurt_state_class(old), slots, now);
}

/* A warp counts them. Returns: what the chunk's state was, to all lanes. */
GPURT_DEV uint32_t gpurt_heap_count_row(const gpurt_heap_t *h, uint32_t chunk, uint32_t n)
{
    uint32_t old = 0;

    if (gpurt_lane() == 0 && n) /* relaxed: as of gpurt_heap_count */
        old = gpurt_add_relaxed_far_u32(gpurt_slab_state(h, chunk), n);
    return gpurt_shfl_u32(GPURT_FULL_MASK, old, 0);
}

/* A slot of any chunk each. */
GPURT_DEV void gpurt_heap_free_each(const gpurt_heap_t *h, void *object, uint32_t chunk,
                                    uint32_t slot, uint32_t slots)
{
    uint32_t bit = 1u << (slot % 32), group;

    if (gpurt_or_ahead_far_u32(gpurt_slab_bits(h, chunk) + slot / 32, bit) &
        bit) { /* AH1.rel */
        gpurt_heap_bad_free(h, object, GPURT_FREE_TWICE);
        return;
    }
    if (GPURT_LIKELY(gpurt_activemask_now() == GPURT_FULL_MASK))
        group = gpurt_heap_group(GPURT_FULL_MASK, chunk);
    else
        group = gpurt_heap_group(gpurt_activemask(), chunk);
    if (gpurt_is_leader(group))
        gpurt_heap_count(h, chunk, gpurt_popc(group), slots);
}

/* Slots of a row of which some were free already. was: what the word of the lane's slot held; at: the
 * slot's bit there. Returns: how many were not. */
GPURT_DEVN uint32_t gpurt_heap_free_again(const gpurt_heap_t *h, void *object, uint32_t was,
                                          uint32_t at)
{
    uint32_t freed = gpurt_ballot(GPURT_FULL_MASK, !(was >> at & 1u));

    if (was >> at & 1u)
        gpurt_heap_bad_free(h, object, GPURT_FREE_TWICE);
    return gpurt_popc(freed);
}

/* Sets the bits of slots first + lane of a chunk: they are in one word or two. Returns: to lanes 0 and 1
 * which of those of their word were set already, in *was what it held. */
GPURT_DEV uint32_t gpurt_heap_set_row(const gpurt_heap_t *h, uint32_t chunk, uint32_t first,
                                      uint32_t *was)
{
    uint32_t lane = gpurt_lane(), shift = first % 32, mask;

    mask = lane == 0 ? GPURT_FULL_MASK << shift : ~(GPURT_FULL_MASK << shift);
    *was = 0;
    gpurt_syncwarp(GPURT_FULL_MASK); /* what others did with theirs comes before, too */
    if (lane < 2 && mask)
        *was = gpurt_or_ahead_far_u32(gpurt_slab_bits(h, chunk) + first / 32 + lane,
                                      mask); /* AH1.rel */
    return *was & mask;
}

/* Slots first + lane of a chunk, as one request got them. Context: all lanes of a warp. */
GPURT_DEV void gpurt_heap_free_row(const gpurt_heap_t *h, void *object, uint32_t chunk,
                                   uint32_t first, uint32_t slots)
{
    uint32_t n = GPURT_WARP_SIZE, was, at = first % 32 + gpurt_lane(), old;

    if (GPURT_UNLIKELY(
            gpurt_any(GPURT_FULL_MASK, gpurt_heap_set_row(h, chunk, first, &was)))) {
        was = gpurt_shfl_u32(GPURT_FULL_MASK, was, at < 32 ? 0 : 1);
        n = gpurt_heap_free_again(h, object, was, at % 32);
    }
    old = gpurt_heap_count_row(h, chunk, n);
    if (GPURT_UNLIKELY(n && gpurt_slab_grows(old, n, slots)))
        gpurt_heap_row_grown(h, chunk, old, n, slots);
}

GPURT_DEV void gpurt_heap_free_one(const gpurt_heap_t *h, void *object)
{
    size_t offset = (size_t)((char *)object - h->chunks);
    uint32_t chunk = (uint32_t)(offset >> GPURT_CHUNK_SHIFT), first, all;
    uint32_t at = (uint32_t)offset % GPURT_CHUNK_BYTES, state = 0, c, slot, slots;
    uint64_t shape;

    if (!object)
        return;
    if (GPURT_LIKELY(offset >> GPURT_CHUNK_SHIFT < h->chunk_count))
        /* relaxed: fixed as long as the object lives */
        state = gpurt_load_relaxed_dev_u32(gpurt_slab_state(h, chunk));
    gpurt_release_ahead_dev(); /* while it is on its way */
    if (GPURT_UNLIKELY(!gpurt_state_is_slab(state))) {
        gpurt_heap_free_other(h, object, offset, state);
        return;
    }
    c = gpurt_state_class(state);
    shape = gpurt_class_shape(c);
    slot = gpurt_shape_slot(shape, gpurt_class_shift(c), at);
    slots = gpurt_shape_slots(shape);
    if (GPURT_UNLIKELY(slot * gpurt_class_bytes(c) != at || slot >= slots)) {
        gpurt_heap_bad_free(h, object, GPURT_FREE_INTERIOR);
        return;
    }
    if (GPURT_LIKELY(gpurt_activemask_now() == GPURT_FULL_MASK)) {
        first = gpurt_shfl_u32(GPURT_FULL_MASK, slot, 0);
        all = gpurt_shfl_u32(GPURT_FULL_MASK, chunk, 0);
        if (gpurt_all(GPURT_FULL_MASK, slot == first + gpurt_lane() && chunk == all)) {
            gpurt_heap_free_row(h, object, chunk, first, slots);
            return;
        }
    }
    gpurt_heap_free_each(h, object, chunk, slot, slots);
}

GPURT_DEV void gpurt_core_free(const gpurt_heap_t *h, void *object)
{
    uint32_t lanes = gpurt_activemask();

    gpurt_heap_free_one(h, object);
    if (lanes == GPURT_FULL_MASK)
        gpurt_syncwarp(GPURT_FULL_MASK);
    else
        gpurt_syncwarp(lanes);
}

#endif
