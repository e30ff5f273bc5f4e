/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 2
#include "deadlock.h"

#include <gpurt/device.h>

/* Even blocks take the accounts first, odd ones the journal: that goes well as long as no two of them
 * are in between. */
GPURT_KERNEL(transfers, struct deadlock_args, p)
{
    bool even = gpurt_block_rank() % 2 == 0;
    desk_t *d = p->desk;
    gpurt_mutex_t *first = even ? &d->accounts : &d->journal;
    gpurt_mutex_t *second = even ? &d->journal : &d->accounts;

    gpurt_mutex_name(first, even ? "accounts" : "journal", GPURT_WAITABLE_SINGLE);
    if (gpurt_mutex_lock_for(first, p->patience_ns) != GPURT_OK)
        return;
    gpurt_add_relaxed_dev_u32(&d->xinside, 1); /* relaxed, both: a count */
    for (uint32_t i = 0; i < 200000 && gpurt_load_relaxed_dev_u32(&d->xinside) < 2; i++)
        gpurt_relax(); /* until another one has its first lock, too */
    if (gpurt_mutex_lock_for(second, p->patience_ns) == GPURT_OK) {
        d->balance++;
        d->lines++;
        (void)gpurt_mutex_unlock(second);
    }
    (void)gpurt_mutex_unlock(first);
}
