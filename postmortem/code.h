/* SPDX-License-Identifier: Apache-2.0 */
/* code.h - what stands at an address of machine code of a core dump: kernel, function,
 * source line, instruction. */
#ifndef GPURT_POSTMORTEM_CODE_H
#define GPURT_POSTMORTEM_CODE_H

#include "gpucore.h"
#include "linetable.h"

/* Texts are borrowed from the dump. */
typedef struct code_place {
    const char *kernel;   /* mangled; whose section it is */
    const char *function; /* mangled; the same, or one that it calls */
    uint64_t offset;      /* of the instruction in the function */
    bytes_t code;         /* from the instruction on, empty where it is not in the dump */
    line_frame_t frames[LINETABLE_FRAMES];
    uint32_t frame_count; /* 0: compiled without lines */
} code_place_t;

/* Returns: false where no image covers pc. */
bool code_find(const gpucore_t *core, uint64_t pc, code_place_t *out);

/* The name of a function of C++ or C without its arguments, as people write it:
 * "ns::kernel" of "_ZN2ns6kernelEPf". What is not understood is given as it is. */
void code_name(const char *mangled, char *out, size_t room);

#endif
