/* SPDX-License-Identifier: Apache-2.0 */
/* memory_text.h - memory that a program has taken, and its pools; a part of activity_text.h. */
#ifndef GPURT_TUI_MEMORY_TEXT_H
#define GPURT_TUI_MEMORY_TEXT_H

#include "modelview.h"

#include <stdio.h>

/* A line for each kind and each pool; nothing where nothing is known. */
void memory_plain(FILE *out, const gpurt_model_memory_t *m);
/* ,"memory_list":[...],"memory_about":{...},"pool_list":[...] */
void memory_json(FILE *out, const gpurt_model_memory_t *m);

#endif
