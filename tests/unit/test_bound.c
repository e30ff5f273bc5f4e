/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics with a bound: none is passed, no update is lost, and each answer is the value before. */
#include "../kernels/bound_kernels.h"
#include "../kernels/stage.h"

#include <gpurt/atomic.h>

#include <string.h>

enum {
    BLOCKS = 3,
    THREADS = 44,
    ROUNDS = 11 * 3, /* so that each value of 0 to BOUND_TOP is found as often */
    START = 2000
};

static void edges(void)
{
    uint32_t v = 0xfffffffeu;
    uint64_t w = UINT64_MAX - 1;

    CHECK_EQ(gpurt_add_most_relaxed_dev_u32(&v, 2, UINT32_MAX), 0xfffffffeu);
    CHECK_EQ(v, 0xfffffffeu); /* no sum that wraps */
    CHECK_EQ(gpurt_add_most_acq_rel_sys_u32(&v, 1, UINT32_MAX), 0xfffffffeu);
    CHECK_EQ(v, UINT32_MAX);
    CHECK_EQ(gpurt_add_most_release_blk_u64(&w, 2, UINT64_MAX), UINT64_MAX - 1);
    CHECK_EQ(w, UINT64_MAX - 1);
    v = 5;
    CHECK_EQ(gpurt_add_most_relaxed_clu_u32(&v, 0, 4), 5); /* above it already */
    CHECK_EQ(gpurt_sub_least_acquire_dev_u32(&v, 6, 0), 5);
    CHECK_EQ(v, 5);
    CHECK_EQ(gpurt_dec_wrap_relaxed_dev_u32(&v, 3), 5);
    CHECK_EQ(v, 3); /* as the instruction: above top goes to top */
    v = 9;
    CHECK_EQ(gpurt_inc_wrap_relaxed_dev_u32(&v, 3), 9);
    CHECK_EQ(v, 0);
}

static void seen_alike(const uint32_t *row)
{
    for (uint32_t i = 0; i <= BOUND_TOP; i++)
        CHECK_EQ(row[i], BLOCKS * THREADS * ROUNDS / (BOUND_TOP + 1));
    CHECK_EQ(row[BOUND_TOP + 1], 0);
}

int main(void)
{
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    bound_desk_t d = {.xleast = START, .xleast_wide = START};
    struct bound_args args = {.rounds = ROUNDS};

    edges();
    OK(gpurt_open(NULL, &rt, &err));
    args.desk = (bound_desk_t *)stage_zeros(sizeof d);
    OK(gpurt_copy(rt, 0, args.desk, &d, sizeof d, &err));
    OK(gpurt_launch(rt, &launch, bound_storm, &args, &err));
    OK(gpurt_copy(rt, 0, &d, args.desk, sizeof d, &err));
    OK(gpurt_sync(rt, &err));
    seen_alike(d.xup_seen);
    seen_alike(d.xdown_seen);
    seen_alike(d.xup_wide_seen);
    seen_alike(d.xdown_wide_seen);
    CHECK_EQ(d.xup, 0);
    CHECK_EQ(d.xdown, 0);
    CHECK_EQ(d.xmost, d.xadded);
    CHECK_EQ(d.xmost_wide, d.xadded_wide);
    CHECK_EQ(d.xmost, BOUND_MOST); /* somebody added 1 until it was full */
    CHECK_EQ(START - d.xleast, d.xtaken);
    CHECK_EQ(START - d.xleast_wide, d.xtaken_wide);
    CHECK_EQ(d.xleast, BOUND_LEAST);
    OK(gpurt_mem_destroy(rt, args.desk));
    OK(gpurt_close(rt, &err));
    return 0;
}
