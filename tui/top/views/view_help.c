/* SPDX-License-Identifier: Apache-2.0 */
/* Help: the table of keys, and what cannot be guessed. */
#include "picture.h"

#include <string.h>

static const char *const notes[] = {
    "",
    "FILTER   words of the message, file:line or level; \"some text\"; level>=warn,",
    "         sm=7, block=3, warp, lane, site=a.cu:42, pid, gpu, kernel; != < <= > >=,",
    "         ~ for a part; ! or not, or, ( ). All must fit. Esc clears. gpurt help log",
    "TYPING   Left, Right, Home, End; Ctrl-U, -K, -W cut; Up: filters typed before.",
    "RATES    of the second before, in tenths. Numbers: k M G are powers of 1000.",
    "MAP      one cell a multiprocessor: fuller is busier, ! had an error in the last",
    "         second, a dot is silent now, a blank never spoke.",
    "STREAMS  view 6: kernels are full, copies shaded, each by how much of the time; in",
    "         the gaps: w the host heard of an end, l a launch, a dot: nobody asked.",
    "TABLES   view 6: kernels, calls, ranges, memory, pools, one at a time (t). All but",
    "         kernels are recorded for who asks: GPURT_CUPTI=all. Words filter names.",
    "WHERE    view 9: functions by samples of their warps; s takes the last seconds,",
    "         Enter shows the source with shares beside it, t its next file, d the code.",
    "LINES    of a replay all, from its file; live the last 1024 of each class (up to",
    "         info, warn, error and above): a line says where older ones are gone.",
    "TIME     [ ] { } go back and on in what is kept; ( ) to panics, which are marked",
    "         on the bar; $ returns to now.",
    "LOST     records that found no room; the log says where and why.",
    "QUIET    a live program that said nothing for more than two seconds; it may wait,",
    "         or hang.",
};
enum {
    NOTES = sizeof notes / sizeof notes[0]
};

static int key_count(void)
{
    int count = 0;

    for (const key_row_t *k = key_rows; k->action != ACTION_NONE; k++)
        count++;
    return count;
}

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    int row = 1 - (int)p->help_scroll, split = area.columns >= 110 ? area.columns / 2 : 0;
    int keys = key_count(), half, at = 0;

    half = split ? (keys + 1) / 2 : keys;
    for (const key_row_t *k = key_rows; k->action != ACTION_NONE; k++, at++) {
        int line = row + (at < half ? at : at - half), column = at < half ? 0 : split;

        if (line < 1)
            continue;
        canvas_put(c, area, line, column + 2, STYLE_KEY, k->keys);
        canvas_put(c, area, line, column + 14, STYLE_NORMAL, k->help);
    }
    for (int i = 0; i < NOTES; i++)
        if (row + half + i >= 1)
            canvas_put(c, area, row + half + i, 2, STYLE_NORMAL, notes[i]);
    canvas_rule(c, area, "Help  (Up, Down)");
}

static bool act(picture_t *p, action_t action, int page)
{
    int step = action == ACTION_UP          ? -1
               : action == ACTION_DOWN      ? 1
               : action == ACTION_PAGE_UP   ? -page
               : action == ACTION_PAGE_DOWN ? page
                                            : 0;
    int scroll = (int)p->help_scroll + step, last = key_count() + NOTES - 1;

    p->help_scroll = scroll < 0 ? 0 : scroll > last ? (uint32_t)last : (uint32_t)scroll;
    return step != 0;
}

const view_class_t view_help = {"Help", draw, act};
