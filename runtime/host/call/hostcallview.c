/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "hostcallview.h"

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
    [NAME] = {.name = "name", .kind = GPURT_FIELD_TEXT},
    [PORTS] = {.name = "ports", .kind = GPURT_FIELD_LIMIT},
    [IN_FLIGHT] = {.name = "in_flight", .kind = GPURT_FIELD_GAUGE, .of = "ports"},
    [WAITING] = {.name = "waiting", .kind = GPURT_FIELD_GAUGE},
    [CALLS] = {.name = "calls", .kind = GPURT_FIELD_COUNTER},
    [GROUPS] = {.name = "groups", .kind = GPURT_FIELD_COUNTER},
    [WAITS] = {.name = "waits", .kind = GPURT_FIELD_COUNTER},
    [LATE] = {.name = "late", .kind = GPURT_FIELD_COUNTER, .flags = GPURT_FIELD_TROUBLE},
    [CANCELLED] = {.name = "cancelled", .kind = GPURT_FIELD_COUNTER},
    [REFUSED] = {.name = "refused", .kind = GPURT_FIELD_COUNTER},
    [UNKNOWN] = {.name = "unknown",
                 .kind = GPURT_FIELD_COUNTER,
                 .flags = GPURT_FIELD_TROUBLE},
    [LOOKS] = {.name = "looks", .kind = GPURT_FIELD_COUNTER},
    [LATENCY] = {.name = "latency",
                 .kind = GPURT_FIELD_HISTOGRAM,
                 .unit = "ns",
                 .count = GPURT_HOSTCALL_BUCKETS},
};

uint32_t gpurt_hostcallview_in_flight(uint32_t ports, const gpurt_hostcall_words_t *w)
{
    uint32_t unused = 0;

    for (uint32_t i = 0; i < GPURT_HOSTCALL_WORDS; i++)
        unused += (uint32_t)__builtin_popcount(w->xfree[i]);
    return unused < ports ? ports - unused : 0;
}

static bool hostcalls_look(gpurt_viewer_t *v, const void *object, bool due,
                           uint64_t *values)
{
    gpurt_hostcalls_own_t *const *at = (gpurt_hostcalls_own_t *const *)object;
    const gpurt_hostcalls_own_t *own = *at;
    gpurt_hostcall_words_t w;

    (void)due;
    if (!gpurt_viewer_fetch(v, &w, own->calls.words, GPURT_HOSTCALL_WATCHED_BYTES))
        return false;
    values[NAME] = gpurt_watch_text(v, own->name);
    values[PORTS] = own->calls.port_count;
    values[IN_FLIGHT] = gpurt_hostcallview_in_flight(own->calls.port_count, &w);
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

static const gpurt_class_t hostcalls_class = {
    .name = "hostcalls",
    .plural = "hostcalls",
    .fields = fields,
    .field_count = FIELDS,
    .look = hostcalls_look,
};

void gpurt_hostcallview_begin(gpurt_t *rt, gpurt_hostcalls_own_t *own)
{
    gpurt_watch_begin(rt, &hostcalls_class, own->calls.id, &own, sizeof(const void *));
}

void gpurt_hostcallview_end(gpurt_t *rt, const gpurt_hostcalls_own_t *own)
{
    gpurt_watch_end(rt, &hostcalls_class, own->calls.id);
}
