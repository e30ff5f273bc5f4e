/* SPDX-License-Identifier: Apache-2.0 */
/* inflight.h - launches that have not ended, as far as that is known, by stream: what runs, and what
 * waits behind it. On request alone (GPURT_CUPTI=running): each launch pays for it.
 *
 * A launch is noted before it is made, in a table of fixed size: a lock that nobody else is likely to
 * hold, and some 80 bytes. It ends with its record; with the record of a later one of its stream, as
 * a stream runs one behind another; when the host has waited for its stream or its context; or when
 * the driver says that its stream is empty. Another thread tells of what has been there for long
 * (runninglook.h).
 *
 * A launch gets its place in the order of launches as its call comes back. A wait ends those that had
 * one before the wait began. A launch that is still being made, as code is loaded for it, has none,
 * and so has not ended.
 *
 * Launches come from CUPTI's callbacks (calledback.h) or from the hook (hooked.h), not from both. */
#ifndef GPURT_CUPTI_INFLIGHT_H
#define GPURT_CUPTI_INFLIGHT_H

#include "launchcall.h"
#include "launchnames.h"

/* What runs one behind another. */
typedef struct inflight_key {
    CUcontext context; /* NULL: of all contexts */
    uint64_t stream;   /* INFLIGHT_ALL: of the context */
    uint32_t thread;   /* 0, or whose stream it is */
} inflight_key_t;
#define INFLIGHT_ALL UINT64_MAX

typedef struct inflight_launch {
    const launchcall_t *call;
    uint32_t number; /* of this one alone, not 0 */
    uint32_t graph;  /* number of it, 0: not known */
    CUcontext context;
    uint32_t (*device_of)(CUcontext context);
    /* One of the two, unless it is a graph: as CUPTI has it, or found already. */
    const char *symbol;
    const launchname_t *name;
} inflight_launch_t;

/* Context: before any launch. */
void inflight_start(void);

/* Before a launch; then one of the two. Context: a thread of the program. */
void inflight_begins(const inflight_launch_t *launch);
void inflight_made(uint32_t number);
void inflight_fails(uint32_t number);

/* How many have been made: before a wait or a question begins. */
uint32_t inflight_now(void);
/* The host has waited for what was made `before`; whole: in all the context. */
void inflight_waited(CUcontext context, CUstream stream, bool per_thread, bool whole,
                     uint32_t before);
/* Nothing of what was made `before` is left in a stream. */
void inflight_emptied(const inflight_key_t *stream, uint32_t before);
/* Streams end: nothing that was launched into them is in the table behind this. */
void inflight_drop(const inflight_key_t *streams);

/* The record of a launch came. Context: the reader. */
void inflight_ended(uint32_t number);

/* Streams with launches that are older than `ms` and have not ended. Returns: how many. Context: one
 * thread. */
uint32_t inflight_streams(inflight_key_t *streams, uint32_t room, uint32_t ms);

/* In a child after fork: nothing is noted any more. */
void inflight_leave(void);

#endif
