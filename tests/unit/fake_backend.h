/* SPDX-License-Identifier: Apache-2.0 */
/* fake_backend.h - a back end that runs nothing and remembers everything.
 *
 * It stands in for both back ends; compiled with FAKE_WITHOUT_CUDA it leaves the CUDA table
 * out, as in a program without CUDA kernels. It answers as told, counts its calls, and ends
 * the test when it is called while not open, or with an object that is not its own or was
 * destroyed. */
#ifndef GPURT_TESTS_FAKE_BACKEND_H
#define GPURT_TESTS_FAKE_BACKEND_H

#include "backend.h"

typedef enum fake_op {
    FAKE_PROBE,
    FAKE_OPEN,
    FAKE_CLOSE,
    FAKE_COUNTERS,
    FAKE_REPORT,
    FAKE_MEM_CREATE,
    FAKE_MEM_DESTROY,
    FAKE_HOST_CREATE,
    FAKE_HOST_DESTROY,
    FAKE_COPY,
    FAKE_FILL,
    FAKE_LAUNCH,
    FAKE_OCCUPANCY,
    FAKE_STREAM_CREATE,
    FAKE_STREAM_DESTROY,
    FAKE_STREAM_SYNC,
    FAKE_STREAM_QUERY,
    FAKE_SYNC,
    FAKE_EVENT_CREATE,
    FAKE_EVENT_DESTROY,
    FAKE_EVENT_RECORD,
    FAKE_EVENT_WAIT,
    FAKE_EVENT_SYNC,
    FAKE_EVENT_QUERY,
    FAKE_EVENT_ELAPSED,
    FAKE_OP_COUNT
} fake_op_t;

/* A stream or an event. It stays after its end, so that use after it is seen. */
typedef struct fake_object {
    uint32_t xalive; /* written by: any thread */
    fake_op_t made_by;
    uint64_t body; /* plain: a use not ordered with the destruction is a race to be found */
} fake_object_t;

/* One a back end. Written by the test while no call runs, but for the x fields. */
typedef struct fake {
    bool is_open; /* plain: a call not ordered with open and close is a race to be found */
    gpurt_info_t info;                    /* what open says */
    gpurt_status_t answer[FAKE_OP_COUNT]; /* what each call returns */
    const char *text;                     /* of the errors; NULL for "stand-in" */
    void (*inside)(fake_op_t op);         /* runs in the middle of each call */
    uint32_t xcalls[FAKE_OP_COUNT];       /* written by: any thread */

    /* the last call's arguments; kept by one-threaded tests only */
    bool keep;
    gpurt_options_t options;
    gpurt_launch_t launch;
    const gpurt_kernel_t *kernel;
    const void *args, *from;
    void *stream, *other, *to;
    size_t bytes;
    uint8_t byte;
} fake_t;

extern fake_t fake_cpu, fake_cuda;

/* Both as after the start of the process, with limits like those of the real ones; and no
 * GPURT_BACKEND in the environment. */
void fake_reset(void);

uint32_t fake_calls(const fake_t *fake, fake_op_t op);
uint32_t fake_calls_all(const fake_t *fake);

/* Objects of all back ends that were made and not destroyed. */
uint32_t fake_alive(void);

/* gpurt_open that must succeed. */
gpurt_t *fake_gpurt_open(const gpurt_options_t *options);

#endif
