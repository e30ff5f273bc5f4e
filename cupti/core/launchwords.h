/* SPDX-License-Identifier: Apache-2.0 */
/* launchwords.h - the words of GPURT_CUPTI that need each launch as it is made, running and counted:
 * who tells of launches. That is the hook, where it is there (hooked.h). Beside records of kernels it
 * is CUPTI for what runs, since a record tells of an end by the number of CUPTI's callback. */
#ifndef GPURT_CUPTI_LAUNCHWORDS_H
#define GPURT_CUPTI_LAUNCHWORDS_H

#include "cupti_api.h"

/* Begins what needs no CUPTI. Returns: the rest of `wanted`. Context: once. */
uint32_t launchwords_begin(uint32_t wanted);

/* Has CUPTI tell of the launches that the hook does not. graphs: each has a record, as a whole.
 * Context: behind launchwords_begin. */
void launchwords_want(const cupti_api_t *api, CUpti_SubscriberHandle subscriber,
                      bool graphs);

/* Whether what runs has the number of its record: then that tells of its end. */
bool launchwords_end_with_records(void);

/* What was launched by now is in the box when this returns. Context: as collector_sync. */
void launchwords_sync(void);

void launchwords_stop(void);

/* In a child after fork. */
void launchwords_leave(void);

#endif
