/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_segring.h"

#include <gpurt/device.h>

/* The first blocks read with a lane each until it is closed, the others write with all lanes. */
GPURT_KERNEL(bench_segring_feed, struct bench_segring_args, p)
{
    uint64_t words[BENCH_RING_MOST / 8], bytes = 0, sum = 0, read = 0;
    int32_t answer = GPURT_OK;

    if (gpurt_block_x() >= p->readers) {
        for (uint32_t i = 1; i <= p->each; i++) {
            for (uint32_t j = 0; j < p->bytes / 8; j++)
                words[j] = i + j;
            if (gpurt_segring_write(&p->ring, words, p->bytes) != GPURT_OK)
                gpurt_red_add_relaxed_dev_u64(&p->sums->xother, 1);
        }
        gpurt_block_barrier();
        if (gpurt_thread_rank() == 0 && /* relaxed: each has committed */
            gpurt_add_relaxed_dev_u32(&p->sums->xdone, 1) + 1 ==
                gpurt_grid_blocks() - p->readers)
            (void)gpurt_segring_close(&p->ring);
        return;
    }
    while (gpurt_thread_rank() == 0 && answer != GPURT_E_CHANNEL_CLOSED) {
        answer = gpurt_segring_read(&p->ring, words, sizeof words, &bytes);
        if (answer == GPURT_OK) {
            sum += words[0];
            read++;
        }
        if (answer == GPURT_E_DAMAGED)
            gpurt_red_add_relaxed_dev_u64(&p->sums->xother, 1);
    }
    gpurt_red_add_relaxed_dev_u64(&p->sums->xsum, sum); /* relaxed: read later */
    gpurt_red_add_relaxed_dev_u64(&p->sums->xread, read);
}

/* The floor of writing: an addition a warp, and the bytes. Nobody waits for anybody. */
GPURT_KERNEL(bench_segring_bare, struct bench_segring_args, p)
{
    const uint32_t lines = (p->bytes + 15) / 16, all = BENCH_RING_BYTES / 16;
    gpurt_u128_t *to = (gpurt_u128_t *)(void *)p->bare, v = {1, 1};

    for (uint32_t i = 0; i < p->each; i++) {
        uint64_t first = 0;

        if (gpurt_lane() == 0) /* relaxed: no segment is checked */
            first = gpurt_add_relaxed_far_u64(&p->sums->xnext, GPURT_WARP_SIZE * lines);
        first = gpurt_shfl_u64(GPURT_FULL_MASK, first, 0) + gpurt_lane() * lines;
        for (uint32_t j = 0; j < lines; j++)
            gpurt_store_relaxed_dev_u128(to + (first + j) % all, v);
    }
}

/* Calls of one lane that wait for nobody. */
GPURT_KERNEL(bench_segring_call, struct bench_segring_args, p)
{
    uint64_t words[BENCH_RING_MOST / 8], bytes = 0;

    if (gpurt_global_id() > 0)
        return;
    for (uint32_t j = 0; j < p->bytes / 8; j++)
        words[j] = j;
    for (uint32_t i = 0; i < BENCH_RING_CALLS; i++) {
        uint64_t begin = gpurt_clock();

        if (gpurt_segring_write(&p->ring, words, p->bytes) == GPURT_OK)
            p->cycles[i] = gpurt_clock() - begin;
    }
    for (uint32_t i = 0; i < BENCH_RING_CALLS; i++) {
        uint64_t begin = gpurt_clock();

        if (gpurt_segring_read(&p->ring, words, sizeof words, &bytes) == GPURT_OK)
            p->cycles[BENCH_RING_CALLS + i] = gpurt_clock() - begin;
        p->sums->xsum += words[0] + bytes;
    }
}

/* Their floor: a compare-exchange that succeeds. */
GPURT_KERNEL(bench_segring_cas, struct bench_segring_args, p)
{
    uint64_t seen = 0;

    for (uint32_t i = 0; gpurt_global_id() == 0 && i < 2 * BENCH_RING_CALLS; i++) {
        uint64_t begin = gpurt_clock();

        /* relaxed: nothing is ordered */
        if (gpurt_cas_relaxed_dev_u64(&p->sums->xnext, &seen, seen + 1))
            p->cycles[i] = gpurt_clock() - begin;
        seen++;
    }
}
