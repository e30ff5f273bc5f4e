/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include <string.h>

enum {
    WIDE = 104,      /* columns from which rates and the map lie side by side */
    RATES_ROWS = 9,  /* title, total, seven levels */
    RATES_SMALL = 3, /* title, total, levels in one line */
    SITES_MIN = 3,
    LOG_MIN = 3,
    ALERT_MAX = 4,
    GPU_MAX = 4
};

static int min(int a, int b)
{
    return a < b ? a : b;
}

static int max(int a, int b)
{
    return a > b ? a : b;
}

static rect_t make(int row, int column, int rows, int columns)
{
    return (rect_t){row, column, rows, columns};
}

/* Cuts so many rows off the top. */
static rect_t take(rect_t *from, int rows)
{
    rect_t taken = make(from->row, from->column, min(rows, from->rows), from->columns);

    from->row += taken.rows;
    from->rows -= taken.rows;
    return taken;
}

/* Rows of the map with its title: one cell an SM, behind a label. */
static int map_rows(int sm_count, int columns)
{
    int cells = max((columns - 6) / 4 * 4, 1);

    return 1 + (sm_count + cells - 1) / cells;
}

/* Rates left, the map right, as high as the higher one needs and the log leaves. */
static void band_wide(rect_t *body, layout_t *out)
{
    int left = body->columns / 2;
    int rows = body->rows >= 24 ? RATES_ROWS : body->rows >= 14 ? 6 : RATES_SMALL;
    rect_t band;

    band = take(body, rows);
    out->pane[PANE_RATES] = make(band.row, band.column, band.rows, left - 1);
    out->pane[PANE_SMS] =
        make(band.row, band.column + left, band.rows, band.columns - left);
}

/* The map gives way to all other panes. */
static void band_narrow(rect_t *body, const layout_wish_t *wish, int alert, layout_t *out)
{
    int map = wish->sm_count > 0 ? min(map_rows(wish->sm_count, body->columns), 5) : 0;

    if (body->rows >= 2 + LOG_MIN)
        out->pane[PANE_RATES] = take(body, body->rows >= 30   ? RATES_ROWS
                                           : body->rows >= 10 ? RATES_SMALL
                                                              : 2);
    if (map > 0 && body->rows >= map + alert + SITES_MIN + LOG_MIN)
        out->pane[PANE_SMS] = take(body, map);
}

static void overview_split(rect_t body, const layout_wish_t *wish, layout_t *out)
{
    int alert = wish->alert_count > 0 ? min(wish->alert_count, ALERT_MAX - 1) + 1 : 0;
    int sites = max(wish->site_count, 1) + 2;
    int gpus = wish->gpu_count > 0 ? min(wish->gpu_count, GPU_MAX) + 1 : 0;

    if (body.columns >= WIDE && wish->sm_count > 0 && body.rows >= 10)
        band_wide(&body, out);
    else
        band_narrow(&body, wish, alert, out);
    if (gpus > 0 && body.rows >= gpus + alert + SITES_MIN + LOG_MIN)
        out->pane[PANE_GPU] = take(&body, gpus);
    if (alert > 0 && body.rows >= 2 + LOG_MIN)
        out->pane[PANE_ALERT] = take(&body, min(alert, body.rows - LOG_MIN));
    if (body.rows >= SITES_MIN + LOG_MIN)
        out->pane[PANE_SITES] = take(&body, min(sites, body.rows / 2));
    out->pane[PANE_LOG] = body;
}

void layout_compute(int rows, int columns, const layout_wish_t *wish, layout_t *out)
{
    rect_t all = make(0, 0, max(rows, 1), max(columns, 1));

    memset(out, 0, sizeof *out);
    out->pane[PANE_HEAD] = take(&all, 1);
    if (all.rows >= 9)
        out->pane[PANE_TABS] = take(&all, 1);
    if (all.rows >= 3) {
        out->pane[PANE_FOOT] = make(all.row + all.rows - 1, 0, 1, all.columns);
        all.rows--;
    }
    if (wish->scrub && all.rows >= 3) {
        out->pane[PANE_SCRUB] = make(all.row + all.rows - 1, 0, 1, all.columns);
        all.rows--;
    }
    out->pane[PANE_BODY] = all;
    if (wish->overview)
        overview_split(all, wish, out);
}
