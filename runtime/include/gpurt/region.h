/* SPDX-License-Identifier: Apache-2.0 */
/* region.h - blocks of any length in one range of memory, placed as its policy says.
 *
 *     float *a = (float *)gpurt_region_alloc(&p->region, 300000);
 *     if (!a) ...                                  no place for it: an answer, never a wait
 *     gpurt_region_resize(&p->region, a, 500000);  in place, or not at all
 *     gpurt_region_free(&p->region, a);
 *
 * The host makes a region of its own (regions.h), or gpurt_region_init makes one on the
 * device, in an object of a heap say. Lengths count in granules, 256 bytes or what was
 * chosen; 0 bytes count as 1. The policy is the region's: the first place that is long
 * enough, the tightest or the widest.
 *
 * Any lane may call at any time, and may free what others allocated, in this kernel or a
 * later one. Lanes that call together search together, so a request of a whole warp costs
 * little more than that of one lane. What a lane wrote before it freed comes before what
 * the next owner does. Lock-free: there is no lock that an ended lane could hold, and of
 * lanes that want the same place one gets it. docs/PLACEMENT.md tells how.
 * Context: device code, unless said otherwise. */
#ifndef GPURT_REGION_H
#define GPURT_REGION_H

#include <gpurt/block.h>
#include <gpurt/ids.h>
#include <gpurt/impl/regionlook.h>
#include <gpurt/warp.h>

/* Makes a region of any memory of the device. Context: all 32 lanes of a warp, with the
 * same arguments; each gets the description. Others may use it once the caller has handed
 * it to them with a barrier or a release. Returns: as gpurt_region_layout. */
GPURT_DEVN uint32_t gpurt_region_init(gpurt_region_t *r, void *memory, size_t bytes,
                                      size_t granule, gpurt_region_fit_t fit)
{
    uint32_t answer = gpurt_region_layout(r, memory, bytes, granule, (uint32_t)fit);

    r->owned = NULL;
    r->id = 0;
    if (answer != GPURT_REGION_OK) {
        r->base = NULL;
        return answer;
    }
    gpurt_syncwarp(GPURT_FULL_MASK); /* what the lane acquired that got the memory */
    for (uint32_t i = gpurt_lane(); i < sizeof *r->counts / 8; i += GPURT_WARP_SIZE)
        ((uint64_t *)r->counts)[i] = 0;
    for (uint32_t i = gpurt_lane(); i < r->words; i += GPURT_WARP_SIZE)
        r->bits[i] = gpurt_region_all_free(r, i);
    for (uint32_t i = gpurt_lane(); i < r->granules; i += GPURT_WARP_SIZE)
        r->lengths[i] = 0;
    gpurt_syncwarp(GPURT_FULL_MASK);
    return answer;
}

/* ---- granules ------------------------------------------------------------------------ */

/* Bits of word `i` that stand for granules [at, at + n). */
GPURT_DEV uint64_t gpurt_region_mask(uint32_t i, uint32_t at, uint32_t n)
{
    uint32_t from = at > i * 64 ? at - i * 64 : 0, to = at + n - i * 64;

    return (to >= 64 ? ~0ull : (1ull << to) - 1) & ~((1ull << (from & 63)) - 1);
}

/* Granules [at, at + n) are free, and with that merged with free neighbours. */
GPURT_DEV void gpurt_region_put(const gpurt_region_t *r, uint32_t at, uint32_t n)
{
    for (uint32_t i = at / 64; n > 0 && i * 64 < at + n; i++)
        gpurt_red_or_release_dev_u64(r->bits + i,
                                     gpurt_region_mask(i, at, n)); /* AG1.rel */
}

/* Takes granules [at, at + n), all or none. Ascending: of lanes that hinder each other the
 * one that is farthest up gets on. */
GPURT_DEV bool gpurt_region_claim(const gpurt_region_t *r, uint32_t at, uint32_t n)
{
    for (uint32_t i = at / 64; i * 64 < at + n; i++) {
        uint64_t want = gpurt_region_mask(i, at, n);
        uint64_t got = gpurt_and_acquire_dev_u64(r->bits + i, ~want) & want; /* AG1.acq */

        if (got == want)
            continue;
        if (got) /* relaxed: nothing was done there, and the last owner's release stands */
            gpurt_red_or_relaxed_dev_u64(r->bits + i, got);
        if (i * 64 > at)
            gpurt_region_put(r, at, i * 64 - at);
        return false;
    }
    return true;
}

/* ---- allocate ------------------------------------------------------------------------ */

GPURT_DEV uint32_t gpurt_region_refuse(const gpurt_region_t *r, uint32_t answer)
{
    if (r->base && answer) /* relaxed: a statistic */
        gpurt_red_add_relaxed_dev_u64(&r->counts->xanswers[answer], 1);
    return answer;
}

/* The same for a pointer that is no block. */
GPURT_DEVN uint32_t gpurt_region_blame(const gpurt_region_t *r, const void *block,
                                       uint32_t answer)
{
    if (r->base) /* relaxed: a statistic */
        gpurt_store_relaxed_dev_u64(&r->counts->xbad_pointer, (uint64_t)(uintptr_t)block);
    return gpurt_region_refuse(r, answer);
}

/* Granules of so many bytes; more than the region has when they are too many. */
GPURT_DEV uint32_t gpurt_region_granules(const gpurt_region_t *r, size_t size)
{
    size_t n = size ? ((size - 1) >> r->shift) + 1 : 1;

    return n > r->granules ? r->granules + 1 : (uint32_t)n;
}

/* What a request comes to. Returns: why it cannot be served anyway. */
GPURT_DEV uint32_t gpurt_region_ask(const gpurt_region_t *r, size_t size, size_t align,
                                    gpurt_region_query_t *q)
{
    q->is_free = q->n = q->align = q->origin = q->fit = 0;
    if (!r->base)
        return GPURT_REGION_NONE;
    if (!align || (align & (align - 1)) || align > (size_t)r->granules << r->shift)
        return GPURT_REGION_ALIGNMENT;
    q->n = gpurt_region_granules(r, size);
    if (q->n > r->granules)
        return GPURT_REGION_TOO_LARGE;
    if (align >> r->shift)
        q->align = (uint32_t)(align >> r->shift) - 1;
    q->origin = (uint32_t)((uintptr_t)r->base >> r->shift) & q->align;
    q->fit = r->fit;
    return GPURT_REGION_OK;
}

/* How many requests a row serves, one after the other, before another row is better. then:
 * the key of that. alone: nobody else looks; or the longest row serves as many as fit. */
GPURT_DEV uint32_t gpurt_region_room(const gpurt_region_query_t *q, uint32_t length,
                                     uint64_t then, bool alone)
{
    uint32_t room = length / q->n, other = ~(uint32_t)(then >> 32), more;

    if (q->align)
        return 1;
    if (q->fit != GPURT_FIT_WORST || !alone)
        return room;
    more = length > other ? (length - other - 1) / q->n : 0;
    return room < 1 + more ? room : 1 + more;
}

/* Gives lanes of `same` places out of what all have met, the best one first, as if each had
 * looked after the one before had taken its place. skip: so many places are left to others.
 * Returns: lanes that have one. */
GPURT_DEVN uint32_t gpurt_region_plan(const gpurt_region_query_t *q, uint32_t lanes,
                                      uint32_t same, gpurt_region_found_t *f, uint32_t skip,
                                      uint32_t *where)
{
    uint32_t rank = gpurt_popc(same & gpurt_lanes_below()), most = gpurt_popc(same), n = 0;
    uint64_t known = gpurt_reduce_min_u64(lanes, f->rest);
    uint64_t best = gpurt_reduce_min_u64(lanes, f->key);
    bool mine = same >> gpurt_lane() & 1u, has = false, alone = skip == 0;

    while (n < most && best != ~0ull && best <= known) {
        uint32_t owner = gpurt_ballot(lanes, f->key == best), at = (uint32_t)best, room;
        uint32_t end = gpurt_shfl_u32(lanes, f->end, gpurt_leader(owner)), out;

        if (f->key == best) {
            f->key = f->then;
            f->end = f->then_end;
            f->then = ~0ull;
        }
        best = gpurt_reduce_min_u64(lanes, f->key);
        room = gpurt_region_room(q, end - at, best < known ? best : known, alone);
        out = skip < room ? skip : room;
        skip -= out;
        room = room - out < most - n ? room - out : most - n;
        if (mine && rank - n < room) {
            *where = at + (out + rank - n) * q->n;
            has = true;
        }
        n += room;
        if (q->align || q->fit == GPURT_FIT_WORST)
            break; /* what is left of the row may be the best one */
    }
    return gpurt_ballot(lanes, has);
}

/* Places that a warp leaves to others who look at the same moment, so that they part: more
 * with each turn, up to 63 times n. None when turn is 0. */
GPURT_DEV uint32_t gpurt_region_skip(uint32_t lanes, uint32_t turn, uint32_t n)
{
    uint32_t spread = (1u << (turn < 6 ? turn : 6)) - 1;
    uint32_t who = (gpurt_sm() * 61u + gpurt_warp_slot() + turn) * 2654435761u >> 16;

    return gpurt_shfl_u32(lanes, (who & spread) * n, gpurt_leader(lanes));
}

/* A warp begins to look, or (n -1) ends. Returns: the turn to begin with, by how many look:
 * 0 when nobody else does. Nothing in between ends a lane. relaxed: a hint. */
GPURT_DEV uint32_t gpurt_region_enter(const gpurt_region_t *r, uint32_t lanes, uint64_t n)
{
    uint64_t others = 0;

    if (gpurt_is_leader(lanes))
        others = gpurt_add_relaxed_dev_u64(&r->counts->xlooking, n);
    others = gpurt_shfl_u64(lanes, others, gpurt_leader(lanes));
    return others ? 64u - gpurt_clz64(others) : 0;
}

/* All lanes of the mask look for those of `same`, which want alike, and these take what is
 * found. Returns, to each of them: where, or NOWHERE. */
GPURT_DEV uint32_t gpurt_region_serve(const gpurt_region_t *r, uint32_t lanes,
                                      uint32_t same, const gpurt_region_query_t *q,
                                      uint32_t *why)
{
    uint32_t at = GPURT_REGION_NOWHERE, who = gpurt_leader(same), wait = 1;
    uint32_t turn = gpurt_region_enter(r, lanes, 1), skip;
    gpurt_region_query_t its;

    skip = gpurt_region_skip(lanes, turn, gpurt_popc(same));

    its.n = gpurt_shfl_u32(lanes, q->n, who);
    its.align = gpurt_shfl_u32(lanes, q->align, who);
    its.origin = gpurt_shfl_u32(lanes, q->origin, who);
    its.fit = gpurt_shfl_u32(lanes, q->fit, who);
    its.is_free = 0;
    while (same) {
        gpurt_region_found_t f = gpurt_region_look(r, lanes, &its);
        uint32_t asks, got;

        if (!gpurt_any(lanes, f.key != ~0ull)) {
            if (same >> gpurt_lane() & 1u)
                *why = its.is_free < its.n ? GPURT_REGION_FULL : GPURT_REGION_FRAGMENTED;
            at = same >> gpurt_lane() & 1u ? (uint32_t)GPURT_REGION_NOWHERE : at;
            break;
        }
        asks = gpurt_region_plan(&its, lanes, same, &f, skip, &at);
        got = gpurt_ballot(lanes,
                           (asks >> gpurt_lane() & 1u) && gpurt_region_claim(r, at, its.n));
        gpurt_syncwarp(lanes);
        same &= ~got;
        skip = 0;
        if (asks == got)
            continue;
        if (gpurt_lane() == who) /* relaxed: a statistic */
            gpurt_red_add_relaxed_dev_u64(&r->counts->xlost_races, 1);
        skip = gpurt_region_skip(lanes, ++turn, gpurt_popc(same));
        gpurt_backoff(&wait); /* another lane was faster */
    }
    gpurt_region_enter(r, lanes, ~0ull);
    return at;
}

/* Returns: memory of at least `size` bytes at a multiple of `align` (a power of two), or
 * NULL; why: a gpurt_region_answer_t. Context: any lanes. */
GPURT_DEVN void *gpurt_region_alloc_why(const gpurt_region_t *r, size_t size, size_t align,
                                        uint32_t *why)
{
    uint32_t lanes = gpurt_activemask(), at = GPURT_REGION_NOWHERE, todo, alike, same;
    gpurt_region_query_t q;

    lanes = gpurt_match_any_u64(lanes, (uint64_t)(uintptr_t)r->bits); /* of one region */
    *why = gpurt_region_ask(r, size, align, &q);
    todo = gpurt_ballot(lanes, *why == GPURT_REGION_OK);
    alike = gpurt_match_any_u64(lanes, (uint64_t)q.n << 32 | q.align);
    for (; todo; todo &= ~same) {
        uint32_t got;

        same = gpurt_shfl_u32(lanes, alike, gpurt_leader(todo)) & todo;
        got = gpurt_region_serve(r, lanes, same, &q, why);
        at = same >> gpurt_lane() & 1u ? got : at;
    }
    if (*why != GPURT_REGION_OK) {
        gpurt_region_refuse(r, *why);
        return NULL;
    }
    /* relaxed: reaches others with the pointer; who frees the granules clears it before */
    gpurt_store_relaxed_dev_u32(r->lengths + at, q.n);
    return r->base + ((size_t)at << r->shift);
}

GPURT_DEV void *gpurt_region_alloc_aligned(const gpurt_region_t *r, size_t size,
                                           size_t align)
{
    uint32_t why;

    return gpurt_region_alloc_why(r, size, align, &why);
}

/* Aligned to a granule if the region's memory is. */
GPURT_DEV void *gpurt_region_alloc(const gpurt_region_t *r, size_t size)
{
    return gpurt_region_alloc_aligned(r, size, 1);
}

/* ---- blocks -------------------------------------------------------------------------- */

/* The granule at which a block begins. Returns: GPURT_REGION_OK, or what is wrong. */
GPURT_DEV uint32_t gpurt_region_find(const gpurt_region_t *r, const void *block,
                                     uint32_t *at)
{
    size_t offset = (size_t)((const char *)block - r->base);

    *at = (uint32_t)(offset >> r->shift);
    if (!r->base)
        return GPURT_REGION_NONE;
    if (offset >> r->shift >= r->granules)
        return GPURT_REGION_FOREIGN;
    return offset & (((size_t)1 << r->shift) - 1) ? GPURT_REGION_INTERIOR : GPURT_REGION_OK;
}

/* What a granule is at which no block begins. */
GPURT_DEV uint32_t gpurt_region_no_block(const gpurt_region_t *r, uint32_t at)
{
    uint64_t word = gpurt_load_relaxed_dev_u64(r->bits + at / 64); /* relaxed: a report */

    return word >> (at % 64) & 1 ? GPURT_REGION_TWICE : GPURT_REGION_INTERIOR;
}

/* Likewise, and its length in granules. */
GPURT_DEV uint32_t gpurt_region_block(const gpurt_region_t *r, const void *block,
                                      uint32_t *at, uint32_t *n)
{
    uint32_t answer = gpurt_region_find(r, block, at);

    *n = 0;
    if (answer == GPURT_REGION_OK) {
        /* relaxed: fixed as long as the caller has the block */
        *n = gpurt_load_relaxed_dev_u32(r->lengths + *at);
        if (!*n)
            answer = gpurt_region_no_block(r, *at);
    }
    return answer ? gpurt_region_blame(r, block, answer) : answer;
}

/* Bytes of a block; 0 when it is none. */
GPURT_DEV size_t gpurt_region_size(const gpurt_region_t *r, const void *block)
{
    uint32_t at, n;

    gpurt_region_block(r, block, &at, &n);
    return (size_t)n << r->shift;
}

/* NULL: nothing. Returns: GPURT_REGION_OK, or what is wrong with the pointer, which is left
 * alone and counted then. Wait-free. */
GPURT_DEVN uint32_t gpurt_region_free(const gpurt_region_t *r, void *block)
{
    uint32_t at, n, answer;

    if (!block)
        return GPURT_REGION_OK;
    answer = gpurt_region_find(r, block, &at);
    if (answer == GPURT_REGION_OK) {
        /* relaxed: one of two who free gets the length; the bits order what it held */
        n = gpurt_xchg_relaxed_dev_u32(r->lengths + at, 0);
        if (n) {
            gpurt_region_put(r, at, n);
            return GPURT_REGION_OK;
        }
        answer = gpurt_region_no_block(r, at);
    }
    return gpurt_region_blame(r, block, answer);
}

/* Makes a block longer, when what follows is free, or shorter; it stays where it is.
 * Context: who owns the block. Returns: GPURT_REGION_OK; GPURT_REGION_TAKEN: it is as it
 * was. */
GPURT_DEVN uint32_t gpurt_region_resize(const gpurt_region_t *r, void *block, size_t size)
{
    uint32_t at, n, answer = gpurt_region_block(r, block, &at, &n), to;

    if (answer != GPURT_REGION_OK)
        return answer;
    to = gpurt_region_granules(r, size);
    if (to > r->granules)
        return gpurt_region_refuse(r, GPURT_REGION_TOO_LARGE);
    if (to > n && (to > r->granules - at || !gpurt_region_claim(r, at + n, to - n)))
        return gpurt_region_refuse(r, GPURT_REGION_TAKEN);
    gpurt_store_relaxed_dev_u32(r->lengths + at, to); /* relaxed: the owner's */
    if (to < n)
        gpurt_region_put(r, at + to, n - to);
    return GPURT_REGION_OK;
}

/* Makes two blocks of one, each to be freed by itself. size: of the first. Context: who
 * owns it. Returns: the second; NULL when the first is not longer than that. */
GPURT_DEVN void *gpurt_region_split(const gpurt_region_t *r, void *block, size_t size)
{
    uint32_t at, n, to;

    if (gpurt_region_block(r, block, &at, &n) != GPURT_REGION_OK)
        return NULL;
    to = gpurt_region_granules(r, size);
    if (to >= n) {
        gpurt_region_refuse(r, GPURT_REGION_TOO_LARGE);
        return NULL;
    }
    gpurt_store_relaxed_dev_u32(r->lengths + at, to); /* relaxed, both: the owner's */
    gpurt_store_relaxed_dev_u32(r->lengths + at + to, n - to);
    return (char *)block + ((size_t)to << r->shift);
}

/* Makes one block of two that lie side by side. Context: who owns both. */
GPURT_DEVN uint32_t gpurt_region_merge(const gpurt_region_t *r, void *block, void *next)
{
    uint32_t at, n, then, more, answer = gpurt_region_block(r, block, &at, &n);

    if (answer == GPURT_REGION_OK)
        answer = gpurt_region_block(r, next, &then, &more);
    if (answer != GPURT_REGION_OK)
        return answer;
    if (at + n != then)
        return gpurt_region_refuse(r, GPURT_REGION_APART);
    gpurt_store_relaxed_dev_u32(r->lengths + then, 0); /* relaxed, both: the owner's */
    gpurt_store_relaxed_dev_u32(r->lengths + at, n + more);
    return GPURT_REGION_OK;
}

#endif
