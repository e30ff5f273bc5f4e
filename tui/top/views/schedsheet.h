/* SPDX-License-Identifier: Apache-2.0 */
/* schedsheet.h - one executor as the Scheduler view draws it: its values by name, and its parts. Who draws gets the first
 * row and returns the one behind the last. */
#ifndef GPURT_TUI_SCHEDSHEET_H
#define GPURT_TUI_SCHEDSHEET_H

#include "canvas.h"
#include "object_text.h"

enum {
    SCHED_LABEL = 2,
    SCHED_BODY = 14, /* column of what stands behind a label */
    SCHED_PARTS = 32 /* kinds, or stuck tasks, of one executor that are shown */
};

/* Owner: the drawing. */
typedef struct sched_sheet {
    const gpurt_model_objects_t *all;
    const gpurt_model_object_t *o;
    canvas_t *c;
    rect_t area;
} sched_sheet_t;

/* A field of that name and kind; NULL: the log's class has none such. */
const gpurt_classdef_field_t *sched_field(const gpurt_model_objects_t *all,
                                          const gpurt_model_object_t *o, const char *name,
                                          uint32_t kind);
const gpurt_model_value_t *sched_value(const gpurt_model_objects_t *all,
                                       const gpurt_model_object_t *o, const char *name,
                                       uint32_t kind);

/* Of a value that is not there 0, or "-". */
uint64_t sched_now(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                   const char *name, uint32_t kind);
double sched_rate(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                  const char *name);
const char *sched_text(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                       const char *name, uint32_t kind, char buffer[OBJECT_TEXT]);
double sched_seconds(const gpurt_model_objects_t *all, const gpurt_model_object_t *o);

/* Objects of a class that are parts of an executor and have not ended before it. Returns: how many. */
int sched_parts(const gpurt_model_objects_t *all, const gpurt_model_object_t *executor,
                const char *name, const gpurt_model_object_t *parts[SCHED_PARTS]);

int sched_label(const sched_sheet_t *s, int row, const char *label);
int sched_groups(const sched_sheet_t *s, int row);
int sched_kinds(const sched_sheet_t *s, int row);
int sched_stuck(const sched_sheet_t *s, int row);

#endif
