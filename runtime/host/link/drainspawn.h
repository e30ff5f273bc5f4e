/* SPDX-License-Identifier: Apache-2.0 */
/* drainspawn.h - a drainer of the process's own: gpurt-drain, started with the box.
 *
 * It outlives the process, so that what was logged reaches the file whatever happens. It
 * is no child that the program would have to wait for: gpurt-drain forks and its first
 * process ends at once. */
#ifndef GPURT_HOST_DRAINSPAWN_H
#define GPURT_HOST_DRAINSPAWN_H

#include <gpurt/status.h>
#include <limits.h>

enum {
    GPURT_DRAIN_BOX_FD = 3,  /* where gpurt-drain finds the box, */
    GPURT_DRAIN_READY_FD = 4 /* and where it says "ok" or what is wrong; open to its end */
};

/* Context: host. gpurt-drain is looked for beside the program, then in PATH. *pipe: for
 * wait. Waits at most 5 s for the drainer to be ready. */
gpurt_status_t gpurt_drainspawn_start(const char *file, int box_fd, int *pipe,
                                      gpurt_error_t *err);

/* Until the drainer has ended, or has been silent for 5 s; closes the pipe. A log that could
 * not be written is told of in one line on standard error. -1 is allowed. */
void gpurt_drainspawn_wait(int pipe);

/* Whether GPURT_LOG=stderr asks for no log: then the drainer prints messages, as lines of text, to
 * the standard error of the process. A file of that name is ./stderr. */
bool gpurt_drainspawn_prints(const char *file);

/* The name of one more file beside `file`: the number stands before its last dot; stderr is the
 * same for all. Returns: whether there is room for that. */
bool gpurt_drainspawn_numbered(const char *file, long number, char name[PATH_MAX]);

#endif
