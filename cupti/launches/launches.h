/* SPDX-License-Identifier: Apache-2.0 */
/* launches.h - kernels and graphs of a plain program as its threads launch them, on request:
 * name, shape, call number and the calls that led there, in the host ring before the driver
 * has the launch. So the kernel that brought a device down has a name and a place, whatever
 * comes of the program.
 *
 * It costs each launch a callback of CUPTI's and a walk up the stack. Nothing is allocated. A
 * launch that finds the ring full waits for a drainer, 50 ms at most; then it is counted. */
#ifndef GPURT_CUPTI_LAUNCHES_H
#define GPURT_CUPTI_LAUNCHES_H

#include "cupti_api.h"

/* Returns: false where CUPTI tells of no launches. Context: once, before the driver has any. */
bool launches_watch(const cupti_api_t *api, CUpti_SubscriberHandle subscriber);
bool launches_are_watched(void);

/* About the subscriber's callback, of CUPTI_CB_DOMAIN_DRIVER_API. Context: any thread of the
 * program, inside of its call. */
void launches_told(CUpti_CallbackId id, const CUpti_CallbackData *call);

/* Launches since the last look that found no box. Context: any thread. */
uint64_t launches_missed(void);

#endif
