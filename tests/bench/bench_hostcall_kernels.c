/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_hostcall.h"

#include <gpurt/device.h>

GPURT_KERNEL(bench_hostcall_calls, struct bench_hostcall_args, p)
{
    const uint32_t thread = gpurt_global_id();

    for (uint32_t i = 0; i < p->rounds; i++) {
        uint32_t ask = thread + i, got = 0;
        uint64_t begin = gpurt_globaltimer();

        if (gpurt_host_call(&p->calls, bench_add, &ask, &got) != GPURT_OK || got != ask + 1)
            gpurt_red_add_relaxed_dev_u32(p->wrong, 1); /* relaxed: a count */
        if (thread == 0)
            p->ns[i] = (uint32_t)(gpurt_globaltimer() - begin);
    }
}

GPURT_KERNEL(bench_hostcall_bare, struct bench_hostcall_args, p)
{
    if (gpurt_global_id() > 0)
        return;
    for (uint32_t i = 0; i < p->rounds; i++) {
        uint64_t begin = gpurt_globaltimer();

        gpurt_store_release_sys_u32(p->ask, i + 1);
        while (gpurt_load_acquire_sys_u32(p->answer) != i + 1)
            gpurt_relax();
        p->ns[i] = (uint32_t)(gpurt_globaltimer() - begin);
    }
}
