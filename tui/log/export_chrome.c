/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON that chrome://tracing and many others read: an array of events. Its times are
 * microseconds in a double, so they count from the first record of the log; otherData says
 * when that was. It has processes and threads only: a device is a process, and each of its
 * tracks a thread. */
#include "export_event.h"
#include "render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_BYTES = 4096,
    DEVICE_PID = 1 << 23, /* above what Linux gives out, and what export_program.h does */
    DEVICES_SHIFT = 17,   /* of one process, both back ends' */
    FLOWS = 4096          /* calls of late whose arrows have begun, by number */
};

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

static void time_put(FILE *out, const char *key, uint64_t ns)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

/* A row that came late may be older than the first frame says. */
static uint64_t since(const export_out_t *o, uint64_t time_ns)
{
    return time_ns > o->sum.first_ns ? time_ns - o->sum.first_ns : 0;
}

static void text_put(FILE *out, const char *text, size_t bytes)
{
    char room[6 * TEXT_BYTES + 1];
    gpurt_text_t to;

    gpurt_text_init(&to, room, sizeof room);
    gpurt_render_json(&to, text, bytes < TEXT_BYTES ? bytes : TEXT_BYTES);
    putc('"', out);
    fwrite(room, 1, to.used, out);
    putc('"', out);
}

static void head_put(const export_out_t *o, const export_track_t *t, const char *phase,
                     uint64_t time_ns)
{
    fprintf(o->file, ",\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, phase,
            pid_of(o, t), t->number);
    time_put(o->file, "ts", since(o, time_ns));
}

static void process_put(const export_out_t *o, uint32_t pid, const char *name)
{
    fprintf(o->file,
            "{\"ph\":\"M\",\"pid\":%" PRIu32
            ",\"name\":\"process_name\",\"args\":{\"name\":",
            pid);
    text_put(o->file, name, strlen(name));
    fputs("}}", o->file);
}

static void program_put(const export_out_t *o, uint32_t program)
{
    char name[64 + GPURT_BOX_NAME];

    export_program_name(&o->programs, program, false, name, sizeof name);
    process_put(o, o->programs.shown[program], name);
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
    process_put(o, pid_of(o, t), both);
}

static bool begin(export_out_t *o)
{
    o->own = calloc(FLOWS, sizeof(uint64_t));
    if (!o->own)
        return false;
    fprintf(o->file,
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made_by\":\"gpurt-log\","
            "\"start_ns\":\"%" PRIu64 "\"},\"traceEvents\":[\n",
            o->sum.first_ns);
    program_put(o, 0);
    return true;
}

static void end(export_out_t *o)
{
    fputs("\n]}\n", o->file);
    free(o->own);
}

static void thread_put(const export_out_t *o, const export_track_t *t)
{
    char name[64 + GPURT_BOX_NAME];

    fprintf(o->file,
            "{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"name\":\"thread_name\",\"args\":{\"name\":",
            pid_of(o, t), t->number);
    export_track_name(o, t, name);
    if (t->key.kind == EXPORT_WARP)
        fprintf(o->file, "\"SM %" PRIu32 " %s\"", t->key.a, name);
    else
        text_put(o->file, name, strlen(name));
    fputs("}}", o->file);
}

static void track(export_out_t *o, const export_track_t *t)
{
    if (t->key.kind == EXPORT_COUNTER || t->key.kind == EXPORT_OBJECT)
        return; /* events name it */
    fputs(",\n", o->file);
    if (t->key.kind == EXPORT_DEVICE) {
        device_put(o, t);
        return;
    }
    if (t->key.kind == EXPORT_PROCESS && t->key.lane == 0 && t->key.program != 0) {
        program_put(o, t->key.program); /* that of 0 came first of all */
        fputs(",\n", o->file);
    }
    thread_put(o, t);
}

static void args_put(const export_out_t *o, const export_event_t *e)
{
    char room[TEXT_BYTES];

    fputs(",\"args\":{", o->file);
    for (uint32_t i = 0; i < e->arg_count; i++) {
        const export_arg_t *a = &e->args[i];

        fprintf(o->file, "%s\"%s\":", i ? "," : "", export_arg_names[a->key]);
        if (a->as == EXPORT_AS_NUMBER)
            fprintf(o->file, "%" PRIu64, a->value);
        else
            text_put(o->file, room, export_arg_text(o, a, room, sizeof room));
    }
    putc('}', o->file);
}

/* An arrow starts once: a call inside of another one with its number is a step on its way. */
static const char *flow_phase(const export_out_t *o, const export_event_t *e)
{
    uint64_t *place = (uint64_t *)o->own + e->flow % FLOWS;
    const bool again = *place == e->flow;

    if (e->in != EXPORT_IN_CALL)
        return "f";
    *place = e->flow;
    return again ? "t" : "s";
}

/* An arrow from each call to what it started: both say the call's number. */
static void flow_put(const export_out_t *o, const export_event_t *e)
{
    const char *phase = flow_phase(o, e);

    head_put(o, e->track, phase, e->time_ns);
    fprintf(o->file, ",\"id\":%" PRIu64 ",\"name\":\"call\",\"cat\":\"flow\"%s}", e->flow,
            *phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void event(export_out_t *o, const export_event_t *e)
{
    static const char *const phases[] = {"X", "B", "E", "i"};
    char room[TEXT_BYTES];

    head_put(o, e->track, phases[e->type], e->time_ns);
    if (e->type == EXPORT_SLICE)
        time_put(o->file, "dur", e->ns);
    if (e->type == EXPORT_INSTANT)
        fputs(",\"s\":\"t\"", o->file);
    if (e->type != EXPORT_CLOSE) {
        fprintf(o->file, ",\"cat\":\"%s\",\"name\":", export_in_names[e->in]);
        text_put(o->file, room, export_name(o, e, room, sizeof room));
        args_put(o, e);
    }
    putc('}', o->file);
    if (e->flows)
        flow_put(o, e);
}

static void counter(export_out_t *o, const export_track_t *t, uint64_t time_ns,
                    double value)
{
    char name[EXPORT_COUNTER_NAME], unit[GPURT_CLASS_NAME];

    if (!export_counter_name(o, &t->key, name, unit))
        return;
    head_put(o, t, "C", time_ns);
    fprintf(o->file, ",\"name\":\"%s\",\"args\":{\"%s\":%.3f}}", name, unit, value);
}

const export_writer_t export_chrome = {begin, track, event, counter, end, true};
