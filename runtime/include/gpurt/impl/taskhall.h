/* SPDX-License-Identifier: Apache-2.0 */
/* taskhall.h - what a block of an executor keeps in shared memory, and what goes between that and
 * the device's rings.
 *
 * All counts of the device are for all blocks, so each access to them is far and crowded. A block
 * keeps tasks that are ready and rows that are free in pockets of its own, and looks at the device's
 * words once for all its warps. What it knows of the device are hints: who pulls finds out.
 *
 * Context: device code. Nothing here is a safe point, so a warp that is cancelled has done each
 * step wholly or not at all. A `mask` names the lanes that call together: a whole warp, or the
 * one lane that cleans up behind one. */
#ifndef GPURT_TASKHALL_H
#define GPURT_TASKHALL_H

#include <stddef.h>

#include <gpurt/clock.h>
#include <gpurt/hostword.h>
#include <gpurt/status.h>

#include <gpurt/impl/taskhand.h>
#include <gpurt/impl/taskmap.h>
#include <gpurt/impl/taskpocket.h>

/* generation << 32 | index + 1; 0: none. */
typedef uint64_t gpurt_task_t;

/* Words of the first line of gpurt_executor_words_t, counted from its begin. */
enum {
    GPURT_WORD_SLEEPERS = offsetof(gpurt_executor_words_t, xsleepers) / 4,
    GPURT_WORD_HUNGRY = offsetof(gpurt_executor_words_t, xhungry) / 4,
    GPURT_WORD_COMMAND = offsetof(gpurt_executor_words_t, xcommand) / 4
};

enum {
    GPURT_HALL_LOOK_CYCLES = 4000,   /* between two looks at the device's words */
    GPURT_HALL_AHEAD_CYCLES = 16000, /* what a block keeps while others are without work */
    GPURT_HALL_PULL_CYCLES = 1000,   /* what it takes to come to a body, or so */
    GPURT_HALL_FAIR = 8,             /* pulls, of which one asks the ring first */
    GPURT_HALL_ENDED = 1024          /* tasks, of which xlive may not know yet */
};

/* Bodies of a kind that the device's words do not count yet. */
typedef struct gpurt_hall_kind {
    uint32_t xruns, xcycles;
    uint64_t xlongest; /* cycles */
} gpurt_hall_kind_t;

/* Of a block. In shared memory; each word is written by any warp. */
typedef struct gpurt_executor_hall {
    uint32_t xmeet;    /* 1: its warps come to gpurt_service_go */
    uint32_t xnews;    /* grows when idle warps should look */
    uint32_t xlooks;   /* an idle warp looks for all of them: its number + 1; 0: none */
    uint32_t xdraws;   /* 1: a warp draws from the device's rings for all of them */
    uint32_t xlevels;  /* levels of the device's rings that have some, as last seen */
    uint32_t xhungry;  /* blocks without work, as last seen */
    uint32_t xlooked;  /* clock of that */
    uint32_t xcommand; /* the host's, as last seen */
    uint32_t xended;   /* tasks that ended here and that xlive counts still */
    uint32_t xtakes;   /* cycles of a body, about */
    uint32_t xturns;   /* pulls at which a ring and a pocket had tasks alike */
    gpurt_hands_t hands;
    gpurt_hall_kind_t kinds[GPURT_TASK_KINDS];
    gpurt_pocket_t ready[GPURT_TASK_LEVELS], spare; /* spare: tasks that are free */
} gpurt_executor_hall_t;

/* What a task's body is given. Owner: each lane; the same in all lanes of the warp. */
typedef struct gpurt_task_run {
    const gpurt_executor_map_t *map;
    gpurt_executor_hall_t *hall; /* NULL: a lane that cleans up, and keeps nothing back */
    gpurt_executor_block_t *block;
    gpurt_task_row_t *row;
    gpurt_task_head_t head;
    gpurt_task_t task;
    uint64_t value;
    gpurt_status_t status;
    bool parent; /* it has got children in this run, or waits again: xneeds counts it */
    bool again;
    bool tainted;
} gpurt_task_run_t;

GPURT_HD uint32_t gpurt_task_index(gpurt_task_t task)
{
    return (uint32_t)task - 1;
}

/* The handle of a row that the caller holds: nobody else gives it another generation. */
GPURT_DEV gpurt_task_t gpurt_task_named(const gpurt_task_row_t *row, uint32_t index)
{
    /* relaxed: so */
    return (gpurt_load_relaxed_dev_u64(&row->xword) & ~(uint64_t)UINT32_MAX) | (index + 1);
}

GPURT_DEV bool gpurt_task_is_of(uint64_t word, gpurt_task_t task)
{
    return word >> 32 == task >> 32;
}

GPURT_DEV void gpurt_executor_count(uint64_t *counter, uint64_t n)
{
    if (n)
        gpurt_red_add_relaxed_dev_u64(counter, n); /* relaxed: a count */
}

/* ---- what is seen of it ------------------------------------------------------------------
 * How long tasks wait is told by one row of GPURT_TASK_SAMPLED; bodies are counted by kind in shared
 * memory, and told when the block looks at the device's words. relaxed, all of it: numbers. */

/* A lane, before its task goes into a queue. */
GPURT_DEV void gpurt_queued_begin(const gpurt_executor_map_t *m, uint32_t index)
{
    if (index % GPURT_TASK_SAMPLED == 0) /* relaxed: a time; the queue brings it along */
        gpurt_store_relaxed_dev_u64(&m->queued[index / GPURT_TASK_SAMPLED],
                                    gpurt_globaltimer());
}

/* A lane has taken it up. One that its warp runs at once was in no queue. */
GPURT_DEV void gpurt_queued_end(const gpurt_task_run_t *run, uint32_t index)
{
    uint64_t *at = &run->map->queued[index / GPURT_TASK_SAMPLED], since, now;
    uint32_t bucket;

    if (index % GPURT_TASK_SAMPLED)
        return;
    since = gpurt_load_relaxed_dev_u64(at); /* relaxed: as above */
    if (!since)
        return;
    gpurt_store_relaxed_dev_u64(at, 0); /* relaxed: so */
    now = gpurt_globaltimer();
    since = now > since ? now - since : 0;
    bucket = since >> (GPURT_TASK_WAITS - 1) ? (uint32_t)GPURT_TASK_WAITS - 1
                                             : 31u - gpurt_clz((uint32_t)since | 1u);
    gpurt_red_add_relaxed_dev_u32(&run->block->xwaits[bucket], 1); /* relaxed: a count */
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

/* Whether no lane of the warp has left. If one has, of a panic or by itself, the block is cancelled
 * and the others leave, too. */
GPURT_DEV bool gpurt_task_whole(void)
{
    if (gpurt_ballot(GPURT_FULL_MASK, true) == GPURT_FULL_MASK)
        return true;
    gpurt_cancel_block();
    gpurt_cancel_point();
    return false;
}

/* A function that a whole warp calls, or one lane that cleans up: compiled once for each, so that the
 * warp's has a mask that the compiler knows (taskpocket.h). `name`_by is its body. */
#define GPURT_BY_MASK(type, name, parameters, first, ...)                       \
    GPURT_DEVN type name##_warp parameters                                      \
    {                                                                           \
        (void)mask;                                                             \
        return name##_by(first, GPURT_FULL_MASK, __VA_ARGS__);                  \
    }                                                                           \
    GPURT_DEVN type name##_lane parameters                                      \
    {                                                                           \
        return name##_by(first, mask, __VA_ARGS__);                             \
    }                                                                           \
    GPURT_DEV type name parameters                                              \
    {                                                                           \
        return mask == GPURT_FULL_MASK ? name##_warp(first, mask, __VA_ARGS__)  \
                                       : name##_lane(first, mask, __VA_ARGS__); \
    }

/* Of the lanes in `who` those behind the first `count`. */
GPURT_DEV uint32_t gpurt_lanes_behind(uint32_t mask, uint32_t who, uint32_t count)
{
    if (count >= gpurt_popc(who)) /* mostly: no vote */
        return 0;
    return gpurt_ballot(mask, who >> gpurt_lane() & 1u &&
                                  gpurt_popc(who & gpurt_lanes_below()) >= count);
}

/* ---- queues ----------------------------------------------------------------------------
 * A task that is ready goes to an idle warp of its block (taskhand.h); else to a pocket of its block,
 * while its warps take it up soon, or no other block is without work, or that finds some in the
 * device's rings; else to the device's ring. A block looks at the device's words
 * once in GPURT_HALL_LOOK_CYCLES, and then gives to blocks without work what it has too much. */

/* The levels for which `some` holds in lane 0 to 7, a bit each. The whole warp. */
GPURT_DEV uint32_t gpurt_levels_of(bool some)
{
    return gpurt_ballot(GPURT_FULL_MASK, gpurt_lane() < GPURT_TASK_LEVELS && some);
}

/* Behind a push into the device's ring, by one lane: who sleeps wakes. A block that falls asleep at
 * the same time can be missed here. It is not at the next look of a block awake, as this one is, and
 * the last to sleep looks at the queues behind a fence. */
GPURT_DEV void gpurt_executor_wake(const gpurt_executor_map_t *m)
{
    /* relaxed: a number */
    if (gpurt_load_relaxed_dev_u32(&m->words->xsleepers)) {
        gpurt_add_relaxed_dev_u32(&m->words->xwake, 1);
        gpurt_host_wake();
    }
}

/* One lane. relaxed: hints; an idle warp looks by itself, too. */
GPURT_DEV void gpurt_hall_news(gpurt_executor_hall_t *hall)
{
    if (gpurt_hands_idle(&hall->hands))
        gpurt_add_relaxed_near_u32(&hall->xnews, 1);
}

/* The lanes of `who` push into the ring of their level, of all. */
GPURT_DEV void gpurt_tasks_share_by(const gpurt_task_run_t *run, uint32_t mask,
                                    uint32_t who, uint32_t level, uint32_t index)
{
    gpurt_taskring_t ring = gpurt_executor_ring(run->map, level);

    gpurt_taskring_push(&ring, mask, who, index);
    gpurt_syncwarp(mask); /* all are pushed */
    if (!gpurt_is_leader(mask))
        return;
    /* relaxed: hints */
    if (!run->hall || gpurt_load_relaxed_near_u32(&run->hall->xhungry))
        gpurt_executor_wake(run->map);
    if (run->hall) { /* relaxed: as above */
        gpurt_or_relaxed_near_u32(&run->hall->xlevels, 1u << level);
        gpurt_hall_news(run->hall);
    }
}
GPURT_BY_MASK(void, gpurt_tasks_share,
              (const gpurt_task_run_t *run, uint32_t mask, uint32_t who, uint32_t level,
               uint32_t index),
              run, who, level, index)

/* One lane: a body took so long. A mean of the last ones, in which some may be lost, and one that is
 * far longer counts as twice the mean. */
GPURT_DEV void gpurt_hall_learn(gpurt_executor_hall_t *hall, uint64_t took)
{
    uint32_t mean = gpurt_load_relaxed_near_u32(&hall->xtakes); /* relaxed: so */
    uint32_t most = 2 * mean + GPURT_HALL_PULL_CYCLES;
    uint32_t one = took < most ? (uint32_t)took : most;

    if (mean < UINT32_MAX / 4 || one < mean)
        gpurt_store_relaxed_near_u32(&hall->xtakes, mean - mean / 8 + one / 8);
}

/* How many tasks the block's warps take up in GPURT_HALL_AHEAD_CYCLES: none where they are long. */
GPURT_DEV uint32_t gpurt_hall_soon(const gpurt_executor_hall_t *hall)
{
    return gpurt_warps() * GPURT_HALL_AHEAD_CYCLES / /* relaxed: a hint */
           (gpurt_load_relaxed_near_u32(&hall->xtakes) + GPURT_HALL_PULL_CYCLES);
}

/* Whether blocks are without work and find none in the device's rings. */
GPURT_DEV bool gpurt_hall_owes(const gpurt_executor_hall_t *hall)
{
    return gpurt_load_relaxed_near_u32(&hall->xhungry) && /* relaxed: hints */
           !gpurt_load_relaxed_near_u32(&hall->xlevels);
}

/* How many tasks of a level the block keeps: all, or those that it takes up soon. */
GPURT_DEV uint32_t gpurt_hall_most(const gpurt_executor_hall_t *hall)
{
    uint32_t most;

    if (!gpurt_hall_owes(hall))
        return GPURT_POCKET_NUMBERS;
    most = gpurt_popc(gpurt_hands_idle(&hall->hands)) + gpurt_hall_soon(hall);
    return most < GPURT_POCKET_NUMBERS ? most : (uint32_t)GPURT_POCKET_NUMBERS;
}

/* As gpurt_tasks_share, into a pocket as far as there is room. Returns: how many were put. */
GPURT_DEV uint32_t gpurt_tasks_keep(const gpurt_task_run_t *run, uint32_t mask,
                                    uint32_t who, uint32_t level, uint32_t index)
{
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t most = gpurt_is_leader(mask) ? gpurt_hall_most(hall) : 0;
    uint32_t kept = gpurt_pocket_put(&hall->ready[level], mask, who, index, most);

    if (kept && gpurt_is_leader(mask))
        gpurt_hall_news(hall);
    return kept;
}

/* The leader: idle warps that can be given `count` tasks of that level. None while the block knows of
 * others that come first; the one that looks at the queues comes last. */
GPURT_DEV uint32_t gpurt_hall_takers(const gpurt_executor_hall_t *hall, uint32_t count,
                                     uint32_t level)
{
    uint32_t idle = gpurt_hands_idle(&hall->hands), first = (2u << level) - 1, looks,
             some = 0;

    if (!idle || gpurt_load_relaxed_near_u32(&hall->xlevels) & first) /* relaxed: a hint */
        return 0;
    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++) /* all at once, without branches */
        some |= i <= level ? gpurt_pocket_count(&hall->ready[i]) : 0;
    if (some)
        return 0;
    if (gpurt_popc(idle) <= count)
        return idle;
    looks = gpurt_load_relaxed_near_u32(&hall->xlooks); /* relaxed: a hint */
    return looks ? idle & ~(1u << (looks - 1)) : idle;
}

/* As gpurt_tasks_share, to idle warps of the block. Returns: how many were given. */
GPURT_DEV uint32_t gpurt_tasks_hand(const gpurt_task_run_t *run, uint32_t mask,
                                    uint32_t who, uint32_t level, uint32_t index)
{
    uint32_t to = gpurt_is_leader(mask) && who
                      ? gpurt_hall_takers(run->hall, gpurt_popc(who), level)
                      : 0;

    return gpurt_hands_give(&run->hall->hands, mask, who, index, to);
}

/* The lanes in `who`, of mask, have a task each that is ready. */
GPURT_DEV void gpurt_tasks_queue_by(const gpurt_task_run_t *run, uint32_t mask,
                                    uint32_t who, uint32_t index, uint32_t level)
{
    bool mine = who >> gpurt_lane() & 1u;

    if (mine)
        gpurt_queued_begin(run->map, index);
    for (uint32_t left = who; left;) {
        uint32_t now = gpurt_shfl_u32(mask, level, gpurt_leader(left));
        uint32_t same = gpurt_ballot(mask, mine && level == now);

        left &= ~same;
        if (run->hall)
            same = gpurt_lanes_behind(mask, same,
                                      gpurt_tasks_hand(run, mask, same, now, index));
        if (same && run->hall)
            same = gpurt_lanes_behind(mask, same,
                                      gpurt_tasks_keep(run, mask, same, now, index));
        if (same)
            gpurt_tasks_share(run, mask, same, now, index);
    }
}
GPURT_BY_MASK(void, gpurt_tasks_queue,
              (const gpurt_task_run_t *run, uint32_t mask, uint32_t who, uint32_t index,
               uint32_t level),
              run, who, index, level)

/* The same, of tasks that were spawned before. */
GPURT_DEV void gpurt_tasks_push(const gpurt_task_run_t *run, uint32_t mask, uint32_t who,
                                uint32_t index)
{
    bool mine = who >> gpurt_lane() & 1u;

    gpurt_tasks_queue(run, mask, who, index, mine ? run->map->tasks[index].head.level : 0);
}

/* Up to half of what idle warps of the block cannot take goes to blocks without work. The whole
 * warp. */
GPURT_DEVN void gpurt_hall_give(const gpurt_task_run_t *run)
{
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t lane = gpurt_lane(), full = GPURT_FULL_MASK, level = lane % GPURT_TASK_LEVELS;
    /* relaxed: hints */
    uint32_t idle = gpurt_popc(gpurt_hands_idle(&hall->hands));
    uint32_t many = gpurt_pocket_count(&hall->ready[level]), index = GPURT_TASK_NONE, some;

    many = many > idle ? (many - idle + 1) / 2 : 0;
    some = gpurt_levels_of(many != 0);
    if (!some)
        return;
    level = gpurt_leader(some);
    many = gpurt_shfl_u32(full, many, level);
    many = many < GPURT_WARP_SIZE ? (1u << many) - 1 : full;
    gpurt_pocket_get(&hall->ready[level], full, many, &index);
    many = gpurt_ballot(full, index != GPURT_TASK_NONE);
    if (many)
        gpurt_tasks_share(run, full, many, level, index);
}

/* Whether the device's words were not looked at for long: then the caller looks, and no other. */
GPURT_DEV bool gpurt_hall_due(gpurt_executor_hall_t *hall)
{
    uint32_t now = (uint32_t)gpurt_clock();
    uint32_t looked = gpurt_load_relaxed_near_u32(&hall->xlooked); /* relaxed: a time */

    return now - looked > GPURT_HALL_LOOK_CYCLES &&
           gpurt_cas_relaxed_near_u32(&hall->xlooked, &looked, now);
}

/* The leader of a warp: what the block keeps and has ended, to those who count. */
GPURT_DEVN void gpurt_hall_tell(const gpurt_task_run_t *run);

/* The whole warp looks at the device's words for its block. */
GPURT_DEVN void gpurt_hall_look(const gpurt_task_run_t *run)
{
    const gpurt_executor_words_t *words = run->map->words;
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t full = GPURT_FULL_MASK, lane = gpurt_lane(), sleepers, hungry;
    /* relaxed: hints, and numbers. One line: a word a lane */
    uint32_t word = gpurt_load_relaxed_dev_u32(&words->xcredits[0] + lane);
    uint32_t levels = gpurt_levels_of(gpurt_taskring_count(word) != 0);

    sleepers = gpurt_shfl_u32(full, word, GPURT_WORD_SLEEPERS);
    hungry = gpurt_shfl_u32(full, word, GPURT_WORD_HUNGRY) + sleepers;
    word = gpurt_shfl_u32(full, word, GPURT_WORD_COMMAND);
    if (lane == 0) {
        hungry -= gpurt_load_relaxed_near_u32(&hall->xlooks) != 0; /* its own */
        gpurt_store_relaxed_near_u32(&hall->xlevels, levels);
        gpurt_store_relaxed_near_u32(&hall->xhungry, hungry);
        gpurt_store_relaxed_near_u32(&hall->xcommand, word);
        gpurt_hall_tell(run);
        if (levels && sleepers)
            gpurt_executor_wake(run->map);
    }
    gpurt_kinds_tell(run, hall, lane, GPURT_WARP_SIZE);
    if (!levels && gpurt_shfl_u32(full, hungry, 0))
        gpurt_hall_give(run);
}

/* ---- how many live --------------------------------------------------------------------- */

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

GPURT_DEVN void gpurt_hall_tell(const gpurt_task_run_t *run)
{
    uint64_t kept = 0;

    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++)
        kept |= (uint64_t)gpurt_pocket_count(&run->hall->ready[i]) << 8 * i;
    gpurt_store_relaxed_dev_u64(&run->block->xkept,
                                kept); /* relaxed: a number; and a hint */
    if (gpurt_load_relaxed_near_u32(&run->hall->xended) >= GPURT_HALL_ENDED)
        gpurt_hall_end(run->map, run->hall);
}

/* One lane, when no warp of the block runs tasks any more: all that it keeps, to the others. */
GPURT_DEVN void gpurt_hall_empty(const gpurt_task_run_t *run, gpurt_executor_hall_t *hall)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t me = 1u << gpurt_lane(), index = GPURT_TASK_NONE;

    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++)
        while (gpurt_pocket_get(&hall->ready[i], me, me, &index))
            gpurt_tasks_share(run, me, me, i, index);
    while (gpurt_pocket_get(&hall->spare, me, me, &index)) {
        gpurt_taskring_t ring = gpurt_executor_ring(m, GPURT_RING_FREE_TASKS);

        gpurt_taskring_push(&ring, me, me, index);
    }
    gpurt_store_relaxed_dev_u64(&run->block->xkept, 0); /* relaxed: a number */
    gpurt_kinds_tell(run, hall, 0, 1);
    gpurt_hall_end(m, hall);
}

/* ---- free tasks ------------------------------------------------------------------------ */

/* The whole warp: the block keeps the numbers of the lanes that have one; all get those for which
 * there is no room. */
GPURT_DEV void gpurt_spares_keep(const gpurt_task_run_t *run, uint32_t index)
{
    gpurt_taskring_t ring = gpurt_executor_ring(run->map, GPURT_RING_FREE_TASKS);
    uint32_t full = GPURT_FULL_MASK, who = gpurt_ballot(full, index != GPURT_TASK_NONE);

    who = gpurt_lanes_behind(
        full, who, gpurt_pocket_put(&run->hall->spare, full, who, index, run->map->spare));
    if (who)
        gpurt_taskring_push(&ring, full, who, index);
}

/* The whole warp: numbers for the lanes in `who`, of the block's, or a warp's worth of all. */
GPURT_DEV void gpurt_spares_get(const gpurt_task_run_t *run, uint32_t who, uint32_t *index)
{
    gpurt_taskring_t ring = gpurt_executor_ring(run->map, GPURT_RING_FREE_TASKS);
    uint32_t full = GPURT_FULL_MASK, missing, rank, more = GPURT_TASK_NONE, drawn, given;

    if (!run->map->spare) {
        gpurt_taskring_pop(&ring, full, who, GPURT_WARP_SIZE, 1, index);
        return;
    }
    gpurt_pocket_get(&run->hall->spare, full, who, index);
    missing = gpurt_ballot(full, who >> gpurt_lane() & 1u && *index == GPURT_TASK_NONE);
    if (!missing)
        return;
    drawn = gpurt_taskring_pop(&ring, full, full, GPURT_WARP_SIZE, 1, &more);
    rank = gpurt_popc(missing & gpurt_lanes_below());
    given = gpurt_shfl_u32(full, more, rank); /* lane i has drawn the number i */
    if (missing >> gpurt_lane() & 1u && rank < drawn)
        *index = given;
    gpurt_spares_keep(run, gpurt_lane() < gpurt_popc(missing) ? GPURT_TASK_NONE : more);
}

/* The `index` of each lane in `who` is free. From a pocket that is full, a warp's worth goes to
 * all. */
GPURT_DEV void gpurt_spares_put(const gpurt_task_run_t *run, uint32_t mask, uint32_t who,
                                uint32_t index)
{
    gpurt_taskring_t ring = gpurt_executor_ring(run->map, GPURT_RING_FREE_TASKS);
    uint32_t over;

    if (!who)
        return;
    if (run->hall && run->map->spare) {
        who = gpurt_lanes_behind(
            mask, who,
            gpurt_pocket_put(&run->hall->spare, mask, who, index, run->map->spare));
        if (!who)
            return;
        over = GPURT_TASK_NONE;
        gpurt_pocket_get(&run->hall->spare, mask, mask & ~who, &over);
        if (over != GPURT_TASK_NONE)
            index = over;
        who |= gpurt_ballot(mask, over != GPURT_TASK_NONE);
    }
    gpurt_taskring_push(&ring, mask, who, index);
}

#endif
