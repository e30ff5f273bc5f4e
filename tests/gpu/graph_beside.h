/* SPDX-License-Identifier: Apache-2.0 */
/* graph_beside.h - a CUDA graph of plain kernels, for tests of what runs beside it. */
#ifndef GPURT_TESTS_GRAPH_BESIDE_H
#define GPURT_TESTS_GRAPH_BESIDE_H

#include <stdint.h>

enum {
    GRAPH_WORDS = 1024,
    GRAPH_NODES = 10,
    GRAPH_LAUNCHES = 3
};

#ifdef __cplusplus
extern "C" {
#endif

/* Captures a graph of GRAPH_NODES kernels, each of which adds 1 to GRAPH_WORDS words of the device,
 * and launches it GRAPH_LAUNCHES times. Returns: NULL, or what CUDA says. A build without CUDA does
 * not have it. */
__attribute__((weak)) const char *graph_beside(uint32_t *words);

#ifdef __cplusplus
}
#endif

#endif
