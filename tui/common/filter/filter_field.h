/* SPDX-License-Identifier: Apache-2.0 */
/* filter_field.h - the fields that a filter may ask for: their names, how they compare, and which
 * values there are. Only filter_*.c include it. */
#ifndef GPURT_TUI_FILTER_FIELD_H
#define GPURT_TUI_FILTER_FIELD_H

#include "filter.h"

typedef enum filter_field {
    FILTER_WORD, /* a word alone: in the message, the place, or a level */
    FILTER_LEVEL,
    FILTER_KIND,
    FILTER_CATEGORY,
    FILTER_BACK_END,
    FILTER_MESSAGE,
    FILTER_NAME,
    FILTER_KERNEL,
    FILTER_FUNCTION,
    FILTER_SITE,
    FILTER_FILE,
    FILTER_LINE,
    FILTER_PID,
    FILTER_DEVICE,
    FILTER_GPU,
    FILTER_CPU,
    FILTER_SM,
    FILTER_SLOT,
    FILTER_BLOCK,
    FILTER_WARP,
    FILTER_LANE,
    FILTER_THREAD,
    FILTER_FIELDS
} filter_field_t;
#define FILTER_BIT(field) (1u << (field))

enum {
    FILTER_EQUAL,
    FILTER_OTHER,
    FILTER_BELOW,
    FILTER_UP_TO,
    FILTER_ABOVE,
    FILTER_FROM,
    FILTER_HAS,
    FILTER_LACKS
};

enum {
    FILTER_OP_TERM,
    FILTER_OP_NOT,
    FILTER_OP_AND,
    FILTER_OP_OR
};

/* How the value of a field is read. */
enum {
    FILTER_AS_NAME, /* one of a list */
    FILTER_AS_TEXT,
    FILTER_AS_PLACE, /* FILE or FILE:LINE */
    FILTER_AS_NUMBER,
    FILTER_AS_LANES, /* a number: of a set */
    FILTER_AS_TRIPLE /* a number, or x,y,z */
};

typedef struct filter_row {
    const char *names[3]; /* the first is the one that is told */
    uint8_t as;
    bool ordered;        /* of a name: < and the like have a meaning */
    uint32_t most;       /* of a number */
    const char *lacking; /* what may be unknown of it; NULL: the field itself */
    /* Of a name: the i-th, with its number; NULL behind the last. */
    const char *(*name)(uint32_t i, uint32_t *number);
} filter_row_t;

/* field: from FILTER_LEVEL on. */
const filter_row_t *filter_field_row(uint32_t field);
/* Returns: FILTER_FIELDS where none is called so. */
uint32_t filter_field_find(const char *name, size_t bytes);
/* "=", of FILTER_EQUAL. */
const char *filter_compare_text(uint32_t compare);
/* Reads what stands at text. Returns: its bytes; 0: no comparison. */
size_t filter_compare_read(const char *text, uint8_t *compare);
/* The number of a word that a record has: "panic". Returns: UINT32_MAX for none. */
uint32_t filter_field_number(uint32_t field, const char *word);

/* Fills the value of a step whose field and comparison are set. Returns: false, with why. */
bool filter_field_value(filter_step_t *step, const char *value, size_t bytes,
                        char why[FILTER_WHY]);
/* Why nothing is called so. */
void filter_field_refuse(const char *name, size_t bytes, char why[FILTER_WHY]);

#endif
