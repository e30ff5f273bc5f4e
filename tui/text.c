/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <string.h>

/* Length of the UTF-8 character at text, with its code; 0 when the byte begins none. */
static size_t utf8_read(const unsigned char *text, size_t bytes, uint32_t *code)
{
    size_t length = text[0] < 0x80             ? 1
                    : (text[0] & 0xe0) == 0xc0 ? 2
                    : (text[0] & 0xf0) == 0xe0 ? 3
                    : (text[0] & 0xf8) == 0xf0 ? 4
                                               : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800,
                                     0x10000}; /* no longer than needed */

    if (length == 0 || length > bytes)
        return 0;
    *code = length == 1 ? text[0] : text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (text[i] & 0x3fu);
    }
    if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
        return 0;
    return length;
}

static bool is_control(uint32_t code)
{
    return (code < 0x20 && code != '\t') || (code >= 0x7f && code < 0xa0);
}

void text_put_line(FILE *out, const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        uint32_t code = 0;
        size_t length = utf8_read((const unsigned char *)text + at, bytes - at, &code);

        if (length == 1 && code == '\r' && at + 1 == bytes) {
            at++; /* of a line that ends with both */
        } else if (length && !is_control(code)) {
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
        fprintf(out, "%s... %zu lines before\n", indent, left_out);
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

void text_put_shell(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./,:@%^";

    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, out);
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

void text_put_json(FILE *out, const char *text, size_t bytes)
{
    fputc('"', out);
    for (size_t at = 0; at < bytes;) {
        uint32_t code = 0xfffd; /* stands for a byte that is no character */
        size_t length = utf8_read((const unsigned char *)text + at, bytes - at, &code);

        if (!length)
            fputs("\\ufffd", out);
        else if (code == '"' || code == '\\')
            fprintf(out, "\\%c", (int)code);
        else if (code == '\n')
            fputs("\\n", out);
        else if (code == '\t')
            fputs("\\t", out);
        else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
            fprintf(out, "\\u%04x", (unsigned)code);
        else
            fwrite(text + at, 1, length, out);
        at += length ? length : 1;
    }
    fputc('"', out);
}
