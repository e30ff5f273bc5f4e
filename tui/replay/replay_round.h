/* SPDX-License-Identifier: Apache-2.0 */
/* replay_round.h - all calls of a trace, once, by a policy whose place is made for it.
 *
 * A round that looks writes over every byte of each object and reads all of it before it is
 * freed, or at the end: objects that share one, or lose one, fail the round. It is not for
 * timing; one that does not look is. */
#ifndef GPURT_TUI_REPLAY_ROUND_H
#define GPURT_TUI_REPLAY_ROUND_H

#include "replay_place.h"
#include "replay_trace.h"

/* Owner: who opened it. The trace outlives it. */
typedef struct replay_run {
    gpurt_t *rt;
    gpurt_info_t info;
    const replay_trace_t *trace;
    replay_shape_t shape;
    struct replay_args args; /* its memory is the run's */
} replay_run_t;

/* Sees a round that looks after each batch, when all of its calls are done. */
typedef struct replay_watcher {
    gpurt_status_t (*see)(void *context, uint32_t batch, gpurt_error_t *err);
    void *context;
} replay_watcher_t;

/* What came of a round. */
typedef struct replay_outcome {
    replay_sums_t sums;
    replay_measure_t end;
    uint64_t peak_used, peak_live; /* bytes: when most was used, and asked for then */
    uint64_t time_ns;              /* of all batches with their launches */
} replay_outcome_t;

gpurt_status_t replay_run_open(replay_run_t *run, gpurt_t *rt, const replay_trace_t *trace,
                               const replay_shape_t *shape, gpurt_error_t *err);
void replay_run_close(replay_run_t *run); /* half open, too */

/* Returns: GPURT_E_FAULT when objects did not keep their bytes, were not aligned, or could
 * not be freed. Says nothing of end and peaks: they are 0. */
gpurt_status_t replay_round(replay_run_t *run, const replay_policy_t *policy,
                            replay_outcome_t *out, gpurt_error_t *err);

/* The same, and looks. watcher: may be NULL. */
gpurt_status_t replay_round_looked(replay_run_t *run, const replay_policy_t *policy,
                                   const replay_watcher_t *watcher, replay_outcome_t *out,
                                   gpurt_error_t *err);

#endif
