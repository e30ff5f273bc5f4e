/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON that chrome://tracing and many others read: an array of events. Its times are
 * microseconds in a double, so they count from the first record of the log; otherData says
 * when that was. It has processes and threads only: a device is a process, and each of its
 * tracks a thread. */
#include "export_event.h"
#include "json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_BYTES = 4096,
    DEVICE_PID = 1 << 23, /* above what Linux gives out, and what export_program.h does */
    DEVICES_SHIFT = 17,   /* of one process, both back ends' */
    FLOWS = 4096          /* calls of late whose arrows have begun, by number */
};

/* Owner: the export, as `own`. */
typedef struct chrome {
    gpurt_json_t json;
    uint64_t flows[FLOWS];
} chrome_t;

static gpurt_json_t *json_of(const export_out_t *o)
{
    return &((chrome_t *)o->own)->json;
}

static uint32_t pid_of(const export_out_t *o, const export_track_t *t)
{
    switch (t->key.kind) {
    case EXPORT_DEVICE:
    case EXPORT_COUNTER:
    case EXPORT_OBJECT:
    case EXPORT_IDLE:
    case EXPORT_MANAGED:
    case EXPORT_STREAM:
    case EXPORT_SM:
    case EXPORT_WARP:
        return DEVICE_PID + ((uint32_t)t->key.program << DEVICES_SHIFT) + t->key.device;
    default:
        return o->programs.shown[t->key.program];
    }
}

/* A row that came late may be older than the first frame says. */
static uint64_t since(const export_out_t *o, uint64_t time_ns)
{
    return time_ns > o->sum.first_ns ? time_ns - o->sum.first_ns : 0;
}

static gpurt_json_t *head_put(const export_out_t *o, const export_track_t *t,
                              const char *phase, uint64_t time_ns)
{
    gpurt_json_t *j = json_of(o);

    gpurt_json_line(j, "");
    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "ph", phase);
    gpurt_json_number(j, "pid", pid_of(o, t));
    gpurt_json_number(j, "tid", t->number);
    gpurt_json_thousandths(j, "ts", since(o, time_ns));
    return j;
}

/* A name of a process, tid NULL, or of a thread. */
static void name_put(const export_out_t *o, uint32_t pid, const uint32_t *tid,
                     const char *name)
{
    gpurt_json_t *j = json_of(o);

    gpurt_json_line(j, "");
    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "ph", "M");
    gpurt_json_number(j, "pid", pid);
    if (tid)
        gpurt_json_number(j, "tid", *tid);
    gpurt_json_text(j, "name", tid ? "thread_name" : "process_name");
    gpurt_json_object(j, "args");
    gpurt_json_text(j, "name", name);
    gpurt_json_object_end(j);
    gpurt_json_object_end(j);
}

static void program_put(const export_out_t *o, uint32_t program)
{
    char name[64 + GPURT_BOX_NAME];

    export_program_name(&o->programs, program, false, name, sizeof name);
    name_put(o, o->programs.shown[program], NULL, name);
}

/* It does not lie in its process here, so its name says whose it is. */
static void device_put(const export_out_t *o, const export_track_t *t)
{
    char device[64 + GPURT_BOX_NAME], name[64 + GPURT_BOX_NAME];
    char both[sizeof device + sizeof name + 4];

    export_track_name(o, t, device);
    snprintf(both, sizeof both, "%s", device);
    if (export_program_shares(&o->programs, t->key.program)) {
        export_program_name(&o->programs, t->key.program, true, name, sizeof name);
        snprintf(both, sizeof both, "%s of %s", device, name);
    }
    name_put(o, pid_of(o, t), NULL, both);
}

static bool begin(export_out_t *o)
{
    gpurt_json_t *j;

    o->own = calloc(1, sizeof(chrome_t));
    if (!o->own)
        return false;
    j = json_of(o);
    gpurt_json_file(j, o->file);
    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "displayTimeUnit", "ns");
    gpurt_json_object(j, "otherData");
    gpurt_json_text(j, "made_by", "gpurt-log");
    gpurt_json_printf(j, "start_ns", "%" PRIu64, o->sum.first_ns);
    gpurt_json_object_end(j);
    gpurt_json_array(j, "traceEvents");
    program_put(o, 0);
    return true;
}

static void end(export_out_t *o)
{
    gpurt_json_t *j = json_of(o);

    gpurt_json_newline(j);
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
    gpurt_json_newline(j);
    free(o->own);
}

static void thread_put(const export_out_t *o, const export_track_t *t)
{
    char name[64 + GPURT_BOX_NAME], warp[sizeof name + 16];

    export_track_name(o, t, name);
    snprintf(warp, sizeof warp, "SM %" PRIu32 " %s", t->key.a, name);
    name_put(o, pid_of(o, t), &t->number, t->key.kind == EXPORT_WARP ? warp : name);
}

static void track(export_out_t *o, const export_track_t *t)
{
    if (t->key.kind == EXPORT_COUNTER || t->key.kind == EXPORT_OBJECT)
        return; /* events name it */
    if (t->key.kind == EXPORT_DEVICE) {
        device_put(o, t);
        return;
    }
    if (t->key.kind == EXPORT_PROCESS && t->key.lane == 0 && t->key.program != 0)
        program_put(o, t->key.program); /* that of 0 came first of all */
    thread_put(o, t);
}

static void args_put(const export_out_t *o, const export_event_t *e, gpurt_json_t *j)
{
    char room[TEXT_BYTES];

    gpurt_json_object(j, "args");
    for (uint32_t i = 0; i < e->arg_count; i++) {
        const export_arg_t *a = &e->args[i];

        if (a->as == EXPORT_AS_NUMBER)
            gpurt_json_number(j, export_arg_names[a->key], a->value);
        else
            gpurt_json_bytes(j, export_arg_names[a->key], room,
                             export_arg_text(o, a, room, sizeof room));
    }
    gpurt_json_object_end(j);
}

/* An arrow starts once: a call inside of another one with its number is a step on its way. */
static const char *flow_phase(const export_out_t *o, const export_event_t *e)
{
    uint64_t *place = &((chrome_t *)o->own)->flows[e->flow % FLOWS];
    const bool again = *place == e->flow;

    if (e->in == EXPORT_IN_READY)
        return "s";
    if (e->in != EXPORT_IN_CALL)
        return "f";
    *place = e->flow;
    return again ? "t" : "s";
}

/* An arrow from each call to what it started, which say the call's number, or from where a task became ready. */
static void flow_put(const export_out_t *o, const export_event_t *e)
{
    const char *phase = flow_phase(o, e);
    gpurt_json_t *j = head_put(o, e->track, phase, e->time_ns);

    gpurt_json_number(j, "id", e->flow);
    gpurt_json_text(j, "name",
                    e->in == EXPORT_IN_READY || e->in == EXPORT_IN_TASK ? "ready" : "call");
    gpurt_json_text(j, "cat", "flow");
    if (*phase == 'f')
        gpurt_json_text(j, "bp", "e");
    gpurt_json_object_end(j);
}

static void event(export_out_t *o, const export_event_t *e)
{
    static const char *const phases[] = {"X", "B", "E", "i"};
    gpurt_json_t *j = head_put(o, e->track, phases[e->type], e->time_ns);
    char room[TEXT_BYTES];

    if (e->type == EXPORT_SLICE)
        gpurt_json_thousandths(j, "dur", e->ns);
    if (e->type == EXPORT_INSTANT)
        gpurt_json_text(j, "s", "t");
    if (e->type != EXPORT_CLOSE) {
        gpurt_json_text(j, "cat", export_in_names[e->in]);
        gpurt_json_bytes(j, "name", room, export_name(o, e, room, sizeof room));
        args_put(o, e, j);
    }
    gpurt_json_object_end(j);
    if (e->flows)
        flow_put(o, e);
}

static void counter(export_out_t *o, const export_track_t *t, uint64_t time_ns,
                    double value)
{
    char name[EXPORT_COUNTER_NAME], unit[GPURT_CLASS_NAME];
    gpurt_json_t *j;

    if (!export_counter_name(o, &t->key, name, unit))
        return;
    j = head_put(o, t, "C", time_ns);
    gpurt_json_text(j, "name", name);
    gpurt_json_object(j, "args");
    gpurt_json_decimal(j, unit, value, 3);
    gpurt_json_object_end(j);
    gpurt_json_object_end(j);
}

const export_writer_t export_chrome = {begin, track, event, counter, end, true};
