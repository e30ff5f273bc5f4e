/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - the word that a misspelt one was meant for, for "did you mean". */
#ifndef GPURT_TUI_NEAREST_H
#define GPURT_TUI_NEAREST_H

#include <gpurt/base.h>

enum {
    NEAREST_MAX = 40 /* letters; longer words are like no other */
};

/* Starts as {.typed = ...}; try every word there is, then take what was found. */
typedef struct nearest {
    const char *typed;
    const char *word;  /* the best so far */
    unsigned distance; /* letters to be typed, dropped, changed or swapped */
} nearest_t;

void nearest_try(nearest_t *n, const char *word);

/* Returns: NULL where more than a third of the letters would be wrong. */
const char *nearest_found(const nearest_t *n);

#endif
