/* SPDX-License-Identifier: Apache-2.0 */
/* log_kernels.h - what the kernels of test_device_log and test_device_panic are told. */
#ifndef GPURT_TESTS_LOG_KERNELS_H
#define GPURT_TESTS_LOG_KERNELS_H

#include <gpurt/kernel.h>

/* A format of 4,096 bytes: its definition finds no room in any box. */
#define LOG_FOUR_(text) text text text text
#define LOG_TOO_LONG    LOG_FOUR_(LOG_FOUR_(LOG_FOUR_(LOG_FOUR_("sixteen letters."))))

struct log_args {
    uint32_t what;
};

struct panic_args {
    uint32_t *done;
    uint32_t limit;
};

/* Positions that each lane was given, `takes` of them. */
struct log_turn_args {
    uint32_t *positions;
    uint32_t takes;
};

#endif
