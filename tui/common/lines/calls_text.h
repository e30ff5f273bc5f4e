/* SPDX-License-Identifier: Apache-2.0 */
/* calls_text.h - inlined calls that a sampled line stands in, as the collector wrote them into a log:
 * "leaf < /src/app.cu:12 Walk::step < /src/app.cu:27". Texts are as they are: whoever shows them
 * escapes them. */
#ifndef GPURT_TUI_CALLS_TEXT_H
#define GPURT_TUI_CALLS_TEXT_H

#include "render.h"

#include <stdbool.h>

enum {
    CALLS_TEXT_NAME = 256,
    CALLS_TEXT_FILE = 512,
    CALLS_TEXT_MOST = 20 /* more are left out; the collector writes fewer */
};

/* Where something is called, and the function that this is in. */
typedef struct calls_call {
    char file[CALLS_TEXT_FILE];
    uint32_t line;
    char function[CALLS_TEXT_NAME]; /* "": of the last one, that of the record */
} calls_call_t;

typedef struct calls_text {
    char function[CALLS_TEXT_NAME]; /* that the line stands in */
    calls_call_t of[CALLS_TEXT_MOST];
    uint32_t count; /* the innermost first */
    bool cut;       /* further ones are left out */
} calls_text_t;

/* Returns: false: nothing is inlined there, or it is not known. */
bool calls_text_read(const char *text, calls_text_t *out);

/* "leaf < app.cu:12 Walk::step < app.cu:27": files without their folders, functions without namespaces. */
void calls_text_short(const calls_text_t *c, gpurt_text_t *out);

#endif
