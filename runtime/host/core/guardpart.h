/* SPDX-License-Identifier: Apache-2.0 */
/* guardpart.h - a guarded launch, shared by guards.c (handles, launches, calls) and
 * guardsettle.c (which blocks failed, retries, verdict). */
#ifndef GPURT_HOST_GUARDPART_H
#define GPURT_HOST_GUARDPART_H

#include "guards.h"

#include <pthread.h>

/* Owner: its handle. */
typedef struct guard {
    struct guard *next; /* under list_lock */
    uint32_t device;    /* index of the open one */
    uint32_t told;      /* panics that gpurt_on_panic has told; likewise */
    pthread_mutex_t lock;
    gpurt_guard_t *words; /* in memory that kernels reach */
    gpurt_launch_t launch;
    const gpurt_kernel_t *kernel;
    gpurt_recovery_t policy;
    gpurt_guard_handle_t handle;
    /* under lock */
    uint32_t attempt;
    gpurt_outcome_t outcome;
    /* shared */
    uint32_t xsettled;  /* the outcome stands; written under lock */
    int32_t xheard;     /* first failure of its stream's work; written by: whoever waits */
    const void *caller; /* where the call that launched returns to */
    size_t args_bytes;
    unsigned char args[];
} guard_t;

/* guards.c. Under the guard's lock: launches its blocks, or those that failed in the attempt
 * before; waits for its stream, and tells what that or another wait heard. */
gpurt_status_t gpurt_guard_launch(const gpurt_opened_t *o, guard_t *g,
                                  const gpurt_kernel_t *kernel, gpurt_error_t *err);
gpurt_status_t gpurt_guard_stream_wait(const gpurt_opened_t *o, guard_t *g,
                                       gpurt_error_t *err);

/* guardsettle.c. Waits, repairs when `again`, and fixes the outcome, unless that stands. */
gpurt_status_t gpurt_guard_settle(const gpurt_opened_t *o, guard_t *g, bool again,
                                  gpurt_outcome_t *outcome, gpurt_error_t *err);
/* Whether a block failed in the last attempt. Context: no kernel of it runs. */
bool gpurt_guard_block_failed(const guard_t *g, uint32_t rank);

#endif
