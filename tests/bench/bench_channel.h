/* SPDX-License-Identifier: Apache-2.0 */
/* bench_channel.h - what the host and the kernels agree on. */
#ifndef GPURT_TESTS_BENCH_CHANNEL_H
#define GPURT_TESTS_BENCH_CHANNEL_H

#include <gpurt/channelwarp.h>
#include <gpurt/kernel.h>

enum {
    BENCH_CHANNELS_MOST = 1024,
    BENCH_PINGS = 256,
    BENCH_CALLS = 64 /* a channel's capacity */
};

typedef struct bench_word {
    uint64_t value;
} bench_word_t; /* 8 bytes: a line */
typedef struct bench_note {
    uint64_t words[6];
} bench_note_t; /* 48 bytes: four lines */
typedef struct bench_message {
    uint64_t words[8];
} bench_message_t; /* 64 bytes */
typedef struct GPURT_ALIGN(16) bench_page {
    uint64_t words[512];
} bench_page_t; /* 4 KiB */
typedef struct GPURT_ALIGN(16) bench_part {
    uint64_t words[16];
} bench_part_t; /* a lane's of a page */

GPURT_CHANNEL(bench_tiles, bench_page_t, 8192);
GPURT_PAIR(bench_word_pair, bench_word_t, 64);
GPURT_PAIR(bench_note_pair, bench_note_t, 64);

/* Of the bare tickets: two words, as far apart as those of a channel. */
typedef struct bench_tickets {
    uint64_t xin, unused[31], xout, unused2[31];
} bench_tickets_t;

struct bench_channel_args {
    gpurt_channel_t one, back;         /* of all, and of who answers */
    bench_word_pair_t word, word_back; /* the same two, as pairs */
    bench_note_pair_t note, note_back;
    gpurt_channel_t *channels; /* `count` of them; block b uses number b % count */
    bench_tickets_t *tickets;  /* of the floors, as many */
    uint64_t *ring;            /* ... and their slots, `slots` a ring */
    uint64_t *sum;             /* of all that was received; each sender sends 1, 2, 3 ... */
    uint64_t *cycles;          /* a round trip, BENCH_PINGS of them */
    bench_page_t *from, *to;   /* of pages, and of the copy */
    uint64_t bytes;            /* of the copy */
    uint32_t count, slots, each, lanes; /* lanes: of a warp that take part */
    uint32_t apart;                     /* words between the two of the bare tickets */
};

#endif
