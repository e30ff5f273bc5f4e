/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - whether a history keeps what docs/HEAP_ORDER.md promises of a set of chunks.
 *
 * history_is_linear: puts, takes, pulls and finds that found can have happened one after the
 * other, each at a moment between its begin and its end (linear.h). Finds in vain promise less
 * than a moment at which nothing was there: history_sees_all, history_heard. Host code only. */
#ifndef GPURT_TESTS_HISTORY_H
#define GPURT_TESTS_HISTORY_H

#include "check.h"
#include "kernels/history_op.h"
#include "linear.h"

#include <stdbool.h>

enum {
    HISTORY_MOST = LINEAR_MOST,
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

static inline bool history_step(const void *history, uint32_t i, uint64_t *state)
{
    const history_op_t *op = &((const history_t *)history)->ops[i];
    uint32_t before = (uint32_t)*state;

    switch (op->what) {
    case HISTORY_PUT:
        *state |= op->among;
        return true;
    case HISTORY_TAKE:
    case HISTORY_PULL:
        *state &= ~(uint64_t)op->among;
        return op->answer == (before & op->among) &&
               (op->what == HISTORY_TAKE ||
                op->emptied == ((before & op->leaf) && !(*state & op->leaf)));
    default: /* the word of a leaf, as it was; of a range only that leaf must be in it */
        return op->answer == (before & op->leaf) && (op->leaf & ~op->among) == 0;
    }
}

static inline linear_span_t history_span(const void *history, uint32_t i)
{
    const history_op_t *op = &((const history_t *)history)->ops[i];

    return (linear_span_t){op->begin, op->end};
}

static inline bool history_is_vain(const history_op_t *op)
{
    return op->what == HISTORY_FIND && !op->answer;
}

static inline bool history_is_linear(const history_t *h)
{
    linear_t l = {h, 0, history_span, history_step};

    CHECK(h->count <= HISTORY_MOST);
    for (uint32_t i = 0; i < h->count; i++)
        if (!history_is_vain(&h->ops[i]))
            l.all |= 1ull << i;
    return linear_is(&l, h->first);
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
