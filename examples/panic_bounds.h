/* SPDX-License-Identifier: Apache-2.0 */
/* panic_bounds.h - what the host and the kernel agree on. */
#ifndef PANIC_BOUNDS_H
#define PANIC_BOUNDS_H

#include <gpurt/kernel.h>

struct panic_bounds_args {
    uint32_t *values;
    uint32_t count; /* of values, */
    uint32_t step;  /* and every step-th of them is touched */
};

GPURT_KERNEL_DECLARE(panic_bounds, struct panic_bounds_args);

#endif
