/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_GPU_FAULTS_H
#define GPURT_TESTS_GPU_FAULTS_H

#include <gpurt/kernel.h>

enum {
    FAULT_NONE,
    FAULT_TRAP,
    FAULT_ADDRESS,
    FAULT_MISALIGNED
};
enum {
    FAULTS_STATIC_BYTES = 40 << 10,
    FAULTS_WAIT = 1 << 29, /* cycles that a lane goes on after its fault */
    FAULTS_WIDE = 64       /* 64-bit values that a lane of faults_wide holds at once */
};

struct faults_args {
    uint64_t *out;
    uint32_t fault;
};

#endif
