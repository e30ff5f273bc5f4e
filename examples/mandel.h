/* SPDX-License-Identifier: Apache-2.0 */
/* mandel.h - a picture by tasks of all three kinds: a block's, which has warps' and waits for them, which have lanes'. */
#ifndef MANDEL_H
#define MANDEL_H

#include <gpurt/task.h>

enum {
    MANDEL_WIDE = 72,
    MANDEL_HIGH = 24,
    MANDEL_PIXELS = MANDEL_WIDE * MANDEL_HIGH,
    MANDEL_STEPS = 200 /* of a point that does not escape */
};

struct picture {
    uint8_t *steps; /* of each pixel */
    uint32_t drawn;
};
struct band {
    uint8_t *steps;
    uint32_t from, count;
};
struct pixel {
    uint8_t *steps;
    uint32_t at;
};

#define MANDEL_TASKS(TASK)        \
    TASK(picture, struct picture) \
    TASK(band, struct band)       \
    TASK(pixel, struct pixel)

GPURT_EXECUTOR_DECLARE(mandel_tasks, MANDEL_TASKS);

#endif
