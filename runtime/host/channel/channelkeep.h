/* SPDX-License-Identifier: Apache-2.0 */
/* channelkeep.h - memory of channels that have ended: kept for a while, so that a kernel that
 * still uses one is told so. */
#ifndef GPURT_HOST_CHANNELKEEP_H
#define GPURT_HOST_CHANNELKEEP_H

#include "life.h"

/* The memory is not the caller's any more. Returns: how it went with what was kept longest, and
 * goes for it. */
gpurt_status_t gpurt_channel_keep(gpurt_t *rt, void *memory);

/* All of a device. Context: gpurt_close, with no call inside and no kernel. */
void gpurt_channels_closed(const gpurt_opened_t *o);

#endif
