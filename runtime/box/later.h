/* SPDX-License-Identifier: Apache-2.0 */
/* later.h - how somebody wakes a collector that a program has loaded and not started
 * (GPURT_CUPTI=later).
 *
 * The program listens on an abstract socket that is named by its process number; who wants
 * its records names a socket of his own there, as in handover.h, and what he wants. Both
 * sides check that the other runs as the same user. */
#ifndef GPURT_LATER_H
#define GPURT_LATER_H

#include <gpurt/status.h>

#include "handover.h"

enum {
    GPURT_LATER_WORDS = 128
};
typedef struct gpurt_later {
    char magic[8];
    char drainer[GPURT_HANDOVER_NAME]; /* where the box is to be handed over */
    char words[GPURT_LATER_WORDS];     /* as GPURT_CUPTI; empty: the default */
} gpurt_later_t;

/* The program's side. Returns: a listening descriptor, close-on-exec; -1. */
int gpurt_later_listen(void);
/* Waits for somebody who asks, and answers that he was heard. Returns: false when the
 * descriptor was shut down. */
bool gpurt_later_wait(int listener, gpurt_later_t *out);

/* The other side. GPURT_E_HANDLE: no collector sleeps in that process. */
gpurt_status_t gpurt_later_wake(uint32_t pid, const char *drainer, const char *words,
                                gpurt_error_t *err);

#endif
