/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "waitentry.h"

#include <gpurt/atomic.h>

#include <string.h>

static void groups_store(gpurt_waitentry_t *e, uint32_t turn, const char *wait)
{
    for (uint32_t i = 0; i < GPURT_WAITENTRY_GROUPS; i++) {
        gpurt_group_t group = {.tag = turn};

        memcpy(group.word, wait + i * sizeof group.word, sizeof group.word);
        gpurt_group_store(&e->xgroups[i], group);
    }
}

uint32_t gpurt_waitentry_begin(gpurt_waitentry_t *entries, uint32_t count, const void *wait)
{
    for (uint32_t i = 0; i < count; i++) {
        gpurt_waitentry_t *e = &entries[i];
        uint32_t turn = gpurt_load_relaxed_sys_u32(&e->xturn); /* relaxed: a hint */

        if (turn % 2 == 1 ||
            !gpurt_cas_acquire_sys_u32(&e->xturn, &turn, turn + 1)) /* TW1.acq */
            continue;
        groups_store(e, turn + 1, (const char *)wait);
        return i + 1;
    }
    return 0;
}

void gpurt_waitentry_end(gpurt_waitentry_t *entries, uint32_t entry)
{
    gpurt_waitentry_t *e;

    if (!entry)
        return;
    e = &entries[entry - 1];
    /* relaxed: its own turn */
    gpurt_store_release_sys_u32(&e->xturn,
                                gpurt_load_relaxed_sys_u32(&e->xturn) + 1); /* TW1.rel */
}

bool gpurt_waitentry_read(const gpurt_waitentry_t *e, void *out)
{
    uint32_t turn = gpurt_load_relaxed_sys_u32(&e->xturn); /* relaxed: groups bear it */

    if (turn % 2 == 0)
        return false;
    for (uint32_t i = 0; i < GPURT_WAITENTRY_GROUPS; i++) {
        gpurt_group_t group = gpurt_group_load(&e->xgroups[i]);

        if (group.tag != turn)
            return false; /* it has begun this moment, or ended */
        memcpy((char *)out + i * sizeof group.word, group.word, sizeof group.word);
    }
    return true;
}
