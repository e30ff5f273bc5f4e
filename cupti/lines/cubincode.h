/* SPDX-License-Identifier: Apache-2.0 */
/* cubincode.h - source lines of a module's machine code, by function and offset.
 *
 * A cubin is no program at an address: each function has a section that begins at 0, and its line
 * table refers to symbols. So each section is given an address of its own here. CUPTI has an entry
 * point for the same, which crashed beside the end of a program. Nothing in the code is believed.
 *
 * Context: one thread. */
#ifndef GPURT_CUPTI_CUBINCODE_H
#define GPURT_CUPTI_CUBINCODE_H

#include "linetable.h"

typedef struct cubincode cubincode_t;

/* code: an ELF file, borrowed until it is closed; addresses are written into its line table. NULL:
 * no lines, or no memory. */
cubincode_t *cubincode_open(uint8_t *code, uint64_t bytes);
void cubincode_close(cubincode_t *c);

/* function: as a symbol names it; of "$kernel$callee" the callee's name will do. Texts of frames are
 * borrowed from the code. Returns: how many there are, the innermost first; 0: no line is known. */
uint32_t cubincode_frames(const cubincode_t *c, const char *function, uint64_t offset,
                          line_frame_t out[LINETABLE_FRAMES]);

#endif
