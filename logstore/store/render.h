/* SPDX-License-Identifier: Apache-2.0 */
/* render.h - rows as words for people and for programs.
 *
 * The format strings and texts come from devices and files, so nothing of them reaches
 * printf or a terminal as it is: conversions are taken apart and bounded, control
 * characters and broken UTF-8 are escaped. Everything is cut at the size of the buffer. */
#ifndef GPURT_LOG_RENDER_H
#define GPURT_LOG_RENDER_H

#include "dictionary.h"

enum {
    GPURT_MESSAGE_MAX = 4096
};

/* A text that grows up to its room. Owner: the caller, with the memory. */
typedef struct gpurt_text {
    char *at;
    size_t room, used; /* used < room; at[used] is 0 */
} gpurt_text_t;

void gpurt_text_init(gpurt_text_t *text, char *at, size_t room);
void gpurt_text_add(gpurt_text_t *text, const char *bytes, size_t count);
void gpurt_text_printf(gpurt_text_t *text, const char *fmt, ...) GPURT_PRINTF(2, 3);
void gpurt_text_u64(gpurt_text_t *text, uint64_t value);

/* "INFO"; "?" for a number that is no level. */
const char *gpurt_level_name(uint32_t level);
/* From trace to panic, in any case. Returns: whether the word is one of them. */
bool gpurt_level_find(const char *word, uint32_t *level);

/* The message of a row; lane: for rows of own lane values the rank among its lanes, else
 * 0. */
void gpurt_render_message(const gpurt_dictionary_t *d, const gpurt_row_t *row,
                          uint32_t lane, gpurt_text_t *out);

/* How names that are recorded mangled, those of launches of plain programs, are shown: what it
 * returns is borrowed until its next call, NULL leaves one as it is. Without this all stay so.
 * Context: a program's begin. */
typedef const char *gpurt_nice_fn(const char *text);
void gpurt_render_nice(gpurt_nice_fn *nice);
/* A string as that has it, as borrowed; NULL: as it is. */
const char *gpurt_render_nicely(const gpurt_dictionary_t *d, uint32_t id);

/* For a terminal: escapes control characters, such as hide or turn others, and what is not
 * UTF-8. */
void gpurt_render_plain(gpurt_text_t *out, const char *bytes, size_t count);

/* Which lanes a message stands for: of a row of own lane values one, else all of the
 * row. */
uint32_t gpurt_render_lanes(const gpurt_row_t *row, uint32_t lane);

/* One value as its type says; a string as its text, unescaped. */
void gpurt_render_value(const gpurt_dictionary_t *d, uint32_t type, uint64_t value,
                        gpurt_text_t *out);
/* A string's text by its id. */
void gpurt_render_string(const gpurt_dictionary_t *d, uint32_t id, gpurt_text_t *out);

#endif
