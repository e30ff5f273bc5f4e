/* SPDX-License-Identifier: Apache-2.0 */
/* lives_text.h - the lives of a log in words. */
#ifndef GPURT_TUI_LIVES_TEXT_H
#define GPURT_TUI_LIVES_TEXT_H

#include "json.h"
#include "lives.h"

#include <stdio.h>

/* A line for each. */
void lives_print(FILE *out, const gpurt_life_t *lives, uint32_t count);
/* An array; docs/PANIC_JSON.md says what is in it. */
void lives_json(gpurt_json_t *j, const char *key, const gpurt_life_t *lives,
                uint32_t count);

#endif
