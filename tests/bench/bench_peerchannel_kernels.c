/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_peerchannel.h"

#include <gpurt/device.h>

GPURT_DEV void bench_peer_store(const struct bench_peer_args *p, uint32_t i)
{
    if (p->ordered)
        gpurt_store_release_sys_u32(p->xtheirs, i);
    else
        gpurt_store_relaxed_sys_u32(p->xtheirs, i);
}

GPURT_DEV void bench_peer_await(const struct bench_peer_args *p, uint32_t i)
{
    if (p->ordered)
        while (gpurt_load_acquire_sys_u32(p->xmine) != i)
            ;
    else
        while (gpurt_load_relaxed_sys_u32(p->xmine) != i)
            ;
}

GPURT_KERNEL(bench_peer_bare, struct bench_peer_args, p)
{
    const uint64_t start = gpurt_globaltimer();

    if (gpurt_global_id() > 0)
        return;
    for (uint32_t i = 1; i <= p->rounds; i++) {
        const uint64_t begin = gpurt_clock();

        if (p->first)
            bench_peer_store(p, i);
        bench_peer_await(p, i);
        if (!p->first)
            bench_peer_store(p, i);
        p->cycles[i - 1] = gpurt_clock() - begin;
    }
    *p->took_ns = gpurt_globaltimer() - start;
}

GPURT_KERNEL(bench_peer_trip, struct bench_peer_args, p)
{
    const uint64_t start = gpurt_globaltimer();
    uint64_t sum = 0;

    if (gpurt_global_id() > 0)
        return;
    for (uint64_t i = 0; i < p->rounds; i++) {
        const uint64_t begin = gpurt_clock();
        uint64_t came = 0;

        if (p->first)
            (void)gpurt_peer_send(&p->numbers_out[0], &i);
        sum += gpurt_peer_receive(&p->numbers_in[0], &came) == GPURT_OK && came == i;
        if (!p->first)
            (void)gpurt_peer_send(&p->numbers_out[0], &came);
        p->cycles[i] = gpurt_clock() - begin;
    }
    *p->took_ns = gpurt_globaltimer() - start;
    p->sums[0] = sum;
}

GPURT_KERNEL(bench_peer_trip_line, struct bench_peer_args, p)
{
    const uint64_t start = gpurt_globaltimer();
    struct bench_peer_line line = {{0}};
    uint64_t sum = 0;

    if (gpurt_global_id() > 0)
        return;
    for (uint32_t i = 0; i < p->rounds; i++) {
        const uint64_t begin = gpurt_clock();

        if (p->first) {
            line.words[0] = line.words[11] = i;
            (void)gpurt_peer_send(&p->lines_out, &line);
        }
        sum += gpurt_peer_receive(&p->lines_in, &line) == GPURT_OK && line.words[0] == i &&
               line.words[11] == i;
        if (!p->first)
            (void)gpurt_peer_send(&p->lines_out, &line);
        p->cycles[i] = gpurt_clock() - begin;
    }
    *p->took_ns = gpurt_globaltimer() - start;
    p->sums[0] = sum;
}

/* ---- rates ------------------------------------------------------------------------------ */

GPURT_DEV uint32_t bench_peer_channel(uint32_t channels)
{
    return gpurt_global_id() / GPURT_WARP_SIZE % channels;
}

GPURT_KERNEL(bench_peer_send, struct bench_peer_args, p)
{
    const bench_numbers_out_t *c = &p->numbers_out[bench_peer_channel(p->channels)];

    for (uint32_t i = 0; i < p->rounds; i++) {
        const uint64_t number = (uint64_t)gpurt_global_id() * p->rounds + i;

        (void)gpurt_peer_send(c, &number);
    }
}

GPURT_KERNEL(bench_peer_take, struct bench_peer_args, p)
{
    const bench_numbers_in_t *c = &p->numbers_in[bench_peer_channel(p->channels)];
    uint64_t sum = 0, count = 0, number;

    while (gpurt_peer_receive(c, &number) == GPURT_OK) {
        sum += number;
        count++;
    }
    gpurt_red_add_relaxed_dev_u64(&p->sums[0], sum); /* relaxed: sums */
    gpurt_red_add_relaxed_dev_u64(&p->sums[1], count);
}

GPURT_KERNEL(bench_page_send, struct bench_page_args, p)
{
    const bench_pages_out_t *c = &p->out[bench_peer_channel(p->channels)];
    struct bench_peer_page *page = &p->pages[gpurt_global_id()];

    for (uint32_t i = 0; i < p->rounds; i++) {
        page->words[0] = page->words[BENCH_PEER_PAGE / 4 - 1] = i;
        (void)gpurt_peer_send(c, page);
    }
}

GPURT_KERNEL(bench_page_take, struct bench_page_args, p)
{
    const bench_pages_in_t *c = &p->in[bench_peer_channel(p->channels)];
    struct bench_peer_page *page = &p->pages[gpurt_global_id()];
    uint64_t sum = 0, count = 0;

    while (gpurt_peer_receive(c, page) == GPURT_OK) {
        const uint32_t last = page->words[BENCH_PEER_PAGE / 4 - 1];

        sum += page->words[0] == last ? last : UINT32_MAX;
        count++;
    }
    gpurt_red_add_relaxed_dev_u64(&p->sums[0], sum); /* relaxed: sums */
    gpurt_red_add_relaxed_dev_u64(&p->sums[1], count);
}

GPURT_KERNEL(bench_page_copy, struct bench_page_args, p)
{
    const gpurt_u128_t *from = (const gpurt_u128_t *)(const void *)p->pages;
    gpurt_u128_t *to = (gpurt_u128_t *)(void *)p->there;
    const uint32_t all = gpurt_grid_blocks() * gpurt_block_threads();
    const uint32_t units = p->count * (BENCH_PEER_PAGE / 16);

    for (uint32_t round = 0; round < p->rounds; round++)
        for (uint32_t i = gpurt_global_id(); i < units; i += all)
            to[i] = from[i];
}
