/* SPDX-License-Identifier: Apache-2.0 */
/* objectsview.h - objects that describe themselves (objectclass.h), as a model shows them: classes
 * with their fields, objects with their values as they were told last. Numbers and texts only,
 * as all of modelview.h. */
#ifndef GPURT_LOG_OBJECTSVIEW_H
#define GPURT_LOG_OBJECTSVIEW_H

#include "classdef.h"

enum {
    GPURT_MODEL_CLASSES = 24,
    GPURT_MODEL_OBJECTS = 256, /* one that is new takes the place of one that ended */
    GPURT_MODEL_VALUES = 8192, /* of all objects */
    GPURT_MODEL_TEXTS = 192,   /* different ones, of fields of kind TEXT */
    GPURT_MODEL_TEXT = 96,     /* its end behind "...", where it is longer */
    GPURT_MODEL_CURVE = 48     /* samples of an object's main field, one a second */
};

/* Whose an object is, and when it was told of. */
typedef struct gpurt_model_told {
    uint32_t id;            /* 0: the row is not in use; each process counts for itself */
    uint32_t flags, device; /* flags: GPURT_OBJECT_* */
    uint32_t program,
        pid; /* program: a number of program.h; pid: its process, 0 not known */
    uint32_t unused;
    uint64_t time_ns; /* when it was told of last */
} gpurt_model_told_t;

typedef struct gpurt_model_class {
    uint32_t site;    /* id of its definition */
    uint32_t objects; /* that have a place */
    gpurt_classdef_t def;
} gpurt_model_class_t;

typedef struct gpurt_model_value {
    uint64_t now;    /* of a TEXT: index in `texts` + 1 */
    uint64_t peak;   /* the most that was told */
    uint64_t before; /* as it was told the time before */
} gpurt_model_value_t;

typedef struct gpurt_model_object {
    gpurt_model_told_t told;
    uint64_t before_ns; /* when it was told of the time before; 0: never */
    uint64_t curve_end; /* samples ever taken; the last is at curve_end - 1 modulo */
    uint64_t curve[GPURT_MODEL_CURVE];
    uint32_t class_, first; /* index of its class, of its first value */
    uint32_t room, unused;  /* values that it has room for */
} gpurt_model_object_t;

/* Part 8 of a view. */
typedef struct gpurt_model_objects {
    uint64_t rows;      /* 0: nothing is known */
    uint64_t others;    /* rows of objects or classes that have no place */
    uint64_t forgotten; /* objects that have ended, and whose place others took */
    uint64_t programs;  /* of the source: of several it must be said whose something is */
    uint64_t allocs, frees; /* calls of traced heaps */
    uint32_t class_count, count, value_count, text_count;
    gpurt_model_class_t classes[GPURT_MODEL_CLASSES];
    gpurt_model_object_t list[GPURT_MODEL_OBJECTS];
    gpurt_model_value_t values[GPURT_MODEL_VALUES];
    char texts[GPURT_MODEL_TEXTS][GPURT_MODEL_TEXT];
} gpurt_model_objects_t;

/* Of a copy whose writer is not believed: texts end, counts are within bounds. */
void gpurt_objects_end(gpurt_model_objects_t *all);

/* What stands in shared memory or comes from a file is bounded here. NULL: there is none. */
const gpurt_classdef_t *gpurt_objects_class(const gpurt_model_objects_t *all, uint32_t at);
/* Values of a field of an object; NULL: it has none there. */
const gpurt_model_value_t *gpurt_objects_values(const gpurt_model_objects_t *all,
                                                const gpurt_model_object_t *o,
                                                const gpurt_classdef_field_t *f);
/* The field whose curve is kept: the one that says how full, else the first gauge, counter or
 * fault. NULL: it has none. */
const gpurt_classdef_field_t *gpurt_objects_main(const gpurt_classdef_t *d);
/* Of a counter or fault, a second; 0 where it is not known. */
double gpurt_objects_rate(const gpurt_model_object_t *o, const gpurt_model_value_t *v);

#endif
