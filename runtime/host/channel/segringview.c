/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "segring": how full, what was read, lost and torn, who waits. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "watch.h"

#include <gpurt/impl/segringmap.h>

enum {
    NAME,
    STATE,
    POLICY,
    CAPACITY,
    USED,
    DEPTH,
    RESERVED,
    READ,
    LOST,
    TORN,
    ABORTED,
    REFUSED,
    CANCELLED,
    LATE,
    WRITING,
    READING,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = {.name = "name", .kind = GPURT_FIELD_TEXT},
    [STATE] = {.name = "state", .kind = GPURT_FIELD_STATE, .words = "open,closed"},
    [POLICY] = {.name = "policy",
                .kind = GPURT_FIELD_STATE,
                .words = "block,fail,overwrite"},
    [CAPACITY] = {.name = "capacity", .kind = GPURT_FIELD_LIMIT, .unit = "B"},
    [USED] = {.name = "used", .kind = GPURT_FIELD_GAUGE, .unit = "B", .of = "capacity"},
    [DEPTH] = {.name = "depth", .kind = GPURT_FIELD_GAUGE},
    [RESERVED] = {.name = "reserved", .kind = GPURT_FIELD_COUNTER},
    [READ] = {.name = "read", .kind = GPURT_FIELD_COUNTER},
    [LOST] = {.name = "lost", .kind = GPURT_FIELD_COUNTER, .flags = GPURT_FIELD_TROUBLE},
    [TORN] = {.name = "torn", .kind = GPURT_FIELD_COUNTER, .flags = GPURT_FIELD_TROUBLE},
    [ABORTED] = {.name = "aborted", .kind = GPURT_FIELD_COUNTER},
    [REFUSED] = {.name = "refused", .kind = GPURT_FIELD_COUNTER},
    [CANCELLED] = {.name = "cancelled", .kind = GPURT_FIELD_COUNTER},
    [LATE] = {.name = "timed_out", .kind = GPURT_FIELD_COUNTER},
    [WRITING] = {.name = "writers_waiting", .kind = GPURT_FIELD_GAUGE},
    [READING] = {.name = "readers_waiting", .kind = GPURT_FIELD_GAUGE},
};

static bool segring_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const gpurt_segring_t *r = object;
    gpurt_segring_words_t w;
    gpurt_segring_counts_t n;

    (void)due;
    if (!gpurt_viewer_fetch(v, &w, r->words, sizeof w))
        return false;
    w.desk.name[sizeof w.desk.name - 1] = 0;
    n = gpurt_segring_count(&w);
    values[NAME] = gpurt_watch_text(v, w.desk.name);
    values[STATE] = w.desk.xstate;
    values[POLICY] = r->policy;
    values[CAPACITY] = gpurt_segring_bytes(r);
    values[USED] = n.used;
    values[DEPTH] = n.depth;
    values[RESERVED] = n.reserved;
    values[READ] = n.read;
    values[LOST] = n.lost;
    values[TORN] = n.torn;
    values[ABORTED] = n.aborted;
    values[REFUSED] = w.desk.xrefused;
    values[CANCELLED] = w.desk.xcancelled;
    values[LATE] = w.desk.xlate;
    values[WRITING] = w.desk.xsending;
    values[READING] = w.desk.xreceiving;
    return true;
}

GPURT_CLASS_DECLARE(segring, segrings, fields, segring_look);
