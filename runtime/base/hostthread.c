/* SPDX-License-Identifier: Apache-2.0 */
#include "hostthread.h"

#include <signal.h>
#include <stddef.h>

int gpurt_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
    static const int own[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                              SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigset_t blocked, before;
    int failed;

    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    failed = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}
