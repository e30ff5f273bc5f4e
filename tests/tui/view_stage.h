/* SPDX-License-Identifier: Apache-2.0 */
/* view_stage.h - one view of gpurt-top over a model that a test feeds (model_stage.h): draw it, then
 * look at all of it, or for a text. */
#ifndef GPURT_TESTS_VIEW_STAGE_H
#define GPURT_TESTS_VIEW_STAGE_H

#include "canvas_seen.h"
#include "model_stage.h"
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>

static picture_t p;
static canvas_t c;

static inline void view_draw(view_id_t id, int rows, int columns)
{
    look();
    CHECK(canvas_resize(&c, rows, columns));
    c.unicode = false;
    p.view = view;
    picture_view(id)->draw(&p, &c, (rect_t){.rows = rows, .columns = columns});
}

/* The whole of it. */
static inline void golden(const char *want)
{
    char *printed = NULL;
    size_t bytes;
    FILE *out = open_memstream(&printed, &bytes);

    CHECK(out);
    canvas_print(&c, out);
    fclose(out);
    CHECK_STR(printed, want);
    free(printed);
}

static inline bool seen(const char *text)
{
    return canvas_seen_row(&c, text) >= 0;
}

#endif
