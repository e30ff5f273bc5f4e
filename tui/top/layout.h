/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - where the panes of a screen lie: a pure function of its size and of what is
 * to be shown. No pane overlaps another or leaves the screen; one that finds no room is
 * empty, and they give way in a fixed order. */
#ifndef GPURT_TUI_LAYOUT_H
#define GPURT_TUI_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rect {
    int row, column, rows, columns; /* rows or columns 0: not shown */
} rect_t;

typedef enum pane {
    PANE_HEAD,  /* who is watched: always there */
    PANE_TABS,  /* names of the views */
    PANE_SCRUB, /* time line */
    PANE_BODY,  /* all that is between head and foot: always there */
    PANE_RATES, /* of the overview, inside the body, as all below to PANE_LOG */
    PANE_SMS,
    PANE_GPU,
    PANE_SITES,
    PANE_ALERT,
    PANE_LOG,
    PANE_FOOT, /* keys, or the line that is being typed */
    PANE_COUNT
} pane_t;

enum {
    LAYOUT_MIN_ROWS = 5,
    LAYOUT_MIN_COLUMNS = 20
};

typedef struct layout_wish {
    bool overview;   /* split the body into panes */
    bool scrub;      /* show the time line */
    int sm_count;    /* cells of the map, 0: no map */
    int site_count;  /* rows of the table that are filled */
    int alert_count; /* panics to tell of */
    int gpu_count;   /* GPUs whose activity is known */
} layout_wish_t;

typedef struct layout {
    rect_t pane[PANE_COUNT];
} layout_t;

void layout_compute(int rows, int columns, const layout_wish_t *wish, layout_t *out);

#endif
