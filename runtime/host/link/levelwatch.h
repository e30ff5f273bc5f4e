/* SPDX-License-Identifier: Apache-2.0 */
/* levelwatch.h - carries changed levels to the sites that exist already.
 *
 * New sites ask the rules themselves. The gates of the others lie in the memory of their
 * device; a thread of the application waits for a change of the rules (asleep in a futex of
 * the box, woken by whoever changes them) and writes those whose answer changed, through
 * the back end: a store on the CPU, a copy on a stream of its own on a GPU, so no kernel
 * has to end for it. The thread makes no other call into the device. A box holds 9 sections
 * of at most 65,536 definitions: a look at all of them takes milliseconds. */
#ifndef GPURT_HOST_LEVELWATCH_H
#define GPURT_HOST_LEVELWATCH_H

#include "boxmap.h"
#include "choice.h"

/* For sections 0 .. section_count - 1 of the map; the last may be host code's. Both stay
 * until stop. Context: the box is connected. */
gpurt_status_t gpurt_levelwatch_start(const gpurt_boxmap_t *map,
                                      const gpurt_opened_t *opened, gpurt_error_t *err);
void gpurt_levelwatch_stop(const gpurt_opened_t *opened);
/* In a forked child: the thread is its parent's. */
void gpurt_levelwatch_forked(uint32_t index);
/* The same of one that was being started or stopped. */
void gpurt_levelwatch_forget(uint32_t index);

#endif
