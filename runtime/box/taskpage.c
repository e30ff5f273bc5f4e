/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "taskpage.h"

#include <gpurt/atomic.h>

uint32_t gpurt_taskpage_begin(gpurt_taskpage_t *page, const gpurt_taskwait_t *wait)
{
    return gpurt_waitentry_begin(page->waits, GPURT_TASKPAGE_WAITS, wait);
}

void gpurt_taskpage_end(gpurt_taskpage_t *page, uint32_t entry)
{
    gpurt_waitentry_end(page->waits, entry);
}

void gpurt_taskpage_left(gpurt_taskpage_t *page, uint32_t more)
{
    gpurt_red_add_relaxed_sys_u32(&page->xleft_out, more); /* relaxed: a number */
}

bool gpurt_taskpage_wait(const gpurt_taskpage_t *page, uint32_t index,
                         gpurt_taskwait_t *out)
{
    if (!gpurt_waitentry_read(&page->waits[index], out))
        return false;
    out->name[sizeof out->name - 1] = '\0';
    return out->why < GPURT_TASKWAIT_WHYS;
}

uint32_t gpurt_taskpage_left_out(const gpurt_taskpage_t *page)
{
    return gpurt_load_relaxed_sys_u32(&page->xleft_out); /* relaxed: as above */
}

/* TW2: who sees the time of a look sees no wait that the look has ended. */
void gpurt_taskpage_looked(gpurt_taskpage_t *page, uint32_t executor, uint64_t real_ns)
{
    gpurt_store_release_sys_u64(&page->xlooked[executor % GPURT_TASKPAGE_LOOKS],
                                real_ns); /* TW2.rel */
}

uint64_t gpurt_taskpage_look_of(const gpurt_taskpage_t *page, uint32_t executor)
{
    return gpurt_load_acquire_sys_u64(
        &page->xlooked[executor % GPURT_TASKPAGE_LOOKS]); /* TW2.acq */
}
