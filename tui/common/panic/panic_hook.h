/* SPDX-License-Identifier: Apache-2.0 */
/* panic_hook.h - runs a command of the user's when device code fails.
 *
 * Once for each site, one at a time, HOOK_SITES at most, none longer than HOOK_SECONDS: a
 * storm of panics must not become a storm of processes. It never waits while records come
 * in. The command is for /bin/sh and is told through its environment:
 *   GPURT_PANIC_KIND     panic, fault or hang
 *   GPURT_PANIC_SITE     file:line, empty where it is not known
 *   GPURT_PANIC_MESSAGE  what happened; it comes from device code: quote it
 *   GPURT_PANIC_FILE     the log
 * Its standard input is empty, its output goes to standard error. One thread uses it. */
#ifndef GPURT_TUI_PANIC_HOOK_H
#define GPURT_TUI_PANIC_HOOK_H

#include "drain.h"

#include <sys/types.h>

enum {
    HOOK_SITES = 16,
    HOOK_SECONDS = 10,
    HOOK_TEXT = 1024
};

typedef struct hook_event {
    const char *kind; /* static */
    char where[HOOK_TEXT], message[HOOK_TEXT];
} hook_event_t;

/* Owner: the caller. Zeroed it does nothing. */
typedef struct panic_hook {
    const char *command, *file; /* borrowed; command NULL: off */
    hook_event_t *events;       /* heap; HOOK_SITES of them */
    uint32_t count, begun;
    pid_t running; /* 0: none */
    uint64_t since_ns;
    bool ended_badly; /* one failed or was ended by us */
} panic_hook_t;

/* file: the log, "" where there is none. Returns: false without memory. */
bool panic_hook_init(panic_hook_t *h, const char *command, const char *file);

/* Looks at a row; what is not a panic is nothing to it. */
void panic_hook_row(panic_hook_t *h, const gpurt_dictionary_t *sites,
                    const gpurt_row_t *row);

/* A drain's rows on their way to a hook. Owner: the caller, as long as the drain. */
typedef struct panic_tap {
    panic_hook_t *hook;
    const gpurt_dictionary_t *sites;
} panic_tap_t;
gpurt_drain_sink_t panic_tap_sink(panic_tap_t *tap);

/* Starts the next one, ends one that is over its time. Call it now and then. */
void panic_hook_poll(panic_hook_t *h);

/* Lets the commands come to their ends, each within its time. */
void panic_hook_fini(panic_hook_t *h);

#endif
