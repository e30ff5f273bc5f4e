/* SPDX-License-Identifier: Apache-2.0 */
/* hosttime.h - the host's two clocks in nanoseconds. Records bear the real one, which somebody may
 * set; whoever waits or measures asks the steady one. */
#ifndef GPURT_HOSTTIME_H
#define GPURT_HOSTTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Since 1970. */
uint64_t gpurt_real_ns(void);

/* Since a moment of the past; never runs backwards. */
uint64_t gpurt_steady_ns(void);

/* When the steady clock has gone on by so much, as calls take it that wait until then. */
struct timespec gpurt_steady_in(uint64_t ns);

/* Waits on a condition for so long at most, whatever becomes of the real clock meanwhile. Returns:
 * false when the time is over. */
bool gpurt_steady_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t ns);

#endif
