/* SPDX-License-Identifier: Apache-2.0 */
/* replay_trace.h - the calls of a traced heap out of a log, in their order, and where they can
 * be made at the same time; and when an arena, whose frees do nothing, could go back. */
#ifndef GPURT_TUI_REPLAY_TRACE_H
#define GPURT_TUI_REPLAY_TRACE_H

#include "replay_heaps.h"
#include "replay_kernels.h"

/* A call as the log has it. */
typedef struct replay_event {
    uint64_t time_ns;
    uint32_t number; /* order in the log */
    uint32_t unit;   /* where in the heap the object lies, as GPURT_HEAP_NO_UNIT tells */
    uint32_t size, align;
    uint32_t what; /* REPLAY_ALLOC, REPLAY_FREE */
} replay_event_t;

/* Owner: whoever read it. */
typedef struct replay_trace {
    replay_heap_t heap;
    replay_call_t *calls;
    uint32_t call_count;
    uint32_t *batches;     /* first call of each, and call_count at the end */
    replay_pass_t *passes; /* of arenas, a batch each */
    uint32_t batch_count;
    uint32_t batch_most;           /* calls of the longest batch */
    uint32_t handles;              /* objects in all */
    uint64_t allocs, frees, bytes; /* bytes: asked for */
    uint64_t left;                 /* objects that were never freed */
    uint64_t refused;              /* requests that got NULL when the trace was made */
    uint64_t odd;  /* calls that do not fit: of objects whose request is not there, say */
    uint64_t lost; /* messages that the log lost, of whatever kind */
    uint64_t peak_bytes, span_ns; /* most that was live, asked for; from first to last */
} replay_trace_t;

/* Calls of a heap of the log. */
gpurt_status_t replay_trace_read(gpurt_log_t *log, const replay_heap_t *heap,
                                 replay_trace_t *out, gpurt_error_t *err);
/* The same of events that are there already, which are sorted. Returns: false when there is no
 * memory for it. */
bool replay_trace_make(replay_trace_t *out, replay_event_t *events, uint32_t count);
void replay_trace_free(replay_trace_t *t); /* NULL is allowed */

#endif
