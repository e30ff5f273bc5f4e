/* SPDX-License-Identifier: Apache-2.0 */
/* What the program printed while the screen was there. */
#include "picture.h"

#include "plural.h"

#include <stdio.h>

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    char line[2048], title[96];
    int lines = 0;

    snprintf(title, sizeof title, "Output  %llu byte%s, printed again at the end",
             p->output ? (unsigned long long)p->output->written : 0ull,
             gpurt_plural(p->output ? p->output->written : 0, "s"));
    canvas_rule(c, area, title);
    while (p->output && lines < area.rows - 1 &&
           output_line(p->output, p->output_back + (uint32_t)lines, line, 1) >= 0)
        lines++;
    for (int row = lines; row >= 1; row--) {
        int bytes = output_line(p->output, p->output_back + (uint32_t)(lines - row), line,
                                sizeof line);

        canvas_text(c, area, row, 1, STYLE_NORMAL, line, (size_t)bytes);
    }
    if (!p->output || p->output->written == 0)
        canvas_put(c, area, 1, 2, STYLE_DIM,
                   "the program printed nothing to the terminal yet");
}

static bool act(picture_t *p, action_t action, int page)
{
    char byte;
    int64_t step = action == ACTION_UP          ? 1
                   : action == ACTION_DOWN      ? -1
                   : action == ACTION_PAGE_UP   ? page
                   : action == ACTION_PAGE_DOWN ? -page
                   : action == ACTION_LAST      ? -(int64_t)p->output_back
                                                : 0;
    int64_t back = (int64_t)p->output_back + step;

    back = back < 0 ? 0 : back;
    if (p->output && (step <= 0 || output_line(p->output, (uint64_t)back, &byte, 1) >= 0))
        p->output_back = (uint32_t)back;
    return step != 0;
}

const view_class_t view_output = {"Output", draw, act};
