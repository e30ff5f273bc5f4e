/* SPDX-License-Identifier: Apache-2.0 */
/* inflight.h - launches that have not ended, as far as that is known, by stream: what runs, and what
 * waits behind it. On request alone (GPURT_CUPTI=running): each launch pays for it.
 *
 * A launch is noted as it is made, in a table of fixed size: a lock that nobody else is likely to
 * hold, and some 80 bytes. It ends with its record; with the record of a later one of its stream, as
 * a stream runs one behind another; when the host has waited for its stream or its context; or when
 * the driver says that its stream is empty. A thread looks now and then, and writes what has been
 * there for long. It calls nothing of CUPTI's or the driver's, so a driver that hangs does not hold
 * it up.
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
    uint32_t number; /* not 0; later launches have higher ones */
    uint32_t graph;  /* number of it, 0: not known */
    CUcontext context;
    uint32_t (*device_of)(CUcontext context);
    /* One of the two, unless it is a graph: as CUPTI has it, or found already. */
    const char *symbol;
    const launchname_t *name;
} inflight_launch_t;

/* Context: before any launch. Returns: false without a thread. */
bool inflight_start(void);
bool inflight_is_on(void);

/* Context of the next four: any thread of the program. */
void inflight_begins(const inflight_launch_t *launch);
void inflight_fails(uint32_t number);
/* The host has waited for what was launched up to `number`; whole: in all the context. */
void inflight_waited(CUcontext context, CUstream stream, bool per_thread, bool whole,
                     uint32_t number);
/* What was launched in these streams up to `number` is not watched any more. */
void inflight_drop(const inflight_key_t *streams, uint32_t number);

/* The record of a kernel or a graph came. Context: the reader. */
void inflight_ended(uint32_t number);

/* Streams with launches that are older than `ms` and have not ended. Returns: how many. Context: one
 * thread. */
uint32_t inflight_streams(inflight_key_t *streams, uint32_t room, uint32_t ms);

/* A last look. Context: the program ends. */
void inflight_stop(void);

/* In a child after fork: nothing is noted any more. */
void inflight_leave(void);

#endif
