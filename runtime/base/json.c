/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include "utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

/* ---- bytes --------------------------------------------------------------------------- */

void gpurt_json_file(gpurt_json_t *j, FILE *out)
{
    j->out = out;
    j->at = j->own;
    j->room = sizeof j->own;
    j->used = 0;
    j->depth = 0;
    j->any = j->spaced = j->cut = false;
}

void gpurt_json_memory(gpurt_json_t *j, char *at, size_t room)
{
    gpurt_json_file(j, NULL);
    j->at = at;
    j->room = room;
    at[0] = '\0';
}

static void flush(gpurt_json_t *j)
{
    fwrite_unlocked(j->at, 1, j->used, j->out);
    j->used = 0;
}

/* Returns: false: it goes to the file at once, or not at all. */
static bool has_room(gpurt_json_t *j, size_t count)
{
    if (count < j->room - j->used)
        return true;
    j->cut = !j->out;
    if (j->out)
        flush(j);
    return j->out && count < j->room;
}

static void put(gpurt_json_t *j, const char *bytes, size_t count)
{
    if (j->cut)
        return;
    if (has_room(j, count)) {
        memcpy(j->at + j->used, bytes, count);
        j->used += count;
        j->at[j->used] = '\0';
    } else if (j->out)
        fwrite_unlocked(bytes, 1, count, j->out);
}

static void put_word(gpurt_json_t *j, const char *word)
{
    put(j, word, strlen(word));
}

/* ---- strings ------------------------------------------------------------------------- */

/* Of a character of so many bytes, 0: it is none. Returns: whether it stands as it is. */
static bool is_plain(size_t bytes, uint32_t code)
{
    return bytes && code != '"' && code != '\\' && !utf8_is_control(code) &&
           !utf8_deceives(code);
}

static void put_escape(gpurt_json_t *j, size_t bytes, uint32_t code)
{
    char text[16];

    if (!bytes)
        put_word(j, "\\ufffd");
    else if (code == '\n')
        put_word(j, "\\n");
    else if (code == '\t')
        put_word(j, "\\t");
    else if (code == '"' || code == '\\')
        put(j, (char[]){'\\', (char)code}, 2);
    else {
        if (code > 0xffff)
            snprintf(text, sizeof text, "\\u%04x\\u%04x", utf8_surrogate(code, 0),
                     utf8_surrogate(code, 1));
        else
            snprintf(text, sizeof text, "\\u%04x", (unsigned)code);
        put_word(j, text);
    }
}

/* How many bytes from `at` on are ASCII that stands as it is: most of all texts. */
static size_t ascii_run(const char *text, size_t at, size_t bytes)
{
    size_t from = at;

    while (at < bytes && text[at] >= ' ' && text[at] < 0x7f && text[at] != '"' &&
           text[at] != '\\')
        at++;
    return at - from;
}

/* What needs no escape goes in one piece. */
static void put_string(gpurt_json_t *j, const char *text, size_t bytes)
{
    size_t from = 0, at = 0;

    put(j, "\"", 1);
    while ((at += ascii_run(text, at, bytes)) < bytes) {
        uint32_t code = 0;
        size_t length = utf8_read(text + at, bytes - at, &code);

        if (!is_plain(length, code)) {
            put(j, text + from, at - from);
            put_escape(j, length, code);
            from = at + (length ? length : 1);
        }
        at += length ? length : 1;
    }
    put(j, text + from, at - from);
    put(j, "\"", 1);
}

/* ---- values -------------------------------------------------------------------------- */

static void begin(gpurt_json_t *j, const char *key)
{
    if (j->any)
        put(j, ", ", j->spaced ? 2 : 1);
    if (key) {
        put_string(j, key, strlen(key));
        put(j, ": ", j->spaced ? 2 : 1);
    }
}

static void end(gpurt_json_t *j)
{
    j->any = true;
    if (j->depth == 0 && j->out)
        flush(j);
}

static void open_with(gpurt_json_t *j, const char *key, const char *bracket)
{
    begin(j, key);
    put(j, bracket, 1);
    j->any = false;
    j->depth++;
}

static void close_with(gpurt_json_t *j, const char *bracket)
{
    put(j, bracket, 1);
    j->depth--;
    end(j);
}

void gpurt_json_object(gpurt_json_t *j, const char *key)
{
    open_with(j, key, "{");
}

void gpurt_json_object_end(gpurt_json_t *j)
{
    close_with(j, "}");
}

void gpurt_json_array(gpurt_json_t *j, const char *key)
{
    open_with(j, key, "[");
}

void gpurt_json_array_end(gpurt_json_t *j)
{
    close_with(j, "]");
}

void gpurt_json_raw(gpurt_json_t *j, const char *key, const char *json, size_t bytes)
{
    begin(j, key);
    put(j, json, bytes);
    end(j);
}

void gpurt_json_null(gpurt_json_t *j, const char *key)
{
    gpurt_json_raw(j, key, "null", 4);
}

void gpurt_json_bool(gpurt_json_t *j, const char *key, bool value)
{
    gpurt_json_raw(j, key, value ? "true" : "false", value ? 4 : 5);
}

void gpurt_json_number(gpurt_json_t *j, const char *key, uint64_t value)
{
    char digits[20]; /* a log has many: no printf */
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    gpurt_json_raw(j, key, digits + at, sizeof digits - at);
}

void gpurt_json_signed(gpurt_json_t *j, const char *key, int64_t value)
{
    char text[24];

    gpurt_json_raw(j, key, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

void gpurt_json_known(gpurt_json_t *j, const char *key, bool known, uint64_t value)
{
    if (known)
        gpurt_json_number(j, key, value);
    else
        gpurt_json_null(j, key);
}

void gpurt_json_decimal(gpurt_json_t *j, const char *key, double value, int digits)
{
    char text[GPURT_JSON_ROOM]; /* the longest double has 309 before the point */
    int bytes = snprintf(text, sizeof text, "%.*f", digits, value);

    if (!isfinite(value) || bytes < 0 || bytes >= (int)sizeof text)
        gpurt_json_null(j, key);
    else
        gpurt_json_raw(j, key, text, (size_t)bytes);
}

void gpurt_json_thousandths(gpurt_json_t *j, const char *key, uint64_t value)
{
    char text[24];

    gpurt_json_raw(j, key, text,
                   (size_t)snprintf(text, sizeof text, "%" PRIu64 ".%03u", value / 1000,
                                    (unsigned)(value % 1000)));
}

void gpurt_json_triple(gpurt_json_t *j, const char *key, uint32_t x, uint32_t y, uint32_t z)
{
    gpurt_json_array(j, key);
    gpurt_json_number(j, NULL, x);
    gpurt_json_number(j, NULL, y);
    gpurt_json_number(j, NULL, z);
    gpurt_json_array_end(j);
}

void gpurt_json_hex(gpurt_json_t *j, const char *key, uint64_t value)
{
    gpurt_json_printf(j, key, "0x%" PRIx64, value);
}

void gpurt_json_bytes(gpurt_json_t *j, const char *key, const char *text, size_t bytes)
{
    begin(j, key);
    put_string(j, bytes ? text : "", bytes);
    end(j);
}

void gpurt_json_text(gpurt_json_t *j, const char *key, const char *text)
{
    gpurt_json_bytes(j, key, text, strlen(text));
}

void gpurt_json_text_known(gpurt_json_t *j, const char *key, const char *text)
{
    if (text)
        gpurt_json_text(j, key, text);
    else
        gpurt_json_null(j, key);
}

void gpurt_json_printf(gpurt_json_t *j, const char *key, const char *fmt, ...)
{
    char text[GPURT_JSON_ROOM];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    gpurt_json_text(j, key, text);
}

/* ---- lines --------------------------------------------------------------------------- */

void gpurt_json_newline(gpurt_json_t *j)
{
    put(j, "\n", 1);
    end(j);
    j->any = false;
}

void gpurt_json_line(gpurt_json_t *j, const char *indent)
{
    put_word(j, j->any ? ",\n" : "\n");
    put_word(j, indent);
    j->any = false;
}
