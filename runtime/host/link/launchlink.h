/* SPDX-License-Identifier: Apache-2.0 */
/* launchlink.h - launches of gpurt's own API in the log, at level TRACE: written before each
 * is made, so that a kernel that brings its device down has a name, a shape and the line that
 * launched it. And how the collector of kernels (cupti/) is called in. */
#ifndef GPURT_HOST_LAUNCHLINK_H
#define GPURT_HOST_LAUNCHLINK_H

#include "boxmap.h"

#include "choice.h"

/* Before the driver is touched: where the environment wants a log, it shall load the collector.
 * Context: gpurt_open. */
void gpurt_launchlink_prepare(void);

/* Context: gpurt_open and gpurt_close, with no call inside. Disconnecting waits, at most a
 * second, until the collector has written what it has. */
void gpurt_launchlink_connect(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                              uint32_t section);
void gpurt_launchlink_disconnect(const gpurt_opened_t *opened);
/* In a forked child, instead: the collector is its parent's. */
void gpurt_launchlink_forked(uint32_t index);

/* Context: any thread between the two; waits for nothing. caller: where the call that launches
 * returns to. */
void gpurt_launchlink_tell(const gpurt_opened_t *opened, const gpurt_launch_t *launch,
                           const gpurt_kernel_t *kernel, const void *caller);

#endif
