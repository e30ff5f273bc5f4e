/* SPDX-License-Identifier: Apache-2.0 */
/* dumps.h - the GPU core dumps that lie beside this file, and what the programs that died
 * said of themselves. */
#ifndef GPURT_TESTS_DUMPS_H
#define GPURT_TESTS_DUMPS_H

#include "bytes.h"

/* What the thread that was to fail wrote down before it did. */
typedef struct dump_truth {
    char kernel[64];
    uint32_t block[3], thread[3], warp, lane, sm, slot, line;
    unsigned long long address;
} dump_truth_t;

/* Unpacks dumps/NAME.core.zst. Owner: the caller; free(at). Ends the test where it
 * cannot. */
bytes_t dump_load(const char *name);

/* Reads dumps/NAME.txt. */
void dump_truth(const char *name, dump_truth_t *out);

#endif
