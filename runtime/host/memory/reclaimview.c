/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "reclaimview.h"

#include "watch.h"

#include <gpurt/reclaim.h>
#include <string.h>

/* ---- classes ------------------------------------------------------------------------- */

enum {
    HEAP,
    ROOM,
    LIVE, /* objects: that are counted, that wait, that exist */
    GONE,
    REFUSED, /* calls that found no room */
    WRONG,   /* calls with what is dead, or none of the table's */
    REF_FIELDS,
    OPEN = REF_FIELDS, /* slots that are taken: sections, warps */
    MADE,
    TURN, /* the epoch, the collector's cycle */
    LEFT, /* slots whose owner ended without leaving; of a collector, old objects */
    FIELDS
};

static const gpurt_field_t ref_fields[REF_FIELDS] = {
    [HEAP] = GPURT_FIELD("heap", REFERENCE, .words = "heap", .flags = GPURT_FIELD_PARENT),
    [ROOM] = GPURT_FIELD("records", LIMIT),
    [LIVE] = GPURT_FIELD("objects", GAUGE, .of = "records"),
    [GONE] = GPURT_FIELD("freed", COUNTER),
    [REFUSED] = GPURT_FIELD("refused", FAULT),
    [WRONG] = GPURT_FIELD("wrong", FAULT),
};
static const gpurt_field_t retired_fields[FIELDS] = {
    [HEAP] = GPURT_FIELD("heap", REFERENCE, .words = "heap", .flags = GPURT_FIELD_PARENT),
    [ROOM] = GPURT_FIELD("slots", LIMIT),
    [LIVE] = GPURT_FIELD("waiting", GAUGE),
    [GONE] = GPURT_FIELD("freed", COUNTER),
    [REFUSED] = GPURT_FIELD("refused", FAULT),
    [WRONG] = GPURT_FIELD("wrong", FAULT),
    [OPEN] = GPURT_FIELD("open", GAUGE, .of = "slots"),
    [MADE] = GPURT_FIELD("taken_in", COUNTER),
    [TURN] = GPURT_FIELD("epoch", COUNTER),
    [LEFT] = GPURT_FIELD("abandoned", COUNTER),
};
static const gpurt_field_t gc_fields[FIELDS] = {
    [HEAP] = GPURT_FIELD("heap", REFERENCE, .words = "heap", .flags = GPURT_FIELD_PARENT),
    [ROOM] = GPURT_FIELD("entries", LIMIT),
    [LIVE] = GPURT_FIELD("objects", GAUGE, .of = "entries"),
    [GONE] = GPURT_FIELD("freed", COUNTER),
    [REFUSED] = GPURT_FIELD("refused", FAULT),
    [WRONG] = GPURT_FIELD("wrong", FAULT),
    [OPEN] = GPURT_FIELD("open", GAUGE),
    [MADE] = GPURT_FIELD("allocated", COUNTER),
    [TURN] = GPURT_FIELD("cycle", COUNTER),
    [LEFT] = GPURT_FIELD("promoted", COUNTER),
};

static bool table_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values);

#define CLASS(name_, fields_)                                                   \
    {                                                                           \
        .name = name_, .plural = name_ "s", .fields = (fields_),                \
        .field_count = sizeof(fields_) / sizeof(fields_)[0], .look = table_look \
    }
/* By GPURT_RECLAIM_*. */
static const gpurt_class_t classes[] = {
    [GPURT_RECLAIM_REFS] = CLASS("ref_table", ref_fields),
    [GPURT_RECLAIM_EPOCHS] = CLASS("epoch_table", retired_fields),
    [GPURT_RECLAIM_HAZARDS] = CLASS("hazard_table", retired_fields),
    [GPURT_RECLAIM_GC] = CLASS("gc_table", gc_fields),
};

/* ---- what counts say ----------------------------------------------------------------- */

static void refs_read(const gpurt_ref_counts_t *c, uint64_t unused, uint64_t *values)
{
    const uint64_t *n = c->xanswers;

    values[LIVE] = values[ROOM] - unused;
    values[GONE] = n[GPURT_REF_FREED];
    values[REFUSED] =
        n[GPURT_REF_OVERFLOW] + n[GPURT_REF_NO_MEMORY] + n[GPURT_REF_NO_RECORD];
    values[WRONG] = n[GPURT_REF_DEAD] + n[GPURT_REF_UNDERFLOW] + n[GPURT_REF_FOREIGN];
}

/* The two counts may be of different moments. */
static uint64_t difference(uint64_t made, uint64_t gone)
{
    return made > gone ? made - gone : 0;
}

static void retired_read(const gpurt_reclaim_counts_t *c, uint64_t open, uint64_t *values)
{
    values[LIVE] = difference(c->xretired, c->xfreed);
    values[MADE] = c->xretired;
    values[GONE] = c->xfreed;
    values[REFUSED] = c->xfull + c->xno_slot;
    values[OPEN] = open;
    values[TURN] = c->xepoch;
    values[LEFT] = c->xabandoned;
    values[WRONG] = c->xwrong;
}

/* What of a collector's control any kernel may write; the rest of its course the host writes
 * between steps. */
typedef struct gc_counts {
    uint64_t control;
    uint64_t allocated, freed, freed_bytes, promoted, marked;
    uint64_t answers[GPURT_GC_ANSWERS];
} gc_counts_t;
GPURT_STATIC_ASSERT(sizeof(gc_counts_t) - offsetof(gc_counts_t, allocated) ==
                        offsetof(gpurt_gc_control_t, xanswers) +
                            sizeof(uint64_t) * GPURT_GC_ANSWERS -
                            offsetof(gpurt_gc_control_t, xallocated),
                    "copied as they lie");

static bool gc_fetch(gpurt_viewer_t *v, const gpurt_gc_control_t *from, gc_counts_t *to)
{
    return gpurt_viewer_fetch(v, &to->control, &from->course.xcontrol,
                              sizeof to->control) &&
           gpurt_viewer_fetch(v, &to->allocated, &from->xallocated,
                              sizeof *to - offsetof(gc_counts_t, allocated));
}

static void gc_read(const gc_counts_t *c, uint64_t open, uint64_t *values)
{
    const uint64_t *n = c->answers;

    values[LIVE] = difference(c->allocated, c->freed);
    values[MADE] = c->allocated;
    values[GONE] = c->freed;
    values[REFUSED] = n[GPURT_GC_NO_MEMORY] + n[GPURT_GC_NO_ENTRY];
    values[WRONG] = n[GPURT_GC_DEAD] + n[GPURT_GC_FOREIGN] + n[GPURT_GC_NO_SECTION] +
                    n[GPURT_GC_NOT_A_HANDLE] + n[GPURT_GC_NO_TYPE];
    values[OPEN] = open;
    values[TURN] = c->control >> 32;
    values[LEFT] = c->promoted;
}

/* ---- a look -------------------------------------------------------------------------- */

/* Bits that are set, or words that are not 0. */
static bool slots_look(gpurt_viewer_t *v, const gpurt_reclaim_look_t *l, uint64_t *count)
{
    uint32_t piece = GPURT_VIEWER_PIECE / sizeof(uint64_t);
    uint64_t *words = (uint64_t *)(void *)gpurt_viewer_buffer(v, GPURT_VIEWER_PIECE);

    *count = 0;
    for (uint32_t from = 0; from < l->words; from += piece) {
        uint32_t n = l->words - from < piece ? l->words - from : piece;

        if (!words || !gpurt_viewer_fetch(v, words, l->slots + from, n * sizeof *words))
            return false;
        for (uint32_t i = 0; i < n; i++)
            *count += l->what == GPURT_RECLAIM_REFS
                          ? (uint64_t)__builtin_popcountll(words[i])
                          : words[i] != 0;
    }
    return true;
}

static bool table_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const gpurt_reclaim_look_t *l = object;
    union {
        gpurt_ref_counts_t refs;
        gpurt_reclaim_counts_t retired;
        gc_counts_t gc;
    } c;
    uint64_t slots;
    bool got;

    (void)due;
    if (l->what == GPURT_RECLAIM_GC)
        got = gc_fetch(v, (const gpurt_gc_control_t *)l->counts, &c.gc);
    else
        got = gpurt_viewer_fetch(v, &c, l->counts,
                                 l->what == GPURT_RECLAIM_REFS ? sizeof c.refs
                                                               : sizeof c.retired);
    if (!got || !slots_look(v, l, &slots))
        return false;
    values[HEAP] = l->heap;
    values[ROOM] = l->room;
    if (l->what == GPURT_RECLAIM_REFS)
        refs_read(&c.refs, slots, values);
    else if (l->what == GPURT_RECLAIM_GC)
        gc_read(&c.gc, slots, values);
    else
        retired_read(&c.retired, slots, values);
    return true;
}

/* ---- life ---------------------------------------------------------------------------- */

void gpurt_reclaimview_begin(gpurt_t *rt, const gpurt_reclaim_look_t *look)
{
    gpurt_watch_begin(rt, &classes[look->what], look->table, look, sizeof *look);
}

/* Numbers of tables are one row, whatever their class. */
void gpurt_reclaimview_end(gpurt_t *rt, uint32_t table)
{
    for (uint32_t what = GPURT_RECLAIM_REFS; what <= GPURT_RECLAIM_GC; what++)
        gpurt_watch_end(rt, &classes[what], table);
}
