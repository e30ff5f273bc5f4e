/* SPDX-License-Identifier: Apache-2.0 */
/* cubins.h - machine code that was compiled with source lines (-lineinfo), kept as its module is
 * loaded, for whoever has an instruction of it and wants the line.
 *
 * A module may be unloaded while samples of it are on their way, so what is kept stays. It is
 * found by CUPTI's checksum, so code that is loaded again takes no more room. */
#ifndef GPURT_CUPTI_CUBINS_H
#define GPURT_CUPTI_CUBINS_H

#include "pcsampling_api.h"

#include <stdbool.h>

enum {
    CUBINS_FILE = 512 /* bytes of a path, with its end */
};

/* api: borrowed for ever. Context: once, before the others. */
void cubins_open(const pcsampling_api_t *api);

/* Copies it, if it has lines. Returns: false where there is no room; those before stay. Context:
 * any thread of the program, as it loads the module. */
bool cubins_keep(const void *cubin, size_t bytes);

/* The innermost inlined call's line. Returns: 0 and an empty path where none is known. Reads all of
 * a cubin's lines the first time. Asks nothing of CUPTI, whose own look crashed beside the end of a
 * program. Context: one thread, which holds no lock. */
uint32_t cubins_line(uint64_t crc, const char *function, uint64_t offset,
                     char file[CUBINS_FILE]);

#endif
