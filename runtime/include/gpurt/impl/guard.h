/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - what a launch, its kernel and the host tell each other while it runs: whether to
 * stop, what a panic does, which blocks failed.
 *
 * Owner: the host (recover.h makes it, in host memory that kernels reach). Shared with: the
 * lanes of the launch, each attempt in turn. unwind.h holds the device's verbs. A word that
 * lanes and host touch at once is relaxed everywhere: no data goes with it, and the end of the
 * kernel orders the rest. */
#ifndef GPURT_GUARD_H
#define GPURT_GUARD_H

#include <gpurt/base.h>

/* What a panic does, from mild to hard. */
enum {
    GPURT_ON_PANIC_DEFAULT = 0, /* BLOCK */
    GPURT_ON_PANIC_THREAD = 1,  /* the lanes that panicked end */
    GPURT_ON_PANIC_BLOCK = 2,   /* their block is cancelled */
    GPURT_ON_PANIC_KERNEL = 3,  /* every block of the launch is */
    GPURT_ON_PANIC_TRAP = 4     /* the kernel fails at once; on a GPU the context dies */
};

/* Which panics trap on a GPU, guard or not: GPURT_PANIC_TRAP says it for a file. */
#define GPURT_TRAP_NEVER  0
#define GPURT_TRAP_GROUPS 1 /* those that cooperative groups could wait for, see unwind.h */
#define GPURT_TRAP_ALWAYS 2
#define GPURT_TRAP_COUNTS \
    3 /* all, in a file of <cuda/barrier>, whose barriers count arrivals */
#ifndef GPURT_PANIC_TRAP
/* NVIDIA's <cuda/barrier>, which <cuda/pipeline> brings along. Not cuda_awbarrier.h: Thrust and CUB
 * bring that along, and wait for nobody. */
#    if defined(_CUDA_BARRIER)
#        define GPURT_PANIC_TRAP GPURT_TRAP_COUNTS
#    else
#        define GPURT_PANIC_TRAP GPURT_TRAP_GROUPS
#    endif
#endif

/* Why a launch is to stop. */
enum {
    GPURT_STOP_NOT = 0,
    GPURT_STOP_PANIC = 1,  /* a panic at level KERNEL: may be tried again */
    GPURT_STOP_KERNEL = 2, /* gpurt_cancel_kernel */
    GPURT_STOP_HOST = 3    /* gpurt_guard_cancel */
};

/* A word a block follows: the attempt in which it failed last, counted from 1; 0: none. */
typedef struct GPURT_ALIGN(64) gpurt_guard {
    /* the host's; fixed while a kernel runs, but for those with an x */
    uint32_t xstop;     /* GPURT_STOP_*; written by: the host, and lanes once from NOT */
    uint32_t xlevel;    /* GPURT_ON_PANIC_*; written by: the host, at any time */
    uint32_t xdegraded; /* written by: the host, and lanes that panic */
    uint32_t highest;   /* escalation goes no further than this level */
    uint32_t escalate_after, degrade_after; /* panics; 0: never */
    uint64_t escalate_window_ns;            /* 0: the whole launch */
    uint32_t block_count;
    uint32_t reserved[5];
    /* the lanes' */
    uint32_t xpanics;    /* of all attempts; written by: lanes that panic */
    uint32_t xnested;    /* of them inside deferred handlers; likewise */
    uint32_t xescalated; /* of them at a higher level than xlevel; likewise */
    uint32_t xin_window; /* likewise */
    uint64_t xwindow_ns; /* start of this window, device's clock; likewise */
    uint32_t reserved_too[10];
} gpurt_guard_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_guard_t) == 128, "a line for each side");

/* The first argument of a guarded kernel. */
typedef struct GPURT_ALIGN(16) gpurt_ticket {
    gpurt_guard_t *guard; /* NULL: none */
    uint32_t attempt;     /* from 0; later ones run only what failed in the one before */
    uint32_t reserved;
} gpurt_ticket_t;

GPURT_HD uint32_t *gpurt_guard_blocks(gpurt_guard_t *guard)
{
    return (uint32_t *)(guard + 1);
}

#endif
