/* SPDX-License-Identifier: Apache-2.0 */
/* taskidle.h - a warp of an executor that has no task: how it waits, meets the others of its block,
 * and sleeps.
 *
 * Context: device code, whole warps. */
#ifndef GPURT_TASKIDLE_H
#define GPURT_TASKIDLE_H

#include <gpurt/clock.h>

#include <gpurt/impl/task/taskgone.h>
#include <gpurt/impl/task/taskorder.h>

/* One lane: levels of the device's rings that have some. */
GPURT_DEV uint32_t gpurt_levels_there(const gpurt_executor_map_t *m)
{
    uint32_t credits[GPURT_TASK_LEVELS], levels = 0;

    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++) /* relaxed: hints, or behind a fence */
        credits[i] = gpurt_load_relaxed_dev_u32(&m->words->xcredits[i]);
    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++) /* apart: one trip for all */
        levels |= (gpurt_taskring_count(credits[i]) != 0) << i;
    return levels;
}

/* Thread 0. Its block counts as asleep before it looks a last time. */
GPURT_DEV void gpurt_worker_sleep(gpurt_worker_t *w)
{
    gpurt_executor_words_t *words = w->run.map->words;
    /* relaxed: the fence orders the count before the look; the rest are numbers */
    uint32_t seen = gpurt_load_relaxed_dev_u32(&words->xwake), pauses = 0;
    uint64_t left_ns;

    gpurt_add_relaxed_dev_u32(&words->xsleepers, 1);
    gpurt_fence_seq_cst_dev();
    gpurt_store_relaxed_dev_u64(&w->run.block->xasleep, 1);
    while (!w->asks && !gpurt_levels_there(w->run.map) && !gpurt_places_any(w->run.map) &&
           !gpurt_deques_any(w->run.map) &&
           gpurt_load_relaxed_dev_u32(&words->xwake) == seen &&
           !gpurt_host_calls(w, gpurt_load_relaxed_dev_u32(&words->xcommand)) &&
           (left_ns = gpurt_waits_next(w->run.map)) != 0) {
        w->asks = gpurt_host_look(w);
        if (!w->asks)
            gpurt_host_pause(pauses++, left_ns, GPURT_HERE);
    }
    gpurt_store_relaxed_dev_u64(&w->run.block->xasleep, 0);
    gpurt_sub_relaxed_dev_u32(&words->xsleepers, 1);
}

/* All warps of the block, between tasks. Returns: false, the executor ends. */
GPURT_DEVN bool gpurt_worker_meet(gpurt_worker_t *w)
{
    uint64_t began = gpurt_clock();
    gpurt_executor_hall_t *hall = w->run.hall;

    if (gpurt_lane() == 0)
        gpurt_worker_flush(w);
    if (gpurt_thread_rank() == 0) { /* relaxed: go acquires what is behind it */
        uint32_t command = gpurt_load_relaxed_dev_u32(&w->run.map->words->xcommand);

        if (gpurt_host_calls(w, command))
            gpurt_service_expect(&w->turn);
        w->command = command;
        gpurt_store_relaxed_near_u32(&hall->xcommand, command);
    }
    if (!gpurt_service_go(&w->turn)) {
        if (gpurt_thread_rank() == 0)
            gpurt_hall_empty(&w->run, hall);
        gpurt_worker_unnote();
        return false;
    }
    if (gpurt_thread_rank() == 0) { /* relaxed: barriers around it */
        if (gpurt_hands_are_shut(&hall->hands))
            gpurt_worker_sleep(w);
        gpurt_hands_open(&hall->hands);
        gpurt_store_relaxed_near_u32(&hall->xlooks, 0);
        if (!gpurt_load_relaxed_near_u32(&hall->xposted)) /* others sleep, most probably */
            gpurt_store_relaxed_near_u32(&hall->xhungry, 1);
        gpurt_store_relaxed_near_u32(&hall->xmeet, 0);
    }
    /* relaxed: between barriers, in which nobody posts or takes */
    w->gathers = gpurt_load_relaxed_near_u32(&hall->xposted) != 0;
    gpurt_block_barrier();
    if (gpurt_lane() == 0) {
        w->waiting += gpurt_clock() - began;
    }
    return true;
}

/* Whether the block's warps meet: the host wants it, or all of them are idle. */
GPURT_DEV bool gpurt_hall_meets(const gpurt_executor_hall_t *hall)
{
    return gpurt_load_relaxed_near_u32(&hall->xmeet) || /* relaxed: a barrier follows */
           gpurt_hands_are_shut(&hall->hands);
}

/* The leader of a warp counts its block among those without work, or no more. */
GPURT_DEV void gpurt_worker_hunger(const gpurt_worker_t *w, bool hungry)
{
    /* relaxed: the same warp reads it; and a number */
    gpurt_store_relaxed_dev_u32(&w->warp->xlooks, hungry);
    gpurt_red_add_relaxed_dev_u32(&w->run.map->words->xhungry, hungry ? 1 : UINT32_MAX);
}

/* The leader, without work: whether places have tasks for its block, be it those of others. */
GPURT_DEVN bool gpurt_places_stir(gpurt_worker_t *w, uint32_t turn)
{
    if (!gpurt_places_any(w->run.map))
        return false;
    if (gpurt_places_have(w->run.map))
        return true;
    if (turn < GPURT_PLACE_LOOKS) /* relaxed: a flag within the block */
        return false;
    gpurt_store_relaxed_near_u32(&w->run.hall->xstrays, 1);
    return true;
}

/* One look of the warp that looks for its block: also into the pockets, since who filled one saw
 * perhaps nobody idle yet. Returns: whether it found work. */
GPURT_DEV bool gpurt_worker_look(gpurt_worker_t *w, uint32_t turn)
{
    /* relaxed: hints; go acquires what is behind the command */
    uint32_t command = gpurt_load_relaxed_dev_u32(&w->run.map->words->xcommand);
    uint32_t levels = gpurt_levels_there(w->run.map);

    gpurt_store_relaxed_near_u32(&w->run.hall->xcommand, command);
    if (levels) { /* relaxed: a hint */
        gpurt_or_relaxed_near_u32(&w->run.hall->xlevels, levels);
        return true;
    }
    if (gpurt_hall_has(w->run.hall))
        return true;
    if (!gpurt_waits_next(w->run.map) ||
        (GPURT_UNLIKELY(w->run.map->places) && gpurt_places_stir(w, turn)) ||
        gpurt_deques_any(w->run.map)) {
        gpurt_hall_hurry(w->run.hall); /* its warp's look brings them */
        return true;
    }
    w->asks = gpurt_host_look(w);
    if (turn >= GPURT_IDLE_LOOKS)
        gpurt_hands_shut(&w->run.hall->hands);
    return w->asks;
}

/* Whether an idle warp has something to do. */
GPURT_DEV bool gpurt_hall_stirs(const gpurt_executor_hall_t *hall, uint32_t seen)
{
    return gpurt_hand_has(&hall->hands, gpurt_warp()) || /* relaxed: hints */
           gpurt_load_relaxed_near_u32(&hall->xnews) != seen || gpurt_hall_meets(hall);
}

/* Whether the caller looks at the queues for its block, from now on. */
GPURT_DEV bool gpurt_hall_watch(gpurt_executor_hall_t *hall)
{
    uint32_t nobody = 0; /* relaxed: a flag within the block */

    return !gpurt_load_relaxed_near_u32(&hall->xlooks) &&
           gpurt_cas_relaxed_near_u32(&hall->xlooks, &nobody, gpurt_warp() + 1);
}

/* The leader of a warp that found nothing: until it is given a task, or there is news, or all meet.
 * One of them looks at the queues, in growing pauses; the others at words of the block. Returns: the
 * task, or GPURT_TASK_NONE. */
GPURT_DEV uint32_t gpurt_worker_idle(gpurt_worker_t *w)
{
    gpurt_executor_hall_t *hall = w->run.hall;
    /* relaxed: hints within the block; who pulls finds out */
    uint32_t seen = gpurt_load_relaxed_near_u32(&hall->xnews), turns = 1, looks = 0, task;

    gpurt_hand_offer(&hall->hands, gpurt_warp());
    while (!gpurt_hall_stirs(hall, seen)) {
        if (!looks && gpurt_hall_watch(hall)) {
            looks = 1;
            gpurt_worker_hunger(w, true);
        }
        if (looks && gpurt_worker_look(w, looks++))
            break;
        if (gpurt_thread_rank() == 0 && /* relaxed: as in worker_meet */
            gpurt_host_calls(w, gpurt_load_relaxed_near_u32(&hall->xcommand)))
            gpurt_store_relaxed_near_u32(&hall->xmeet, 1);
        for (uint32_t i = 1; i < turns && !gpurt_hall_stirs(hall, seen); i++)
            gpurt_pause();
        turns = turns < GPURT_BACKOFF_MOST ? 2 * turns : turns;
        if (!looks || looks < GPURT_IDLE_LOOKS) /* who looks for long takes longer pauses */
            turns = turns < GPURT_WORKER_PAUSES ? turns : (uint32_t)GPURT_WORKER_PAUSES;
        gpurt_relax(); /* its block may be cancelled */
    }
    task = gpurt_hand_withdraw(&hall->hands, gpurt_warp());
    if (looks)
        gpurt_worker_hunger(w, false);
    if (looks && !gpurt_hands_are_shut(&hall->hands))
        gpurt_store_relaxed_near_u32(&hall->xlooks, 0);
    return task;
}

/* The whole warp. Returns: the task of lane 0, if it was given one, else GPURT_TASK_NONE. */
GPURT_DEVN uint32_t gpurt_worker_wait(gpurt_worker_t *w)
{
    uint32_t task = GPURT_TASK_NONE;

    if (gpurt_lane() == 0)
        gpurt_worker_flush(w);
    gpurt_syncwarp(GPURT_FULL_MASK); /* its bodies, to who tells of their kind */
    gpurt_hall_tell(&w->run);
    if (gpurt_lane() == 0) {
        uint64_t began = gpurt_clock();

        gpurt_hall_end(w->run.map, w->run.hall);
        task = gpurt_worker_idle(w);
        w->waiting += gpurt_clock() - began;
    }
    gpurt_syncwarp(GPURT_FULL_MASK); /* what it has acquired holds for all */
    return task;
}

#endif
