/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded texts and their escapes. */
#include "render.h"
#include "utf8.h"

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

/* Returns: bytes of the character at p; 0: it is none, or none for a terminal. */
static size_t plain_at(const uint8_t *p, size_t left)
{
    uint32_t code;
    size_t bytes = utf8_read(p, left, &code);

    return bytes && !utf8_is_control(code) && !utf8_deceives(code) ? bytes : 0;
}

/* Each byte of what is none stands for itself. */
static void plain(gpurt_text_t *out, const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        size_t bytes = plain_at(p, (size_t)(end - p));

        if ((bytes ? bytes : 4) > out->room - 1 - out->used)
            return; /* never half a character, nor half an escape */
        if (bytes)
            gpurt_text_add(out, (const char *)p, bytes);
        else
            gpurt_text_printf(out, "\\x%02x", *p);
        p += bytes ? bytes : 1;
    }
}

void gpurt_render_plain(gpurt_text_t *out, const char *bytes, size_t count)
{
    plain(out, (const uint8_t *)bytes, (const uint8_t *)bytes + count);
}
