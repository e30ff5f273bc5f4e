/* SPDX-License-Identifier: Apache-2.0 */
#include "object_text.h"

#include "activity_text.h"
#include "objectrow.h"
#include "plural.h"
#include "render.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

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
    if (f->kind != GPURT_FIELD_REFERENCE || strcmp(f->name, f->words) != 0)
        fprintf(out, "%s ", object_name(f->name, name)); /* "heap heap 3" says it twice */
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

/* "  size classes: bytes 64 B, chunks 3, live 3000": a line for each row. */
static void plain_matrix(FILE *out, const gpurt_model_objects_t *all,
                         const gpurt_model_object_t *o, const gpurt_classdef_field_t *f)
{
    char name[GPURT_CLASS_NAME], word[GPURT_CLASS_WORDS], amount[24];
    uint32_t columns = gpurt_classdef_columns(f);

    for (uint32_t r = 0; r < f->count / columns; r++) {
        const gpurt_model_value_t *row = object_row(all, o, f, r);

        if (!row)
            continue;
        fprintf(out, "           %s", object_name(f->name, name));
        for (uint32_t c = 0; c < columns; c++)
            fprintf(out, "%s %s %s", c ? "," : ":", gpurt_field_word(f, c, word),
                    object_cell(f, row, c, amount));
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
        fprintf(out,
                "others     %" PRIu64 " records are of objects that have no row here\n",
                all->others);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_string(FILE *out, const char *text)
{
    char room[6 * GPURT_MODEL_TEXT + 1];
    gpurt_text_t escaped;

    gpurt_text_init(&escaped, room, sizeof room);
    gpurt_render_json(&escaped, text, strlen(text));
    fprintf(out, "\"%s\"", room);
}

static void json_pair(FILE *out, const char *key, const char *text)
{
    fprintf(out, ",\"%s\":", key);
    json_string(out, text);
}

static void json_class(FILE *out, const gpurt_classdef_t *d)
{
    fprintf(out, "{\"name\":\"%s\",\"plural\":\"%s\",\"fields\":[", d->name, d->plural);
    for (uint32_t i = 0; i < d->field_count; i++) {
        const gpurt_classdef_field_t *f = &d->fields[i];

        fprintf(out, "%s{\"name\":\"%s\",\"kind\":\"%s\",\"count\":%u", i ? "," : "",
                f->name, gpurt_field_kind_name(f->kind), f->count);
        if (f->unit[0])
            json_pair(out, "unit", f->unit);
        if (f->words[0])
            json_pair(out, "words", f->words);
        if (f->of)
            json_pair(out, "of", d->fields[f->of - 1].name);
        fprintf(out, ",\"trouble\":%s}",
                f->kind == GPURT_FIELD_FAULT || f->flags & GPURT_FIELD_TROUBLE ? "true"
                                                                               : "false");
    }
    fputs("]}", out);
}

static void json_list(FILE *out, const gpurt_classdef_field_t *f,
                      const gpurt_model_value_t *v)
{
    fputc('[', out);
    for (uint32_t i = 0; v && i < f->count; i++)
        fprintf(out, "%s%" PRIu64, i ? "," : "",
                f->kind == GPURT_FIELD_CELLS ? v[i / 8].now >> (i % 8 * 8) & 0xffu
                                             : v[i].now);
    fputc(']', out);
}

/* Its rows: {"bytes":64,"chunks":3} each. */
static void json_matrix(FILE *out, const gpurt_model_objects_t *all,
                        const gpurt_model_object_t *o, const gpurt_classdef_field_t *f)
{
    uint32_t columns = gpurt_classdef_columns(f);
    const char *between = "[";
    char word[GPURT_CLASS_WORDS];

    for (uint32_t r = 0; r < f->count / columns; r++) {
        const gpurt_model_value_t *row = object_row(all, o, f, r);

        if (!row)
            continue;
        for (uint32_t c = 0; c < columns; c++) {
            fputs(c ? "," : between, out);
            fputs(c ? "" : "{", out);
            json_string(out, gpurt_field_word(f, c, word));
            fprintf(out, ":%" PRIu64, row[c].now);
        }
        fputc('}', out);
        between = ",";
    }
    fputs(*between == '[' ? "[]" : "]", out);
}

static void json_value(FILE *out, const gpurt_model_objects_t *all,
                       const gpurt_model_object_t *o, const gpurt_classdef_field_t *f)
{
    const gpurt_model_value_t *v = gpurt_objects_values(all, o, f);
    char word[GPURT_CLASS_WORDS];

    if (f->kind == GPURT_FIELD_MATRIX)
        json_matrix(out, all, o, f);
    else if (gpurt_field_is_list(f->kind))
        json_list(out, f, v);
    else if (!v || (gpurt_field_is_number(f->kind) && v->now == GPURT_VALUE_UNKNOWN) ||
             (f->kind == GPURT_FIELD_TEXT && (v->now == 0 || v->now > GPURT_MODEL_TEXTS)))
        fputs("null", out);
    else if (f->kind == GPURT_FIELD_TEXT)
        json_string(out, all->texts[v->now - 1]);
    else if (f->kind == GPURT_FIELD_STATE)
        json_string(out, gpurt_field_word(f, v->now, word));
    else
        fprintf(out, "%" PRIu64, v->now);
}

/* What the model knows beside the last value: the most of a gauge, a counter's rate. */
static void json_more(FILE *out, const gpurt_model_objects_t *all,
                      const gpurt_model_object_t *o, const gpurt_classdef_t *d)
{
    const char *between = "";

    fputs("},\"peaks\":{", out);
    for (uint32_t i = 0; i < d->field_count; i++)
        if (d->fields[i].kind == GPURT_FIELD_GAUGE) {
            fprintf(out, "%s\"%s\":%" PRIu64, between, d->fields[i].name,
                    object_at(all, o, &d->fields[i])->peak);
            between = ",";
        }
    fputs("},\"per_second\":{", out);
    between = "";
    for (uint32_t i = 0; i < d->field_count; i++)
        if (d->fields[i].kind == GPURT_FIELD_COUNTER ||
            d->fields[i].kind == GPURT_FIELD_FAULT) {
            fprintf(out, "%s\"%s\":%.1f", between, d->fields[i].name,
                    gpurt_objects_rate(o, object_at(all, o, &d->fields[i])));
            between = ",";
        }
    fputs("}}", out);
}

static void json_object(FILE *out, const gpurt_model_objects_t *all,
                        const gpurt_model_object_t *o, const gpurt_classdef_t *d)
{
    const char *between = "";

    fprintf(out, "{\"class\":\"%s\",\"id\":%" PRIu32, d->name, o->told.id);
    if (o->told.pid)
        fprintf(out, ",\"pid\":%" PRIu32, o->told.pid);
    else
        fputs(",\"pid\":null", out);
    fprintf(out, ",\"device\":%" PRIu32 ",\"ts_ns\":%" PRIu64 ",\"ended\":%s",
            o->told.device, o->told.time_ns,
            o->told.flags & GPURT_OBJECT_ENDED ? "true" : "false");
    if (object_full(all, o) >= 0)
        fprintf(out, ",\"full_percent\":%d", object_full(all, o));
    fputs(",\"fields\":{", out);
    for (uint32_t i = 0; i < d->field_count; i++) {
        const gpurt_classdef_field_t *f = &d->fields[i];

        if (f->kind == GPURT_FIELD_NONE)
            continue;
        fprintf(out, "%s\"%s\":", between, f->name);
        json_value(out, all, o, f);
        between = ",";
    }
    json_more(out, all, o, d);
}

void objects_json(FILE *out, const gpurt_model_objects_t *all)
{
    const char *between = "";

    fprintf(out,
            "{\"without_place\":%" PRIu64 ",\"processes\":%" PRIu64
            ",\"traced_allocs\":%" PRIu64 ",\"traced_frees\":%" PRIu64 ",\"classes\":[",
            all->others, all->programs, all->allocs, all->frees);
    for (uint32_t i = 0; i < all->class_count && i < GPURT_MODEL_CLASSES; i++) {
        fputs(i ? "," : "", out);
        json_class(out, &all->classes[i].def);
    }
    fputs("],\"list\":[", out);
    for (uint32_t i = 0; i < all->count && i < GPURT_MODEL_OBJECTS; i++) {
        const gpurt_classdef_t *d = gpurt_objects_class(all, all->list[i].class_);

        if (!d)
            continue;
        fputs(between, out);
        between = ",";
        json_object(out, all, &all->list[i], d);
    }
    fputs("]}", out);
}
