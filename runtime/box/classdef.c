/* SPDX-License-Identifier: Apache-2.0 */
#include "classdef.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KINDS = GPURT_FIELD_MATRIX + 1
};
/* Of names. */
static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
static const char *const kinds[KINDS] = {
    "?",    "gauge",     "counter", "limit",     "peak",  "fault", "state",
    "time", "reference", "text",    "histogram", "cells", "matrix"};

const char *gpurt_field_kind_name(uint32_t kind)
{
    return kinds[kind < KINDS ? kind : GPURT_FIELD_NONE];
}

static uint16_t kind_named(const char *name)
{
    for (uint32_t i = 1; i < KINDS; i++)
        if (strcmp(kinds[i], name) == 0)
            return (uint16_t)i;
    return GPURT_FIELD_NONE;
}

/* ---- rules --------------------------------------------------------------------------- */

static bool is_name(const char *text)
{
    size_t length = text ? strlen(text) : 0;

    return length > 0 && length < GPURT_CLASS_NAME && strspn(text, LETTERS) == length;
}

/* Printable ASCII without the space, which parts words. */
static bool is_word(const char *text, size_t room)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return length > 0 && length < room;
}

/* A count of its own have lists alone. */
static bool count_fits(uint32_t kind, uint32_t count)
{
    return gpurt_field_is_list(kind) ? count > 0 && count <= GPURT_CLASS_VALUES * 8
                                     : count <= 1;
}

static bool field_fits(const gpurt_field_t *f)
{
    return is_name(f->name) && f->kind > GPURT_FIELD_NONE && f->kind < KINDS &&
           count_fits(f->kind, f->count) &&
           (!f->unit || is_word(f->unit, GPURT_CLASS_UNIT)) &&
           (!f->words || is_word(f->words, GPURT_CLASS_WORDS)) &&
           (!f->of || is_name(f->of));
}

/* ---- to a text ----------------------------------------------------------------------- */

static size_t field_write(const gpurt_field_t *f, char *to, size_t room)
{
    char count[24] = "";

    if (f->count > 1)
        snprintf(count, sizeof count, " count=%u", f->count);
    return (size_t)snprintf(to, room, "%s %s%s%s%s%s%s%s%s%s%s\n", f->name, kinds[f->kind],
                            count, f->unit ? " unit=" : "", f->unit ? f->unit : "",
                            f->words ? " words=" : "", f->words ? f->words : "",
                            f->of ? " of=" : "", f->of ? f->of : "",
                            f->flags & GPURT_FIELD_TROUBLE ? " trouble" : "",
                            f->flags & GPURT_FIELD_PARENT ? " parent" : "");
}

size_t gpurt_classdef_write(const gpurt_class_t *class_, char *to, size_t room)
{
    size_t used = 0;
    gpurt_classdef_t read;

    if (!is_name(class_->name) || !is_name(class_->plural) ||
        class_->field_count > GPURT_CLASS_FIELDS)
        return 0;
    used = (size_t)snprintf(to, room, "%s %s\n", class_->name, class_->plural);
    for (uint32_t i = 0; i < class_->field_count && used < room; i++) {
        if (!field_fits(&class_->fields[i]))
            return 0;
        used += field_write(&class_->fields[i], to + used, room - used);
    }
    return used < room && gpurt_classdef_read(&read, to, used) ? used : 0;
}

/* ---- from a text --------------------------------------------------------------------- */

/* The next word of a line that ends at `end`; one that does not fit is "". Returns: behind it,
 * NULL: there is none. */
static const char *word_next(const char *at, const char *end, char *word, size_t room)
{
    size_t length = 0;

    while (at < end && *at == ' ')
        at++;
    while (at + length < end && at[length] != ' ')
        length++;
    if (length == 0)
        return NULL;
    word[0] = '\0';
    if (length < room) {
        memcpy(word, at, length);
        word[length] = '\0';
    }
    return at + length;
}

/* "unit=B": what stands behind, NULL: it is another word. */
static const char *behind(const char *word, const char *key)
{
    size_t length = strlen(key);

    return strncmp(word, key, length) == 0 ? word + length : NULL;
}

static bool copy_word(char *to, size_t room, const char *from)
{
    if (!is_word(from, room))
        return false;
    memcpy(to, from, strlen(from) + 1);
    return true;
}

/* A share of a limit has what goes up and down, and its most. */
static bool has_limit(uint32_t kind)
{
    return kind == GPURT_FIELD_GAUGE || kind == GPURT_FIELD_PEAK;
}

/* Limits stand before what is measured by them. */
static bool limit_read(const gpurt_classdef_t *d, gpurt_classdef_field_t *f,
                       const char *name)
{
    const gpurt_classdef_field_t *of = gpurt_classdef_find(d, name);

    f->of = of ? (uint16_t)(of - d->fields + 1) : 0;
    return of && of->kind == GPURT_FIELD_LIMIT && has_limit(f->kind);
}

/* Digits alone: strtoul would take signs. */
static bool count_read(gpurt_classdef_field_t *f, const char *text)
{
    size_t length = strlen(text);
    unsigned long count = strtoul(text, NULL, 10);

    if (length > 5 || strspn(text, "0123456789") != length ||
        count > GPURT_CLASS_VALUES * 8)
        return false;
    f->count = (uint16_t)count;
    return count > 0;
}

static bool detail_read(const gpurt_classdef_t *d, gpurt_classdef_field_t *f,
                        const char *word)
{
    const char *text;

    if ((text = behind(word, "unit=")))
        return copy_word(f->unit, sizeof f->unit, text);
    if ((text = behind(word, "words=")))
        return copy_word(f->words, sizeof f->words, text);
    if ((text = behind(word, "of=")))
        return limit_read(d, f, text);
    if ((text = behind(word, "count=")))
        return count_read(f, text);
    if (strcmp(word, "trouble") == 0)
        f->flags |= GPURT_FIELD_TROUBLE;
    if (strcmp(word, "parent") == 0)
        f->flags |= GPURT_FIELD_PARENT;
    return is_word(word, 128);
}

static bool field_read(gpurt_classdef_t *d, const char *at, const char *end)
{
    gpurt_classdef_field_t *f = &d->fields[d->field_count];
    char word[128];

    memset(f, 0, sizeof *f);
    f->count = 1;
    f->first = (uint16_t)d->value_count;
    at = word_next(at, end, f->name, sizeof f->name);
    if (!at || !is_name(f->name) || gpurt_classdef_find(d, f->name) ||
        !(at = word_next(at, end, word, sizeof word)))
        return false;
    f->kind = kind_named(word);
    /* What is said of an unknown kind may mean anything. */
    while (f->kind && (at = word_next(at, end, word, sizeof word)))
        if (!detail_read(d, f, word))
            return false;
    if ((f->kind && !count_fits(f->kind, f->count)) ||
        (f->kind == GPURT_FIELD_TEXT && f->first >= GPURT_OBJECT_TEXTS))
        return false;
    d->value_count += gpurt_field_values(f->kind, f->count);
    d->field_count++;
    return d->value_count <= GPURT_CLASS_VALUES;
}

/* Printable ASCII in lines. A byte of zero would end what it stands in early. */
static bool is_plain(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] != '\n' && (text[i] < ' ' || text[i] > '~'))
            return false;
    return true;
}

bool gpurt_classdef_read(gpurt_classdef_t *out, const char *text, size_t bytes)
{
    const char *at = text, *end = text + bytes;

    memset(out, 0, sizeof *out);
    if (!is_plain(text, bytes))
        return false;
    for (bool first = true; at < end; first = false) {
        const char *line = memchr(at, '\n', (size_t)(end - at));

        line = line ? line : end;
        if (first) {
            at = word_next(at, line, out->name, sizeof out->name);
            at = at ? word_next(at, line, out->plural, sizeof out->plural) : NULL;
            if (!at || !is_name(out->name) || !is_name(out->plural))
                return false;
        } else if (out->field_count == GPURT_CLASS_FIELDS || !field_read(out, at, line)) {
            return false;
        }
        at = line + 1;
    }
    return out->name[0] != '\0';
}

/* What a name or a word must not hold becomes `other`. */
static void text_end(char *text, size_t room, bool name, char other)
{
    text[room - 1] = '\0';
    for (; *text; text++)
        if (*text <= ' ' || *text > '~' || (name && !strchr(LETTERS, *text)))
            *text = other;
}

void gpurt_classdef_end(gpurt_classdef_t *d)
{
    text_end(d->name, sizeof d->name, true, '_');
    text_end(d->plural, sizeof d->plural, true, '_');
    if (d->field_count > GPURT_CLASS_FIELDS)
        d->field_count = GPURT_CLASS_FIELDS;
    for (uint32_t i = 0; i < GPURT_CLASS_FIELDS; i++) {
        gpurt_classdef_field_t *f = &d->fields[i];

        text_end(f->name, sizeof f->name, true, '_');
        text_end(f->unit, sizeof f->unit, false, '?');
        text_end(f->words, sizeof f->words, false, '?');
        f->of = f->of <= d->field_count ? f->of : 0;
    }
}

/* ---- fields -------------------------------------------------------------------------- */

const gpurt_classdef_field_t *gpurt_classdef_find(const gpurt_classdef_t *d,
                                                  const char *name)
{
    for (uint32_t i = 0; i < d->field_count; i++)
        if (strcmp(d->fields[i].name, name) == 0)
            return &d->fields[i];
    return NULL;
}

const gpurt_classdef_field_t *gpurt_classdef_full(const gpurt_classdef_t *d)
{
    for (uint32_t i = 0; i < d->field_count; i++)
        if (d->fields[i].of && d->fields[i].of <= d->field_count)
            return &d->fields[i];
    return NULL;
}

uint32_t gpurt_classdef_columns(const gpurt_classdef_field_t *f)
{
    uint32_t columns = 1;

    for (const char *at = f->words; *at; at++)
        columns += *at == ',';
    return columns;
}
