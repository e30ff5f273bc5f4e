/* SPDX-License-Identifier: Apache-2.0 */
/* bench_channel.h - what the host and the kernels agree on. */
#ifndef GPURT_TESTS_BENCH_CHANNEL_H
#define GPURT_TESTS_BENCH_CHANNEL_H

#include <gpurt/channel.h>
#include <gpurt/kernel.h>

enum {
    BENCH_CHANNELS_MOST = 1024,
    BENCH_PINGS = 256
};

typedef struct bench_message {
    uint64_t words[8];
} bench_message_t; /* 64 bytes */
typedef struct bench_note {
    uint64_t words[6];
} bench_note_t; /* 48 bytes: four lines */

/* Of the bare tickets: two words, each on a line of its own. */
typedef struct bench_tickets {
    uint64_t xin, unused[15], xout, unused2[15];
} bench_tickets_t;

struct bench_channel_args {
    gpurt_channel_t *channels; /* `count` of them; block b uses number b % count */
    bench_tickets_t *tickets;  /* of the floors, as many */
    uint64_t *ring;            /* ... and their slots, `slots` a ring */
    uint64_t *sum;             /* of all that was received; each sender sends 1, 2, 3 ... */
    uint64_t *cycles;          /* a round trip, BENCH_PINGS of them */
    bench_message_t *from, *to;         /* of the copy */
    uint32_t count, slots, each, lanes; /* lanes: of a warp that take part */
};

#endif
