/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions are looked for among those that earlier failures of the device made, so that a
 * failure that comes again takes a slot and nothing more. */
#include "failure.h"
#include "sanitizer.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/logport.h>

#include <stdio.h>
#include <string.h>

enum {
    KNOWN = 256 /* definitions that are remembered; later ones may be made twice */
};

/* A definition as it will stand in the box. */
typedef struct text {
    uint32_t kind; /* GPURT_DEF_* */
    const char *format, *file;
    uint32_t line, arg_count;
    uint64_t types;
} text_t;

/* Numbers of definitions in a device's box. What a number of an earlier box names is compared
 * before it is used. Under the device's mutex. */
static struct {
    uint32_t count, numbers[KNOWN];
} known[GPURT_MAX_DEVICES];

/* ---- definitions ------------------------------------------------------------------------- */
static gpurt_def_t *def_at(const gpurt_log_port_t *port, uint32_t number)
{
    return (gpurt_def_t *)((char *)port->defs + (size_t)(number - 1) * GPURT_DEF_BYTES);
}

static bool def_is(const gpurt_log_port_t *port, uint32_t number, const text_t *t)
{
    size_t format = strlen(t->format), file = strlen(t->file);
    gpurt_def_t *def;

    if (number > port->def_count)
        return false;
    def = def_at(port, number);
    /* relaxed: this device's executor wrote it, under the same mutex */
    return gpurt_load_relaxed_sys_u32(&def->xstate) == t->kind && def->line == t->line &&
           def->types == t->types && def->format_bytes == format &&
           def->file_bytes == file && memcmp(gpurt_def_text(def), t->format, format) == 0 &&
           memcmp(gpurt_def_text(def) + format, t->file, file) == 0;
}

/* Returns: its number, 0 when the table is full. */
static uint32_t def_make(const gpurt_log_port_t *port, const text_t *t)
{
    size_t format = strlen(t->format), file = strlen(t->file);
    uint32_t slots =
        (uint32_t)((sizeof(gpurt_def_t) + format + file + GPURT_DEF_BYTES - 1) /
                   GPURT_DEF_BYTES);
    gpurt_def_t *def;
    uint32_t slot;

    if (slots > GPURT_DEF_MAX_SLOTS)
        return 0;
    /* relaxed: takes a place; the state below publishes what stands there */
    slot = gpurt_add_relaxed_sys_u32(port->xdefs, slots);
    if (slot + slots > port->def_count || slot + slots < slot)
        return 0;
    def = def_at(port, slot + 1);
    def->slots = (uint16_t)slots;
    def->level = t->kind == GPURT_DEF_SITE ? GPURT_LEVEL_PANIC : 0;
    def->arg_count = (uint8_t)t->arg_count;
    def->line = t->line;
    def->kind = t->kind == GPURT_DEF_SITE ? GPURT_KIND_PANIC : 0;
    def->flags = 0;
    def->types = t->types;
    def->gate = 0; /* nobody asks whether it is on */
    def->format_bytes = (uint16_t)format;
    def->file_bytes = (uint16_t)file;
    def->module_bytes = 0;
    memcpy(gpurt_def_text(def), t->format, format);
    memcpy(gpurt_def_text(def) + format, t->file, file);
    simt_order_release(&def->xstate); /* the detector sees our copies, not the store */
    gpurt_store_release_sys_u32(&def->xstate, t->kind); /* B3.rel */
    return slot + 1;
}

static uint32_t def_number(uint32_t device, const text_t *t)
{
    const gpurt_log_port_t *port = &gpurt_log_ports[device];
    uint32_t number;

    for (uint32_t i = 0; i < known[device].count; i++)
        if (def_is(port, known[device].numbers[i], t))
            return known[device].numbers[i];
    number = def_make(port, t);
    if (number && known[device].count < KNOWN)
        known[device].numbers[known[device].count++] = number;
    return number;
}

static uint32_t string_number(uint32_t device, const char *text)
{
    const text_t t = {.kind = GPURT_DEF_STRING, .format = text, .file = ""};

    return *text ? def_number(device, &t) : 0;
}

/* ---- places ------------------------------------------------------------------------------ */
/* A path that has no room loses its front, and says so. */
static void path_copy(char to[SIMT_FAILURE_FILE], const char *path, size_t bytes)
{
    static const char cut[] = "...";
    size_t most = SIMT_FAILURE_FILE - 1;

    if (bytes <= most) {
        snprintf(to, SIMT_FAILURE_FILE, "%.*s", (int)bytes, path);
        return;
    }
    most -= sizeof cut - 1;
    snprintf(to, SIMT_FAILURE_FILE, "%s%.*s", cut, (int)most, path + bytes - most);
}

void simt_failure_call(simt_failure_t *f, const char *function, const char *path,
                       uint32_t line)
{
    simt_call_t *c;

    if (f->call_count == GPURT_PANIC_FRAMES) {
        f->calls_left_out++;
        return;
    }
    c = &f->calls[f->call_count++];
    snprintf(c->function, sizeof c->function, "%s", function);
    path_copy(c->file, path ? path : "", path ? strlen(path) : 0);
    c->line = path ? line : 0;
}

/* The innermost call in the program's own files. */
static bool call_find(const simt_failure_t *f, simt_call_t *out)
{
    for (uint32_t i = 0; i < f->call_count; i++)
        if (f->calls[i].file[0] && !strstr(f->calls[i].file, "/include/gpurt/")) {
            *out = f->calls[i];
            return true;
        }
    return false;
}

/* Where the lane stood in its program. Without debug information: the operation of gpurt that it
 * is in. */
static void place_find(const simt_failure_t *f, simt_call_t *out)
{
    const char *colon = f->site ? strrchr(f->site, ':') : NULL;

    *out = (simt_call_t){.line = 0};
    if (call_find(f, out) || !colon)
        return;
    path_copy(out->file, f->site, (size_t)(colon - f->site));
    for (const char *p = colon + 1; *p >= '0' && *p <= '9'; p++)
        out->line = out->line * 10 + (uint32_t)(*p - '0');
}

/* "deadlock in kernel %s...": a name in a format, percent signs twice. */
static void sentence_write(const simt_failure_t *f, char out[2 * SIMT_FAILURE_TEXT])
{
    size_t used = (size_t)snprintf(out, SIMT_FAILURE_TEXT, "%s in kernel ", f->title);
    const char *p = f->kernel;

    for (; *p && used < SIMT_FAILURE_TEXT; p++) {
        out[used++] = *p;
        if (*p == '%')
            out[used++] = '%';
    }
    snprintf(out + used, 2 * SIMT_FAILURE_TEXT - used, "%s%s", *p ? "..." : "", f->what);
}

/* ---- the slot ---------------------------------------------------------------------------- */
static void put_place(gpurt_panic_t *p, const simt_lane_t *lane,
                      const gpurt_log_port_t *port)
{
    const gpurt_simt_block_t *b = &lane->warp->block->self;
    uint32_t ring = b->sm * port->warp_slots + lane->self.warp_slot;

    p->sm = b->sm;
    p->warp_slot = lane->self.warp_slot;
    p->block = b->index;
    p->thread = lane->self.thread;
    p->warp = lane->rank / GPURT_WARP_SIZE;
    p->lane = lane->self.lane;
    p->cluster_rank = b->cluster_rank;
    p->cluster_size = b->cluster_size;
    p->grid = b->grid;
    p->block_dim = b->dim;
    p->launch = b->launch;
    if (port->controls && ring < port->ring_count) /* relaxed: nothing of the warp runs */
        p->log_sequence = gpurt_load_relaxed_sys_u64(&port->controls[ring].head.xrecords);
}

static void put_texts(gpurt_panic_t *p, uint32_t device, const simt_failure_t *f)
{
    char sentence[2 * SIMT_FAILURE_TEXT];
    simt_call_t place;
    text_t site = {.kind = GPURT_DEF_SITE, .types = f->types, .arg_count = f->arg_count};

    sentence_write(f, sentence);
    place_find(f, &place);
    site.format = sentence;
    site.file = place.file;
    site.line = place.line;
    p->site = def_number(device, &site);
    p->kernel = string_number(device, f->kernel);
    p->function = string_number(device, place.function);
    for (uint32_t i = 0; i < f->call_count; i++) {
        p->frames[i].function = string_number(device, f->calls[i].function);
        p->frames[i].file = string_number(device, f->calls[i].file);
        p->frames[i].line = f->calls[i].line;
    }
    p->frame_count = f->call_count;
    p->frames_left_out = f->calls_left_out;
}

static void put_report(gpurt_panic_t *p, const char *report)
{
    size_t bytes = report ? strlen(report) : 0;

    memcpy(gpurt_panic_report(p), report ? report : "",
           bytes < GPURT_PANIC_REPORT ? bytes : GPURT_PANIC_REPORT);
    p->report_bytes = (uint32_t)bytes;
}

void simt_failure_tell(const simt_launch_t *l, const simt_failure_t *f, const char *report)
{
    uint32_t device = l->device->index, number;
    const gpurt_log_port_t *port = &gpurt_log_ports[device];
    gpurt_panic_t *p;

    if (!port->panics || !port->defs || !f->lane)
        return;
    number = gpurt_add_relaxed_sys_u32(port->xpanics, 1); /* relaxed: takes a slot */
    if (number >= port->panic_count)
        return; /* the drainer tells how many found none */
    p = port->panics + number;
    p->number = number;
    p->category = (uint16_t)f->category;
    p->mask = f->mask;
    p->failed = f->failed;
    p->time_ns = gpurt_simt_globaltimer();
    p->clock = gpurt_simt_clock();
    for (uint32_t i = 0; i < f->arg_count; i++)
        p->args[i] = f->args[i];
    put_place(p, f->lane, port);
    put_texts(p, device, f);
    put_report(p, report);
    simt_order_release(&p->xstate);
    gpurt_store_release_sys_u32(&p->xstate, GPURT_PANIC_WRITTEN); /* B6.rel */
}
