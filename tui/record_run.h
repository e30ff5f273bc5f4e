/* SPDX-License-Identifier: Apache-2.0 */
/* record_run.h - the application that a drainer runs: its streams are ours, its signals
 * too, and its end is our end.
 *
 * Context: one thread. Signals that ask to stop or that a user sends are read from a
 * descriptor and passed on; those that the terminal sends reach the application by
 * itself. */
#ifndef GPURT_TUI_RECORD_RUN_H
#define GPURT_TUI_RECORD_RUN_H

#include <gpurt/base.h>
#include <signal.h>
#include <sys/types.h>

typedef struct record_run {
    pid_t pid;
    int signal_fd;
    bool ended;
    int status; /* what a shell would say: exit code, or 128 and the signal */
    sigset_t before;
} record_run_t;

/* Starts argv with name=value added to its environment. Returns: 0, or the errno of what
 * failed, execution included. */
int record_run_start(record_run_t *run, char *const argv[], const char *name,
                     const char *value);

/* Passes signals on and notices the end. */
void record_run_poll(record_run_t *run);

/* Whether processes that the application left behind still live: a daemon may be about to hand
 * its box over. Only after the end. */
bool record_run_has_heirs(const record_run_t *run);

void record_run_fini(record_run_t *run);

#endif
