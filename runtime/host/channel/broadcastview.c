/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "broadcast": who reads, how far the slowest is behind, what was missed, who
 * waits. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "traffic.h"

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
    TELLINGS,
    UNSEATED = TELLINGS + GPURT_TRAFFIC_TOLD_FIELDS,
    SENDING,
    RECEIVING,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [STATE] = GPURT_FIELD("state", STATE, .words = "open,closed"),
    [POLICY] = GPURT_FIELD("policy", STATE, .words = "block,fail,drop"),
    [CAPACITY] = GPURT_FIELD("capacity", LIMIT),
    [DEPTH] = GPURT_FIELD("depth", GAUGE, .of = "capacity"),
    [BYTES] = GPURT_FIELD("message", LIMIT, .unit = "B"),
    [SEATS] = GPURT_FIELD("seats", LIMIT),
    [READERS] = GPURT_FIELD("readers", GAUGE),
    [LAG] = GPURT_FIELD("slowest_lag", GAUGE),
    [SENT] = GPURT_FIELD("sent", COUNTER),
    [RECEIVED] = GPURT_FIELD("received", COUNTER),
    [LOST] = GPURT_FIELD("lost", COUNTER, .flags = GPURT_FIELD_TROUBLE),
    GPURT_TRAFFIC_TELLS(TELLINGS),
    [UNSEATED] = GPURT_FIELD("unseated", COUNTER),
    [SENDING] = GPURT_FIELD("senders_waiting", GAUGE),
    [RECEIVING] = GPURT_FIELD("readers_waiting", GAUGE),
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
    n = gpurt_broadcast_count(&w, seats, b->readers);
    values[NAME] = gpurt_traffic_name(v, &w.desk);
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
    gpurt_traffic_told(values + TELLINGS, &w.desk);
    values[UNSEATED] = w.xunseated;
    values[SENDING] = w.desk.xsending;
    values[RECEIVING] = w.desk.xreceiving;
    return true;
}

GPURT_CLASS_DECLARE(broadcast, broadcasts, fields, broadcast_look);
