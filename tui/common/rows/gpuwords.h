/* SPDX-License-Identifier: Apache-2.0 */
/* gpuwords.h - what is recorded of the GPU of a program that is started: --cupti WORDS, or GPURT_CUPTI;
 * or what fits into --budget PERCENT. */
#ifndef GPURT_TUI_GPUWORDS_H
#define GPURT_TUI_GPUWORDS_H

#include "option.h"

/* option: the words of --cupti, or NULL. What the environment asks for wrongly is told, and the rest of
 * it recorded. Returns: 0, or the status to exit with. */
int gpuwords_check(const gpurt_option_program_t *program, const char *option);

/* percent: of --budget, or NULL. Hands it on, and *words, which may be NULL, becomes what fits
 * into it. Returns: likewise. */
int gpuwords_budget(const gpurt_option_program_t *program, const char *percent,
                    const char **words);

/* Hands the words on to what is started. fallback: where nobody has said any; NULL: none. Returns:
 * likewise. */
int gpuwords_set(const gpurt_option_program_t *program, const char *option,
                 const char *fallback);

#endif
