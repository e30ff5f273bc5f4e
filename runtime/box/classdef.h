/* SPDX-License-Identifier: Apache-2.0 */
/* classdef.h - a class of objects (objectclass.h) as a text, and back: the format of the site that
 * its records name. docs/LOG_FORMAT.md has the grammar ("Objects").
 *
 *     arena arenas
 *     heap reference words=heap parent
 *     slots limit
 *     arenas gauge of=slots
 *     bytes gauge unit=B
 */
#ifndef GPURT_BOX_CLASSDEF_H
#define GPURT_BOX_CLASSDEF_H

#include <gpurt/impl/box.h>
#include <gpurt/impl/objectclass.h>

#include <stddef.h>

typedef struct gpurt_classdef_field {
    char name[GPURT_CLASS_NAME], unit[GPURT_CLASS_UNIT], words[GPURT_CLASS_WORDS];
    uint16_t kind, flags;
    uint16_t first, count; /* first: of its values; count: of a list, else 1 */
    uint16_t of;           /* index of its limit + 1; 0: it does not say how full */
    uint16_t reserved;
} gpurt_classdef_field_t;

/* Texts are terminated, names hold a-z, 0-9 and _ alone, units and words nothing that a terminal
 * would heed. */
typedef struct gpurt_classdef {
    char name[GPURT_CLASS_NAME], plural[GPURT_CLASS_NAME];
    uint32_t field_count, value_count;
    gpurt_classdef_field_t fields[GPURT_CLASS_FIELDS];
} gpurt_classdef_t;

/* Returns: bytes; 0: the class breaks a limit or a rule of objectclass.h, or there is no room. */
size_t gpurt_classdef_write(const gpurt_class_t *class_, char *to, size_t room);

/* Believes nothing. What a later version says of a field is passed over; a field of a kind that is
 * not known has one value and is left out of what is shown. Names of fields stand once. Returns: false: it is no class. */
bool gpurt_classdef_read(gpurt_classdef_t *out, const char *text, size_t bytes);

/* Of a copy whose writer is not believed: texts end, counts are within bounds. */
void gpurt_classdef_end(gpurt_classdef_t *d);

/* The field of that name; NULL: none. */
const gpurt_classdef_field_t *gpurt_classdef_find(const gpurt_classdef_t *d,
                                                  const char *name);
/* The one that says how full; NULL: none. */
const gpurt_classdef_field_t *gpurt_classdef_full(const gpurt_classdef_t *d);

/* Of a MATRIX: how many columns, at least 1. Rows are what of `count` fits in them whole. */
uint32_t gpurt_classdef_columns(const gpurt_classdef_field_t *f);

/* "gauge"; "?" for a kind that is not known. */
const char *gpurt_field_kind_name(uint32_t kind);

#endif
