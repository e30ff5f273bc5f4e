/* SPDX-License-Identifier: Apache-2.0 */
/* hostwait.h - what a worker does while lanes of its wait for the host (hostword.h). */
#ifndef GPURT_SIMT_HOSTWAIT_H
#define GPURT_SIMT_HOSTWAIT_H

#include "simt.h"

/* Main fiber, after a pass in which nobody advanced: sleeps if all lanes wait for the host or
 * sleep at words, until there is news or work. Returns: whether all of them do. */
bool simt_host_idle(simt_worker_t *k);

/* Waits that end without another lane's doing. */
enum {
    SIMT_AWAITS_HOST = 1,
    SIMT_AWAITS_TIME = 2 /* a lane spins or sleeps, and has a time limit */
};

/* Which of them lanes of the device are in. Exact while every worker idles. */
uint32_t simt_awaited(const simt_device_t *d);

/* Main fiber, under a seed, whose clock counts steps: on to the first time limit. */
void simt_limit_skip(simt_worker_t *k);

/* Any thread: the host has stored words, or there is something to do for workers that sleep. */
void simt_host_news(simt_device_t *d);

#endif
