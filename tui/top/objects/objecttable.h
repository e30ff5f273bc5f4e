/* SPDX-License-Identifier: Apache-2.0 */
/* objecttable.h - the table of one class of objects: a line each, a column a field, a bar for how
 * full. What it draws it knows from the class's definition in the log alone. */
#ifndef GPURT_TUI_OBJECTTABLE_H
#define GPURT_TUI_OBJECTTABLE_H

#include "picture.h"

/* The class whose table is shown: the chosen one, or where that is gone the first. Returns: its
 * index; -1: there is none. */
int objecttable_class(const picture_t *p);

/* The class that a user calls so, by its name or its plural, in any case; -1: there is none. */
int objecttable_wanted(const gpurt_model_objects_t *all, const char *name);

/* The class of that name; -1: there is none. */
int objecttable_named(const gpurt_model_objects_t *all, const char *name);

/* Objects of that class that fit the filter, in the order of the table: indices into the list.
 * Returns: how many. */
int objecttable_collect(const picture_t *p, int class_,
                        uint16_t order[GPURT_MODEL_OBJECTS]);

/* The line of what was selected, or where that is gone the line that it stood in. */
int objecttable_selected(const picture_t *p, const uint16_t *order, int count);
/* Selects another one. Returns: false, the key is none of these. */
bool objecttable_step(picture_t *p, action_t action, int page, const uint16_t *order,
                      int count);

/* The name of what the table goes by; "number" of the objects' own. */
const char *objecttable_sort(const gpurt_classdef_t *d, uint32_t sort,
                             char buffer[GPURT_CLASS_NAME]);
/* How many things it can go by. */
uint32_t objecttable_sorts(const gpurt_classdef_t *d);

/* From `row` to the end of the area; the selected line is in sight. Returns: how many are further
 * down. */
int objecttable_draw(const picture_t *p, canvas_t *c, rect_t area, int row, int class_,
                     const uint16_t *order, int count);

/* "Heaps  3  of 2 processes", where one can see it. */
void objecttable_title(const gpurt_model_objects_t *all, canvas_t *c, rect_t area,
                       const char *what, uint32_t count, int below);

/* "3", of several processes "3 of 4711". */
void objecttable_label(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                       char text[48]);

#endif
