/* SPDX-License-Identifier: Apache-2.0 */
/* launchcall.h - the driver's calls that launch something, and what they are told: whichever way. */
#ifndef GPURT_CUPTI_LAUNCHCALL_H
#define GPURT_CUPTI_LAUNCHCALL_H

#include "launchhook.h"

#include <cupti.h>

enum {
    LAUNCHCALLS = 8
};
extern const CUpti_CallbackId launchcall_ids[LAUNCHCALLS];

/* Returns: false for a call that launches nothing. */
bool launchcall_read(CUpti_CallbackId id, const void *params, launchcall_t *out);

#endif
