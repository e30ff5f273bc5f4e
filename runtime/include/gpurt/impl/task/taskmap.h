/* SPDX-License-Identifier: Apache-2.0 */
/* taskmap.h - where an executor keeps its tasks: layouts that the host makes and kernels use.
 *
 *   map --< task        a row of 64 bytes: counters, arguments
 *       --< edge        who waits for whom: a list at the task that is waited for
 *       --< ring        numbers of tasks: a level of priority each, free tasks; free edges; tasks
 *                       of each group that wait for its time, and those that wait for their own
 *                       (a block has pockets of its own in front of them: taskrun.h)
 *       --< warp        what a warp has pulled, for whoever cleans up behind it
 *       --< block       what its warps did, and its deque
 *       --- desk        words and orders of the host */
#ifndef GPURT_TASKMAP_H
#define GPURT_TASKMAP_H

#include <gpurt/service.h>

#include <gpurt/impl/group.h>
#include <gpurt/impl/task/taskring.h>

enum {
    GPURT_TASK_BYTES = 64,
    GPURT_TASK_ARGS_BYTES = 48,
    GPURT_TASK_LEVELS = 8, /* of priority, the most urgent first */
    GPURT_TASK_GROUPS = 6, /* with a quota of time (taskgroup.h) */
    GPURT_TASK_NORMAL = 3,
    GPURT_TASK_ORDERS = 1024, /* of the host, under way at a time */
    GPURT_TASK_BATCH = 31,    /* tasks that a warp takes up at a time, if they are short */
    GPURT_TASK_PENDING = 1,   /* of a record: its task has not ended; no status is that */
    GPURT_TASK_TOGETHER = 2,  /* of a warp's task: it runs with others; likewise */
    GPURT_TASK_GATHERED = 3,  /* likewise: all warps of the block run it */
    GPURT_TASK_KINDS =
        16, /* functions that are counted apart; those behind with the last */
    GPURT_TASK_SAMPLED_BITS = 4,
    GPURT_TASK_SAMPLED =
        1
        << GPURT_TASK_SAMPLED_BITS, /* of so many rows one tells how long its tasks wait */
    GPURT_TASK_WAITS = 32,          /* buckets of that: of bucket i from 2^i ns on */
    GPURT_DEQUE_SHIFT = 13          /* a block's deque has room for 1 << that many tasks */
};

/* A mark of a task: generation << 32 | what befell it | newest edge + 1. */
#define GPURT_TASK_STOP      (1ull << 31) /* it was cancelled when it had begun */
#define GPURT_TASK_BEGUN     (1ull << 30)
#define GPURT_TASK_CANCELLED (1ull << 29)
#define GPURT_TASK_TAINTED   (1ull << 28) /* one that it waited for has failed */
#define GPURT_TASK_EDGES     ((1ull << 28) - 1)

/* How a task is spawned: a priority, and any of these. */
#define GPURT_TASK_PRIORITY(p) ((uint32_t)(p)&7u) /* -4 to 3; the more, the sooner */
#define GPURT_TASK_HELD        8u  /* it starts when it is told to (gpurt_task_start) */
#define GPURT_TASK_CHILD       16u /* its parent ends after it */
#define GPURT_TASK_ANYWAY      32u /* it runs also when one that it waits for fails */
#define GPURT_TASK_RETRIES(n)  (((n) < 3u ? (uint32_t)(n) : 3u) << 6) /* behind a panic */
#define GPURT_TASK_GROUP(g)    ((uint32_t)(g) << 8) /* 1 to 6; 0: of none */
/* It is best run where other tasks of that place are, 0 to 254 (taskplace.h). */
#define GPURT_TASK_AT(place) ((uint32_t)((place) + 1) << 16)

/* flags of a task, with GPURT_TASK_ANYWAY, and GPURT_TASK_RETRIES of how often it may still run again */
enum {
    GPURT_TASK_OVER = 1,      /* its body has ended, and its children have not all */
    GPURT_TASK_GROUP_BIT = 1, /* from here on three bits: its group */
    GPURT_TASK_LOCKED =
        16, /* it has taken a task lock: another run could not take it anew */
};

/* What stays while a task lives, but for its flags: read once, by who runs it. */
typedef struct gpurt_task_head {
    uint32_t parent;   /* + 1; 0: none */
    uint32_t record;   /* of the host's, + 1; 0: none */
    uint16_t function; /* its place in the list of its executor */
    uint8_t level;
    uint8_t flags;
} gpurt_task_head_t;

/* Owner: the pool; from spawn to end whoever holds it, a queue or a warp. The plain fields are
 * written before it is pushed, and by the warp that runs it. Its mark lies apart: an atomic on the row
 * would cost each body its arguments in the L1. */
typedef struct GPURT_ALIGN(64) gpurt_task_row {
    uint32_t xneeds; /* edges to it, children, and one while it is held or runs with
                        * children; written by: any lane */
    gpurt_task_head_t head;
    uint64_t args[GPURT_TASK_ARGS_BYTES / 8]; /* of one that is OVER: status, result */
} gpurt_task_row_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_task_row_t) == GPURT_TASK_BYTES, "half a line");

/* Written before it is found, by who adds it. */
typedef struct gpurt_task_edge {
    uint32_t next; /* + 1; 0: the last */
    uint32_t to;
} gpurt_task_edge_t;

enum {
    GPURT_RING_FREE_TASKS = GPURT_TASK_LEVELS,
    GPURT_RING_FREE_EDGES,
    GPURT_RING_GROUPS, /* from here on one each, as many as the executor has */
    GPURT_RING_TIMED = GPURT_RING_GROUPS + GPURT_TASK_GROUPS, /* tasktimed.h */
    GPURT_RINGS
};

/* A group of tasks. written by: any lane */
typedef struct GPURT_ALIGN(128) gpurt_task_group {
    uint64_t xuntil; /* taskgroup.h */
    uint64_t xcost;  /* of a nanosecond in a body, << GPURT_GROUP_COST_BITS; 0: no quota */
    uint64_t xburst; /* nanoseconds that xuntil may be ahead of now */
    uint64_t xused_ns; /* in bodies */
    uint64_t xheld;    /* times that a task was put into its ring */
    uint64_t unused[11];
} gpurt_task_group_t;

typedef struct gpurt_task_line {
    uint32_t x; /* written by: any lane */
    uint32_t unused[31];
} gpurt_task_line_t;

/* A place. written by: any lane */
typedef struct GPURT_ALIGN(128) gpurt_task_place {
    uint32_t xcredits;
    uint32_t xheld; /* slots of its ring that are taken, or about to be */
    uint32_t unused[30];
    gpurt_task_line_t head, tail;
} gpurt_task_place_t;

/* In device memory; words that are written apart lie on lines of their own. */
typedef struct GPURT_ALIGN(128) gpurt_executor_words {
    /* The first line: a warp reads it at once. */
    uint32_t xcredits[GPURT_RINGS];
    uint32_t xsleepers; /* blocks asleep */
    uint32_t xhungry;   /* blocks awake in which a warp looks for work */
    uint32_t xcommand;  /* the host's last command that a block has found */
    uint64_t xdue;      /* when a task's time comes, about; written by: any lane */
    uint32_t xstops;    /* tasks with GPURT_TASK_STOP; written by: any lane */
    uint32_t xplaced;   /* tasks that wait at places; written by: likewise */
    uint32_t xdeques;   /* blocks whose deque has tasks; written by: likewise */
    uint32_t unused0[7];
    uint64_t xlive; /* drain that is asked for << 32 | tasks spawned and not ended */
    uint64_t unused1[15];
    uint32_t xwake;   /* grows when who sleeps should look */
    uint32_t xlooked; /* when a block last looked at the host's words */
    uint32_t unused2[30];
    uint32_t xinjecting; /* 1: a warp takes orders of the host's */
    uint32_t xtaken;     /* orders that were; written by: that warp, as the next */
    uint64_t
        xstands; /* globaltimer: since then no row comes free for an order; 0: not so */
    uint32_t unused3[28];
    uint32_t xasks; /* times that a body told what it waits for; written by: any lane */
    uint32_t unused4[31];
    gpurt_task_line_t heads[GPURT_RINGS], tails[GPURT_RINGS];
    uint64_t xlongest[GPURT_TASK_KINDS];          /* cycles of a body of each kind */
    gpurt_task_group_t groups[GPURT_TASK_GROUPS]; /* the first is group 1 */
} gpurt_executor_words_t;

/* Of a kind of tasks; written by: a block's warps, now and then. */
typedef struct gpurt_task_sum {
    uint64_t xruns, xcycles; /* of bodies */
} gpurt_task_sum_t;

/* What a block's warps did. written by: them, now and then. */
typedef struct GPURT_ALIGN(128) gpurt_executor_block {
    uint64_t xended, xfailed, xcancelled; /* tasks; each is one of the three */
    uint64_t xrefused;                    /* spawns and edges that found no room */
    uint64_t xat_once;                    /* successors that the warp of the last one ran */
    uint64_t xuseful, xwaiting, xtotal;   /* cycles: in bodies, idle, all */
    uint64_t xasleep;                     /* 1: it is */
    uint64_t xkept[2];                    /* tasks ready in its pockets, 16 bits a level */
    uint64_t xsm;                         /* its multiprocessor, as it began */
    uint64_t xmoved;     /* of sampled rows: tasks that became ready on another one */
    uint64_t xgroupless; /* times that a task was taken up whose group there is not */
    uint64_t xsliced;    /* bodies that the log was told of (taskslice.h) */
    uint64_t xretried;   /* runs that a panic cut short, and that are made again */
    uint64_t xplaced;    /* times that a task with a place was taken up; ... */
    uint64_t xastray;
    uint64_t xdeque;  /* its deque (taskdeque.h); written by: any block's warps */
    uint64_t xstolen; /* tasks that it took from the deques of others */
    uint64_t unused[12];
    uint32_t xwaits[GPURT_TASK_WAITS]; /* from ready to taken up, of sampled rows */
    gpurt_task_sum_t kinds[GPURT_TASK_KINDS];
} gpurt_executor_block_t;

/* A task of a warp's batch; written by: a lane of that warp. */
typedef struct gpurt_task_held {
    uint32_t xindex;  /* GPURT_TASK_NONE: it is closed */
    uint32_t xstatus; /* GPURT_TASK_PENDING, _TOGETHER, _GATHERED, or how it ended */
    uint64_t xvalue;  /* of one that is PENDING: not 0, it had begun before */
} gpurt_task_held_t;

/* What a warp holds, for the handler that runs when its block is cancelled. */
typedef struct GPURT_ALIGN(64) gpurt_executor_warp {
    const struct gpurt_executor_map *map;
    gpurt_executor_block_t *block;
    struct gpurt_executor_hall *hall;
    uint64_t xat;     /* its last body: gpurt_warp_word; written by: its leader */
    uint32_t xcount;  /* of its batch; written by: its leader */
    uint32_t xnext;   /* GPURT_TASK_NONE: none; written by: its leader */
    uint32_t xlooks;  /* 1: it is counted in xhungry; written by: its leader */
    uint32_t xinside; /* 1: in that of its hall; written by: its leader */
    uint32_t
        xgroup; /* of the body that runs, 0: none; written by: its leader, as the next */
    uint64_t xowes; /* globaltimer: its group is to be charged since then */
    gpurt_task_held_t held[GPURT_TASK_BATCH];
} gpurt_executor_warp_t;

/* What is to be known of a body before it runs: function << 16 | level << 8 | group << 5 | its place in
 * the batch + 1, which is never 0. */
GPURT_HD uint32_t gpurt_body_key(const gpurt_task_head_t *head, uint32_t group, uint32_t at)
{
    return (uint32_t)head->function << 16 | (uint32_t)head->level << 8 | group << 5 |
           (at + 1);
}
GPURT_HD uint32_t gpurt_body_function(uint32_t key)
{
    return key >> 16;
}
GPURT_HD uint32_t gpurt_body_level(uint32_t key)
{
    return (uint8_t)(key >> 8);
}
GPURT_HD uint32_t gpurt_body_group(uint32_t key)
{
    return key >> 5 & 7u;
}
/* Of one function and one group: lanes can run them together. */
GPURT_HD bool gpurt_bodies_alike(uint32_t key, uint32_t other)
{
    return ((key ^ other) & 0xffff00e0u) == 0;
}
/* How many bodies of the batch have begun. */
GPURT_HD uint32_t gpurt_body_begun(uint32_t key)
{
    return key & 31u;
}
GPURT_STATIC_ASSERT(GPURT_TASK_BATCH < 32 && GPURT_TASK_GROUPS < 8, "bits of a key");

/* One word for who looks: the key of the last body that has begun, and the low bits of its clock, by
 * which it differs from the one before. */
GPURT_HD uint64_t gpurt_warp_word(uint64_t clock, uint32_t key)
{
    return clock << 32 | key;
}
GPURT_HD uint32_t gpurt_warp_begun(uint64_t word)
{
    return gpurt_body_begun((uint32_t)word);
}
GPURT_HD uint32_t gpurt_warp_function(uint64_t word)
{
    return gpurt_body_function((uint32_t)word);
}

/* How many tasks a deque has, and of which level (taskdeque.h). */
GPURT_HD uint32_t gpurt_deque_count(uint64_t word)
{
    return (uint16_t)((word >> 16) - word);
}
GPURT_HD uint32_t gpurt_deque_level(uint64_t word)
{
    return word >> 32 & 7u;
}

/* An order of the host's. */
typedef enum gpurt_task_what {
    GPURT_ORDER_SPAWN = 1,
    GPURT_ORDER_AFTER = 2, /* the task of `record` waits for that of `other` */
    GPURT_ORDER_START = 3,
    GPURT_ORDER_CANCEL = 4,
    GPURT_ORDER_DRAIN = 5, /* tell when nothing lives; `other` is the drain's number */
    GPURT_ORDER_QUOTA = 6  /* of group `other`: args are its xcost and xburst */
} gpurt_task_what_t;

typedef struct GPURT_ALIGN(64) gpurt_task_order {
    uint16_t what, function;
    uint32_t record, other, how; /* record: + 1 */
    uint64_t args[GPURT_TASK_ARGS_BYTES / 8];
} gpurt_task_order_t;

/* In memory that both sides reach, as is the desk. */
typedef struct gpurt_task_record {
    uint32_t xstatus; /* GPURT_TASK_PENDING, or how it ended; written by: that warp */
    uint32_t unused;
    uint64_t value;
} gpurt_task_record_t;

typedef struct gpurt_executor_desk {
    uint32_t xposted; /* orders; written by: the host */
    uint32_t unused0[31];
    uint32_t xtaken, xquiet; /* orders; the drain that is over; written by: a warp */
    uint32_t unused1[30];
    gpurt_task_order_t orders[GPURT_TASK_ORDERS];
} gpurt_executor_desk_t;

/* Constant while the executor is open. */
typedef struct gpurt_executor_map {
    gpurt_task_row_t *tasks;
    uint64_t *marks; /* of a row each; written by: any lane */
    uint64_t *due; /* likewise: its time, while it waits for one; written by: who runs it */
    gpurt_task_edge_t *edges;
    uint64_t *slots; /* of all rings, one behind the other */
    uint8_t *at; /* of a row each: its place, + 1; 0: any. Without places there is none */
    gpurt_task_place_t *homes;
    uint64_t *home_slots; /* 1 << home_shift of a place each */
    uint32_t *deques;     /* numbers, 1 << GPURT_DEQUE_SHIFT of a block each */
    gpurt_executor_words_t *words;
    gpurt_executor_block_t *blocks;
    gpurt_executor_warp_t *warps;
    uint64_t *queued; /* of each row that is looked at, one of 1 << queued_shift:
                       * gpurt_queued_word; 0: it is in no queue, and was in none before it began */
    uint64_t *
        causes; /* of a row each: the handle of the task that spawned it, or was the last that it
                       * waited for; NULL: no slices */
    uint32_t *moves; /* a pair of multiprocessors each, from and to: of sampled rows */
    uint64_t *named; /* handle of the task of each record; written by: who takes orders */
    gpurt_group_t
        *waits; /* of a row each: what its task waits for, as its body told (taskwait.h);
                           * written by: that body. NULL: nobody looks */
    uint32_t *
        lines; /* of a function each: the number of its line; written by: block 0. NULL: likewise */
    gpurt_executor_desk_t *desk;
    gpurt_task_record_t *records;
    const struct gpurt_executor_map *self;                   /* this, in device memory */
    uint32_t task_count, edge_count, task_shift, edge_shift; /* 1 << shift: their rings */
    uint32_t spare; /* free tasks that a block keeps at most: with few in all, none */
    uint32_t
        pocket; /* ready tasks of a level that a block keeps in shared memory at most */
    uint32_t
        scarce;   /* fewer free rows than that: blocks keep what overflows their pockets */
    uint32_t sms; /* of the device */
    uint32_t
        fair_pulls; /* of a block, of which one begins with the least urgent; 0: none */
    uint32_t groups, places, home_shift;
    uint32_t queued_shift;
    uint32_t id;            /* of the executor, in its process */
    uint64_t slice_cycles;  /* of a warp, between two bodies that it tells the log of */
    uint64_t slice_longest; /* cycles: of a body that takes longer it always does */
} gpurt_executor_map_t;

/* What the library and a program's kernels have to agree upon. It grows when a word of these gets another meaning. */
#define GPURT_TASK_LAYOUT                                                               \
    ((uint32_t)(((sizeof(gpurt_executor_map_t) * 31 + sizeof(gpurt_executor_words_t)) * \
                     31 +                                                               \
                 sizeof(gpurt_executor_block_t)) *                                      \
                    31 +                                                                \
                sizeof(gpurt_executor_warp_t) + 2))

struct gpurt_executor_args {
    gpurt_executor_map_t map;
    gpurt_service_port_t service;
};

GPURT_HD uint32_t gpurt_task_level(uint32_t how)
{
    return (GPURT_TASK_NORMAL - how) & 7u; /* of -4 to 3, in three bits */
}

GPURT_HD uint32_t gpurt_how_group(uint32_t how)
{
    return how >> 8 & 255u;
}
/* + 1; 0: any. */
GPURT_HD uint32_t gpurt_how_place(uint32_t how)
{
    return how >> 16 & 255u;
}

/* What stays of it: the flags of a task that has not begun. Too large a group is the seventh, which
 * no executor has. */
GPURT_HD uint8_t gpurt_task_flags(uint32_t how)
{
    uint32_t group = gpurt_how_group(how) < 7u ? gpurt_how_group(how) : 7u;

    return (uint8_t)((how & (GPURT_TASK_ANYWAY | GPURT_TASK_RETRIES(3))) |
                     group << GPURT_TASK_GROUP_BIT);
}
GPURT_HD uint32_t gpurt_task_group(uint32_t flags)
{
    return flags >> GPURT_TASK_GROUP_BIT & 7u;
}

GPURT_HD gpurt_taskring_t gpurt_executor_ring(const gpurt_executor_map_t *m, uint32_t i)
{
    gpurt_taskring_t r;

    r.credits = &m->words->xcredits[i];
    r.head = &m->words->heads[i].x;
    r.tail = &m->words->tails[i].x;
    r.slots = m->slots + ((size_t)i << m->task_shift);
    r.shift = i == GPURT_RING_FREE_EDGES ? m->edge_shift : m->task_shift;
    return r;
}

#endif
