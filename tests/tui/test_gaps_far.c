/* SPDX-License-Identifier: Apache-2.0 */
/* Times that lie centuries apart, as damaged files have them: what a GPU did with its time is never
 * more than the time that there was, however it is rounded. */
#include "check.h"
#include "gaps.h"

#include <string.h>

enum {
    ROUNDS = 20000,
    STEPS = 12
};

static gaps_t gaps;
static uint64_t seed = 88172645463325252ull;

static uint32_t below(uint32_t end)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % end;
}

/* Small and large, and next to a power of two. */
static uint64_t any_time(void)
{
    switch (below(4)) {
    case 0:
        return (1ull << below(64)) - below(3);
    case 1:
        return UINT64_MAX - below(4);
    case 2:
        return 1700000000000000000ull + below(1000000);
    default:
        return below(100000) * 1000ull;
    }
}

static void any_put(void)
{
    const uint64_t start = any_time(), end = start + any_time();

    switch (below(5)) {
    case 0:
        gaps_copy(&gaps, start, end);
        break;
    case 1:
        gaps_wait(&gaps, start, end);
        break;
    case 2:
        gaps_begin(&gaps, start);
        break;
    default:
        gaps_kernel(&gaps, start, end);
    }
}

static void check_sums(void)
{
    gpurt_model_busy_t b;

    gaps_sums(&gaps, 0, UINT64_MAX, &b);
    CHECK_MSG(b.kernels <= b.ns && b.copying <= b.ns && b.waiting <= b.ns &&
                  b.launching <= b.ns && b.idle <= b.ns,
              "%llu ns of %llu are kernels'", (unsigned long long)b.kernels,
              (unsigned long long)b.ns);
    CHECK_EQ(b.kernels + b.copying + b.waiting + b.launching + b.idle, b.ns);
}

int main(void)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        memset(&gaps, 0, sizeof gaps);
        for (uint32_t i = 0; i < STEPS; i++) {
            any_put();
            check_sums();
        }
    }
    return 0;
}
