/* SPDX-License-Identifier: Apache-2.0 */
#include "textfold.h"

#include "utf8.h"

#include <string.h>
#include <wchar.h>

enum {
    INDENT = 4,
    NARROWEST = 20 /* less is no room for words */
};

/* Where a line can be broken: `end` is behind the last byte of its first part, `next` at the
 * first of the second. end 0: nowhere. */
typedef struct fold {
    size_t end, next;
} fold_t;

static size_t character(const char *text, size_t bytes, size_t *columns)
{
    uint32_t code = 0;
    size_t length = utf8_read(text, bytes, &code);
    int wide = length ? wcwidth((wchar_t)code) : 1;

    *columns = wide > 0 ? (size_t)wide : 1;
    return length ? length : 1;
}

/* A gap of a table is two blanks or more: all but one of them go to the next line, as cells
 * stand at their right ends. */
static fold_t fold_at(const char *line, size_t end, size_t bytes)
{
    size_t next = end;

    while (next < bytes && line[next] == ' ')
        next++;
    return (fold_t){end, next - end > 1 ? end + 1 : next};
}

/* The last gap that fits; without one in the second half, the last blank; without one, where
 * the line is full. */
static fold_t fold_find(const char *line, size_t bytes, size_t columns)
{
    fold_t gap = {0}, blank = {0};
    size_t used = 0, at = 0, wide, length;

    for (; at < bytes; at += length, used += wide) {
        length = character(line + at, bytes - at, &wide);
        if (line[at] == ' ' && at > 0 && line[at - 1] != ' ') {
            blank = fold_at(line, at, bytes);
            if (blank.next < bytes && line[blank.next] == ' ' && used >= columns / 2)
                gap = blank;
        }
        if (used + wide > columns)
            break;
    }
    if (at == bytes)
        return (fold_t){0};
    if (gap.end || blank.end)
        return gap.end ? gap : blank;
    return (fold_t){at, at};
}

static void line_put(FILE *out, const char *line, size_t bytes, size_t columns)
{
    size_t room = columns;
    fold_t fold;

    while (columns >= NARROWEST && (fold = fold_find(line, bytes, room)).end) {
        fwrite(line, 1, fold.end, out);
        if (fold.next == bytes)
            bytes = fold.end; /* blanks alone */
        line += fold.next;
        bytes -= fold.next < bytes ? fold.next : bytes;
        if (bytes == 0)
            break;
        fprintf(out, "\n%*s", INDENT, "");
        room = columns - INDENT;
    }
    fwrite(line, 1, bytes, out);
    fputc('\n', out);
}

void textfold_put(FILE *out, const char *text, size_t bytes, size_t columns)
{
    while (bytes) {
        const char *end = memchr(text, '\n', bytes);
        size_t length = end ? (size_t)(end - text) : bytes;

        line_put(out, text, length, columns);
        length += end != NULL;
        text += length;
        bytes -= length;
    }
}
