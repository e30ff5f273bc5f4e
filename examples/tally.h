/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - two ways to count, one of them wrong. */
#ifndef TALLY_H
#define TALLY_H

#include <gpurt/kernel.h>

struct tally_args {
    uint32_t *count;
    uint32_t rounds;
};

GPURT_KERNEL_DECLARE(tally_wrong, struct tally_args);
GPURT_KERNEL_DECLARE(tally_right, struct tally_args);

#endif
