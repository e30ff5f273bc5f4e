/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_channel.h"

#include <gpurt/device.h>

GPURT_DEV bool bench_takes_part(const struct bench_channel_args *p)
{
    return gpurt_lane() < p->lanes;
}

/* Even warps send, odd ones receive as many. */
#define BENCH_STREAM(name, type, first_word)                                        \
    GPURT_KERNEL(bench_channel_##name, struct bench_channel_args, p)                \
    {                                                                               \
        gpurt_channel_t c = p->channels[gpurt_block_x() % p->count];                \
        uint64_t mine = 0;                                                          \
        type m = {0};                                                               \
                                                                                    \
        if (!bench_takes_part(p))                                                   \
            return;                                                                 \
        for (uint32_t i = 1; gpurt_warp() % 2 == 0 && i <= p->each; i++) {          \
            m first_word = i;                                                       \
            (void)gpurt_channel_send(&c, &m);                                       \
        }                                                                           \
        for (uint32_t i = 1; gpurt_warp() % 2 && i <= p->each; i++)                 \
            if (gpurt_channel_receive(&c, &m) == GPURT_OK)                          \
                mine += m first_word;                                               \
        gpurt_red_add_relaxed_dev_u64(p->sum, mine); /* relaxed: read afterwards */ \
    }
typedef struct bench_word {
    uint64_t value;
} bench_word_t;
BENCH_STREAM(words, bench_word_t, .value)
BENCH_STREAM(messages, bench_message_t, .words[0])

/* The floor: an addition a warp draws the tickets, and each lane stores or loads its 16 bytes.
 * No message waits for another, none is checked. */
GPURT_KERNEL(bench_channel_tickets, struct bench_channel_args, p)
{
    bench_tickets_t *t = &p->tickets[gpurt_block_x() % p->count];
    uint64_t *ring = p->ring + (size_t)(gpurt_block_x() % p->count) * p->slots * 2;
    uint32_t lanes = p->lanes < GPURT_WARP_SIZE ? (1u << p->lanes) - 1 : GPURT_FULL_MASK;
    bool sends = gpurt_warp() % 2 == 0;
    uint64_t mine = 0, at = 0;

    if (!bench_takes_part(p))
        return;
    for (uint32_t i = 1; i <= p->each; i++) {
        gpurt_u128_t *slot, line = {i, i};

        if (gpurt_lane() == 0) /* relaxed: nothing is ordered */
            at = gpurt_add_relaxed_far_u64(sends ? &t->xin : &t->xout, p->lanes);
        at = gpurt_shfl_u64(lanes, at, 0) + gpurt_lane();
        slot = (gpurt_u128_t *)(void *)(ring + at % p->slots * 2);
        if (sends)
            gpurt_store_relaxed_dev_u128(slot, line);
        else
            mine += gpurt_load_relaxed_dev_u128(slot).lo > p->each;
        at -= gpurt_lane();
    }
    gpurt_red_add_relaxed_dev_u64(p->sum, mine);
}

/* The floor of bytes: as many as all messages have, out of memory and into it. */
GPURT_KERNEL(bench_channel_copy, struct bench_channel_args, p)
{
    uint32_t lanes = gpurt_grid_blocks() * gpurt_block_threads();

    for (uint64_t i = gpurt_global_id(); i < (uint64_t)p->each * lanes / 2; i += lanes)
        p->to[i] = p->from[i];
}

/* ---- from one multiprocessor to another and back ---------------------------------------- */

#define BENCH_PING(name, type, first_word)                                \
    GPURT_KERNEL(bench_channel_##name, struct bench_channel_args, p)      \
    {                                                                     \
        gpurt_channel_t there = p->channels[0], back = p->channels[1];    \
        uint32_t blocks = gpurt_grid_blocks(), block = gpurt_block_x();   \
        type m = {0};                                                     \
                                                                          \
        if (gpurt_thread_rank() > 0 || (block > 0 && block + 1 < blocks)) \
            return;                                                       \
        for (uint32_t i = 0; i < BENCH_PINGS; i++) {                      \
            uint64_t begin = gpurt_clock();                               \
                                                                          \
            m first_word = i;                                             \
            if (block == 0) {                                             \
                (void)gpurt_channel_send(&there, &m);                     \
                (void)gpurt_channel_receive(&back, &m);                   \
                p->cycles[i] = gpurt_clock() - begin;                     \
                *p->sum += m first_word != i + 1;                         \
            } else {                                                      \
                (void)gpurt_channel_receive(&there, &m);                  \
                m first_word = m first_word + 1;                          \
                (void)gpurt_channel_send(&back, &m);                      \
            }                                                             \
        }                                                                 \
    }
BENCH_PING(ping_word, bench_word_t, .value)
BENCH_PING(ping_note, bench_note_t, .words[0])

/* The floor: a flag each way. */
GPURT_KERNEL(bench_channel_ping_flag, struct bench_channel_args, p)
{
    uint32_t blocks = gpurt_grid_blocks(), block = gpurt_block_x();
    uint64_t *there = &p->tickets->xin, *back = &p->tickets->xout;

    if (gpurt_thread_rank() > 0 || (block > 0 && block + 1 < blocks))
        return;
    for (uint64_t i = 1; i <= BENCH_PINGS; i++) { /* relaxed: the flag is all there is */
        uint64_t begin = gpurt_clock();

        if (block == 0)
            gpurt_store_relaxed_dev_u64(there, i);
        while (gpurt_load_relaxed_dev_u64(block == 0 ? back : there) < i)
            gpurt_relax();
        if (block > 0)
            gpurt_store_relaxed_dev_u64(back, i);
        else
            p->cycles[i - 1] = gpurt_clock() - begin;
    }
}
