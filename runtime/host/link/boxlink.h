/* SPDX-License-Identifier: Apache-2.0 */
/* boxlink.h - whether a device logs, and who hears of its panics: its black box between gpurt_open and gpurt_close.
 *
 * GPURT_DRAIN (set by gpurt-record and gpurt-top) names a drainer that waits: the box is
 * made and handed to it. Otherwise GPURT_LOG or the options name a file: the box is made
 * and gpurt-drain is started with it. With neither, a bare box keeps panics (barebox.h), and
 * log calls return at once. With GPURT_OFF=1 nothing is made. A log that cannot be made is told
 * in info->why and by a line on standard error, and changes nothing else.
 *
 * Each open device has its own box, and what host code says goes into that of the first. With
 * GPURT_LOG each has its own file, too: run.gplog, then run.1.gplog for device 1. */
#ifndef GPURT_HOST_BOXLINK_H
#define GPURT_HOST_BOXLINK_H

#include "boxpart.h"

/* along: what goes along with the box; the same table for all devices. Context: host, one thread,
 * while no kernel runs; the back end is open. */
void gpurt_boxlink_open(gpurt_opened_t *opened, const gpurt_options_t *options,
                        const gpurt_boxpart_t *along, size_t count);

/* Closes the box, if there is one; waits until a drainer of our own has written all, but
 * not for ever. Context: as above. */
void gpurt_boxlink_close(gpurt_opened_t *opened);

/* In a forked child: the box, its drainer and its readers are the parent's. The mapping goes, the
 * box stays as it is; the back end gives back what is the child's own. */
void gpurt_boxlink_forked(gpurt_opened_t *opened);
/* The same of a device of which nothing else is known: a mapping and descriptors may stay. */
void gpurt_boxlink_forget(uint32_t index);

/* Panics that kernels raised so far; 0 without a box. Context: while it is open. */
uint32_t gpurt_boxlink_panics(const gpurt_opened_t *opened);

#endif
