/* SPDX-License-Identifier: Apache-2.0 */
/* test_clock_back.h - the work that test_clock_back.c waits for. */
#ifndef GPURT_TESTS_CLOCK_BACK_H
#define GPURT_TESTS_CLOCK_BACK_H

#include <gpurt/kernel.h>

/* Owner: the test. Shared with: every lane. */
struct clock_back_args {
    uint32_t *flag;
};

/* Sets the flag. */
GPURT_KERNEL_DECLARE(clock_back_mark, struct clock_back_args);

#endif
