/* SPDX-License-Identifier: Apache-2.0 */
#include "object_draw.h"

void object_bar(canvas_t *c, rect_t area, int row, int column, int percent, style_t style)
{
    for (int i = 0; i < OBJECT_BAR; i++) {
        bool on = i < (percent * OBJECT_BAR + 50) / 100;

        canvas_glyph(c, area, row, column + i, on ? style : STYLE_RULE, on ? 0x2588 : 0xb7,
                     on ? '#' : '.');
    }
}

style_t object_full_style(int percent, bool ended)
{
    return ended           ? STYLE_DIM
           : percent >= 95 ? STYLE_ERROR
           : percent >= 80 ? STYLE_WARN
                           : STYLE_GOOD;
}

void object_map_cell(canvas_t *c, rect_t area, int row, int column, uint32_t cell,
                     bool full)
{
    static const struct {
        style_t style;
        uint32_t code;
        char ascii;
    } looks[] = {{STYLE_RULE, 0xb7, '.'},     {STYLE_HEAT_1, 0x2591, '-'},
                 {STYLE_HEAT_2, 0x2592, '+'}, {STYLE_HEAT_3, 0x2593, 'x'},
                 {STYLE_HEAT_4, 0x2588, '#'}, {STYLE_INFO, 0x25a0, 'L'}};
    uint32_t share = 1 + cell * 12 / GPURT_CELL_FULL;
    uint32_t look = cell == 0                         ? 0
                    : full && cell == GPURT_CELL_FULL ? 5
                    : share >= 12                     ? 4
                                                      : share / 4 + 1;

    if (cell != GPURT_CELL_NONE)
        canvas_glyph(c, area, row, column, looks[look].style, looks[look].code,
                     looks[look].ascii);
}
