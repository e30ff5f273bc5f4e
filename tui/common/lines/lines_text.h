/* SPDX-License-Identifier: Apache-2.0 */
/* lines_text.h - where kernels were, by samples of their warps: as text and JSON, of a log or of what
 * is shown of a model. */
#ifndef GPURT_TUI_LINES_TEXT_H
#define GPURT_TUI_LINES_TEXT_H

#include "json.h"
#include "linesums.h"
#include "modelview.h"
#include "reader.h"

#include <stdio.h>

enum {
    LINES_NAME = 1024,
    LINES_REASONS = 64
};

/* Owner: the caller. */
typedef struct lines_text {
    const gpurt_linesums_t *sums; /* finished */
    const char *kernel;           /* functions whose name has this; NULL: all */
    uint32_t functions,
        lines; /* shown in text at most, lines of each; 0: as many as usual */
    /* What an id names; room is where it may stand. */
    const char *(*name)(const void *names, uint32_t id, char room[LINES_NAME]);
    const void *names;
} lines_text_t;

/* Of a dictionary, and of a gpurt_model_warps_t: for `name`. */
const char *lines_text_dictionary(const void *dictionary, uint32_t id,
                                  char room[LINES_NAME]);
const char *lines_text_view(const void *warps, uint32_t id, char room[LINES_NAME]);

const char *lines_text_name(const lines_text_t *l, uint32_t id, char room[LINES_NAME]);
/* Whether a function is one of `kernel`. */
bool lines_text_wanted(const lines_text_t *l, const gpurt_linesum_function_t *f);
/* Calls, as they are: "leaf < app.cu:12 Walk::step < app.cu:27". Returns: false: there are none, and
 * what stands for them is given. */
bool lines_text_inlined(const lines_text_t *l, uint32_t id, char room[LINES_NAME]);
/* One of the line's. Returns: whether they say anything of it. */
bool lines_text_calls(const lines_text_t *l, const gpurt_linesum_line_t *line,
                      uint32_t index, char room[LINES_NAME]);

/* Functions by share of all samples, their lines by share of the function's; then what the words
 * mean. */
void lines_text_plain(FILE *out, const lines_text_t *l);
/* The lines of one function, at most as many as l says. */
void lines_text_function(FILE *out, const lines_text_t *l,
                         const gpurt_linesum_function_t *f);
/* {"samples":...,"functions":[...]}. */
void lines_text_json(gpurt_json_t *j, const char *key, const lines_text_t *l);

/* Of some lines, most samples first. */
typedef struct lines_reasons {
    uint32_t count;
    gpurt_linesum_reason_t of[LINES_REASONS];
} lines_reasons_t;
void lines_text_reasons(const gpurt_linesums_t *s, uint32_t first_line, uint32_t count,
                        lines_reasons_t *out);
/* "waits at a barrier"; CUPTI's own word where it is newer than ours. */
const char *lines_text_words(const lines_text_t *l, uint32_t reason, char room[LINES_NAME]);

#endif
