/* SPDX-License-Identifier: Apache-2.0 */
/* A model as a view: rates of now, texts of what is new. */
#include "modelpart.h"

#include <stdio.h>
#include <string.h>

static uint32_t rate(const model_sum_t *s, uint64_t now_ns)
{
    return model_rate(&s->window, now_ns);
}

/* ---- numbers ------------------------------------------------------------------------- */

static void sections_view(const gpurt_model_t *m, uint64_t now_ns, gpurt_model_numbers_t *n)
{
    for (uint32_t i = 0; i < GPURT_MODEL_SECTIONS; i++) {
        const model_section_t *from = &m->sections[i];
        gpurt_model_section_t *to = &n->sections[i];

        if (i < m->about.section_count) {
            const gplog_section_t *about = &m->about.sections[i];

            to->kind = about->kind;
            to->device = about->device;
            to->sm_count = about->sm_count;
            to->warp_slots = about->warp_slots;
            memcpy(to->name, about->name, sizeof to->name - 1);
        }
        to->sm_first = from->sm_first;
        to->sm_shown = from->sm_shown;
        to->messages = from->messages.count;
        to->lost = from->lost.count;
        to->panics = from->panics;
        to->sm_other = from->sm_other;
        to->per_second = rate(&from->messages, now_ns);
        to->lost_per_second = rate(&from->lost, now_ns);
    }
}

static void sms_view(const gpurt_model_t *m, uint64_t now_ns, gpurt_model_numbers_t *n)
{
    uint64_t second = now_ns / SECOND_NS;

    for (uint32_t i = 0; i < GPURT_MODEL_SMS; i++) {
        const model_sm_t *from = &m->sms[i];
        gpurt_model_sm_t *to = &n->sms[i];

        if (from->messages.count == to->messages && from->messages.count == 0)
            continue;
        to->messages = from->messages.count;
        to->last_ns = from->last_ns;
        to->errors = from->errors;
        to->error_ns = from->error_ns;
        to->per_second = rate(&from->messages, now_ns);
        to->slots = second == from->second       ? from->slots[0] | from->slots[1]
                    : second == from->second + 1 ? from->slots[1]
                                                 : 0;
    }
}

static void numbers_view(const gpurt_model_t *m, uint64_t now_ns, uint32_t state,
                         gpurt_model_numbers_t *n)
{
    n->time_ns = now_ns;
    n->state = state;
    n->first_ns = m->first_ns;
    n->last_ns = m->last_ns;
    n->rows = m->rows;
    n->messages = m->messages.count;
    n->lost = m->lost.count;
    n->panics = m->panic_count;
    n->per_second = rate(&m->messages, now_ns);
    n->lost_per_second = rate(&m->lost, now_ns);
    for (uint32_t i = 0; i < GPURT_MODEL_LEVELS; i++) {
        n->levels[i] = m->levels[i].count;
        n->level_rates[i] = rate(&m->levels[i], now_ns);
    }
    memcpy(n->losses, m->losses, sizeof n->losses);
    memcpy(n->seconds, m->seconds, sizeof n->seconds);
    n->site_count = m->site_count;
    for (uint32_t i = 0; i <= GPURT_MODEL_SITES; i++) {
        const model_site_t *from = &m->sites[i];

        n->sites[i].id = from->id;
        n->sites[i].messages = from->messages.count;
        n->sites[i].last_ns = from->last.time_ns;
        n->sites[i].per_second = rate(&from->messages, now_ns);
    }
    sections_view(m, now_ns, n);
    sms_view(m, now_ns, n);
}

/* ---- texts --------------------------------------------------------------------------- */

static const char *base_name(const char *file, uint32_t *bytes)
{
    for (uint32_t i = *bytes; i > 0; i--)
        if (file[i - 1] == '/') {
            *bytes -= i;
            return file + i;
        }
    return file;
}

static void render(const gpurt_dictionary_t *d, const gpurt_row_t *row, char *to,
                   size_t room, uint16_t *used)
{
    char text[GPURT_MESSAGE_MAX];
    gpurt_text_t out;

    gpurt_text_init(&out, text, sizeof text);
    gpurt_render_message(d, row, 0, &out);
    model_text_begin(to, room, text, out.used);
    if (used)
        *used = (uint16_t)(out.used < room ? out.used : strnlen(to, room));
}

/* "heaps (objects)": the definition of a class is no sentence. */
static void class_name(const gpurt_site_info_t *info, gpurt_model_site_t *to)
{
    gpurt_classdef_t def;

    if (gpurt_classdef_read(&def, info->format, info->format_bytes))
        snprintf(to->format, sizeof to->format, "%s (objects)", def.plural);
}

static void site_name(const gpurt_model_t *m, const model_site_t *from,
                      gpurt_model_site_t *to)
{
    gpurt_site_info_t info;

    to->id = from->id;
    if (!gpurt_dictionary_get(m->dictionary, from->id, &info) ||
        info.kind != GPURT_DEF_SITE) {
        model_text_begin(to->format, sizeof to->format, "(site without a definition)", 27);
        return;
    }
    to->line = info.line;
    to->kind = info.record_kind;
    to->level = info.level;
    to->arg_count = info.arg_count;
    to->types = info.types;
    model_text_end(to->file, sizeof to->file, info.file, info.file_bytes);
    model_text_begin(to->format, sizeof to->format, info.format, info.format_bytes);
    if (info.record_kind == GPURT_KIND_OBJECT)
        class_name(&info, to);
}

/* The view's numbers still hold the counts of last time: they tell which sites spoke
 * since. */
static bool names_view(const gpurt_model_t *m, gpurt_modelview_t *v)
{
    uint64_t programs = model_programs(m);
    bool changed = (v->names.gpurt_version == 0 && m->about.gpurt_version) ||
                   v->names.programs != programs;

    for (uint32_t i = 0; i < m->site_count; i++) {
        const model_site_t *from = &m->sites[i];
        gpurt_model_site_t *to = &v->names.sites[i];

        if (v->numbers.sites[i].messages == from->messages.count &&
            v->numbers.sites[i].last_ns == from->last.time_ns && i < v->numbers.site_count)
            continue;
        if (to->format[0] == '\0' || to->id != from->id)
            site_name(m, from, to);
        render(m->dictionary, &from->last, to->last, sizeof to->last, NULL);
        changed = true;
    }
    v->names.identity = m->about.identity;
    v->names.identity.host[GPURT_BOX_NAME - 1] = '\0';
    v->names.identity.program[GPURT_BOX_NAME - 1] = '\0';
    v->names.gpurt_version = m->about.gpurt_version;
    v->names.programs = programs;
    return changed;
}

void gpurt_model_line_of(const gpurt_dictionary_t *d, const gpurt_row_t *row, uint32_t pid,
                         uint64_t number, gpurt_model_line_t *to)
{
    gpurt_site_info_t info;
    uint32_t messages = gpurt_row_messages(row);

    memset(to, 0, offsetof(gpurt_model_line_t, text));
    to->number = number;
    to->time_ns = row->time_ns;
    to->block = row->block;
    to->mask = row->mask;
    to->sm = row->sm;
    to->slot = row->slot;
    to->warp = row->warp;
    to->level = row->level;
    to->section = row->section;
    to->pid = pid;
    to->kind = row->kind;
    to->form = row->form;
    to->more = (uint16_t)(messages ? messages - 1 : 0);
    if (gpurt_dictionary_get(d, row->site, &info) && info.kind == GPURT_DEF_SITE) {
        uint32_t bytes = info.file_bytes;
        const char *name = base_name(info.file, &bytes);

        to->line = info.line;
        model_text_end(to->file, sizeof to->file, name, bytes);
    }
    render(d, row, to->text, sizeof to->text, &to->text_bytes);
}

/* The first row that is still whole. */
static uint64_t keep_first(const model_keep_t *k)
{
    uint64_t first = k->count > GPURT_MODEL_LINES ? k->count - GPURT_MODEL_LINES : 0;

    while (first < k->count && k->end - k->place[first % GPURT_MODEL_LINES] > KEEP_BYTES)
        first++;
    return first;
}

/* Lines that the view has are kept even when their rows are gone, but not those of another
 * past: a replay that stepped back has fewer rows, or other ones under the same numbers. */
static bool lines_view(const gpurt_model_t *m, uint32_t class, gpurt_model_lines_t *v)
{
    const model_keep_t *k = &m->keep[class];
    uint64_t first = keep_first(k), at = first;

    if (v->end == k->count)
        return false;
    if (v->end < k->count && v->end > first)
        at = v->end;
    if (v->end > k->count || v->end < first)
        v->first = first;
    if (k->count > GPURT_MODEL_LINES && v->first < k->count - GPURT_MODEL_LINES)
        v->first = k->count - GPURT_MODEL_LINES;
    for (; at < k->count; at++) {
        uint32_t i = at % GPURT_MODEL_LINES;

        const gpurt_row_t *row = (const gpurt_row_t *)(k->bytes + k->place[i] % KEEP_BYTES);

        gpurt_model_line_of(m->dictionary, row, model_pid(m, row), k->number[i],
                            &v->list[i]);
    }
    v->end = k->count;
    return true;
}

uint32_t gpurt_model_view(const gpurt_model_t *m, uint64_t now_ns, uint32_t state,
                          gpurt_modelview_t *v)
{
    uint32_t changed = 1;

    if (names_view(m, v))
        changed |= 1u << 1;
    if (v->panics.count != m->panics.count) {
        v->panics = m->panics;
        changed |= 1u << 2;
    }
    for (uint32_t i = 0; i < GPURT_CLASSES; i++)
        if (lines_view(m, i, &v->lines[i]))
            changed |= 8u << i;
    if (model_activity_view(m, v))
        changed |= 3u << 6;
    if (model_objects_view(m, &v->objects))
        changed |= 1u << 8;
    if (model_lines_view(m, &v->warps))
        changed |= 1u << 9;
    numbers_view(m, now_ns, state, &v->numbers);
    return changed;
}
