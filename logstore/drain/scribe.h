/* SPDX-License-Identifier: Apache-2.0 */
/* scribe.h - a thread that packs and writes, so that who reads rings waits for no file.
 *
 * Jobs are done one after another, in the order in which they came, whoever gave them: one
 * scribe belongs to one log file. A job that fails stays the first until it is tried again,
 * so nothing overtakes it. A job is part of its owner's memory: the number of owners bounds
 * the queue, and giving a job allocates nothing. */
#ifndef GPURT_SCRIBE_H
#define GPURT_SCRIBE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gpurt_scribe gpurt_scribe_t;

/* Owner: who gives it; the scribe's until run has returned true, or it was forgotten. */
typedef struct gpurt_scribe_job {
    /* On the scribe's thread. Returns: false when it must be tried again. What it says to
     * its owner when it is done is the last it may do with the job. */
    bool (*run)(struct gpurt_scribe_job *job);
    const void *owner;
    struct gpurt_scribe_job *next; /* the scribe's */
} gpurt_scribe_job_t;

/* Whether a second thread may have a processor of its own. Where not, a drain that writes by
 * itself does the same with fewer switches. */
bool gpurt_scribe_pays(void);

/* Returns: NULL when there is no memory or no thread. */
gpurt_scribe_t *gpurt_scribe_open(void);

/* The calls below: from one thread at a time. */
void gpurt_scribe_submit(gpurt_scribe_t *s, gpurt_scribe_job_t *job);
/* Tries a job that failed once more. */
void gpurt_scribe_retry(gpurt_scribe_t *s);
/* Another who may give it jobs begins, or has ended. NULL is allowed. */
void gpurt_scribe_join(gpurt_scribe_t *s);
void gpurt_scribe_leave(gpurt_scribe_t *s);
/* Whether it has nothing to do, and nobody but its caller has joined: then the caller may do
 * its jobs by itself, and makes nobody wait. */
bool gpurt_scribe_rests(gpurt_scribe_t *s);
/* Waits until some job ends, at most so long. */
void gpurt_scribe_wait(gpurt_scribe_t *s, uint64_t ns);
/* Waits until nothing is left to do. Returns: false when the first job fails, once more if
 * it has before. NULL is allowed. */
bool gpurt_scribe_settle(gpurt_scribe_t *s);
/* Waits for the owner's job that runs, and drops those that do not. */
void gpurt_scribe_forget(gpurt_scribe_t *s, const void *owner);

/* Nothing may be left to do. NULL is allowed. */
void gpurt_scribe_close(gpurt_scribe_t *s);

#endif
