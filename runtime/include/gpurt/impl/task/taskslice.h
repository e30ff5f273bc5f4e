/* SPDX-License-Identifier: Apache-2.0 */
/* taskslice.h - which bodies the log is told of one by one, as slices of a timeline: one of each warp now and
 * then, each that took longer than those of its kind before it, and each that failed.
 *
 * A body that is none of these costs a comparison. A warp has its own pause between two slices, so no
 * counter is shared. A slice says for how many bodies of its warp it stands.
 *
 * Context: device code, whole warps. Nothing here is a safe point but a full ring under the blocking policy. */
#ifndef GPURT_TASKSLICE_H
#define GPURT_TASKSLICE_H

#include <gpurt/log.h>

#include <gpurt/impl/task/taskrow.h>
#include <gpurt/impl/task/taskworker.h>

enum {
    GPURT_SLICE_ANCHOR_NS =
        1000000,            /* between two of a warp's comparisons of clock and time */
    GPURT_SLICE_FAILED = 16 /* that fail, of a warp between two of its pauses, at most */
};

/* All lanes of all warps: how the clock and the time are at the begin. */
GPURT_DEV void gpurt_slices_begin(gpurt_worker_t *w, const char *const *names)
{
    w->names = names;
    w->anchor_ns = gpurt_globaltimer();
    w->anchor = gpurt_clock();
    w->over = w->run.map->causes ? 0 : UINT64_MAX;
}

/* Behind a slice, and before bodies of another kind: how long one is to take to be told of. */
GPURT_DEV void gpurt_slice_limit(gpurt_worker_t *w, uint64_t now)
{
    const gpurt_executor_map_t *m = w->run.map;
    uint64_t longest;

    if (!m->causes)
        return; /* relaxed: a bound */
    longest =
        gpurt_load_relaxed_near_u64(&w->run.hall->kinds[gpurt_kind_of(w->kind)].xlongest);
    longest = longest < m->slice_longest ? longest : m->slice_longest;
    w->over = now - w->sliced > m->slice_cycles ? 0 : longest;
}

/* As a warp takes a batch up: whether the next body is told of. */
GPURT_DEV void gpurt_slice_due(gpurt_worker_t *w)
{
    if (w->taken - w->sliced > w->run.map->slice_cycles && w->run.map->causes)
        w->over = 0;
}

/* The body is of another function than those before it. The whole warp. */
GPURT_DEV void gpurt_kind_turn(gpurt_worker_t *w)
{
    if (gpurt_body_function(w->run.key) == w->kind)
        return;
    gpurt_worker_kind_tell(w);
    gpurt_slice_limit(w, gpurt_clock());
}

/* A body has failed. Whether it is to be told of: the first ones in each pause are, so that a program which fails
 * all the time is not slowed down. */
GPURT_DEV bool gpurt_slice_fails(gpurt_worker_t *w)
{
    uint64_t now = gpurt_clock();

    if (!w->run.map->causes)
        return false;
    if (now - w->failing > w->run.map->slice_cycles) {
        w->failing = now;
        w->failed = 0;
    }
    return w->failed++ < GPURT_SLICE_FAILED;
}

/* Cycles as nanoseconds, by what the clock has done since the last anchor; not more than `now_ns`. */
GPURT_DEV uint64_t gpurt_slice_ns(const gpurt_worker_t *w, uint64_t cycles, uint64_t clock,
                                  uint64_t now_ns)
{
    uint64_t passed = clock - w->anchor, ns = now_ns - w->anchor_ns, took;

    took = passed ? (uint64_t)((float)cycles * ((float)ns / (float)passed)) : 0;
    return took < now_ns ? took : now_ns;
}

/* A later one, so that the clock's changes of pace are followed. */
GPURT_DEV void gpurt_slice_anchor(gpurt_worker_t *w, uint64_t clock, uint64_t now_ns)
{
    if (now_ns - w->anchor_ns < GPURT_SLICE_ANCHOR_NS)
        return;
    w->anchor = clock;
    w->anchor_ns = now_ns;
}

/* Whether the bodies of several lanes ran at once, which lanes_end has noted. */
GPURT_DEV bool gpurt_slice_together(const gpurt_worker_t *w)
{
    return w->together_key == w->run.key;
}

/* The leader: all of a slice but its name. Returns: when the body began. relaxed, both: nobody else writes them
 * while it runs */
GPURT_DEVN uint64_t gpurt_slice_fill(gpurt_worker_t *w, gpurt_task_slice_t *s)
{
    const gpurt_executor_map_t *m = w->run.map;
    bool together = gpurt_slice_together(w);
    gpurt_task_t task = together ? w->together_task : w->run.task;
    uint32_t index = gpurt_task_index(task), ran = w->ran + w->kind_runs;
    uint64_t word = gpurt_load_relaxed_dev_u64(&m->queued[index >> m->queued_shift]);
    uint64_t now_ns = gpurt_globaltimer(), clock = gpurt_clock();
    uint64_t began_ns = now_ns - gpurt_slice_ns(w, clock - w->began, clock, now_ns);
    uint64_t since = word ? gpurt_queued_since(word, began_ns) : 0;

    s->ns = gpurt_pair(gpurt_slice_ns(w, w->took, clock, now_ns));
    gpurt_slice_anchor(w, clock, now_ns);
    s->bodies = together ? w->together : 1;
    s->of = ran - w->told;
    s->ready_ns = since < UINT32_MAX ? (uint32_t)since : UINT32_MAX;
    s->priority = (int32_t)GPURT_TASK_NORMAL - (int32_t)gpurt_body_level(w->run.key);
    s->status = together ? w->together_status : w->run.status;
    s->task = gpurt_pair(task);
    s->from = gpurt_pair(gpurt_load_relaxed_dev_u64(&m->causes[index]));
    s->place =
        word ? gpurt_queued_sm(word) << 8 | gpurt_queued_slot(word) : GPURT_TASK_NOWHERE;
    w->told = ran;
    gpurt_executor_count(&w->run.block->xsliced, 1);
    return began_ns;
}

/* The leader. Returns: the gate of what it is to write; GPURT_GATE_OFF: no room for its definition. */
GPURT_DEV uint32_t gpurt_slice_gate(void)
{
    /* of no line of the program's */
    GPURT_KEPT(gpurt_site_t, site,
               {{0},
                GPURT_TASK_SLICE_TYPES,
                GPURT_TASK_SLICE_TEXT,
                "",
                0,
                (uint16_t)(sizeof(GPURT_TASK_SLICE_TEXT) - 1),
                0,
                GPURT_LEVEL_TRACE,
                GPURT_TASK_SLICE_ARGS,
                GPURT_KIND_TASK});
    uint32_t gate = gpurt_log_gate(&site);

    if (gpurt_log_is_rare(gate) && (int32_t)gate >= 0)
        gate = gpurt_log_define_as(&site, 0); /* at any level */
    return gate;
}

/* The leader puts it into its warp's ring. What lives across a call costs the kernel registers, so all of it
 * lies in memory. */
GPURT_DEVN void gpurt_slice_put(gpurt_worker_t *w)
{
    gpurt_task_slice_t s;
    uint64_t began_ns;
    uint32_t position;

    if (gpurt_lane() || !gpurt_log_port.groups)
        return;
    if ((int32_t)gpurt_slice_gate() < 0) {
        gpurt_log_lose(gpurt_log_head_here(), 1, GPURT_LOSS_SITES);
        return;
    }
    s.name = gpurt_log_string(w->names[gpurt_body_function(w->run.key)]);
    began_ns = gpurt_slice_fill(w, &s);
    position = gpurt_log_take(gpurt_log_head_here(), GPURT_FULL_MASK,
                              gpurt_record_groups(GPURT_TASK_SLICE_WORDS), 1);
    if (position != GPURT_LOG_NOWHERE)
        gpurt_log_uniform_write(gpurt_log_head_here(), position,
                                gpurt_record_what(gpurt_slice_gate(), GPURT_KIND_TASK,
                                                  GPURT_FORM_WARP, gpurt_warp()),
                                GPURT_FULL_MASK, began_ns,
                                (const uint32_t *)(const void *)&s, GPURT_TASK_SLICE_WORDS);
}

/* The whole warp: when the next body is told of. */
GPURT_DEVN void gpurt_slice_told(gpurt_worker_t *w)
{
    gpurt_syncwarp(GPURT_FULL_MASK);
    w->sliced = gpurt_clock();
    gpurt_slice_limit(w, w->sliced);
    if (w->over < w->took && w->took < w->run.map->slice_longest)
        w->over = w->took;
}

/* The whole warp, behind a body that is counted. */
GPURT_DEV void gpurt_slice_tell(gpurt_worker_t *w)
{
    gpurt_slice_put(w);
    gpurt_slice_told(w);
}

/* Behind bodies of several lanes at once. The whole warp. */
GPURT_DEV void gpurt_slice_note(gpurt_worker_t *w, gpurt_task_t task, gpurt_status_t status,
                                bool mine)
{
    uint32_t full = GPURT_FULL_MASK, all = gpurt_ballot(full, mine);
    uint32_t failed = gpurt_ballot(full, mine && status != GPURT_OK);
    uint32_t at = gpurt_leader(failed ? failed : all);

    w->together = gpurt_popc(all);
    w->together_key = w->run.key;
    w->together_task = gpurt_shfl_u64(full, task, at);
    w->together_status = gpurt_shfl_i32(full, status, at);
    if (gpurt_any(full, failed && gpurt_slice_fails(w)))
        w->over = 0;
}

/* Whether the log is told of a body. Of one that has looked in vain it is not: a log of tasks that wait says nothing,
 * which tells of a hang. The whole warp. */
GPURT_DEV bool gpurt_slice_wanted(gpurt_worker_t *w, uint64_t took)
{
    bool wanted = (took > w->over && !w->run.vain) ||
                  (w->run.status != GPURT_OK && gpurt_slice_fails(w));

    w->took = took;
    return gpurt_any(GPURT_FULL_MASK, wanted);
}

#endif
