/* SPDX-License-Identifier: Apache-2.0 */
/* consumer - a program outside gpurt's tree: opens, launches one kernel, checks its sum. */
#include "consumer.h"

#include <gpurt/gpurt.h>
#include <stdio.h>

GPURT_KERNEL_DECLARE(consumer_sum, struct consumer_args);

enum {
    THREADS = 4 * 128,
    NUMBERS = 500
};

static gpurt_status_t sum_numbers(gpurt_t *rt, uint32_t *sum, gpurt_error_t *err)
{
    gpurt_launch_t launch = {.grid = {THREADS / 128, 1, 1}, .block = {128, 1, 1}};
    struct consumer_args args = {NULL, NUMBERS};
    void *memory;
    gpurt_status_t st = gpurt_mem_create(rt, sizeof *sum, &memory, err);

    if (st != GPURT_OK)
        return st;
    args.sum = (uint32_t *)memory;
    st = gpurt_fill(rt, GPURT_STREAM_DEFAULT, memory, 0, sizeof *sum, err);
    if (st == GPURT_OK)
        st = gpurt_launch(rt, &launch, consumer_sum, &args, err);
    if (st == GPURT_OK)
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, sum, memory, sizeof *sum, err);
    if (st == GPURT_OK)
        st = gpurt_sync(rt, err);
    gpurt_mem_destroy(rt, memory);
    return st;
}

int main(void)
{
    static gpurt_error_t err;
    static gpurt_info_t info;
    gpurt_t *rt;
    uint32_t sum = 0;
    gpurt_status_t st = gpurt_open(NULL, &rt, &err);

    if (st == GPURT_OK)
        st = gpurt_info(rt, &info);
    if (st == GPURT_OK)
        st = sum_numbers(rt, &sum, &err);
    if (st == GPURT_OK)
        st = gpurt_close(rt, &err);
    if (st != GPURT_OK) {
        fprintf(stderr, "consumer: %s: %s\n", gpurt_status_name(st), err.text);
        return 1;
    }
    printf("consumer: gpurt %u on %s: sum %u\n", gpurt_version(), info.name, sum);
    return sum == NUMBERS * (NUMBERS - 1) / 2 ? 0 : 1;
}
