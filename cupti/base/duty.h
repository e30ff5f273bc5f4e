/* SPDX-License-Identifier: Apache-2.0 */
/* duty.h - a thread of the collector: takes no signals of the program, waits with a
 * bell, ends when told, and is not waited for longer than said. */
#ifndef GPURT_CUPTI_DUTY_H
#define GPURT_CUPTI_DUTY_H

#include <gpurt/base.h>
#include <pthread.h>
#include <semaphore.h>

typedef struct duty duty_t;

/* Owner: whoever starts it; static, because a thread that hangs may outlive its stop. */
struct duty {
    void (*run)(duty_t *w); /* until duty_wait says false */
    pthread_t thread;
    sem_t own, done;
    sem_t *bell;     /* posted when there is work */
    uint32_t xstop;  /* written by: duty_stop */
    uint32_t xasked; /* rounds; written by: duty_ask */
    uint32_t xdone;  /* of these, that are over; written by: the thread */
    uint32_t round;  /* the thread's: what xasked was when this round began */
    bool started;
    uint32_t process; /* generation of who started it: a forked child has no such thread */
};

/* bell NULL: nothing but the end wakes it. Returns: whether it runs. */
bool duty_start(duty_t *w, const char *name, void (*run)(duty_t *), sem_t *bell);

/* Waits for the bell, at most so long. Returns: false when it is told to stop. */
bool duty_wait(duty_t *w, uint32_t ms);

/* There is work. */
void duty_ring(duty_t *w);

/* Waits for a whole round that begins after the call. Returns: false, the time was over before. One that
 * was not started has nothing to do. Context: any thread but that of the duty. */
bool duty_ask(duty_t *w, uint32_t ms);
/* Whether somebody waits for this round. Context: the duty's thread. */
bool duty_is_asked(const duty_t *w);

/* Returns: whether it ended in time. Accepts one that was not started, and one of the process
 * that this one was forked from: there is nothing to wait for. */
bool duty_stop(duty_t *w, uint32_t ms);

/* The same, but it is waited for again, at most so many times, while done() goes on rising. */
bool duty_finish(duty_t *w, uint32_t ms, uint32_t times, uint64_t (*done)(void));

#endif
