/* SPDX-License-Identifier: Apache-2.0 */
/* boxwork.h - tells a drainer whether kernels may be running. With nothing to do it sleeps
 * for long, and a launch wakes it. Costs a launch one addition. */
#ifndef GPURT_HOST_BOXWORK_H
#define GPURT_HOST_BOXWORK_H

#include <gpurt/impl/box.h>

/* box, below: of the device; NULL, it has none. */

/* Wakes the drainer that sleeps. */
void gpurt_boxwork_wake(gpurt_box_t *box);

/* Before a launch. */
static inline void gpurt_boxwork_begin(gpurt_box_t *box)
{
    if (!box)
        return;
    /* relaxed: a drainer that misses it for a moment sleeps 20 ms at most */
    gpurt_add_relaxed_sys_u32(&box->xwork, 1);
    if (GPURT_UNLIKELY(gpurt_load_relaxed_sys_u32(&box->xasleep))) /* relaxed: as above */
        gpurt_boxwork_wake(box);
}

/* What has been launched so far, and, when all of that has ended, that it has. */
static inline uint32_t gpurt_boxwork_count(const gpurt_box_t *box)
{
    /* relaxed: launches that this thread did not see come later */
    return box ? gpurt_load_relaxed_sys_u32(&box->xwork) : 0;
}
static inline void gpurt_boxwork_ended(gpurt_box_t *box, uint32_t count)
{
    if (box) /* relaxed: a hint */
        gpurt_store_relaxed_sys_u32(&box->xended, count);
}

#endif
