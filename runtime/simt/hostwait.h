/* SPDX-License-Identifier: Apache-2.0 */
/* hostwait.h - what a worker does while lanes of its wait for the host (hostword.h). */
#ifndef GPURT_SIMT_HOSTWAIT_H
#define GPURT_SIMT_HOSTWAIT_H

#include "simt.h"

/* Main fiber, after a pass in which nobody advanced: sleeps if all lanes wait for the host or
 * sleep at words, until there is news or work. Returns: whether all of them do. */
bool simt_host_idle(simt_worker_t *k);

/* Whether a lane of the device waits for the host. Exact while every worker idles. */
bool simt_host_awaited(const simt_device_t *d);

/* Any thread: the host has stored words, or there is something to do for workers that sleep. */
void simt_host_news(simt_device_t *d);

#endif
