/* SPDX-License-Identifier: Apache-2.0 */
/* saxpy [N] - y += a x on the GPU if there is one, otherwise on the CPU, and says which. */
#include "saxpy.h"

#include <gpurt/gpurt.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    THREADS = 256
};

/* Small whole numbers: every result is exact in a float. */
static float x_at(uint32_t i)
{
    return (float)(i % 1000);
}

static gpurt_status_t run(gpurt_t *rt, float *x, float *y, uint32_t n, gpurt_error_t *err)
{
    struct saxpy_args args = {2.0f, NULL, NULL, n};
    gpurt_launch_t launch = {.grid = {(n + THREADS - 1) / THREADS, 1, 1},
                             .block = {THREADS, 1, 1}};
    size_t bytes = n * sizeof(float);
    void *dx = NULL, *dy = NULL;
    gpurt_status_t st;

    if ((st = gpurt_mem_create(rt, bytes, &dx, err)) == GPURT_OK &&
        (st = gpurt_mem_create(rt, bytes, &dy, err)) == GPURT_OK &&
        (st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, dx, x, bytes, err)) == GPURT_OK &&
        (st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, dy, y, bytes, err)) == GPURT_OK) {
        args.x = (const float *)dx;
        args.y = (float *)dy;
        if ((st = gpurt_launch(rt, &launch, saxpy, &args, err)) == GPURT_OK &&
            (st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, y, dy, bytes, err)) == GPURT_OK)
            st = gpurt_sync(rt, err);
    }
    gpurt_mem_destroy(rt, dx);
    gpurt_mem_destroy(rt, dy);
    return st;
}

int main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1000000, wrong = 0;
    float *x = (float *)malloc(n * sizeof *x), *y = (float *)malloc(n * sizeof *y);
    gpurt_info_t info;
    gpurt_error_t err = {.text = "no memory"};
    gpurt_t *rt = NULL;
    bool failed = true;

    for (uint32_t i = 0; x && y && i < n; i++) {
        x[i] = x_at(i);
        y[i] = 1.0f;
    }
    if (x && y && gpurt_open(NULL, &rt, &err) == GPURT_OK &&
        run(rt, x, y, n, &err) == GPURT_OK && gpurt_info(rt, &info) == GPURT_OK) {
        for (uint32_t i = 0; i < n; i++)
            wrong += y[i] != 1.0f + 2.0f * x_at(i);
        printf("saxpy: %u elements on %s (%s): %s\n", n, info.name, info.why,
               wrong ? "WRONG" : "all right");
        failed = wrong != 0;
    } else {
        fprintf(stderr, "saxpy: %s\n", err.text);
    }
    gpurt_close(rt, NULL);
    free(x);
    free(y);
    return failed;
}
