/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_channel.h"

#include <gpurt/device.h>

GPURT_DEV bool bench_takes_part(const struct bench_channel_args *p)
{
    return gpurt_lane() < p->lanes;
}

/* Even warps send, odd ones receive as many. */
#define BENCH_STREAM(name, type, first_word, copy, channel)                         \
    GPURT_KERNEL(bench_channel_##name, struct bench_channel_args, p)                \
    {                                                                               \
        copy;                                                                       \
        const gpurt_channel_t *c = channel;                                         \
        uint64_t mine = 0;                                                          \
        type m = {0};                                                               \
                                                                                    \
        if (!bench_takes_part(p))                                                   \
            return;                                                                 \
        for (uint32_t i = 1; gpurt_warp() % 2 == 0 && i <= p->each; i++) {          \
            m first_word = i;                                                       \
            (void)gpurt_channel_send(c, &m);                                        \
        }                                                                           \
        for (uint32_t i = 1; gpurt_warp() % 2 && i <= p->each; i++)                 \
            if (gpurt_channel_receive(c, &m) == GPURT_OK)                           \
                mine += m first_word;                                               \
        gpurt_red_add_relaxed_dev_u64(p->sum, mine); /* relaxed: read afterwards */ \
    }
BENCH_STREAM(words, bench_word_t, .value, (void)0, &p->one)
BENCH_STREAM(words_by_block, bench_word_t, .value,
             gpurt_channel_t here = p->channels[gpurt_block_x() % p->count], &here)
BENCH_STREAM(messages, bench_message_t, .words[0], (void)0, &p->one)

/* One lane after the other: each draws for itself. */
GPURT_KERNEL(bench_channel_each, struct bench_channel_args, p)
{
    bool sends = gpurt_warp() % 2 == 0;
    uint64_t mine = 0;
    bench_word_t m = {0};

    for (uint32_t i = 0; i < p->each * GPURT_WARP_SIZE; i++) {
        if (i % GPURT_WARP_SIZE == gpurt_lane()) {
            m.value = sends ? i / GPURT_WARP_SIZE + 1 : 0;
            if (sends)
                (void)gpurt_channel_send(&p->one, &m);
            else if (gpurt_channel_receive(&p->one, &m) == GPURT_OK)
                mine += m.value;
        }
        gpurt_syncwarp(GPURT_FULL_MASK);
    }
    gpurt_red_add_relaxed_dev_u64(p->sum, mine);
}

/* Many a call: 8 of 64 bytes. */
GPURT_KERNEL(bench_channel_many, struct bench_channel_args, p)
{
    bench_message_t m[8];
    uint64_t mine = 0;
    uint32_t done = 0;

    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t k = 0; k < 8; k++)
            m[i].words[k] = k;
    for (uint32_t i = 1; gpurt_warp() % 2 == 0 && i <= p->each; i += 8) {
        for (uint32_t k = 0; k < 8; k++)
            m[k].words[0] = i + k;
        (void)gpurt_channel_send_many(&p->one, m, 8, &done);
    }
    for (uint32_t got = 0; gpurt_warp() % 2 && got < p->each;) {
        uint32_t most = p->each - got < 8 ? p->each - got : 8;

        if (gpurt_channel_receive_many(&p->one, m, most, &done) != GPURT_OK)
            break;
        for (uint32_t k = 0; k < done; k++)
            mine += m[k].words[0];
        got += done;
    }
    gpurt_red_add_relaxed_dev_u64(p->sum, mine);
}

/* Pages go out of memory and into it. */
GPURT_KERNEL(bench_channel_pages, struct bench_channel_args, p)
{
    uint64_t half = (uint64_t)gpurt_grid_blocks() * gpurt_block_threads() / 2;
    uint64_t me = (uint64_t)gpurt_block_x() * gpurt_block_threads() / 2 +
                  gpurt_warp() / 2 * GPURT_WARP_SIZE + gpurt_lane();
    uint64_t mine = 0;

    for (uint32_t i = 0; i < p->each; i++) {
        bench_page_t *out = p->from + i * half + me, *in = p->to + i * half + me;

        if (gpurt_warp() % 2 == 0)
            (void)gpurt_channel_send(&p->one, out);
        else if (gpurt_channel_receive(&p->one, in) == GPURT_OK)
            mine += in->words[0] == in->words[511] ? in->words[0] : 0;
    }
    gpurt_red_add_relaxed_dev_u64(p->sum, mine);
}

/* Pages of a whole warp, out of registers and into them. */
GPURT_KERNEL(bench_channel_tiles, struct bench_channel_args, p)
{
    const bench_tiles_t *tiles = (const bench_tiles_t *)(const void *)&p->one;
    bench_part_t part;
    uint64_t mine = 0;

    for (uint32_t i = 1; i <= p->each; i++) {
        uint64_t all = 0;

        for (uint32_t k = 0; k < 16; k++)
            part.words[k] = i + k;
        if (gpurt_warp() % 2 == 0) {
            (void)gpurt_send_warp(tiles, &part);
            continue;
        }
        (void)gpurt_receive_warp(tiles, &part);
        for (uint32_t k = 0; k < 16; k++)
            all |= part.words[k] - part.words[0] - k;
        mine += all ? 0 : part.words[0];
    }
    gpurt_red_add_relaxed_dev_u64(p->sum, mine);
}

GPURT_KERNEL(bench_channel_fill, struct bench_channel_args, p)
{
    uint64_t all = (uint64_t)gpurt_grid_blocks() * gpurt_block_threads();

    for (uint64_t i = gpurt_global_id(); i < p->bytes / sizeof *p->from; i += all)
        p->from[i].words[0] = p->from[i].words[511] = i / (all / 2) + 1;
}

/* The floor: an addition a warp draws the tickets, and each lane stores or loads its 16 bytes.
 * No message waits for another, none is checked. */
GPURT_KERNEL(bench_channel_tickets, struct bench_channel_args, p)
{
    bench_tickets_t *t = &p->tickets[gpurt_block_x() % p->count];
    uint64_t *ring = p->ring + (size_t)(gpurt_block_x() % p->count) * p->slots * 2;
    uint32_t lanes = p->lanes < GPURT_WARP_SIZE ? (1u << p->lanes) - 1 : GPURT_FULL_MASK;
    bool sends = gpurt_warp() % 2 == 0;
    uint64_t mine = 0, at = 0, *word = sends ? &t->xin : &t->xin + p->apart;

    if (!bench_takes_part(p))
        return;
    for (uint32_t i = 1; i <= p->each; i++) {
        gpurt_u128_t *slot, line = {i, i};

        if (gpurt_lane() == 0) /* relaxed: nothing is ordered */
            at = gpurt_add_relaxed_far_u64(word, p->lanes);
        at = gpurt_shfl_u64(lanes, at, 0) + gpurt_lane();
        slot = (gpurt_u128_t *)(void *)(ring + (at & (p->slots - 1)) * 2);
        if (sends)
            gpurt_store_relaxed_dev_u128(slot, line);
        else
            mine += gpurt_load_relaxed_dev_u128(slot).lo > p->each;
        at -= gpurt_lane();
    }
    gpurt_red_add_relaxed_dev_u64(p->sum, mine);
}

/* The same, an addition for each lane, one after the other. */
GPURT_KERNEL(bench_channel_tickets_each, struct bench_channel_args, p)
{
    bool sends = gpurt_warp() % 2 == 0;
    uint64_t mine = 0, *word = sends ? &p->tickets->xin : &p->tickets->xout;

    for (uint32_t i = 0; i < p->each * GPURT_WARP_SIZE; i++) {
        if (i % GPURT_WARP_SIZE == gpurt_lane()) { /* relaxed, all: nothing is ordered */
            uint64_t at = gpurt_add_relaxed_far_u64(word, 1);
            gpurt_u128_t line = {i, i}, *slot;

            slot = (gpurt_u128_t *)(void *)(p->ring + (at & (p->slots - 1)) * 2);
            if (sends)
                gpurt_store_relaxed_dev_u128(slot, line);
            else
                mine += gpurt_load_relaxed_dev_u128(slot).lo > p->each * GPURT_WARP_SIZE;
        }
        gpurt_syncwarp(GPURT_FULL_MASK);
    }
    gpurt_red_add_relaxed_dev_u64(p->sum, mine);
}

/* The floor of bytes: as many as all messages have, out of memory and into it, 16 a lane. */
GPURT_KERNEL(bench_channel_copy, struct bench_channel_args, p)
{
    uint64_t lanes = (uint64_t)gpurt_grid_blocks() * gpurt_block_threads();
    uint64_t units = p->bytes / sizeof(gpurt_u128_t);
    const gpurt_u128_t *from = (const gpurt_u128_t *)(const void *)p->from;
    gpurt_u128_t *to = (gpurt_u128_t *)(void *)p->to;

    for (uint64_t i = gpurt_global_id(); i < units; i += 4 * lanes) {
        gpurt_u128_t v[4];

        for (uint32_t k = 0; k < 4; k++)
            if (i + k * lanes < units)
                v[k] = from[i + k * lanes];
        for (uint32_t k = 0; k < 4; k++)
            if (i + k * lanes < units)
                to[i + k * lanes] = v[k];
    }
}

/* ---- from one multiprocessor to another and back ---------------------------------------- */

#define BENCH_PING(name, type, first_word, send, receive, there, answer)  \
    GPURT_KERNEL(bench_channel_##name, struct bench_channel_args, p)      \
    {                                                                     \
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
                (void)send(&p->there, &m);                                \
                (void)receive(&p->answer, &m);                            \
                p->cycles[i] = gpurt_clock() - begin;                     \
                *p->sum += m first_word != i + 1;                         \
            } else {                                                      \
                (void)receive(&p->there, &m);                             \
                m first_word = m first_word + 1;                          \
                (void)send(&p->answer, &m);                               \
            }                                                             \
        }                                                                 \
    }
BENCH_PING(ping_word, bench_word_t, .value, gpurt_channel_send, gpurt_channel_receive, one,
           back)
BENCH_PING(ping_note, bench_note_t, .words[0], gpurt_channel_send, gpurt_channel_receive,
           one, back)
BENCH_PING(pair_word, bench_word_t, .value, gpurt_send, gpurt_receive, word, word_back)
BENCH_PING(pair_note, bench_note_t, .words[0], gpurt_send, gpurt_receive, note, note_back)

/* The floor: a flag each way, looked at without a pause. */
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
            gpurt_pause_for(0, "flag", "", UINT64_MAX, GPURT_HERE);
        if (block > 0)
            gpurt_store_relaxed_dev_u64(back, i);
        else
            p->cycles[i - 1] = gpurt_clock() - begin;
    }
}

/* The same with 48 bytes: four lines, a flag in each. */
GPURT_KERNEL(bench_channel_ping_lines, struct bench_channel_args, p)
{
    uint32_t blocks = gpurt_grid_blocks(), block = gpurt_block_x();
    gpurt_u128_t *there = (gpurt_u128_t *)(void *)p->ring, *back = there + 64;
    gpurt_u128_t *out = block == 0 ? there : back, *in = block == 0 ? back : there;

    if (gpurt_thread_rank() > 0 || (block > 0 && block + 1 < blocks))
        return;
    for (uint64_t i = 1; i <= BENCH_PINGS; i++) { /* relaxed: as above */
        uint64_t begin = gpurt_clock(), all = 0;
        gpurt_u128_t line = {i, i};

        for (uint32_t k = 0; block == 0 && k < 4; k++)
            gpurt_store_relaxed_dev_u128(out + k, line);
        while (all != 4) {
            all = 0;
            for (uint32_t k = 0; k < 4; k++)
                all += gpurt_load_relaxed_dev_u128(in + k).lo == i;
            gpurt_pause_for(0, "flag", "", UINT64_MAX, GPURT_HERE);
        }
        for (uint32_t k = 0; block > 0 && k < 4; k++)
            gpurt_store_relaxed_dev_u128(out + k, line);
        if (block == 0)
            p->cycles[i - 1] = gpurt_clock() - begin;
    }
}

/* ---- the parts of a hop: calls of one lane that wait for nobody --------------------------- */

/* BENCH_CALLS messages are sent, then received: cycles of each call, until its answer is known. */
#define BENCH_CALL(name, send, receive, channel)                          \
    GPURT_KERNEL(bench_channel_##name, struct bench_channel_args, p)      \
    {                                                                     \
        uint64_t *sends = p->cycles, *receives = p->cycles + BENCH_CALLS; \
        bench_word_t m = {0};                                             \
                                                                          \
        if (gpurt_global_id() > 0)                                        \
            return;                                                       \
        for (uint32_t i = 0; i < BENCH_CALLS; i++) {                      \
            uint64_t begin = gpurt_clock();                               \
                                                                          \
            m.value = i;                                                  \
            if (send(&p->channel, &m) == GPURT_OK)                        \
                sends[i] = gpurt_clock() - begin;                         \
        }                                                                 \
        for (uint32_t i = 0; i < BENCH_CALLS; i++) {                      \
            uint64_t begin = gpurt_clock();                               \
                                                                          \
            if (receive(&p->channel, &m) == GPURT_OK && m.value == i)     \
                receives[i] = gpurt_clock() - begin;                      \
            else                                                          \
                *p->sum += 1;                                             \
        }                                                                 \
    }
BENCH_CALL(call_word, gpurt_channel_send, gpurt_channel_receive, one)
BENCH_CALL(call_pair, gpurt_send, gpurt_receive, word)

/* Their floors: an addition whose answer is waited for, and a load. */
GPURT_KERNEL(bench_channel_call_bare, struct bench_channel_args, p)
{
    uint64_t *word = &p->tickets->xin;

    if (gpurt_global_id() > 0)
        return;
    for (uint32_t i = 0; i < BENCH_CALLS; i++) { /* relaxed: nothing is ordered */
        uint64_t begin = gpurt_clock();

        if (gpurt_add_relaxed_far_u64(word, 1) < UINT64_MAX / 2)
            p->cycles[i] = gpurt_clock() - begin;
    }
    for (uint32_t i = 0; i < BENCH_CALLS; i++) {
        uint64_t begin = gpurt_clock();

        if (gpurt_load_relaxed_dev_u64(word) < UINT64_MAX / 2)
            p->cycles[BENCH_CALLS + i] = gpurt_clock() - begin;
    }
}
