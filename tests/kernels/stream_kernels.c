/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_kernels.h"

#include <gpurt/device.h>

GPURT_DEV void stream_apply(const struct stream_args *p)
{
    uint64_t *mine = &p->data[gpurt_global_id64()];

    *mine = *mine * 31 + p->value;
}

GPURT_KERNEL(stream_step, struct stream_args, p)
{
    stream_apply(p);
}

GPURT_KERNEL(stream_wait, struct stream_args, p)
{
    while (gpurt_load_acquire_sys_u32(p->flag) != p->value)
        gpurt_relax();
    stream_apply(p);
}

GPURT_KERNEL(stream_signal, struct stream_args, p)
{
    if (gpurt_global_id64() == 0)
        gpurt_store_release_sys_u32(p->flag, p->value);
}

GPURT_KERNEL(stream_count, struct stream_args, p)
{
    if (gpurt_thread_rank() == 0)
        gpurt_add_relaxed_dev_u64(p->data, 1); /* read after the stream was waited for */
}

GPURT_KERNEL(stream_trap, struct stream_args, p)
{
    if (gpurt_global_id64() == p->value)
        gpurt_trap();
}
