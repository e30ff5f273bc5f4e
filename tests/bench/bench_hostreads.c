/* SPDX-License-Identifier: Apache-2.0 */
/* bench_hostreads - what the bus to the host's memory gives kernels that poll there: reads a second, by how many warps
 * ask and how far their words lie apart. */
#include "bench_hostreads.h"
#include "rows.h"

#include <gpurt/gpurt.h>

enum {
    WARPS = 8, /* a block, at most */
    LINE = 128,
    ROUNDS = 200,
    REPEATS = 11
};

static gpurt_t *rt;
static gpurt_error_t err;
static gpurt_info_t info;
static struct bench_hostreads_args args = {.rounds = ROUNDS};

/* Median over repeats. Returns: reads in a microsecond, or below 0. */
static double reads(uint32_t blocks, uint32_t warps, uint32_t apart)
{
    gpurt_launch_t launch = {.grid = {blocks, 1, 1}, .block = {32 * warps, 1, 1}};
    double samples[REPEATS];
    gpurt_event_t begin, end;
    uint64_t ns;

    args.apart = apart;
    if (gpurt_event_create(rt, &begin, &err) != GPURT_OK ||
        gpurt_event_create(rt, &end, &err) != GPURT_OK)
        return -1;
    for (int r = -2; r < REPEATS; r++) {
        if (gpurt_event_record(rt, begin, GPURT_STREAM_DEFAULT) != GPURT_OK ||
            gpurt_launch(rt, &launch, bench_hostreads, &args, &err) != GPURT_OK ||
            gpurt_event_record(rt, end, GPURT_STREAM_DEFAULT) != GPURT_OK ||
            gpurt_sync(rt, &err) != GPURT_OK ||
            gpurt_event_elapsed_ns(rt, begin, end, &ns, &err) != GPURT_OK)
            return -1;
        samples[r < 0 ? 0 : r] = (double)blocks * warps * ROUNDS * 1e3 / (double)ns;
    }
    gpurt_event_destroy(rt, begin);
    gpurt_event_destroy(rt, end);
    return rows_median(samples, REPEATS);
}

static int rows(void)
{
    const uint32_t all = info.sm_count;
    double alone = reads(1, 1, 0), block = reads(all, 1, 0), one = reads(all, WARPS, 0);
    double lines = reads(all, 1, LINE), many = reads(all, WARPS, LINE);

    if (alone < 0 || block < 0 || one < 0 || lines < 0 || many < 0)
        return 1;
    rows_head();
    rows_add("hostreads", "one word, a warp", alone, "M reads/s", NULL, 0);
    rows_add("hostreads", "one word, a warp of each SM", block, "M reads/s", "a line each",
             lines);
    rows_add("hostreads", "one word, eight warps of each SM", one, "M reads/s",
             "a line each", many);
    return 0;
}

int main(void)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};
    void *words = NULL, *sums = NULL;
    int status = 1;

    if (gpurt_open(&options, &rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_hostreads: %s\n", err.text);
        return 77;
    }
    if (gpurt_info(rt, &info) == GPURT_OK &&
        gpurt_host_create(rt, (size_t)info.sm_count * WARPS * LINE, &words, &err) ==
            GPURT_OK &&
        gpurt_mem_create(rt, (size_t)info.sm_count * WARPS * 4, &sums, &err) == GPURT_OK) {
        args.words = words;
        args.sums = sums;
        status = rows();
    }
    if (status)
        fprintf(stderr, "bench_hostreads: %s\n", err.text);
    gpurt_mem_destroy(rt, sums);
    gpurt_host_destroy(rt, words);
    gpurt_close(rt, NULL);
    return status;
}
