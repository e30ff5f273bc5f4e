/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h - which messages a user wants to see. docs/FILTER.md is the grammar: words, `field OP
 * value`, not, and, or, parentheses. Every program that filters parses and judges here.
 *
 * An answer may be FILTER_UNSURE: the filter asks for what the message does not know, as the
 * kernel of a log line. Such messages are not shown, not by the opposite either, and are told
 * of (filter_run.h). */
#ifndef GPURT_TUI_FILTER_H
#define GPURT_TUI_FILTER_H

#include "modelview.h"

enum {
    FILTER_TEXT = 256, /* with the 0 at its end */
    FILTER_TERMS = 32,
    FILTER_STEPS = 96, /* terms, and what joins them */
    FILTER_DEPTH = 16, /* parentheses in parentheses */
    FILTER_WHY = 480
};

typedef enum filter_answer {
    FILTER_NO,
    FILTER_UNSURE,
    FILTER_YES
} filter_answer_t;

/* One step, operators behind their operands. Without gaps, as filters are compared by their bytes.
 * number: of a lane or a sum, a name's number, or x of a place in three dimensions. */
typedef struct filter_step {
    uint8_t op, field, compare;
    uint8_t sharp;      /* number has a meaning: a line of a site; y and z of a triple */
    uint16_t at, bytes; /* of the value in `values` */
    uint32_t y, z;
    uint64_t number;
} filter_step_t;
GPURT_STATIC_ASSERT(sizeof(filter_step_t) == 24, "no gaps");

/* Owner: the caller. Zeroed it lets everything through. */
typedef struct filter {
    char text[FILTER_TEXT];   /* as typed; 0 behind its end */
    char values[FILTER_TEXT]; /* of the steps, without quotes */
    uint32_t level;           /* lowest shown, whatever the text says */
    uint32_t levels;          /* bit per level that the text may let through */
    uint32_t fields;          /* bit per field that the text asks for */
    uint32_t count;
    filter_step_t steps[FILTER_STEPS];
} filter_t;
GPURT_STATIC_ASSERT(sizeof(filter_t) == 2 * FILTER_TEXT + 16 + FILTER_STEPS * 24,
                    "no gaps");

/* What is wrong with a text, and where. Owner: the caller. */
typedef struct filter_error {
    char why[FILTER_WHY]; /* one line; "": nothing */
    uint32_t at, bytes;   /* bytes 0: at the end */
} filter_error_t;

/* Keeps the level. Returns: false where the text is none: *f is as it was, and *err says why, which
 * may be NULL and is emptied otherwise. */
bool filter_parse(filter_t *f, const char *text, filter_error_t *err);

/* Whether it lets everything through. */
bool filter_is_empty(const filter_t *f);
bool filter_same(const filter_t *a, const filter_t *b);
/* Bit per level that may be let through; and the lowest of them, GPURT_LEVEL_LOST + 1: none. */
uint32_t filter_levels(const filter_t *f);
uint32_t filter_lowest(const filter_t *f);

/* A message of a view. numbers: of the same view, NULL: sections are not known. *unsure: fields
 * that an answer of FILTER_UNSURE is for, a bit each; NULL: not asked. */
filter_answer_t filter_line(const filter_t *f, const gpurt_model_numbers_t *numbers,
                            const gpurt_model_line_t *line, uint32_t *unsure);
/* Whether messages of a site may fit. */
bool filter_site(const filter_t *f, const gpurt_model_site_t *site);
/* What has a name, and is no message: what else a filter asks for does not count. gpu: NULL,
 * pid: 0: of any; a gpu from GPURT_MODEL_DEVICES on is none that could be asked for. */
bool filter_name(const filter_t *f, const char *name, const uint32_t *gpu, uint32_t pid);

#endif
