/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include "plural.h"
#include "utf8.h"

#include <string.h>

/* Tabs do no harm. */
static bool is_shown(uint32_t code)
{
    return code == '\t' || !(utf8_is_control(code) || utf8_deceives(code));
}

void text_put_line(FILE *out, const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        uint32_t code = 0;
        size_t length = utf8_read(text + at, bytes - at, &code);

        if (length == 1 && code == '\r' && at + 1 == bytes) {
            at++; /* of a line that ends with both */
        } else if (length && is_shown(code)) {
            fwrite(text + at, 1, length, out);
            at += length;
        } else {
            fprintf(out, "\\x%02x", (unsigned char)text[at]);
            at++;
        }
    }
    fputc('\n', out);
}

void text_put_lines(FILE *out, const char *indent, const char *text, size_t bytes,
                    size_t max_lines)
{
    size_t lines = 0, left_out = 0;

    while (bytes && text[bytes - 1] == '\n')
        bytes--;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    lines += bytes > 0;
    if (lines > max_lines)
        left_out = lines - max_lines;
    if (left_out)
        fprintf(out, "%s... %zu line%s before\n", indent, left_out,
                gpurt_plural(left_out, "s"));
    while (bytes) {
        const char *end = memchr(text, '\n', bytes);
        size_t length = end ? (size_t)(end - text) : bytes;

        if (left_out) {
            left_out--;
        } else {
            fputs(indent, out);
            text_put_line(out, text, length);
        }
        length += end != NULL;
        text += length;
        bytes -= length;
    }
}

/* Nothing in it that a terminal obeys, that hides, or that turns its neighbours around. */
static bool is_harmless(const char *word)
{
    size_t left = strlen(word);

    while (left) {
        uint32_t code = 0;
        size_t length = utf8_read(word, left, &code);

        if (!length || utf8_is_control(code) || utf8_deceives(code))
            return false;
        word += length;
        left -= length;
    }
    return true;
}

/* Always three octal digits: a digit that follows stays a character of its own. */
static void put_shell_escaped(FILE *out, const char *word)
{
    size_t left = strlen(word);

    fputs("$'", out);
    while (left) {
        uint32_t code = 0;
        size_t length = utf8_read(word, left, &code);

        if (length && (code == '\'' || code == '\\'))
            fprintf(out, "\\%c", (int)code);
        else if (length && !utf8_is_control(code) && !utf8_deceives(code))
            fwrite(word, 1, length, out);
        else
            for (size_t i = 0; i < (length ? length : 1); i++)
                fprintf(out, "\\%03o", (unsigned char)word[i]);
        word += length ? length : 1;
        left -= length ? length : 1;
    }
    fputc('\'', out);
}

void text_put_shell(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./,:@%^";

    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, out);
        return;
    }
    if (!is_harmless(word)) {
        put_shell_escaped(out, word);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}
