/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - processes that a program runs and watches: several at once, each with a time
 * limit and with the end of what it printed.
 *
 * Context: one thread. A watch blocks SIGCHLD and the signals that ask the program to stop,
 * and reads them from a descriptor, so nothing happens between two system calls. A child
 * leads its own process group, which ends with it; it dies with its parent; it reads
 * nothing. */
#ifndef GPURT_TUI_CHILD_H
#define GPURT_TUI_CHILD_H

#include <gpurt/base.h>
#include <signal.h>
#include <sys/types.h>

/* The last bytes of a stream. Owner: the child it belongs to. */
typedef struct child_tail {
    int fd; /* our end of the pipe, -1: closed */
    char *bytes;
    size_t used, keep; /* keep: how many are kept at least; the buffer has twice as many */
} child_tail_t;

typedef struct child {
    pid_t pid;        /* 0: not running */
    int wait_status;  /* as of waitpid, once it has ended */
    bool ended, late; /* late: its time was over */
    uint64_t started_ns, wall_ns;
    uint64_t deadline_ns; /* it is asked to end then; 0: never */
    uint64_t kill_ns;     /* it was asked, and is killed then; 0: it was not */
    child_tail_t out, err;
} child_t;

typedef struct child_command {
    const char *path;
    char *const *argv;
    char *const *environment; /* NAME=VALUE, ends with NULL; added to ours */
    uint64_t timeout_ns;      /* 0: none */
} child_command_t;

typedef struct child_watch {
    int signal_fd;
    sigset_t before; /* mask that children start with */
    int stop_signal; /* 0, or the signal that asks this program to stop */
} child_watch_t;

/* Returns: 0 or errno. Close undoes it all. */
int child_watch_open(child_watch_t *watch);
void child_watch_close(child_watch_t *watch);

/* Returns: 0 or errno; of the execution too. */
int child_start(child_t *child, const child_command_t *command, const child_watch_t *watch);

/* Waits until one of the running children has ended (it says so in `ended`), a signal asks
 * to stop, or until_ns has come; ends those whose time is over. */
void child_watch_wait(child_watch_t *watch, child_t *const *children, size_t count,
                      uint64_t until_ns);

/* Asks it to end; what does not is killed two seconds later, by child_watch_wait. */
void child_stop(child_t *child);

/* Kills it if it still runs; releases its memory. */
void child_fini(child_t *child);

#endif
