/* SPDX-License-Identifier: Apache-2.0 */
/* bench_broadcast.h - what the host and the kernels agree on. */
#ifndef GPURT_TESTS_BENCH_BROADCAST_H
#define GPURT_TESTS_BENCH_BROADCAST_H

#include <gpurt/broadcast.h>
#include <gpurt/kernel.h>

enum {
    BENCH_CAST_SLOTS = 4096,
    BENCH_CAST_CALLS = 64,
    BENCH_CAST_PINGS = 256
};

typedef struct bench_cast_note {
    uint64_t words[6];
} bench_cast_note_t; /* 48 bytes: four lines */
GPURT_BROADCAST(bench_cast_word, uint64_t, 4096);
GPURT_BROADCAST(bench_cast_notes, bench_cast_note_t, 4096);

/* Written by: any lane. */
typedef struct bench_cast_sums {
    uint64_t xsum, xlost; /* of all readers: values, messages */
    uint64_t xnext;       /* of the floor */
    uint32_t xready;
} bench_cast_sums_t;

struct bench_broadcast_args {
    bench_cast_word_t word, back;
    bench_cast_notes_t note;
    bench_cast_sums_t *sums;
    uint64_t *ring;   /* the floor's slots, 16 bytes each; the flags of its round trips */
    uint64_t *cycles; /* of calls: publishes, then reads; of round trips */
    uint32_t each;    /* messages of a lane that publishes: 1, 2, 3 ... */
};

#endif
