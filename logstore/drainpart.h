/* SPDX-License-Identifier: Apache-2.0 */
/* drainpart.h - the inside of a drain, shared by its files and by nobody else. */
#ifndef GPURT_DRAINPART_H
#define GPURT_DRAINPART_H

#include "drain.h"
#include "ringread.h"
#include "timesort.h"

enum {
    BATCH_ROWS = 65536,
    BATCH_BYTES = 4 << 20,
    LONGEST_ROW = sizeof(gpurt_row_t) + (GPURT_RECORD_MAX_WORDS + 1) * 4
};
#define SITE_WAIT_NS 100000000ull  /* a definition may come later than its first record */
#define HOLE_WAIT_NS 1000000000ull /* a host thread may sleep between reserve and store */

/* A producer's site, translated. */
typedef struct drain_site {
    uint32_t id;    /* in the dictionary, 0 not known yet */
    uint16_t words; /* of one lane's arguments */
    uint8_t level;
    bool strings; /* has arguments that are numbers of strings */
    uint64_t types;
} drain_site_t;

/* The place in one ring. */
typedef struct drain_cursor {
    uint32_t position;
    uint32_t freed; /* what the producer was told: xtail */
    uint32_t lost_told;
    uint64_t seen;       /* messages read or known lost by overrun */
    uint64_t wait_since; /* 0, or since when the next record cannot be taken */
    bool overrun;        /* since the last mark */
} drain_cursor_t;

typedef struct drain_section {
    drain_cursor_t *cursors;
    drain_site_t *sites; /* def_count; by number - 1 */
    gpurt_clock_fit_t fit;
    double rate;         /* of fit */
    uint32_t next_panic; /* slots before it are told */
} drain_section_t;

/* Owner: whoever opened it. Single-threaded. */
struct gpurt_drain {
    const gpurt_boxmap_t *map;
    gpurt_drain_options_t options;
    drain_section_t sections[GPURT_BOX_SECTIONS];
    uint32_t at_section, at_ring; /* where a sweep that filled the batch goes on */
    bool final;                   /* nobody writes any more: step over what is unfinished */
    uint64_t now_ns;

    uint8_t *rows; /* BATCH_BYTES */
    uint32_t rows_used;
    gpurt_timed_t *entries, *spare; /* BATCH_ROWS each */
    uint32_t count, put;            /* entries, and how many the sinks of this stage have */
    bool sorted;                    /* the stage: sinks that want rows in order */

    uint32_t epoch;
    uint64_t oldest_ns; /* when the oldest row that is not flushed was put, 0 none */
    uint64_t last_row_ns, quiet_since;
    uint32_t idle; /* rounds without a row */
    bool urgent;   /* flush after this round */
    gpurt_drain_figures_t sum;
};

/* drainsite.c: false while the definition is not there. */
bool drain_site_get(gpurt_drain_t *d, uint32_t section, uint32_t number, drain_site_t *out);
uint32_t drain_string_id(gpurt_drain_t *d, uint32_t section, uint32_t number);

/* drainrow.c: room for a row with so many words; NULL when the batch is full. The row is
 * zeroed up to its words. */
gpurt_row_t *drain_row(gpurt_drain_t *d, uint32_t words);
/* Ends a row made by drain_row. */
void drain_row_done(gpurt_drain_t *d, const gpurt_row_t *row);
bool drain_loss(gpurt_drain_t *d, uint32_t section, uint32_t ring, uint32_t reason,
                uint64_t count, uint64_t time_ns);
uint64_t drain_time(gpurt_drain_t *d, uint32_t section, uint64_t time48);
/* A record as a row. Returns: 1 done, 0 no room, -1 its site is not defined yet. */
int drain_record(gpurt_drain_t *d, uint32_t section, uint32_t ring, const uint32_t *words,
                 uint32_t groups, bool wait_for_site);
bool drain_panic(gpurt_drain_t *d, uint32_t section, const gpurt_panic_t *panic);

/* drainring.c: takes what a ring holds. Returns: false when the batch is full. */
bool drain_ring(gpurt_drain_t *d, uint32_t section, uint32_t ring);

#endif
