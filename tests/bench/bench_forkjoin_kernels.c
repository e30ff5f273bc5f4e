/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 4

#include "bench_forkjoin.h"

#include <gpurt/device.h>

/* The naive calls of fib(n). What is still to be called lies in the digits of one word. */
GPURT_DEV uint32_t fork_calls(uint32_t n)
{
    uint64_t rest = 0;
    uint32_t depth = 0, sum = 0;

    for (;;) {
        for (; n >= 2; n--, depth++)
            rest = rest << 4 | (n - 2);
        sum += n;
        if (!depth--)
            return sum;
        n = rest & 15;
        rest >>= 4;
    }
}

GPURT_TASK_LANE(fork, t, lane)
{
    uint32_t n = t->n;

    if (t->again) {
        *t->to = t->parts[0] + t->parts[1];
        return;
    }
    if (n < t->cut || n < 2) {
        *t->to = fork_calls(n);
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct fork part = {&t->parts[i], {0, 0}, (uint16_t)(n - 1 - i), t->cut, 0};

        if (!gpurt_lane_spawn(lane, fork, &part, GPURT_TASK_CHILD))
            gpurt_lane_fail(lane, GPURT_E_NOMEM);
    }
    t->again = 1;
    gpurt_lane_await(lane);
}

/* Steps of `at_once` points, `apart` from each other. */
GPURT_DEV uint32_t points_steps(const struct forkjoin_picture *p, uint32_t point,
                                uint32_t apart, uint32_t at_once)
{
    float x[FORKJOIN_AT_ONCE], y[FORKJOIN_AT_ONCE], re[FORKJOIN_AT_ONCE];
    uint32_t row = point / p->wide; /* of all of them */
    float im = -1.2f + 2.4f * (float)row / (float)p->high;
    uint32_t steps[FORKJOIN_AT_ONCE], most = p->most, sum = 0;
    bool inside = true;

    for (uint32_t i = 0; i < at_once; i++) {
        re[i] = -2.2f + 3.2f * (float)((point + i * apart) % p->wide) / (float)p->wide;
        x[i] = y[i] = 0;
        steps[i] = 0;
    }
    for (uint32_t step = 0; inside && step < most; step++) {
        inside = false;
        for (uint32_t i = 0; i < at_once; i++) {
            float next = x[i] * x[i] - y[i] * y[i] + re[i];
            bool in = x[i] * x[i] + y[i] * y[i] < 4;

            y[i] = in ? 2 * x[i] * y[i] + im : y[i];
            x[i] = in ? next : x[i];
            steps[i] += in;
            inside |= in;
        }
    }
    for (uint32_t i = 0; i < at_once; i++)
        sum += steps[i];
    return sum;
}

GPURT_DEV void sum_add(uint64_t *sum, uint32_t mine)
{
    uint32_t all = gpurt_reduce_add_u32(GPURT_FULL_MASK, mine);

    if (gpurt_lane() == 0) /* relaxed: a number */
        gpurt_add_relaxed_dev_u64(sum, all);
}

GPURT_DEV void piece_plot(const struct plot *t)
{
    uint32_t from = t->from * t->points + gpurt_lane(), sum = 0;

    for (uint32_t i = 0; i < t->points; i += FORKJOIN_POINTS)
        sum += points_steps(&t->of, from + i, GPURT_WARP_SIZE, FORKJOIN_AT_ONCE);
    sum_add(t->of.sum, sum);
}

GPURT_TASK(plot, t, run)
{
    uint32_t lane = gpurt_lane(), count = t->count, parts = count < 32 ? count : 32;
    struct plot part = *t;
    bool wanted = lane < parts;

    if (count == 1) {
        piece_plot(t);
        return;
    }
    part.from += (uint32_t)((uint64_t)count * lane / parts);
    part.count = (uint32_t)((uint64_t)count * (lane + 1) / parts) -
                 (uint32_t)((uint64_t)count * lane / parts);
    if (gpurt_any(GPURT_FULL_MASK,
                  !gpurt_task_spawn(run, plot, &part, wanted, 0) && wanted))
        gpurt_task_fail(run, GPURT_E_NOMEM);
}

GPURT_EXECUTOR(forkjoin_tasks, FORKJOIN_TASKS)

GPURT_KERNEL(forkjoin_leaves_sum, struct forkjoin_leaves, p)
{
    uint32_t i = gpurt_block_rank() * gpurt_block_threads() + gpurt_thread_rank(), sum = 0;

    if (i < p->large + p->small)
        sum = fork_calls(i < p->large ? p->cut - 1 : p->cut - 2);
    sum_add(p->sum, sum);
}

GPURT_KERNEL(forkjoin_points, struct forkjoin_picture, p)
{
    uint32_t point = gpurt_block_rank() * gpurt_block_threads() + gpurt_thread_rank();

    sum_add(p->sum, points_steps(p, point, 0, 1));
}

GPURT_KERNEL(forkjoin_points_at_once, struct forkjoin_picture, p)
{
    uint32_t warp = gpurt_block_rank() * gpurt_warps() + gpurt_warp();

    sum_add(p->sum, points_steps(p, warp * FORKJOIN_POINTS + gpurt_lane(), GPURT_WARP_SIZE,
                                 FORKJOIN_AT_ONCE));
}
