/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what each target says: how an input is tried, and what a good one looks like.
 * With clang's libFuzzer a target runs for as long as one likes; fuzz_replay.c makes an
 * ordinary test of it. */
#ifndef GPURT_TESTS_FUZZ_H
#define GPURT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sound input number index, to be damaged. Returns: its bytes, from malloc, and their
 * count; NULL when there are no more. */
uint8_t *fuzz_seed(uint32_t index, size_t *size);

#endif
