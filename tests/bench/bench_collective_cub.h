/* SPDX-License-Identifier: Apache-2.0 */
/* bench_collective_cub.h - CUB's scan of a device's array, the peer of a grid's. The build takes
 * bench_collective_cub.cu where nvcc comes with CUB, else bench_collective_no_cub.c. */
#ifndef GPURT_TESTS_BENCH_COLLECTIVE_CUB_H
#define GPURT_TESTS_BENCH_COLLECTIVE_CUB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C"
#endif
    /* Context: host, nothing else runs on the current device. in, out: device memory.
 * ns: `repeats` times, behind two more that warm up. Returns: 0, or -1: no CUB, or CUDA refused. */
    int
    bench_collective_cub(const uint32_t *in, uint32_t *out, uint64_t n, double *ns,
                         uint32_t repeats);

#endif
