/* SPDX-License-Identifier: Apache-2.0 */
/* code_text.h - sampled instructions with their text, as far as a program's code is there. */
#ifndef GPURT_TUI_CODE_TEXT_H
#define GPURT_TUI_CODE_TEXT_H

#include "lines_text.h"
#include "sasstext.h"

/* Owner: the caller. */
typedef struct code_text {
    const lines_text_t *lines;
    const sasstext_t *sass; /* NULL: instructions stand without text */
    uint32_t arch;          /* of the GPU: 90 of sm_90; 0: not known */
} code_text_t;

/* All functions that are wanted, by their share; instructions by where they lie. */
void code_text_print(FILE *out, const code_text_t *c);
/* {"functions":[{"function":...,"code":[{"offset":...}]}]}; text null where there is none. */
void code_text_json(gpurt_json_t *j, const char *key, const code_text_t *c);

#endif
