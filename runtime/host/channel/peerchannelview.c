/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "peerchannel": an end of a channel between two devices. Each device's log has
 * its own end, with the counters of both. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "watch.h"

#include <gpurt/impl/hostchannelmap.h>

enum {
    NAME,
    END,
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
    WAITING,
    LOOKS,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [END] = GPURT_FIELD("end", STATE, .words = "receives,sends"),
    [STATE] = GPURT_FIELD("state", STATE, .words = "open,closed"),
    [POLICY] = GPURT_FIELD("policy", STATE, .words = "block,fail,drop_newest"),
    [CAPACITY] = GPURT_FIELD("capacity", LIMIT),
    [DEPTH] = GPURT_FIELD("depth", GAUGE, .of = "capacity"),
    [BYTES] = GPURT_FIELD("message", LIMIT, .unit = "B"),
    [SENT] = GPURT_FIELD("sent", COUNTER),
    [RECEIVED] = GPURT_FIELD("received", COUNTER),
    [DROPPED] = GPURT_FIELD("dropped", COUNTER, .flags = GPURT_FIELD_TROUBLE),
    [REFUSED] = GPURT_FIELD("refused", COUNTER),
    [CANCELLED] = GPURT_FIELD("cancelled", COUNTER),
    [LATE] = GPURT_FIELD("timed_out", COUNTER),
    [WAITING] = GPURT_FIELD("lanes_waiting", GAUGE),
    [LOOKS] = GPURT_FIELD("looks", COUNTER),
};

static bool peerchannel_look(gpurt_viewer_t *v, const void *object, bool due,
                             uint64_t *values)
{
    const gpurt_hostchannel_t *c = object;
    const bool sends = gpurt_hostchannel_sends(c);
    gpurt_hostchannel_words_t own, far;
    gpurt_channel_counts_t n;

    (void)due;
    if (!gpurt_viewer_fetch(v, &own, c->words, sizeof own) ||
        !gpurt_viewer_fetch(v, &far, c->far, sizeof far))
        return false;
    own.desk.name[sizeof own.desk.name - 1] = 0;
    n = gpurt_peer_count(c->capacity, sends ? &own : &far, sends ? &far : &own);
    values[NAME] = gpurt_watch_text(v, own.desk.name);
    values[END] = sends;
    values[STATE] = sends ? own.desk.xstate : far.desk.xstate;
    values[POLICY] = c->policy;
    values[CAPACITY] = c->capacity;
    values[DEPTH] = n.depth;
    values[BYTES] = c->bytes;
    values[SENT] = n.sent;
    values[RECEIVED] = n.received;
    values[DROPPED] = n.dropped;
    values[REFUSED] = own.desk.xrefused;
    values[CANCELLED] = own.desk.xcancelled;
    values[LATE] = own.desk.xlate;
    values[WAITING] = sends ? own.desk.xsending : own.desk.xreceiving;
    values[LOOKS] = own.xlooks;
    return true;
}

GPURT_CLASS_DECLARE(peerchannel, peerchannels, fields, peerchannel_look);
