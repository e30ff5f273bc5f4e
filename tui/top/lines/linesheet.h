/* SPDX-License-Identifier: Apache-2.0 */
/* linesheet.h - samples of warps as a picture wants them: all, or those of the last seconds; and the
 * table of functions, with the lines of the selected one below it. */
#ifndef GPURT_TUI_LINESHEET_H
#define GPURT_TUI_LINESHEET_H

#include "lines_text.h"
#include "picture.h"

/* Owner: the caller, for one picture or key. */
typedef struct linesheet {
    gpurt_linesums_t sums;
    lines_text_t text;                        /* of them */
    const gpurt_linesum_function_t *selected; /* NULL: there is none */
    uint32_t at,
        shown; /* where that stands among those that fit the filter, and how many do */
} linesheet_t;

/* Returns: false without memory. fini in either case. */
bool linesheet_make(const picture_t *p, linesheet_t *out);
void linesheet_fini(linesheet_t *s);

/* Whether the filter leaves a function. */
bool linesheet_fits(const picture_t *p, const linesheet_t *s,
                    const gpurt_linesum_function_t *f);

/* "Lines  40000 samples of warps in 1.1 s": the rest is the caller's. */
void linesheet_title(const picture_t *p, const linesheet_t *s, const char *rest,
                     canvas_t *c, rect_t area);
/* How hot a share is. */
style_t linesheet_style(double percent);
static inline double linesheet_percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}
/* The name of an id, for a canvas, cut to so many columns. Returns: the column behind it. */
int linesheet_name(const linesheet_t *s, canvas_t *c, rect_t area, int row, int column,
                   style_t style, uint32_t id);
/* "waits at a barrier 70%". */
void linesheet_reason(const linesheet_t *s, const gpurt_linesum_reason_t *r, uint64_t whole,
                      char *text, size_t room);

/* " 70% leaf < app.cu:12 outer < app.cu:27": calls that a line stands in. Returns: false: nothing is
 * drawn, for nothing is inlined there. */
bool linesheet_calls(const linesheet_t *s, canvas_t *c, rect_t area, int row, int column,
                     const gpurt_linesum_line_t *l, uint32_t index);

void linesheet_draw(const picture_t *p, const linesheet_t *s, canvas_t *c, rect_t area);
bool linesheet_act(picture_t *p, const linesheet_t *s, action_t action, int page);

#endif
