/* SPDX-License-Identifier: Apache-2.0 */
/* pager.h - a pager between us and a terminal, as git has one: GPURT_PAGER, else PAGER, else
 * less, with LESS=FRX where the user says nothing: less then ends by itself where all fits the
 * screen. On a dumb terminal GPURT_PAGER alone counts. A privileged process starts none: what runs would be of its user's choice. */
#ifndef GPURT_TUI_PAGER_H
#define GPURT_TUI_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

enum {
    PAGER_NOT_STARTED = 126 /* as a shell says it, or 127 */
};

/* Owner: the caller. Zeroed there is none. */
typedef struct pager {
    pid_t pid; /* 0: none */
    const char *command;
} pager_t;

/* Where standard output is a terminal: from now on the pager reads what goes there. Without a
 * pager (cat, an empty name, no less in PATH) all stays as it is. */
void pager_begin(pager_t *p);

/* Waits until the user leaves it. Returns: its exit status, 0 without one; from
 * PAGER_NOT_STARTED on it did not begin; p->command says which.
 * Context: nothing is written to standard output after that. */
int pager_end(pager_t *p);

#endif
