/* SPDX-License-Identifier: Apache-2.0 */
#include "object_text.h"

#include "activity_text.h"
#include "objectrow.h"
#include "plural.h"
#include "render.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum {
    COLUMN = 9 /* characters of a column of a matrix */
};

const char *object_name(const char *name, char buffer[GPURT_CLASS_NAME])
{
    uint32_t i = 0;

    for (; name[i] && i < GPURT_CLASS_NAME - 1; i++)
        buffer[i] = name[i] == '_' ? ' ' : name[i];
    buffer[i] = '\0';
    return buffer;
}

/* ---- values -------------------------------------------------------------------------- */

const char *object_amount(const gpurt_classdef_field_t *f, uint64_t value, char buffer[24])
{
    if (strcmp(f->unit, "B") == 0)
        return activity_bytes(value, buffer);
    if (strcmp(f->unit, "ns") == 0)
        return activity_time(value, buffer);
    snprintf(buffer, 24, "%" PRIu64 "%s%.*s", value,
             f->unit[0] && strcmp(f->unit, "%") != 0 ? " " : "", GPURT_CLASS_UNIT - 1,
             f->unit);
    return buffer;
}

static const char *time_text(uint64_t ns, char *buffer)
{
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;

    if (ns == 0 || !localtime_r(&seconds, &tm))
        return "never";
    snprintf(buffer, OBJECT_TEXT, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
    return buffer;
}

const char *object_value(const gpurt_model_objects_t *all, const gpurt_classdef_field_t *f,
                         uint64_t value, char buffer[OBJECT_TEXT])
{
    char word[GPURT_CLASS_WORDS], amount[24], name[GPURT_CLASS_NAME];
    gpurt_text_t text;

    if (gpurt_field_is_number(f->kind) && value == GPURT_VALUE_UNKNOWN)
        return "-";
    gpurt_text_init(&text, buffer, OBJECT_TEXT);
    switch (f->kind) {
    case GPURT_FIELD_STATE:
        gpurt_text_printf(&text, "%s", gpurt_field_word(f, value, word));
        break;
    case GPURT_FIELD_REFERENCE:
        if (value == 0)
            return "-";
        gpurt_text_printf(&text, "%s %" PRIu64, object_name(f->words, name), value);
        break;
    case GPURT_FIELD_TEXT:
        if (value == 0 || value > all->text_count || value > GPURT_MODEL_TEXTS)
            return "-";
        gpurt_render_plain(&text, all->texts[value - 1], strlen(all->texts[value - 1]));
        break;
    case GPURT_FIELD_TIME:
        return time_text(value, buffer);
    default:
        gpurt_text_printf(&text, "%s", object_amount(f, value, amount));
    }
    return buffer;
}

const gpurt_model_value_t *object_at(const gpurt_model_objects_t *all,
                                     const gpurt_model_object_t *o,
                                     const gpurt_classdef_field_t *f)
{
    static const gpurt_model_value_t none;
    const gpurt_model_value_t *v = gpurt_objects_values(all, o, f);

    return v ? v : &none;
}

const gpurt_model_value_t *object_row(const gpurt_model_objects_t *all,
                                      const gpurt_model_object_t *o,
                                      const gpurt_classdef_field_t *f, uint32_t row)
{
    const gpurt_model_value_t *v = gpurt_objects_values(all, o, f);
    uint32_t columns = gpurt_classdef_columns(f);

    return v && row < f->count / columns && v[row * columns].now ? &v[row * columns] : NULL;
}

const char *object_cell(const gpurt_classdef_field_t *f, const gpurt_model_value_t *row,
                        uint32_t column, char buffer[24])
{
    static const gpurt_classdef_field_t plain;

    return object_amount(column ? &plain : f, row[column].now, buffer);
}

int object_percent(uint64_t part, uint64_t whole)
{
    if (part >= whole)
        return whole ? 100 : 0;
    return (int)((double)part * 100.0 / (double)whole + 0.5);
}

int object_full(const gpurt_model_objects_t *all, const gpurt_model_object_t *o)
{
    const gpurt_classdef_t *d = gpurt_objects_class(all, o->class_);
    const gpurt_classdef_field_t *f = d ? gpurt_classdef_full(d) : NULL;

    uint64_t part = f ? object_at(all, o, f)->now : GPURT_VALUE_UNKNOWN;
    uint64_t whole = f ? object_at(all, o, &d->fields[f->of - 1])->now : 0;

    return part != GPURT_VALUE_UNKNOWN && whole != GPURT_VALUE_UNKNOWN
               ? object_percent(part, whole)
               : -1;
}

bool object_is_trouble(const gpurt_classdef_field_t *f, uint64_t value)
{
    if (gpurt_field_is_number(f->kind) && value == GPURT_VALUE_UNKNOWN)
        return false;
    return value && (f->kind == GPURT_FIELD_FAULT || f->flags & GPURT_FIELD_TROUBLE);
}

const gpurt_model_object_t *object_referred(const gpurt_model_objects_t *all,
                                            const gpurt_model_object_t *o,
                                            const gpurt_classdef_field_t *f)
{
    uint64_t id = object_at(all, o, f)->now;

    for (uint32_t i = 0; i < all->count && f->kind == GPURT_FIELD_REFERENCE && id; i++) {
        const gpurt_model_object_t *other = &all->list[i];
        const gpurt_classdef_t *d = gpurt_objects_class(all, other->class_);

        if (d && strcmp(d->name, f->words) == 0 && other->told.id == id &&
            other->told.program == o->told.program && other->told.device == o->told.device)
            return other;
    }
    return NULL;
}

/* ---- plain --------------------------------------------------------------------------- */

/* "bytes 1.2 MiB (most 3 MiB)" */
static void plain_field(FILE *out, const gpurt_model_objects_t *all,
                        const gpurt_model_object_t *o, const gpurt_classdef_field_t *f,
                        const char *between)
{
    const gpurt_model_value_t *v = object_at(all, o, f);
    char name[GPURT_CLASS_NAME], text[OBJECT_TEXT], most[24];

    fputs(between, out);
    /* "heap heap 3" says it twice, and "-" alone nothing */
    if (f->kind != GPURT_FIELD_REFERENCE || v->now == 0 || strcmp(f->name, f->words) != 0)
        fprintf(out, "%s ", object_name(f->name, name));
    fputs(object_value(all, f, v->now, text), out);
    if (f->kind == GPURT_FIELD_GAUGE && v->peak > v->now) /* not of what is unknown */
        fprintf(out, " (most %s)", object_amount(f, v->peak, most));
}

/* "  waited: 3 from 1 us, 12 from 2 us": buckets that have something. */
static void plain_histogram(FILE *out, const gpurt_model_objects_t *all,
                            const gpurt_model_object_t *o, const gpurt_classdef_field_t *f)
{
    const gpurt_model_value_t *v = gpurt_objects_values(all, o, f);
    char name[GPURT_CLASS_NAME], from[24];
    const char *between = ": ";

    fprintf(out, "           %s", object_name(f->name, name));
    for (uint32_t i = 0; v && i < f->count; i++)
        if (v[i].now) {
            fprintf(out, "%s%" PRIu64 " from %s", between, v[i].now,
                    object_amount(f, i ? 1ull << i : 0, from));
            between = ", ";
        }
    fputs(*between == ':' ? ": nothing\n" : "\n", out);
}

/* A table: the columns' names behind the field's, a line for each row that has something. */
static void plain_matrix(FILE *out, const gpurt_model_objects_t *all,
                         const gpurt_model_object_t *o, const gpurt_classdef_field_t *f)
{
    char name[GPURT_CLASS_NAME], word[GPURT_CLASS_WORDS], amount[24];
    uint32_t columns = gpurt_classdef_columns(f);
    int margin = 11 + (int)strlen(f->name);
    bool headed = false;

    for (uint32_t r = 0; r < f->count / columns; r++) {
        const gpurt_model_value_t *row = object_row(all, o, f, r);

        if (row && !headed) {
            fprintf(out, "           %s", object_name(f->name, name));
            for (uint32_t c = 0; c < columns; c++)
                fprintf(out, " %*s", COLUMN, gpurt_field_word(f, c, word));
            fputc('\n', out);
            headed = true;
        }
        if (!row)
            continue;
        fprintf(out, "%*s", margin, "");
        for (uint32_t c = 0; c < columns; c++)
            fprintf(out, " %*s", COLUMN, object_cell(f, row, c, amount));
        fputc('\n', out);
    }
}

static void plain_object(FILE *out, const gpurt_model_objects_t *all,
                         const gpurt_model_object_t *o, const gpurt_classdef_t *d)
{
    char name[GPURT_CLASS_NAME];
    const char *between = "  ";

    fprintf(out, "%s %" PRIu32, object_name(d->name, name), o->told.id);
    if (all->programs > 1 && o->told.pid)
        fprintf(out, " of process %" PRIu32, o->told.pid);
    else if (all->programs > 1)
        fputs(" of another process", out);
    if (o->told.device != 0 && o->told.device != UINT32_MAX)
        fprintf(out, " on device %" PRIu32, o->told.device);
    if (o->told.flags & GPURT_OBJECT_ENDED)
        fputs(", ended", out);
    for (uint32_t i = 0; i < d->field_count; i++) {
        if (d->fields[i].kind == GPURT_FIELD_NONE || gpurt_field_is_list(d->fields[i].kind))
            continue;
        plain_field(out, all, o, &d->fields[i], between);
        between = ", ";
    }
    fputc('\n', out);
    for (uint32_t i = 0; i < d->field_count; i++)
        if (d->fields[i].kind == GPURT_FIELD_HISTOGRAM)
            plain_histogram(out, all, o, &d->fields[i]);
        else if (d->fields[i].kind == GPURT_FIELD_MATRIX)
            plain_matrix(out, all, o, &d->fields[i]);
}

void objects_plain(FILE *out, const gpurt_model_objects_t *all)
{
    if (all->allocs || all->frees)
        fprintf(out, "traced     %" PRIu64 " request%s, %" PRIu64 " free%s\n", all->allocs,
                gpurt_plural(all->allocs, "s"), all->frees, gpurt_plural(all->frees, "s"));
    for (uint32_t c = 0; c < all->class_count && c < GPURT_MODEL_CLASSES; c++)
        for (uint32_t i = 0; i < all->count && i < GPURT_MODEL_OBJECTS; i++)
            if (all->list[i].class_ == c)
                plain_object(out, all, &all->list[i], &all->classes[c].def);
    if (all->others)
        fprintf(out, "others     %" PRIu64 " record%s of objects that have no row here\n",
                all->others, gpurt_plural(all->others, "s"));
    if (all->forgotten)
        fprintf(out,
                "forgotten  %" PRIu64 " object%s that %s ended, for others that came: "
                "gpurt-log export has all\n",
                all->forgotten, gpurt_plural(all->forgotten, "s"),
                all->forgotten == 1 ? "has" : "have");
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_class(gpurt_json_t *j, const gpurt_classdef_t *d)
{
    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "name", d->name);
    gpurt_json_text(j, "plural", d->plural);
    gpurt_json_array(j, "fields");
    for (uint32_t i = 0; i < d->field_count; i++) {
        const gpurt_classdef_field_t *f = &d->fields[i];

        gpurt_json_object(j, NULL);
        gpurt_json_text(j, "name", f->name);
        gpurt_json_text(j, "kind", gpurt_field_kind_name(f->kind));
        gpurt_json_number(j, "count", f->count);
        if (f->unit[0])
            gpurt_json_text(j, "unit", f->unit);
        if (f->words[0])
            gpurt_json_text(j, "words", f->words);
        if (f->of)
            gpurt_json_text(j, "of", d->fields[f->of - 1].name);
        gpurt_json_bool(j, "trouble",
                        f->kind == GPURT_FIELD_FAULT || f->flags & GPURT_FIELD_TROUBLE);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}

static void json_list(gpurt_json_t *j, const gpurt_classdef_field_t *f,
                      const gpurt_model_value_t *v)
{
    gpurt_json_array(j, f->name);
    for (uint32_t i = 0; v && i < f->count; i++)
        gpurt_json_number(j, NULL,
                          f->kind == GPURT_FIELD_CELLS ? v[i / 8].now >> (i % 8 * 8) & 0xffu
                                                       : v[i].now);
    gpurt_json_array_end(j);
}

/* Its rows: {"bytes":64,"chunks":3} each. */
static void json_matrix(gpurt_json_t *j, const gpurt_model_objects_t *all,
                        const gpurt_model_object_t *o, const gpurt_classdef_field_t *f)
{
    uint32_t columns = gpurt_classdef_columns(f);
    char word[GPURT_CLASS_WORDS];

    gpurt_json_array(j, f->name);
    for (uint32_t r = 0; r < f->count / columns; r++) {
        const gpurt_model_value_t *row = object_row(all, o, f, r);

        if (!row)
            continue;
        gpurt_json_object(j, NULL);
        for (uint32_t c = 0; c < columns; c++)
            gpurt_json_number(j, gpurt_field_word(f, c, word), row[c].now);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void json_value(gpurt_json_t *j, const gpurt_model_objects_t *all,
                       const gpurt_model_object_t *o, const gpurt_classdef_field_t *f)
{
    const gpurt_model_value_t *v = gpurt_objects_values(all, o, f);
    char word[GPURT_CLASS_WORDS];

    if (f->kind == GPURT_FIELD_MATRIX)
        json_matrix(j, all, o, f);
    else if (gpurt_field_is_list(f->kind))
        json_list(j, f, v);
    else if (!v || (gpurt_field_is_number(f->kind) && v->now == GPURT_VALUE_UNKNOWN) ||
             (f->kind == GPURT_FIELD_TEXT && (v->now == 0 || v->now > GPURT_MODEL_TEXTS)))
        gpurt_json_null(j, f->name);
    else if (f->kind == GPURT_FIELD_TEXT)
        gpurt_json_text(j, f->name, all->texts[v->now - 1]);
    else if (f->kind == GPURT_FIELD_STATE)
        gpurt_json_text(j, f->name, gpurt_field_word(f, v->now, word));
    else
        gpurt_json_number(j, f->name, v->now);
}

/* What the model knows beside the last value: the most of a gauge, a counter's rate. */
static void json_more(gpurt_json_t *j, const gpurt_model_objects_t *all,
                      const gpurt_model_object_t *o, const gpurt_classdef_t *d)
{
    gpurt_json_object(j, "peaks");
    for (uint32_t i = 0; i < d->field_count; i++)
        if (d->fields[i].kind == GPURT_FIELD_GAUGE)
            gpurt_json_number(j, d->fields[i].name, object_at(all, o, &d->fields[i])->peak);
    gpurt_json_object_end(j);
    gpurt_json_object(j, "per_second");
    for (uint32_t i = 0; i < d->field_count; i++)
        if (d->fields[i].kind == GPURT_FIELD_COUNTER ||
            d->fields[i].kind == GPURT_FIELD_FAULT)
            gpurt_json_decimal(j, d->fields[i].name,
                               gpurt_objects_rate(o, object_at(all, o, &d->fields[i])), 1);
    gpurt_json_object_end(j);
}

static void json_object(gpurt_json_t *j, const gpurt_model_objects_t *all,
                        const gpurt_model_object_t *o, const gpurt_classdef_t *d)
{
    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "class", d->name);
    gpurt_json_number(j, "id", o->told.id);
    gpurt_json_known(j, "pid", o->told.pid != 0, o->told.pid);
    gpurt_json_number(j, "device", o->told.device);
    gpurt_json_number(j, "ts_ns", o->told.time_ns);
    gpurt_json_bool(j, "ended", o->told.flags & GPURT_OBJECT_ENDED);
    if (object_full(all, o) >= 0)
        gpurt_json_number(j, "full_percent", (uint64_t)object_full(all, o));
    gpurt_json_object(j, "fields");
    for (uint32_t i = 0; i < d->field_count; i++)
        if (d->fields[i].kind != GPURT_FIELD_NONE)
            json_value(j, all, o, &d->fields[i]);
    gpurt_json_object_end(j);
    json_more(j, all, o, d);
    gpurt_json_object_end(j);
}

void objects_json(gpurt_json_t *j, const char *key, const gpurt_model_objects_t *all)
{
    gpurt_json_object(j, key);
    gpurt_json_number(j, "without_place", all->others);
    gpurt_json_number(j, "forgotten", all->forgotten);
    gpurt_json_number(j, "processes", all->programs);
    gpurt_json_number(j, "traced_allocs", all->allocs);
    gpurt_json_number(j, "traced_frees", all->frees);
    gpurt_json_array(j, "classes");
    for (uint32_t i = 0; i < all->class_count && i < GPURT_MODEL_CLASSES; i++)
        json_class(j, &all->classes[i].def);
    gpurt_json_array_end(j);
    gpurt_json_array(j, "list");
    for (uint32_t i = 0; i < all->count && i < GPURT_MODEL_OBJECTS; i++) {
        const gpurt_classdef_t *d = gpurt_objects_class(all, all->list[i].class_);

        if (d)
            json_object(j, all, &all->list[i], d);
    }
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}
