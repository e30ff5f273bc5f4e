/* SPDX-License-Identifier: Apache-2.0 */
/* hostcallmap.h - what host calls are made of: their description, the words in device memory, the
 * ports in memory that both sides reach.
 *
 * hostcall.h is what kernels call, hostcalls.h what the host calls; docs/HOST_CALLS.md tells how
 * they work together. No memory is touched here.
 *
 * A port carries one question and its answer, of up to a warp. Its turn counts its questions:
 *
 *   xasked[port]      turn of the last question; then the port is the host's
 *   xanswered         a bit a port: parity of the last turn that was answered; then the port is
 *                     its lanes' again
 *   xfree             a bit a port: it is nobody's
 *   xleft             a bit a port: who asked is gone. Whoever sees its answer frees it */
#ifndef GPURT_HOSTCALLMAP_H
#define GPURT_HOSTCALLMAP_H

#include <gpurt/impl/state.h>

enum {
    GPURT_HOSTCALL_PORTS_MOST = 128, /* their bits are one read of 16 bytes */
    GPURT_HOSTCALL_WORDS = GPURT_HOSTCALL_PORTS_MOST / 32,
    GPURT_HOSTCALL_AREA = 4096,    /* bytes of a port: the question, then the answer */
    GPURT_HOSTCALL_UNIT = 16,      /* bytes of one access */
    GPURT_HOSTCALL_TOGETHER = 128, /* bytes a lane has there, of those that ask together */
    GPURT_HOSTCALL_HEAD = 8,       /* before each answer: its status */
    GPURT_HOSTCALL_ASK_MOST = GPURT_HOSTCALL_AREA,
    GPURT_HOSTCALL_ANSWER_MOST = GPURT_HOSTCALL_AREA - GPURT_HOSTCALL_HEAD,
    GPURT_HOSTCALL_BUCKETS = 32, /* of the latency, in powers of two of nanoseconds */
    GPURT_HOSTCALL_NAME_BYTES = 48,
    GPURT_HOSTCALL_FUNCTIONS = 256 /* numbers of functions; the last ones are built in */
};
#define GPURT_HOSTCALL_TURN_FIRST 0xfffffffcu /* turns wrap at once; even, as a bit of 0 */

/* Numbers of functions that the host always has; the program's are below. */
enum {
    GPURT_HOSTCALL_BUILT_IN = 240,
    GPURT_HOSTCALL_PRINT = 240,
    GPURT_HOSTCALL_WRITE = 241,
    GPURT_HOSTCALL_TIME = 242
};

enum {
    GPURT_HOSTCALLS_OPEN = 0,
    GPURT_HOSTCALLS_DESTROYED = 1 /* kept for a while so that late callers are told */
};

/* Written by: its lanes before they ask, the host before it answers. */
typedef struct GPURT_ALIGN(128) gpurt_hostcall_port {
    uint32_t function, lanes;
    uint32_t ask_bytes, answer_bytes; /* of each lane */
    uint64_t argument;                /* of a built-in function: a file's number */
    uint64_t unused[13];
    /* Units of 16 bytes: the first one of each lane, then the second ones. */
    char area[GPURT_HOSTCALL_AREA];
} gpurt_hostcall_port_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_hostcall_port_t) == 128 + GPURT_HOSTCALL_AREA,
                    "a line, and the area");

/* In memory of gpurt_host_create. Owner: the host. */
typedef struct gpurt_hostcall_side {
    uint32_t xasked[GPURT_HOSTCALL_PORTS_MOST]; /* written by: who has the port */
    uint32_t GPURT_ALIGN(128) xanswered[GPURT_HOSTCALL_WORDS]; /* written by: the host's
                                                                  thread */
    uint32_t unused[32 - GPURT_HOSTCALL_WORDS];
} gpurt_hostcall_side_t;

/* In device memory. Owner: the host, which keeps it for some time after their end. */
typedef struct GPURT_ALIGN(128) gpurt_hostcall_words {
    uint32_t
        xfree[GPURT_HOSTCALL_WORDS]; /* written by: who takes a port or gives it back */
    uint32_t xleft[GPURT_HOSTCALL_WORDS]; /* written by: who leaves, who looks */
    uint32_t
        GPURT_ALIGN(128) xseen[GPURT_HOSTCALL_WORDS]; /* xanswered, as of the last look;
                                                              written by: who looks */
    uint32_t xlooking;                                /* a lane looks; it writes this */
    uint32_t xstate;                                  /* written by: the host */
    uint32_t id;                                      /* as in descriptions of them */
    uint32_t xwaiting; /* lanes that wait for a port at this moment */
    /* Statistics, with atomics, by any lane. */
    uint64_t xcalls, xgroups;   /* lanes' questions; questions of ports */
    uint64_t xwaits;            /* groups that found no port at once */
    uint64_t xlate, xcancelled; /* lanes that left before the answer */
    uint64_t xrefused;          /* lanes that asked nothing: no port in time, bad sizes */
    uint64_t xlooks;            /* reads of the host's line */
    uint64_t xlatency[GPURT_HOSTCALL_BUCKETS]; /* of groups, from question to answer */
    gpurt_waitable_t waitable;
    char name[GPURT_HOSTCALL_NAME_BYTES];
    uint32_t turns[GPURT_HOSTCALL_PORTS_MOST]; /* written by: who has the port */
} gpurt_hostcall_words_t;
#define GPURT_HOSTCALL_WATCHED_BYTES offsetof(gpurt_hostcall_words_t, turns)

/* Host calls as kernels see them: put it into a kernel's arguments. Owner: who made it. Never
 * written. */
typedef struct gpurt_hostcalls {
    gpurt_hostcall_words_t *words; /* NULL: none */
    gpurt_hostcall_side_t *side;
    gpurt_hostcall_port_t *ports;
    uint32_t port_count;
    uint32_t id; /* given once in a process */
} gpurt_hostcalls_t;

/* Where a lane's unit lies in the area. rank: among the lanes that asked. */
GPURT_HD uint32_t gpurt_hostcall_unit_at(uint32_t unit, uint32_t rank, uint32_t lanes)
{
    return (unit * lanes + rank) * GPURT_HOSTCALL_UNIT;
}

GPURT_HD uint32_t gpurt_hostcall_units(uint32_t bytes)
{
    return (bytes + GPURT_HOSTCALL_UNIT - 1) / GPURT_HOSTCALL_UNIT;
}

/* Whether lanes may share a port with so many bytes each. */
GPURT_HD bool gpurt_hostcall_shares(uint32_t ask_bytes, uint32_t answer_bytes)
{
    return ask_bytes <= GPURT_HOSTCALL_TOGETHER &&
           answer_bytes <= GPURT_HOSTCALL_TOGETHER - GPURT_HOSTCALL_HEAD;
}

#endif
