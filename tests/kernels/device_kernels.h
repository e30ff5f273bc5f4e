/* SPDX-License-Identifier: Apache-2.0 */
/* device_kernels.h - kernels of a program that has several devices open: each takes memory of its
 * own device's default heap, speaks into its own device's log, and may panic. */
#ifndef GPURT_TESTS_DEVICE_KERNELS_H
#define GPURT_TESTS_DEVICE_KERNELS_H

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/kernel.h>

enum {
    DEVICE_OBJECT_BYTES = 192
};

/* Owner: the test. Shared with: every lane. */
struct device_args {
    uint32_t **objects; /* one a lane */
    uint32_t *refused;  /* lanes that got none */
    uint32_t *wrong;    /* objects that hold something else */
    uint32_t device, rounds;
    gpurt_heap_t heap; /* of the kernels that take theirs */
};

/* Takes an object a lane and fills it with what only this device writes. */
GPURT_KERNEL_DECLARE(device_take, struct device_args);
/* Looks at them and gives them back. */
GPURT_KERNEL_DECLARE(device_give, struct device_args);
/* The same with the heap that they are given. */
GPURT_KERNEL_DECLARE(device_take_of, struct device_args);
GPURT_KERNEL_DECLARE(device_give_of, struct device_args);
/* Gives them to that heap unlooked-at, whosever they are. */
GPURT_KERNEL_DECLARE(device_drop_to, struct device_args);
/* Takes, looks and gives back, rounds times. */
GPURT_KERNEL_DECLARE(device_churn, struct device_args);
/* Says `rounds` messages, counted over all lanes. */
GPURT_KERNEL_DECLARE(device_say, struct device_args);
/* Its two lanes wait in different places: only where that is found. */
GPURT_KERNEL_DECLARE(device_stuck, struct device_args);
/* Block 0 panics. */
GPURT_KERNEL_DECLARE(device_raise, struct device_args);

#endif
