/* SPDX-License-Identifier: Apache-2.0 */
/* mandel - a Mandelbrot set, a task for each point. */
#include "mandel.h"

#include <gpurt/executors.h>

#include <stdio.h>

static gpurt_status_t draw(gpurt_t *rt, uint8_t *steps, uint64_t *inside,
                           gpurt_error_t *err)
{
    struct picture all = {.steps = steps};
    gpurt_submitted_t task;
    gpurt_executor_t x;
    gpurt_status_t st = gpurt_executor_open(rt, mandel_tasks, NULL, &x, err);

    if (st != GPURT_OK)
        return st;
    st = gpurt_executor_submit(rt, x, picture, &all, 1, 0, &task, err);
    if (st == GPURT_OK)
        st = gpurt_executor_wait(rt, x, task, UINT64_MAX, inside, err);
    (void)gpurt_executor_close(rt, x, NULL, st == GPURT_OK ? err : NULL);
    return st;
}

static void show(const uint8_t *steps)
{
    for (uint32_t i = 0; i < MANDEL_PIXELS; i++) {
        putchar(steps[i] == MANDEL_STEPS ? '#' : " .:-=+*%@"[steps[i] < 9 ? steps[i] : 8]);
        if (i % MANDEL_WIDE == MANDEL_WIDE - 1)
            putchar('\n');
    }
}

int main(void)
{
    uint64_t inside = 0;
    gpurt_error_t err = {0};
    void *steps = NULL;
    gpurt_t *rt;
    gpurt_status_t st = gpurt_open(NULL, &rt, &err);

    if (st == GPURT_OK) {
        st = gpurt_host_create(rt, MANDEL_PIXELS, &steps, &err); /* both sides reach it */
        if (st == GPURT_OK)
            st = draw(rt, steps, &inside, &err);
        if (st == GPURT_OK)
            show(steps);
        if (steps)
            (void)gpurt_host_destroy(rt, steps);
        (void)gpurt_close(rt, NULL);
    }
    if (st != GPURT_OK) {
        fprintf(stderr, "mandel: %s: %s\n", gpurt_status_name(st), err.text);
        return 1;
    }
    printf("mandel: %llu of %d points do not escape\n", (unsigned long long)inside,
           MANDEL_PIXELS);
    return inside == 0;
}
