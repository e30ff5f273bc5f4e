/* SPDX-License-Identifier: Apache-2.0 */
/* hostend.h - the host's end of a channel, for who watches it. */
#ifndef GPURT_HOST_HOSTEND_H
#define GPURT_HOST_HOSTEND_H

#include <gpurt/impl/hostchannelmap.h>

/* What the host has counted; waited_ns: how long the thread waits that began first, 0: none does.
 * Context: the channel is not destroyed meanwhile. */
gpurt_hostchannel_tally_t gpurt_hostend_tally(const gpurt_hostchannel_t *c,
                                              uint64_t *waited_ns);

#endif
