/* SPDX-License-Identifier: Apache-2.0 */
/* object_text.h - objects of all classes, for a terminal without a screen and for programs; the
 * words for their values and fields, which the screen uses, too. */
#ifndef GPURT_TUI_OBJECT_TEXT_H
#define GPURT_TUI_OBJECT_TEXT_H

#include "json.h"
#include "modelview.h"

#include <stdio.h>

enum {
    OBJECT_TEXT = 4 * GPURT_MODEL_TEXT + 8
};

/* "arena source" of "arena_source". */
const char *object_name(const char *name, char buffer[GPURT_CLASS_NAME]);

/* A value as its field wants it, safe to print: "1.2 MiB", "idle", "heap 3", "-" for what is not
 * there. */
const char *object_value(const gpurt_model_objects_t *all, const gpurt_classdef_field_t *f,
                         uint64_t value, char buffer[OBJECT_TEXT]);
/* Any number of that unit. */
const char *object_amount(const gpurt_classdef_field_t *f, uint64_t value, char buffer[24]);

/* A row of a MATRIX; NULL: it is none, or behind the last. */
const gpurt_model_value_t *object_row(const gpurt_model_objects_t *all,
                                      const gpurt_model_object_t *o,
                                      const gpurt_classdef_field_t *f, uint32_t row);
/* The number in a column of it, with the unit in the first. */
const char *object_cell(const gpurt_classdef_field_t *f, const gpurt_model_value_t *row,
                        uint32_t column, char buffer[24]);

/* Part of whole in percent, 0 of nothing. */
int object_percent(uint64_t part, uint64_t whole);
/* How full an object is, in percent; -1: its class does not say. */
int object_full(const gpurt_model_objects_t *all, const gpurt_model_object_t *o);
/* Whether a value of that field is a warning. */
bool object_is_trouble(const gpurt_classdef_field_t *f, uint64_t value);
/* The value of a scalar field; 0 where the object has none. */
const gpurt_model_value_t *object_at(const gpurt_model_objects_t *all,
                                     const gpurt_model_object_t *o,
                                     const gpurt_classdef_field_t *f);
/* The object that a reference of `o` names, of the same process; NULL: it is not known. */
const gpurt_model_object_t *object_referred(const gpurt_model_objects_t *all,
                                            const gpurt_model_object_t *o,
                                            const gpurt_classdef_field_t *f);

/* Nothing where nothing is known. */
void objects_plain(FILE *out, const gpurt_model_objects_t *all);
/* One object: docs/LOG_FORMAT.md has the schema. */
void objects_json(gpurt_json_t *j, const char *key, const gpurt_model_objects_t *all);

#endif
