/* SPDX-License-Identifier: Apache-2.0 */
/* later.h - how somebody wakes a collector that a program has loaded and not started
 * (GPURT_CUPTI=later).
 *
 * The program listens on an abstract socket that is named by its process number; who wants
 * its records names a socket of his own there, as in handover.h, and what he wants. He keeps
 * the connection for as long as he records: nobody else is taken meanwhile, and when he goes,
 * however he does, his place is free. A program hears its own user and root alone; who asks
 * checks that it is that process which listens. */
#ifndef GPURT_LATER_H
#define GPURT_LATER_H

#include <gpurt/status.h>
#include <stdbool.h>

#include "handover.h"

enum {
    GPURT_LATER_WORDS = 128
};
typedef struct gpurt_later {
    char magic[8];
    char drainer[GPURT_HANDOVER_NAME]; /* where the box is to be handed over */
    char words[GPURT_LATER_WORDS];     /* as GPURT_CUPTI, whole; empty: the default */
} gpurt_later_t;

/* The program's side. Returns: a listening descriptor, close-on-exec; -1. */
int gpurt_later_listen(void);
/* Waits for somebody who asks while nobody else is there, and answers that he was heard.
 * *holder: the connection of who was heard last, -1 at first; its caller closes what is left
 * of it. Returns: false when the listener was shut down. */
bool gpurt_later_wait(int listener, int *holder, gpurt_later_t *out);

/* Whether whoever is at the other end of a connection is still there. Either side's. */
bool gpurt_later_is_there(int connection);

/* The other side. *held: to be closed when the records are not wanted any more; -1 when it
 * fails. GPURT_E_HANDLE: no collector sleeps in that process, or none answers us within two
 * seconds; GPURT_E_BUSY: another process is heard, and lives; GPURT_E_CANCELLED: given up before
 * there was an answer. given_up: asked when a signal came, or we were stopped and went on. */
gpurt_status_t gpurt_later_wake(uint32_t pid, const char *drainer, const char *words,
                                bool (*given_up)(void), int *held, gpurt_error_t *err);

#endif
