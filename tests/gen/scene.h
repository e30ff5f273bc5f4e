/* SPDX-License-Identifier: Apache-2.0 */
/* scene.h - rows of a program that does not exist: an LLM server on a GPU of 132 SMs,
 * with sites of all levels, floods, losses, panics, and texts that would harm a
 * terminal. The same number gives the same rows. */
#ifndef GPURT_TEST_SCENE_H
#define GPURT_TEST_SCENE_H

#include "dictionary.h"

#define SCENE_START_NS 1767225600000000000ull /* 2026-01-01 00:00:00 UTC */
#define SCENE_ESCAPE   "name \033[31mred\033]0;title\007 \302\233 \200 end"

enum {
    SCENE_SITES = 10,
    SCENE_SMS = 132,
    SCENE_SLOTS = 64
};

/* One row with room for the words of the longest. */
typedef struct scene_row {
    gpurt_row_t row;
    uint32_t words[GPURT_RECORD_MAX_WORDS + 1];
} scene_row_t;

/* Owner: the caller. */
typedef struct scene {
    uint32_t ids[SCENE_SITES]; /* of the sites, by the order in scene.c */
    uint32_t text_id;          /* of a string with escapes */
    uint64_t state;
    uint64_t time_ns;
    uint64_t step_ns; /* between two rows */
} scene_t;

void scene_about(gplog_file_t *about);
/* Defines the sites in d. */
void scene_begin(scene_t *s, gpurt_dictionary_t *d, uint64_t seed, uint64_t step_ns);
/* The next row. */
void scene_next(scene_t *s, scene_row_t *out);

/* What site i says: for a producer that defines it elsewhere. */
const char *scene_format(uint32_t i);
const char *scene_file(uint32_t i);
uint32_t scene_line(uint32_t i);
uint32_t scene_level(uint32_t i);

#endif
