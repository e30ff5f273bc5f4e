/* SPDX-License-Identifier: Apache-2.0 */
/* regionlook.h - where in a region a row of granules would go, as the policy says.
 *
 * Lanes that call together go through the bits together, a word each, and keep the two best
 * rows that they met. Nothing is taken: who has found a place claims it, and looks again when
 * another was faster. docs/PLACEMENT.md tells why so. Context: device code. For region.h only. */
#ifndef GPURT_REGIONLOOK_H
#define GPURT_REGIONLOOK_H

#include <gpurt/ids.h>
#include <gpurt/impl/regionmap.h>
#include <gpurt/warp.h>

enum {
    GPURT_REGION_AHEAD = 8 /* words that a lane asks for before it looks at the first */
};
#define GPURT_REGION_NOWHERE 0xffffffffu

typedef struct gpurt_region_query {
    uint32_t n;       /* granules in a row */
    uint32_t align;   /* in granules, less one */
    uint32_t origin;  /* the base's address, in granules, as far as align reaches */
    uint32_t fit;     /* gpurt_region_fit_t */
    uint32_t is_free; /* granules that the look met */
} gpurt_region_query_t;

/* What a lane has met in a look: its two best rows. Keys: gpurt_region_key, ~0: none. */
typedef struct gpurt_region_found {
    uint64_t key, then;
    uint32_t end, then_end; /* where they end, as far as the look came */
    uint64_t rest;          /* no row that it has not told has a smaller key */
} gpurt_region_found_t;

/* The smaller key is the better place, and its lower half says where. Returns: ~0 when the
 * row [begin, begin + length) has no place. */
GPURT_DEV uint64_t gpurt_region_key(const gpurt_region_query_t *q, uint32_t begin,
                                    uint32_t length)
{
    uint32_t at = ((begin + q->origin + q->align) & ~q->align) - q->origin;
    uint32_t rank = 0;

    if (at - begin > length || length - (at - begin) < q->n)
        return ~0ull;
    if (q->fit == GPURT_FIT_BEST)
        rank = length;
    else if (q->fit == GPURT_FIT_WORST)
        rank = ~length;
    return (uint64_t)rank << 32 | at;
}

/* Free granules right before this lane's word. carry: before the lowest lane's. closed:
 * lanes whose word is not all free. trail: free granules at the end of the lane's word. */
GPURT_DEV uint32_t gpurt_region_before(uint32_t lanes, uint32_t closed, uint32_t trail,
                                       uint32_t carry)
{
    uint32_t below = lanes & gpurt_lanes_below(), last = closed & gpurt_lanes_below();
    uint32_t from = last ? gpurt_log2(last) : gpurt_leader(lanes);
    uint32_t its = gpurt_shfl_u32(lanes, trail, from);

    return last ? its + 64 * gpurt_popc(below >> from >> 1)
                : carry + 64 * gpurt_popc(below);
}

/* Whether a place that was found ends the look: none that comes can be better. */
GPURT_DEV bool gpurt_region_is_final(const gpurt_region_query_t *q, uint64_t key)
{
    return key != ~0ull && (q->fit == GPURT_FIT_FIRST ||
                            (q->fit == GPURT_FIT_BEST && (uint32_t)(key >> 32) == q->n));
}

GPURT_DEV uint64_t gpurt_region_word(const gpurt_region_t *r, uint32_t i)
{
    /* relaxed: a look; what is found is taken with acquire */
    return i < r->words ? gpurt_load_relaxed_dev_u64(r->bits + i) : 0;
}

/* A row that this lane has met: one of its two best, or among the rest. */
GPURT_DEV void gpurt_region_note(gpurt_region_found_t *f, uint64_t key, uint32_t end)
{
    uint64_t out = key;

    if (key < f->then) {
        bool best = key < f->key;

        out = f->then;
        f->then = best ? f->key : key;
        f->then_end = best ? f->end : end;
        f->key = best ? key : f->key;
        f->end = best ? end : f->end;
    }
    f->rest = out < f->rest ? out : f->rest;
}

/* The best of the rows inside a word, of those that neither begin nor end with it. Rows are
 * worn off by n - 1 granules first, so that only long enough ones are gone through. */
GPURT_DEV void gpurt_region_inside(const gpurt_region_query_t *q, uint64_t word,
                                   uint32_t first, gpurt_region_found_t *f)
{
    uint64_t worn = q->n < 64 ? word : 0;

    for (uint32_t have = 1; have < q->n && worn;) {
        uint32_t step = q->n - have < have ? q->n - have : have;

        worn &= worn >> step;
        have += step;
    }
    while (worn) {
        uint32_t low = gpurt_ctz64(worn), length = gpurt_ctz64(~(worn >> low));
        uint64_t key = gpurt_region_key(q, first + low, length + q->n - 1);

        gpurt_region_note(f, key, first + low + length + q->n - 1);
        worn &= ~(((1ull << length) - 1) << low);
    }
}

/* What one step of the look adds: this lane's word, number i. carry: free granules right
 * before the lowest lane's, then before the next step's. Returns: whether the look is over,
 * for this lane. */
GPURT_DEV bool gpurt_region_step(const gpurt_region_query_t *q, uint32_t lanes,
                                 uint64_t word, uint32_t i, uint32_t *carry,
                                 gpurt_region_found_t *f)
{
    uint32_t lead = gpurt_ctz64(~word), trail = gpurt_clz64(~word), before, closed;
    uint32_t top = gpurt_log2(lanes), rank = gpurt_popc(lanes & gpurt_lanes_below());

    closed = gpurt_ballot(lanes, lead < 64);
    before = gpurt_region_before(lanes, closed, trail, *carry);
    *carry = gpurt_shfl_u32(lanes, lead < 64 ? trail : before + 64, top);
    if (lead < 64) {
        uint64_t key = gpurt_region_key(q, i * 64 - before, before + lead);

        gpurt_region_note(f, key, i * 64 + lead);
        if (trail)
            word = word << trail >> trail;
        gpurt_region_inside(q, word >> lead << lead, i * 64, f);
    }
    if (q->fit == GPURT_FIT_FIRST && *carry >= q->n) { /* no need to see its end */
        uint32_t end = (i - rank + gpurt_popc(lanes)) * 64;

        gpurt_region_note(f, gpurt_region_key(q, end - *carry, *carry), end);
        return f->key != ~0ull;
    }
    return gpurt_region_is_final(q, f->key);
}

/* One look through the bits, a word a lane at a step; several steps' words are on their way
 * at a time. The word past the end counts as all taken, so that every row ends.
 * Context: all lanes of the mask, with the same query. */
GPURT_DEVN gpurt_region_found_t gpurt_region_look(const gpurt_region_t *r, uint32_t lanes,
                                                  gpurt_region_query_t *q)
{
    uint32_t width = gpurt_popc(lanes), rank = gpurt_popc(lanes & gpurt_lanes_below());
    uint32_t carry = 0, met = 0;
    gpurt_region_found_t f = {~0ull, ~0ull, 0, 0, ~0ull};
    bool over = false;

    for (uint32_t base = 0; base <= r->words && !over; base += GPURT_REGION_AHEAD * width) {
        uint64_t words[GPURT_REGION_AHEAD];

        for (uint32_t k = 0; k < GPURT_REGION_AHEAD; k++)
            words[k] = gpurt_region_word(r, base + k * width + rank);
        for (uint32_t k = 0; k < GPURT_REGION_AHEAD && !over; k++) {
            uint32_t first = base + k * width;
            bool final;

            if (first > r->words)
                break;
            met += gpurt_popc64(words[k]);
            if (!carry && !gpurt_any(lanes, words[k] != 0))
                continue;
            final = gpurt_region_step(q, lanes, words[k], first + rank, &carry, &f);
            over = gpurt_any(lanes, final);
        }
    }
    if (over && q->fit == GPURT_FIT_BEST) { /* others may fit as well, none better */
        uint64_t exact = (uint64_t)q->n << 32 | GPURT_REGION_NOWHERE;

        f.rest = exact < f.rest ? exact : f.rest;
    }
    q->is_free = gpurt_reduce_add_u32(lanes, met);
    return f;
}

#endif
