/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "peerchannel": an end of a channel between two devices. Each device's log has
 * its own end, with the counters of both. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "traffic.h"

#include <gpurt/impl/hostchannelmap.h>

enum {
    NAME,
    END,
    STATE,
    POLICY,
    CAPACITY,
    TRAFFIC,
    WAITING = TRAFFIC + GPURT_TRAFFIC_FIELDS,
    LOOKS,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [END] = GPURT_FIELD("end", STATE, .words = "receives,sends"),
    [STATE] = GPURT_FIELD("state", STATE, .words = "open,closed"),
    [POLICY] = GPURT_FIELD("policy", STATE, .words = "block,fail,drop_newest"),
    [CAPACITY] = GPURT_FIELD("capacity", LIMIT),
    GPURT_TRAFFIC(TRAFFIC, .of = "capacity"),
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
    n = gpurt_peer_count(c->capacity, sends ? &own : &far, sends ? &far : &own);
    values[NAME] = gpurt_traffic_name(v, &own.desk);
    values[END] = sends;
    values[STATE] = sends ? own.desk.xstate : far.desk.xstate;
    values[POLICY] = c->policy;
    values[CAPACITY] = c->capacity;
    gpurt_traffic_look(values + TRAFFIC, c->bytes, &n, &own.desk);
    values[WAITING] = sends ? own.desk.xsending : own.desk.xreceiving;
    values[LOOKS] = own.xlooks;
    return true;
}

GPURT_CLASS_DECLARE(peerchannel, peerchannels, fields, peerchannel_look);
