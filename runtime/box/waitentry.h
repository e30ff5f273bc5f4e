/* SPDX-License-Identifier: Apache-2.0 */
/* waitentry.h - a wait in the state pages of the host's section, of a thread (threadpage.h) or of a task
 * (taskpage.h): seven groups. Each group bears the entry's turn, so a reader sees all of a wait or none
 * of it, whatever happens to the writer. An odd turn is a wait that lasts. */
#ifndef GPURT_WAITENTRY_H
#define GPURT_WAITENTRY_H

#include <gpurt/impl/state.h>

enum {
    GPURT_WAITENTRY_GROUPS = 7,
    GPURT_WAITENTRY_BYTES = 7 * 12 /* a group holds three words beside its turn */
};

typedef struct GPURT_ALIGN(128) gpurt_waitentry {
    uint32_t xturn; /* odd: somebody waits; written by: who waits */
    uint32_t reserved[3];
    gpurt_group_t xgroups[GPURT_WAITENTRY_GROUPS]; /* likewise */
} gpurt_waitentry_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_waitentry_t) == 128, "a line and its neighbour");

/* The application's; any thread. wait: GPURT_WAITENTRY_BYTES. Returns: the entry, from 1; 0: all of
 * `count` are taken. */
uint32_t gpurt_waitentry_begin(gpurt_waitentry_t *entries, uint32_t count,
                               const void *wait);
void gpurt_waitentry_end(gpurt_waitentry_t *entries, uint32_t entry); /* 0: nothing */

/* A reader's. Returns: false, nobody waits there. */
bool gpurt_waitentry_read(const gpurt_waitentry_t *entry, void *out);

#endif
