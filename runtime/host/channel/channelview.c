/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "channel": how full, what was sent and dropped, who waits. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "traffic.h"

enum {
    NAME,
    STATE,
    POLICY,
    CAPACITY,
    TRAFFIC,
    SENDING = TRAFFIC + GPURT_TRAFFIC_FIELDS,
    RECEIVING,
    SLOTS,
    CREDITS,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [STATE] = GPURT_FIELD("state", STATE, .words = "open,closed"),
    [POLICY] = GPURT_FIELD("policy", STATE, .words = "block,fail,drop_newest,drop_oldest"),
    [CAPACITY] = GPURT_FIELD("capacity", LIMIT),
    GPURT_TRAFFIC(TRAFFIC, .of = "capacity"),
    [SENDING] = GPURT_FIELD("senders_waiting", GAUGE),
    [RECEIVING] = GPURT_FIELD("receivers_waiting", GAUGE),
    [SLOTS] = GPURT_FIELD("slots", LIMIT),
    [CREDITS] = GPURT_FIELD("credits", GAUGE),
};

static bool channel_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const gpurt_channel_t *c = object;
    gpurt_channel_words_t w;
    gpurt_channel_counts_t n;

    (void)due;
    if (!gpurt_viewer_fetch(v, &w, c->words, GPURT_CHANNEL_WATCHED_BYTES))
        return false;
    n = gpurt_channel_count(c->capacity, &w);
    values[NAME] = gpurt_traffic_name(v, &w.desk);
    values[STATE] = w.desk.xstate;
    values[POLICY] = c->policy;
    values[CAPACITY] = (uint32_t)w.xlimit;
    gpurt_traffic_look(values + TRAFFIC, c->bytes, &n, &w.desk);
    values[SENDING] = w.desk.xsending;
    values[RECEIVING] = w.desk.xreceiving;
    values[SLOTS] = c->capacity;
    values[CREDITS] =
        gpurt_channel_is_granted(c) ? gpurt_channel_credits_left(&w) : GPURT_VALUE_UNKNOWN;
    return true;
}

GPURT_CLASS_DECLARE(channel, channels, fields, channel_look);
