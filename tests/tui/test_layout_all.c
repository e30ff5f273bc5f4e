/* SPDX-License-Identifier: Apache-2.0 */
/* Every size from 20x5 to 500x200, with and without each pane: no two panes overlap, none
 * leaves the screen, and what must be seen is seen. */
#include "check.h"
#include "layout.h"

static bool shown(const rect_t *r)
{
    return r->rows > 0 && r->columns > 0;
}

static bool overlap(const rect_t *a, const rect_t *b)
{
    return a->row < b->row + b->rows && b->row < a->row + a->rows &&
           a->column < b->column + b->columns && b->column < a->column + a->columns;
}

static bool inside(const rect_t *a, const rect_t *b)
{
    return a->row >= b->row && a->column >= b->column &&
           a->row + a->rows <= b->row + b->rows &&
           a->column + a->columns <= b->column + b->columns;
}

static bool in_body(int pane)
{
    return pane >= PANE_RATES && pane <= PANE_LOG;
}

static void check_one(int rows, int columns, const layout_wish_t *w)
{
    rect_t screen = {0, 0, rows, columns};
    layout_t l;

    layout_compute(rows, columns, w, &l);
    for (int i = 0; i < PANE_COUNT; i++) {
        const rect_t *a = &l.pane[i];

        CHECK_MSG(a->rows >= 0 && a->columns >= 0, "%dx%d pane %d: %dx%d", columns, rows, i,
                  a->columns, a->rows);
        if (!shown(a))
            continue;
        CHECK_MSG(inside(a, &screen), "%dx%d: pane %d leaves the screen", columns, rows, i);
        CHECK_MSG(!in_body(i) || (w->overview && inside(a, &l.pane[PANE_BODY])),
                  "%dx%d: pane %d leaves the body", columns, rows, i);
        for (int j = i + 1; j < PANE_COUNT; j++) {
            bool nested = i == PANE_BODY && in_body(j);

            CHECK_MSG(nested || !shown(&l.pane[j]) || !overlap(a, &l.pane[j]),
                      "%dx%d: panes %d and %d overlap", columns, rows, i, j);
        }
    }
    CHECK_MSG(shown(&l.pane[PANE_HEAD]) && shown(&l.pane[PANE_BODY]), "%dx%d: head, body",
              columns, rows);
    CHECK_MSG(shown(&l.pane[PANE_FOOT]) || rows < 4, "%dx%d: foot", columns, rows);
    CHECK_MSG(shown(&l.pane[PANE_TABS]) || rows < 10, "%dx%d: tabs", columns, rows);
    CHECK_MSG(shown(&l.pane[PANE_SCRUB]) == (w->scrub && rows >= 5), "%dx%d: time line",
              columns, rows);
    if (!w->overview)
        return;
    CHECK_MSG(l.pane[PANE_LOG].rows >= 2 || rows < 7, "%dx%d: a line of log", columns,
              rows);
    CHECK_MSG(shown(&l.pane[PANE_RATES]) || rows < 12, "%dx%d: rates", columns, rows);
    CHECK_MSG(shown(&l.pane[PANE_ALERT]) == (w->alert_count > 0) || rows < 16,
              "%dx%d: alerts", columns, rows);
    CHECK_MSG(shown(&l.pane[PANE_SITES]) || rows < 20,
              "%dx%d: sites (map of %d, %d alerts, %d sites, time line %d)", columns, rows,
              w->sm_count, w->alert_count, w->site_count, w->scrub);
    CHECK_MSG(shown(&l.pane[PANE_SMS]) == (w->sm_count > 0) || rows < 24, "%dx%d: map",
              columns, rows);
}

int main(void)
{
    static const int sms[] = {0, 2, 132, 1056}, alerts[] = {0, 1, 4};

    for (int rows = LAYOUT_MIN_ROWS; rows <= 200; rows++)
        for (int columns = LAYOUT_MIN_COLUMNS; columns <= 500; columns++)
            for (int s = 0; s < 4; s++)
                for (int a = 0; a < 3; a++)
                    for (int flags = 0; flags < 8; flags++) {
                        layout_wish_t w = {.overview = flags & 1,
                                           .scrub = flags & 2,
                                           .sm_count = sms[s],
                                           .site_count = rows * 7 % 40,
                                           .alert_count = alerts[a],
                                           .gpu_count = flags & 4 ? s * 3 : 0};

                        check_one(rows, columns, &w);
                    }
    return 0;
}
