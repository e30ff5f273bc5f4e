/* SPDX-License-Identifier: Apache-2.0 */
/* check_print.h - what gpurt-check says of a finished hunt: to people, or as JSON. */
#ifndef GPURT_TUI_CHECK_PRINT_H
#define GPURT_TUI_CHECK_PRINT_H

#include "hunt.h"

void check_print_text(const hunt_t *hunt, FILE *out);

/* One object on one line. */
void check_print_json(const hunt_t *hunt, target_tool_t tool, FILE *out);

#endif
