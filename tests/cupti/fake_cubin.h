/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cubin.h - machine code as nvcc -lineinfo leaves it, without the code: symbols of functions
 * in sections of their own, and a line table that refers to them. */
#ifndef GPURT_TESTS_FAKE_CUBIN_H
#define GPURT_TESTS_FAKE_CUBIN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FAKE_CUBIN_TEXTS = 2, /* sections */
    FAKE_CUBIN_BYTES = 4096,
    FAKE_CUBIN_STEP = 16 /* bytes of an instruction */
};

/* Its first instruction is of `line` of /src/app/spin.cu, the next of the line behind it. Its last
 * ones may be inlined: they stay on a line, each in a call that the one before it makes, of
 * fake_cubin_calls by turns. */
typedef struct fake_function {
    const char *name;
    uint64_t value; /* where in its section; not 0: its lines refer to the section */
    uint32_t text;  /* its section, less than FAKE_CUBIN_TEXTS */
    uint32_t line, count;
    uint32_t inlined;
} fake_function_t;

enum {
    FAKE_CUBIN_CALLS = 2
};
extern const char *const fake_cubin_calls[FAKE_CUBIN_CALLS];

typedef struct fake_cubin {
    uint64_t bytes;
    uint8_t at[FAKE_CUBIN_BYTES];
} fake_cubin_t;

/* rel: the line table holds what is added to symbols; else its relocations do. No functions: no
 * lines. */
void fake_cubin_make(fake_cubin_t *out, const fake_function_t *of, uint32_t count,
                     bool rel);

#endif
