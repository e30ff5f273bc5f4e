/* SPDX-License-Identifier: Apache-2.0 */
/* export_idle.h - when no kernel ran on a device, and why: the gaps between its kernels, by
 * the reasons that the model's sums have (gaps.h), each at its place in time.
 *
 * Spans come in order of their beginning, as rows do. A gap is known when the kernel behind
 * it comes; time in which copies ran is no part of it. What comes late is counted as it
 * comes. Bounded: of each device the copies that reach behind its last kernel, of the host
 * its last waits. */
#ifndef GPURT_TUI_EXPORT_IDLE_H
#define GPURT_TUI_EXPORT_IDLE_H

#include "span.h"

enum {
    EXPORT_IDLE_DEVICES = 64, /* others are left out */
    EXPORT_IDLE_COPIES = 64,
    EXPORT_IDLE_WAITS = 128,
    EXPORT_IDLE_OFFS = 8,
    EXPORT_IDLE_CONTEXTS =
        256, /* a power of two; of two with one place the later is known */
    EXPORT_IDLE_PIECES = 2 * (EXPORT_IDLE_COPIES + 2) /* of a gap, at most */
};

typedef enum export_idle_why {
    EXPORT_IDLE_TOLD,      /* the host slept in a wait as the gap began, until it woke */
    EXPORT_IDLE_LAUNCHING, /* the rest, where that is as short as a launch takes */
    EXPORT_IDLE_NOTHING,   /* the rest of longer gaps: nobody asked for anything */
    EXPORT_IDLE_UNRECORDED /* the gap reaches into a time without records */
} export_idle_why_t;

typedef struct export_idle_stretch {
    uint64_t start, end;
} export_idle_stretch_t;

typedef struct export_idle_piece {
    export_idle_stretch_t time;
    export_idle_why_t why;
} export_idle_piece_t;

typedef struct export_idle_device {
    uint64_t until; /* all before it is told of; 0: nothing is known */
    uint32_t copy_count;
    export_idle_stretch_t copies[EXPORT_IDLE_COPIES]; /* disjoint, by start */
} export_idle_device_t;

typedef struct export_idle_wait {
    export_idle_stretch_t time;
    uint32_t context;
} export_idle_wait_t;

/* What ran in a context of CUDA shows of which device it is. */
typedef struct export_idle_context {
    uint32_t number, device; /* device: + 1; 0: not known */
} export_idle_context_t;

/* Owner: the timeline; zeroed at first. */
typedef struct export_idle {
    export_idle_device_t devices[EXPORT_IDLE_DEVICES];
    uint32_t wait_count; /* ever */
    export_idle_wait_t waits[EXPORT_IDLE_WAITS];
    export_idle_context_t contexts[EXPORT_IDLE_CONTEXTS];
    uint32_t off_count; /* ever */
    export_idle_stretch_t offs[EXPORT_IDLE_OFFS];
} export_idle_t;

/* Until now, for so long, nothing was recorded. */
void export_idle_off(export_idle_t *idle, uint64_t now_ns, uint64_t ns);

/* Returns: how many pieces of the gap in front of that span there are, in order; 0 for most
 * spans. */
uint32_t export_idle_span(export_idle_t *idle, const gpurt_span_t *s,
                          export_idle_piece_t pieces[EXPORT_IDLE_PIECES]);

/* What a piece is called, as other programs of ours call it. */
const char *export_idle_word(export_idle_why_t why);

#endif
