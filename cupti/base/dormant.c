/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "dormant.h"

#include "duty.h"

#include <gpurt/atomic.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    STOP_MS = 3000,
    AWAKE = 0, /* or never put to sleep */
    ASLEEP = 1
};

static struct {
    pid_t pid; /* who started it, 0: nobody */
    duty_t duty;
    int listener, holder; /* holder: the connection of who was heard last */
    uint32_t xstate;      /* written by: who starts it (ASLEEP), the thread (AWAKE) */
    void (*wake)(const gpurt_later_t *ask);
} dormant = {.listener = -1, .holder = -1};

static void run(duty_t *duty)
{
    gpurt_later_t ask;

    (void)duty;
    while (gpurt_later_wait(dormant.listener, &dormant.holder,
                            &ask)) { /* until the program ends */
        dormant.wake(&ask);
        gpurt_store_release_dev_u32(&dormant.xstate, AWAKE); /* CUP4.rel */
    }
}

bool dormant_start(void (*wake)(const gpurt_later_t *ask))
{
    dormant.wake = wake;
    dormant.pid = getpid();
    dormant.listener = gpurt_later_listen();
    if (dormant.listener < 0)
        return false;
    gpurt_store_relaxed_dev_u32(&dormant.xstate, ASLEEP); /* relaxed: before the thread */
    return duty_start(&dormant.duty, "gpurt-dormant", run, NULL);
}

bool dormant_sleeps(void)
{
    return gpurt_load_acquire_dev_u32(&dormant.xstate) == ASLEEP; /* CUP4.acq */
}

/* A child that came about without our knowledge has neither our thread nor a say in our socket. */
bool dormant_stop(void)
{
    if (dormant.pid && dormant.pid != getpid())
        return false;
    if (dormant.listener >= 0)
        shutdown(dormant.listener, SHUT_RDWR);
    return duty_stop(&dormant.duty, STOP_MS);
}

void dormant_leave(void)
{
    if (dormant.listener >= 0)
        close(dormant.listener);
    if (dormant.holder >= 0)
        close(dormant.holder);
    dormant.listener = dormant.holder = -1;
    dormant.duty.started = false; /* its thread is the parent's */
}
