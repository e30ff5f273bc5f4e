/* SPDX-License-Identifier: Apache-2.0 */
/* dormant.h - a collector that sleeps until somebody asks for it (GPURT_CUPTI=later): a
 * thread that waits on a socket, and nothing else. CUPTI is not even loaded. */
#ifndef GPURT_CUPTI_DORMANT_H
#define GPURT_CUPTI_DORMANT_H

#include "later.h"

/* wake: called by the thread, for each who is heard. Returns: whether it sleeps; else errno says
 * why nobody can ask it. */
bool dormant_start(void (*wake)(const gpurt_later_t *ask));

/* Whether it still sleeps, or is just waking up: the collector's state is the thread's
 * until then. */
bool dormant_sleeps(void);

/* Ends the wait; what wake does is waited for, not for ever. Returns: whether the thread is
 * gone; false in another process than its own. */
bool dormant_stop(void);

/* In a forked child: the socket is the parent's. */
void dormant_leave(void);

#endif
