/* SPDX-License-Identifier: Apache-2.0 */
/* replay_kernels.h - calls of a trace, made again by kernels. */
#ifndef GPURT_TUI_REPLAY_KERNELS_H
#define GPURT_TUI_REPLAY_KERNELS_H

#include <gpurt/allocmap.h>
#include <gpurt/kernel.h>

/* One call. */
typedef struct replay_call {
    uint32_t handle; /* which object */
    uint32_t size;   /* asked for; REPLAY_FREE: given back */
    uint32_t align;
} replay_call_t;
#define REPLAY_FREE UINT32_MAX

/* Written by: any lane. */
typedef struct replay_sums {
    uint64_t xserved, xbytes, xrefused;
} replay_sums_t;

/* A lane a call of [begin, end); all may come at the same time. */
struct replay_args {
    gpurt_heap_t heap;
    const replay_call_t *calls;
    uint64_t *objects; /* by handle */
    replay_sums_t *sums;
    uint32_t begin, end;
};

GPURT_KERNEL_DECLARE(replay_step, struct replay_args);

#endif
