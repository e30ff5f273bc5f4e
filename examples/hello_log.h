/* SPDX-License-Identifier: Apache-2.0 */
/* hello_log.h - what the host and the kernel agree on. */
#ifndef HELLO_LOG_H
#define HELLO_LOG_H

#include <gpurt/kernel.h>

struct hello_log_args {
    uint32_t answer;
};

GPURT_KERNEL_DECLARE(hello_log, struct hello_log_args);

#endif
