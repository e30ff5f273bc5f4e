/* SPDX-License-Identifier: Apache-2.0 */
/* drain.h - from a black box to its sinks: the work of a drainer as a library.
 *
 * A drainer claims a box, reads its rings, panics and losses round by round, turns
 * records into rows, hands them to the sinks, and frees space in the rings only when the
 * rows are in the file, or their groups on the box's shelf. A flush is planned in the box before it is written, so
 * a drainer that takes over knows what the one before it got done: with the same file, no
 * row is lost and none comes twice. It lives in another process than the application and
 * goes on until that one is gone and its devices are quiet. All memory is taken at open,
 * save for new definitions. One thread uses a drain; with a scribe, the store is written by
 * that one's, while this one goes on reading. */
#ifndef GPURT_DRAIN_H
#define GPURT_DRAIN_H

#include "boxmap.h"
#include "dictionary.h"
#include "scribe.h"

typedef struct gpurt_drain gpurt_drain_t;

/* Where rows go. All are called by the drain's thread, but prepare and commit by the
 * scribe's, where there is one (never by both at a time). A sink takes rows one by one, each
 * round those that are new (put), or all of them at once (watch), or is the store, which
 * takes a whole batch with each flush (prepare, commit, holds). A drain has at most one
 * store. */
typedef struct gpurt_drain_sink {
    void *context;
    /* A failure stops the round; the row comes again. */
    gpurt_status_t (*put)(void *context, const gpurt_row_t *row, gpurt_error_t *err);
    gpurt_status_t (*flush)(void *context, gpurt_error_t *err); /* of put's; may be NULL */
    bool in_order; /* rows of a round by time; else ring by ring, as they were found */

    /* Looks at rows that lie one after another, as they were found; ordered: their times are known
     * not to go back. Cannot refuse. */
    void (*watch)(void *context, const gpurt_row_t *rows, uint32_t bytes, uint32_t count,
                  bool ordered);
    /* Whether watch would not wait now; may be NULL. While it would, rings that are full keep
     * their rows, and the others and panics are read on. */
    bool (*ready)(void *context);

    /* Called at once when a section counts a panic, and when the row of one was made: so many are
     * counted whose records are not whole yet. May be NULL. */
    void (*alarm)(void *context, uint32_t section, uint32_t coming);

    /* Before a batch is handed over: what prepare must know of the dictionary; may be NULL. */
    gpurt_status_t (*note)(void *context, gpurt_error_t *err);
    /* Makes ready what will be written for these rows, and says where it will lie. They
     * come ring by ring: neighbours share site, block and SM, so they compress well. */
    gpurt_status_t (*prepare)(void *context, const gpurt_row_t *rows, uint32_t bytes,
                              uint32_t count, gpurt_box_intent_t *place,
                              gpurt_error_t *err);
    /* Writes it. After a failure the batch is prepared again. */
    gpurt_status_t (*commit)(void *context, gpurt_error_t *err);
    /* Whether what another drainer prepared for this place is there, whole. */
    bool (*holds)(void *context, const gpurt_box_intent_t *place);
} gpurt_drain_sink_t;

enum {
    GPURT_DRAIN_SINKS = 6
};

typedef struct gpurt_drain_options {
    uint32_t struct_size;
    uint32_t sink_count;
    gpurt_drain_sink_t sinks[GPURT_DRAIN_SINKS];
    gpurt_dictionary_t *dictionary; /* definitions go here; borrowed until close */
    gpurt_scribe_t *scribe;         /* packs and writes; borrowed until close; NULL: none */
    uint64_t flush_ns;  /* a row waits no longer for its flush, a quarter where they are
                           many; default 100 ms */
    uint64_t settle_ns; /* quiet time after the application's end; default 50 ms */
    uint64_t heirs_ns;  /* ... while a process that it forked may write on; default 5 s */
    bool spin;          /* never sleep between rounds */
} gpurt_drain_options_t;

typedef struct gpurt_drain_figures {
    uint64_t rounds, rows, messages, lost, panics, torn;
    uint32_t takeovers; /* drainers before us */
    uint32_t adopted;   /* rings that the one before us had written but not freed */
} gpurt_drain_figures_t;

/* map: borrowed until close. A read-only map is read from where its last drainer
 * stopped, and nothing is claimed or freed. GPURT_E_BUSY: another drainer lives. */
gpurt_status_t gpurt_drain_open(const gpurt_boxmap_t *map,
                                const gpurt_drain_options_t *options, gpurt_drain_t **out,
                                gpurt_error_t *err);

/* One look: panics, the rings that were busy of late, and in a fraction of a millisecond
 * all others too; a bounded part of those that hold more than was taken. It ends at once when
 * a panic is found. *rows: how many were found. After a failure of a sink, which with a scribe
 * is told by a later round, the next one goes on where this one stopped. */
gpurt_status_t gpurt_drain_round(gpurt_drain_t *d, uint32_t *rows, gpurt_error_t *err);

/* Sleeps as long as gpurt_drain_patience suggests; less when a kernel is launched by
 * gpurt_launch, or host code of the application runs, which may launch one otherwise. */
void gpurt_drain_rest(gpurt_drain_t *d);
/* The same for several, which one thread drains: the least patient one decides. */
void gpurt_drains_rest(gpurt_drain_t *const *drains, uint32_t count);
/* How long, in ns, nobody minds: 0 when there was work just now, then up to 0.7 ms, so that
 * a message is seen within a millisecond; 20 ms when nothing was launched that has not
 * ended, nothing came for a second, and the application's host code did not run. */
uint64_t gpurt_drain_patience(const gpurt_drain_t *d);

/* Whether the application is gone, or has closed the box, and nothing has come for the settle
 * time since all that came was written and its room was free again. Longer while a process that
 * it forked has the box in its memory, or is on its way out. */
bool gpurt_drain_over(gpurt_drain_t *d);

/* Takes what is left, also behind records that their producer did not finish; flushes;
 * frees. */
gpurt_status_t gpurt_drain_finish(gpurt_drain_t *d, gpurt_error_t *err);

/* Flushes the sinks and frees the space in the rings before it returns. */
gpurt_status_t gpurt_drain_flush(gpurt_drain_t *d, gpurt_error_t *err);

/* Whether nobody minds a drain that writes before it reads on: a box of host code alone, where
 * nothing panics, and who finds no room waits for it. */
bool gpurt_drain_is_patient(const gpurt_boxmap_t *map);

void gpurt_drain_figures(const gpurt_drain_t *d, gpurt_drain_figures_t *out);

/* Gives the claim back. NULL is allowed. */
void gpurt_drain_close(gpurt_drain_t *d);

/* The head of a log file for what the map holds. */
void gpurt_drain_about(const gpurt_boxmap_t *map, gplog_file_t *out);

#endif
