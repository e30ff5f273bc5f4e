/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "unbounded": how deep, how much of the heap it has, what went through it, who
 * waits. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "watch.h"

#include <gpurt/impl/unboundedmap.h>

enum {
    NAME,
    STATE,
    POLICY,
    MOST,
    SEGMENTS,
    MEMORY,
    DEPTH,
    BYTES,
    SENT,
    RECEIVED,
    DROPPED,
    REFUSED,
    CANCELLED,
    LATE,
    SENDING,
    RECEIVING,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = {.name = "name", .kind = GPURT_FIELD_TEXT},
    [STATE] = {.name = "state", .kind = GPURT_FIELD_STATE, .words = "open,closed"},
    [POLICY] = {.name = "policy",
                .kind = GPURT_FIELD_STATE,
                .words = "block,fail,drop_newest"},
    [MOST] = {.name = "segments_most", .kind = GPURT_FIELD_LIMIT},
    [SEGMENTS] = {.name = "segments", .kind = GPURT_FIELD_GAUGE, .of = "segments_most"},
    [MEMORY] = {.name = "memory", .kind = GPURT_FIELD_GAUGE, .unit = "B"},
    [DEPTH] = {.name = "depth", .kind = GPURT_FIELD_GAUGE},
    [BYTES] = {.name = "message", .kind = GPURT_FIELD_LIMIT, .unit = "B"},
    [SENT] = {.name = "sent", .kind = GPURT_FIELD_COUNTER},
    [RECEIVED] = {.name = "received", .kind = GPURT_FIELD_COUNTER},
    [DROPPED] = {.name = "dropped",
                 .kind = GPURT_FIELD_COUNTER,
                 .flags = GPURT_FIELD_TROUBLE},
    [REFUSED] = {.name = "refused", .kind = GPURT_FIELD_COUNTER},
    [CANCELLED] = {.name = "cancelled", .kind = GPURT_FIELD_COUNTER},
    [LATE] = {.name = "timed_out", .kind = GPURT_FIELD_COUNTER},
    [SENDING] = {.name = "senders_waiting", .kind = GPURT_FIELD_GAUGE},
    [RECEIVING] = {.name = "receivers_waiting", .kind = GPURT_FIELD_GAUGE},
};

static bool unbounded_look(gpurt_viewer_t *v, const void *object, bool due,
                           uint64_t *values)
{
    const gpurt_unbounded_t *c = object;
    gpurt_unbounded_words_t w;
    gpurt_unbounded_counts_t n;

    (void)due;
    if (!gpurt_viewer_fetch(v, &w, c->words, sizeof w))
        return false;
    w.desk.name[sizeof w.desk.name - 1] = 0;
    n = gpurt_unbounded_count(&w);
    values[NAME] = gpurt_watch_text(v, w.desk.name);
    values[STATE] = w.desk.xstate;
    values[POLICY] = c->policy;
    values[MOST] = c->row_count;
    values[SEGMENTS] = n.segments;
    values[MEMORY] = n.segments * gpurt_unbounded_segment_bytes(c);
    values[DEPTH] = n.depth;
    values[BYTES] = c->bytes;
    values[SENT] = n.sent;
    values[RECEIVED] = n.received;
    values[DROPPED] = n.dropped;
    values[REFUSED] = w.desk.xrefused;
    values[CANCELLED] = w.desk.xcancelled;
    values[LATE] = w.desk.xlate;
    values[SENDING] = w.desk.xsending;
    values[RECEIVING] = w.desk.xreceiving;
    return true;
}

GPURT_CLASS_DECLARE(unbounded, unboundeds, fields, unbounded_look);
