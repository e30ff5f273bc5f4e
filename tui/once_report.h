/* SPDX-License-Identifier: Apache-2.0 */
/* once_report.h - a view of a model as plain text and as JSON, for pipes, scripts and terminals
 * that are none. Same view, same text: nothing but the view goes in. */
#ifndef GPURT_TUI_ONCE_REPORT_H
#define GPURT_TUI_ONCE_REPORT_H

#include "modelview.h"

#include <stdio.h>

typedef struct report_about {
    const char *name;  /* of the program or the log, for a view that knows none */
    const char *state; /* "live", "ended", "replay", "waiting" */
    bool launched, ended;
    int status; /* of a program of ours that has ended */
} report_about_t;

/* A picture of about 100 columns and at most 26 lines, without escapes, followed by an
 * empty line. */
void report_plain(FILE *out, const gpurt_modelview_t *view, const report_about_t *about);

/* One object in one line. docs: gpurt-top --help, "JSON". */
void report_json(FILE *out, const gpurt_modelview_t *view, const report_about_t *about);

#endif
