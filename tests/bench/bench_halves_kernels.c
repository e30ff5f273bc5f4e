/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_halves.h"

#include <gpurt/device.h>

GPURT_DEV uint32_t *line_at(const struct bench_halves_args *p, uint32_t line)
{
    return (uint32_t *)(void *)(p->memory + (size_t)line * HALVES_LINE);
}

/* Cycles until an atomic on that line has answered. */
GPURT_DEV uint32_t answer_cycles(const struct bench_halves_args *p, uint32_t line)
{
    uint64_t from = gpurt_clock();
    uint32_t seen = gpurt_add_relaxed_far_u32(line_at(p, line), 1); /* relaxed: a probe */

    /* It is never that many: the clock is read behind the answer. */
    if (seen == 0xffffffffu)
        p->walked[0] = seen;
    return (uint32_t)(gpurt_clock() - from);
}

GPURT_KERNEL(bench_halves_map, struct bench_halves_args, p)
{
    uint32_t sm = gpurt_sm();

    for (uint32_t i = 0; i < HALVES_LINES; i++) {
        uint32_t line = (i + sm * 61) % HALVES_LINES, best = 0xffff;

        for (uint32_t look = 0; look < HALVES_LOOKS; look++) {
            uint32_t took = answer_cycles(p, line);

            best = took < best ? took : best;
        }
        p->cycles[(size_t)sm * HALVES_LINES + line] = (uint16_t)best;
    }
}

/* Each step waits for the one before: its answer is in the next address, as 0. */
GPURT_DEV uint32_t walk(const struct bench_halves_args *p, uint32_t first)
{
    const uint32_t *lines = p->walks + (size_t)gpurt_sm() * HALVES_STEPS;
    uint32_t carried = 0;
    uint64_t from = gpurt_clock();

    for (uint32_t i = 0; i < HALVES_STEPS; i++) {
        uint32_t line = lines[(first + i) % HALVES_STEPS] + carried;

        carried =
            gpurt_add_relaxed_far_u32(line_at(p, line), 1) >> 31; /* relaxed: a probe */
    }
    return (uint32_t)((gpurt_clock() - from + carried) / HALVES_STEPS);
}

GPURT_KERNEL(bench_halves_walk, struct bench_halves_args, p)
{
    p->walked[gpurt_sm()] = walk(p, 0);
}

GPURT_KERNEL(bench_halves_crowd, struct bench_halves_args, p)
{
    uint32_t took = walk(p, gpurt_thread_rank() * 7);

    if (gpurt_thread_rank() == 0)
        p->walked[gpurt_sm()] = took;
}
