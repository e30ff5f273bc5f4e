/* SPDX-License-Identifier: Apache-2.0 */
#include "heap_draw.h"

#include <stdio.h>

enum {
    LABEL = 11,      /* columns: "hazards 129" */
    LABEL_WHOSE = 22 /* "hazards 129 of 4194304" */
};

void heap_bar(canvas_t *c, rect_t area, int row, int column, int percent, style_t style)
{
    for (int i = 0; i < HEAP_BAR; i++) {
        bool on = i < (percent * HEAP_BAR + 50) / 100;

        canvas_glyph(c, area, row, column + i, on ? style : STYLE_RULE, on ? 0x2588 : 0xb7,
                     on ? '#' : '.');
    }
}

style_t heap_style(int percent, bool ended)
{
    return ended           ? STYLE_DIM
           : percent >= 95 ? STYLE_ERROR
           : percent >= 80 ? STYLE_WARN
                           : STYLE_GOOD;
}

int heap_label(const gpurt_model_heaps_t *heaps, const gpurt_model_told_t *told,
               const char *what, canvas_t *c, rect_t area, int row)
{
    bool several = heaps->programs > 1;
    char text[64], whose[32] = "";

    if (several && told->pid)
        snprintf(whose, sizeof whose, " of %u", told->pid);
    else if (several)
        snprintf(whose, sizeof whose, " of others");
    snprintf(text, sizeof text, "%s %u%s", what, told->id, whose);
    return canvas_printf(c, area, row, 1, STYLE_BOLD, "%-*s", several ? LABEL_WHOSE : LABEL,
                         text);
}

int heap_marks(const gpurt_model_told_t *told, canvas_t *c, rect_t area, int row, int at,
               uint64_t wrong, uint64_t refused)
{
    at += 2;
    if (wrong)
        at = canvas_printf(c, area, row, at, STYLE_ERROR, "%llu wrong  ",
                           (unsigned long long)wrong);
    if (refused)
        at = canvas_printf(c, area, row, at, STYLE_WARN, "%llu refused  ",
                           (unsigned long long)refused);
    if (told->flags & GPURT_HEAP_ENDED)
        at = canvas_put(c, area, row, at, STYLE_DIM, "ended  ");
    return at;
}

void heap_cell(canvas_t *c, rect_t area, int row, int column, uint32_t cell)
{
    static const struct {
        style_t style;
        uint32_t code;
        char ascii;
    } looks[] = {{STYLE_RULE, 0xb7, '.'},     {STYLE_HEAT_1, 0x2591, '-'},
                 {STYLE_HEAT_2, 0x2592, '+'}, {STYLE_HEAT_3, 0x2593, 'x'},
                 {STYLE_HEAT_4, 0x2588, '#'}, {STYLE_INFO, 0x25a0, 'L'}};
    uint32_t look = cell == 0                       ? 0
                    : cell == GPURT_HEAP_CELL_LARGE ? 5
                    : cell >= 12                    ? 4
                    : cell >= 8                     ? 3
                    : cell >= 4                     ? 2
                                                    : 1;

    if (cell < GPURT_HEAP_CELL_NONE)
        canvas_glyph(c, area, row, column, looks[look].style, looks[look].code,
                     looks[look].ascii);
}

int heap_map(canvas_t *c, rect_t area, int row, const uint8_t *cells, bool large,
             const char *what)
{
    int wide =
        area.columns >= GPURT_HEAP_CELLS + 2 ? GPURT_HEAP_CELLS : GPURT_HEAP_CELLS / 2;

    if (area.columns < wide + 2)
        return row;
    for (int i = 0; i < GPURT_HEAP_CELLS; i++)
        heap_cell(c, area, row + i / wide, 1 + i % wide, cells[i]);
    row += GPURT_HEAP_CELLS / wide;
    canvas_printf(c, area, row, 1, STYLE_DIM, "a cell: %s; %s free%s%s%s", what,
                  c->unicode ? "\xc2\xb7" : ".", large ? ", " : "",
                  !large       ? ""
                  : c->unicode ? "\xe2\x96\xa0"
                               : "L",
                  large ? " large" : "");
    return row + 1;
}
