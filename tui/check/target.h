/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - which file gpurt-check executes for a program the user named. */
#ifndef GPURT_TUI_TARGET_H
#define GPURT_TUI_TARGET_H

#include "elf_kind.h"

#include <gpurt/base.h>
#include <limits.h>

/* What --race, --asan and --schedule ask for. */
typedef enum target_tool {
    TARGET_SEEDS, /* any build will do */
    TARGET_RACE,
    TARGET_ASAN,
    TARGET_SCHEDULE,
} target_tool_t;

enum {
    TARGET_TEXT = 2 * PATH_MAX + 512
}; /* two paths and a sentence */

typedef struct target {
    char path[PATH_MAX]; /* to be executed */
    elf_kind_t kind;
    char note[TARGET_TEXT]; /* what the user should know of the choice; "" */
} target_t;

const char *target_tool_name(target_tool_t tool); /* "race"; "seeds" for TARGET_SEEDS */

/* Looks the program up as a shell would, then for a build that the tool can use: the
 * program itself, or beside it the file that gpurt_add_check_program makes (PROGRAM-race,
 * ...).
 * Returns: 0, or an exit status (125, 126, 127) with one line in why[TARGET_TEXT]. */
int target_find(const char *program, target_tool_t tool, target_t *out, char *why);

#endif
