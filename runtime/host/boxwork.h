/* SPDX-License-Identifier: Apache-2.0 */
/* boxwork.h - tells a drainer whether kernels may be running. With nothing to do it sleeps
 * for long, and a launch wakes it. Costs a launch one addition. */
#ifndef GPURT_HOST_BOXWORK_H
#define GPURT_HOST_BOXWORK_H

#include <gpurt/box.h>

/* NULL while there is no box. Written while no call is inside the runtime. */
extern gpurt_box_t *gpurt_boxwork;

/* Wakes the drainer that sleeps. */
void gpurt_boxwork_wake(void);

/* Before a launch. */
static inline void gpurt_boxwork_begin(void)
{
    if (!gpurt_boxwork)
        return;
    /* relaxed: a drainer that misses it for a moment sleeps 20 ms at most */
    gpurt_add_relaxed_sys_u32(&gpurt_boxwork->xwork, 1);
    if (GPURT_UNLIKELY(
            gpurt_load_relaxed_sys_u32(&gpurt_boxwork->xasleep))) /* relaxed: as above */
        gpurt_boxwork_wake();
}

/* What has been launched so far, and, when all of that has ended, that it has. */
static inline uint32_t gpurt_boxwork_count(void)
{
    /* relaxed: launches that this thread did not see come later */
    return gpurt_boxwork ? gpurt_load_relaxed_sys_u32(&gpurt_boxwork->xwork) : 0;
}
static inline void gpurt_boxwork_ended(uint32_t count)
{
    if (gpurt_boxwork) /* relaxed: a hint */
        gpurt_store_relaxed_sys_u32(&gpurt_boxwork->xended, count);
}

#endif
