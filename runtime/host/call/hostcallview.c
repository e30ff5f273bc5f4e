/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "hostcalls": what kernels asked the host, what is on its way, how long
 * answers took. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "hostcallown.h"
#include "watch.h"

#include <string.h>

enum {
    NAME,
    PORTS,
    IN_FLIGHT,
    WAITING,
    CALLS,
    GROUPS,
    WAITS,
    LATE,
    CANCELLED,
    REFUSED,
    UNKNOWN,
    LOOKS,
    LATENCY,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [PORTS] = GPURT_FIELD("ports", LIMIT),
    [IN_FLIGHT] = GPURT_FIELD("in_flight", GAUGE, .of = "ports"),
    [WAITING] = GPURT_FIELD("waiting", GAUGE),
    [CALLS] = GPURT_FIELD("calls", COUNTER),
    [GROUPS] = GPURT_FIELD("groups", COUNTER),
    [WAITS] = GPURT_FIELD("waits", COUNTER),
    [LATE] = GPURT_FIELD("late", COUNTER, .flags = GPURT_FIELD_TROUBLE),
    [CANCELLED] = GPURT_FIELD("cancelled", COUNTER),
    [REFUSED] = GPURT_FIELD("refused", COUNTER),
    [UNKNOWN] = GPURT_FIELD("unknown", COUNTER, .flags = GPURT_FIELD_TROUBLE),
    [LOOKS] = GPURT_FIELD("looks", COUNTER),
    [LATENCY] =
        GPURT_FIELD("latency", HISTOGRAM, .unit = "ns", .count = GPURT_HOSTCALL_BUCKETS),
};

static bool hostcalls_look(gpurt_viewer_t *v, const void *object, bool due,
                           uint64_t *values)
{
    const gpurt_hostcalls_own_t *own = object;
    gpurt_hostcall_words_t w;

    (void)due;
    if (!gpurt_viewer_fetch(v, &w, own->calls.words, GPURT_HOSTCALL_WATCHED_BYTES))
        return false;
    values[NAME] = gpurt_watch_text(v, own->name);
    values[PORTS] = own->calls.port_count;
    values[IN_FLIGHT] = gpurt_hostcalls_in_flight(own->calls.port_count, &w);
    values[WAITING] = w.xwaiting;
    values[CALLS] = w.xcalls;
    values[GROUPS] = w.xgroups;
    values[WAITS] = w.xwaits;
    values[LATE] = w.xlate;
    values[CANCELLED] = w.xcancelled;
    values[REFUSED] = w.xrefused;
    values[UNKNOWN] = gpurt_load_relaxed_sys_u64(&own->xunknown); /* relaxed: a count */
    values[LOOKS] = w.xlooks;
    memcpy(values + LATENCY, w.xlatency, sizeof w.xlatency);
    return true;
}

GPURT_CLASS_DECLARE(hostcalls, hostcalls, fields, hostcalls_look);
