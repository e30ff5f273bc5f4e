/* SPDX-License-Identifier: Apache-2.0 */
/* filter_match.h - texts against patterns: any case, * for anything, ? for one byte. Nothing is
 * terminated; time is bounded by the product of both. */
#ifndef GPURT_TUI_FILTER_MATCH_H
#define GPURT_TUI_FILTER_MATCH_H

#include <stdbool.h>
#include <stddef.h>

/* A text of a record, or a pattern. NULL is empty. */
typedef struct filter_text {
    const char *at;
    size_t bytes;
} filter_text_t;

/* As it stands, somewhere in it. */
bool filter_match_word(filter_text_t text, filter_text_t word);
/* All of it; in a path * and ? do not take a slash. */
bool filter_match_all(filter_text_t text, filter_text_t pattern, bool path);
/* Somewhere in it. */
bool filter_match_part(filter_text_t text, filter_text_t pattern);
/* A path, or what stands behind a slash of it. */
bool filter_match_path(filter_text_t text, filter_text_t pattern);
/* A function: "scale" is also "void n::scale<float>(int)". */
bool filter_match_function(filter_text_t text, filter_text_t pattern);

#endif
