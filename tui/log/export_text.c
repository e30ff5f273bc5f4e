/* SPDX-License-Identifier: Apache-2.0 */
/* The words of an exported timeline, the same in each format. */
#include "classdef.h"
#include "export_event.h"
#include "object_text.h"
#include "render.h"

#include <inttypes.h>
#include <string.h>

const export_count_name_t export_counts[EXPORT_COUNTS] = {
    {"SM clock", "MHz"},     {"memory clock", "MHz"},    {"power", "W"},
    {"temperature", "C"},    {"GPU in use", "%"},        {"memory in use", "%"},
    {"memory", "B"},         {"kernels ran", "%"},       {"SMs active", "%"},
    {"instructions", "%"},   {"memory throughput", "%"}, {"tensor cores", "%"},
    {"warps in place", "%"},
};

const char *const export_in_names[EXPORT_INS] = {
    "kernel", "copy",   "fill", "graph", "wait", "call", "overhead", "range",
    "launch", "memory", "log",  "panic", "loss", "idle", "task",     "ready"};

const char *const export_arg_names[EXPORT_ARG_NAMES] = {"grid",
                                                        "block",
                                                        "registers",
                                                        "shared bytes",
                                                        "bytes",
                                                        "call",
                                                        "graph",
                                                        "node",
                                                        "level",
                                                        "file",
                                                        "line",
                                                        "warp",
                                                        "lanes",
                                                        "domain",
                                                        "number",
                                                        "address",
                                                        "launched by",
                                                        "from",
                                                        "occupancy percent",
                                                        "task",
                                                        "made ready by",
                                                        "ready ns before",
                                                        "priority",
                                                        "status",
                                                        "bodies",
                                                        "stands for"};

/* What the boxes of the log say. */
static const char *model_of_boxes(const export_out_t *o, uint32_t program, bool cpu,
                                  uint32_t number)
{
    const gplog_file_t *about = &o->sum.about;
    const char *name = "";
    bool same = true;

    for (uint32_t i = 0; i < about->section_count && i < GPURT_BOX_SECTIONS; i++)
        if (about->sections[i].kind != GPURT_SECTION_HOST &&
            (about->sections[i].kind == GPURT_SECTION_CPU) == cpu &&
            about->sections[i].device == number) {
            same &= !*name || strcmp(name, about->sections[i].name) == 0;
            name = *name ? name : about->sections[i].name;
        }
    /* One process's is another model than the other's: nobody says which. */
    return !same && export_program_shares(&o->programs, program) ? "" : name;
}

/* The collector says it of its own process. Where it has not, the boxes do. */
static int device_name(const export_out_t *o, uint32_t program, uint32_t device, char *room,
                       size_t size)
{
    const bool cpu = (device & EXPORT_CPU) != 0;
    const uint32_t number = device & ~(uint32_t)EXPORT_CPU;
    const char *name;
    char told[GPURT_BOX_NAME];

    if (!cpu && number < EXPORT_DEVICES && o->models[program][number]) {
        export_string(o, o->models[program][number], told, sizeof told);
        name = told;
    } else {
        name = model_of_boxes(o, program, cpu, number);
    }
    return snprintf(room, size, "%s %" PRIu32 "%s%s", cpu ? "CPU" : "GPU", number,
                    *name ? ", " : "", name);
}

bool export_counter_name(const export_out_t *o, const export_key_t *k,
                         char name[EXPORT_COUNTER_NAME], char unit[GPURT_CLASS_NAME])
{
    uint32_t field = k->a & ((1u << EXPORT_FIELD_BITS) - 1);
    char class_name[GPURT_CLASS_NAME], field_name[GPURT_CLASS_NAME];
    gpurt_classdef_t class_;
    gpurt_site_info_t site;

    if (k->kind == EXPORT_COUNTER) {
        const export_count_name_t *c = &export_counts[k->a % EXPORT_COUNTS];

        snprintf(name, EXPORT_COUNTER_NAME, "%s", c->name);
        snprintf(unit, GPURT_CLASS_NAME, "%s", c->unit);
        return true;
    }
    if (k->kind != EXPORT_OBJECT ||
        !gpurt_dictionary_get(o->dictionary, k->a >> EXPORT_FIELD_BITS, &site) ||
        !gpurt_classdef_read(&class_, site.format, site.format_bytes) ||
        field >= class_.field_count)
        return false;
    snprintf(name, EXPORT_COUNTER_NAME, "%s %" PRIu32 ": %s",
             object_name(class_.name, class_name), k->b,
             object_name(class_.fields[field].name, field_name));
    snprintf(unit, GPURT_CLASS_NAME, "%s",
             class_.fields[field].unit[0] ? class_.fields[field].unit : "count");
    return true;
}

static int counter_base_name(const export_out_t *o, const export_key_t *k, char *room,
                             size_t size)
{
    char name[EXPORT_COUNTER_NAME], unit[GPURT_CLASS_NAME];

    return snprintf(room, size, "%s", export_counter_name(o, k, name, unit) ? name : "?");
}

static int base_name(const export_out_t *o, const export_key_t *k, char *room, size_t size)
{
    switch (k->kind) {
    case EXPORT_PROCESS:
        return export_program_name(&o->programs, k->program, false, room, size);
    case EXPORT_THREAD:
        return snprintf(room, size, "thread %" PRIu32, k->a);
    case EXPORT_RANGES:
        return snprintf(room, size, "ranges");
    case EXPORT_WAITS:
        return snprintf(room, size, "waits");
    case EXPORT_OVERHEAD:
        return snprintf(room, size, "CUPTI's overhead");
    case EXPORT_GRAPHS:
        return snprintf(room, size, "graphs, on no GPU that is known");
    case EXPORT_DEVICE:
        return device_name(o, k->program, k->device, room, size);
    case EXPORT_COUNTER:
    case EXPORT_OBJECT:
        return counter_base_name(o, k, room, size);
    case EXPORT_IDLE:
        return snprintf(room, size, "idle time");
    case EXPORT_MANAGED:
        return snprintf(room, size, "managed memory");
    case EXPORT_STREAM:
        return k->a > 1 ? snprintf(room, size, "stream %" PRIu32 " of context %" PRIu32,
                                   k->b, k->a)
                        : snprintf(room, size, "stream %" PRIu32, k->b);
    case EXPORT_SM:
        return snprintf(room, size, "SM %" PRIu32, k->a);
    case EXPORT_WARP:
        return snprintf(room, size, "warp slot %" PRIu32, k->b);
    default:
        return snprintf(room, size, "others");
    }
}

const char *export_track_name(const export_out_t *o, const export_track_t *t,
                              char room[64 + GPURT_BOX_NAME])
{
    const size_t size = 64 + GPURT_BOX_NAME;
    char raw[64 + GPURT_BOX_NAME];
    int used = base_name(o, &t->key, raw, size - 8);
    size_t bytes = used < 0 ? 0 : (size_t)used < size - 8 ? (size_t)used : size - 9;

    bytes = export_safe(raw, bytes, room, size - 8);
    if (t->key.lane)
        snprintf(room + bytes, size - bytes, " +%" PRIu32, t->key.lane);
    return room;
}

size_t export_safe(const char *bytes, size_t count, char *room, size_t size)
{
    gpurt_text_t text;

    gpurt_text_init(&text, room, size);
    gpurt_render_plain(&text, bytes, count);
    return text.used;
}

size_t export_string(const export_out_t *o, uint32_t id, char *room, size_t size)
{
    gpurt_site_info_t info;

    if (id == 0 || !gpurt_dictionary_get(o->dictionary, id, &info) ||
        info.kind != GPURT_DEF_STRING)
        return export_safe("(no name)", 9, room, size);
    return export_safe(info.format, info.format_bytes, room, size);
}

size_t export_name(const export_out_t *o, const export_event_t *e, char *room, size_t size)
{
    return e->text ? export_safe(e->text, e->text_bytes, room, size)
                   : export_string(o, e->name, room, size);
}

size_t export_arg_text(const export_out_t *o, const export_arg_t *a, char *room,
                       size_t size)
{
    switch (a->as) {
    case EXPORT_AS_DIMS:
        return (size_t)snprintf(room, size, "%" PRIu64 ",%" PRIu32 ",%" PRIu32, a->value,
                                a->y, a->z);
    case EXPORT_AS_STRING:
        return export_string(o, (uint32_t)a->value, room, size);
    case EXPORT_AS_TEXT:
        return export_safe(a->text, a->bytes, room, size);
    case EXPORT_AS_ADDRESS:
        return (size_t)snprintf(room, size, "0x%" PRIx64, a->value);
    default:
        return (size_t)snprintf(room, size, "%" PRIu64, a->value);
    }
}
