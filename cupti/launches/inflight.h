/* SPDX-License-Identifier: Apache-2.0 */
/* inflight.h - launches that have not ended, as far as that is known, by stream: what runs, and what
 * waits behind it. On request alone (GPURT_CUPTI=default,running): each launch pays for it.
 *
 * A launch is noted as it is made, in a table of fixed size: a lock that nobody else is likely to
 * hold, and some 80 bytes. It ends with its record; with the record of a later one of its stream, as
 * a stream runs one behind another; or when the host has waited for its stream or its context. A
 * thread looks now and then, and writes what has been there for long. It calls nothing of CUPTI's or
 * the driver's, so a driver that hangs does not hold it up. */
#ifndef GPURT_CUPTI_INFLIGHT_H
#define GPURT_CUPTI_INFLIGHT_H

#include "cupti_api.h"

/* graphs: those have a record each, as a whole; else they are left out. Context: before any launch.
 * Returns: false: CUPTI tells of no launches. */
bool inflight_watch(const cupti_api_t *api, CUpti_SubscriberHandle subscriber, bool graphs);
bool inflight_is_on(void);

/* A call of the driver, about to be made or made. Context: any thread of the program. */
void inflight_told(CUpti_CallbackId id, const CUpti_CallbackData *call);

/* The record of a kernel or a graph came. Context: the reader. */
void inflight_ended(uint32_t correlation);

/* A last look. Context: the program ends. */
void inflight_stop(void);

/* In a child after fork: nothing is noted any more. */
void inflight_leave(void);

#endif
