/* SPDX-License-Identifier: Apache-2.0 */
/* hang_watch.h - looks at the state pages of a box now and then, finds deadlocks, and makes
 * rows of them. It is in another process than the code that hangs, asks no driver, and
 * stops nothing.
 *
 * A deadlock is told once, when all waits of its circle are older than the limit. One
 * thread uses a watch. */
#ifndef GPURT_TUI_HANG_WATCH_H
#define GPURT_TUI_HANG_WATCH_H

#include "dictionary.h"
#include "waitgraph.h"

enum {
    HANG_TOLD = 16 /* deadlocks of a box; more are not told */
};
#define HANG_DEFAULT_NS 1000000000ull /* a wait that a person would call long */

typedef enum hang_found {
    HANG_NOTHING, /* to tell now */
    HANG_SOON,    /* somebody waits, not long enough yet */
    HANG_FOUND
} hang_found_t;

/* The last silence that was heard of. */
typedef struct hang_silence {
    uint64_t since_ns, looked_ns;
    uint32_t number; /* 0: none yet */
    bool over;       /* nothing is to be told of it any more */
    hang_found_t found;
} hang_silence_t;

/* Owner: the caller. Zeroed but for the limit it is ready. */
typedef struct hang_watch {
    uint64_t limit_ns; /* 0: HANG_DEFAULT_NS */
    uint64_t looked_ns;
    hang_silence_t silence;
    gpurt_waits_t waits; /* of the last look */
    uint64_t told[HANG_TOLD];
    uint32_t told_count;
} hang_watch_t;

void hang_watch_fini(hang_watch_t *w);

/* Looks, if it is time to. Returns: whether there is a deadlock that was not told yet, in
 * *g, whose waits are w's; fini it. */
bool hang_watch_look(hang_watch_t *w, const gpurt_boxmap_t *map, gpurt_waitgraph_t *g);

/* The same when the application has died: what it stood in, whatever its age. */
bool hang_watch_last(hang_watch_t *w, const gpurt_boxmap_t *map, gpurt_waitgraph_t *g);

/* For a silence that is too long, and lasts: everybody who waits for longer than the limit,
 * deadlock or not, once; nobody, if threads of the host wait alone. Code falls silent before it waits, so whoever has begun to wait is
 * given the time to become old enough; not more than the limit once more, for some code
 * waits anew all the time. number: of the silence, not 0. *g as above where HANG_FOUND. */
hang_found_t hang_watch_silence(hang_watch_t *w, const gpurt_boxmap_t *map, uint32_t number,
                                gpurt_waitgraph_t *g);

/* A row for it (docs/LOG_FORMAT.md, HANG). blob: id of the snapshot's, 0 none. Defines the
 * site in d. Returns: heap, NULL without memory. */
gpurt_row_t *hang_row_make(gpurt_dictionary_t *d, const gpurt_waitgraph_t *g,
                           uint64_t blob);

#endif
