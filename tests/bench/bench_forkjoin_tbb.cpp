/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_forkjoin_tbb.h"

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>

static uint64_t calls(uint32_t n)
{
    return n < 2 ? n : calls(n - 1) + calls(n - 2);
}

uint32_t forkjoin_tbb_threads(void)
{
    return (uint32_t)tbb::info::default_concurrency();
}

uint64_t forkjoin_tbb_fib(uint32_t n, uint32_t cut)
{
    uint64_t a = 0, b = 0;

    if (n < cut || n < 2)
        return calls(n);
    tbb::parallel_invoke([&] { a = forkjoin_tbb_fib(n - 1, cut); },
                         [&] { b = forkjoin_tbb_fib(n - 2, cut); });
    return a + b;
}

static uint32_t point_steps(float re, float im, uint32_t most)
{
    float x = 0, y = 0;
    uint32_t step = 0;

    for (; step < most && x * x + y * y < 4; step++) {
        float next = x * x - y * y + re;

        y = 2 * x * y + im;
        x = next;
    }
    return step;
}

uint64_t forkjoin_tbb_points(uint32_t wide, uint32_t high, uint32_t most)
{
    auto rows = [=](const tbb::blocked_range<uint32_t> &of, uint64_t sum) {
        for (uint32_t row = of.begin(); row < of.end(); row++)
            for (uint32_t i = 0; i < wide; i++)
                sum += point_steps(-2.2f + 3.2f * (float)i / (float)wide,
                                   -1.2f + 2.4f * (float)row / (float)high, most);
        return sum;
    };

    return tbb::parallel_reduce(tbb::blocked_range<uint32_t>(0, high), uint64_t{0}, rows,
                                [](uint64_t a, uint64_t b) { return a + b; });
}
