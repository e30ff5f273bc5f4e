/* SPDX-License-Identifier: Apache-2.0 */
/* scope_kernels.h - what the kernels of test_scope are told, and what they write down. */
#ifndef GPURT_TESTS_SCOPE_KERNELS_H
#define GPURT_TESTS_SCOPE_KERNELS_H

#include <gpurt/kernel.h>

enum {
    SCOPE_BLOCKS = 6,
    SCOPE_TASKS = 5, /* of each warp */
    SCOPE_TRIES = 4,
    SCOPE_ITEMS = 40, /* through the queue */
    SCOPE_ROOM = 4    /* of the queue */
};

/* What blocks of scope_objects share. */
enum {
    OBJECT_LOCK,    /* each block takes it ROUNDS times and counts */
    OBJECT_BARRIER, /* blocks meet ROUNDS times */
    OBJECT_QUEUE,   /* block 0 sends, the others receive */
    OBJECT_KINDS
};

struct scope_args {
    uint64_t *log;   /* a word a task: digits of handlers that ran */
    int32_t *status; /* a word a task, or a block */
    uint32_t *count; /* a word a task: times its work was begun; or what is shared */
    uint32_t *word;  /* the lock, the barrier or the queue's head; 0 at first */
    uint32_t *data;  /* the queue */
    uint32_t kind, rounds;
    uint32_t victim;   /* task of each warp, or block; SCOPE_NOBODY */
    uint32_t failures; /* it fails so often */
    uint32_t at;       /* of a block: in this round */
};
#define SCOPE_NOBODY 0xffffffffu

GPURT_KERNEL_DECLARE(scope_tasks, struct scope_args);
GPURT_KERNEL_DECLARE(scope_told, struct scope_args);
GPURT_KERNEL_DECLARE(scope_objects, struct scope_args);

#endif
