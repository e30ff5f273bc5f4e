/* SPDX-License-Identifier: Apache-2.0 */
/* tasklive.h - how many tasks live, and who tells the host that none does.
 *
 * Context: device code. Nothing here is a safe point, so a warp that is cancelled has done each
 * step wholly or not at all. A `mask` names the lanes that call together: a whole warp, or the
 * one lane that cleans up behind one. */
#ifndef GPURT_TASKLIVE_H
#define GPURT_TASKLIVE_H

#include <gpurt/hostword.h>

#include <gpurt/impl/task/taskrun.h>

/* Nothing lives and a drain is asked for: one lane tells the host. */
GPURT_DEV void gpurt_live_tell(const gpurt_executor_map_t *m, uint64_t live)
{
    if ((uint32_t)live == 0 && live >> 32 &&
        gpurt_cas_acq_rel_dev_u64(&m->words->xlive, &live, 0)) /* TL1.acq TL1.rel */
        gpurt_hostword_tell(&m->desk->xquiet, (uint32_t)(live >> 32));
}

GPURT_DEV void gpurt_live_end(const gpurt_executor_map_t *m, uint32_t count)
{
    uint64_t live =
        gpurt_sub_acq_rel_dev_u64(&m->words->xlive, count); /* TL1.acq TL1.rel */

    gpurt_live_tell(m, live - count);
}

GPURT_DEV void gpurt_live_ask(const gpurt_executor_map_t *m, uint32_t drain)
{
    uint64_t live = gpurt_load_relaxed_dev_u64(&m->words->xlive); /* relaxed: exchanged */
    uint64_t asked;

    do
        asked = (uint64_t)drain << 32 | (uint32_t)live;
    while (
        !gpurt_cas_acq_rel_dev_u64(&m->words->xlive, &live, asked)); /* TL1.acq TL1.rel */
    gpurt_live_tell(m, asked);
}

/* One lane: tasks that have ended here live no more. Their makers have counted them before, so the
 * sum of all is never below what lives. */
GPURT_DEV void gpurt_hall_end(const gpurt_executor_map_t *m, gpurt_executor_hall_t *hall)
{
    uint32_t ended = gpurt_load_relaxed_near_u32(&hall->xended); /* relaxed: exchanged */

    if (ended)
        ended = gpurt_xchg_acquire_near_u32(&hall->xended, 0); /* TL2.acq */
    if (ended)
        gpurt_live_end(m, ended);
}

#endif
