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

typedef struct codefolder_file {
    char *path;
    uint64_t bytes;
    uint32_t number; /* in the order in which they were found */
} codefolder_file_t;

/* A version of a function, and the first file that has it. */
typedef struct codefolder_version {
    uint64_t hash;     /* 0: a free place */
    uint64_t function; /* codefolder_function */
    uint32_t file;     /* its number */
} codefolder_version_t;

/* Owner: the caller; zeroed at first. */
typedef struct codefolder {
    codefolder_file_t
        *files; /* the smallest first: what a compiler made before whole libraries */
    uint32_t count, room;
    codefolder_version_t
        *versions; /* a table of hashes; a power of two of places, or none */
    uint32_t version_count, version_room;
    uint32_t cubins; /* that lie there */
    uint32_t unseen; /* of them: the time was over before they were looked at */
} codefolder_t;

/* wish: NULL: all functions. until_ns: steady; what was found by then stays. Returns: false: path is no
 * folder, or there is no memory. */
bool codefolder_open(const char *path, const code_wish_t *wish, uint64_t until_ns,
                     codefolder_t *out);
void codefolder_close(codefolder_t *f);

/* What stands for a function's name, as the linker writes it. */
uint64_t codefolder_function(const char *mangled);

#endif
