/* SPDX-License-Identifier: Apache-2.0 */
/* two_units.cuh - a program of two translation units that both use gpurt's headers. It
 * is built three times: with each unit on its own, with -rdc=true, and with link-time
 * optimisation. */
#ifndef GPURT_TESTS_TWO_UNITS_CUH
#define GPURT_TESTS_TWO_UNITS_CUH

#include <gpurt/device.h>

static constexpr uint32_t kTwoThreads = 64;

/* Launches the other unit's kernel: out[i] = square of i, and the ballot of odd lanes
 * behind. */
void two_other_launch(uint32_t *out);

#if defined(TWO_UNITS_RDC)
/* Across units, which only relocatable device code can. */
extern __device__ uint32_t two_other_square(uint32_t v);
#endif

#endif
