/* SPDX-License-Identifier: Apache-2.0 */
/* bench_alloc_took.h - the cycles of a warp's calls, taken down so that the figures themselves do
 * not crowd the way to memory. Context: device code, all lanes of a warp. */
#ifndef GPURT_TESTS_BENCH_ALLOC_TOOK_H
#define GPURT_TESTS_BENCH_ALLOC_TOOK_H

#include "bench_alloc.h"

#include <gpurt/atomic.h>
#include <gpurt/device.h>

/* What a round took: a lane keeps that of one round in 32. */
typedef struct bench_took {
    uint32_t get, put;
} bench_took_t;

GPURT_DEV void bench_take_down(const struct bench_alloc_args *p, uint32_t round,
                               bench_took_t *took, uint64_t get, uint64_t put)
{
    uint32_t warp = gpurt_global_id() / GPURT_WARP_SIZE, lane = gpurt_lane();

    if (round % GPURT_WARP_SIZE == lane) {
        took->get = (uint32_t)get;
        took->put = (uint32_t)put;
    }
    if ((round + 1 == p->rounds || round % GPURT_WARP_SIZE == GPURT_WARP_SIZE - 1) &&
        lane <= round % GPURT_WARP_SIZE) {
        uint32_t *row = p->cycles + 2 * (warp * p->rounds +
                                         round / GPURT_WARP_SIZE * GPURT_WARP_SIZE + lane);

        row[0] = took->get;
        row[1] = took->put;
    }
}

/* Objects are written to in one round of 16: 32 lines each time, and the calls that are timed
 * would stand behind those of other warps. A call that did not serve all lanes is counted: its
 * time is of something else. */
GPURT_DEV void bench_touch(const struct bench_alloc_args *p, uint32_t round, void *object,
                           uint32_t kept)
{
    if (kept != GPURT_FULL_MASK && gpurt_lane() == 0)
        gpurt_red_add_relaxed_dev_u64(&p->sums[BENCH_NULL], 1);
    if (object && round % 16 == 0)
        *(uint32_t *)object = kept;
    gpurt_syncwarp(GPURT_FULL_MASK);
}

#endif
