/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_hostchannel.h"

#include <gpurt/device.h>

/* All blocks but the first multiply until that one is through. Returns: whether it is another. */
GPURT_DEV bool bench_hostchannel_busy(const struct bench_hostchannel_args *p)
{
    uint32_t x = gpurt_global_id();

    if (!p->busy || gpurt_block_rank() == 0)
        return gpurt_thread_rank() > 0;
    do {
        for (uint32_t i = 0; i < 4096; i++)
            x = x * 1664525u + (x >> 7);
    } while (!gpurt_load_relaxed_dev_u32(p->xstop)); /* relaxed: nothing goes with it */
    if (x == 1)
        gpurt_red_add_relaxed_dev_u64(p->sums, 0); /* relaxed: so that it is not left out */
    return true;
}

GPURT_DEV void bench_hostchannel_stop(const struct bench_hostchannel_args *p)
{
    gpurt_store_relaxed_dev_u32(p->xstop, 1); /* relaxed: nothing goes with it */
}

GPURT_KERNEL(bench_hostchannel_bare, struct bench_hostchannel_args, p)
{
    if (bench_hostchannel_busy(p))
        return;
    for (uint32_t i = 1; i <= p->rounds; i++) {
        while (gpurt_load_acquire_sys_u32(p->ask) != i)
            gpurt_relax();
        gpurt_store_release_sys_u32(p->answer, i);
    }
    bench_hostchannel_stop(p);
}

GPURT_KERNEL(bench_hostchannel_receive, struct bench_hostchannel_args, p)
{
    uint64_t sum = 0, number;

    if (p->busy && bench_hostchannel_busy(p))
        return;
    while (gpurt_host_receive(&p->commands, &number) == GPURT_OK)
        sum += number;
    gpurt_red_add_relaxed_dev_u64(p->sums, sum); /* relaxed: a sum */
    bench_hostchannel_stop(p);
}

GPURT_KERNEL(bench_hostchannel_receive_large, struct bench_hostchannel_args, p)
{
    struct bench_hostchannel_large large;
    uint64_t sum = 0;

    while (gpurt_host_receive(&p->larges, &large) == GPURT_OK)
        sum += large.words[0] == large.words[15] ? large.words[0] : 0;
    gpurt_red_add_relaxed_dev_u64(p->sums, sum); /* relaxed: a sum */
}

GPURT_KERNEL(bench_hostchannel_answer, struct bench_hostchannel_args, p)
{
    uint64_t number;

    if (gpurt_global_id() > 0)
        return;
    while (gpurt_host_receive(&p->commands, &number) == GPURT_OK) {
        uint64_t begin = gpurt_globaltimer();

        while (gpurt_globaltimer() - begin < p->delay_ns)
            gpurt_relax();
        (void)gpurt_host_send(&p->answers, &number);
    }
    (void)gpurt_host_close(&p->answers);
}

GPURT_KERNEL(bench_hostchannel_send, struct bench_hostchannel_args, p)
{
    for (uint32_t i = 0; i < p->rounds; i++) {
        uint64_t number = (uint64_t)gpurt_global_id() * p->rounds + i;

        (void)gpurt_host_send(&p->answers, &number);
    }
}
