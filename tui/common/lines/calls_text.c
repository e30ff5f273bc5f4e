/* SPDX-License-Identifier: Apache-2.0 */
#include "calls_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN " < "

static void copy(char *to, size_t room, const char *from, size_t bytes)
{
    bytes = bytes < room - 1 ? bytes : room - 1;
    memcpy(to, from, bytes);
    to[bytes] = '\0';
}

static size_t part_bytes(const char *text)
{
    const char *end = strstr(text, BETWEEN);

    return end ? (size_t)(end - text) : strlen(text);
}

/* The colon of ":12 " or of ":12" at the end; a file may have blanks and colons. */
static const char *line_find(const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes; at++) {
        size_t end = at + 1;

        while (end < bytes && isdigit((unsigned char)text[end]))
            end++;
        if (text[at] == ':' && end > at + 1 && (end == bytes || text[end] == ' '))
            return text + at;
    }
    return NULL;
}

static void call_read(const char *text, size_t bytes, calls_call_t *out)
{
    const char *colon = line_find(text, bytes), *blank;

    memset(out, 0, sizeof *out);
    copy(out->file, sizeof out->file, text, colon ? (size_t)(colon - text) : bytes);
    if (!colon)
        return;
    out->line = (uint32_t)strtoul(colon + 1, NULL, 10);
    blank = memchr(colon, ' ', bytes - (size_t)(colon - text));
    if (blank)
        copy(out->function, sizeof out->function, blank + 1,
             bytes - (size_t)(blank + 1 - text));
}

bool calls_text_read(const char *text, calls_text_t *out)
{
    size_t bytes = part_bytes(text);

    memset(out, 0, sizeof *out);
    if (!text[bytes])
        return false;
    copy(out->function, sizeof out->function, text, bytes);
    while (text[bytes] && !out->cut) {
        text += bytes + sizeof BETWEEN - 1;
        bytes = part_bytes(text);
        if (out->count == CALLS_TEXT_MOST || (bytes == 3 && memcmp(text, "...", 3) == 0))
            out->cut = true;
        else
            call_read(text, bytes, &out->of[out->count++]);
    }
    return true;
}

/* "Walk::step" of "ns::Walk::step": what it is a member of, too, unless that is the compiler's name for
 * a file. */
static const char *name_short(const char *name)
{
    const char *part = name, *before = name;
    int depth = 0;

    for (const char *at = name; *at; at++) {
        depth += *at == '<' || *at == '(' || *at == '{';
        depth -= *at == '>' || *at == ')' || *at == '}';
        if (depth == 0 && at[0] == ':' && at[1] == ':' && at > name) {
            before = part;
            part = at + 2;
        }
    }
    return strncmp(before, "_INTERNAL_", 10) == 0 ? part : before;
}

void calls_text_short(const calls_text_t *c, gpurt_text_t *out)
{
    gpurt_text_printf(out, "%s", name_short(c->function));
    for (uint32_t i = 0; i < c->count; i++) {
        const calls_call_t *call = &c->of[i];
        const char *slash = strrchr(call->file, '/');

        gpurt_text_printf(out, BETWEEN "%s:%" PRIu32 "%s%s", slash ? slash + 1 : call->file,
                          call->line, call->function[0] ? " " : "",
                          name_short(call->function));
    }
    if (c->cut)
        gpurt_text_printf(out, BETWEEN "...");
}
