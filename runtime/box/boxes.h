/* SPDX-License-Identifier: Apache-2.0 */
/* boxes.h - all black boxes of one process: it has one for each device that it has open. Who
 * is told a process number, or a core dump, finds them here, in the order in which they were
 * made. */
#ifndef GPURT_BOXES_H
#define GPURT_BOXES_H

#include "boxmap.h"

enum {
    GPURT_BOXES_MAX = 16 /* 8 GPUs, the CPU, and what a program left open */
};

/* Owner: the caller, who detaches them. Zeroed: none. */
typedef struct gpurt_boxes {
    uint32_t count;
    uint32_t refused; /* boxes that are there and are not attached: damaged, or not ours */
    gpurt_boxmap_t map[GPURT_BOXES_MAX]; /* the oldest first */
} gpurt_boxes_t;

/* Among the process's descriptors. A box that it holds twice is one; boxes that it has from
 * its parent count where it has made none. One that is closed meanwhile was never there.
 * Returns: GPURT_OK when there is at least one; where some are refused, *err says why the
 * last of them was, in either case. */
gpurt_status_t gpurt_boxes_of_pid(uint32_t pid, bool writable, gpurt_boxes_t *out,
                                  gpurt_error_t *err);
/* Among the memory segments of an ELF core dump; read-only. Returns: likewise. */
gpurt_status_t gpurt_boxes_of_core(const char *path, gpurt_boxes_t *out,
                                   gpurt_error_t *err);

/* One of them becomes the caller's; the others are as they were. */
gpurt_boxmap_t gpurt_boxes_take(gpurt_boxes_t *boxes, uint32_t index);
void gpurt_boxes_detach(gpurt_boxes_t *boxes);

#endif
