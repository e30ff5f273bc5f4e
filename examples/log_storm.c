/* SPDX-License-Identifier: Apache-2.0 */
/* log_storm [BLOCKS THREADS COUNT] - every thread logs COUNT messages as fast as it can.
 * What finds no room is counted: gpurt-log stat shows records and dropped, which add up. */
#include "log_storm.h"

#include <gpurt/gpurt.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint32_t number(int argc, char **argv, int index, uint32_t fallback)
{
    return argc > index ? (uint32_t)strtoul(argv[index], NULL, 0) : fallback;
}

int main(int argc, char **argv)
{
    uint32_t blocks = number(argc, argv, 1, 64), threads = number(argc, argv, 2, 256);
    gpurt_launch_t launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    struct log_storm_args args = {number(argc, argv, 3, 10)};
    gpurt_error_t err = {0};
    gpurt_t *rt;
    double start;

    if (gpurt_open(NULL, &rt, &err) != GPURT_OK)
        goto fail;
    start = now_ms();
    if (gpurt_launch(rt, &launch, log_storm, &args, &err) != GPURT_OK ||
        gpurt_sync(rt, &err) != GPURT_OK)
        goto fail;
    printf("log_storm: %llu messages in %.1f ms\n",
           (unsigned long long)blocks * threads * args.count, now_ms() - start);
    return gpurt_close(rt, &err) == GPURT_OK ? 0 : 1;

fail:
    fprintf(stderr, "log_storm: %s\n", err.text);
    return 1;
}
