/* SPDX-License-Identifier: Apache-2.0 */
#include "bound_kernels.h"

#include <gpurt/device.h>

GPURT_DEV void bound_seen(uint32_t *row, uint64_t old)
{
    gpurt_add_relaxed_dev_u32(&row[old < BOUND_TOP + 1 ? old : BOUND_TOP + 1], 1);
}

/* relaxed, all of it: the host looks behind the end */
GPURT_KERNEL(bound_storm, struct bound_args, p)
{
    bound_desk_t *d = p->desk;

    for (uint32_t r = 0; r < p->rounds; r++) {
        uint32_t v = 1 + (gpurt_thread_rank() + r) % 9;

        bound_seen(d->xup_seen, gpurt_inc_wrap_relaxed_dev_u32(&d->xup, BOUND_TOP));
        bound_seen(d->xdown_seen, gpurt_dec_wrap_relaxed_dev_u32(&d->xdown, BOUND_TOP));
        bound_seen(d->xup_wide_seen,
                   gpurt_inc_wrap_relaxed_dev_u64(&d->xup_wide, BOUND_TOP));
        bound_seen(d->xdown_wide_seen,
                   gpurt_dec_wrap_relaxed_dev_u64(&d->xdown_wide, BOUND_TOP));
        if (gpurt_add_most_relaxed_dev_u32(&d->xmost, v, BOUND_MOST) + v <= BOUND_MOST)
            gpurt_add_relaxed_dev_u64(&d->xadded, v);
        if (gpurt_add_most_relaxed_dev_u64(&d->xmost_wide, v, BOUND_MOST) + v <= BOUND_MOST)
            gpurt_add_relaxed_dev_u64(&d->xadded_wide, v);
        if (gpurt_sub_least_relaxed_dev_u32(&d->xleast, v, BOUND_LEAST) >= v + BOUND_LEAST)
            gpurt_add_relaxed_dev_u64(&d->xtaken, v);
        if (gpurt_sub_least_relaxed_dev_u64(&d->xleast_wide, v, BOUND_LEAST) >=
            v + BOUND_LEAST)
            gpurt_add_relaxed_dev_u64(&d->xtaken_wide, v);
    }
}
