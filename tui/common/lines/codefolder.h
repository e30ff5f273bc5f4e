/* SPDX-License-Identifier: Apache-2.0 */
/* codefolder.h - files of machine code in a folder, as the collector keeps them (GPURT_CUPTI_CODE): which
 * of them are worth a disassembler's time. A program that compiles while it runs loads the same function
 * many times; one file of each version will do.
 *
 * Context: one thread. */
#ifndef GPURT_TUI_CODEFOLDER_H
#define GPURT_TUI_CODEFOLDER_H

#include <gpurt/base.h>

/* Functions that are asked for, by their names as people write them. */
typedef struct code_wish {
    bool (*wanted)(const void *context, const char *function);
    const void *context;
} code_wish_t;

/* Owner: the caller; zeroed at first. */
typedef struct codefolder {
    char **paths; /* the smallest file first: what a compiler made before whole libraries */
    uint32_t count, room;
    uint32_t cubins; /* that lie there */
} codefolder_t;

/* wish: NULL: all functions. Returns: false: path is no folder, or there is no memory. */
bool codefolder_open(const char *path, const code_wish_t *wish, codefolder_t *out);
void codefolder_close(codefolder_t *f);

#endif
