/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "threadpage.h"

#include <gpurt/atomic.h>

enum {
    SECTION_BITS = 8
};

/* ---- waits ------------------------------------------------------------------------------ */

uint32_t gpurt_threadpage_begin(gpurt_threadpage_t *page, const gpurt_threadwait_t *wait)
{
    return gpurt_waitentry_begin(page->waits, GPURT_THREADPAGE_WAITS, wait);
}

void gpurt_threadpage_end(gpurt_threadpage_t *page, uint32_t entry)
{
    gpurt_waitentry_end(page->waits, entry);
}

bool gpurt_threadpage_wait(const gpurt_threadpage_t *page, uint32_t index,
                           gpurt_threadwait_t *out)
{
    if (!gpurt_waitentry_read(&page->waits[index], out))
        return false;
    out->name[sizeof out->name - 1] = '\0';
    out->object[sizeof out->object - 1] = '\0';
    return true;
}

/* ---- users ------------------------------------------------------------------------------ */

void gpurt_threadpage_use(gpurt_threadpage_t *page, uint32_t place,
                          const gpurt_threaduser_t *user)
{
    gpurt_group_t group = {.tag = user->key};

    group.word[0] = user->thread;
    group.word[1] = user->section | user->role << SECTION_BITS;
    group.word[2] = (uint32_t)(user->since_ns >> 16);
    gpurt_group_store(&page->xusers[place], group);
}

bool gpurt_threadpage_user(const gpurt_threadpage_t *page, uint32_t place,
                           gpurt_threaduser_t *out)
{
    gpurt_group_t group = gpurt_group_load(&page->xusers[place]);

    out->key = group.tag;
    out->thread = group.word[0];
    out->section = group.word[1] & ((1u << SECTION_BITS) - 1);
    out->role = group.word[1] >> SECTION_BITS;
    out->since_ns = (uint64_t)group.word[2] << 16;
    return group.tag != 0;
}
