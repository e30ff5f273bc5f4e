/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that meet at a phaser: all, by clusters, fewer each round, one more, one that is
 * cancelled; waits that end too soon, and that are broken; a butterfly; too many blocks. */
#include "must.h"

#include "../kernels/phaser_kernels.h"

#include <gpurt/phasers.h>

static gpurt_t *rt;
static gpurt_error_t err;
static struct phaser_args args;
static int32_t told[PHASER_BLOCKS * PHASER_ROUNDS];
static gpurt_phaser_t after;

static gpurt_status_t run_try(const gpurt_kernel_t *kernel, uint32_t what, uint32_t blocks,
                              uint32_t threads, uint32_t cluster, uint32_t members)
{
    gpurt_launch_t launch = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .cluster = {cluster, 1, 1}};
    uint32_t wrong;
    gpurt_status_t st;

    args.what = what;
    gpurt_phaser_init(&after, members);
    for (uint32_t i = 0; i < PHASER_BLOCKS * PHASER_ROUNDS; i++)
        told[i] = GPURT_E_NOT_READY;
    must(gpurt_phaser_fits(rt, &launch, kernel, blocks, &err));
    must(gpurt_copy(rt, 0, args.phaser, &after, sizeof after, &err));
    must(gpurt_fill(rt, 0, args.words, 0, gpurt_butterfly_words(PHASER_BLOCKS) * 4, &err));
    must(gpurt_fill(rt, 0, args.cells, 0, PHASER_BLOCKS * 4, &err));
    must(gpurt_fill(rt, 0, args.wrong, 0, 4, &err));
    must(gpurt_fill(rt, 0, args.xflag, 0, 4, &err));
    must(gpurt_copy(rt, 0, args.status, told, sizeof told, &err));
    must(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
    must(gpurt_copy(rt, 0, told, args.status, sizeof told, &err));
    must(gpurt_copy(rt, 0, &after, args.phaser, sizeof after, &err));
    must(gpurt_copy(rt, 0, &wrong, args.wrong, sizeof wrong, &err));
    st = gpurt_sync(rt, &err);
    CHECK_EQ(wrong, 0);
    return st;
}

static void run(const gpurt_kernel_t *kernel, uint32_t what, uint32_t blocks,
                uint32_t threads, uint32_t cluster, uint32_t members)
{
    must(run_try(kernel, what, blocks, threads, cluster, members));
}

static void all_ok(uint32_t blocks, uint32_t what)
{
    for (uint32_t b = 0; b < blocks; b++)
        for (uint32_t r = 0; r < PHASER_ROUNDS; r++)
            if (what != PHASER_DROP || r <= b)
                CHECK_MSG(told[b * PHASER_ROUNDS + r] == GPURT_OK, "block %u, round %u: %d",
                          b, r, told[b * PHASER_ROUNDS + r]);
}

/* Round 2 has lost one, and none before and after it; three members are left. */
static void test_cancel(void)
{
    (void)run_try(&gpurt_kernel_phaser_meet, PHASER_CANCEL, 4, 64, 1, 4);
    for (uint32_t b = 0; b < 4; b++)
        for (uint32_t r = 0; r < PHASER_ROUNDS; r++) {
            int32_t want = b == 1 && r >= 2 ? GPURT_E_NOT_READY
                           : r == 2         ? GPURT_E_CANCELLED
                                            : GPURT_OK;

            CHECK_MSG(told[b * PHASER_ROUNDS + r] == want, "block %u, round %u: %d", b, r,
                      told[b * PHASER_ROUNDS + r]);
        }
    CHECK_EQ(gpurt_phaser_members(after.xword), 0);
}

static void test_fits(void)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}};
    uint32_t fit;

    must(gpurt_occupancy(rt, &launch, &gpurt_kernel_phaser_meet, &fit, &err));
    must(gpurt_phaser_fits(rt, &launch, &gpurt_kernel_phaser_meet, fit, &err));
    CHECK_EQ(gpurt_phaser_fits(rt, &launch, &gpurt_kernel_phaser_meet, fit + 1, &err),
             GPURT_E_OCCUPANCY);
    CHECK_MSG(strstr(err.text, "phaser_meet"), "%s", err.text);
}

int main(void)
{
    gpurt_info_t info;
    uint32_t cluster;

    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
    must(gpurt_info(rt, &info));
    must(gpurt_mem_create(rt, sizeof after, (void **)&args.phaser, &err));
    must(gpurt_mem_create(rt, gpurt_butterfly_words(PHASER_BLOCKS) * 4,
                          (void **)&args.words, &err));
    must(gpurt_mem_create(rt, PHASER_BLOCKS * 4, (void **)&args.cells, &err));
    must(gpurt_mem_create(rt, sizeof told, (void **)&args.status, &err));
    must(gpurt_mem_create(rt, 4, (void **)&args.wrong, &err));
    must(gpurt_mem_create(rt, 4, (void **)&args.xflag, &err));
    cluster = info.max_cluster >= 2 ? 2 : 1;
    for (uint32_t blocks = 1; blocks <= PHASER_BLOCKS; blocks++) {
        run(&gpurt_kernel_phaser_meet, PHASER_ALL, blocks, blocks * 17, 1, blocks);
        all_ok(blocks, PHASER_ALL);
        CHECK_EQ(gpurt_phaser_members(after.xword), 0);
        run(&gpurt_kernel_phaser_meet, PHASER_BUTTERFLY, blocks, 33, 1, blocks);
        all_ok(blocks, PHASER_BUTTERFLY);
    }
    run(&gpurt_kernel_phaser_meet, PHASER_DROP, 4, 64, 1, 4);
    all_ok(4, PHASER_DROP);
    run(&gpurt_kernel_phaser_meet, PHASER_JOIN, 4, 64, 1, 3);
    all_ok(4, PHASER_JOIN);
    test_cancel();
    run(&gpurt_kernel_phaser_late, 0, 2, 1, 1, 2);
    CHECK_EQ(told[0], GPURT_E_TIMEOUT);
    CHECK_EQ(told[1], GPURT_OK);
    run(&gpurt_kernel_phaser_low, 0, 2, 1, 1, 1);
    CHECK_EQ(after.xword, 2 | gpurt_phaser_armed(2) | 1ull << GPURT_PHASER_PHASE_SHIFT);
    run(&gpurt_kernel_phaser_broken, 0, 2, 1, 1, 2);
    CHECK_EQ(told[0], GPURT_E_CANCELLED);
    test_fits();
    run(&gpurt_kernel_phaser_meet, PHASER_CLUSTER, 6, 64, cluster, 6 / cluster);
    all_ok(6, PHASER_CLUSTER);
    gpurt_mem_destroy(rt, args.phaser);
    gpurt_mem_destroy(rt, args.words);
    gpurt_mem_destroy(rt, args.cells);
    gpurt_mem_destroy(rt, args.status);
    gpurt_mem_destroy(rt, args.wrong);
    gpurt_mem_destroy(rt, args.xflag);
    must(gpurt_close(rt, &err));
    return 0;
}
