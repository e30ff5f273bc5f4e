/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "threadpage.h"

#include <gpurt/atomic.h>

#include <string.h>

enum {
    SECTION_BITS = 8
};

/* ---- waits ------------------------------------------------------------------------------ */

static void groups_store(gpurt_threadentry_t *e, uint32_t turn,
                         const gpurt_threadwait_t *wait)
{
    for (uint32_t i = 0; i < GPURT_THREADWAIT_GROUPS; i++) {
        gpurt_group_t group = {.tag = turn};

        memcpy(group.word, (const char *)wait + i * sizeof group.word, sizeof group.word);
        gpurt_group_store(&e->xgroups[i], group);
    }
}

uint32_t gpurt_threadpage_begin(gpurt_threadpage_t *page, const gpurt_threadwait_t *wait)
{
    for (uint32_t i = 0; i < GPURT_THREADPAGE_WAITS; i++) {
        gpurt_threadentry_t *e = &page->waits[i];
        uint32_t turn = gpurt_load_relaxed_sys_u32(&e->xturn); /* relaxed: a hint */

        if (turn % 2 == 1 ||
            !gpurt_cas_acquire_sys_u32(&e->xturn, &turn, turn + 1)) /* TW1.acq */
            continue;
        groups_store(e, turn + 1, wait);
        return i + 1;
    }
    return 0;
}

void gpurt_threadpage_end(gpurt_threadpage_t *page, uint32_t entry)
{
    gpurt_threadentry_t *e;

    if (!entry)
        return;
    e = &page->waits[entry - 1];
    /* relaxed: its own turn */
    gpurt_store_release_sys_u32(&e->xturn,
                                gpurt_load_relaxed_sys_u32(&e->xturn) + 1); /* TW1.rel */
}

bool gpurt_threadpage_wait(const gpurt_threadpage_t *page, uint32_t index,
                           gpurt_threadwait_t *out)
{
    const gpurt_threadentry_t *e = &page->waits[index];
    uint32_t turn = gpurt_load_relaxed_sys_u32(&e->xturn); /* relaxed: groups bear it */

    if (turn % 2 == 0)
        return false;
    for (uint32_t i = 0; i < GPURT_THREADWAIT_GROUPS; i++) {
        gpurt_group_t group = gpurt_group_load(&e->xgroups[i]);

        if (group.tag != turn)
            return false; /* it has begun this moment, or ended */
        memcpy((char *)out + i * sizeof group.word, group.word, sizeof group.word);
    }
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
