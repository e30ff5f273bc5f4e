/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_reclaim.h"

#include <gpurt/device.h>
#include <gpurt/epoch.h>
#include <gpurt/hazard.h>
#include <gpurt/object.h>
#include <gpurt/ref.h>

GPURT_DEV uint32_t bench_warp(void)
{
    return gpurt_block_rank() * gpurt_warps() + gpurt_warp();
}

GPURT_DEV void bench_wrong(const struct bench_reclaim_args *p, bool wrong)
{
    if (wrong)
        gpurt_red_add_relaxed_dev_u64(p->sums, 1);
}

GPURT_DEVN void bench_retire(const struct bench_reclaim_args *p, uint32_t op)
{
    void *object = gpurt_heap_alloc(&p->heap, 64);
    uint32_t slot, answer = GPURT_RETIRE_KEPT;

    gpurt_syncwarp(GPURT_FULL_MASK);
    if (op == RECLAIM_ALLOC_FREE) {
        gpurt_heap_free(&p->heap, object);
    } else if (op == RECLAIM_EPOCH_RETIRE) {
        slot = gpurt_epoch_enter(&p->epochs, GPURT_FULL_MASK);
        answer = gpurt_epoch_retire(&p->epochs, slot, GPURT_FULL_MASK, object);
        gpurt_epoch_leave(&p->epochs, slot, GPURT_FULL_MASK);
    } else {
        slot = gpurt_hazard_open(&p->hazards, GPURT_FULL_MASK);
        answer = gpurt_hazard_retire(&p->hazards, slot, GPURT_FULL_MASK, object);
        gpurt_hazard_close(&p->hazards, slot, GPURT_FULL_MASK);
    }
    if (answer != GPURT_RETIRE_KEPT) /* the ring is full: nobody else can know of it */
        gpurt_heap_free(&p->heap, object);
}

GPURT_DEVN void bench_op(const struct bench_reclaim_args *p, uint64_t *word,
                         gpurt_ref_t ref, uint32_t hazard, gpurt_section_t in)
{
    gpurt_object_t root = gpurt_gc_root_read(&p->gc, gpurt_lane());
    gpurt_section_t other;
    uint32_t slot;

    switch (p->op) {
    case RECLAIM_ATOMIC:
        bench_wrong(p, gpurt_add_relaxed_dev_u64(word, 1) == ~0ull);
        break;
    case RECLAIM_RETAIN_OWN:
    case RECLAIM_RETAIN_SAME:
        bench_wrong(p, gpurt_ref_retain(&p->refs, ref) != GPURT_REF_OK);
        bench_wrong(p, gpurt_ref_release(&p->refs, ref) != GPURT_REF_OK);
        break;
    case RECLAIM_TRY_RETAIN:
        bench_wrong(p, gpurt_ref_try_retain(&p->refs, ref) != GPURT_REF_OK);
        bench_wrong(p, gpurt_ref_release(&p->refs, ref) != GPURT_REF_OK);
        break;
    case RECLAIM_EPOCH_SECTION:
        slot = gpurt_epoch_enter(&p->epochs, GPURT_FULL_MASK);
        gpurt_epoch_leave(&p->epochs, slot, GPURT_FULL_MASK);
        break;
    case RECLAIM_HAZARD_PROTECT:
        bench_wrong(p, gpurt_hazard_protect(&p->hazards, hazard, 0, word) == NULL);
        gpurt_hazard_clear(&p->hazards, hazard, 0);
        break;
    case RECLAIM_GC_SECTION:
        other = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);
        gpurt_gc_leave(&p->gc, other, GPURT_FULL_MASK);
        break;
    case RECLAIM_GC_GET:
        bench_wrong(p, !gpurt_object_get(&p->gc, root));
        break;
    case RECLAIM_GC_WRITE:
        bench_wrong(p, gpurt_gc_write(&p->gc, in, root, 1, root) != GPURT_GC_OK);
        break;
    default:
        bench_retire(p, p->op);
    }
}

/* One thing again and again, each time by the clock. */
GPURT_KERNEL(bench_reclaim_op, struct bench_reclaim_args, p)
{
    uint64_t *word = p->words + (size_t)gpurt_global_id() * 16;
    uint32_t answer, hazard = gpurt_hazard_open(&p->hazards, GPURT_FULL_MASK);
    gpurt_section_t in = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);
    gpurt_ref_t ref = gpurt_ref_alloc(&p->refs, 64, 0, &answer), own = ref;

    gpurt_syncwarp(GPURT_FULL_MASK);
    *word = (uint64_t)(uintptr_t)word;
    if (p->op == RECLAIM_RETAIN_SAME)
        ref = gpurt_shfl_u64(GPURT_FULL_MASK, own, 0);
    for (uint32_t round = 0; round < p->rounds; round++) {
        uint64_t begin = gpurt_clock();

        bench_op(p, word, ref, hazard, in);
        gpurt_syncwarp(GPURT_FULL_MASK);
        if (gpurt_lane() == 0)
            p->clocks[(size_t)bench_warp() * p->rounds + round] = gpurt_clock() - begin;
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    gpurt_ref_release(&p->refs, own);
    gpurt_gc_leave(&p->gc, in, GPURT_FULL_MASK);
    gpurt_hazard_close(&p->hazards, hazard, GPURT_FULL_MASK);
}

/* A list for each root. */
GPURT_KERNEL(bench_reclaim_build, struct bench_reclaim_args, p)
{
    gpurt_section_t in = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);

    for (uint32_t root = gpurt_global_id(); root < p->gc.root_count;
         root += gpurt_grid_blocks() * gpurt_block_threads())
        for (uint32_t i = 0; i < RECLAIM_LIST; i++) {
            uint32_t answer;
            gpurt_object_t o =
                gpurt_object_alloc(&p->gc, in, 0, RECLAIM_NODE_BYTES, &answer);

            gpurt_gc_write(&p->gc, in, o, 0, gpurt_gc_root_read(&p->gc, root));
            gpurt_gc_root_write(&p->gc, in, root, o);
        }
    gpurt_syncwarp(GPURT_FULL_MASK);
    gpurt_gc_leave(&p->gc, in, GPURT_FULL_MASK);
}

/* How many objects the roots lead to. */
GPURT_KERNEL(bench_reclaim_count, struct bench_reclaim_args, p)
{
    gpurt_section_t in = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);

    for (uint32_t root = gpurt_global_id(); root < p->gc.root_count;
         root += gpurt_grid_blocks() * gpurt_block_threads())
        for (gpurt_object_t o = gpurt_gc_root_read(&p->gc, root); o;
             o = gpurt_gc_read(&p->gc, o, 0))
            gpurt_red_add_relaxed_dev_u64(p->sums + 1, 1);
    gpurt_syncwarp(GPURT_FULL_MASK);
    gpurt_gc_leave(&p->gc, in, GPURT_FULL_MASK);
}

/* Only one root in `every` stays. */
GPURT_KERNEL(bench_reclaim_drop, struct bench_reclaim_args, p)
{
    gpurt_section_t in = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);

    for (uint32_t root = gpurt_global_id(); root < p->gc.root_count;
         root += gpurt_grid_blocks() * gpurt_block_threads())
        if (root % p->every)
            gpurt_gc_root_write(&p->gc, in, root, 0);
    gpurt_syncwarp(GPURT_FULL_MASK);
    gpurt_gc_leave(&p->gc, in, GPURT_FULL_MASK);
}

/* The floor of a collection: to read each entry once. */
GPURT_KERNEL(bench_reclaim_pass, struct bench_reclaim_args, p)
{
    uint64_t sum = 0;

    for (uint32_t i = gpurt_global_id(); i < p->gc.entry_count;
         i += gpurt_grid_blocks() * gpurt_block_threads())
        sum += gpurt_load_relaxed_dev_u64(&p->gc.entries[i].xaddress) +
               gpurt_load_relaxed_dev_u32(&p->gc.entries[i].xmark);
    bench_wrong(p, sum == 1);
}

/* Sections that turn lists over, each by the clock: a mutator. Every lane has its root, and
 * there are no more lanes than roots. rate: cycles and nanoseconds of one lane. */
GPURT_KERNEL(bench_reclaim_mutate, struct bench_reclaim_args, p)
{
    uint64_t clock = gpurt_clock(), ns = gpurt_globaltimer();
    uint32_t root = gpurt_global_id();

    for (uint32_t round = 0; round < p->rounds; round++) {
        uint64_t begin = gpurt_clock();
        gpurt_section_t in = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);
        gpurt_object_t first = gpurt_gc_root_read(&p->gc, root), second;

        second = gpurt_gc_read(&p->gc, first, 0);
        if (second) { /* the second becomes the first */
            gpurt_gc_write(&p->gc, in, first, 0, gpurt_gc_read(&p->gc, second, 0));
            gpurt_gc_write(&p->gc, in, second, 0, first);
            gpurt_gc_root_write(&p->gc, in, root, second);
        }
        gpurt_syncwarp(GPURT_FULL_MASK);
        gpurt_gc_leave(&p->gc, in, GPURT_FULL_MASK);
        if (gpurt_lane() == 0)
            p->clocks[(size_t)bench_warp() * p->rounds + round] = gpurt_clock() - begin;
    }
    if (gpurt_global_id() > 0)
        return;
    p->rate[0] = gpurt_clock() - clock;
    p->rate[1] = gpurt_globaltimer() - ns;
}
