/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "segring": how full, what was read, lost and torn, who waits. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "traffic.h"

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
    TELLINGS,
    WRITING = TELLINGS + GPURT_TRAFFIC_TOLD_FIELDS,
    READING,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [STATE] = GPURT_FIELD("state", STATE, .words = "open,closed"),
    [POLICY] = GPURT_FIELD("policy", STATE, .words = "block,fail,overwrite"),
    [CAPACITY] = GPURT_FIELD("capacity", LIMIT, .unit = "B"),
    [USED] = GPURT_FIELD("used", GAUGE, .unit = "B", .of = "capacity"),
    [DEPTH] = GPURT_FIELD("depth", GAUGE),
    [RESERVED] = GPURT_FIELD("reserved", COUNTER),
    [READ] = GPURT_FIELD("read", COUNTER),
    [LOST] = GPURT_FIELD("lost", COUNTER, .flags = GPURT_FIELD_TROUBLE),
    [TORN] = GPURT_FIELD("torn", COUNTER, .flags = GPURT_FIELD_TROUBLE),
    [ABORTED] = GPURT_FIELD("aborted", COUNTER),
    GPURT_TRAFFIC_TELLS(TELLINGS),
    [WRITING] = GPURT_FIELD("writers_waiting", GAUGE),
    [READING] = GPURT_FIELD("readers_waiting", GAUGE),
};

static bool segring_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const gpurt_segring_t *r = object;
    gpurt_segring_words_t w;
    gpurt_segring_counts_t n;

    (void)due;
    if (!gpurt_viewer_fetch(v, &w, r->words, sizeof w))
        return false;
    n = gpurt_segring_count(&w);
    values[NAME] = gpurt_traffic_name(v, &w.desk);
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
    gpurt_traffic_told(values + TELLINGS, &w.desk);
    values[WRITING] = w.desk.xsending;
    values[READING] = w.desk.xreceiving;
    return true;
}

GPURT_CLASS_DECLARE(segring, segrings, fields, segring_look);
