/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline [BATCHES] - a service: orders come in batches, and three kernels check, price and
 * settle them. One order in the middle asks for an item that does not exist; the block that
 * meets it panics, which the wait says, and the service goes on.
 *
 *   gpurt-top -- pipeline      gpurt-record -- pipeline && gpurt-panic show gpurt.gplog */
#include "pipeline.h"

#include <gpurt/gpurt.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    BATCHES = 60,
    ORDERS = PIPELINE_BLOCKS * PIPELINE_THREADS,
    WRONG_ORDER = 5 * PIPELINE_THREADS + 42 /* of the batch in the middle */
};

static struct {
    pipeline_order_t orders[ORDERS];
    pipeline_result_t results[PIPELINE_BLOCKS];
} batch;

static void batch_receive(uint32_t number, bool wrong)
{
    const struct timespec arrival = {.tv_nsec = 50000000};
    uint32_t x = number * 2654435761u + 1;

    nanosleep(&arrival, NULL);
    for (uint32_t i = 0; i < ORDERS; i++) {
        x = x * 1664525u + 1013904223u;
        batch.orders[i].item = (x >> 8) % PIPELINE_ITEMS;
        batch.orders[i].pieces = 1 + (x >> 18) % (x >> 26 ? PIPELINE_STOCK : 60);
    }
    if (wrong)
        batch.orders[WRONG_ORDER].item = 70211;
}

static gpurt_status_t batch_run(gpurt_t *rt, struct pipeline_args *args, gpurt_error_t *err)
{
    gpurt_launch_t launch = {.grid = {PIPELINE_BLOCKS, 1, 1},
                             .block = {PIPELINE_THREADS, 1, 1}};
    gpurt_stream_t stream = GPURT_STREAM_DEFAULT;
    size_t orders = sizeof batch.orders, results = sizeof batch.results;
    gpurt_status_t st;

    if ((st = gpurt_copy(rt, stream, args->orders, batch.orders, orders, err)) < 0 ||
        (st = gpurt_fill(rt, stream, args->results, 0, results, err)) < 0 ||
        (st = gpurt_launch(rt, &launch, pipeline_check, args, err)) < 0 ||
        (st = gpurt_launch(rt, &launch, pipeline_price, args, err)) < 0 ||
        (st = gpurt_launch(rt, &launch, pipeline_settle, args, err)) < 0 ||
        (st = gpurt_copy(rt, stream, batch.results, args->results, results, err)) < 0)
        return st;
    st = gpurt_sync(rt, err);
    return st == GPURT_E_PANIC ? GPURT_OK : st; /* its results say which batch is bad */
}

static bool batch_good(void)
{
    uint32_t settled = 0;

    for (uint32_t i = 0; i < PIPELINE_BLOCKS; i++)
        settled += batch.results[i].settled;
    return settled == ORDERS;
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : BATCHES, good = 0;
    void *orders = NULL, *results = NULL;
    struct pipeline_args args = {0};
    gpurt_error_t err = {0};
    gpurt_info_t info;
    gpurt_t *rt = NULL;

    if (gpurt_open(NULL, &rt, &err) != GPURT_OK || gpurt_info(rt, &info) != GPURT_OK ||
        gpurt_mem_create(rt, sizeof batch.orders, &orders, &err) != GPURT_OK ||
        gpurt_mem_create(rt, sizeof batch.results, &results, &err) != GPURT_OK)
        goto fail;
    args.orders = (pipeline_order_t *)orders;
    args.results = (pipeline_result_t *)results;
    for (args.batch = 1; args.batch <= count; args.batch++) {
        batch_receive(args.batch, args.batch == count / 2 + 1);
        if (batch_run(rt, &args, &err) != GPURT_OK)
            goto fail;
        good += batch_good();
    }
    printf("pipeline: %u batches good, %u bad, on %s\n", good, count - good, info.name);
    gpurt_mem_destroy(rt, orders);
    gpurt_mem_destroy(rt, results);
    return gpurt_close(rt, &err) == GPURT_OK && good + 1 == count ? 0 : 1;

fail:
    fprintf(stderr, "pipeline: %s\n", err.text);
    return 1;
}
