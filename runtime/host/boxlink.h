/* SPDX-License-Identifier: Apache-2.0 */
/* boxlink.h - whether this process logs: the black box between gpurt_open and gpurt_close.
 *
 * The environment decides. GPURT_DRAIN (set by gpurt-record and gpurt-top) names a drainer
 * that waits: the box is made and handed to it. Otherwise GPURT_LOG names a file: the box
 * is made and gpurt-drain is started with it. With neither, or with GPURT_OFF=1, nothing
 * is made and log calls return at once. A box that cannot be made is told in info->why and
 * changes nothing else. */
#ifndef GPURT_HOST_BOXLINK_H
#define GPURT_HOST_BOXLINK_H

#include "choice.h"

/* Before the driver is touched: where a log is wanted, it shall load the collector. Context:
 * host, one thread. */
void gpurt_boxlink_prepare(void);

/* Context: host, one thread, while no kernel runs; the back end is open. */
void gpurt_boxlink_open(gpurt_opened_t *opened);

/* Closes the box, if there is one; waits until a drainer of our own has written all, but
 * not for ever. Context: as above. */
void gpurt_boxlink_close(const gpurt_opened_t *opened);

/* Tells of a launch before it is made, where the level is TRACE: a kernel that brings its
 * device down then has a name, a shape and a line that launched it. Context: any thread
 * between open and close. */
void gpurt_boxlink_launch(const gpurt_launch_t *launch, const gpurt_kernel_t *kernel);

#endif
