/* SPDX-License-Identifier: Apache-2.0 */
#include "fork_kernels.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>
#include <gpurt/log.h>
#include <gpurt/panic.h>
#include <gpurt/unwind.h>

GPURT_KERNEL(fork_work, struct fork_args, p)
{
    uint32_t i = gpurt_global_id();
    uint32_t *object = (uint32_t *)gpurt_alloc(sizeof *object);

    if (object) {
        gpurt_add_relaxed_sys_u32(p->xserved, 1); /* relaxed: a count */
        *object = i * p->factor;
    }
    p->out[i] = object ? *object : i * p->factor;
    gpurt_free(object);
    for (uint32_t k = 0; k < p->says; k++)
        GPURT_LOG_BLOCK(GPURT_LEVEL_INFO, "factor %u, message %u", p->factor, k);
}

GPURT_KERNEL_GUARDED(fork_guarded, struct fork_args, p)
{
    p->out[gpurt_global_id()] = gpurt_global_id() * p->factor;
}

GPURT_KERNEL(fork_last, struct fork_args, p)
{
    gpurt_add_relaxed_sys_u32(p->xbegun, 1);    /* relaxed: a count */
    while (!gpurt_load_relaxed_sys_u32(p->xgo)) /* relaxed: a flag alone */
        gpurt_relax();
}

GPURT_KERNEL(fork_raise, struct fork_args, p)
{
    GPURT_ASSERT(gpurt_block_x() != 0 || p->factor == 0);
}

GPURT_KERNEL(fork_fault, struct fork_args, p)
{
    p->out[gpurt_global_id()] = 1;
}
