/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions of a grid, a schedule a seed, in one area: several rounds of a launch, and
 * the sums of blocks, plain words that only the count of arrivals orders. */
#include "seeds.h"

#include <gpurt/gridscan.h>

#include "gridscan_kernels.h"

enum {
    BLOCKS = 3,
    N = 1600, /* four tiles of a warp */
    ROUNDS = 3
};

static void rounds_check(const uint32_t *in, const uint32_t *out)
{
    uint32_t all = 0;

    for (uint32_t i = 0; i < N; i++)
        all += in[i];
    for (uint32_t round = 0; round < ROUNDS; round++, out += N) {
        uint32_t scan = 0;

        for (uint32_t i = 0; round % 3 != 1 && i < (uint32_t)N >> round % 3; i++)
            CHECK_EQ(out[i], scan += in[i]);
        if (round % 3 == 1)
            CHECK_EQ(out[0], all);
    }
}

static void scan(uint32_t seed)
{
    gpurt_launch_t launch = {
        .grid = {BLOCKS, 1, 1}, .block = {32, 1, 1}, .cooperative = true};
    static uint32_t in[N], out[N * ROUNDS];
    struct gridscan_args a = {.n = N, .rounds = ROUNDS};
    void *memory = stage_zeros(sizeof in);

    for (uint32_t i = 0; i < N; i++)
        in[i] = i * 2654435761u + seed;
    a.area = stage_zeros(gpurt_grid_area_bytes(N, BLOCKS, 32, 4));
    a.in = memory;
    a.out = stage_zeros(sizeof out);
    a.status = (int32_t *)stage_zeros(BLOCKS * 4);
    OK(gpurt_copy(rt, 0, memory, in, sizeof in, &err));
    for (uint32_t again = 0; again < 2; again++)
        OK(gpurt_launch(rt, &launch, gridscan_rounds, &a, &err));
    OK(gpurt_copy(rt, 0, out, a.out, sizeof out, &err));
    OK(gpurt_sync(rt, &err));
    rounds_check(in, out);
    gpurt_mem_destroy(rt, a.area);
    gpurt_mem_destroy(rt, memory);
    gpurt_mem_destroy(rt, a.out);
    gpurt_mem_destroy(rt, a.status);
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 30); seeds_next(&s, 3);)
        scan(s.seed);
    return 0;
}
