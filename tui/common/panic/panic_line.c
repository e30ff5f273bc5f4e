/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_line.h"

#include <string.h>

void panic_line_begin(panic_line_t *line, const panic_style_t *style)
{
    line->style = style;
    gpurt_text_init(&line->text, line->room, sizeof line->room);
}

/* Bytes of the first so many characters. The text is valid UTF-8. */
static size_t bytes_of(const char *text, size_t bytes, uint32_t characters)
{
    for (size_t i = 0; i < bytes; i++)
        if (((uint8_t)text[i] & 0xc0) != 0x80 && characters-- == 0)
            return i;
    return bytes;
}

void panic_line_end(panic_line_t *line, const char *colour)
{
    const panic_style_t *s = line->style;
    size_t bytes = line->text.used;

    while (bytes && line->text.at[bytes - 1] == ' ')
        bytes--;
    if (s->columns)
        bytes = bytes_of(line->text.at, bytes, s->columns);
    if (colour && s->colour)
        fprintf(s->out, "\033[%sm", colour);
    fwrite(line->text.at, 1, bytes, s->out);
    fputs(colour && s->colour ? "\033[0m\n" : "\n", s->out);
}

void panic_line_wrap(const char *lead, const char *text, const char *colour,
                     const panic_style_t *style)
{
    size_t indent = strlen(lead), left = strlen(text);
    size_t room = style->columns > indent + 20 ? style->columns - indent : SIZE_MAX;

    while (left) {
        size_t take = left;
        panic_line_t line;

        if (take > room) {
            take = room;
            while (take && text[take] != ' ')
                take--;
            take = take ? take : room;
        }
        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "%*s%.*s", (int)indent, lead, (int)take, text);
        panic_line_end(&line, colour);
        text += take;
        left -= take;
        while (left && *text == ' ') {
            text++;
            left--;
        }
        lead = "";
    }
}

void panic_line_source(const panic_source_t *source, const panic_style_t *style)
{
    panic_line_t line;

    if (!source->left_out && !source->damage[0])
        return;
    panic_line_begin(&line, style);
    gpurt_render_plain(&line.text, source->name, strlen(source->name));
    if (source->left_out)
        gpurt_text_printf(&line.text, ": %llu more %s raised; the box had no slot for %s",
                          (unsigned long long)source->left_out,
                          source->left_out == 1 ? "was" : "were",
                          source->left_out == 1 ? "it" : "them");
    if (source->damage[0])
        gpurt_text_printf(&line.text, ": %s", source->damage);
    panic_line_end(&line, PANIC_YELLOW);
}
