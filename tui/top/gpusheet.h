/* SPDX-License-Identifier: Apache-2.0 */
/* gpusheet.h - one table of the GPU view on a canvas: numbers in columns, of which there are as
 * many as the width has room for, and behind them the text that says what a row is of. Which rows,
 * and where, is gputable.h's business. */
#ifndef GPURT_TUI_GPUSHEET_H
#define GPURT_TUI_GPUSHEET_H

#include "canvas.h"
#include "gpurows.h"

enum {
    GPUSHEET_COLUMNS = 12
};

typedef struct gpusheet {
    const gpurt_model_activity_t *a;
    gpurows_t table;
    uint64_t whole;             /* what a share is of, or a bar */
    int ends[GPUSHEET_COLUMNS]; /* right ends of columns; 0: not there */
    int text;                   /* where what follows them begins */
} gpusheet_t;

/* What the text of a table's row is: "call". */
extern const char *const gpusheet_texts[GPUROWS_TABLES];

gpusheet_t gpusheet_make(const gpurt_model_activity_t *a, gpurows_t table, int columns);

/* The column that rows are ordered by stands out. */
void gpusheet_heading(const gpusheet_t *s, canvas_t *c, rect_t area, int row,
                      const char *sort);
void gpusheet_row(const gpusheet_t *s, canvas_t *c, rect_t area, int row, uint32_t index);

#endif
