/* SPDX-License-Identifier: Apache-2.0 */
/* replay_kernels.h - calls of a trace, made again by kernels, one for each way of serving
 * them; and kernels that write over every byte of what was served and look whether it is
 * still there.
 *
 * replay_place.h makes what they take memory from. */
#ifndef GPURT_TUI_REPLAY_KERNELS_H
#define GPURT_TUI_REPLAY_KERNELS_H

#include <gpurt/arena.h>
#include <gpurt/impl/regionmap.h>
#include <gpurt/kernel.h>

enum {
    REPLAY_THREADS = 128,  /* of a block */
    REPLAY_BATCH = 4096,   /* calls that are made at the same time at most */
    REPLAY_POOL_CALLS = 8, /* that a lane makes one after the other, where pools serve */
    REPLAY_MARKS = 32      /* of an arena, one in the other */
};

enum {
    REPLAY_ALLOC,
    REPLAY_FREE
};

/* One call. */
typedef struct replay_call {
    uint32_t handle;      /* which object */
    uint32_t size, align; /* that were asked for, of a free too */
    uint32_t what;        /* REPLAY_ALLOC, REPLAY_FREE */
} replay_call_t;

/* Written by: any lane. */
typedef struct replay_sums {
    uint64_t xserved, xbytes, xrefused; /* bytes: asked for */
    uint64_t xfreed;      /* bytes, asked for, of what was given back; when looked at */
    uint64_t xlooked;     /* objects that were looked at, byte for byte, and */
    uint64_t xdamaged;    /* ... were not as they had been left */
    uint64_t xmisaligned; /* objects that do not begin where they must */
    uint64_t xwrong;      /* frees, or releases of marks, that were refused */
} replay_sums_t;

/* A mark of each arena that a batch begins with, and the one that is gone back to before. */
typedef struct replay_pass {
    uint32_t release, mark; /* a level below REPLAY_MARKS, or REPLAY_NO_MARK */
} replay_pass_t;
#define REPLAY_NO_MARK UINT32_MAX

/* A lane a call of [begin, end); all may come at the same time. */
struct replay_args {
    gpurt_heap_t heap;
    gpurt_region_t region;
    gpurt_arena_source_t source;
    const replay_call_t *calls;
    uint64_t *objects; /* by handle; 0: none */
    replay_sums_t *sums;
    gpurt_arena_t *arenas;     /* a lane of a batch */
    gpurt_arena_mark_t *marks; /* REPLAY_MARKS an arena */
    uint32_t begin, end;
    uint32_t arena_count, piece_bytes;
    replay_pass_t pass;
    uint32_t what;  /* of replay_look: calls of this kind */
    bool looked_at; /* what is given back is counted */
};

/* Kernels: replay_heap, and the same that checks, are of a heap's own calls; replay_arenas
 * does not free: it begins with the pass's release and mark, in a lane for each arena. */
GPURT_KERNEL_DECLARE(replay_heap, struct replay_args);
GPURT_KERNEL_DECLARE(replay_heap_checked, struct replay_args);
GPURT_KERNEL_DECLARE(replay_region, struct replay_args);
GPURT_KERNEL_DECLARE(replay_pools, struct replay_args);
GPURT_KERNEL_DECLARE(replay_arenas, struct replay_args);
GPURT_KERNEL_DECLARE(replay_arenas_begin, struct replay_args);
GPURT_KERNEL_DECLARE(replay_write, struct replay_args);
GPURT_KERNEL_DECLARE(replay_look, struct replay_args);

#endif
