/* SPDX-License-Identifier: Apache-2.0 */
/* tally [wrong|right] - a test of one's own kernel, as gpurt-check runs it.
 *
 *     tally wrong                          passes, most of the time
 *     gpurt-check -- ./tally wrong         names a seed with which it fails, always
 *     gpurt-check -- ./tally right         finds nothing */
#include "tally.h"

#include <gpurt/gpurt.h>

#include <stdio.h>
#include <string.h>

enum {
    BLOCKS = 2,
    THREADS = 32,
    ROUNDS = 4
};

static gpurt_status_t count(gpurt_t *rt, const gpurt_kernel_t *kernel, uint32_t *out,
                            gpurt_error_t *err)
{
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    struct tally_args args = {NULL, ROUNDS};
    void *word;
    gpurt_status_t st = gpurt_mem_create(rt, sizeof *out, &word, err);

    if (st != GPURT_OK)
        return st;
    args.count = (uint32_t *)word;
    if ((st = gpurt_fill(rt, GPURT_STREAM_DEFAULT, word, 0, sizeof *out, err)) ==
            GPURT_OK &&
        (st = gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, err)) ==
            GPURT_OK &&
        (st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, out, word, sizeof *out, err)) ==
            GPURT_OK)
        st = gpurt_sync(rt, err);
    gpurt_mem_destroy(rt, word);
    return st;
}

int main(int argc, char **argv)
{
    bool wrong = argc > 1 && !strcmp(argv[1], "wrong");
    uint32_t got = 0, want = BLOCKS * THREADS * ROUNDS;
    gpurt_error_t err;
    gpurt_t *rt;

    if (gpurt_open(NULL, &rt, &err) != GPURT_OK ||
        count(rt, wrong ? &gpurt_kernel_tally_wrong : &gpurt_kernel_tally_right, &got,
              &err) != GPURT_OK) {
        fprintf(stderr, "tally: %s\n", err.text);
        return 1;
    }
    gpurt_close(rt, NULL);
    printf("tally: counted %u of %u\n", got, want);
    return got != want;
}
