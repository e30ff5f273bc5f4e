/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_capture.h - has the CUDA driver write a core dump when the GPU fails under a program
 * that we start, into a private folder of ours, and takes the dumps from there.
 *
 * It costs nothing, but it changes what a fault does (docs/FAULTS.md): the driver writes
 * the dump and ends the process with SIGABRT, and it no longer notices a bad store right
 * before a kernel's end. So a user asks for it. The driver's flag to go on instead of
 * ending is not used: it was seen to resume a kernel behind its trap. What the user set
 * about core dumps is never touched; then there is no capture. One thread uses it. */
#ifndef GPURT_TUI_GPU_CAPTURE_H
#define GPURT_TUI_GPU_CAPTURE_H

#include <gpurt/status.h>
#include <limits.h>
#include <sys/types.h>

typedef struct gpu_capture {
    char folder[PATH_MAX / 2]; /* "": off */
    const char *set_by_user;   /* the variable that keeps us out, NULL none */
    bool asking;               /* for dumps of what runs, too */
} gpu_capture_t;

/* With pipes too: each process then makes one, through which it can be asked for a dump
 * while it runs. */
gpurt_status_t gpu_capture_open_asking(gpu_capture_t *c, gpurt_error_t *err);

/* Asks every process that made a pipe for a dump, which ends its kernels. Returns: how
 * many. */
uint32_t gpu_capture_ask(const gpu_capture_t *c);

/* Makes the folder and sets the variables in our own environment, for the programs that we
 * start. *c is valid in any case. */
gpurt_status_t gpu_capture_open(gpu_capture_t *c, gpurt_error_t *err);

/* Removes the variables again: what is started from here on is not captured. */
void gpu_capture_stop(gpu_capture_t *c);

/* Sets them again, for one more program. Returns: false without memory. */
bool gpu_capture_again(const gpu_capture_t *c);

/* The path of a dump whose process is gone, so that it is written as far as it ever will
 * be; *pid: of that process. Returns: false where there is none. Whoever takes it removes
 * it. */
bool gpu_capture_next(const gpu_capture_t *c, char path[PATH_MAX], pid_t *pid);

/* The path of a process's dump. Returns: whether there is one. */
bool gpu_capture_of(const gpu_capture_t *c, pid_t pid, char path[PATH_MAX]);

/* Removes the folder with what is left in it. */
void gpu_capture_close(gpu_capture_t *c);

#endif
