/* SPDX-License-Identifier: Apache-2.0 */
/* allocslab.h - chunks of one size class: slots handed out, given back, taken up again.
 *
 * A slot is in one of four places: still in a run (never handed out in this life of the
 * chunk), with the program, free (its bit is set), or promised (a ticket of a reused chunk,
 * whose holder clears one set bit, any). The count in the chunk's state is what is free and
 * not promised; when it reaches the number of slots, the chunk goes back to the pool.
 * Context: device code, any lane alone unless said otherwise. For alloc.h only. */
#ifndef GPURT_ALLOCSLAB_H
#define GPURT_ALLOCSLAB_H

#include <gpurt/ids.h>
#include <gpurt/impl/alloc/alloctree.h>

/* Looks at a word that another lane has promised to change, before giving up on it. */
enum {
    GPURT_SLAB_PATIENCE = 1 << 13,
    GPURT_SLAB_LOOK = 8 /* words looked at at a time */
};

GPURT_DEV uint32_t *gpurt_slab_bits(const gpurt_heap_t *h, uint32_t chunk)
{
    return h->bits + (size_t)chunk * GPURT_CHUNK_BITS_WORDS;
}

GPURT_DEV uint32_t *gpurt_slab_state(const gpurt_heap_t *h, uint32_t chunk)
{
    return h->states + chunk;
}

/* bytes: of a slot of the chunk's class. */
GPURT_DEV char *gpurt_slab_slot(const gpurt_heap_t *h, uint32_t bytes, uint32_t chunk,
                                uint32_t slot)
{
    return h->chunks + ((size_t)chunk << GPURT_CHUNK_SHIFT) + slot * bytes;
}

/* The calling warp's shard. Any is right; its own keeps multiprocessors apart. */
GPURT_DEV uint32_t gpurt_run_shard(const gpurt_heap_t *h)
{
    uint32_t mine = gpurt_sm(), any;

    if (h->spread)
        mine = mine << h->spread | (gpurt_warp_slot() & ((1u << h->spread) - 1u));
    /* Where there are fewer than multiprocessors, the others are scattered: a division is long. */
    any = (uint32_t)((uint64_t)(mine * 2654435761u) * h->shard_count >> 32);
    return mine < h->shard_count ? mine : any;
}

/* n chunks of the pool's that were a class's are its again. Counted by shard: on one word for
 * all, the counts would take longer than the rest. */
GPURT_DEV void gpurt_slab_closed(const gpurt_heap_t *h, uint32_t n)
{
    uint64_t *words = h->currents + gpurt_run_shard(h) * GPURT_CLASS_STRIDE;

    gpurt_red_add_relaxed_dev_u64(words + GPURT_CLASS_CLOSED, n); /* relaxed: a statistic */
}

/* Whether a chunk in that state is of class c and has free slots. */
GPURT_DEV bool gpurt_slab_has(uint32_t state, uint32_t c)
{
    return gpurt_state_is_slab(state) && gpurt_state_class(state) == c &&
           gpurt_state_free(state) > 0;
}

/* ---- a chunk that is empty goes back to the pool ------------------------------------- */

/* Bits of the slots that word `row` stands for. */
GPURT_DEV uint32_t gpurt_slab_row(uint32_t slots, uint32_t row)
{
    uint32_t rest = slots - row * 32;

    return rest >= 32 ? GPURT_FULL_MASK : (1u << rest) - 1u;
}

/* Whether the bits of four rows are all set. */
GPURT_DEV bool gpurt_slab_is_full(const uint32_t *bits, uint32_t slots, uint32_t row)
{
    uint32_t missing = 0;

    for (uint32_t i = 0; i < 8;
         i++) /* relaxed: the fence after the last of them acquires */
        if ((row + i) * 32 < slots)
            missing |= gpurt_slab_row(slots, row + i) &
                       ~gpurt_load_relaxed_dev_u32(bits + row + i);
    return !missing;
}

/* The count says that all slots are free; their bits may still be on the way, because a
 * lane that frees sets the bit first but does not wait for it. All have come before any is
 * cleared, or a late one would free a slot of the chunk's next life.
 * Returns: false when one never came, because an object was freed twice. */
GPURT_DEVN bool gpurt_slab_wipe(const gpurt_heap_t *h, uint32_t chunk, uint32_t slots)
{
    uint32_t *bits = gpurt_slab_bits(h, chunk);

    for (uint32_t row = 0, looks = 0; row * 32 < slots; row += 4)
        while (!gpurt_slab_is_full(bits, slots, row)) {
            if (++looks == GPURT_SLAB_PATIENCE)
                return false;
            gpurt_pause();
        }
    gpurt_fence_acquire_dev(); /* AH1.acq */
    for (uint32_t row = 0; row * 32 < slots; row++) {
        gpurt_fence_covers(bits + row);
        /* relaxed: the pool's leaf publishes */
        gpurt_store_relaxed_dev_u32(bits + row, 0);
    }
    return true;
}

/* Takes a chunk out of a set that it may be in. */
GPURT_DEVN void gpurt_slab_unlist(const gpurt_heap_t *h, uint32_t tree, uint32_t chunk)
{
    uint64_t bit = 1ull << (chunk % 64);

    /* relaxed: a look. A chunk that is missed, or put in late, is met and let go later */
    if (gpurt_load_relaxed_dev_u64(gpurt_tree_leaves(h, tree) + chunk / 64) & bit)
        gpurt_tree_take(h, tree, chunk / 64, bit);
}

/* Context: the one lane whose free made the count complete; it may come too late, when
 * another has taken slots up again. */
GPURT_DEVN void gpurt_slab_close(const gpurt_heap_t *h, uint32_t chunk, uint32_t state,
                                 bool listed)
{
    uint32_t c = gpurt_state_class(state);

    /* relaxed: what the chunk held is ordered by its bits */
    if (!gpurt_cas_relaxed_far_u32(gpurt_slab_state(h, chunk), &state, GPURT_STATE_POOL))
        return;
    if (listed) {
        gpurt_slab_unlist(h, gpurt_tree_good(c), chunk);
        gpurt_slab_unlist(h, gpurt_tree_sparse(c), chunk);
    }
    if (!gpurt_slab_wipe(h, chunk, gpurt_shape_slots(gpurt_class_shape(c))))
        return; /* nobody gets it any more */
    gpurt_slab_closed(h, 1);
    gpurt_tree_put(h, GPURT_TREE_POOL, chunk / 64, 1ull << (chunk % 64));
}

/* Looks of one lane at the words of bits that are its: all on their way together. */
enum {
    GPURT_SLAB_OWN = GPURT_CHUNK_BITS_WORDS / GPURT_WARP_SIZE
};

/* As gpurt_slab_wipe, by a warp: a lane has every 32nd word. */
GPURT_DEV bool gpurt_slab_wipe_by_warp(const gpurt_heap_t *h, uint32_t chunk,
                                       uint32_t slots)
{
    uint32_t *bits = gpurt_slab_bits(h, chunk) + gpurt_lane(), looks = 0, missing;

    do {
        missing = 0;
        if (looks++ == GPURT_SLAB_PATIENCE)
            return false;
        if (looks > 1)
            gpurt_pause();
        for (uint32_t i = 0; i < GPURT_SLAB_OWN; i++) {
            uint32_t row = gpurt_lane() + i * GPURT_WARP_SIZE;

            /* relaxed: the fence after the last of them acquires */
            if (row * 32 < slots)
                missing |= gpurt_slab_row(slots, row) &
                           ~gpurt_load_relaxed_dev_u32(bits + i * GPURT_WARP_SIZE);
        }
    } while (gpurt_any(GPURT_FULL_MASK, missing != 0));
    gpurt_fence_acquire_dev(); /* AH1.acq */
    for (uint32_t i = 0; i < GPURT_SLAB_OWN; i++)
        if ((gpurt_lane() + i * GPURT_WARP_SIZE) * 32 < slots) {
            gpurt_fence_covers(bits + i * GPURT_WARP_SIZE);
            /* relaxed: the pool's leaf publishes */
            gpurt_store_relaxed_dev_u32(bits + i * GPURT_WARP_SIZE, 0);
        }
    return true;
}

/* As gpurt_slab_close, by a warp whose lane 0 made the count complete: its looks wait beside each
 * other. That a leaf of a set was emptied is left for a search to find out. state, listed: of
 * lane 0. */
GPURT_DEV void gpurt_slab_close_by_warp(const gpurt_heap_t *h, uint32_t chunk,
                                        uint32_t state, bool listed)
{
    uint32_t c = gpurt_state_class(state), lane = gpurt_lane();
    uint32_t slots = gpurt_shape_slots(gpurt_class_shape(c));
    uint64_t bit = 1ull << (chunk % 64), leaf = 0;
    uint64_t *at =
        gpurt_tree_leaves(h, lane ? gpurt_tree_sparse(c) : gpurt_tree_good(c)) + chunk / 64;
    bool closed = false;

    /* relaxed: what the chunk held is ordered by its bits */
    if (lane == 0)
        closed =
            gpurt_cas_relaxed_far_u32(gpurt_slab_state(h, chunk), &state, GPURT_STATE_POOL);
    if (!gpurt_any(GPURT_FULL_MASK, closed))
        return;
    if (lane < 2 && listed)
        leaf = gpurt_load_relaxed_dev_u64(at); /* relaxed: as of gpurt_slab_unlist */
    closed = gpurt_slab_wipe_by_warp(h, chunk, slots);
    /* relaxed: nothing of the set is used; the pool's leaf comes after it */
    if (leaf & bit)
        gpurt_red_and_relaxed_dev_u64(at, ~bit);
    gpurt_syncwarp(GPURT_FULL_MASK); /* what all lanes wiped, and acquired */
    if (lane || !closed)
        return; /* nobody gets it any more */
    gpurt_slab_closed(h, 1);
    gpurt_tree_put(h, GPURT_TREE_POOL, chunk / 64, bit);
}

/* A chunk was closed while it was put into a set of class c: who closed it may not have found it
 * there, and it would be met in vain. Where it is of that class again by now, it may be wanted. */
GPURT_DEVN void gpurt_slab_outlived(const gpurt_heap_t *h, uint32_t c, uint32_t tree,
                                    uint32_t chunk)
{
    uint32_t state;

    gpurt_slab_unlist(h, tree, chunk);
    /* relaxed: behind the acquire with which its bit was taken */
    state = gpurt_load_relaxed_dev_u32(gpurt_slab_state(h, chunk));
    if (gpurt_slab_has(state, c))
        gpurt_tree_put(h, tree, chunk / 64, 1ull << (chunk % 64));
}

/* Whether a chunk whose count had reached `now` needs no place in a set any more: its last free closes
 * it, another request has taken its slots, or it is gone. */
GPURT_DEV bool gpurt_slab_is_settled(uint32_t state, uint32_t c, uint32_t slots)
{
    return !gpurt_slab_has(state, c) || gpurt_state_free(state) == slots;
}

/* A chunk that has come to `now` free slots, not all, is put into the set that they are enough for.
 * Context: gpurt_slab_grows. */
GPURT_DEV void gpurt_slab_list(const gpurt_heap_t *h, uint32_t chunk, uint32_t c,
                               uint32_t slots, uint32_t now)
{
    bool good = now >= gpurt_class_enough(slots), empty;
    uint32_t tree = good ? gpurt_tree_good(c) : gpurt_tree_sparse(c);
    /* relaxed, here and below: looks. The first is on its way beside the fence: those that free the
     * chunk's other slots may have closed it. */
    uint32_t state = gpurt_load_relaxed_dev_u32(gpurt_slab_state(h, chunk));

    gpurt_release_ahead_dev();
    if (gpurt_slab_is_settled(state, c, slots))
        return;
    empty = gpurt_tree_put_ahead(h, tree, chunk / 64, 1ull << (chunk % 64));
    state = gpurt_load_relaxed_dev_u32(
        gpurt_slab_state(h, chunk)); /* while those above are told */
    if (empty)
        gpurt_tree_raise(h, gpurt_tree_leaves(h, tree), chunk / 64);
    if (!gpurt_state_is_slab(state))
        gpurt_slab_outlived(h, c, tree, chunk);
}

/* Whether n more free slots make anything of a chunk. */
GPURT_DEV bool gpurt_slab_grows(uint32_t old, uint32_t n, uint32_t slots)
{
    uint32_t before = gpurt_state_free(old), now = before + n;
    uint32_t enough = gpurt_class_enough(slots);

    return before == 0 || now == slots || (before < enough && now >= enough);
}

/* After n were added to a chunk's count: what that makes of the chunk. */
GPURT_DEVN void gpurt_slab_grown(const gpurt_heap_t *h, uint32_t chunk, uint32_t old,
                                 uint32_t n)
{
    uint32_t c = gpurt_state_class(old), before = gpurt_state_free(old), now = before + n;
    uint32_t slots = gpurt_shape_slots(gpurt_class_shape(c));

    if (now == slots)
        gpurt_slab_close(h, chunk, old + n, before > 0);
    else if (gpurt_slab_grows(old, n, slots))
        gpurt_slab_list(h, chunk, c, slots, now);
}

/* n slots whose bits are set, or promises that were not kept, count as free again. */
GPURT_DEVN void gpurt_slab_give(const gpurt_heap_t *h, uint32_t chunk, uint32_t n)
{
    /* relaxed: says how many; their bits order what they held */
    uint32_t old = gpurt_add_relaxed_far_u32(gpurt_slab_state(h, chunk), n);

    gpurt_slab_grown(h, chunk, old, n);
}

/* ---- what is left of a run that no shard uses any more ------------------------------- */

/* Frees slots [from, to) of a chunk that were never handed out. */
GPURT_DEVN void gpurt_slab_untake(const gpurt_heap_t *h, uint32_t chunk, uint32_t from,
                                  uint32_t to)
{
    uint32_t *bits = gpurt_slab_bits(h, chunk);

    for (uint32_t row = from / 32; row * 32 < to; row++) {
        uint32_t low = row * 32 < from ? from - row * 32 : 0;
        uint32_t mask = gpurt_slab_row(to, row) & ~((1u << low) - 1u);

        gpurt_red_or_release_dev_u32(bits + row, mask); /* AH1.rel */
    }
    gpurt_slab_give(h, chunk, to - from);
}

/* Context: the lane that took the run out of its word. */
GPURT_DEVN void gpurt_slab_dispose(const gpurt_heap_t *h, uint32_t c, uint64_t run)
{
    uint32_t slots = gpurt_shape_slots(gpurt_class_shape(c));
    uint32_t first = gpurt_run_chunk(run);
    uint32_t from = gpurt_run_ticket(run), to = gpurt_run_limit(run);
    uint64_t whole = 0;

    if (run & GPURT_RUN_REUSED) {
        gpurt_slab_give(h, first, to - from);
        return;
    }
    for (uint32_t i = 0; i * slots < to; i++) {
        uint32_t begin = i * slots, end = begin + slots;

        if (from <= begin) {
            /* relaxed: the pool's leaf publishes it */
            gpurt_store_relaxed_dev_u32(gpurt_slab_state(h, first + i), GPURT_STATE_POOL);
            whole |= 1ull << ((first + i) % 64);
        } else if (from < end) {
            gpurt_slab_untake(h, first + i, from - begin, slots);
        }
    }
    if (!whole)
        return;
    gpurt_slab_closed(h, gpurt_popc64(whole));
    gpurt_tree_put(h, GPURT_TREE_POOL, first / 64, whole);
}

/* ---- taking freed slots up again ----------------------------------------------------- */

/* Promises all free slots of a chunk of a class, if it still is one. state: what it was before
 * the chunk's bit was taken; where there was nothing then, somebody may have come between, and
 * have relied on that bit. Returns: how many; 0 when there is nothing. */
GPURT_DEV uint32_t gpurt_slab_reserve(const gpurt_heap_t *h, uint32_t c, uint32_t chunk,
                                      uint32_t state)
{
    uint32_t *at = gpurt_slab_state(h, chunk);

    if (!gpurt_slab_has(state, c))
        state = gpurt_load_relaxed_dev_u32(at); /* relaxed: behind that bit's acquire */
    while (gpurt_slab_has(state, c)) {
        uint32_t n = gpurt_state_free(state);

        if (gpurt_cas_relaxed_far_u32(at, &state, state - n))
            return n;
        gpurt_pause();
    }
    return 0;
}

/* beyond: 0, or where a search that begins at start ends. */
GPURT_DEV uint32_t gpurt_slab_where(const gpurt_heap_t *h, uint32_t tree, uint32_t start,
                                    uint32_t beyond, uint64_t *word)
{
    return beyond ? gpurt_tree_find_in(h, tree, start, beyond, word)
                  : gpurt_tree_find(h, tree, start, word);
}

/* Takes a chunk with free slots out of a leaf of a set that held `word`: the first from bit
 * `from` on. emptied: as of gpurt_tree_pull. Returns: a run of it with ticket 0, or 0 when
 * another was faster. */
GPURT_DEV uint64_t gpurt_slab_adopt_in(const gpurt_heap_t *h, uint32_t c, uint32_t tree,
                                       uint32_t leaf, uint64_t word, uint32_t from,
                                       bool *emptied)
{
    uint32_t chunk = leaf * 64 + gpurt_tree_next(word, from), n;
    /* relaxed: a look, on its way together with the next; the word itself is what counts */
    uint32_t state = gpurt_load_relaxed_dev_u32(gpurt_slab_state(h, chunk));

    if (!gpurt_tree_pull(h, tree, leaf, 1ull << (chunk % 64), emptied))
        return 0;
    n = gpurt_slab_reserve(h, c, chunk, state);
    if (!n)
        return 0;
    gpurt_red_add_relaxed_dev_u64(&h->counts->xreused, 1); /* relaxed: a statistic */
    return gpurt_run(chunk, n) | GPURT_RUN_REUSED;
}

/* The same out of leaves [start, beyond) of a set; of all, from start on, where beyond is 0.
 * Returns: 0 when they are empty. */
GPURT_DEVN uint64_t gpurt_slab_adopt(const gpurt_heap_t *h, uint32_t c, uint32_t tree,
                                     uint32_t start, uint32_t beyond)
{
    uint32_t leaf, wait = 1;
    uint64_t word, run;
    bool emptied;

    while ((leaf = gpurt_slab_where(h, tree, start, beyond, &word)) != GPURT_TREE_NONE) {
        run = gpurt_slab_adopt_in(h, c, tree, leaf, word, start % 64, &emptied);
        if (emptied)
            gpurt_tree_lower(h, tree, leaf);
        if (run)
            return run;
        gpurt_backoff(&wait);
    }
    return 0;
}

/* The next of GPURT_SLAB_LOOK rows, from *row on and round, that has a bit set. They are on their
 * way together. Returns: it, and *row is it; 0 when none has. */
GPURT_DEV uint32_t gpurt_slab_look(const uint32_t *bits, uint32_t rows, uint32_t *row)
{
    uint32_t first = *row, words[GPURT_SLAB_LOOK];

    for (uint32_t i = 0; i < GPURT_SLAB_LOOK; i++) {
        uint32_t at = first + i;

        at = at < rows ? at : i < rows ? at - rows : 0;
        words[i] = gpurt_load_relaxed_dev_u32(bits + at); /* relaxed: a look */
    }
    for (uint32_t i = 0; i < GPURT_SLAB_LOOK && i < rows; i++)
        if (words[i]) {
            *row = first + i < rows ? first + i : first + i - rows;
            return words[i];
        }
    return 0;
}

/* Takes a slot of word `row`, near bit `turn`, as long as there is one. word: what it held.
 * Returns: the slot, or `none`. */
GPURT_DEV uint32_t gpurt_slab_pick(uint32_t *bits, uint32_t row, uint32_t turn,
                                   uint32_t word, uint32_t none)
{
    while (word) {
        uint32_t above = word >> turn << turn;
        uint32_t bit = 1u << gpurt_ctz(above ? above : word);
        uint32_t old = gpurt_and_acquire_far_u32(bits + row, ~bit); /* AH1.acq */

        if (old & bit)
            return row * 32 + gpurt_ctz(bit);
        word = old;
    }
    return none;
}

/* The slot for ticket t of n of a reused chunk: number t, if it is free, so that lanes seldom
 * want the same one; else one above n, evenly; else any. There is one for each promise; the
 * bit of the last may be on its way. Returns: the slot, or the number of slots, which is no
 * slot, when the count was wrong: an object was freed twice. */
GPURT_DEVN uint32_t gpurt_slab_claim_in(uint32_t *bits, uint32_t slots, uint32_t t,
                                        uint32_t n)
{
    uint32_t rows = (slots + 31) / 32;
    uint32_t other = n < slots ? n + t * (slots - n) / n : t, row = other / 32, step, slot;
    /* relaxed, both: looks, on their way together */
    uint32_t own = gpurt_load_relaxed_dev_u32(bits + t / 32);
    uint32_t word = gpurt_load_relaxed_dev_u32(bits + row);

    if (own >> (t % 32) & 1u) {
        slot = gpurt_slab_pick(bits, t / 32, t % 32, 1u << (t % 32), slots);
        if (slot < slots)
            return slot;
    }
    step = (t * 2654435761u >> 16) % rows;
    for (uint32_t looks = 0; looks < GPURT_SLAB_PATIENCE; looks++) {
        slot = gpurt_slab_pick(bits, row, other % 32, word, slots);
        if (slot < slots)
            return slot;
        /* Those of whom there were too many begin anew, each elsewhere. */
        row = (row + step) % rows;
        word = gpurt_slab_look(bits, rows, &row);
        step = word ? 1 : GPURT_SLAB_LOOK;
        if (looks * GPURT_SLAB_LOOK >= rows)
            gpurt_pause();
    }
    return slots;
}

/* The same of a chunk. Out of line nothing of the heap's description is read again. */
GPURT_DEV uint32_t gpurt_slab_claim(const gpurt_heap_t *h, uint32_t chunk, uint32_t slots,
                                    uint32_t t, uint32_t n)
{
    return gpurt_slab_claim_in(gpurt_slab_bits(h, chunk), slots, t, n);
}

/* ---- new chunks ---------------------------------------------------------------------- */

/* Bits whose index has bit i clear. */
GPURT_TABLE const uint64_t gpurt_slab_even[6] = {0x5555555555555555u, 0x3333333333333333u,
                                                 0x0f0f0f0f0f0f0f0fu, 0x00ff00ff00ff00ffu,
                                                 0x0000ffff0000ffffu, 0x00000000ffffffffu};

/* In a leaf of the pool: an aligned row of *n chunks (a power of two), or of half as many,
 * and so on. Context: leaf is not 0. */
GPURT_DEV uint64_t gpurt_slab_fit(uint64_t leaf, uint32_t *n)
{
    uint64_t begins = leaf, more = leaf;
    uint32_t most = *n, got = 1;

    for (uint32_t i = 0; i < 6 && 2u << i <= most; i++) {
        more &= more >> (1u << i) & gpurt_slab_even[i];
        if (!more)
            break;
        begins = more;
        got = 2u << i;
    }
    *n = got;
    return (got == 64 ? ~0ull : (1ull << got) - 1) << gpurt_ctz64(begins);
}

/* Opens a row of chunks for a class, out of a leaf of the pool that held `word`: `most` if
 * that can be had, else fewer. emptied: as of gpurt_tree_pull. Returns: a run of it with
 * ticket 0, or 0 when another was faster. */
GPURT_DEV uint64_t gpurt_slab_open_in(const gpurt_heap_t *h, uint32_t c, uint32_t most,
                                      uint32_t leaf, uint64_t word, bool *emptied)
{
    uint32_t n = most;
    uint64_t want = gpurt_slab_fit(word, &n);
    uint64_t got = gpurt_tree_pull(h, GPURT_TREE_POOL, leaf, want, emptied);
    uint32_t first = leaf * 64 + gpurt_ctz64(want);

    if (got != want) {
        if (got)
            gpurt_tree_put(h, GPURT_TREE_POOL, leaf, got);
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) /* relaxed: published with the run */
        gpurt_store_relaxed_dev_u32(gpurt_slab_state(h, first + i), gpurt_state_slab(c));
    gpurt_red_add_relaxed_dev_u64(&h->counts->xopened, n); /* relaxed: a statistic */
    return gpurt_run(first, n * gpurt_shape_slots(gpurt_class_shape(c)));
}

/* The same out of leaves of the pool. Returns: 0 when they are empty. */
GPURT_DEVN uint64_t gpurt_slab_open(const gpurt_heap_t *h, uint32_t c, uint32_t most,
                                    uint32_t start, uint32_t beyond)
{
    uint32_t leaf, wait = 1;
    uint64_t word, run;
    bool emptied;

    while ((leaf = gpurt_slab_where(h, GPURT_TREE_POOL, start, beyond, &word)) !=
           GPURT_TREE_NONE) {
        run = gpurt_slab_open_in(h, c, most, leaf, word, &emptied);
        if (emptied)
            gpurt_tree_lower(h, GPURT_TREE_POOL, leaf);
        if (run)
            return run;
        gpurt_backoff(&wait);
    }
    return 0;
}

#endif
