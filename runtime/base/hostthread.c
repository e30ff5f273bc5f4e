/* SPDX-License-Identifier: Apache-2.0 */
#include "hostthread.h"

#include <signal.h>
#include <stddef.h>

enum {
    OWN = 8
};

/* The last two come of what a thread writes. */
static const int own[OWN + 2] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGTRAP,
                                 SIGABRT, SIGSYS, SIGPROF, SIGPIPE, SIGXFSZ};

static int start(pthread_t *thread, void *(*run)(void *), void *context, size_t own_count)
{
    sigset_t blocked, before;
    int failed;

    sigfillset(&blocked);
    for (size_t i = 0; i < own_count; i++)
        sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    failed = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

int gpurt_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
    return start(thread, run, context, OWN);
}

int gpurt_thread_start_lanes(pthread_t *thread, void *(*run)(void *), void *context)
{
    return start(thread, run, context, OWN + 2);
}
