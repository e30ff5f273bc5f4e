/* SPDX-License-Identifier: Apache-2.0 */
/* frequent - the three most frequent letters of a text, counted and sorted on the device. */
#include "frequent.h"

#include <gpurt/blocksort.h>
#include <gpurt/gpurt.h>

#include <stdio.h>
#include <string.h>

enum {
    BLOCKS = 4,
    THREADS = 64
};

static gpurt_status_t memory(gpurt_t *rt, void **out, const void *from, size_t bytes,
                             gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_mem_create(rt, bytes, out, err);

    if (st != GPURT_OK)
        return st;
    return from ? gpurt_copy(rt, GPURT_STREAM_DEFAULT, *out, from, bytes, err)
                : gpurt_fill(rt, GPURT_STREAM_DEFAULT, *out, 0, bytes, err);
}

static gpurt_status_t frequent(gpurt_t *rt, const char *text, uint32_t *counts,
                               uint32_t *order, gpurt_error_t *err)
{
    gpurt_launch_t count = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}}, sort = count;
    size_t bytes = FREQUENT_BINS * sizeof *counts;
    struct frequent_args args = {.n = strlen(text)};
    void *m[3] = {NULL, NULL, NULL};
    gpurt_status_t st;

    sort.grid.x = 1;
    sort.shared_bytes = (uint32_t)gpurt_block_sort_bytes(FREQUENT_BINS, THREADS, 4);
    if ((st = memory(rt, &m[0], text, args.n, err)) == GPURT_OK &&
        (st = memory(rt, &m[1], NULL, bytes, err)) == GPURT_OK &&
        (st = memory(rt, &m[2], NULL, bytes, err)) == GPURT_OK) {
        args.values = (const uint8_t *)m[0];
        args.counts = (uint32_t *)m[1];
        args.order = (uint32_t *)m[2];
        if ((st = gpurt_launch(rt, &count, frequent_count, &args, err)) == GPURT_OK &&
            (st = gpurt_launch(rt, &sort, frequent_sort, &args, err)) == GPURT_OK &&
            (st = gpurt_copy(rt, 0, counts, m[1], bytes, err)) == GPURT_OK &&
            (st = gpurt_copy(rt, 0, order, m[2], bytes, err)) == GPURT_OK)
            st = gpurt_sync(rt, err);
    }
    for (uint32_t i = 0; i < 3; i++)
        gpurt_mem_destroy(rt, m[i]);
    return st;
}

int main(void)
{
    const char *text = "a reduction, a scan and a sort of what threads have counted";
    uint32_t counts[FREQUENT_BINS], order[FREQUENT_BINS];
    gpurt_error_t err = {0};
    gpurt_t *rt = NULL;
    size_t all = 0;
    gpurt_status_t st = gpurt_open(NULL, &rt, &err);

    if (st == GPURT_OK)
        st = frequent(rt, text, counts, order, &err);
    if (st != GPURT_OK)
        fprintf(stderr, "frequent: %s: %s\n", gpurt_status_name(st), err.text);
    for (uint32_t i = 0; st == GPURT_OK && i < FREQUENT_BINS; i++)
        all += counts[i];
    for (uint32_t i = FREQUENT_BINS; st == GPURT_OK && i > FREQUENT_BINS - 3; i--)
        printf("'%c' %u times\n", (int)order[i - 1], counts[i - 1]);
    gpurt_close(rt, NULL);
    return st != GPURT_OK || all != strlen(text);
}
