/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "channel": how full, what was sent and dropped, who waits. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "watch.h"

#include <gpurt/impl/channelmap.h>

enum {
    NAME,
    STATE,
    POLICY,
    CAPACITY,
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
    [NAME] = GPURT_FIELD("name", TEXT),
    [STATE] = GPURT_FIELD("state", STATE, .words = "open,closed"),
    [POLICY] = GPURT_FIELD("policy", STATE, .words = "block,fail,drop_newest,drop_oldest"),
    [CAPACITY] = GPURT_FIELD("capacity", LIMIT),
    [DEPTH] = GPURT_FIELD("depth", GAUGE, .of = "capacity"),
    [BYTES] = GPURT_FIELD("message", LIMIT, .unit = "B"),
    [SENT] = GPURT_FIELD("sent", COUNTER),
    [RECEIVED] = GPURT_FIELD("received", COUNTER),
    [DROPPED] = GPURT_FIELD("dropped", COUNTER, .flags = GPURT_FIELD_TROUBLE),
    [REFUSED] = GPURT_FIELD("refused", COUNTER),
    [CANCELLED] = GPURT_FIELD("cancelled", COUNTER),
    [LATE] = GPURT_FIELD("timed_out", COUNTER),
    [SENDING] = GPURT_FIELD("senders_waiting", GAUGE),
    [RECEIVING] = GPURT_FIELD("receivers_waiting", GAUGE),
};

static bool channel_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const gpurt_channel_t *c = object;
    gpurt_channel_words_t w;
    gpurt_channel_counts_t n;

    (void)due;
    if (!gpurt_viewer_fetch(v, &w, c->words, GPURT_CHANNEL_WATCHED_BYTES))
        return false;
    w.desk.name[sizeof w.desk.name - 1] = 0;
    n = gpurt_channel_count(c->capacity, &w);
    values[NAME] = gpurt_watch_text(v, w.desk.name);
    values[STATE] = w.desk.xstate;
    values[POLICY] = c->policy;
    values[CAPACITY] = c->capacity;
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

GPURT_CLASS_DECLARE(channel, channels, fields, channel_look);
