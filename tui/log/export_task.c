/* SPDX-License-Identifier: Apache-2.0 */
#include "export_task.h"

#include <gpurt/impl/task/taskrow.h>
#include <gpurt/status.h>
#include <string.h>

enum {
    NUMBER_BYTES = 24,
    FLOW_BIT = 51 /* of arrows of tasks alone. A number of JSON has 53 bits */
};

/* Of an arrow: nothing else on the timeline has it. A task may run several times. */
static uint64_t flow_of(const export_sheet_t *s, const gpurt_task_slice_t *slice,
                        uint64_t time_ns)
{
    uint64_t mixed = gpurt_pair_value(slice->task) ^ (uint64_t)s->program << 48;

    mixed = (mixed ^ time_ns) * 0x9e3779b97f4a7c15ull;
    return mixed >> (64 - FLOW_BIT) | 1ull << FLOW_BIT;
}

/* Bodies of a warp follow each other. A begin is worked out from a clock, and may be nanoseconds early. */
static uint64_t begin_of(export_track_t *track, uint64_t time_ns, uint64_t ns)
{
    uint64_t before = track->depth ? track->ends[0] : 0;
    uint64_t begin = before > time_ns && before <= time_ns + ns ? before : time_ns;

    track->depth = 1;
    track->ends[0] = time_ns + ns;
    return begin;
}

static void ready_write(const export_sheet_t *s, const export_track_t *of, uint32_t place,
                        uint64_t time_ns, uint64_t flow)
{
    export_event_t e = {.type = EXPORT_INSTANT,
                        .in = EXPORT_IN_READY,
                        .time_ns = time_ns,
                        .text = "ready",
                        .text_bytes = 5,
                        .flows = true,
                        .flow = flow};

    e.track = export_sheet_track(s, EXPORT_WARP, of->key.device, place >> 8, place & 0xff);
    export_sheet_event(s, &e);
}

static void args_put(export_event_t *e, const gpurt_row_t *row,
                     const gpurt_task_slice_t *slice)
{
    export_event_arg(e, EXPORT_ARG_TASK, EXPORT_AS_ADDRESS, gpurt_pair_value(slice->task));
    if (gpurt_pair_value(slice->from))
        export_event_arg(e, EXPORT_ARG_MADE_READY, EXPORT_AS_ADDRESS,
                         gpurt_pair_value(slice->from));
    export_event_arg(e, EXPORT_ARG_READY_NS, EXPORT_AS_NUMBER, slice->ready_ns);
    export_event_arg(e, EXPORT_ARG_BODIES, EXPORT_AS_NUMBER, slice->bodies);
    export_event_arg(e, EXPORT_ARG_STANDS, EXPORT_AS_NUMBER, slice->of);
    export_event_arg(e, EXPORT_ARG_BLOCK, EXPORT_AS_NUMBER, row->block);
}

void export_task(const export_sheet_t *s, const gpurt_row_t *row)
{
    char priority[NUMBER_BYTES];
    export_event_t e = {.type = EXPORT_SLICE, .in = EXPORT_IN_TASK};
    gpurt_task_slice_t slice;
    const char *status;
    uint64_t ns;

    if (row->words < GPURT_TASK_SLICE_WORDS)
        return; /* of no version that was */
    memcpy(&slice, gpurt_row_words(row), sizeof slice);
    status = gpurt_status_name((gpurt_status_t)slice.status);
    ns = gpurt_pair_value(slice.ns);
    e.name = slice.name;
    e.track = export_sheet_place(s, row);
    e.time_ns = begin_of(e.track, row->time_ns, ns);
    e.ns = row->time_ns + ns - e.time_ns;
    args_put(&e, row, &slice);
    if (slice.priority)
        export_event_text(
            &e, EXPORT_ARG_PRIORITY, priority,
            (size_t)snprintf(priority, sizeof priority, "%d", slice.priority));
    if (slice.status)
        export_event_text(&e, EXPORT_ARG_STATUS, status, strlen(status));
    e.flows = slice.place != GPURT_TASK_NOWHERE && e.track->key.kind == EXPORT_WARP;
    e.flow = flow_of(s, &slice, row->time_ns);
    if (e.flows)
        ready_write(s, e.track, slice.place,
                    row->time_ns > slice.ready_ns ? row->time_ns - slice.ready_ns : 0,
                    e.flow);
    export_sheet_event(s, &e);
}
