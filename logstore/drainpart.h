/* SPDX-License-Identifier: Apache-2.0 */
/* drainpart.h - the inside of a drain, shared by its files and by nobody else. */
#ifndef GPURT_DRAINPART_H
#define GPURT_DRAINPART_H

#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "drain.h"
#include "ringread.h"
#include "timesort.h"

enum {
    BATCH_ROWS = 16384,
    BATCH_BYTES = 1 << 20,
    /* Of panics; records are shorter, and are read to where their rows are made. */
    LONGEST_ROW = sizeof(gpurt_row_t) + (GPLOG_ROW_WORDS + 4) * 4
};
GPURT_STATIC_ASSERT((int)GPURT_READ_WORDS <= (int)GPLOG_ROW_WORDS,
                    "a row has room for a record");
#define DRAIN_NO_RING UINT32_MAX    /* a loss that is not a ring's */
#define SITE_WAIT_NS  100000000ull  /* a definition may come later than its first record */
#define HOLE_WAIT_NS  1000000000ull /* a host thread may sleep between reserve and store */

/* A producer's site, translated. */
typedef struct drain_site {
    uint32_t id;    /* in the dictionary, 0 not known yet */
    uint16_t words; /* of one lane's arguments */
    uint8_t level;
    bool strings; /* has arguments that are numbers of strings */
    uint64_t types;
} drain_site_t;

/* What is known of one ring, beside its position. */
typedef struct drain_cursor {
    uint32_t freed; /* what the producer was told: xtail */
    uint32_t lost_told;
    uint32_t records_left; /* at the end: more than that are not believed */
    uint64_t seen;         /* messages read or known lost by overrun */
    uint64_t wait_since;   /* 0, or since when the next record cannot be taken */
    uint64_t busy_ns;      /* round in which something was last found */
    uint64_t last_ns;      /* time of the newest record */
    bool overrun;          /* since the last mark */
    bool touched;          /* on the list of those that the next flush frees */
    bool hot;              /* on the list of those that are read in each round */
} drain_cursor_t;

enum {
    SLOT_OPEN = 0,
    SLOT_TAKEN = 1, /* its row is in the batch */
    SLOT_TOLD = 2
};

typedef struct drain_section {
    uint32_t *positions; /* of each ring; apart from the rest, because a look at rings
                            where nothing is new needs no more */
    drain_cursor_t *cursors;
    drain_site_t *sites;   /* def_count; by number - 1 */
    uint8_t *slots;        /* SLOT_*, of panics */
    uint64_t *slot_since;  /* 0, or when one was found that must wait */
    uint32_t missing_told; /* panics without a slot that are in the batch or told */
    uint32_t next_panic;   /* all slots before it are taken or told */
    gpurt_clock_fit_t fit;
    double rate;          /* of fit */
    uint64_t oldest_time; /* on its clock; no record that comes now is older */
} drain_section_t;

/* A ring by one number: section in the highest byte. */
static inline uint32_t drain_ring_name(uint32_t section, uint32_t ring)
{
    return section << 24 | ring;
}
static inline uint32_t drain_name_section(uint32_t name)
{
    return name >> 24;
}
static inline uint32_t drain_name_ring(uint32_t name)
{
    return name & 0xffffffu;
}

/* Owner: whoever opened it. Single-threaded. */
struct gpurt_drain {
    const gpurt_boxmap_t *map;
    gpurt_drain_options_t options;
    const gpurt_drain_sink_t *store; /* among options.sinks, or NULL */
    bool put_any;                    /* some sink takes rows one by one */
    drain_section_t sections[GPURT_BOX_SECTIONS];
    bool final; /* nobody writes any more: step over what is unfinished */
    bool over;  /* ... and the application is gone or has closed the box */
    uint64_t now_ns;

    /* Looks. */
    uint32_t *hot, hot_count, at_hot; /* names of rings; where the next round goes on */
    uint32_t at_section, at_ring;     /* where a look that filled the batch goes on */
    uint64_t looked_ns, combed_ns;    /* begin of the last whole look; of a thorough one */
    bool looking, combing;            /* one is under way */
    uint16_t sm, slot;                /* of the ring at hand */
    uint64_t floor_ns;                /* real time; nothing not yet taken is older */

    /* The batch: rows since the last flush. */
    uint8_t *rows; /* BATCH_BYTES, and one row's room */
    uint32_t rows_used, count;
    uint32_t given_used, given; /* what all sinks but the store have had */
    bool full;
    uint32_t *touched, touched_count; /* names of rings that moved */
    uint32_t panics_taken;

    /* A round's rows on their way to the sinks that take them one by one. */
    gpurt_timed_t *entries, *spare; /* BATCH_ROWS each, when a sink wants order */
    uint32_t fresh, put;            /* entries, and how many this stage's sinks have */
    bool sorted;                    /* the stage: sinks that want rows in order */

    uint32_t epoch;
    uint64_t flush_number; /* of the last flush that was planned, and is over */
    uint64_t beat_ns;
    uint64_t oldest_ns; /* when the oldest row that is not flushed was found, 0 none */
    uint64_t last_row_ns, quiet_since, alive_ns;
    bool alive;
    bool urgent; /* flush after this round */
    gpurt_drain_figures_t sum;
};

/* drainclaim.c: whose box it is, and what of it is safe. */
gpurt_status_t drain_claim(gpurt_drain_t *d, gpurt_error_t *err);
void drain_unclaim(gpurt_drain_t *d);
/* Sets the place in each ring, where the drainer before us ended. */
void drain_take_over(gpurt_drain_t *d);
/* Says what the flush that begins now will make safe, and where that can be seen. */
void drain_plan(gpurt_drain_t *d, const gpurt_box_intent_t *place);
/* The flush is done: producers may use the space again, a successor starts here. */
void drain_free(gpurt_drain_t *d);
/* That we live, and have taken all until now. */
void drain_beat(gpurt_drain_t *d);

/* drainlook.c: fills the batch. Returns: false when it is full. */
bool drain_look(gpurt_drain_t *d);

/* drainring.c: takes what a ring holds. Returns: false when the batch is full. */
bool drain_ring(gpurt_drain_t *d, uint32_t section, uint32_t ring);
void drain_touch(gpurt_drain_t *d, uint32_t section, uint32_t ring);

/* drainsite.c: NULL while the definition is not there. */
const drain_site_t *drain_site_get(gpurt_drain_t *d, uint32_t section, uint32_t number);
uint32_t drain_string_id(gpurt_drain_t *d, uint32_t section, uint32_t number);

/* drainrow.c: room for the next row, whatever its length; NULL when the batch is full. */
gpurt_row_t *drain_row(gpurt_drain_t *d);
/* Ends the row at the end of the batch. */
void drain_row_done(gpurt_drain_t *d, gpurt_row_t *row, uint32_t words);
bool drain_loss(gpurt_drain_t *d, uint32_t section, uint32_t ring, uint32_t reason,
                uint64_t count, uint64_t time_ns);
/* What a section's clock says as real time: exact as long as nobody left the box alone
 * for 77 hours. */
uint64_t drain_time(const drain_section_t *s, uint64_t time48);
/* To be called when the fit or the floor moved. */
void drain_time_base(gpurt_drain_t *d, drain_section_t *s);
/* Makes a row of the record that was read into `row` by drain_record_words.
 * Returns: its messages; 0 when its site is not defined yet. */
uint32_t drain_record(gpurt_drain_t *d, uint32_t section, uint32_t ring, gpurt_row_t *row,
                      uint32_t groups, bool wait_for_site);
/* Where the words of a record are read to, so that its arguments are in place. */
static inline uint32_t *drain_record_words(gpurt_row_t *row)
{
    return gpurt_row_words(row) - GPURT_RECORD_HEAD_WORDS;
}

/* drainpanic.c: a private copy of a slot as a row. Returns: false when the batch is full. */
bool drain_panic(gpurt_drain_t *d, uint32_t section, const gpurt_panic_t *panic);
/* Whether its site and texts are defined: others may define them, a trip to memory later. */
bool drain_panic_defined(gpurt_drain_t *d, uint32_t section, const gpurt_panic_t *panic);

#endif
