/* SPDX-License-Identifier: Apache-2.0 */
#include "filter_field.h"

#include "nearest.h"
#include "panic_category.h"
#include "render.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LANE_MOST = GPURT_WARP_SIZE - 1,
    WARP_MOST = GPURT_MAX_BLOCK_THREADS / GPURT_WARP_SIZE - 1,
    LIST = 320
};

/* ---- words that are numbers ---------------------------------------------------------- */

static const char *level_name(uint32_t i, uint32_t *number)
{
    *number = i;
    return i <= GPURT_LEVEL_LOST ? gpurt_level_name(i) : NULL;
}

/* Each word of the table of kinds once; "other": an activity of a later version. NULL ends. */
static const char *kind_words[GPURT_KINDS + 1];
static pthread_once_t kind_words_once = PTHREAD_ONCE_INIT;

static void kind_words_find(void)
{
    for (uint32_t kind = 0, count = 0; kind < GPURT_KINDS; kind++) {
        uint32_t i = 0;

        while (i < count && strcmp(kind_words[i], gpurt_kind_word(kind)) != 0)
            i++;
        kind_words[i] = gpurt_kind_word(kind);
        count += i == count;
    }
}

static const char *kind_name(uint32_t i, uint32_t *number)
{
    pthread_once(&kind_words_once, kind_words_find);
    *number = i;
    return kind_words[i];
}

static const char *category_name(uint32_t i, uint32_t *number)
{
    const faultkind_t *kind = panic_category_at(i);

    *number = kind ? kind->number : 0;
    return kind ? kind->id : NULL;
}

static const char *back_end_name(uint32_t i, uint32_t *number)
{
    static const char *const names[] = {"cuda", "cpu", "host"};

    *number = i;
    return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

/* ---- the table ----------------------------------------------------------------------- */

#define NAMES(...)  .names = {__VA_ARGS__}
#define NUMBER(...) NAMES(__VA_ARGS__), .as = FILTER_AS_NUMBER, .ordered = true
#define TEXT(...)   NAMES(__VA_ARGS__), .as = FILTER_AS_TEXT
static const filter_row_t table[FILTER_FIELDS] = {
    [FILTER_WORD] = {NAMES("text")},
    [FILTER_LEVEL] = {NAMES("level", "lvl"), .name = level_name, .ordered = true},
    [FILTER_KIND] = {NAMES("kind"), .name = kind_name},
    [FILTER_CATEGORY] = {NAMES("category", "cat"), .name = category_name},
    [FILTER_BACK_END] = {NAMES("back_end", "backend"), .name = back_end_name},
    [FILTER_MESSAGE] = {TEXT("msg", "message", "text"), .lacking = "the end of msg"},
    [FILTER_NAME] = {TEXT("name")},
    [FILTER_KERNEL] = {TEXT("kernel")},
    [FILTER_FUNCTION] = {TEXT("func", "function")},
    [FILTER_SITE] = {NAMES("site"), .as = FILTER_AS_PLACE, .lacking = "the folder of file"},
    [FILTER_FILE] = {TEXT("file"), .lacking = "the folder of file"},
    [FILTER_LINE] = {NUMBER("line"), .most = UINT32_MAX},
    [FILTER_PID] = {NUMBER("pid"), .most = UINT32_MAX},
    [FILTER_DEVICE] = {NUMBER("device", "dev"), .most = UINT32_MAX},
    [FILTER_GPU] = {NUMBER("gpu"), .most = UINT32_MAX},
    [FILTER_CPU] = {NUMBER("cpu"), .most = UINT32_MAX},
    [FILTER_SM] = {NUMBER("sm"), .most = UINT16_MAX},
    [FILTER_SLOT] = {NUMBER("slot"), .most = UINT16_MAX},
    [FILTER_BLOCK] = {NAMES("block"), .as = FILTER_AS_TRIPLE, .ordered = true,
                      .most = UINT32_MAX, .lacking = "x,y,z of block"},
    [FILTER_WARP] = {NUMBER("warp"), .most = WARP_MOST},
    [FILTER_LANE] = {NAMES("lane", "lanes"), .as = FILTER_AS_LANES, .ordered = true,
                     .most = LANE_MOST},
    [FILTER_THREAD] = {NAMES("thread"), .as = FILTER_AS_TRIPLE, .ordered = true,
                       .most = UINT32_MAX, .lacking = "x,y,z of thread"},
};

const filter_row_t *filter_field_row(uint32_t field)
{
    return &table[field];
}

static bool is_word(const char *word, const char *text, size_t bytes)
{
    return strlen(word) == bytes && strncasecmp(word, text, bytes) == 0;
}

uint32_t filter_field_find(const char *name, size_t bytes)
{
    for (uint32_t field = FILTER_LEVEL; field < FILTER_FIELDS; field++)
        for (size_t i = 0; i < 3 && table[field].names[i]; i++)
            if (is_word(table[field].names[i], name, bytes))
                return field;
    return FILTER_FIELDS;
}

uint32_t filter_field_number(uint32_t field, const char *word)
{
    const char *name;
    uint32_t number;

    for (uint32_t i = 0; (name = table[field].name(i, &number)) != NULL; i++)
        if (strcasecmp(name, word) == 0)
            return number;
    return UINT32_MAX;
}

/* ---- comparisons --------------------------------------------------------------------- */

static const char *const compares[] = {"=", "!=", "<", "<=", ">", ">=", "~", "!~"};

const char *filter_compare_text(uint32_t compare)
{
    return compares[compare];
}

/* The longest that fits; "==" is one of other languages. */
size_t filter_compare_read(const char *text, uint8_t *compare)
{
    size_t best = 0;

    *compare = FILTER_EQUAL;
    for (uint32_t i = 0; i < sizeof compares / sizeof compares[0]; i++) {
        size_t bytes = strlen(compares[i]);

        if (bytes > best && strncmp(text, compares[i], bytes) == 0) {
            best = bytes;
            *compare = (uint8_t)i;
        }
    }
    return best == 1 && strncmp(text, "==", 2) == 0 ? 2 : best;
}

/* Returns: false, with what the field takes, where the comparison means nothing to it. */
static bool compare_check(const filter_step_t *s, bool triple, char why[FILTER_WHY])
{
    const filter_row_t *row = &table[s->field];
    bool text = row->as == FILTER_AS_TEXT || row->as == FILTER_AS_PLACE;
    bool ordered = row->ordered && !triple;

    if (s->compare == FILTER_EQUAL || s->compare == FILTER_OTHER ||
        (s->compare >= FILTER_HAS ? text : ordered))
        return true;
    snprintf(why, FILTER_WHY, "%s%s takes %s, not %s", row->names[0],
             triple ? " with x,y,z" : "",
             text      ? "= != ~ !~"
             : ordered ? "= != < <= > >="
                       : "= and !=",
             filter_compare_text(s->compare));
    return false;
}

/* ---- values -------------------------------------------------------------------------- */

/* What a user typed, cut where it is long. */
static int shown(size_t bytes)
{
    return bytes < 40 ? (int)bytes : 40;
}

static void names_list(const filter_row_t *row, char list[LIST])
{
    const char *name;
    uint32_t number;
    size_t used = 0;

    list[0] = '\0';
    for (uint32_t i = 0; (name = row->name(i, &number)) != NULL && used < LIST; i++)
        used += (size_t)snprintf(list + used, LIST - used, "%s%s", i ? ", " : "", name);
    for (char *c = list; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
}

static bool name_read(filter_step_t *s, const char *value, size_t bytes,
                      char why[FILTER_WHY])
{
    const filter_row_t *row = &table[s->field];
    char list[LIST];
    const char *name;
    uint32_t number;

    for (uint32_t i = 0; (name = row->name(i, &number)) != NULL; i++)
        if (is_word(name, value, bytes)) {
            s->number = number;
            return true;
        }
    names_list(row, list);
    if (bytes)
        snprintf(why, FILTER_WHY, "no %s is called '%.*s'; there are %s", row->names[0],
                 shown(bytes), value, list);
    else
        snprintf(why, FILTER_WHY, "%s%s wants one of %s", row->names[0],
                 filter_compare_text(s->compare), list);
    return false;
}

/* Decimal, or hexadecimal after 0x. *end: behind it. */
static bool number_read(const char *value, size_t bytes, uint64_t most, uint64_t *number,
                        size_t *end)
{
    bool hex = bytes > 2 && value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
    const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";
    size_t at = hex ? 2 : 0, first = at;

    *number = 0;
    for (; at < bytes && value[at] && strchr(digits, value[at]); at++) {
        const char c = value[at];
        uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);

        *number = *number > most ? *number : *number * (hex ? 16 : 10) + digit;
    }
    *end = at;
    return at > first && *number <= most;
}

static bool number_refuse(const filter_step_t *s, const char *value, size_t bytes,
                          char why[FILTER_WHY])
{
    const filter_row_t *row = &table[s->field];
    const char *triple = row->as == FILTER_AS_TRIPLE ? ", or x,y,z" : "";

    if (bytes)
        snprintf(why, FILTER_WHY, "%s is a number from 0 to %u%s, not '%.*s'",
                 row->names[0], row->most, triple, shown(bytes), value);
    else
        snprintf(why, FILTER_WHY, "%s%s wants a number from 0 to %u%s", row->names[0],
                 filter_compare_text(s->compare), row->most, triple);
    return false;
}

/* "12", "3,0,1", "3,1", in parentheses or not, as panics and kernels print them. */
static bool triple_read(filter_step_t *s, const char *value, size_t bytes,
                        char why[FILTER_WHY])
{
    uint64_t numbers[3] = {0};
    size_t at = 0, end, count = 0;
    bool open = bytes > 1 && value[0] == '(' && value[bytes - 1] == ')';
    size_t last = bytes - open;

    at += open;
    for (; count < 3; at++) {
        while (at < last && value[at] == ' ')
            at++;
        if (at >= last || !number_read(value + at, last - at, table[s->field].most,
                                       &numbers[count], &end))
            return number_refuse(s, value, bytes, why);
        count++;
        at += end;
        if (at >= last || value[at] != ',')
            break;
    }
    if (at != last)
        return number_refuse(s, value, bytes, why);
    s->number = numbers[0];
    s->y = (uint32_t)numbers[1];
    s->z = (uint32_t)numbers[2];
    s->sharp = count > 1;
    return compare_check(s, s->sharp, why);
}

/* A text of FILE:LINE; what has no number behind a colon is a file. */
static bool place_read(filter_step_t *s, const char *value, size_t bytes)
{
    const char *colon = memrchr(value, ':', bytes);
    size_t end, file = colon ? (size_t)(colon - value) : bytes;

    if (colon && s->compare < FILTER_HAS &&
        number_read(colon + 1, bytes - file - 1, UINT32_MAX, &s->number, &end) &&
        end == bytes - file - 1) {
        s->sharp = true;
        s->bytes = (uint16_t)file;
    }
    return true;
}

bool filter_field_value(filter_step_t *s, const char *value, size_t bytes,
                        char why[FILTER_WHY])
{
    const filter_row_t *row = &table[s->field];
    size_t end;

    if (!compare_check(s, false, why))
        return false;
    switch (row->as) {
    case FILTER_AS_NAME:
        return name_read(s, value, bytes, why);
    case FILTER_AS_TRIPLE:
        return triple_read(s, value, bytes, why);
    case FILTER_AS_NUMBER:
    case FILTER_AS_LANES:
        return (number_read(value, bytes, row->most, &s->number, &end) && end == bytes) ||
               number_refuse(s, value, bytes, why);
    case FILTER_AS_PLACE:
        return place_read(s, value, bytes);
    default:
        return true;
    }
}

void filter_field_refuse(const char *name, size_t bytes, char why[FILTER_WHY])
{
    char typed[NEAREST_MAX + 1];
    nearest_t nearest = {.typed = typed};
    size_t used;

    snprintf(typed, sizeof typed, "%.*s", shown(bytes), name);
    for (uint32_t field = FILTER_LEVEL; field < FILTER_FIELDS; field++)
        nearest_try(&nearest, table[field].names[0]);
    used =
        (size_t)snprintf(why, FILTER_WHY, "no field is called '%.*s'", shown(bytes), name);
    if (nearest_found(&nearest)) {
        snprintf(why + used, FILTER_WHY - used, "; did you mean %s?",
                 nearest_found(&nearest));
        return;
    }
    for (uint32_t field = FILTER_LEVEL; field < FILTER_FIELDS && used < FILTER_WHY; field++)
        used += (size_t)snprintf(why + used, FILTER_WHY - used, "%s%s",
                                 field == FILTER_LEVEL ? "; there are " : ", ",
                                 table[field].names[0]);
}
