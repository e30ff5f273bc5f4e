/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions of a grid, a schedule a seed, in one area: several rounds of a launch, and
 * the sums of blocks, plain words that only the count of arrivals orders; values of 64 bits, which
 * are told in two halves; a block that is cancelled, and holds two tiles then. */
#include "seeds.h"

#include <gpurt/gridscan.h>

#include "gridscan_kernels.h"

enum {
    BLOCKS = 3,
    N = 1600, /* four tiles of a warp */
    ROUNDS = 3,
    WIDE_BLOCKS = 6,
    WIDE = WIDE_BLOCKS * 256, /* a tile of a warp each */
    GONE_BLOCKS = 4,
    GONE = 12 * 512 /* three tiles each */
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

/* A block a tile: most tiles look while the one before is told. */
static void halves(uint32_t seed)
{
    gpurt_launch_t launch = {.grid = {WIDE_BLOCKS, 1, 1}, .block = {32, 1, 1}};
    static uint64_t in[WIDE], out[WIDE];
    struct gridscan_args a = {.n = WIDE, .kind = GRIDSCAN_SCAN};
    void *memory = stage_zeros(sizeof in);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < WIDE; i++)
        in[i] = i * UINT64_C(0x9e3779b97f4a7c15) + seed;
    a.area = stage_zeros(gpurt_grid_area_bytes(WIDE, WIDE_BLOCKS, 32, 8));
    a.in = memory;
    a.out = stage_zeros(sizeof out);
    a.status = (int32_t *)stage_zeros(WIDE_BLOCKS * 4);
    OK(gpurt_copy(rt, 0, memory, in, sizeof in, &err));
    OK(gpurt_launch(rt, &launch, gridscan_u64, &a, &err));
    OK(gpurt_copy(rt, 0, out, a.out, sizeof out, &err));
    OK(gpurt_sync(rt, &err));
    for (uint32_t i = 0; i < WIDE; i++)
        CHECK_EQ(out[i], sum += in[i]);
    gpurt_mem_destroy(rt, a.area);
    gpurt_mem_destroy(rt, memory);
    gpurt_mem_destroy(rt, a.out);
    gpurt_mem_destroy(rt, a.status);
}

/* All before the tile that cancels its block is written; every other block ends, and says so. The
 * poison is an element, or the sum of a whole tile, or what stands up to an element: then the
 * tile is told, and the block has the next one already, if there is one. */
static void poison(uint32_t *in, uint32_t first, uint32_t kind)
{
    for (uint32_t i = 0; i < GONE; i++)
        in[i] = 1;
    if (kind == 0)
        in[first + 511] = GRIDSCAN_POISON - 511;
    else if (kind == 1)
        in[first + 17] = GRIDSCAN_POISON;
    else
        in[first + 17] = GRIDSCAN_POISON - 17 - first;
}
static void cancelled(uint32_t seed)
{
    gpurt_launch_t launch = {.grid = {GONE_BLOCKS, 1, 1}, .block = {32, 1, 1}};
    uint32_t kind = seed % 3, first = (1 + seed / 3 % 8) * 512, told = 0;
    static uint32_t in[GONE], out[GONE];
    struct gridscan_args a = {.n = GONE};
    void *memory = stage_zeros(sizeof in);
    int32_t status[GONE_BLOCKS];
    gpurt_error_t ended = {0};

    poison(in, first, kind);
    a.area = stage_zeros(gpurt_grid_area_bytes(GONE, GONE_BLOCKS, 32, 4));
    a.in = memory;
    a.out = stage_zeros(sizeof out);
    a.status = (int32_t *)stage_zeros(sizeof status);
    OK(gpurt_copy(rt, 0, memory, in, sizeof in, &err));
    OK(gpurt_launch(rt, &launch, gridscan_poison, &a, &err));
    OK(gpurt_copy(rt, 0, out, a.out, sizeof out, &err));
    OK(gpurt_copy(rt, 0, status, a.status, sizeof status, &err));
    CHECK(gpurt_sync(rt, &ended) != GPURT_E_LIVELOCK);
    for (uint32_t i = 0; i < first; i++)
        CHECK_EQ(out[i], i + 1);
    for (uint32_t i = 0; i < GONE_BLOCKS; i++)
        told += status[i] != GPURT_E_CANCELLED;
    CHECK(told > 0 && (kind == 2 || told < GONE_BLOCKS));
    gpurt_mem_destroy(rt, a.area);
    gpurt_mem_destroy(rt, memory);
    gpurt_mem_destroy(rt, a.out);
    gpurt_mem_destroy(rt, a.status);
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 200); seeds_next(&s, 3);) {
        scan(s.seed);
        halves(s.seed);
        cancelled(s.seed);
    }
    return 0;
}
