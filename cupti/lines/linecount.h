/* SPDX-License-Identifier: Apache-2.0 */
/* linecount.h - samples added up by GPU, instruction and reason, for a second or so.
 *
 * Fixed memory. Instructions and names are kept from one second to the next, and forgotten when
 * they nearly fill their room: a program that loads new code for ever finds room for ever. What
 * has none within its second is counted as a whole, so sums stay exact.
 *
 * One thread at a time: what the caller's lock is for. Who has taken rows may read them and their
 * places without it, until it trims. */
#ifndef GPURT_CUPTI_LINECOUNT_H
#define GPURT_CUPTI_LINECOUNT_H

#include "pcsampler.h"

#include <stdbool.h>

enum {
    LINECOUNT_PLACES = 1 << 17, /* instructions: a power of two, three quarters are used */
    LINECOUNT_ROWS = 1 << 17,   /* likewise */
    LINECOUNT_TEXTS = 1 << 14,  /* names of functions and files, and calls: likewise */
    LINECOUNT_DEVICES = 16,
    LINECOUNT_WRITTEN = 2048 /* rows of one take */
};

typedef struct linecount_place {
    uint64_t cubin, offset;
    const char *function; /* NULL: a free place */
    uint32_t line;        /* whoever takes fills these, once */
    const char *file;     /* NULL: not looked for */
    const char *calls;    /* inlined.h */
} linecount_place_t;

typedef struct linecount_row {
    uint32_t place; /* index */
    uint8_t device, reason;
    uint32_t samples, idle; /* both 0: a free row */
} linecount_row_t;

/* Samples that no row of their own stands for. */
typedef struct linecount_rest {
    uint32_t samples, idle;
} linecount_rest_t;

typedef struct linecount linecount_t;

linecount_t *linecount_create(void); /* NULL: no memory */
void linecount_destroy(linecount_t *c);

void linecount_add(linecount_t *c, uint32_t device, const pcsample_t *sample);

/* Whether anything was added since the last take. */
bool linecount_any(const linecount_t *c);

/* The rows with most samples, the first of them first, at most LINECOUNT_WRITTEN; `rest`, a device
 * each, what they leave out. All of it is counted no more. */
uint32_t linecount_take(linecount_t *c, linecount_row_t out[LINECOUNT_WRITTEN],
                        linecount_rest_t rest[LINECOUNT_DEVICES]);

/* Behind each take, when its rows are not needed any more: may forget all places and texts. */
void linecount_trim(linecount_t *c);

/* Of a row that was taken. */
linecount_place_t *linecount_place(linecount_t *c, const linecount_row_t *row);
const char *linecount_reason(const linecount_t *c, const linecount_row_t *row);
/* A text that stays as long as the places do; NULL: no room. */
const char *linecount_text(linecount_t *c, const char *text);

#endif
