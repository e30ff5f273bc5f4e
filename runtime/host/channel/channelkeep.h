/* SPDX-License-Identifier: Apache-2.0 */
/* channelkeep.h - memory of channels that have ended: kept for a while, so that a kernel that
 * still uses one is told so. */
#ifndef GPURT_HOST_CHANNELKEEP_H
#define GPURT_HOST_CHANNELKEEP_H

#include "life.h"

/* The memory is not the caller's any more. Returns: how it went with what was kept longest, and
 * goes for it. */
gpurt_status_t gpurt_channel_keep(gpurt_t *rt, void *memory);

#endif
