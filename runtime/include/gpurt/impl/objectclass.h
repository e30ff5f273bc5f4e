/* SPDX-License-Identifier: Apache-2.0 */
/* objectclass.h - classes of objects that describe themselves: what one of them tells of itself.
 *
 * A class is declared once, in the file of its objects: its names, its fields, and a look, the
 * function that reads an object's words. watch.h looks at each object twice a second and writes
 * a record of what changed. The declaration travels in the log as the definition of those
 * records (classdef.h), so readers show a class that they never heard of: as text, JSON, CSV,
 * counters of a timeline, and a table and a page of gpurt-top.
 *
 * An object is so many values of 64 bits; field i begins where field i - 1 ends. Its record:
 *
 *   word 0   the object's number, counted from 1 by class and process
 *   word 1   first value in this record << 20 | how many << 8 | GPURT_OBJECT_*
 *   word 2.. the values, low word first; the rest is in further records of the same time */
#ifndef GPURT_OBJECTCLASS_H
#define GPURT_OBJECTCLASS_H

#include <gpurt/impl/record.h>

/* Numbers are frozen. */
typedef enum gpurt_field_kind {
    GPURT_FIELD_NONE = 0,
    GPURT_FIELD_GAUGE = 1,     /* goes up and down; the model keeps the most */
    GPURT_FIELD_COUNTER = 2,   /* only grows; the model makes a rate of it */
    GPURT_FIELD_LIMIT = 3,     /* what a gauge can reach */
    GPURT_FIELD_PEAK = 4,      /* the most of a gauge, kept by the object itself */
    GPURT_FIELD_FAULT = 5,     /* a counter of what should not happen */
    GPURT_FIELD_STATE = 6,     /* one of `words` */
    GPURT_FIELD_TIME = 7,      /* nanoseconds since 1970, 0 never */
    GPURT_FIELD_REFERENCE = 8, /* number of an object of the class `words`, 0 none */
    GPURT_FIELD_TEXT =
        9, /* number of a string definition, 0 none; among the first values */
    GPURT_FIELD_HISTOGRAM =
        10,                 /* `count` values: of bucket i, from 2^i on, 0 in the first */
    GPURT_FIELD_CELLS = 11, /* `count` bytes of a map: 0 free to 254 full, 255 no cell */
    GPURT_FIELD_MATRIX = 12 /* `count` numbers, a column each of `words`, row by row; one
                             * that begins with 0 is none; `unit` is of the first column */
} gpurt_field_kind_t;

enum {
    GPURT_FIELD_TROUBLE = 1, /* not 0: shown as a warning; of a FAULT always */
    GPURT_FIELD_PARENT = 2   /* of a REFERENCE: what this object is part of */
};

/* flags of a record */
enum {
    GPURT_OBJECT_ENDED = 1,
    GPURT_OBJECT_HEAD_WORDS = 2,
    GPURT_OBJECT_TEXTS =
        15 /* values among which texts must be: a drainer translates them */
};

GPURT_HD uint32_t gpurt_object_word(uint32_t first, uint32_t count, uint32_t flags)
{
    return first << 20 | count << 8 | flags;
}
GPURT_HD uint32_t gpurt_object_first(uint32_t word)
{
    return word >> 20;
}
GPURT_HD uint32_t gpurt_object_count(uint32_t word)
{
    return word >> 8 & 0xfffu;
}

enum {
    GPURT_CLASS_FIELDS = 48,
    GPURT_CLASS_VALUES = 512,
    GPURT_CLASS_NAME = 32, /* bytes of a name, with its end, as all below */
    GPURT_CLASS_UNIT = 8,
    GPURT_CLASS_WORDS = 64,
    GPURT_CELL_FULL = 254,
    GPURT_CELL_NONE = 255
};
#define GPURT_VALUE_UNKNOWN UINT64_MAX /* of a number: nobody counted it */

typedef struct gpurt_field {
    const char *name;  /* a-z, 0-9, _: a key of JSON; people see spaces */
    uint32_t kind;     /* GPURT_FIELD_* */
    const char *unit;  /* "B", "ns", "%"; NULL: a plain number */
    const char *words; /* STATE: "idle,busy", from 0 on; MATRIX: its columns; REFERENCE:
                        * name of a class */
    const char *of;    /* GAUGE, PEAK: name of the LIMIT, this field says how full; one at
                        * most */
    uint32_t count;    /* of HISTOGRAM, CELLS and MATRIX */
    uint32_t flags;    /* GPURT_FIELD_TROUBLE and so on */
} gpurt_field_t;

/* Who looks: the host's side (viewer.h). */
struct gpurt_viewer;

typedef struct gpurt_class {
    const char *name, *plural; /* "arena", "arenas": rules as of a field's name */
    const gpurt_field_t *fields;
    uint32_t field_count;
    /* Fills `values`, which are 0. due: also what is dear to find, which otherwise may be left
     * out. Returns: false, nothing is known now. NULL: looks of another class tell of them
     * (gpurt_watch_part). */
    bool (*look)(struct gpurt_viewer *v, const void *object, bool due, uint64_t *values);
} gpurt_class_t;

/* Values that a field takes. */
GPURT_HD uint32_t gpurt_field_values(uint32_t kind, uint32_t count)
{
    return kind == GPURT_FIELD_HISTOGRAM || kind == GPURT_FIELD_MATRIX ? count
           : kind == GPURT_FIELD_CELLS                                 ? (count + 7) / 8
                                                                       : 1;
}

/* Whether it is several values: one that says `count`. */
GPURT_HD bool gpurt_field_is_list(uint32_t kind)
{
    return kind >= GPURT_FIELD_HISTOGRAM && kind <= GPURT_FIELD_MATRIX;
}

/* Whether its value is one number that is more or less. */
GPURT_HD bool gpurt_field_is_number(uint32_t kind)
{
    return kind >= GPURT_FIELD_GAUGE && kind <= GPURT_FIELD_FAULT;
}

static inline void gpurt_cell_set(uint64_t *values, uint32_t cell, uint32_t byte)
{
    uint32_t shift = cell % 8 * 8;

    values[cell / 8] = (values[cell / 8] & ~(0xffull << shift)) | (uint64_t)(byte & 0xffu)
                                                                      << shift;
}

#endif
