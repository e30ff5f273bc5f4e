/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "unbounded": how deep, how much of the heap it has, what went through it, who
 * waits. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "traffic.h"

#include <gpurt/impl/unboundedmap.h>

enum {
    NAME,
    STATE,
    POLICY,
    MOST,
    SEGMENTS,
    MEMORY,
    TRAFFIC,
    SENDING = TRAFFIC + GPURT_TRAFFIC_FIELDS,
    RECEIVING,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [STATE] = GPURT_FIELD("state", STATE, .words = "open,closed"),
    [POLICY] = GPURT_FIELD("policy", STATE, .words = "block,fail,drop_newest"),
    [MOST] = GPURT_FIELD("segments_most", LIMIT),
    [SEGMENTS] = GPURT_FIELD("segments", GAUGE, .of = "segments_most"),
    [MEMORY] = GPURT_FIELD("memory", GAUGE, .unit = "B"),
    GPURT_TRAFFIC(TRAFFIC, .of = NULL),
    [SENDING] = GPURT_FIELD("senders_waiting", GAUGE),
    [RECEIVING] = GPURT_FIELD("receivers_waiting", GAUGE),
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
    n = gpurt_unbounded_count(&w);
    values[NAME] = gpurt_traffic_name(v, &w.desk);
    values[STATE] = w.desk.xstate;
    values[POLICY] = c->policy;
    values[MOST] = c->row_count;
    values[SEGMENTS] = n.segments;
    values[MEMORY] = n.segments * gpurt_unbounded_segment_bytes(c);
    gpurt_traffic_look(values + TRAFFIC, c->bytes,
                       &(gpurt_channel_counts_t){n.sent, n.received, n.dropped, n.depth},
                       &w.desk);
    values[SENDING] = w.desk.xsending;
    values[RECEIVING] = w.desk.xreceiving;
    return true;
}

GPURT_CLASS_DECLARE(unbounded, unboundeds, fields, unbounded_look);
