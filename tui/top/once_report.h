/* SPDX-License-Identifier: Apache-2.0 */
/* once_report.h - a view of a model as plain text and as JSON, for pipes, scripts and terminals
 * that are none. Same view, same text: nothing but the view goes in. */
#ifndef GPURT_TUI_ONCE_REPORT_H
#define GPURT_TUI_ONCE_REPORT_H

#include "picture.h"

#include <stdio.h>

typedef struct report_about {
    const char *name;  /* of the program or the log, for a view that knows none */
    const char *state; /* "live", "ended", "replay", "waiting" */
    bool launched, ended;
    int wait_status;   /* likewise, as waitpid has it */
    int status;        /* of a program of ours that has ended */
    int columns, rows; /* of the picture: 0 as below; rows: of a view */
    bool unicode;      /* of a view */
} report_about_t;

/* A picture of about 100 columns, or as many as it says, and at most 26 lines (more, where a GPU or
 * a heap was at work), without escapes, followed by an empty line. */
void report_plain(FILE *out, const gpurt_modelview_t *view, const report_about_t *about);

/* The same of the view that is shown of *p: its first lines, and below what a screen of that size
 * shows. */
void report_view(FILE *out, const picture_t *p, const report_about_t *about);

/* One object in one line. docs: gpurt-top --help, "JSON". */
void report_json(FILE *out, const gpurt_modelview_t *view, const report_about_t *about);

#endif
