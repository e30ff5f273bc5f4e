/* SPDX-License-Identifier: Apache-2.0 */
/* replay_print.h - what gpurt-replay says: a trace, and what came of it by each policy. */
#ifndef GPURT_TUI_REPLAY_PRINT_H
#define GPURT_TUI_REPLAY_PRINT_H

#include "replay_round.h"

/* A policy and what came of it. */
typedef struct replay_line {
    const replay_policy_t *policy;
    replay_outcome_t looked; /* of the round that looked */
    uint64_t time_ns;        /* median of the others */
} replay_line_t;

typedef struct replay_report {
    const replay_trace_t *trace;
    const replay_heaps_t *heaps; /* that it was chosen from */
    replay_shape_t shape;
    gpurt_info_t info;
    uint32_t rounds; /* that were timed */
    uint32_t count;
    replay_line_t lines[REPLAY_POLICIES];
} replay_report_t;

void replay_print_text(const replay_report_t *report);
void replay_print_json(const replay_report_t *report);

#endif
