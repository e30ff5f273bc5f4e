/* SPDX-License-Identifier: Apache-2.0 */
/* What bench_log's kernels take. */
#ifndef GPURT_TESTS_BENCH_LOG_H
#define GPURT_TESTS_BENCH_LOG_H

#include <gpurt/kernel.h>

/* One kernel each, so that one's registers are not another's. */
enum {
    LOG_WARP_2,   /* one record a warp, two arguments: 32 bytes */
    LOG_WARP_0,   /* one record a warp, no argument: 16 bytes */
    LOG_LANES_1,  /* every lane its own argument */
    LOG_LANES_4,  /* every lane its own four */
    LOG_DIVERGED, /* half of the warp, two arguments */
    LOG_LIMITED,  /* one call in 1,000 passes */
    LOG_OFF,      /* below the level */
    LOG_NOTHING,  /* the loop alone */
    LOG_RAW_2,    /* the probe: two lanes store 16 bytes each at a head in L1 */
    LOG_RAW_WIDE  /* the probe: 32 lanes store 16 bytes each */
};

enum {
    LOG_RAW_SLOTS = 64 /* rings of the probe, a multiprocessor of a GPU */
};

struct bench_log_args {
    uint32_t calls, spin;
    uint32_t *cycles;    /* of each call, calls a warp; NULL: not timed */
    char *raw;           /* the probe's rings, raw_bytes each */
    uint32_t *raw_heads; /* 32 words apart */
    uint32_t raw_bytes, slots;
    uint32_t *sink; /* never stored to */
};
GPURT_KERNEL_DECLARE(bench_log_warp_2, struct bench_log_args);
GPURT_KERNEL_DECLARE(bench_log_warp_0, struct bench_log_args);
GPURT_KERNEL_DECLARE(bench_log_lanes_1, struct bench_log_args);
GPURT_KERNEL_DECLARE(bench_log_lanes_4, struct bench_log_args);
GPURT_KERNEL_DECLARE(bench_log_diverged, struct bench_log_args);
GPURT_KERNEL_DECLARE(bench_log_limited, struct bench_log_args);
GPURT_KERNEL_DECLARE(bench_log_off, struct bench_log_args);
GPURT_KERNEL_DECLARE(bench_log_nothing, struct bench_log_args);
GPURT_KERNEL_DECLARE(bench_log_raw_2, struct bench_log_args);
GPURT_KERNEL_DECLARE(bench_log_raw_wide, struct bench_log_args);
GPURT_KERNEL_DECLARE(bench_log_lines, struct bench_log_args); /* CUDA printf */

#endif
