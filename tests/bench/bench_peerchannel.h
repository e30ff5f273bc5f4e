/* SPDX-License-Identifier: Apache-2.0 */
/* bench_peerchannel.h - what bench_peerchannel and its kernels share. */
#ifndef GPURT_TESTS_BENCH_PEERCHANNEL_H
#define GPURT_TESTS_BENCH_PEERCHANNEL_H

#include <gpurt/kernel.h>
#include <gpurt/peerchannel.h>

enum {
    BENCH_PEER_ROUNDS = 4000, /* round trips */
    BENCH_PEER_CHANNELS = 16,
    BENCH_PEER_PAGE = 4080
};
struct bench_peer_line {
    uint32_t words[12]; /* 48 bytes, as bench_channel's */
};
struct bench_peer_page {
    uint32_t words[BENCH_PEER_PAGE / 4];
};
GPURT_PEERS(bench_numbers, uint64_t, 1024);
GPURT_PEERS(bench_lines, struct bench_peer_line, 64);
GPURT_PEERS(bench_pages, struct bench_peer_page, 256);

/* One GPU's half: it sends by `out`, and receives by `in`. Owner: the bench. */
struct bench_peer_args {
    bench_numbers_out_t numbers_out[BENCH_PEER_CHANNELS];
    bench_numbers_in_t numbers_in[BENCH_PEER_CHANNELS];
    bench_lines_out_t lines_out;
    bench_lines_in_t lines_in;
    uint32_t *xmine, *xtheirs; /* bare words: in this GPU's memory, and in the other's */
    uint64_t *cycles;          /* of each round trip */
    uint64_t *sums;            /* of what came: numbers, messages; wrong ones */
    uint64_t *took_ns;         /* all round trips */
    uint32_t channels, rounds, first; /* first: this half begins */
    uint32_t ordered;                 /* the bare words are released and acquired */
};
/* Of large messages. Owner: the bench. */
struct bench_page_args {
    bench_pages_out_t out[BENCH_PEER_CHANNELS];
    bench_pages_in_t in[BENCH_PEER_CHANNELS];
    struct bench_peer_page *pages; /* in this GPU's memory, a thread each */
    struct bench_peer_page *there; /* as many in the other's, for the bare copy */
    uint64_t *sums;
    uint32_t channels, rounds, count;
};

/* Thread 0 of each half: bare words there and back; a number by channels; a line of 48 bytes. */
GPURT_KERNEL_DECLARE(bench_peer_bare, struct bench_peer_args);
GPURT_KERNEL_DECLARE(bench_peer_trip, struct bench_peer_args);
GPURT_KERNEL_DECLARE(bench_peer_trip_line, struct bench_peer_args);
/* Each thread sends `rounds` numbers by its warp's channel; each receives until that is closed. */
GPURT_KERNEL_DECLARE(bench_peer_send, struct bench_peer_args);
GPURT_KERNEL_DECLARE(bench_peer_take, struct bench_peer_args);
GPURT_KERNEL_DECLARE(bench_page_send, struct bench_page_args);
GPURT_KERNEL_DECLARE(bench_page_take, struct bench_page_args);
/* `rounds` times all of `pages` to `there`, by all threads. */
GPURT_KERNEL_DECLARE(bench_page_copy, struct bench_page_args);

#endif
