/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_BENCH_COLLECTIVE_H
#define GPURT_TESTS_BENCH_COLLECTIVE_H

#include <gpurt/kernel.h>
#include <gpurt/phaser.h>

struct bench_collective_args {
    void *area;
    const uint32_t *in;
    uint32_t *out;
    gpurt_phaser_t *phaser;
    uint64_t n;
    uint64_t *clocks; /* one a block */
    uint32_t rounds;
};

#endif
