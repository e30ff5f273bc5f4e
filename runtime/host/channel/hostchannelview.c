/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "hostchannel": which way, how full, what was sent and dropped, who waits. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "hostend.h"
#include "traffic.h"

enum {
    NAME,
    WAY,
    STATE,
    POLICY,
    CAPACITY,
    TRAFFIC,
    SENDING = TRAFFIC + GPURT_TRAFFIC_FIELDS,
    RECEIVING,
    HOST_WAITING,
    HOST_WAITED,
    LOOKS,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [WAY] = GPURT_FIELD("way", STATE, .words = "none,to_device,to_host"),
    [STATE] = GPURT_FIELD("state", STATE, .words = "open,closed"),
    [POLICY] = GPURT_FIELD("policy", STATE, .words = "block,fail,drop_newest"),
    [CAPACITY] = GPURT_FIELD("capacity", LIMIT),
    GPURT_TRAFFIC(TRAFFIC, .of = "capacity"),
    [SENDING] = GPURT_FIELD("senders_waiting", GAUGE),
    [RECEIVING] = GPURT_FIELD("receivers_waiting", GAUGE),
    [HOST_WAITING] = GPURT_FIELD("host_waiting", GAUGE),
    [HOST_WAITED] = GPURT_FIELD("host_waited", GAUGE, .unit = "ns"),
    [LOOKS] = GPURT_FIELD("looks", COUNTER),
};

static bool hostchannel_look(gpurt_viewer_t *v, const void *object, bool due,
                             uint64_t *values)
{
    const gpurt_hostchannel_t *c = object;
    gpurt_hostchannel_words_t w;
    gpurt_hostchannel_tally_t host;
    gpurt_channel_counts_t n;
    uint64_t waited_ns;

    (void)due;
    if (!gpurt_viewer_fetch(v, &w, c->words, sizeof w))
        return false;
    host = gpurt_hostend_tally(c, &waited_ns);
    n = gpurt_hostchannel_count(c, &w, &host);
    w.desk.xrefused += host.xrefused;
    w.desk.xlate += host.xlate;
    values[NAME] = gpurt_traffic_name(v, &w.desk);
    values[WAY] = c->way;
    values[STATE] = host.xclosed ? (uint32_t)GPURT_CHANNEL_SHUT : w.desk.xstate;
    values[POLICY] = c->policy;
    values[CAPACITY] = c->capacity;
    gpurt_traffic_look(values + TRAFFIC, c->bytes, &n, &w.desk);
    values[SENDING] = w.desk.xsending;
    values[RECEIVING] = w.desk.xreceiving;
    values[HOST_WAITING] = host.xwaiting;
    values[HOST_WAITED] = waited_ns;
    values[LOOKS] = w.xlooks;
    return true;
}

GPURT_CLASS_DECLARE(hostchannel, hostchannels, fields, hostchannel_look);
