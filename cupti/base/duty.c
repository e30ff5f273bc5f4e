/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "duty.h"

#include "hostthread.h"
#include "hosttime.h"
#include "process.h"

#include <errno.h>
#include <gpurt/atomic.h>
#include <time.h>

static void *main_of(void *context)
{
    duty_t *w = context;

    w->run(w);
    sem_post(&w->done);
    return NULL;
}

/* Returns: whether it was posted. */
static bool wait_for(sem_t *bell, uint32_t ms)
{
    const struct timespec until = gpurt_steady_in(ms * 1000000ull);
    int code;

    do
        code = sem_clockwait(bell, CLOCK_MONOTONIC, &until);
    while (code != 0 && errno == EINTR);
    return code == 0;
}

bool duty_start(duty_t *w, const char *name, void (*run)(duty_t *), sem_t *bell)
{
    w->run = run;
    sem_init(&w->own, 0, 0);
    sem_init(&w->done, 0, 0);
    w->bell = bell ? bell : &w->own;
    w->process = gpurt_process_generation();
    w->started = gpurt_thread_start(&w->thread, main_of, w) == 0;
    if (w->started)
        pthread_setname_np(w->thread, name);
    return w->started;
}

bool duty_wait(duty_t *w, uint32_t ms)
{
    gpurt_store_relaxed_dev_u32(&w->xdone, w->round); /* relaxed: "done" alone */
    if (gpurt_load_relaxed_dev_u32(&w->xstop) == 0)   /* relaxed: the bell orders it */
        wait_for(w->bell, ms);
    w->round = gpurt_load_relaxed_dev_u32(&w->xasked); /* relaxed: as above */
    return gpurt_load_relaxed_dev_u32(&w->xstop) == 0; /* relaxed: as above */
}

void duty_ring(duty_t *w)
{
    if (w->started)
        sem_post(w->bell);
}

bool duty_ask(duty_t *w, uint32_t ms)
{
    const struct timespec step = {.tv_nsec = 1000000};
    uint32_t round;

    if (!w->started || w->process != gpurt_process_generation())
        return true;
    round = gpurt_add_relaxed_dev_u32(&w->xasked, 1) + 1; /* relaxed: the bell orders it */
    duty_ring(w);
    for (; ms > 0; ms--) { /* relaxed: as stored */
        if ((int32_t)(gpurt_load_relaxed_dev_u32(&w->xdone) - round) >= 0)
            return true;
        nanosleep(&step, NULL);
    }
    return false;
}

bool duty_is_asked(const duty_t *w)
{
    return w->round != gpurt_load_relaxed_dev_u32(&w->xdone); /* relaxed: this thread's */
}

/* Returns: whether it ended while work was done. */
static bool ends(duty_t *w, uint32_t ms, uint32_t times, uint64_t (*done)(void))
{
    uint64_t before;

    do {
        before = done ? done() : 0;
        if (wait_for(&w->done, ms))
            return true;
    } while (times-- > 0 && done && done() != before);
    return false;
}

bool duty_finish(duty_t *w, uint32_t ms, uint32_t times, uint64_t (*done)(void))
{
    if (!w->started)
        return true;
    w->started = false;
    if (w->process != gpurt_process_generation())
        return true;
    gpurt_store_relaxed_dev_u32(&w->xstop, 1); /* relaxed: the bell orders it */
    sem_post(w->bell);
    if (!ends(w, ms, times, done)) {
        pthread_detach(w->thread);
        return false;
    }
    pthread_join(w->thread, NULL);
    return true;
}

bool duty_stop(duty_t *w, uint32_t ms)
{
    return duty_finish(w, ms, 0, NULL);
}
