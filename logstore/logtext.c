/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded texts and their escapes. */
#include "render.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void gpurt_text_init(gpurt_text_t *text, char *at, size_t room)
{
    text->at = at;
    text->room = room;
    text->used = 0;
    at[0] = '\0';
}

void gpurt_text_add(gpurt_text_t *text, const char *bytes, size_t count)
{
    size_t left = text->room - 1 - text->used;

    count = count < left ? count : left;
    memcpy(text->at + text->used, bytes, count);
    text->used += count;
    text->at[text->used] = '\0';
}

void gpurt_text_printf(gpurt_text_t *text, const char *fmt, ...)
{
    size_t left = text->room - text->used;
    va_list args;
    int count;

    va_start(args, fmt);
    count = vsnprintf(text->at + text->used, left, fmt, args);
    va_end(args);
    if (count > 0)
        text->used += (size_t)count < left ? (size_t)count : left - 1;
}

void gpurt_text_u64(gpurt_text_t *text, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    gpurt_text_add(text, digits + at, sizeof digits - at);
}

/* Bytes of the UTF-8 character at p, 0 when there is none or it is a control character (C1
 * ones included: a terminal obeys them). */
static size_t utf8_at(const uint8_t *p, size_t left)
{
    size_t count = p[0] < 0x80                   ? 1
                   : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                   : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                   : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                                 : 0;

    if (count == 0 || count > left)
        return 0;
    if (count == 1)
        return p[0] >= 0x20 && p[0] != 0x7f;
    for (size_t i = 1; i < count; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((count == 2 && p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xe0 && p[1] < 0xa0) ||
        (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    return count;
}

static void escape(gpurt_text_t *out, const char *bytes, size_t count, bool json)
{
    const uint8_t *p = (const uint8_t *)bytes, *end = p + count;

    while (p < end) {
        size_t whole = utf8_at(p, (size_t)(end - p));

        if (whole > out->room - 1 - out->used)
            return; /* never half a character */
        if (whole == 1 && json && (*p == '"' || *p == '\\'))
            gpurt_text_printf(out, "\\%c", *p);
        else if (whole)
            gpurt_text_add(out, (const char *)p, whole);
        else if (json && *p < 0x80)
            gpurt_text_printf(out, "\\u%04x", *p);
        else if (json)
            gpurt_text_add(out, "\\ufffd", 6);
        else
            gpurt_text_printf(out, "\\x%02x", *p);
        p += whole ? whole : 1;
    }
}

void gpurt_render_plain(gpurt_text_t *out, const char *bytes, size_t count)
{
    escape(out, bytes, count, false);
}

void gpurt_render_json(gpurt_text_t *out, const char *bytes, size_t count)
{
    escape(out, bytes, count, true);
}
