/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_drain.h"

#include <gpurt/device.h>
#include <gpurt/log.h>
#include <gpurt/panic.h>

/* Lane 0 of each block says something every so often, or all lanes all the time. */
GPURT_KERNEL(bench_ping, struct bench_ping_args, p)
{
    uint64_t next = gpurt_globaltimer();
    uint32_t number = 0;

    if (p->every_ns && gpurt_thread_x() != 0)
        return;
    while (gpurt_globaltimer() < p->until_ns) {
        if (gpurt_globaltimer() < next) {
            gpurt_relax();
            continue;
        }
        next += p->every_ns;
        if (p->every_ns)
            GPURT_WARN("ping %u", number++);
        else
            GPURT_INFO("storm %u of %u", number++, gpurt_thread_x());
        gpurt_relax();
    }
}

GPURT_KERNEL(bench_panic, struct bench_ping_args, p)
{
    if (gpurt_thread_x() == 0)
        GPURT_PANIC("every %u", (uint32_t)p->every_ns);
}

/* Computes, and says nothing. */
GPURT_KERNEL(bench_compute, struct bench_ping_args, p)
{
    float x = (float)gpurt_thread_x();

    while (gpurt_globaltimer() < p->until_ns) {
        for (uint32_t i = 0; i < 4096; i++)
            x = x * 0.999f + 1.0f;
        gpurt_relax();
    }
    GPURT_ASSERT(x >= 0.0f);
}
