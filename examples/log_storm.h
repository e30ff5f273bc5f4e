/* SPDX-License-Identifier: Apache-2.0 */
/* log_storm.h - what the host and the kernel agree on. */
#ifndef LOG_STORM_H
#define LOG_STORM_H

#include <gpurt/kernel.h>

struct log_storm_args {
    uint32_t count;
};

GPURT_KERNEL_DECLARE(log_storm, struct log_storm_args);

#endif
