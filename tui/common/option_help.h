/* SPDX-License-Identifier: Apache-2.0 */
/* option_help.h - the words of a program's option table: help, version, manual page.
 * Called by option.c only. */
#ifndef GPURT_TUI_OPTION_HELP_H
#define GPURT_TUI_OPTION_HELP_H

#include "option.h"

void option_help_print(const gpurt_option_program_t *program, FILE *out);
void option_version_print(const gpurt_option_program_t *program, FILE *out);

/* In roff, for man(7). The same text for the same table: no date in it. */
void option_man_print(const gpurt_option_program_t *program, FILE *out);

#endif
