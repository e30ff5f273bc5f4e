/* SPDX-License-Identifier: Apache-2.0 */
/* bench_heap_checks.h - what a lane does, compiled as code that checks and as code that does
 * not: a file of kernels includes alloc.h before this. */
#ifndef GPURT_TESTS_BENCH_HEAP_CHECKS_H
#define GPURT_TESTS_BENCH_HEAP_CHECKS_H

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/kernel.h>

struct bench_heap_args {
    gpurt_heap_t heap;
    uint32_t *xseen; /* [0] objects that were not one's own, [1] requests refused */
    uint32_t size, rounds;
};

#if defined(GPURT_ALLOC_H)
GPURT_DEV void bench_heap_loop(const struct bench_heap_args *p)
{
    uint32_t id = gpurt_global_id(), wrong = 0, refused = 0;

    for (uint32_t i = 0; i < p->rounds; i++) {
        uint32_t *object = (uint32_t *)gpurt_heap_alloc(&p->heap, p->size);

        if (!object) {
            refused++;
            continue;
        }
        object[0] = id;
        object[p->size / 4 - 1] = id + i;
        wrong += object[0] != (p->size == 4 ? id + i : id);
        gpurt_heap_free(&p->heap, object);
    }
    if (wrong)
        gpurt_red_add_relaxed_dev_u32(p->xseen, wrong);
    if (refused)
        gpurt_red_add_relaxed_dev_u32(p->xseen + 1, refused);
}
#endif

#endif
