/* SPDX-License-Identifier: Apache-2.0 */
/* drainpart.h - the inside of a drain, shared by its files and by nobody else. */
#ifndef GPURT_DRAINPART_H
#define GPURT_DRAINPART_H

#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "drain.h"
#include "ringread.h"
#include "timesort.h"

enum {
    BATCHES = 3, /* with a scribe: one that is filled, one that is written, one between */
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
    uint32_t strings; /* bit per word of a lane's arguments that is a string's number */
    uint64_t types;
} drain_site_t;

/* What is known of one ring, beside its position. */
typedef struct drain_cursor {
    uint32_t handed; /* up to here on the shelf, or in a batch that was handed over */
    uint32_t lost_told;
    uint32_t records_left; /* at the end: more than that are not believed */
    uint64_t seen;         /* messages read or known lost by overrun */
    uint64_t wait_since;   /* 0, or since when the next record cannot be taken */
    uint64_t busy_ns;      /* round in which something was last found */
    uint64_t last_ns;      /* time of the newest record */
    bool overrun;          /* since the last mark */
    bool touched;          /* has a mark in the batch at hand */
    bool more;             /* the last visit left something */
    uint8_t list;          /* RING_* */
} drain_cursor_t;

/* On which list of rings one is. */
enum {
    RING_IDLE = 0, /* none: one word of it is looked at now and then */
    RING_HOT = 1,  /* read to its end in each round */
    RING_FLOOD = 2 /* holds more than a visit takes: some of these in each round, in turn */
};

typedef struct drain_list {
    uint32_t *names, count;
    uint32_t at; /* where the next round goes on */
} drain_list_t;

/* How much of a batch may be filled: rings that overflow leave room for those that do not,
 * and these for panics, so that neither waits until a batch was written. */
typedef enum drain_room {
    ROOM_FLOOD = 2, /* sixteenths that are kept free */
    ROOM_CALM = 1,
    ROOM_PANIC = 0
} drain_room_t;

/* The last row of a site, of a record that had no mask of its own: the next one is mostly of the
 * same size, too. */
typedef struct drain_again {
    uint32_t what;      /* the first word, without the warp */
    uint32_t groups;    /* 0: none */
    uint32_t strings;   /* bit per argument that is one */
    uint32_t def_count; /* of the section */
    bool host;          /* so is the section's code */
    gpurt_row_t row;
} drain_again_t;
enum {
    DRAIN_AGAINS = 16 /* of a section, by the last bits of a site's number */
};

typedef struct drain_section {
    uint32_t *positions; /* of each ring; apart from the rest, because a look at rings
                            where nothing is new needs no more */
    drain_cursor_t *cursors;
    drain_site_t *sites;   /* def_count; by number - 1 */
    bool *slots;           /* whether the row of that panic was made */
    uint64_t *slot_since;  /* 0, or when one was found that must wait */
    uint32_t missing_told; /* panics without a slot that are in a batch or told */
    uint32_t next_panic;   /* all slots before it are taken or told */
    uint32_t taken;        /* of slots */
    uint32_t coming;       /* panics that are counted and not taken, as the sinks know */
    gpurt_clock_fit_t fit;
    double rate;          /* of fit */
    uint64_t oldest_time; /* on its clock; no record that comes now is older */
    drain_again_t again[DRAIN_AGAINS];
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

/* Where a ring will stand when a batch is written. */
typedef struct drain_mark {
    uint32_t ring; /* its name */
    uint32_t tail, lost_told;
    uint64_t seen;
} drain_mark_t;

enum {
    BATCH_OURS = 0,
    BATCH_HANDED = 1, /* the scribe's until it says one of the next */
    BATCH_WRITTEN = 2,
    BATCH_FAILED = 3
};

/* Rows, and what is safe once they are. Owner: the drain, or while handed over the scribe. */
typedef struct drain_batch {
    gpurt_scribe_job_t job;
    gpurt_drain_t *drain;
    uint8_t *rows; /* BATCH_BYTES */
    uint32_t used, count;
    uint64_t newest_ns;  /* of its last row */
    bool disordered;     /* times of its rows go back somewhere */
    drain_mark_t *marks; /* of rings that moved */
    uint32_t mark_count;
    uint32_t *panics; /* names of slots */
    uint32_t panic_count;
    uint32_t missing_told[GPURT_BOX_SECTIONS]; /* of its sections, as it was handed over */
    uint32_t shelf_at; /* what is before it on the shelf is in this batch or an older one */
    uint64_t number;   /* of the flush */
    gpurt_status_t status;
    gpurt_error_t err;
    uint32_t xstate; /* BATCH_*; written by: the scribe while HANDED, else the drain */
} drain_batch_t;

/* Owner: whoever opened it. All is its thread's but batches that are handed over. */
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
    drain_list_t hot, flood;
    uint32_t at_section, at_ring;  /* where a look that was broken off goes on */
    uint64_t looked_ns, combed_ns; /* begin of the last whole look; of a thorough one */
    bool looking, combing;         /* one is under way */
    bool alarm;                    /* a panic was found: the round ends */
    bool cut;                      /* not all rings had their turn */
    bool held;                     /* a sink was not ready for rings in flood */
    uint32_t rows_end;             /* of the batch: the stage at hand ends there */
    uint16_t sm, slot;             /* of the ring at hand */
    uint64_t floor_ns;             /* real time; nothing not yet taken is older */

    /* The shelf. */
    uint32_t shelf_at, shelf_end; /* where we read or add; what a drainer before us left
                                     ends there */
    gpurt_group_t *lap;           /* a ring as it was; NULL: nothing was left */

    /* Batches: one, or a ring of BATCHES of which the oldest are handed over. */
    drain_batch_t batches[BATCHES], *batch; /* at hand: rows since the last flush */
    uint32_t batch_count, handed;
    uint32_t room_rows, room_bytes; /* of it, for what is read now */
    uint32_t given_used, given;     /* of it, what all sinks but the store have had */
    bool full;
    bool patient; /* gpurt_drain_is_patient */
    bool joined;  /* the scribe's users */

    /* A round's rows on their way to the sinks that take them one by one. */
    gpurt_timed_t *entries, *spare; /* BATCH_ROWS each, when a sink wants order */
    uint32_t fresh, put;            /* entries, and how many this stage's sinks have */
    bool sorted;                    /* the stage: sinks that want rows in order */

    uint32_t epoch;
    uint64_t flush_number; /* of the last flush that was handed over */
    uint64_t beat_ns;
    uint64_t oldest_ns; /* when the oldest row that is not flushed was found, 0 none */
    uint64_t last_row_ns, quiet_since, alive_ns, heirs_seen_ns;
    uint64_t alone_ns;             /* since when no other process has the box; 0: one may */
    uint64_t host_ran_ns, host_ns; /* its processor time; when that was seen to grow */
    bool alive;
    bool urgent;  /* flush after this round: someone waits for a panic */
    bool refused; /* the last time that a sink took part, it failed */
    bool half;    /* flush when all rings had their turn: one is half used up */
    gpurt_drain_figures_t sum;
};

/* drainclaim.c: whose box it is, and what of it is safe. */
gpurt_status_t drain_claim(gpurt_drain_t *d, gpurt_error_t *err);
void drain_unclaim(gpurt_drain_t *d);
/* Sets the place in each ring, where the drainer before us ended. */
gpurt_status_t drain_take_over(gpurt_drain_t *d, gpurt_error_t *err);
/* Says what the flush that begins now will make safe, and where that can be seen.
 * Context: this and the next, who writes the batch. */
void drain_plan(const drain_batch_t *b, const gpurt_box_intent_t *place);
/* The flush is done: producers may use the space again, a successor starts here. */
void drain_free(const drain_batch_t *b);
/* That we live, and have taken all until now. */
void drain_beat(gpurt_drain_t *d);

/* drainbatch.c */
gpurt_status_t drain_batches_make(gpurt_drain_t *d, uint32_t rings, gpurt_error_t *err);
void drain_batches_free(gpurt_drain_t *d);
/* Whether the batch at hand may be handed over without a wait. */
bool drain_can_hand(const gpurt_drain_t *d);
/* Hands it over, or writes it where there is no scribe; it is empty then. After a failure it
 * is as it was. May wait if drain_can_hand says no. */
gpurt_status_t drain_hand(gpurt_drain_t *d, gpurt_error_t *err);
/* Takes back what was written. A batch that failed is tried again, and says why. */
gpurt_status_t drain_collect(gpurt_drain_t *d, gpurt_error_t *err);
/* Waits until all that was handed over is written. */
gpurt_status_t drain_settle(gpurt_drain_t *d, gpurt_error_t *err);
/* The ring moved: the batch at hand will say where to. */
void drain_touch(gpurt_drain_t *d, uint32_t section, uint32_t ring);
/* Writes down where the rings of the batch at hand stand. */
void drain_marks_set(gpurt_drain_t *d);
/* They are handed over, or true. */
void drain_marks_drop(gpurt_drain_t *d);

/* drainshelf.c: takes what is half used up off the rings of the batch at hand, so that they need
 * not wait for its flush. Returns: false when they must: no shelf, or it is full. */
bool drain_shelve(gpurt_drain_t *d);
/* The batch is in the file: what it had on the shelf may be written over. */
void drain_shelf_free(const drain_batch_t *b);
/* Moves a ring's tail on, if it is not further. */
void drain_tail_raise(gpurt_ring_control_t *c, uint32_t to);
/* Finds what the drainer before us left there. It is taken before any ring is looked at. */
gpurt_status_t drain_shelf_take_over(gpurt_drain_t *d, gpurt_error_t *err);
/* Takes some of it. Returns: false when the batch is full. */
bool drain_shelf_look(gpurt_drain_t *d);
static inline bool drain_shelf_left(const gpurt_drain_t *d)
{
    return d->shelf_at != d->shelf_end;
}

/* drainlook.c: fills the batch. Returns: false when it is full. */
bool drain_look(gpurt_drain_t *d);
/* New panics; sets `alarm`. Returns: false when the batch is full. */
bool drain_panics(gpurt_drain_t *d);

/* Whether nothing was stored at this position yet: the first look of gpurt_ring_read. */
static inline bool drain_ring_quiet(const gpurt_group_t *groups, uint32_t group_count,
                                    uint32_t position)
{
    /* relaxed: what the tag promises is then read whole */
    uint32_t tag = gpurt_load_relaxed_sys_u32(&groups[position & (group_count - 1)].tag);

    return !(tag & 0xffu) || (int16_t)(uint16_t)((tag >> 16) - position) < 0;
}

/* drainring.c: takes what a ring holds. Returns: false when the batch is full. */
bool drain_ring(gpurt_drain_t *d, uint32_t section, uint32_t ring);
/* Takes what a copy of the ring holds up to `end`. Returns: false when the batch is full; when
 * the ring's position is not `end` then, a panic came, or a definition is missing that still
 * may. */
bool drain_piece(gpurt_drain_t *d, uint32_t section, uint32_t ring,
                 const gpurt_group_t *groups, uint32_t end);

/* drainsite.c: one that is asked for the first time. */
const drain_site_t *drain_site_load(gpurt_drain_t *d, uint32_t section, uint32_t number);

/* A site or string by its number; NULL while the definition is not there. */
static inline const drain_site_t *drain_site_get(gpurt_drain_t *d, uint32_t section,
                                                 uint32_t number)
{
    const drain_site_t *site;

    if (number == 0 || number > d->map->sections[section].def_count)
        return NULL;
    site = &d->sections[section].sites[number - 1];
    return GPURT_LIKELY(site->id != 0) ? site : drain_site_load(d, section, number);
}

static inline uint32_t drain_string_id(gpurt_drain_t *d, uint32_t section, uint32_t number)
{
    const drain_site_t *site = drain_site_get(d, section, number);

    return site ? site->id : 0;
}

/* drainrow.c: the same, out of line: what is not known when it is first asked for. */
uint32_t drain_string_late(gpurt_drain_t *d, uint32_t section, uint32_t number);

/* How far the batch may be filled from now on. */
void drain_room(gpurt_drain_t *d, drain_room_t kept);
/* Room for the next row, whatever its length; NULL when the batch is full. */
static inline gpurt_row_t *drain_row(gpurt_drain_t *d)
{
    const drain_batch_t *b = d->batch;

    if (GPURT_UNLIKELY(b->count >= d->room_rows || b->used > d->room_bytes))
        return NULL;
    return (gpurt_row_t *)(b->rows + b->used);
}
/* Ends the row at the end of the batch. */
static inline void drain_row_done(gpurt_drain_t *d, gpurt_row_t *row, uint32_t words)
{
    drain_batch_t *b = d->batch;

    row->program = 0; /* its sinks number it */
    row->words = (uint16_t)words;
    gpurt_row_words(row)[words] = 0; /* the padding, or the first bytes of the next row */
    b->disordered |= row->time_ns < b->newest_ns;
    b->newest_ns = row->time_ns;
    b->used += gpurt_row_bytes(words);
    b->count++;
}
bool drain_loss(gpurt_drain_t *d, uint32_t section, uint32_t ring, uint32_t reason,
                uint64_t count, uint64_t time_ns);
/* What a section's clock says as real time: exact as long as nobody left the box alone for 77
 * hours. The one time that is not older than the oldest possible and ends in these 48 bits; then
 * gpurt_clock_real, with the division done once a round: an error below 1 ns an hour. */
static inline uint64_t drain_time(const drain_section_t *s, uint64_t time48)
{
    uint64_t time = s->oldest_time + ((time48 - s->oldest_time) & GPURT_TIME_MASK);
    int64_t since = (int64_t)(time - s->fit.device_ns);

    if (s->rate != 0) /* host code's clock is real time */
        since += (int64_t)((double)since * s->rate);
    return s->fit.real_ns + (uint64_t)since;
}
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
bool drain_panic(gpurt_drain_t *d, uint32_t section, gpurt_panic_t *panic);
/* Whether its site and texts are defined: others may define them, a trip to memory later. */
bool drain_panic_defined(gpurt_drain_t *d, uint32_t section, const gpurt_panic_t *panic);

#endif
