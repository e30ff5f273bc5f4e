/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "broadcast": who reads, how far the slowest is behind, what was missed, who
 * waits. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "watch.h"

#include <gpurt/impl/broadcastmap.h>

enum {
    NAME,
    STATE,
    POLICY,
    CAPACITY,
    DEPTH,
    BYTES,
    SEATS,
    READERS,
    LAG,
    SENT,
    RECEIVED,
    LOST,
    REFUSED,
    CANCELLED,
    LATE,
    UNSEATED,
    SENDING,
    RECEIVING,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = {.name = "name", .kind = GPURT_FIELD_TEXT},
    [STATE] = {.name = "state", .kind = GPURT_FIELD_STATE, .words = "open,closed"},
    [POLICY] = {.name = "policy", .kind = GPURT_FIELD_STATE, .words = "block,fail,drop"},
    [CAPACITY] = {.name = "capacity", .kind = GPURT_FIELD_LIMIT},
    [DEPTH] = {.name = "depth", .kind = GPURT_FIELD_GAUGE, .of = "capacity"},
    [BYTES] = {.name = "message", .kind = GPURT_FIELD_LIMIT, .unit = "B"},
    [SEATS] = {.name = "seats", .kind = GPURT_FIELD_LIMIT},
    [READERS] = {.name = "readers", .kind = GPURT_FIELD_GAUGE},
    [LAG] = {.name = "slowest_lag", .kind = GPURT_FIELD_GAUGE},
    [SENT] = {.name = "sent", .kind = GPURT_FIELD_COUNTER},
    [RECEIVED] = {.name = "received", .kind = GPURT_FIELD_COUNTER},
    [LOST] = {.name = "lost", .kind = GPURT_FIELD_COUNTER, .flags = GPURT_FIELD_TROUBLE},
    [REFUSED] = {.name = "refused", .kind = GPURT_FIELD_COUNTER},
    [CANCELLED] = {.name = "cancelled", .kind = GPURT_FIELD_COUNTER},
    [LATE] = {.name = "timed_out", .kind = GPURT_FIELD_COUNTER},
    [UNSEATED] = {.name = "unseated", .kind = GPURT_FIELD_COUNTER},
    [SENDING] = {.name = "senders_waiting", .kind = GPURT_FIELD_GAUGE},
    [RECEIVING] = {.name = "readers_waiting", .kind = GPURT_FIELD_GAUGE},
};

static bool broadcast_look(gpurt_viewer_t *v, const void *object, bool due,
                           uint64_t *values)
{
    const gpurt_broadcast_t *b = object;
    gpurt_seat_t seats[GPURT_BROADCAST_READERS_MOST];
    gpurt_broadcast_words_t w;
    gpurt_broadcast_counts_t n;

    (void)due;
    if (!gpurt_viewer_fetch(v, seats, b->seats, gpurt_broadcast_seats_bytes(b)) ||
        !gpurt_viewer_fetch(v, &w, b->words, sizeof w))
        return false;
    w.desk.name[sizeof w.desk.name - 1] = 0;
    n = gpurt_broadcast_count(&w, seats, b->readers);
    values[NAME] = gpurt_watch_text(v, w.desk.name);
    values[STATE] = w.desk.xstate;
    values[POLICY] = b->policy;
    values[CAPACITY] = b->capacity;
    values[DEPTH] = n.lag < b->capacity ? n.lag : b->capacity;
    values[BYTES] = b->bytes;
    values[SEATS] = b->readers;
    values[READERS] = n.readers;
    values[LAG] = n.lag;
    values[SENT] = n.sent;
    values[RECEIVED] = n.received;
    values[LOST] = n.lost;
    values[REFUSED] = w.desk.xrefused;
    values[CANCELLED] = w.desk.xcancelled;
    values[LATE] = w.desk.xlate;
    values[UNSEATED] = w.xunseated;
    values[SENDING] = w.desk.xsending;
    values[RECEIVING] = w.desk.xreceiving;
    return true;
}

GPURT_CLASS_DECLARE(broadcast, broadcasts, fields, broadcast_look);
