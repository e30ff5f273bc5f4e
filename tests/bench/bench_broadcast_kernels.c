/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_broadcast.h"

#include <gpurt/device.h>

/* Block 0 publishes with all its lanes, one lane of each other block reads. */
#define BENCH_FEED(kind, broadcast_name, type, value)                                      \
    GPURT_KERNEL(bench_broadcast_feed_##kind, struct bench_broadcast_args, p)              \
    {                                                                                      \
        broadcast_name##_reader_t r;                                                       \
        int32_t answer = GPURT_OK;                                                         \
        uint64_t mine = 0, left;                                                           \
        type m = {0};                                                                      \
                                                                                           \
        if (gpurt_block_x() == 0) {                                                        \
            while (gpurt_load_relaxed_dev_u32(&p->sums->xready) < gpurt_grid_blocks() - 1) \
                gpurt_relax();                                                             \
            for (uint32_t i = 1; i <= p->each; i++) {                                      \
                value = i;                                                                 \
                (void)gpurt_publish(&p->kind, &m);                                         \
            }                                                                              \
            return;                                                                        \
        }                                                                                  \
        if (gpurt_thread_rank() > 0 || gpurt_reader_join(&p->kind, &r) != GPURT_OK)        \
            return;                                                                        \
        left = r.reader.next + (uint64_t)p->each * gpurt_block_threads();                  \
        gpurt_red_add_relaxed_dev_u32(&p->sums->xready, 1); /* relaxed: a number */        \
        while (r.reader.next < left &&                                                     \
               (answer == GPURT_OK || answer == GPURT_E_DROPPED)) {                        \
            answer = gpurt_reader_read(&r, &m);                                            \
            mine += answer == GPURT_OK ? value : 0;                                        \
        }                                                                                  \
        gpurt_red_add_relaxed_dev_u64(&p->sums->xsum, mine); /* relaxed: read later */     \
        gpurt_red_add_relaxed_dev_u64(&p->sums->xlost, gpurt_reader_lost(&r));             \
        (void)gpurt_reader_leave(&r);                                                      \
    }
BENCH_FEED(word, bench_cast_word, uint64_t, m)
BENCH_FEED(note, bench_cast_notes, bench_cast_note_t, m.words[0])

/* The floor: an addition a warp, and a store of 16 bytes a lane; each reader loads all of them.
 * Nobody waits for anybody. */
GPURT_KERNEL(bench_broadcast_bare, struct bench_broadcast_args, p)
{
    uint64_t all = (uint64_t)p->each * gpurt_block_threads(), mine = 0;
    gpurt_u128_t *ring = (gpurt_u128_t *)(void *)p->ring, v = {1, 1};

    for (uint32_t i = 0; gpurt_block_x() == 0 && i < p->each; i++) {
        uint64_t first = 0;

        if (gpurt_lane() == 0) /* relaxed: no message is checked */
            first = gpurt_add_relaxed_far_u64(&p->sums->xnext, GPURT_WARP_SIZE);
        first = gpurt_shfl_u64(GPURT_FULL_MASK, first, 0) + gpurt_lane();
        gpurt_store_relaxed_dev_u128(ring + first % BENCH_CAST_SLOTS, v);
    }
    for (uint64_t i = 0; gpurt_block_x() > 0 && gpurt_thread_rank() == 0 && i < all; i++)
        mine += gpurt_load_relaxed_dev_u128(ring + i % BENCH_CAST_SLOTS).hi;
    if (mine == 1)
        gpurt_red_add_relaxed_dev_u64(&p->sums->xlost, 1); /* never: keeps the loads */
}

/* Calls of one lane that wait for nobody. */
GPURT_KERNEL(bench_broadcast_call, struct bench_broadcast_args, p)
{
    bench_cast_word_reader_t r;
    uint64_t m = 1;

    if (gpurt_global_id() > 0 || gpurt_reader_join(&p->word, &r) != GPURT_OK)
        return;
    for (uint32_t i = 0; i < BENCH_CAST_CALLS; i++) {
        uint64_t begin = gpurt_clock();

        if (gpurt_publish(&p->word, &m) == GPURT_OK)
            p->cycles[i] = gpurt_clock() - begin;
    }
    for (uint32_t i = 0; i < BENCH_CAST_CALLS; i++) {
        uint64_t begin = gpurt_clock();

        if (gpurt_reader_read(&r, &m) == GPURT_OK)
            p->cycles[BENCH_CAST_CALLS + i] = gpurt_clock() - begin;
        p->sums->xsum += m;
    }
    (void)gpurt_reader_leave(&r);
}

/* Their floors: a compare-exchange that succeeds, and a load. */
GPURT_KERNEL(bench_broadcast_call_bare, struct bench_broadcast_args, p)
{
    uint64_t seen = 0, *word = &p->sums->xnext;

    if (gpurt_global_id() > 0)
        return;
    for (uint32_t i = 0; i < BENCH_CAST_CALLS; i++) { /* relaxed: nothing is ordered */
        uint64_t begin = gpurt_clock();

        if (gpurt_cas_relaxed_dev_u64(word, &seen, seen + 1))
            p->cycles[i] = gpurt_clock() - begin;
        seen++;
    }
    for (uint32_t i = 0; i < BENCH_CAST_CALLS; i++) {
        uint64_t begin = gpurt_clock();

        if (gpurt_load_relaxed_dev_u64(word) < UINT64_MAX / 2)
            p->cycles[BENCH_CAST_CALLS + i] = gpurt_clock() - begin;
    }
}

/* Block 0 and the last one: a message there and one back. */
GPURT_KERNEL(bench_broadcast_ping, struct bench_broadcast_args, p)
{
    bool asks = gpurt_block_x() == 0;
    bench_cast_word_reader_t r;
    uint64_t m = 0;

    if (gpurt_thread_rank() > 0 || (!asks && gpurt_block_x() + 1 < gpurt_grid_blocks()) ||
        gpurt_reader_join(asks ? &p->back : &p->word, &r) != GPURT_OK)
        return;
    gpurt_red_add_relaxed_dev_u32(&p->sums->xready, 1); /* relaxed: a number */
    while (gpurt_load_relaxed_dev_u32(&p->sums->xready) < 2)
        gpurt_relax();
    for (uint32_t i = 0; i < BENCH_CAST_PINGS; i++) {
        uint64_t begin = gpurt_clock();

        if (asks)
            (void)gpurt_publish(&p->word, &m);
        (void)gpurt_reader_read(&r, &m);
        if (!asks)
            (void)gpurt_publish(&p->back, &m);
        else
            p->cycles[i] = gpurt_clock() - begin;
    }
    (void)gpurt_reader_leave(&r);
}

/* A flag each way; relaxed: it is all there is. */
GPURT_KERNEL(bench_broadcast_flag, struct bench_broadcast_args, p)
{
    bool asks = gpurt_block_x() == 0;
    uint64_t *there = p->ring, *back = p->ring + 64;

    if (gpurt_thread_rank() > 0 || (!asks && gpurt_block_x() + 1 < gpurt_grid_blocks()))
        return;
    for (uint64_t i = 1; i <= BENCH_CAST_PINGS; i++) {
        uint64_t begin = gpurt_clock();

        if (asks)
            gpurt_store_relaxed_dev_u64(there, i);
        while (gpurt_load_relaxed_dev_u64(asks ? back : there) < i)
            gpurt_pause_for(0, "flag", "", UINT64_MAX, GPURT_HERE);
        if (!asks)
            gpurt_store_relaxed_dev_u64(back, i);
        else
            p->cycles[i - 1] = gpurt_clock() - begin;
    }
}
