/* SPDX-License-Identifier: Apache-2.0 */
/* Where kernels are: functions by their share of samples; of one the source with the samples of each
 * line beside it, or its instructions. */
#include "linepage.h"
#include "linesheet.h"
#include "linewhy.h"
#include "textfold.h"

#include <stdio.h>
#include <string.h>

enum {
    WHY_ROOM = 2048 /* of the longest message, folded */
};

static void why_draw(canvas_t *c, rect_t area, int row, const gpurt_model_line_t *why)
{
    char room[WHY_ROOM] = "";
    FILE *out = fmemopen(room, sizeof room, "w");

    if (!out)
        return;
    textfold_put(out, why->text, why->text_bytes,
                 area.columns > 2 ? (size_t)area.columns - 2 : 1);
    fclose(out);
    for (char *rest = room, *line; (line = strsep(&rest, "\n")) && rest; row++)
        canvas_put(c, area, row, 1, STYLE_WARN, line);
}

static void nothing_draw(const gpurt_modelview_t *v, canvas_t *c, rect_t area)
{
    const gpurt_model_line_t *why = linewhy_find(v);

    canvas_rule(c, area, "Lines");
    canvas_put(c, area, 2, 1, STYLE_DIM, "No kernel was sampled.");
    if (why) {
        why_draw(c, area, 3, why);
        return;
    }
    canvas_put(c, area, 3, 1, STYLE_DIM,
               "gpurt-top -- PROGRAM samples CUDA kernels where counters are open to users "
               "(gpurt-doctor");
    canvas_put(c, area, 4, 1, STYLE_DIM,
               "says so); gpurt-record does with --cupti live. Where that is refused, the "
               "reason stands here.");
    canvas_put(
        c, area, 5, 1, STYLE_DIM,
        "CUDA starts some 0.13 s later, and a launch takes about 1 us more; --cupti");
    canvas_put(c, area, 6, 1, STYLE_DIM, "counted,running leaves it out.");
}

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    linesheet_t sheet;

    if (p->view->warps.rows == 0) {
        nothing_draw(p->view, c, area);
        return;
    }
    if (!linesheet_make(p, &sheet))
        canvas_put(c, area, 1, 1, STYLE_WARN, "no memory for the lines");
    else if (p->lines_open != LINES_OF_ALL && sheet.selected)
        linepage_draw(p, &sheet, c, area);
    else
        linesheet_draw(p, &sheet, c, area);
    linesheet_fini(&sheet);
}

static bool act(picture_t *p, action_t action, int page)
{
    linesheet_t sheet;
    bool done;

    if (p->view->warps.rows == 0)
        return false;
    done = linesheet_make(p, &sheet) && (p->lines_open != LINES_OF_ALL && sheet.selected
                                             ? linepage_act(p, &sheet, action, page)
                                             : linesheet_act(p, &sheet, action, page));
    linesheet_fini(&sheet);
    return done;
}

const view_class_t view_lines = {"Lines", draw, act};
