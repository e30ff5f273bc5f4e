/* SPDX-License-Identifier: Apache-2.0 */
/* linear.h - whether operations can have happened one after the other, each at a moment between
 * its begin and its end. The search is Wing's and Gong's, with what it has met kept (Lowe): those
 * done, and the state. Host code only. */
#ifndef GPURT_TESTS_LINEAR_H
#define GPURT_TESTS_LINEAR_H

#include "check.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LINEAR_MOST = 64,       /* operations: a bit each */
    LINEAR_STATES = 1 << 18 /* a power of two */
};

typedef struct linear_span {
    uint32_t begin, end;
} linear_span_t;

/* What a history is to the search. */
typedef struct linear {
    const void *history;
    uint64_t all; /* its operations; others count for nothing */
    linear_span_t (*span)(const void *history, uint32_t i);
    /* Whether the answer is right for a state; then it is what the operation makes of it. */
    bool (*step)(const void *history, uint32_t i, uint64_t *state);
} linear_t;

typedef struct linear_state {
    uint64_t done; /* operations; never 0 here */
    uint64_t state;
} linear_state_t;

typedef struct linear_search {
    linear_t of;
    uint32_t met; /* of the table */
    linear_state_t table[LINEAR_STATES];
} linear_search_t;

/* Returns: whether it is new. */
static inline bool linear_meet(linear_search_t *s, linear_state_t state)
{
    uint64_t hash =
        (state.done ^ (state.state << 32 | state.state >> 32)) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(hash >> 40) % LINEAR_STATES;

    for (; s->table[at].done; at = (at + 1) % LINEAR_STATES)
        if (s->table[at].done == state.done && s->table[at].state == state.state)
            return false;
    CHECK_MSG(++s->met < LINEAR_STATES / 2, "a history is too wide");
    s->table[at] = state;
    return true;
}

/* The earliest end of those that are not done: whatever begins later comes after that one. */
static inline uint32_t linear_horizon(const linear_search_t *s, uint64_t done)
{
    uint32_t horizon = UINT32_MAX;

    for (uint64_t rest = s->of.all & ~done; rest; rest &= rest - 1) {
        uint32_t end = s->of.span(s->of.history, (uint32_t)__builtin_ctzll(rest)).end;

        horizon = end < horizon ? end : horizon;
    }
    return horizon;
}

static bool linear_goes_on(linear_search_t *s, uint64_t done, uint64_t state)
{
    uint32_t horizon = linear_horizon(s, done);

    if (done == s->of.all)
        return true;
    for (uint64_t rest = s->of.all & ~done; rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(rest);
        linear_state_t next = {done | (rest & -rest), state};

        if (s->of.span(s->of.history, i).begin < horizon &&
            s->of.step(s->of.history, i, &next.state) && linear_meet(s, next) &&
            linear_goes_on(s, next.done, next.state))
            return true;
    }
    return false;
}

static inline bool linear_is(const linear_t *of, uint64_t first)
{
    static linear_search_t s;

    memset(&s, 0, sizeof s);
    s.of = *of;
    return linear_goes_on(&s, 0, first);
}

#endif
