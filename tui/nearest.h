/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - how far two words are from each other, for "did you mean". */
#ifndef GPURT_TUI_NEAREST_H
#define GPURT_TUI_NEAREST_H

#include <gpurt/base.h>

enum {
    NEAREST_MAX = 40
};

/* How many letters must be typed, dropped, changed or swapped to get from a to b;
 * NEAREST_MAX where a word is longer than that. */
unsigned nearest_distance(const char *a, const char *b);

/* Whether so many slips still look like the word: a third of its letters. */
bool nearest_likely(const char *typed, unsigned distance);

#endif
