/* SPDX-License-Identifier: Apache-2.0 */
#include "scribe.h"

#include "hostthread.h"
#include "hosttime.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* Owner: whoever opened it. */
struct gpurt_scribe {
    pthread_t thread;
    pthread_mutex_t lock;        /* guards all below */
    pthread_cond_t given, ended; /* something to do; something was done, or failed */
    gpurt_scribe_job_t *first, **last;
    gpurt_scribe_job_t *running;
    uint32_t users;
    bool failed; /* the first one has, and waits to be tried again */
    bool again;  /* the one that runs is tried again at once if it fails */
    bool stop;
};

/* Its owner may use the job again as soon as run has told it so: it is out of the list by
 * then, and not touched behind. */
static void job_run(gpurt_scribe_t *s)
{
    gpurt_scribe_job_t *job = s->first;
    bool done;

    s->first = job->next;
    if (!s->first)
        s->last = &s->first;
    s->running = job;
    s->again = false;
    pthread_mutex_unlock(&s->lock);
    done = job->run(job);
    pthread_mutex_lock(&s->lock);
    s->running = NULL;
    if (!done) {
        job->next = s->first;
        if (!s->first)
            s->last = &job->next;
        s->first = job;
        s->failed = !s->again;
    }
    pthread_cond_broadcast(&s->ended);
}

static void *scribe_run(void *context)
{
    gpurt_scribe_t *s = context;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        while ((!s->first || s->failed) && !s->stop)
            pthread_cond_wait(&s->given, &s->lock);
        if (s->stop)
            break;
        job_run(s);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

void gpurt_scribe_submit(gpurt_scribe_t *s, gpurt_scribe_job_t *job)
{
    pthread_mutex_lock(&s->lock);
    job->next = NULL;
    *s->last = job;
    s->last = &job->next;
    pthread_cond_signal(&s->given);
    pthread_mutex_unlock(&s->lock);
}

static void users_change(gpurt_scribe_t *s, uint32_t by)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->users += by;
    pthread_mutex_unlock(&s->lock);
}

void gpurt_scribe_join(gpurt_scribe_t *s)
{
    users_change(s, 1);
}

void gpurt_scribe_leave(gpurt_scribe_t *s)
{
    users_change(s, 0u - 1);
}

bool gpurt_scribe_rests(gpurt_scribe_t *s)
{
    bool rests;

    pthread_mutex_lock(&s->lock);
    rests = !s->first && !s->running && s->users <= 1;
    pthread_mutex_unlock(&s->lock);
    return rests;
}

/* Its owner may know that it has failed before this thread has noted it. */
static void retry(gpurt_scribe_t *s)
{
    s->again = s->running != NULL;
    if (!s->failed)
        return;
    s->failed = false;
    pthread_cond_signal(&s->given);
}

void gpurt_scribe_retry(gpurt_scribe_t *s)
{
    pthread_mutex_lock(&s->lock);
    retry(s);
    pthread_mutex_unlock(&s->lock);
}

void gpurt_scribe_wait(gpurt_scribe_t *s, uint64_t ns)
{
    pthread_mutex_lock(&s->lock);
    if (s->running || (s->first && !s->failed))
        gpurt_steady_wait(&s->ended, &s->lock, ns);
    pthread_mutex_unlock(&s->lock);
}

bool gpurt_scribe_settle(gpurt_scribe_t *s)
{
    bool settled;

    if (!s)
        return true;
    pthread_mutex_lock(&s->lock);
    retry(s);
    while (s->running || (s->first && !s->failed))
        pthread_cond_wait(&s->ended, &s->lock);
    settled = !s->first;
    pthread_mutex_unlock(&s->lock);
    return settled;
}

void gpurt_scribe_forget(gpurt_scribe_t *s, const void *owner)
{
    gpurt_scribe_job_t **at;

    pthread_mutex_lock(&s->lock);
    while (s->running && s->running->owner == owner)
        pthread_cond_wait(&s->ended, &s->lock);
    for (at = &s->first; *at;) {
        if ((*at)->owner == owner)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
    s->last = at;
    retry(s); /* by now the first may be another's */
    pthread_mutex_unlock(&s->lock);
}

void gpurt_scribe_close(gpurt_scribe_t *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->given);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->ended);
    pthread_cond_destroy(&s->given);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

bool gpurt_scribe_pays(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) > 1;
}

gpurt_scribe_t *gpurt_scribe_open(void)
{
    gpurt_scribe_t *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->last = &s->first;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->given, NULL);
    pthread_cond_init(&s->ended, NULL);
    if (gpurt_thread_start(&s->thread, scribe_run, s) == 0)
        return s;
    pthread_cond_destroy(&s->ended);
    pthread_cond_destroy(&s->given);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return NULL;
}
