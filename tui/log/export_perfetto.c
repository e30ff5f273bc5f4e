/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto's own format: a chain of TracePacket messages, here track events of one
 * sequence. The numbers are those of its .proto files (protos/perfetto/trace). Names are
 * interned: written once, with the first event that has them. */
#include "export_event.h"
#include "protobuf.h"

#include <stdlib.h>

enum {
    PACKET_BYTES = 32 << 10,
    TEXT_BYTES = 8 << 10,
    IID_FIRST = 1, /* 0 means none */
    SEQUENCE = 1,
    BOOTTIME = 6, /* the clock that a packet's time is of, when it names none */
    REALTIME = 1
};
/* Field numbers, by message. */
enum {
    TRACE_PACKET = 1,
    PACKET_CLOCKS = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    CLOCKS_CLOCK = 1,
    CLOCK_ID = 1,
    CLOCK_TIME = 2,
    INTERNED_CATEGORY = 1,
    INTERNED_NAME = 2,
    INTERNED_ARG = 3,
    INTERNED_IID = 1,
    INTERNED_TEXT = 2,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_CHILDREN = 11,
    TRACK_RANK = 12,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    COUNTER_UNIT_NAME = 6,
    EVENT_CATEGORY = 3,
    EVENT_ARG = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_VALUE = 44,
    EVENT_FLOW = 47,
    ARG_NAME = 1,
    ARG_NUMBER = 3,
    ARG_TEXT = 6,
    ARG_POINTER = 7
};
enum {
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_INSTANT = 3,
    TYPE_COUNTER = 4,
    FLAGS_CLEARED = 1, /* the first packet: nothing is interned yet */
    FLAGS_NEEDED = 2,
    CHILDREN_RANKED = 3
};

/* Owner: the export, between begin and end. */
typedef struct perfetto {
    protobuf_t p;
    size_t packet;
    uint8_t bytes[PACKET_BYTES];
    char text[TEXT_BYTES];
    uint8_t *named; /* bit per string of the dictionary: it is interned */
    uint32_t named_count;
} perfetto_t;

static protobuf_t *packet_begin(export_out_t *o)
{
    perfetto_t *own = o->own;

    own->p = (protobuf_t){.at = own->bytes, .room = sizeof own->bytes};
    own->packet = protobuf_begin(&own->p, TRACE_PACKET);
    protobuf_u64(&own->p, PACKET_SEQUENCE, SEQUENCE);
    return &own->p;
}

/* One that found no room is left out: texts are cut before they would make it so long. */
static void packet_end(export_out_t *o)
{
    perfetto_t *own = o->own;

    protobuf_end(&own->p, own->packet);
    if (!own->p.full)
        fwrite(own->p.at, 1, own->p.used, o->file);
}

/* ---- what comes first ---------------------------------------------------------------- */

static void interned_put(protobuf_t *p, uint32_t field, uint64_t iid, const char *text,
                         size_t bytes)
{
    size_t at = protobuf_begin(p, field);

    protobuf_u64(p, INTERNED_IID, iid);
    protobuf_text(p, INTERNED_TEXT, text, bytes);
    protobuf_end(p, at);
}

static void words_put(export_out_t *o)
{
    protobuf_t *p = packet_begin(o);
    size_t at;

    protobuf_u64(p, PACKET_FLAGS, FLAGS_CLEARED | FLAGS_NEEDED);
    at = protobuf_begin(p, PACKET_INTERNED);
    for (uint32_t i = 0; i < EXPORT_INS; i++)
        interned_put(p, INTERNED_CATEGORY, i + IID_FIRST, export_in_names[i],
                     strlen(export_in_names[i]));
    for (uint32_t i = 0; i < EXPORT_ARG_NAMES; i++)
        interned_put(p, INTERNED_ARG, i + IID_FIRST, export_arg_names[i],
                     strlen(export_arg_names[i]));
    protobuf_end(p, at);
    packet_end(o);
}

/* Times are real time, and said to be of the trace's clock as well, so that a viewer needs no
 * other clock and can show the time of day. */
static void clocks_put(export_out_t *o)
{
    static const uint32_t clocks[] = {BOOTTIME, REALTIME};
    protobuf_t *p = packet_begin(o);
    size_t at = protobuf_begin(p, PACKET_CLOCKS);

    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        size_t clock = protobuf_begin(p, CLOCKS_CLOCK);

        protobuf_u64(p, CLOCK_ID, clocks[i]);
        protobuf_u64(p, CLOCK_TIME, o->sum.first_ns);
        protobuf_end(p, clock);
    }
    protobuf_end(p, at);
    packet_end(o);
}

static bool begin(export_out_t *o)
{
    perfetto_t *own = calloc(1, sizeof *own);

    if (!own)
        return false;
    own->named_count = o->dictionary->last_id + 1;
    own->named = calloc(1, own->named_count / 8 + 1);
    if (!own->named) {
        free(own);
        return false;
    }
    o->own = own;
    clocks_put(o);
    words_put(o);
    return true;
}

static void end(export_out_t *o)
{
    perfetto_t *own = o->own;

    free(own->named);
    free(own);
    o->own = NULL;
}

/* ---- tracks -------------------------------------------------------------------------- */

static void process_put(protobuf_t *p, uint32_t pid, const char *name)
{
    size_t at = protobuf_begin(p, TRACK_PROCESS);

    protobuf_u64(p, PROCESS_PID, pid & INT32_MAX);
    protobuf_text(p, PROCESS_NAME, name, strlen(name));
    protobuf_end(p, at);
}

static void thread_put(protobuf_t *p, uint32_t pid, uint32_t tid, const char *name)
{
    size_t at = protobuf_begin(p, TRACK_THREAD);

    protobuf_u64(p, THREAD_PID, pid & INT32_MAX);
    protobuf_u64(p, THREAD_TID, tid & INT32_MAX);
    protobuf_text(p, THREAD_NAME, name, strlen(name));
    protobuf_end(p, at);
}

static void counter_put(const export_out_t *o, protobuf_t *p, const export_key_t *k)
{
    char name[EXPORT_COUNTER_NAME], unit[GPURT_CLASS_NAME];
    size_t at;

    if (!export_counter_name(o, k, name, unit))
        return;
    at = protobuf_begin(p, TRACK_COUNTER);
    protobuf_text(p, COUNTER_UNIT_NAME, unit, strlen(unit));
    protobuf_end(p, at);
}

/* Devices beside their process have no order among each other. */
static uint32_t rank_of(const export_track_t *t)
{
    const export_key_t *k = &t->key;
    uint32_t place = k->kind == EXPORT_STREAM                ? k->a << 10 | (k->b & 1023)
                     : k->kind == EXPORT_PROCESS             ? k->program
                     : k->kind == EXPORT_DEVICE && t->parent ? k->device
                                                             : k->a;

    return (uint32_t)k->kind << 24 |
           (k->kind == EXPORT_WARP ? k->b : place & 0xfffff) << 4 | (k->lane & 15);
}

static void track(export_out_t *o, const export_track_t *t)
{
    const uint32_t pid = o->programs.shown[t->key.program];
    char name[64 + GPURT_BOX_NAME];
    protobuf_t *p = packet_begin(o);
    size_t at = protobuf_begin(p, PACKET_TRACK);

    export_track_name(o, t, name);
    protobuf_u64(p, TRACK_UUID, t->number);
    if (t->parent)
        protobuf_u64(p, TRACK_PARENT, t->parent);
    if (t->key.kind == EXPORT_PROCESS && t->key.lane == 0)
        process_put(p, pid, name);
    else if (t->key.kind == EXPORT_THREAD && t->key.lane == 0)
        thread_put(p, pid, t->key.a, name);
    else
        protobuf_text(p, TRACK_NAME, name, strlen(name));
    counter_put(o, p, &t->key);
    protobuf_u64(p, TRACK_CHILDREN, CHILDREN_RANKED);
    protobuf_u64(p, TRACK_RANK, rank_of(t));
    protobuf_end(p, at);
    packet_end(o);
}

/* ---- events -------------------------------------------------------------------------- */

/* Returns: whether the name is interned now; else it is written with the event. */
static bool name_intern(export_out_t *o, protobuf_t *p, uint32_t id)
{
    perfetto_t *own = o->own;
    size_t at, bytes;

    if (id >= own->named_count)
        return false;
    if (own->named[id / 8] >> id % 8 & 1)
        return true;
    own->named[id / 8] |= (uint8_t)(1u << id % 8);
    bytes = export_string(o, id, own->text, sizeof own->text);
    at = protobuf_begin(p, PACKET_INTERNED);
    interned_put(p, INTERNED_NAME, id + IID_FIRST, own->text, bytes);
    protobuf_end(p, at);
    return true;
}

static void arg_put(export_out_t *o, protobuf_t *p, const export_arg_t *a)
{
    perfetto_t *own = o->own;
    size_t at = protobuf_begin(p, EVENT_ARG);

    protobuf_u64(p, ARG_NAME, a->key + IID_FIRST);
    if (a->as == EXPORT_AS_NUMBER)
        protobuf_u64(p, ARG_NUMBER, a->value);
    else if (a->as == EXPORT_AS_ADDRESS)
        protobuf_u64(p, ARG_POINTER, a->value);
    else
        protobuf_text(p, ARG_TEXT, own->text,
                      export_arg_text(o, a, own->text, sizeof own->text));
    protobuf_end(p, at);
}

static void begin_put(export_out_t *o, const export_event_t *e, uint32_t type)
{
    perfetto_t *own = o->own;
    protobuf_t *p = packet_begin(o);
    bool interned = !e->text && name_intern(o, p, e->name);
    size_t at;

    protobuf_u64(p, PACKET_TIME, e->time_ns);
    protobuf_u64(p, PACKET_FLAGS, FLAGS_NEEDED);
    at = protobuf_begin(p, PACKET_EVENT);
    protobuf_u64(p, EVENT_TYPE, type);
    protobuf_u64(p, EVENT_TRACK, e->track->number);
    protobuf_u64(p, EVENT_CATEGORY, e->in + IID_FIRST);
    if (interned)
        protobuf_u64(p, EVENT_NAME_IID, e->name + IID_FIRST);
    else
        protobuf_text(p, EVENT_NAME, own->text,
                      export_name(o, e, own->text, sizeof own->text));
    if (e->flows)
        protobuf_fixed64(p, EVENT_FLOW, e->flow);
    for (uint32_t i = 0; i < e->arg_count; i++)
        arg_put(o, p, &e->args[i]);
    protobuf_end(p, at);
    packet_end(o);
}

static void end_put(export_out_t *o, const export_track_t *t, uint64_t time_ns)
{
    protobuf_t *p = packet_begin(o);
    size_t at;

    protobuf_u64(p, PACKET_TIME, time_ns);
    at = protobuf_begin(p, PACKET_EVENT);
    protobuf_u64(p, EVENT_TYPE, TYPE_END);
    protobuf_u64(p, EVENT_TRACK, t->number);
    protobuf_end(p, at);
    packet_end(o);
}

static void event(export_out_t *o, const export_event_t *e)
{
    if (e->type != EXPORT_CLOSE)
        begin_put(o, e, e->type == EXPORT_INSTANT ? TYPE_INSTANT : TYPE_BEGIN);
    if (e->type == EXPORT_CLOSE || e->type == EXPORT_SLICE)
        end_put(o, e->track, e->time_ns + e->ns);
}

static void counter(export_out_t *o, const export_track_t *t, uint64_t time_ns,
                    double value)
{
    protobuf_t *p = packet_begin(o);
    size_t at;

    protobuf_u64(p, PACKET_TIME, time_ns);
    at = protobuf_begin(p, PACKET_EVENT);
    protobuf_u64(p, EVENT_TYPE, TYPE_COUNTER);
    protobuf_u64(p, EVENT_TRACK, t->number);
    protobuf_double(p, EVENT_VALUE, value);
    protobuf_end(p, at);
    packet_end(o);
}

const export_writer_t export_perfetto = {begin, track, event, counter, end, false};
