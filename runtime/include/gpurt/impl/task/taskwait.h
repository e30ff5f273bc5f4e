/* SPDX-License-Identifier: Apache-2.0 */
/* taskwait.h - what a task waits for, where only its body knows: a task lock, a channel, a word. A task that
 * waits has no lane to stand in the state pages. So its body leaves a group at the task's row when it finds
 * that it must wait, and again each time that it looks in vain. The host reads these rows beside the others
 * (runtime/host/sched/taskwaits.c). A row whose turn stays the same is of a task that asks no more; a turn of 0 is
 * of one that has asked once.
 *
 * Children and tasks that come before a task need nothing of this: the task's table has them.
 *
 * Context: device code, one lane for its warp. Nothing where no box is connected. All of it is on ways that
 * wait anyway: a body that need not wait stores nothing, or one group. */
#ifndef GPURT_TASKWAIT_H
#define GPURT_TASKWAIT_H

#include <gpurt/waits.h>

#include <gpurt/impl/task/taskrun.h>

enum {
    GPURT_NAPS_TOLD = 6 /* naps in vain, behind which one is told: some 64 us */
};

/* What this task's body told last: nobody else writes it. relaxed: so */
GPURT_DEV gpurt_state_wait_t gpurt_taskwait_told(const gpurt_group_t *at)
{
    const uint64_t *halves = (const uint64_t *)(const void *)at;
    uint64_t low = gpurt_load_relaxed_dev_u64(halves);
    uint64_t high = gpurt_load_relaxed_dev_u64(halves + 1);
    gpurt_group_t group;

    group.tag = (uint32_t)low;
    group.word[0] = (uint32_t)(low >> 32);
    group.word[1] = (uint32_t)high;
    group.word[2] = (uint32_t)(high >> 32);
    return gpurt_state_wait_unpack(group);
}

/* As state.h has a wait, with the task's generation for the block, and a turn for the launch. */
GPURT_DEVN void gpurt_taskwait_tell(const gpurt_task_run_t *run, uint32_t object,
                                    uint32_t reason, gpurt_site_t *place)
{
    const gpurt_executor_map_t *m = run->map;
    gpurt_state_wait_t was, w;
    gpurt_group_t *at;

    if (!m->waits)
        return;
    at = m->waits + gpurt_task_index(run->task);
    was = gpurt_taskwait_told(at);
    w.object = object;
    w.site = gpurt_place_number(place);
    w.block = (uint32_t)(run->task >> 32);
    w.warp = 0;
    w.reason = reason;
    if (was.reason == reason && was.object == object && was.site == w.site &&
        was.block == w.block) {
        w.launch = was.launch % 255u + 1; /* never 0 again */
        w.time48 = was.time48;
    } else {
        w.launch = 0; /* once: it may go on without what it asked for */
        w.time48 = gpurt_globaltimer() & GPURT_TIME_MASK;
    }
    gpurt_group_store(at, gpurt_state_wait_pack(&w));
    gpurt_red_add_relaxed_dev_u32(&m->words->xasks, 1); /* relaxed: a hint */
}

/* It waits no more. */
GPURT_DEV void gpurt_taskwait_end(const gpurt_task_run_t *run)
{
    const gpurt_group_t none = {0};

    if (run->map->waits)
        gpurt_group_store(run->map->waits + gpurt_task_index(run->task), none);
}

/* A task holds an object. task: 0, nobody does. */
GPURT_DEVN void gpurt_taskwait_hold(const gpurt_executor_map_t *m, uint32_t number,
                                    uint32_t role, gpurt_task_t task, uint32_t site,
                                    uint64_t time48)
{
    const gpurt_state_task_t t = {m->id, gpurt_task_index(task), (uint32_t)(task >> 32),
                                  site, time48};
    const gpurt_group_t nobody = {0};
    gpurt_waitable_entry_t *e;

    if (!m->waits || number == 0 || number > gpurt_log_port.object_count)
        return;
    e = &gpurt_log_port.objects[number - 1];
    gpurt_group_store(&e->xowners[gpurt_state_owner_at(role, t.row)],
                      task ? gpurt_state_task_pack(&t) : nobody);
}

/* All threads: one tells the lines of the executor's functions, at any level: of kernels that log nothing else this
 * code is the least. */
GPURT_DEV void gpurt_taskwait_lines(const gpurt_executor_map_t *m, gpurt_site_t *sites,
                                    uint32_t count)
{
    if (!m->lines || gpurt_block_rank() || gpurt_thread_rank())
        return;
    GPURT_ROLLED
    for (uint32_t i = 0; i < count; i++) /* relaxed: numbers */
        gpurt_store_relaxed_dev_u32(&m->lines[i],
                                    gpurt_log_define_as(&sites[i], 0) & GPURT_GATE_NUMBER);
}

#endif
