/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - whether a history keeps what docs/HEAP_ORDER.md promises of a set of chunks.
 *
 * history_is_linear: puts, takes, pulls and finds that found can have happened one after the
 * other, each at a moment between its begin and its end. The search is Wing's and Gong's, with
 * what it has met kept (Lowe): those done, and the set. Finds in vain promise less than a
 * moment at which nothing was there: history_sees_all, history_heard. Host code only. */
#ifndef GPURT_TESTS_HISTORY_H
#define GPURT_TESTS_HISTORY_H

#include "check.h"
#include "kernels/history_op.h"

#include <stdbool.h>

enum {
    HISTORY_MOST = 64,        /* operations: a bit each */
    HISTORY_STATES = 1 << 18, /* a power of two */
    HISTORY_CHUNKS = 31
};

typedef struct history {
    history_op_t ops[HISTORY_MOST];
    uint32_t count;
    uint32_t first;  /* the set at the begin */
    uint32_t rest;   /* ... when no lane was at work, ... */
    uint32_t rested; /* ... when that was, ... */
    uint64_t news;   /* ... and the count of news then */
} history_t;

/* ---- one after the other -------------------------------------------------------------- */

typedef struct history_state {
    uint64_t done; /* operations; never 0 here */
    uint32_t set;
} history_state_t;

typedef struct history_search {
    const history_t *of;
    uint64_t all;
    uint32_t met; /* of the table */
    history_state_t table[HISTORY_STATES];
} history_search_t;

/* Whether the answer is right for a set; then the set is what the operation makes of it. */
static inline bool history_step(const history_op_t *op, uint32_t *set)
{
    uint32_t before = *set;

    switch (op->what) {
    case HISTORY_PUT:
        *set |= op->among;
        return true;
    case HISTORY_TAKE:
    case HISTORY_PULL:
        *set &= ~op->among;
        return op->answer == (before & op->among) &&
               (op->what == HISTORY_TAKE ||
                op->emptied == ((before & op->leaf) && !(*set & op->leaf)));
    default: /* the word of a leaf, as it was; of a range only that leaf must be in it */
        return op->answer == (before & op->leaf) && (op->leaf & ~op->among) == 0;
    }
}

/* Returns: whether it is new. */
static inline bool history_meet(history_search_t *s, history_state_t state)
{
    uint64_t hash = (state.done ^ (uint64_t)state.set << 32) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(hash >> 40) % HISTORY_STATES;

    for (; s->table[at].done; at = (at + 1) % HISTORY_STATES)
        if (s->table[at].done == state.done && s->table[at].set == state.set)
            return false;
    CHECK_MSG(++s->met < HISTORY_STATES / 2, "a history of %u operations is too wide",
              s->of->count);
    s->table[at] = state;
    return true;
}

/* The earliest end of those that are not done: whatever begins later comes after that one. */
static inline uint32_t history_horizon(const history_search_t *s, uint64_t done)
{
    uint32_t horizon = UINT32_MAX;

    for (uint64_t rest = s->all & ~done; rest; rest &= rest - 1) {
        uint32_t end = s->of->ops[__builtin_ctzll(rest)].end;

        horizon = end < horizon ? end : horizon;
    }
    return horizon;
}

static bool history_goes_on(history_search_t *s, uint64_t done, uint32_t set)
{
    uint32_t horizon = history_horizon(s, done);

    if (done == s->all)
        return true;
    for (uint64_t rest = s->all & ~done; rest; rest &= rest - 1) {
        const history_op_t *op = &s->of->ops[__builtin_ctzll(rest)];
        history_state_t next = {done | (rest & -rest), set};

        if (op->begin < horizon && history_step(op, &next.set) && history_meet(s, next) &&
            history_goes_on(s, next.done, next.set))
            return true;
    }
    return false;
}

static inline bool history_is_vain(const history_op_t *op)
{
    return op->what == HISTORY_FIND && !op->answer;
}

static inline bool history_is_linear(const history_t *h)
{
    static history_search_t s;

    CHECK(h->count <= HISTORY_MOST);
    memset(&s, 0, sizeof s);
    s.of = h;
    for (uint32_t i = 0; i < h->count; i++)
        if (!history_is_vain(&h->ops[i]))
            s.all |= 1ull << i;
    return history_goes_on(&s, 0, h->first);
}

/* ---- finds in vain -------------------------------------------------------------------- */

static inline bool history_overlap(const history_op_t *a, const history_op_t *b)
{
    return a->begin < b->end && b->begin < a->end;
}

/* Whether the chunk's hints need not be there yet, or again: another lane was at work that lowers
 * hints, or that puts into the same leaf and may be the one that put the first. */
static inline bool history_is_excused(const history_t *h, uint32_t chunk,
                                      const history_op_t *find)
{
    for (uint32_t i = 0; i < h->count; i++) {
        const history_op_t *op = &h->ops[i];
        bool lowers = op->what == HISTORY_TAKE || op->what == HISTORY_FIND;
        bool raises = op->what == HISTORY_PUT && (op->leaf & chunk);

        if (op != find && (lowers || raises) && history_overlap(op, find))
            return true;
    }
    return false;
}

/* Whether somebody may have got the chunk between a moment and the find's end. */
static inline bool history_is_taken(const history_t *h, uint32_t chunk, uint32_t since,
                                    const history_op_t *find)
{
    for (uint32_t i = 0; i < h->count; i++) {
        const history_op_t *op = &h->ops[i];

        if ((op->what == HISTORY_TAKE || op->what == HISTORY_PULL) &&
            (op->answer & chunk) && op->end > since && op->begin < find->end)
            return true;
    }
    return false;
}

/* Whether a chunk was certainly there from before the find until it ended. */
static inline bool history_is_there(const history_t *h, uint32_t chunk,
                                    const history_op_t *find)
{
    if ((h->first & chunk) && !history_is_taken(h, chunk, 0, find))
        return true;
    for (uint32_t i = 0; i < h->count; i++) {
        const history_op_t *op = &h->ops[i];

        if (op->what == HISTORY_PUT && (op->among & chunk) && op->end < find->begin &&
            !history_is_taken(h, chunk, op->begin, find))
            return true;
    }
    return false;
}

/* A find that nobody overlaps who may be at work at hints misses nothing that was there. */
static inline bool history_sees_all(const history_t *h)
{
    for (uint32_t i = 0; i < h->count; i++) {
        const history_op_t *find = &h->ops[i];

        for (uint32_t k = 0; history_is_vain(find) && k < HISTORY_CHUNKS; k++)
            if ((find->among >> k & 1u) && history_is_there(h, 1u << k, find) &&
                !history_is_excused(h, 1u << k, find))
                return false;
    }
    return true;
}

/* What any find in vain missed makes news that it did not know of: else, when all lanes have
 * come to rest, nothing is there. */
static inline bool history_heard(const history_t *h)
{
    for (uint32_t i = 0; i < h->count; i++) {
        const history_op_t *op = &h->ops[i];

        if (history_is_vain(op) && op->end <= h->rested && op->news == h->news &&
            (op->among & h->rest))
            return false;
    }
    return true;
}

static inline void history_print(const history_t *h)
{
    static const char *const names[] = {"put", "take", "pull", "find"};

    for (uint32_t i = 0; i < h->count; i++) {
        const history_op_t *op = &h->ops[i];

        fprintf(stderr, "%4u..%-4u lane %u %s %02x of leaf %02x: %02x%s, news %llu\n",
                op->begin, op->end, op->lane, names[op->what], op->among, op->leaf,
                op->answer, op->emptied ? " emptied" : "", (unsigned long long)op->news);
    }
    fprintf(stderr, "first %02x, at rest %02x, news %llu\n", h->first, h->rest,
            (unsigned long long)h->news);
}

#endif
