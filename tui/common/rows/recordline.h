/* SPDX-License-Identifier: Apache-2.0 */
/* recordline.h - a message of a log as fields with names: the only place that knows the schema
 * of `gpurt-log cat --jsonl`, which docs/LOG_FORMAT.md tells ("Records as JSON"). A field that
 * has no value is left out. */
#ifndef GPURT_TUI_RECORDLINE_H
#define GPURT_TUI_RECORDLINE_H

#include "objectrow.h"
#include "render.h"
#include "span.h"

#include <stdio.h>

/* Fields, in the order in which they are printed. */
enum {
    RECORDLINE_TIME,
    RECORDLINE_DURATION,
    RECORDLINE_LEVEL,
    RECORDLINE_PID,
    RECORDLINE_DEVICE,
    RECORDLINE_BACK_END,
    RECORDLINE_CONTEXT,
    RECORDLINE_STREAM,
    RECORDLINE_THREAD,
    RECORDLINE_SM,
    RECORDLINE_SLOT,
    RECORDLINE_BLOCK,
    RECORDLINE_WARP,
    RECORDLINE_LANES,
    RECORDLINE_CALL,
    RECORDLINE_GRAPH,
    RECORDLINE_NODE,
    RECORDLINE_LAUNCHED,
    RECORDLINE_BYTES,
    RECORDLINE_NAME,
    RECORDLINE_FILE,
    RECORDLINE_LINE,
    RECORDLINE_KIND,
    RECORDLINE_MESSAGE,
    RECORDLINE_CLASS, /* of an object, as its number and whether it has ended; its fields */
    RECORDLINE_ID,
    RECORDLINE_ENDED,
    RECORDLINE_OBJECT,
    RECORDLINE_FIELDS
};

typedef struct recordline_field {
    bool there;
    uint64_t value;
    const char *text; /* NULL: value */
    size_t bytes;
    bool json; /* text is JSON already */
} recordline_field_t;

/* Owner: the caller. Texts live as long as the row and the dictionary. */
typedef struct recordline {
    const gpurt_dictionary_t *dictionary;
    const gpurt_row_t *row;
    recordline_field_t fields[RECORDLINE_FIELDS];
    char graph[GPURT_SPAN_GRAPH_NAME];
    char class_[GPURT_CLASS_NAME];
    char object[GPURT_OBJECTROW_JSON];
    char message[GPURT_MESSAGE_MAX];
} recordline_t;

/* about: the newest FILE of the log. */
void recordline_begin(recordline_t *l, const gpurt_dictionary_t *d,
                      const gplog_file_t *about, const gpurt_row_t *row);
/* The next message of the row. lane: as gpurt_render_message has it. */
void recordline_message(recordline_t *l, uint32_t lane);

/* One object in a line. */
void recordline_json(FILE *out, const recordline_t *l);

/* As columns, with an end of line. */
void recordline_csv_head(FILE *out);
void recordline_csv(FILE *out, const recordline_t *l);

#endif
