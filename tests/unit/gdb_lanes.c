/* SPDX-License-Identifier: Apache-2.0 */
/* The program that gdb_lanes.sh stops: in stop_here, with one lane in every state. Run alone
 * it ends with 0. One worker, default schedule: threads run in order until they wait. */
#include "../check.h"

#include <gpurt/device.h>
#include <gpurt/gpurt.h>

enum {
    STOPS = 40,
    SPINS = 2
};

struct held_args {
    uint32_t *flag; /* one a block */
};

void stop_here(uint32_t block);
void __attribute__((noinline)) stop_here(uint32_t block)
{
    __asm__("" : : "r"(block) : "memory");
}

/* Frames to be seen in a backtrace. */
uint32_t deep(uint32_t *flag, uint32_t depth);
uint32_t __attribute__((noinline)) deep(uint32_t *flag, uint32_t depth)
{
    if (depth == 0) {
        gpurt_block_barrier();
        return 0;
    }
    return deep(flag, depth - 1) + gpurt_load_relaxed_dev_u32(flag);
}

GPURT_KERNEL(held, struct held_args, p)
{
    uint32_t t = gpurt_thread_x() + 8 * gpurt_thread_y();
    uint32_t *flag = &p->flag[gpurt_block_x()];

    if (t == SPINS)
        while (gpurt_load_acquire_blk_u32(flag) == 0)
            gpurt_relax();
    if (t < 4)
        (void)gpurt_ballot(0xf, true);
    if (t == STOPS) {
        stop_here(gpurt_block_x());
        gpurt_store_release_blk_u32(flag, 1);
    }
    if (deep(flag, 3) != 3)
        gpurt_trap();
}

int main(void)
{
    gpurt_launch_t launch = {.grid = {2, 1, 1}, .block = {8, 8, 1}};
    gpurt_options_t options = {
        .struct_size = sizeof options,
        .backend = GPURT_BACKEND_CPU,
        .cpu = {.workers = 1, .spin_limit_ms = UINT32_MAX},
    };
    struct held_args args;
    gpurt_error_t err;
    gpurt_t *rt;
    void *flags;

    CHECK_EQ(gpurt_open(&options, &rt, &err), GPURT_OK);
    CHECK_EQ(gpurt_mem_create(rt, 2 * sizeof *args.flag, &flags, &err), GPURT_OK);
    CHECK_EQ(gpurt_fill(rt, GPURT_STREAM_DEFAULT, flags, 0, 2 * sizeof *args.flag, &err),
             0);
    args.flag = (uint32_t *)flags;
    CHECK_EQ(gpurt_launch(rt, &launch, held, &args, &err), GPURT_OK);
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, flags), GPURT_OK);
    CHECK_EQ(gpurt_close(rt, &err), GPURT_OK);
    return 0;
}
