/* SPDX-License-Identifier: Apache-2.0 */
/* filter_record.h - what a message says of itself, field by field, and a filter against it. Only
 * filter_*.c include it. */
#ifndef GPURT_TUI_FILTER_RECORD_H
#define GPURT_TUI_FILTER_RECORD_H

#include "filter_field.h"
#include "filter_match.h"

/* A field that is neither there nor unsure is one that such a message has not: nothing is equal to
 * it, nor less. Texts are borrowed. */
typedef struct filter_record {
    uint32_t there, unsure;          /* bit per field */
    uint64_t numbers[FILTER_FIELDS]; /* a level, a name's number; lanes as a mask */
    filter_text_t texts[FILTER_FIELDS];
    bool cut;        /* the message goes on */
    bool folded;     /* of the file only the last part is known, */
    bool short_file; /* and of that maybe its end alone */
    bool of_lanes;   /* its threads are those of its lanes */
    bool triples;    /* x,y,z are known, of the block and of one thread: */
    uint32_t block[3], thread[3];
} filter_record_t;

void filter_record_number(filter_record_t *r, uint32_t field, uint64_t value);
void filter_record_text(filter_record_t *r, uint32_t field, const char *at, size_t bytes);

/* *unsure: as for filter_line. */
filter_answer_t filter_judge(const filter_t *f, const filter_record_t *r, uint32_t *unsure);
/* Bit per level that the steps may let through. */
uint32_t filter_levels_of(const filter_t *f);

#endif
