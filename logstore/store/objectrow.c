/* SPDX-License-Identifier: Apache-2.0 */
#include "objectrow.h"

#include "plural.h"

#include <inttypes.h>
#include <string.h>

bool gpurt_objectrow_read(gpurt_objectrow_t *out, const gpurt_dictionary_t *d,
                          const gpurt_row_t *row)
{
    const uint32_t *words = gpurt_row_words(row);
    gpurt_site_info_t site;

    if (row->kind != GPURT_KIND_OBJECT || row->words < GPURT_OBJECT_HEAD_WORDS ||
        !gpurt_dictionary_get(d, row->site, &site) || site.kind != GPURT_DEF_SITE ||
        !gpurt_classdef_read(&out->def, site.format, site.format_bytes))
        return false;
    out->dictionary = d;
    out->id = words[0];
    out->first = gpurt_object_first(words[1]);
    out->ended = words[1] & GPURT_OBJECT_ENDED;
    out->count = gpurt_object_count(words[1]);
    out->words = words + GPURT_OBJECT_HEAD_WORDS;
    return GPURT_OBJECT_HEAD_WORDS + 2 * out->count <= row->words &&
           out->first + out->count <= out->def.value_count;
}

bool gpurt_objectrow_value(const gpurt_objectrow_t *o, const gpurt_classdef_field_t *f,
                           uint32_t i, uint64_t *value)
{
    uint32_t at = f->first + i;

    *value = 0;
    if (at < o->first || at >= o->first + o->count)
        return false;
    at -= o->first;
    *value = o->words[2 * at] | (uint64_t)o->words[2 * at + 1] << 32;
    return true;
}

bool gpurt_objectrow_has(const gpurt_objectrow_t *o, const gpurt_classdef_field_t *f)
{
    return f->kind != GPURT_FIELD_NONE && o->count > 0 && f->first < o->first + o->count &&
           f->first + gpurt_field_values(f->kind, f->count) > o->first;
}

const char *gpurt_field_word(const gpurt_classdef_field_t *f, uint64_t value,
                             char buffer[GPURT_CLASS_WORDS])
{
    const char *word = f->words;
    size_t length;

    for (; value > 0 && word; value--) {
        word = strchr(word, ',');
        word = word ? word + 1 : NULL;
    }
    if (!word)
        return "?";
    length = strcspn(word, ",");
    if (length == 0)
        return "?";
    memcpy(buffer, word, length);
    buffer[length] = '\0';
    return buffer;
}

/* ---- text ---------------------------------------------------------------------------- */

static void string_put(const gpurt_objectrow_t *o, uint64_t id, gpurt_text_t *out)
{
    if (id && id <= UINT32_MAX)
        gpurt_render_string(o->dictionary, (uint32_t)id, out);
    else
        gpurt_text_add(out, "-", 1);
}

/* How many it has; of buckets also the sum of those that are in the row. */
static void list_put(const gpurt_objectrow_t *o, const gpurt_classdef_field_t *f,
                     gpurt_text_t *out)
{
    uint64_t value, sum = 0;

    if (f->kind == GPURT_FIELD_CELLS) {
        gpurt_text_printf(out, "%u cell%s", f->count, gpurt_plural(f->count, "s"));
        return;
    }
    if (f->kind == GPURT_FIELD_MATRIX) {
        uint32_t rows = f->count / gpurt_classdef_columns(f);

        gpurt_text_printf(out, "%u row%s", rows, gpurt_plural(rows, "s"));
        return;
    }
    for (uint32_t i = 0; i < f->count; i++)
        if (gpurt_objectrow_value(o, f, i, &value))
            sum += value;
    gpurt_text_printf(out, "%u bucket%s of %" PRIu64, f->count, gpurt_plural(f->count, "s"),
                      sum);
}

static void value_put(const gpurt_objectrow_t *o, const gpurt_classdef_field_t *f,
                      uint64_t value, gpurt_text_t *out)
{
    char word[GPURT_CLASS_WORDS];

    switch (f->kind) {
    case GPURT_FIELD_STATE:
        gpurt_text_printf(out, "%s", gpurt_field_word(f, value, word));
        break;
    case GPURT_FIELD_TEXT:
        string_put(o, value, out);
        break;
    case GPURT_FIELD_HISTOGRAM:
    case GPURT_FIELD_CELLS:
    case GPURT_FIELD_MATRIX:
        list_put(o, f, out);
        break;
    default:
        if (value == GPURT_VALUE_UNKNOWN && gpurt_field_is_number(f->kind)) {
            gpurt_text_add(out, "-", 1);
            break;
        }
        gpurt_text_u64(out, value);
        if (f->unit[0])
            gpurt_text_printf(out, " %s", f->unit);
    }
}

/* Names of fields as people read them. */
static void name_put(const char *name, gpurt_text_t *out)
{
    for (; *name; name++)
        gpurt_text_add(out, *name == '_' ? " " : name, 1);
}

void gpurt_objectrow_text(const gpurt_objectrow_t *o, gpurt_text_t *out)
{
    const char *between = ": ";
    uint64_t value;

    name_put(o->def.name, out);
    gpurt_text_printf(out, " %" PRIu32, o->id);
    for (uint32_t i = 0; i < o->def.field_count; i++) {
        const gpurt_classdef_field_t *f = &o->def.fields[i];

        if (!gpurt_objectrow_has(o, f))
            continue;
        gpurt_objectrow_value(o, f, 0, &value);
        gpurt_text_printf(out, "%s", between);
        between = ", ";
        name_put(f->name, out);
        gpurt_text_add(out, " ", 1);
        value_put(o, f, value, out);
    }
    if (o->ended)
        gpurt_text_printf(out, "%sended", between);
}

/* ---- JSON ---------------------------------------------------------------------------- */

/* Whole, so that a reader sees where it is: what is in another row is null. */
static void json_list(const gpurt_objectrow_t *o, const gpurt_classdef_field_t *f,
                      gpurt_json_t *j)
{
    bool cells = f->kind == GPURT_FIELD_CELLS;
    uint64_t value;

    gpurt_json_array(j, f->name);
    for (uint32_t i = 0; i < f->count; i++) {
        bool known = gpurt_objectrow_value(o, f, cells ? i / 8 : i, &value);

        gpurt_json_known(j, NULL, known, cells ? value >> (i % 8 * 8) & 0xffu : value);
    }
    gpurt_json_array_end(j);
}

static void json_text(const gpurt_objectrow_t *o, const char *key, uint64_t id,
                      gpurt_json_t *j)
{
    gpurt_site_info_t info;

    if (!id || id > UINT32_MAX ||
        !gpurt_dictionary_get(o->dictionary, (uint32_t)id, &info) ||
        info.kind != GPURT_DEF_STRING)
        gpurt_json_null(j, key);
    else
        gpurt_json_bytes(j, key, info.format,
                         info.format_bytes < GPURT_OBJECTROW_TEXT ? info.format_bytes
                                                                  : GPURT_OBJECTROW_TEXT);
}

void gpurt_objectrow_json(const gpurt_objectrow_t *o, gpurt_json_t *j, const char *key)
{
    char word[GPURT_CLASS_WORDS];
    uint64_t value;

    gpurt_json_object(j, key);
    for (uint32_t i = 0; i < o->def.field_count; i++) {
        const gpurt_classdef_field_t *f = &o->def.fields[i];

        if (!gpurt_objectrow_has(o, f))
            continue;
        gpurt_objectrow_value(o, f, 0, &value);
        if (gpurt_field_is_list(f->kind))
            json_list(o, f, j);
        else if (f->kind == GPURT_FIELD_TEXT)
            json_text(o, f->name, value, j);
        else if (f->kind == GPURT_FIELD_STATE)
            gpurt_json_text(j, f->name, gpurt_field_word(f, value, word));
        else
            gpurt_json_known(
                j, f->name, value != GPURT_VALUE_UNKNOWN || !gpurt_field_is_number(f->kind),
                value);
    }
    gpurt_json_object_end(j);
}
