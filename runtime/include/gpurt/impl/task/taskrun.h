/* SPDX-License-Identifier: Apache-2.0 */
/* taskrun.h - what the body of a task is given, and what its block keeps in shared memory.
 *
 * All counts of the device are for all blocks, so each access to them is far and crowded. A block
 * keeps tasks that are ready and rows that are free in pockets of its own, and looks at the device's
 * words once for all its warps. What it knows of the device are hints: who pulls finds out.
 *
 * Context: device code. Nothing here is a safe point, so a warp that is cancelled has done each
 * step wholly or not at all. A `mask` names the lanes that call together: a whole warp, or the
 * one lane that cleans up behind one. */
#ifndef GPURT_TASKRUN_H
#define GPURT_TASKRUN_H

#include <stddef.h>

#include <gpurt/clock.h>
#include <gpurt/hostword.h>
#include <gpurt/panic.h>
#include <gpurt/status.h>

#include <gpurt/impl/task/taskhand.h>
#include <gpurt/impl/task/taskmap.h>
#include <gpurt/impl/task/taskpocket.h>

/* generation << 32 | index + 1; 0: none. */
typedef uint64_t gpurt_task_t;

/* Words of the first line of gpurt_executor_words_t, counted from its begin. */
enum {
    GPURT_WORD_SLEEPERS = offsetof(gpurt_executor_words_t, xsleepers) / 4,
    GPURT_WORD_HUNGRY = offsetof(gpurt_executor_words_t, xhungry) / 4,
    GPURT_WORD_COMMAND = offsetof(gpurt_executor_words_t, xcommand) / 4,
    GPURT_WORD_STOPS = offsetof(gpurt_executor_words_t, xstops) / 4,
    GPURT_WORD_PLACED = offsetof(gpurt_executor_words_t, xplaced) / 4,
    GPURT_WORD_DEQUES = offsetof(gpurt_executor_words_t, xdeques) / 4
};

enum {
    GPURT_HALL_LOOK_CYCLES = 4000,  /* between two looks at the device's words */
    GPURT_HALL_CALM_CYCLES = 16000, /* the same while most blocks have work */
    GPURT_HALL_MANY = 16, /* one of so many blocks without work: the others hurry */
    GPURT_HALL_TELL_CYCLES =
        1 << 18, /* between two times that a block tells what it counts */
    GPURT_HALL_AHEAD_CYCLES = 16000, /* what a block keeps while others are without work */
    GPURT_HALL_PULL_CYCLES = 1000,   /* what it takes to come to a body, or so */
    GPURT_HALL_FAIR = 8,             /* pulls, of which one asks the ring first */
    GPURT_HALL_DEEP = 4096,          /* as GPURT_HALL_FAIR, while rows are scarce */
    GPURT_HALL_ENDED = 1024          /* tasks, of which xlive may not know yet */
};
#define GPURT_GATHER_TAKEN UINT32_MAX
/* Of a hall's xlevels: those of the device's rings; of its deque, from the bit of level 0 on; rows are scarce. */
#define GPURT_LEVELS_RINGS  ((1u << GPURT_TASK_LEVELS) - 1)
#define GPURT_LEVELS_DEQUE  (1u << GPURT_TASK_LEVELS)
#define GPURT_LEVELS_SCARCE (1u << 2 * GPURT_TASK_LEVELS)

/* Bodies of a kind that the device's words do not count yet. */
typedef struct gpurt_hall_kind {
    uint32_t xruns, xcycles;
    uint64_t xlongest; /* cycles */
} gpurt_hall_kind_t;

/* Of a block. In shared memory; each word is written by any warp. map: a copy, which acquiring does not push out
 * of the L1; constant. */
typedef struct gpurt_executor_hall {
    gpurt_executor_map_t map;
    uint32_t xmeet;  /* 1: its warps come to gpurt_service_go */
    uint32_t xnews;  /* grows when idle warps should look */
    uint32_t xlooks; /* an idle warp looks for all of them: its number + 1; 0: none */
    uint32_t xdraws; /* 1: a warp draws from the device's rings for all of them */
    uint32_t
        xlevels; /* GPURT_LEVELS: where tasks are that it has not in its pockets, as last seen */
    uint32_t xhungry;  /* blocks without work, as last seen */
    uint32_t xlooked;  /* clock of that */
    uint32_t xtold;    /* clock: what the block counts was told */
    uint32_t xcommand; /* the host's, as last seen */
    uint32_t
        xstops; /* tasks are asked to stop, as last seen: their children do not begin */
    uint32_t xleaves;    /* 1: a warp has left, and what it had is in the queues */
    uint32_t xended;     /* tasks that ended here and that xlive counts still */
    uint32_t xtakes;     /* cycles of a body, about */
    uint32_t xturns;     /* pulls at which a ring and a pocket had tasks alike */
    uint32_t xpulls;     /* where the least urgent have a turn */
    uint32_t xstrays;    /* 1: who looks takes tasks from the places of others */
    uint32_t xdequelock; /* 1: held */
    uint64_t
        xdeque; /* of its deque, as the block knows it; written by: who holds the lock */
    /* A task of a block (taskgather.h). */
    uint32_t xposted;  /* + 1; 0: none; GPURT_GATHER_TAKEN: it runs */
    uint32_t xinside;  /* warps that run it, or are about to; written by: each (adds) */
    uint32_t xkey;     /* of what runs; 0: nothing; written by: warp 0, as the next */
    uint32_t xgathers; /* 1: it is the last's to end of those inside */
    uint32_t xtainted, xstopped; /* as of a warp's batch */
    uint64_t xtask;
    gpurt_hands_t hands;
    gpurt_hall_kind_t kinds[GPURT_TASK_KINDS];
    gpurt_pocket_t ready[GPURT_TASK_LEVELS], spare; /* spare: tasks that are free */
} gpurt_executor_hall_t;

/* What a task's body is given. Owner: each lane; the same in all lanes of the warp. */
typedef struct gpurt_task_run {
    const gpurt_executor_map_t *map; /* the hall's */
    gpurt_executor_hall_t *hall; /* NULL: a lane that cleans up, and keeps nothing back */
    gpurt_executor_block_t *block;
    gpurt_task_row_t *row;
    gpurt_task_t task;
    uint32_t key; /* gpurt_body_key */
    /* Clean before each body. */
    gpurt_status_t status;
    uint64_t value;
    uint64_t until; /* globaltimer: it does not run again before; 0: no matter when */
    bool parent;    /* it has got children in this run, or waits again: xneeds counts it */
    bool again;
    bool vain; /* with again: it has looked for what is not there yet */
    bool odd;  /* there is more to see to when it ends, in lanes that know of it */
} gpurt_task_run_t;

GPURT_HD uint32_t gpurt_task_index(gpurt_task_t task)
{
    return (uint32_t)task - 1;
}

/* The handle of a row that the caller holds: nobody else gives it another generation. */
GPURT_DEV gpurt_task_t gpurt_task_named(const gpurt_executor_map_t *m, uint32_t index)
{
    /* relaxed: so */
    return (gpurt_load_relaxed_dev_u64(&m->marks[index]) & ~(uint64_t)UINT32_MAX) |
           (index + 1);
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

/* Lanes are missing. If none has panicked, they are elsewhere. */
GPURT_DEVN void gpurt_task_apart(void)
{
    if (!gpurt_cancelled())
        GPURT_PANIC(
            "some lanes of a warp called what its 32 lanes have to call together, as "
            "gpurt_task_spawn: call it outside of branches, `wanted` says for which "
            "lanes");
}

/* Whether no lane of the warp has left. If one has, of a panic or by itself, the block is cancelled
 * and the others leave, too. */
GPURT_DEV bool gpurt_task_whole(void)
{
    if (gpurt_ballot(GPURT_FULL_MASK, true) == GPURT_FULL_MASK)
        return true;
    gpurt_task_apart();
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

#endif
