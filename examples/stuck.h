/* SPDX-License-Identifier: Apache-2.0 */
/* stuck.h - a kernel that cannot end. */
#ifndef STUCK_H
#define STUCK_H

#include <gpurt/kernel.h>

struct stuck_args {
    uint32_t *votes;
};

GPURT_KERNEL_DECLARE(stuck, struct stuck_args);

#endif
