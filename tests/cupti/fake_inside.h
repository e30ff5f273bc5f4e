/* SPDX-License-Identifier: Apache-2.0 */
/* fake_inside.h - what the two halves of the stand-in for CUPTI share: its entry points, which
 * the collector calls, and what a test makes happen. */
#ifndef GPURT_TESTS_FAKE_INSIDE_H
#define GPURT_TESTS_FAKE_INSIDE_H

#include "fake_cupti.h"

#include <pthread.h>

#define FAKE_HIDDEN \
    __attribute__((visibility("hidden"))) /* the program has such names, too */

/* Records lie one behind another; each begins with its kind, its size is the kind's. */
typedef struct lane {
    uint8_t *buffer;
    size_t size, used;
    int held;
} lane_t;

enum {
    DRIVER_CALLS = 1024
};

typedef struct fake_state {
    pthread_mutex_t lock;
    CUpti_BuffersCallbackRequestFunc asked;
    CUpti_BuffersCallbackCompleteFunc done;
    CUpti_BuffersCallbackRequestFunc first_asked;
    CUpti_BuffersCallbackCompleteFunc first_done;
    CUpti_TimestampCallbackFunc time;
    CUpti_CallbackFunc told;
    uint64_t kinds, taken, dropped, dropped_sum;
    int tells_graphs, times, kinds_before_time, forced, patient, system_threads,
        polls_hidden, device_graphs, slept;
    uint32_t correlation, managed, asked_managed;
    uint64_t resources; /* callbacks of these that somebody asked for, a bit each */
    uint8_t calls[DRIVER_CALLS]; /* of the driver that are told of; under the lock */
    lane_t lanes[FAKE_LANES];
} fake_state_t;

/* fake_cupti.c */
extern FAKE_HIDDEN fake_state_t fake;
/* Of a record of a kind. */
FAKE_HIDDEN size_t fake_size_of(CUpti_ActivityKind kind);
/* Gives a lane's buffer back, where it has one; under the lock. */
FAKE_HIDDEN void fake_lane_done(lane_t *lane);

/* fake_pcsampling.c */
FAKE_HIDDEN int fake_pc_is_armed(void);
FAKE_HIDDEN void fake_context(uint32_t number, int begins);
FAKE_HIDDEN void fake_module(uint32_t context, const void *cubin, size_t bytes);
FAKE_HIDDEN void fake_lines(uint32_t context, const fake_line_t *lines, uint32_t count);
FAKE_HIDDEN int fake_pc_count(int what);

#endif
