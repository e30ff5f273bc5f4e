/* SPDX-License-Identifier: Apache-2.0 */
/* taskseen.h - what is seen of tasks: how long they wait, and what bodies of each kind take.
 *
 * How long tasks wait, and from where to where they go, is told by one row of GPURT_TASK_SAMPLED; bodies are counted by kind in shared
 * memory, and told some eight times a millisecond, and when a warp idles. relaxed, all of it: numbers.
 *
 * Context: device code. Nothing here is a safe point, so a warp that is cancelled has done each
 * step wholly or not at all. A `mask` names the lanes that call together: a whole warp, or the
 * one lane that cleans up behind one. */
#ifndef GPURT_TASKSEEN_H
#define GPURT_TASKSEEN_H

#include <gpurt/impl/task/taskrun.h>

enum {
    GPURT_QUEUED_NS_BITS = 45, /* of a time: nine hours, of which differences are taken */
    GPURT_QUEUED_SM_BITS = 12,
    GPURT_QUEUED_SLOT = GPURT_QUEUED_NS_BITS + GPURT_QUEUED_SM_BITS
};

/* When a task was queued, on which multiprocessor and in which slot of that; not 0. */
GPURT_HD uint64_t gpurt_queued_word(uint64_t ns, uint32_t sm, uint32_t slot)
{
    return ns << (64 - GPURT_QUEUED_NS_BITS) >> (64 - GPURT_QUEUED_NS_BITS) |
           (uint64_t)(sm + 1) << GPURT_QUEUED_NS_BITS | (uint64_t)slot << GPURT_QUEUED_SLOT;
}
GPURT_HD uint32_t gpurt_queued_sm(uint64_t word)
{
    return (uint32_t)(word >> GPURT_QUEUED_NS_BITS & ((1u << GPURT_QUEUED_SM_BITS) - 1)) -
           1;
}
GPURT_HD uint32_t gpurt_queued_slot(uint64_t word)
{
    return (uint32_t)(word >> GPURT_QUEUED_SLOT);
}
GPURT_HD uint64_t gpurt_queued_since(uint64_t word, uint64_t now)
{
    uint64_t since =
        (now - word) << (64 - GPURT_QUEUED_NS_BITS) >> (64 - GPURT_QUEUED_NS_BITS);

    return since >> (GPURT_QUEUED_NS_BITS - 1) ? 0 : since; /* clocks differ a little */
}

/* Where it is noted when a task was queued; NULL: of this row it is not. */
GPURT_DEV uint64_t *gpurt_queued_at(const gpurt_executor_map_t *m, uint32_t index)
{
    uint32_t shift = m->queued_shift;

    return index & ((1u << shift) - 1) ? NULL : &m->queued[index >> shift];
}

/* A lane, before its task goes into a queue. */
GPURT_DEV void gpurt_queued_begin(const gpurt_executor_map_t *m, uint32_t index)
{
    uint64_t *at = gpurt_queued_at(m, index);

    if (at) /* relaxed: the queue brings it along */
        gpurt_store_relaxed_dev_u64(
            at, gpurt_queued_word(gpurt_globaltimer(), gpurt_sm(), gpurt_warp_slot()));
}

/* A lane: its warp runs the task at once, from no queue. relaxed: its own */
GPURT_DEV void gpurt_queued_not(const gpurt_executor_map_t *m, uint32_t index)
{
    uint64_t *at = gpurt_queued_at(m, index);

    if (at)
        gpurt_store_relaxed_dev_u64(at, 0);
}

/* Who made it ready; 0: the host. relaxed: the queue, or who ends its last child, brings it along */
GPURT_DEV void gpurt_cause_put(const gpurt_executor_map_t *m, uint32_t index,
                               gpurt_task_t task)
{
    if (m->causes)
        gpurt_store_relaxed_dev_u64(&m->causes[index], task);
}

/* It went from one multiprocessor to another. */
GPURT_DEV void gpurt_moved_count(const gpurt_task_run_t *run, uint32_t from, uint32_t to)
{
    if (from == to || from >= run->map->sms || to >= run->map->sms)
        return; /* relaxed: counts */
    gpurt_red_add_relaxed_dev_u32(&run->map->moves[from * run->map->sms + to], 1);
    gpurt_executor_count(&run->block->xmoved, 1);
}

/* A lane has taken it up. One that its warp runs at once was in no queue. */
GPURT_DEV void gpurt_queued_end(const gpurt_task_run_t *run, uint32_t index)
{
    uint64_t word, since;
    uint32_t bucket;

    if (index % GPURT_TASK_SAMPLED)
        return; /* relaxed: as above */
    word = gpurt_load_relaxed_dev_u64(&run->map->queued[index >> run->map->queued_shift]);
    if (!word)
        return;
    since = gpurt_queued_since(word, gpurt_globaltimer());
    bucket = since >> (GPURT_TASK_WAITS - 1) ? (uint32_t)GPURT_TASK_WAITS - 1
                                             : 31u - gpurt_clz((uint32_t)since | 1u);
    gpurt_red_add_relaxed_dev_u32(&run->block->xwaits[bucket], 1); /* relaxed: a count */
    gpurt_moved_count(run, gpurt_queued_sm(word), gpurt_sm());
}

GPURT_HD uint32_t gpurt_kind_of(uint32_t function)
{
    uint32_t last = GPURT_TASK_KINDS - 1;

    return function < last ? function : last;
}

/* One lane: bodies of that function took so many cycles together. */
GPURT_DEVN void gpurt_kind_count(const gpurt_task_run_t *run, uint32_t function,
                                 uint32_t runs, uint64_t took)
{
    uint32_t kind = gpurt_kind_of(function);
    gpurt_hall_kind_t *k = &run->hall->kinds[kind];

    if (took >> 24) /* so that a block's sum never runs over before it is told */
        gpurt_executor_count(&run->block->kinds[kind].xcycles, took);
    else /* relaxed: counts */
        gpurt_add_relaxed_near_u32(&k->xcycles, (uint32_t)took);
    gpurt_add_relaxed_near_u32(&k->xruns, runs); /* relaxed: as above */
}

/* One lane: a body of that function took longer than those before it in its warp. */
GPURT_DEVN void gpurt_kind_longest(const gpurt_task_run_t *run, uint32_t function,
                                   uint64_t took)
{
    uint32_t kind = gpurt_kind_of(function);
    gpurt_hall_kind_t *k = &run->hall->kinds[kind];

    if (took > gpurt_load_relaxed_near_u64(&k->xlongest)) { /* relaxed: a bound, seldom */
        gpurt_store_relaxed_near_u64(&k->xlongest, took);   /* ... passed */
        gpurt_red_max_relaxed_dev_u64(&run->map->words->xlongest[kind], took);
    }
}

/* What the block has counted of each `step`-th kind from `kind` on. */
GPURT_DEVN void gpurt_kinds_tell(const gpurt_task_run_t *run, gpurt_executor_hall_t *hall,
                                 uint32_t kind, uint32_t step)
{
    for (; kind < GPURT_TASK_KINDS; kind += step) {
        gpurt_hall_kind_t *k = &hall->kinds[kind];
        gpurt_task_sum_t *sum = &run->block->kinds[kind];

        if (!gpurt_load_relaxed_near_u32(&k->xruns)) /* relaxed: counts, all of them */
            continue;
        gpurt_executor_count(&sum->xruns, gpurt_xchg_relaxed_near_u32(&k->xruns, 0));
        gpurt_executor_count(&sum->xcycles, gpurt_xchg_relaxed_near_u32(&k->xcycles, 0));
    }
}

#endif
