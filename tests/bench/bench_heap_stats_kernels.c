/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_heap_stats.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>
#include <gpurt/places.h>

GPURT_DEV uint32_t bench_stats_bytes(const struct bench_stats_args *p, uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return (p->min_bytes + *state % (p->max_bytes - p->min_bytes + 1)) & ~3u;
}

GPURT_DEV void bench_stats_mark(uint32_t *object, uint32_t bytes, uint32_t word)
{
    object[0] = word;
    object[bytes / 4 - 1] = word;
}

/* Returns: whether somebody else wrote to it. */
GPURT_DEV bool bench_stats_differs(const uint32_t *object, uint32_t bytes, uint32_t word)
{
    return gpurt_load_relaxed_dev_u32(object) != word ||
           gpurt_load_relaxed_dev_u32(object + bytes / 4 - 1) != word;
}

GPURT_DEV void bench_stats_tell(const struct bench_stats_args *p, uint32_t wrong,
                                uint32_t refused)
{
    if (wrong)
        gpurt_red_add_relaxed_dev_u32(p->xseen, wrong);
    if (refused)
        gpurt_red_add_relaxed_dev_u32(p->xseen + 1, refused);
}

/* A request and its free, again and again. */
GPURT_KERNEL(bench_stats_churn, struct bench_stats_args, p)
{
    uint32_t id = gpurt_global_id(), state = (id + p->seed) * 2654435761u | 1u;
    uint32_t wrong = 0, refused = 0;

    for (uint32_t i = 0; i < p->rounds; i++) {
        uint32_t bytes = bench_stats_bytes(p, &state);
        uint32_t *object = (uint32_t *)gpurt_heap_alloc(&p->heap, bytes);

        if (object) {
            bench_stats_mark(object, bytes, id + i);
            wrong += bench_stats_differs(object, bytes, id + i);
        }
        refused += !object;
        gpurt_heap_free(&p->heap, object);
    }
    bench_stats_tell(p, wrong, refused);
}

/* The same through pools, whose counts of each level the flush adds to the heap's. */
GPURT_KERNEL(bench_stats_pools, struct bench_stats_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, BENCH_THREADS / GPURT_WARP_SIZE);
    GPURT_SHARED(gpurt_rack_t, rack, 1);
    uint32_t id = gpurt_global_id(), bytes = p->min_bytes, wrong = 0, refused = 0;
    gpurt_places_t mine;

    gpurt_rack_init(rack);
    gpurt_places_init(&mine, &magazines[gpurt_warp()], rack, &p->heap);
    for (uint32_t i = 0; i < p->rounds; i++) {
        uint32_t *objects[BENCH_HELD];

        for (uint32_t k = 0; k < BENCH_HELD; k++) {
            objects[k] = (uint32_t *)gpurt_places_alloc(&mine, bytes);
            refused += !objects[k];
            if (objects[k])
                bench_stats_mark(objects[k], bytes, id + i + k);
        }
        for (uint32_t k = 0; k < BENCH_HELD; k++) {
            if (objects[k])
                wrong += bench_stats_differs(objects[k], bytes, id + i + k);
            gpurt_places_free(&mine, objects[k], bytes);
        }
        if (i % 64 == 63)
            gpurt_places_flush(&mine);
    }
    gpurt_places_flush(&mine);
    gpurt_rack_flush(rack, &p->heap);
    bench_stats_tell(p, wrong, refused);
}
