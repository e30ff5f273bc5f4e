/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt_find.h - the programs called gpurt-X that there are. */
#ifndef GPURT_TUI_GPURT_FIND_H
#define GPURT_TUI_GPURT_FIND_H

#include <gpurt/base.h>
#include <limits.h>

enum {
    GPURT_FOUND_MAX = 64
};

typedef struct gpurt_found_program {
    char name[64]; /* X */
    char path[PATH_MAX];
} gpurt_found_program_t;

typedef struct gpurt_found {
    gpurt_found_program_t list[GPURT_FOUND_MAX]; /* by name */
    uint32_t count;
} gpurt_found_t;

/* Looks beside our own program file, then in PATH; of one name the first counts. */
void gpurt_find(gpurt_found_t *found);

#endif
