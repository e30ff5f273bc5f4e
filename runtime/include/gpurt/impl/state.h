/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - the state pages of a section of the black box: what each lane said last of
 * where it is and what it waits for, and the objects that lanes wait for, with who holds
 * them.
 *
 *   gpurt_state_head_t
 *   waits     gpurt_group_t [ring_count * 32]: of ring r and lane l at r * 32 + l
 *   objects   gpurt_waitable_entry_t [as many as fit]
 *
 * A wait and an owner are one group each, stored by one instruction: a reader sees all of
 * it or none, whatever happens to the writer. A wait is written by its lane alone. Nothing
 * here is ever waited for; a reader takes what stands there. Verbs: waits.h (device),
 * waitgraph.h (host). */
#ifndef GPURT_STATE_H
#define GPURT_STATE_H

#include <gpurt/impl/box.h>

enum {
    GPURT_STATE_OBJECTS = 1024, /* by default, a section */
    GPURT_STATE_OBJECTS_MAX = 0x8000,
    GPURT_STATE_OWNERS = 7
};

/* What a lane waits for. Numbers are frozen. */
enum {
    GPURT_WAIT_NONE = 0,  /* nothing: the site is where it was last */
    GPURT_WAIT_OWNER = 1, /* that whoever holds the object lets go */
    GPURT_WAIT_ALL = 2,   /* that all others arrive */
    GPURT_WAIT_DATA = 3,  /* that one of its senders puts something in */
    GPURT_WAIT_ROOM = 4,  /* that one of its receivers takes something out */
    GPURT_WAIT_WORD = 5,  /* that a word changes, by whoever holds the object */
    GPURT_WAIT_DONE = 6,  /* that one of its receivers acknowledges; of host threads */
    GPURT_WAIT_CREDIT = 7 /* that one of its receivers grants a credit */
};

/* Kinds of objects. Numbers are frozen. */
enum {
    GPURT_WAITABLE_OTHER = 0,
    GPURT_WAITABLE_LOCK = 1,
    GPURT_WAITABLE_BARRIER = 2,
    GPURT_WAITABLE_CHANNEL = 3,
    GPURT_WAITABLE_FUTEX = 4,
    GPURT_WAITABLE_SEMAPHORE = 5,
    GPURT_WAITABLE_KINDS = 6
};

/* Numbers of objects that every launch has. */
enum {
    GPURT_WAITABLE_NAMED = 0xffe0, /* + number of the block's named barrier */
    GPURT_WAITABLE_CLUSTER = 0xfffd,
    GPURT_WAITABLE_BLOCK = 0xfffe,
    GPURT_WAITABLE_GRID = 0xffff
};

/* Who holds an object. One holds it alone, or some do together: those share places by
 * their ring, so some of many are known. */
enum {
    GPURT_HOLD_ALONE = 0,    /* place 0 */
    GPURT_HOLD_SENDER = 1,   /* places 1 to 3; and whoever arrives at a barrier */
    GPURT_HOLD_RECEIVER = 2, /* places 4 to 6 */
    GPURT_HOLD_SHARED = 3    /* places 1 to 6: readers of a lock, members of a barrier */
};

typedef struct GPURT_ALIGN(128) gpurt_state_head {
    uint32_t xobjects; /* taken, or asked for; written by: lanes that name */
    uint32_t reserved[31];
} gpurt_state_head_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_state_head_t) == 128, "layout of version 1");

typedef struct GPURT_ALIGN(128) gpurt_waitable_entry {
    uint32_t xstate; /* its kind plus one, stored last; written by: the lane that names */
    uint16_t name;   /* number of a string's definition, 0 none */
    uint16_t reserved;
    uint32_t index; /* behind the name, GPURT_WAITABLE_SINGLE: none */
    uint32_t key;   /* gpurt_waitable_key, by which the host knows it; 0 in older boxes */
    gpurt_group_t xowners[GPURT_STATE_OWNERS]; /* written by: who holds it */
} gpurt_waitable_entry_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_waitable_entry_t) == 128, "layout of version 1");
#define GPURT_WAITABLE_SINGLE 0xffffffffu

/* What a program puts into each object that lanes wait for; zeroed at first. Owner: the
 * program. */
typedef struct gpurt_waitable {
    uint32_t xnumber; /* number | epoch << 16; written by: the lane that names it */
} gpurt_waitable_t;

/* A number of the object's that host and device find by themselves: of its address. Two objects of a
 * process seldom share one; names tell those apart. */
GPURT_HD uint32_t gpurt_waitable_key(const gpurt_waitable_t *o)
{
    uint64_t at = (uint64_t)(uintptr_t)o;

    return (uint32_t)(at >> 2 ^ at >> 33) | 1u << 31; /* no bit of an address is lost */
}

/* A wait, unpacked. */
typedef struct gpurt_state_wait {
    uint32_t object; /* its number, 0 without a name */
    uint32_t site, block, warp, reason;
    uint32_t launch; /* low bits of the launch's number, 0 where that is not known */
    uint64_t time48; /* when it began */
} gpurt_state_wait_t;

GPURT_HD gpurt_group_t gpurt_state_wait_pack(const gpurt_state_wait_t *w)
{
    gpurt_group_t g;

    g.tag = (w->object & 0xffffu) | w->site << 16;
    g.word[0] = w->block;
    g.word[1] = (uint32_t)w->time48;
    g.word[2] = (uint32_t)(w->time48 >> 32 & 0xffffu) | (w->warp & 31u) << 16 |
                (w->reason & 7u) << 21 | w->launch << 24;
    return g;
}

/* A lane that never said anything left zeros. */
GPURT_HD gpurt_state_wait_t gpurt_state_wait_unpack(gpurt_group_t g)
{
    gpurt_state_wait_t w;

    w.object = g.tag & 0xffffu;
    w.site = g.tag >> 16;
    w.block = g.word[0];
    w.time48 = g.word[1] | (uint64_t)(g.word[2] & 0xffffu) << 32;
    w.warp = g.word[2] >> 16 & 31u;
    w.reason = g.word[2] >> 21 & 7u;
    w.launch = g.word[2] >> 24;
    return w;
}

/* An owner, unpacked. */
typedef struct gpurt_state_owner {
    uint32_t place; /* ring * 32 + lane, plus one; 0: nobody */
    uint32_t site, block, warp;
    uint64_t time48; /* since when, in steps of 2^16 ns */
} gpurt_state_owner_t;

GPURT_HD gpurt_group_t gpurt_state_owner_pack(const gpurt_state_owner_t *o)
{
    gpurt_group_t g;

    g.tag = (o->site & 0xffffu) | (o->warp & 31u) << 16;
    g.word[0] = o->block;
    g.word[1] = o->place;
    g.word[2] = (uint32_t)(o->time48 >> 16);
    return g;
}

GPURT_HD gpurt_state_owner_t gpurt_state_owner_unpack(gpurt_group_t g)
{
    gpurt_state_owner_t o;

    o.site = g.tag & 0xffffu;
    o.warp = g.tag >> 16 & 31u;
    o.block = g.word[0];
    o.place = g.word[1];
    o.time48 = (uint64_t)g.word[2] << 16;
    return o;
}

/* A task that is an owner: its place is its executor's, its block the task's row, and in the place of the
 * warp stands a part of its generation. Older readers know no such place, and leave it out. */
#define GPURT_STATE_TASKS 0xc0000001u /* the place of executor 0 */
#define GPURT_STATE_TURNS 0xffffu     /* of a generation, what is kept */

typedef struct gpurt_state_task {
    uint32_t executor, row, generation, site;
    uint64_t time48; /* as of an owner */
} gpurt_state_task_t;

GPURT_HD gpurt_group_t gpurt_state_task_pack(const gpurt_state_task_t *t)
{
    gpurt_group_t g;

    g.tag = (t->site & 0xffffu) | t->generation << 16;
    g.word[0] = t->row;
    g.word[1] = GPURT_STATE_TASKS + t->executor;
    g.word[2] = (uint32_t)(t->time48 >> 16);
    return g;
}

/* Returns: false, the owner is no task. */
GPURT_HD bool gpurt_state_task_unpack(gpurt_group_t g, gpurt_state_task_t *t)
{
    t->executor = g.word[1] - GPURT_STATE_TASKS;
    t->row = g.word[0];
    t->generation = g.tag >> 16;
    t->site = g.tag & 0xffffu;
    t->time48 = (uint64_t)g.word[2] << 16;
    return g.word[1] >= GPURT_STATE_TASKS;
}

/* Where a holder in this role stands among an object's owners. */
GPURT_HD uint32_t gpurt_state_owner_at(uint32_t role, uint32_t ring)
{
    return role == GPURT_HOLD_SENDER     ? 1 + ring % 3
           : role == GPURT_HOLD_RECEIVER ? 4 + ring % 3
           : role == GPURT_HOLD_SHARED   ? 1 + ring % 6
                                         : 0;
}

/* Bytes of state pages, and what of them are objects. */
GPURT_HD uint64_t gpurt_state_bytes(uint32_t ring_count, uint32_t objects)
{
    return sizeof(gpurt_state_head_t) +
           (uint64_t)ring_count * GPURT_WARP_SIZE * sizeof(gpurt_group_t) +
           (uint64_t)objects * sizeof(gpurt_waitable_entry_t);
}
GPURT_HD uint32_t gpurt_state_objects(uint32_t ring_count, uint64_t bytes)
{
    uint64_t fixed = gpurt_state_bytes(ring_count, 0);
    uint64_t count = bytes > fixed ? (bytes - fixed) / sizeof(gpurt_waitable_entry_t) : 0;

    return count < GPURT_STATE_OBJECTS_MAX ? (uint32_t)count
                                           : (uint32_t)GPURT_STATE_OBJECTS_MAX;
}

#endif
