/* SPDX-License-Identifier: Apache-2.0 */
/* objectrow.h - a row of the kind OBJECT, taken apart by the definition of its class. */
#ifndef GPURT_LOG_OBJECTROW_H
#define GPURT_LOG_OBJECTROW_H

#include "classdef.h"
#include "json.h"
#include "render.h"

enum {
    GPURT_OBJECTROW_TEXT = 1024, /* bytes of a text in JSON; the rest is cut off */
    /* Room of the longest JSON: 15 such texts, and maps, whose cells are at most 5 bytes. */
    GPURT_OBJECTROW_JSON = 128 * 1024
};

/* Owner: the caller. Texts and words live as long as the row. */
typedef struct gpurt_objectrow {
    gpurt_classdef_t def;
    const gpurt_dictionary_t *dictionary;
    const uint32_t *words;     /* two a value */
    uint32_t id, first, count; /* values [first, first + count) of the object */
    bool ended;
} gpurt_objectrow_t;

/* Returns: false: its class is not known, or the row does not fit it. */
bool gpurt_objectrow_read(gpurt_objectrow_t *out, const gpurt_dictionary_t *d,
                          const gpurt_row_t *row);

/* Value i of a field. Returns: false, it is in another row of the object. */
bool gpurt_objectrow_value(const gpurt_objectrow_t *o, const gpurt_classdef_field_t *f,
                           uint32_t i, uint64_t *value);

/* Whether a field is shown: it is of a known kind, and one of its values is in this row. */
bool gpurt_objectrow_has(const gpurt_objectrow_t *o, const gpurt_classdef_field_t *f);

/* The word of a STATE; "?" behind the last one, and where none stands. buffer: its room. */
const char *gpurt_field_word(const gpurt_classdef_field_t *f, uint64_t value,
                             char buffer[GPURT_CLASS_WORDS]);

/* "arena_source 3: heap 1, slots 64, arenas 2, ..., ended". */
void gpurt_objectrow_text(const gpurt_objectrow_t *o, gpurt_text_t *out);

/* The fields of the row as a JSON object: {"heap":1,"slots":64}. A map is an array of its cells,
 * a histogram or matrix one of its values, null where they are in another row. A number that nobody knows
 * and a text that is not there are null. */
void gpurt_objectrow_json(const gpurt_objectrow_t *o, gpurt_json_t *j, const char *key);

#endif
