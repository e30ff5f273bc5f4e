/* SPDX-License-Identifier: Apache-2.0 */
/* level_app.h - what the program and its kernel agree on. */
#ifndef LEVEL_APP_H
#define LEVEL_APP_H

#include <gpurt/kernel.h>

enum {
    LEVEL_APP_LATE = 1, /* one place more logs from now on */
    LEVEL_APP_STOP = 2
};

struct level_app_args {
    const uint32_t *xstop; /* LEVEL_APP_*, host memory; written by: the host */
    uint64_t pause_ns;
};

GPURT_KERNEL_DECLARE(level_app, struct level_app_args);

#endif
