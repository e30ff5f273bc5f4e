/* SPDX-License-Identifier: Apache-2.0 */
/* failure.h - what a kernel died of, as a panic slot of the black box.
 *
 * A deadlock, a livelock or a fault is one failure of its launch. Whoever writes the report fills
 * one of these beside it; the launch that fails with it tells it. The slot is written before the
 * host learns of the failure, so it is there even if the program ends at once. */
#ifndef GPURT_SIMT_FAILURE_H
#define GPURT_SIMT_FAILURE_H

#include "simt.h"

#include <gpurt/impl/box.h>

enum {
    SIMT_FAILURE_TEXT = 256,
    SIMT_FAILURE_FILE = 512,
    SIMT_FAILURE_ARGS = 3
};

/* A call of a backtrace, or the place of a failure. */
typedef struct simt_call {
    char function[SIMT_FAILURE_TEXT]; /* "": not known, as the others */
    char file[SIMT_FAILURE_FILE];
    uint32_t line;
} simt_call_t;

/* Owner: the caller, on its stack. */
struct simt_failure {
    const simt_lane_t *lane; /* that it is told of; resident until the launch has failed */
    const char *kernel, *site; /* site: "file:line" where it stands, or NULL */
    uint32_t category;         /* GPURT_CATEGORY_* */
    uint32_t mask, failed;     /* lanes of its warp, as in gpurt_panic_t */
    const char *what;          /* format of what follows the kernel's name, or "" */
    const char *title;         /* "deadlock": what stands before it */
    uint64_t types, args[SIMT_FAILURE_ARGS]; /* of `what` */
    uint32_t arg_count;
    uint32_t call_count, calls_left_out;
    simt_call_t calls[GPURT_PANIC_FRAMES]; /* innermost first */
};

/* The next outer call of the lane's backtrace. path: of its file; NULL: not known. */
void simt_failure_call(simt_failure_t *f, const char *function, const char *path,
                       uint32_t line);

/* Writes it into the box of the launch's device, if there is one. Context: a main fiber, under
 * device->mutex. report: heap text, or NULL. */
void simt_failure_tell(const simt_launch_t *l, const simt_failure_t *f, const char *report);

#endif
