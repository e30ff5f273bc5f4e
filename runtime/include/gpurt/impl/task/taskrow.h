/* SPDX-License-Identifier: Apache-2.0 */
/* taskrow.h - the record of a run of a task: what its words are. It is a record like all others
 * (record.h), of the warp that ran the body; its time is that of the body's begin. The layout is frozen;
 * it may grow at its end. */
#ifndef GPURT_TASKROW_H
#define GPURT_TASKROW_H

#include <gpurt/impl/activity.h>

#define GPURT_TASK_NOWHERE UINT32_MAX

typedef struct gpurt_task_slice {
    uint32_t name;
    gpurt_pair_t ns;   /* that the body took */
    uint32_t bodies;   /* that ran at once: lanes of a warp, each with a task */
    uint32_t of;       /* it stands for so many bodies of its warp, itself among them */
    uint32_t ready_ns; /* from ready to begun, at most so many; 0: it was in no queue */
    int32_t priority, status;
    gpurt_pair_t task; /* the handle; of several bodies of the first */
    gpurt_pair_t
        from; /* of the task that spawned it, or was the last that it waited for; 0: the host */
    uint32_t place; /* where it became ready: multiprocessor << 8 | slot; or NOWHERE */
} gpurt_task_slice_t;

enum {
    GPURT_TASK_SLICE_WORDS = sizeof(gpurt_task_slice_t) / 4
};
#define GPURT_TASK_SLICE_TEXT                                                 \
    "task %s ran for %llu ns, bodies %u, stands for %u; ready %u ns before, " \
    "priority %d, status %d; task 0x%llx, made ready by 0x%llx, at place 0x%x"
/* As the fields are, argument 0 lowest: S W U U U I I W W U. */
#define GPURT_TASK_SLICE_TYPES 0x2441122249ull
#define GPURT_TASK_SLICE_ARGS  10

#endif
