/* SPDX-License-Identifier: Apache-2.0 */
/* launchee.h - the program that gpurt-top or gpurt-record runs.
 *
 * It stays in our process group and has our stdin, stdout and stderr, so job control and
 * pipelines work as if it ran alone. Signals that reach us alone are passed on, a hang-up of the
 * terminal too; keys of the terminal reach it anyway. It outlives us: a monitor must never take its
 * program down. Where the terminal is needed for a screen, what the program would write
 * to the terminal goes to a pseudo terminal of ours, and its stdin, if that is the
 * terminal, is empty; it then has a group of its own, so that it can stay behind when the
 * screen goes.
 *
 * Context: one thread, before any other is started (signals are blocked here and read
 * from a descriptor). SIGXFSZ and SIGPIPE are ignored by us: a log that meets a limit, and a
 * message that nobody reads any more, are errors of their writes. */
#ifndef GPURT_TUI_LAUNCHEE_H
#define GPURT_TUI_LAUNCHEE_H

#include <gpurt/base.h>
#include <signal.h>
#include <sys/types.h>

enum {
    LAUNCHEE_FAILED = 125,
    LAUNCHEE_NOT_EXECUTABLE = 126,
    LAUNCHEE_NOT_FOUND = 127
};

typedef struct launchee_plan {
    char *const *argv;        /* ends with NULL; argv[0] is looked up in PATH */
    const char *name, *value; /* added to its environment; name NULL: nothing */
    bool adopt;               /* what it leaves behind becomes ours: see heirs */
    bool output_to_error;     /* its standard output becomes our standard error */
    bool own_group; /* keys of the terminal do not signal it; what stops us is passed on */
    bool hold_terminal;     /* keep the program's output off the terminal */
    uint16_t rows, columns; /* of the pseudo terminal then; 0: 24 and 80 */
} launchee_plan_t;

/* Owner: the caller. */
typedef struct launchee {
    pid_t pid; /* 0: there is none, or it was reaped */
    bool own_group;
    bool ended;
    int wait_status; /* once ended */
    int signal_fd;   /* readable: call launchee_signals */
    int output_fd;   /* what it writes to the terminal, -1: nothing is held */
    int stop_signal; /* 0, or the last signal that asked us to stop; it was passed on */
    bool resized;    /* SIGWINCH came; whoever reacts clears it */
    sigset_t before; /* mask that the program starts with */
} launchee_t;

/* Makes a file that reaches its size limit, and a pipe without a reader, errors of the write, before
 * the first of them. The program that is started gets those signals' actions as we had them. */
void launchee_write_errors(void);

/* The signals that only we ignore: whatever else we start wants their defaults. */
void launchee_ignored(sigset_t *out);

/* Blocks signals and opens signal_fd, also when no program is run. Returns: 0 or errno. */
int launchee_open(launchee_t *l);

/* Returns: 0 or errno, that of the execution included. Again, once the program has ended. */
int launchee_start(launchee_t *l, const launchee_plan_t *plan);

/* Sends a signal to it, and to all of a group of its own. */
void launchee_signal(const launchee_t *l, int number);

/* Takes what signal_fd holds: passes signals on, reaps the program. */
void launchee_signals(launchee_t *l);

/* Whether processes that the program left behind still live: a daemon may be about to hand
 * its box over. For a plan with `adopt`, after its end. */
bool launchee_has_heirs(const launchee_t *l);

/* Our exit status for its end: its own, or 128 + N for signal N. */
int launchee_status(const launchee_t *l);

/* Our exit status for an error of launchee_start: 125, 126 or 127. */
int launchee_refusal(int error);

/* Gives signals and descriptors back. A program that runs goes on. */
void launchee_close(launchee_t *l);

#endif
