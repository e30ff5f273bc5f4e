/* SPDX-License-Identifier: Apache-2.0 */
/* ticker - a kernel publishes numbers, and each block of another kernel reads all of them. The
 * slowest block is waited for: that is the broadcast's policy.
 *
 *     gpurt-top -- ticker 4000000       key 8: who reads, and how far the slowest is behind */
#include <gpurt/broadcast.h>
#include <gpurt/device.h>

enum {
    LISTENERS = 4,
    THREADS = 64
};

GPURT_BROADCAST(ticks, uint64_t, 256);

/* Written by: any lane. */
struct ticker_sums {
    uint64_t xsum;
    uint32_t xready;
};

struct ticker {
    ticks_t ticks;
    struct ticker_sums *sums;
    uint32_t count;
};

GPURT_KERNEL(speak, struct ticker, p)
{
    while (gpurt_load_relaxed_dev_u32(&p->sums->xready) < LISTENERS)
        gpurt_relax(); /* whoever joins later does not hear what came before */
    for (uint64_t i = gpurt_global_id(); i < p->count; i += THREADS)
        (void)gpurt_publish(&p->ticks, &i);
}

GPURT_KERNEL(listen, struct ticker, p)
{
    uint64_t tick = 0, mine = 0;
    ticks_reader_t reader;

    if (gpurt_thread_rank() > 0 || gpurt_reader_join(&p->ticks, &reader) != GPURT_OK)
        return;
    gpurt_red_add_relaxed_dev_u32(&p->sums->xready, 1); /* relaxed: it has joined */
    while (gpurt_reader_read(&reader, &tick) ==
           GPURT_OK) /* until all was read and it is closed */
        mine += tick;
    (void)gpurt_reader_leave(&reader);
    gpurt_red_add_relaxed_dev_u64(&p->sums->xsum,
                                  mine); /* relaxed: only the total matters */
}

#if !GPURT_ON_CUDA /* host code, compiled once */
#    include <gpurt/broadcasts.h>
#    include <gpurt/gpurt.h>
#    include <stdio.h>
#    include <stdlib.h>

static gpurt_status_t ticker_run(gpurt_t *rt, struct ticker *f, gpurt_error_t *err)
{
    gpurt_launch_t one = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}};
    gpurt_launch_t all = {.grid = {LISTENERS, 1, 1}, .block = {32, 1, 1}};
    gpurt_status_t st;

    if ((st = gpurt_stream_create(rt, &one.stream, err)) != GPURT_OK ||
        (st = gpurt_stream_create(rt, &all.stream, err)) != GPURT_OK ||
        (st = gpurt_launch(rt, &all, listen, f, err)) != GPURT_OK ||
        (st = gpurt_launch(rt, &one, speak, f, err)) != GPURT_OK ||
        (st = gpurt_stream_sync(rt, one.stream, err)) != GPURT_OK ||
        (st = gpurt_broadcast_end(rt, &f->ticks.broadcast, err)) != GPURT_OK)
        return st;
    return gpurt_stream_sync(rt, all.stream, err);
}

int main(int argc, char **argv)
{
    struct ticker f = {.count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 5000};
    struct ticker_sums sums = {0};
    gpurt_error_t err = {0};
    void *memory = NULL;
    gpurt_t *rt;

    if (gpurt_open(NULL, &rt, &err) || gpurt_mem_create(rt, sizeof sums, &memory, &err) ||
        gpurt_fill(rt, 0, memory, 0, sizeof sums, &err) || gpurt_stream_sync(rt, 0, &err) ||
        gpurt_make_broadcast(rt, &f.ticks, NULL, &err) ||
        (f.sums = (struct ticker_sums *)memory, ticker_run(rt, &f, &err)) ||
        gpurt_copy(rt, 0, &sums, memory, sizeof sums, &err) || gpurt_sync(rt, &err) ||
        gpurt_broadcast_destroy(rt, &f.ticks.broadcast, &err))
        return fprintf(stderr, "ticker: %s\n", err.text), 1;
    gpurt_mem_destroy(rt, memory);
    printf("ticker: %d listeners heard numbers that sum up to %llu\n", LISTENERS,
           (unsigned long long)sums.xsum);
    return gpurt_close(rt, &err) == GPURT_OK &&
                   sums.xsum == LISTENERS * ((uint64_t)f.count * (f.count - 1) / 2)
               ? 0
               : 1;
}
#endif
