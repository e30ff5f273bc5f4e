/* SPDX-License-Identifier: Apache-2.0 */
/* cubins.h - machine code that was compiled with source lines (-lineinfo), kept as its module is
 * loaded, for whoever has an instruction of it and wants the line.
 *
 * A module may be unloaded while samples of it are on their way, so what is kept stays. It is
 * found by CUPTI's checksum, so code that is loaded again takes no more room. */
#ifndef GPURT_CUPTI_CUBINS_H
#define GPURT_CUPTI_CUBINS_H

#include "inlined.h"
#include "pcsampling_api.h"

#include <stdbool.h>

/* api: borrowed for ever. Context: once, before the others. */
void cubins_open(const pcsampling_api_t *api);

/* Whether it is worth keeping. */
bool cubins_has_lines(const void *cubin, size_t bytes);

/* Copies it. crc: its checksum. Returns: false where there is no room; those before stay. Context:
 * any thread of the program, as it loads the module. */
bool cubins_keep(uint64_t crc, const void *cubin, size_t bytes);

/* CUPTI's checksum, by which samples name the code. Returns: false: CUPTI refuses. */
bool cubins_crc(const void *cubin, size_t bytes, uint64_t *crc);

/* What is known of an instruction. */
typedef struct cubins_place {
    uint32_t line; /* 0: none is known, file is empty; else the innermost inlined call's */
    char file[INLINED_FILE];
    char calls[INLINED_TEXT]; /* inlined.h; "": nothing is inlined there */
} cubins_place_t;

/* Returns: whether a line is known. Reads all of a cubin's lines the first time. Asks nothing of CUPTI, whose own look crashed beside the end of a
 * program. Context: one thread, which holds no lock. */
bool cubins_look(uint64_t crc, const char *function, uint64_t offset, cubins_place_t *out);

#endif
