/* SPDX-License-Identifier: Apache-2.0 */
/* hostthread.h - threads of our own in somebody's program. */
#ifndef GPURT_HOSTTHREAD_H
#define GPURT_HOSTTHREAD_H

#include <pthread.h>

/* Starts a thread that takes no signal of the program: one that the program waits for with all its
 * own threads would end it here, and its handlers count on their thread. What the thread does
 * itself, faults and time that a profiler samples, stays signalled. Returns: 0 or errno. */
int gpurt_thread_start(pthread_t *thread, void *(*run)(void *), void *context);
/* One that runs code of the program's: of what that writes it is signalled, too (SIGPIPE, SIGXFSZ). What
 * we write ends nobody. */
int gpurt_thread_start_lanes(pthread_t *thread, void *(*run)(void *), void *context);

#endif
