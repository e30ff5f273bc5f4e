/* SPDX-License-Identifier: Apache-2.0 */
/* taskgroup.h - groups of tasks with a quota: the share of the time of an executor's warps that their
 * bodies take at most.
 *
 * A group has one word, xuntil: the time for which its share is used up. A body that took t moves it
 * on by t / share, from now at least. While it is at most xburst ahead of now, tasks of the group run. Else a warp that takes one up puts it into the group's ring. A block that looks at
 * the device's words brings tasks back from there when their time has come; one that sleeps wakes for
 * that. So nobody refills anything.
 *
 * Bodies are charged when their batch has ended, so a group can pass its share by one batch of each
 * warp, and pays for that later.
 * relaxed, all of it: numbers; tasks come by a ring.
 * Context: device code. Nothing here is a safe point. */
#ifndef GPURT_TASKGROUP_H
#define GPURT_TASKGROUP_H

#include <gpurt/clock.h>

#include <gpurt/impl/task/taskmap.h>

enum {
    GPURT_GROUP_COST_BITS = 24
};

GPURT_DEV gpurt_taskring_t gpurt_group_ring(const gpurt_executor_map_t *m, uint32_t group)
{
    uint32_t i = GPURT_RING_GROUPS + group - 1;
    gpurt_taskring_t r = gpurt_executor_ring(m, i);

    /* Behind that of the edges, which has a size of its own. */
    r.slots = m->slots + ((size_t)(i - 1) << m->task_shift) + ((size_t)1 << m->edge_shift);
    return r;
}

/* Of a task with these flags. A group that the executor does not have is none. */
GPURT_DEV uint32_t gpurt_group_of(const gpurt_executor_map_t *m, uint32_t flags)
{
    uint32_t group = gpurt_task_group(flags);

    return group <= m->groups ? group : 0;
}

/* Returns: nanoseconds until tasks of the group may run; 0: they may. */
GPURT_DEV uint64_t gpurt_group_waits(const gpurt_executor_map_t *m, uint32_t group,
                                     uint64_t now)
{
    const gpurt_task_group_t *g = &m->words->groups[group - 1];
    uint64_t until = gpurt_load_relaxed_dev_u64(&g->xuntil);
    int64_t ahead = (int64_t)(until - now - gpurt_load_relaxed_dev_u64(&g->xburst));

    return ahead > 0 ? (uint64_t)ahead : 0;
}

/* One lane: another quota, and what was used before is forgotten. */
GPURT_DEV void gpurt_group_set(const gpurt_executor_map_t *m, uint32_t group, uint64_t cost,
                               uint64_t burst_ns)
{
    gpurt_task_group_t *g = &m->words->groups[group - 1];

    gpurt_store_relaxed_dev_u64(&g->xcost, cost);
    gpurt_store_relaxed_dev_u64(&g->xburst, burst_ns);
    gpurt_store_relaxed_dev_u64(&g->xuntil, 0);
}

/* One lane: bodies of the group took so long together. */
GPURT_DEVN void gpurt_group_charge(const gpurt_executor_map_t *m, uint32_t group,
                                   uint64_t took_ns)
{
    gpurt_task_group_t *g = &m->words->groups[group - 1];
    uint64_t cost = gpurt_load_relaxed_dev_u64(&g->xcost);
    uint64_t most = UINT32_MAX; /* so that the product below has room */

    gpurt_red_add_relaxed_dev_u64(&g->xused_ns, took_ns);
    if (!cost)
        return;
    took_ns = took_ns < most ? took_ns : most;
    gpurt_red_max_relaxed_dev_u64(&g->xuntil, gpurt_globaltimer());
    gpurt_red_add_relaxed_dev_u64(&g->xuntil, took_ns * cost >> GPURT_GROUP_COST_BITS);
}

/* The whole warp: the tasks of the lanes in `who`, of one group, wait for its time. */
GPURT_DEV void gpurt_group_hold(const gpurt_executor_map_t *m, uint32_t group, uint32_t who,
                                uint32_t index)
{
    gpurt_taskring_t ring = gpurt_group_ring(m, group);

    gpurt_taskring_push(&ring, GPURT_FULL_MASK, who, index);
    if (gpurt_lane() == 0)
        gpurt_red_add_relaxed_dev_u64(&m->words->groups[group - 1].xheld, gpurt_popc(who));
}

/* One lane. Returns: nanoseconds until a task that waits for its group's time may run; UINT64_MAX:
 * none waits. */
GPURT_DEVN uint64_t gpurt_groups_next(const gpurt_executor_map_t *m)
{
    uint64_t next = UINT64_MAX;

    for (uint32_t group = 1; group <= m->groups; group++) {
        uint32_t credits =
            gpurt_load_relaxed_dev_u32(&m->words->xcredits[GPURT_RING_GROUPS + group - 1]);
        uint64_t ns = gpurt_taskring_count(credits)
                          ? gpurt_group_waits(m, group, gpurt_globaltimer())
                          : UINT64_MAX;

        next = ns < next ? ns : next;
    }
    return next;
}

#endif
