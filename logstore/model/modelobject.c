/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of all classes, each as it was told of last. It knows no class: what it knows of one is
 * its definition in the log. */
#include "modelpart.h"

#include <string.h>

/* ---- for whoever reads a view -------------------------------------------------------- */

void gpurt_objects_end(gpurt_model_objects_t *all)
{
    for (int i = 0; i < GPURT_MODEL_CLASSES; i++)
        gpurt_classdef_end(&all->classes[i].def);
    for (int i = 0; i < GPURT_MODEL_TEXTS; i++)
        all->texts[i][GPURT_MODEL_TEXT - 1] = '\0';
    all->count = all->count < GPURT_MODEL_OBJECTS ? all->count : GPURT_MODEL_OBJECTS;
}

const gpurt_classdef_t *gpurt_objects_class(const gpurt_model_objects_t *all, uint32_t at)
{
    return at < all->class_count && at < GPURT_MODEL_CLASSES ? &all->classes[at].def : NULL;
}

const gpurt_model_value_t *gpurt_objects_values(const gpurt_model_objects_t *all,
                                                const gpurt_model_object_t *o,
                                                const gpurt_classdef_field_t *f)
{
    uint64_t first = (uint64_t)o->first + f->first;
    uint64_t end = (uint64_t)f->first + gpurt_field_values(f->kind, f->count);

    return end <= o->room && first + (end - f->first) <= GPURT_MODEL_VALUES
               ? &all->values[first]
               : NULL;
}

const gpurt_classdef_field_t *gpurt_objects_main(const gpurt_classdef_t *d)
{
    const gpurt_classdef_field_t *full = gpurt_classdef_full(d);

    for (uint32_t i = 0; i < d->field_count && !full; i++)
        if (gpurt_field_is_number(d->fields[i].kind) &&
            d->fields[i].kind != GPURT_FIELD_LIMIT)
            full = &d->fields[i];
    return full;
}

double gpurt_objects_rate(const gpurt_model_object_t *o, const gpurt_model_value_t *v)
{
    if (!o->before_ns || o->told.time_ns <= o->before_ns || v->now < v->before)
        return 0;
    return (double)(v->now - v->before) * 1e9 / (double)(o->told.time_ns - o->before_ns);
}

/* ---- rows ---------------------------------------------------------------------------- */

/* Index; GPURT_MODEL_CLASSES: its definition is none, or there is no place. */
static uint32_t class_of(gpurt_model_objects_t *all, const gpurt_dictionary_t *d,
                         uint32_t site)
{
    gpurt_model_class_t *c = &all->classes[all->class_count];
    gpurt_site_info_t info;

    for (uint32_t i = 0; i < all->class_count; i++)
        if (all->classes[i].site == site)
            return i;
    if (all->class_count == GPURT_MODEL_CLASSES || !gpurt_dictionary_get(d, site, &info) ||
        info.kind != GPURT_DEF_SITE ||
        !gpurt_classdef_read(&c->def, info.format, info.format_bytes))
        return GPURT_MODEL_CLASSES;
    c->site = site;
    return all->class_count++;
}

/* The place of one that has ended, the longest ago, which has room for so many values. */
static gpurt_model_object_t *ended_find(gpurt_model_objects_t *all, uint32_t values)
{
    gpurt_model_object_t *found = NULL;

    for (uint32_t i = 0; i < all->count; i++) {
        gpurt_model_object_t *o = &all->list[i];

        if (o->told.flags & GPURT_OBJECT_ENDED && o->room >= values &&
            (!found || o->told.time_ns < found->told.time_ns))
            found = o;
    }
    return found;
}

/* A place for a new one, its values 0. NULL: all places are of objects that live. */
static gpurt_model_object_t *place_take(gpurt_model_objects_t *all, uint32_t class_)
{
    uint32_t values = all->classes[class_].def.value_count, first, room;
    gpurt_model_object_t *o = NULL;

    if (all->count < GPURT_MODEL_OBJECTS &&
        all->value_count + values <= GPURT_MODEL_VALUES) {
        o = &all->list[all->count++];
        first = all->value_count;
        room = values;
        all->value_count += values;
    } else {
        o = ended_find(all, values);
        if (!o)
            return NULL;
        first = o->first;
        room = o->room;
        all->classes[o->class_].objects--;
        all->forgotten++;
    }
    memset(o, 0, sizeof *o);
    memset(&all->values[first], 0, room * sizeof all->values[0]);
    o->class_ = class_;
    o->first = first;
    o->room = room;
    all->classes[class_].objects++;
    return o;
}

static gpurt_model_object_t *object_of(gpurt_model_objects_t *all, uint32_t class_,
                                       const gpurt_row_t *row, uint32_t id)
{
    const gpurt_model_told_t its = {
        .id = id, .device = row->block, .program = row->program};
    gpurt_model_object_t *o;

    for (uint32_t i = 0; i < all->count; i++)
        if (all->list[i].class_ == class_ &&
            gpurt_model_told_same(&all->list[i].told, &its))
            return &all->list[i];
    o = place_take(all, class_);
    if (o)
        o->told = its;
    return o;
}

/* Values [first, first + count) of an object, from words. */
static void values_put(gpurt_model_value_t *values, uint32_t count, const uint32_t *words)
{
    for (uint32_t i = 0; i < count; i++) {
        gpurt_model_value_t *v = &values[i];

        v->before = v->now;
        v->now = words[2 * i] | (uint64_t)words[2 * i + 1] << 32;
        if (v->now > v->peak && v->now != GPURT_VALUE_UNKNOWN)
            v->peak = v->now;
    }
}

/* One sample a second; within it the last value counts. */
static void curve_put(gpurt_model_objects_t *all, gpurt_model_object_t *o)
{
    const gpurt_classdef_field_t *f = gpurt_objects_main(&all->classes[o->class_].def);
    bool same = o->before_ns && o->told.time_ns / SECOND_NS == o->before_ns / SECOND_NS;

    if (!f)
        return;
    if (!same || o->curve_end == 0)
        o->curve_end++;
    o->curve[(o->curve_end - 1) % GPURT_MODEL_CURVE] = all->values[o->first + f->first].now;
}

static bool object_put(gpurt_model_objects_t *all, const gpurt_dictionary_t *d,
                       const gpurt_row_t *row)
{
    const uint32_t *words = gpurt_row_words(row);
    uint32_t class_, first, count;
    gpurt_model_object_t *o;

    class_ = class_of(all, d, row->site);
    if (class_ == GPURT_MODEL_CLASSES || row->words < GPURT_OBJECT_HEAD_WORDS ||
        words[0] == 0)
        return false;
    first = gpurt_object_first(words[1]);
    count = gpurt_object_count(words[1]);
    if (first + count > all->classes[class_].def.value_count ||
        GPURT_OBJECT_HEAD_WORDS + 2 * count > row->words)
        return false;
    o = object_of(all, class_, row, words[0]);
    if (!o)
        return false;
    if (row->time_ns < o->told.time_ns)
        return true;
    if (row->time_ns > o->told.time_ns) {
        o->before_ns = o->told.time_ns;
        o->told.time_ns = row->time_ns;
    }
    o->told.flags = words[1] & 0xffu;
    values_put(&all->values[o->first + first], count, words + GPURT_OBJECT_HEAD_WORDS);
    if (first == 0)
        curve_put(all, o);
    return true;
}

void model_object_put(gpurt_model_objects_t *all, const gpurt_dictionary_t *d,
                      const gpurt_row_t *row)
{
    all->rows++;
    all->others += !object_put(all, d, row);
}

void model_trace_put(gpurt_model_objects_t *all, const gpurt_row_t *row)
{
    all->rows++;
    *(row->kind == GPURT_KIND_HEAP_ALLOC ? &all->allocs : &all->frees) +=
        gpurt_row_messages(row);
}

/* ---- view ---------------------------------------------------------------------------- */

/* Of a long one the end: a place in a source is told apart by it. The mark says that more stood
 * in front. */
static void string_read(const gpurt_model_t *m, uint32_t id, char *to, size_t room)
{
    gpurt_site_info_t info;

    to[0] = '\0';
    if (!gpurt_dictionary_get(m->dictionary, id, &info) || info.kind != GPURT_DEF_STRING)
        return;
    model_text_end(to, room, info.format, info.format_bytes);
    if (info.format_bytes < room)
        return;
    memcpy(to, "...", 3);
    for (char *c = to + 3; ((unsigned char)*c & 0xc0) == 0x80; c++)
        *c = '.'; /* the rest of a character */
}

/* The index + 1 of a text in the view; 0: there is none, or no place. */
static uint64_t text_put(const gpurt_model_t *m, gpurt_model_objects_t *v, uint64_t id)
{
    char text[GPURT_MODEL_TEXT];
    uint32_t i = 0;

    if (id == 0 || id > UINT32_MAX)
        return 0;
    string_read(m, (uint32_t)id, text, sizeof text);
    while (i < v->text_count && strcmp(v->texts[i], text) != 0)
        i++;
    if (i == GPURT_MODEL_TEXTS)
        return 0;
    if (i == v->text_count)
        memcpy(v->texts[v->text_count++], text, sizeof text);
    return i + 1u;
}

static void texts_put(const gpurt_model_t *m, gpurt_model_objects_t *v,
                      const gpurt_model_object_t *o)
{
    const gpurt_classdef_t *d = &v->classes[o->class_].def;

    for (uint32_t i = 0; i < d->field_count; i++)
        if (d->fields[i].kind == GPURT_FIELD_TEXT) {
            gpurt_model_value_t *to = &v->values[o->first + d->fields[i].first];

            to->now = text_put(m, v, to->now);
        }
}

bool model_objects_view(const gpurt_model_t *m, gpurt_model_objects_t *v)
{
    uint32_t programs = model_programs(m);

    if (v->rows == m->objects.rows && (v->rows == 0 || v->programs == programs))
        return false;
    *v = m->objects;
    v->programs = programs;
    v->text_count = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        v->list[i].told.pid = model_pid_of(m, v->list[i].told.program);
        texts_put(m, v, &v->list[i]);
    }
    return true;
}
