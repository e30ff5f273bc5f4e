/* SPDX-License-Identifier: Apache-2.0 */
/* tasks - the sum of the first 65,536 squares, as a graph of tasks: 64 tiles, then pairs of sums,
 * each when both of its parts are there. The last pair's result is the answer. */
#include "tasks.h"

#include <gpurt/executors.h>

#include <stdio.h>

enum {
    TILES = 64,
    TILE = 1024
};

/* Owner: main. In memory that both sides reach. */
typedef struct data {
    uint32_t numbers[TILES * TILE];
    uint64_t sums[TILES];
} data_t;

/* last[i]: the task that made sums[i] what it is. */
static gpurt_status_t tiles_submit(gpurt_t *rt, gpurt_executor_t x, data_t *d,
                                   gpurt_submitted_t last[TILES], gpurt_error_t *err)
{
    struct tile tiles[TILES];

    for (uint32_t i = 0; i < TILES; i++)
        tiles[i] = (struct tile){&d->numbers[i * TILE], &d->sums[i], TILE};
    return gpurt_executor_submit(rt, x, tile, tiles, TILES, 0, last, err);
}

/* It waits for both of its parts; their handles are not needed any more. */
static gpurt_status_t pair_submit(gpurt_t *rt, gpurt_executor_t x, data_t *d, uint32_t i,
                                  uint32_t distance, gpurt_submitted_t last[TILES],
                                  gpurt_error_t *err)
{
    struct pair p = {&d->sums[i], distance};
    gpurt_submitted_t task;
    gpurt_status_t st =
        gpurt_executor_submit(rt, x, pair, &p, 1, GPURT_TASK_HELD, &task, err);

    if (st == GPURT_OK)
        st = gpurt_executor_after(rt, x, last[i], task, err);
    if (st == GPURT_OK)
        st = gpurt_executor_after(rt, x, last[i + distance], task, err);
    if (st == GPURT_OK)
        st = gpurt_executor_start(rt, x, task, err);
    last[i] = task;
    return st;
}

static gpurt_status_t sum(gpurt_t *rt, gpurt_executor_t x, data_t *d, uint64_t *out,
                          gpurt_error_t *err)
{
    gpurt_submitted_t last[TILES];
    gpurt_status_t st = tiles_submit(rt, x, d, last, err);

    for (uint32_t distance = 1; distance < TILES; distance *= 2)
        for (uint32_t i = 0; i < TILES && st == GPURT_OK; i += 2 * distance)
            st = pair_submit(rt, x, d, i, distance, last, err);
    return st == GPURT_OK ? gpurt_executor_wait(rt, x, last[0], UINT64_MAX, out, err) : st;
}

static gpurt_status_t run(gpurt_t *rt, uint64_t *out, gpurt_error_t *err)
{
    gpurt_executor_t x = 0;
    void *memory = NULL;
    gpurt_status_t st = gpurt_host_create(rt, sizeof(data_t), &memory, err);
    data_t *d = (data_t *)memory;

    for (uint32_t i = 0; d && i < TILES * TILE; i++)
        d->numbers[i] = i;
    if (st == GPURT_OK)
        st = gpurt_executor_open(rt, sum_tasks, NULL, &x, err);
    if (st == GPURT_OK)
        st = sum(rt, x, d, out, err);
    if (x)
        (void)gpurt_executor_close(rt, x, NULL, st == GPURT_OK ? err : NULL);
    (void)gpurt_host_destroy(rt, memory);
    return st;
}

int main(void)
{
    const uint64_t n = TILES * TILE - 1, want = n * (n + 1) * (2 * n + 1) / 6;
    gpurt_error_t err = {0};
    uint64_t got = 0;
    gpurt_t *rt;
    gpurt_status_t st = gpurt_open(NULL, &rt, &err);

    if (st == GPURT_OK) {
        st = run(rt, &got, &err);
        (void)gpurt_close(rt, NULL);
    }
    if (st != GPURT_OK) {
        fprintf(stderr, "tasks: %s: %s\n", gpurt_status_name(st), err.text);
        return 1;
    }
    printf("tasks: the squares below %d add up to %llu\n", TILES * TILE,
           (unsigned long long)got);
    return got != want;
}
