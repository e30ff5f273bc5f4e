/* SPDX-License-Identifier: Apache-2.0 */
#include "canvas.h"

#include "utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum {
    CANVAS_ROWS = 1000,
    CANVAS_COLUMNS = 4000
};

bool canvas_resize(canvas_t *c, int rows, int columns)
{
    rows = rows < 1 ? 1 : rows > CANVAS_ROWS ? CANVAS_ROWS : rows;
    columns = columns < 1 ? 1 : columns > CANVAS_COLUMNS ? CANVAS_COLUMNS : columns;
    free(c->cells);
    c->cells = malloc((size_t)rows * (size_t)columns * sizeof *c->cells);
    c->rows = c->cells ? rows : 0;
    c->columns = c->cells ? columns : 0;
    canvas_clear(c);
    return c->cells != NULL;
}

void canvas_clear(canvas_t *c)
{
    for (int i = 0; i < c->rows * c->columns; i++)
        c->cells[i] = (canvas_cell_t){' ', STYLE_NORMAL};
}

void canvas_fini(canvas_t *c)
{
    free(c->cells);
    memset(c, 0, sizeof *c);
}

/* NULL: outside. */
static canvas_cell_t *cell(canvas_t *c, rect_t area, int row, int column)
{
    if (row < 0 || row >= area.rows || column < 0 || column >= area.columns)
        return NULL;
    row += area.row;
    column += area.column;
    if (row < 0 || row >= c->rows || column < 0 || column >= c->columns)
        return NULL;
    return &c->cells[row * c->columns + column];
}

/* ---- text ---------------------------------------------------------------------------- */

/* No font is known to have it, as wide as anybody says. */
static bool is_private(uint32_t code)
{
    return (code >= 0xe000 && code <= 0xf8ff) || code >= 0xe0000;
}

static int draw(canvas_t *c, rect_t area, int row, int column, style_t style, uint32_t code)
{
    int width = code < 0x80 ? 1 : wcwidth((wchar_t)code);
    canvas_cell_t *at = cell(c, area, row, column);

    if (width <= 0 ||
        (code >= 0x80 && (!c->unicode || utf8_deceives(code) || is_private(code)))) {
        code = '?';
        width = 1;
    }
    if (width == 2) {
        canvas_cell_t *half = cell(c, area, row, column + 1);

        if (at && half)
            *half = (canvas_cell_t){0, style};
        else
            code = ' ';
    }
    if (at)
        *at = (canvas_cell_t){code, style};
    return column + width;
}

int canvas_text(canvas_t *c, rect_t area, int row, int column, style_t style,
                const char *text, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = (const uint8_t *)text, *end = p + bytes;

    while (p < end && column < area.columns) {
        uint32_t code = 0;
        size_t length = utf8_read(p, (size_t)(end - p), &code);

        if (length == 1 && *p == '\t') {
            column = draw(c, area, row, column, style, ' ');
        } else if (length == 0 || utf8_is_control(code)) {
            uint8_t byte = *p;

            length = length ? length : 1;
            byte = code >= 0x7f && code < 0xa0 ? (uint8_t)code : byte;
            column = draw(c, area, row, column, STYLE_DIM, '\\');
            column = draw(c, area, row, column, STYLE_DIM, 'x');
            column = draw(c, area, row, column, STYLE_DIM, (uint32_t)digits[byte >> 4]);
            column = draw(c, area, row, column, STYLE_DIM, (uint32_t)digits[byte & 15]);
        } else {
            column = draw(c, area, row, column, style, code);
        }
        p += length;
    }
    return column;
}

int canvas_put(canvas_t *c, rect_t area, int row, int column, style_t style,
               const char *text)
{
    return canvas_text(c, area, row, column, style, text, strlen(text));
}

int canvas_printf(canvas_t *c, rect_t area, int row, int column, style_t style,
                  const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return canvas_put(c, area, row, column, style, text);
}

void canvas_right(canvas_t *c, rect_t area, int row, int column, style_t style,
                  const char *text)
{
    canvas_put(c, area, row, column - (int)strlen(text), style, text);
}

/* ---- shapes -------------------------------------------------------------------------- */

int canvas_glyph(canvas_t *c, rect_t area, int row, int column, style_t style,
                 uint32_t code, char ascii)
{
    canvas_cell_t *at = cell(c, area, row, column);

    if (at)
        *at = (canvas_cell_t){c->unicode ? code : (uint32_t)ascii, style};
    return column + 1;
}

void canvas_row_style(canvas_t *c, rect_t area, int row, style_t style)
{
    for (int column = 0; column < area.columns; column++) {
        canvas_cell_t *at = cell(c, area, row, column);

        if (at)
            at->style = style;
    }
}

int canvas_rule(canvas_t *c, rect_t area, const char *title)
{
    int column = 0;

    for (int i = 0; i < area.columns; i++)
        canvas_glyph(c, area, 0, i, STYLE_RULE, 0x2500, '-');
    if (area.columns < 6)
        return column;
    column = canvas_put(c, area, 0, 2, STYLE_TITLE, " ");
    column = canvas_put(c, area, 0, column, STYLE_TITLE, title);
    return canvas_put(c, area, 0, column, STYLE_TITLE, " ");
}

void canvas_spark(canvas_t *c, rect_t area, int row, int column, int columns, style_t style,
                  const uint64_t *values, int count, uint64_t top)
{
    static const char ascii[] = " .:-=+*##";

    if (column + columns > area.columns)
        columns = area.columns - column;
    for (int i = 0; i < count && top == 0; i++) {
        for (int j = 0; j < count; j++)
            top = values[j] > top ? values[j] : top;
        break;
    }
    for (int i = 0; i < columns; i++) {
        int at = count - columns + i;
        uint64_t value = at >= 0 ? values[at] : 0;
        /* Any value but 0 shows: a lone message must not look like silence. */
        unsigned step = value == 0 || top == 0 ? 0
                        : value >= top         ? 8
                                       : 1 + (unsigned)((double)value / (double)top * 7.0);

        if (step == 0)
            canvas_glyph(c, area, row, column + i, STYLE_RULE, at >= 0 ? 0xb7 : ' ',
                         at >= 0 ? '.' : ' ');
        else
            canvas_glyph(c, area, row, column + i, style, 0x2580 + step, ascii[step]);
    }
}

const char *canvas_short(uint64_t value, char buffer[16])
{
    static const char units[] = " kMGTPE";
    double left = (double)value;
    int unit = 0;

    if (value < 10000) {
        snprintf(buffer, 16, "%u", (unsigned)value);
        return buffer;
    }
    while (left >= 999.5 && unit < 6) {
        left /= 1000;
        unit++;
    }
    snprintf(buffer, 16,
             left < 9.995   ? "%.2f%c"
             : left < 99.95 ? "%.1f%c"
                            : "%.0f%c",
             left, units[unit]);
    return buffer;
}

/* ---- plain --------------------------------------------------------------------------- */

/* Behind the last cell of a row that is no blank. */
static int row_end(const canvas_t *c, int row)
{
    int end = c->columns;

    while (end > 0 && c->cells[row * c->columns + end - 1].code == ' ')
        end--;
    return end;
}

static void code_print(uint32_t code, FILE *out)
{
    char bytes[4];

    fwrite(bytes, 1, utf8_write(bytes, code), out);
}

void canvas_print(const canvas_t *c, FILE *out)
{
    int rows = c->rows;

    while (rows > 0 && row_end(c, rows - 1) == 0)
        rows--;
    for (int row = 0; row < rows; row++) {
        for (int i = 0, end = row_end(c, row); i < end; i++)
            if (c->cells[row * c->columns + i].code)
                code_print(c->cells[row * c->columns + i].code, out);
        fputc('\n', out);
    }
}
