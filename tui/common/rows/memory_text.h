/* SPDX-License-Identifier: Apache-2.0 */
/* memory_text.h - memory that a program has taken, and its pools; a part of activity_text.h. */
#ifndef GPURT_TUI_MEMORY_TEXT_H
#define GPURT_TUI_MEMORY_TEXT_H

#include "json.h"
#include "modelview.h"

#include <stdio.h>

enum {
    MEMORY_NOTES = 4,
    MEMORY_NOTES_OF_POOLS = 3, /* the first of those */
    MEMORY_NOTE = 128
};

/* What could not be paired, or had no room; "": nothing of that kind. */
const char *memory_note(const gpurt_model_memory_about_t *about, uint32_t which,
                        char buffer[MEMORY_NOTE]);
/* "4.0 KiB", "unknown size". */
const char *memory_size(uint64_t bytes, char buffer[24]);

/* A line for each kind and each pool; nothing where nothing is known. */
void memory_plain(FILE *out, const gpurt_model_activity_t *a);
/* memory_list, memory_about and pool_list. */
void memory_json(gpurt_json_t *j, const gpurt_model_activity_t *a);

#endif
