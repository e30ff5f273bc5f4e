/* SPDX-License-Identifier: Apache-2.0 */
/* modeltimes.h - what all tables of durations by name have in common, kernels' as well as those of
 * calls and ranges: rows that are found by a key, and the spread of a row's durations. For the
 * files of a model; the verbs are inline because a kernel's row takes some tens of nanoseconds. */
#ifndef GPURT_MODELTIMES_H
#define GPURT_MODELTIMES_H

#include "modelview.h"

enum {
    SPREAD_STEPS = 8, /* buckets to a doubling */
    SPREAD_TOP = 50,  /* up to 2^50 ns, 13 days: ranges are as long as a program runs */
    SPREAD_BUCKETS = SPREAD_STEPS + (SPREAD_TOP - 3) * SPREAD_STEPS
};

/* Begins each row of such a table. */
typedef struct model_key {
    uint64_t key;
    uint32_t kind;  /* keys of different kinds are different */
    uint32_t nodes; /* of a graph */
} model_key_t;

typedef struct model_times {
    uint64_t count, untimed, total_ns, min_ns, max_ns;
    uint32_t spread[SPREAD_BUCKETS]; /* durations, by size */
} model_times_t;

/* Where a table lies. Offsets, because then a compiler needs one register for all of it. */
typedef struct model_table {
    const void *base;
    size_t hash; /* uint16_t of each place, index + 1, 0 empty; there are more than rows */
    size_t rows, row_bytes;
    uint32_t bits; /* of the hash's size */
} model_table_t;

/* The row of a key. Returns: which, + 1; 0: there is none, and it is to be entered at *place of
 * the hash. */
static inline uint32_t model_table_find(model_table_t t, uint32_t kind, uint64_t key,
                                        uint32_t *place)
{
    const uint32_t size = 1u << t.bits;
    const uint8_t *base = t.base;
    uint32_t at =
        ((uint32_t)key ^ (uint32_t)(key >> 32) << 16 ^ kind << 24) * 0x9e3779b1u >>
        (32 - t.bits);

    for (;; at++) {
        uint32_t row = *(const uint16_t *)(base + t.hash + at % size * sizeof(uint16_t));
        const model_key_t *k;

        if (row == 0)
            break;
        k = (const void *)(base + t.rows + (row - 1u) * t.row_bytes);
        if (k->key == key && k->kind == kind)
            return row;
    }
    *place = at % size;
    return 0;
}

/* Below SPREAD_STEPS one bucket a value, then SPREAD_STEPS to each doubling. */
static inline uint32_t model_bucket_of(uint64_t ns)
{
    uint32_t top;

    if (ns < SPREAD_STEPS)
        return (uint32_t)ns;
    if (ns >= 1ull << SPREAD_TOP)
        return SPREAD_BUCKETS - 1;
    top = 63u - (uint32_t)__builtin_clzll(ns);
    return SPREAD_STEPS * (top - 2) + ((uint32_t)(ns >> (top - 3)) & (SPREAD_STEPS - 1));
}

static inline void model_times_put_known(model_times_t *t, uint64_t ns)
{
    uint32_t *bucket = &t->spread[model_bucket_of(ns)];

    t->min_ns = t->count == t->untimed || ns < t->min_ns ? ns : t->min_ns;
    t->max_ns = ns > t->max_ns ? ns : t->max_ns;
    t->total_ns = gpurt_model_sum(t->total_ns, ns);
    t->count++;
    *bucket += *bucket < UINT32_MAX;
}

static inline void model_times_put(model_times_t *t, uint64_t ns)
{
    if (ns != GPURT_ACTIVITY_NO_TIME) {
        model_times_put_known(t, ns);
        return;
    }
    t->untimed++;
    t->count++;
}

/* modeltimes.c */
void model_times_view(const model_times_t *from, gpurt_model_times_t *to);
/* Of all, by those that have times; behind model_times_view. */
void model_times_estimate(const model_times_t *from, gpurt_model_times_t *to);

#endif
