/* SPDX-License-Identifier: Apache-2.0 */
#include "order_kernels.h"

#include "order_heap.h"
#include "order_object.h"
#include "order_reclaim.h"

#include <gpurt/arena.h>
#include <gpurt/magazine.h>
#include <gpurt/region.h>

/* ---- pieces, granules, rows ----------------------------------------------------------- */

/* All lanes use objects of a warp's arena, whose first piece then goes back to the heap. One piece
 * alone, because the race detector takes a meeting of one lane for a meeting of its warp. What a
 * mark says that is older than a reset is found out in the pieces that are left. */
GPURT_DEVN void order_arena_release(const struct order_args *p)
{
    gpurt_arena_source_t source = {0};
    gpurt_arena_mark_t begin, older;
    gpurt_arena_t a;
    char *object;

    source.heap = p->heap;
    gpurt_arena_init(&a, NULL, 0);
    gpurt_arena_grow_from(&a, &source, 1024);
    begin = gpurt_arena_mark(&a);
    object = (char *)gpurt_arena_warp_alloc(&a, 16);
    older = gpurt_arena_mark(&a);
    order_expect(p, object != NULL);
    if (p->scene == ORDER_ARENA_RESET ||
        p->scene == ORDER_ARENA_MARK) /* the newest stays */
        order_expect(p, gpurt_arena_warp_alloc(&a, 16) != NULL);
    order_tell(p, (uint64_t)(object - p->heap.chunks) >> GPURT_CHUNK_SHIFT);
    order_write(p);
    if (p->scene == ORDER_ARENA_RELEASE)
        order_expect(p, gpurt_arena_warp_release(&a, begin));
    else if (p->scene == ORDER_ARENA_END)
        order_expect(p, gpurt_arena_warp_end(&a));
    else
        order_expect(p, gpurt_arena_warp_reset(&a));
    if (p->scene == ORDER_ARENA_MARK)
        order_expect(p, !gpurt_arena_warp_release(&a, older));
}

/* Whoever gets a piece next has acquired its bit. */
GPURT_DEVN void order_arena(const struct order_args *p, bool first)
{
    if (first) {
        order_arena_release(p);
        return;
    }
    if (gpurt_lane() != 0)
        return;
    for (uint32_t row = 0; row < GPURT_CHUNK_BITS_WORDS; row++)
        gpurt_and_acquire_far_u32(gpurt_slab_bits(&p->heap, (uint32_t)order_told(p)) + row,
                                  ~0u);
    order_read(p);
}

/* One lane gets memory that another block has used, its warp makes a region of it and asks for
 * some at once. */
GPURT_DEVN void order_region(const struct order_args *p, bool first)
{
    uint64_t *current = gpurt_run_current(&p->heap, 0, ORDER_CLASS);
    gpurt_region_t r;
    uint32_t why;

    if (!first) {
        if (gpurt_lane() == 0)
            order_expect(p, gpurt_run_look(current, 1, 1) == ORDER_RUN);
        order_expect(p, gpurt_region_init(&r, p->room, ORDER_ROOM * sizeof *p->room, 16,
                                          GPURT_FIT_FIRST) == GPURT_REGION_OK);
        order_expect(p, gpurt_region_alloc_why(&r, 16, 16, &why) != NULL);
    } else if (gpurt_lane() == 0) {
        for (uint32_t i = 0; i < ORDER_ROOM; i++)
            p->room[i] = ORDER_NOTE;
        gpurt_run_install(&p->heap, 0, ORDER_CLASS, ORDER_RUN, 0);
    }
}

/* Rows go into a magazine and out, with nothing between the calls. Context: one warp. */
GPURT_DEVN void order_magazine(const struct order_args *p, gpurt_magazine_t *m)
{
    gpurt_magazine_init(m);
    for (uint32_t i = 0; i < 3; i++) {
        void *object = gpurt_magazine_alloc(m, &p->heap, 32);
        void *second = i ? gpurt_magazine_alloc(m, &p->heap, 32) : NULL;

        order_expect(p, object && (second || !i));
        gpurt_magazine_free(m, &p->heap, object, 32);
        if (second)
            gpurt_magazine_free(m, &p->heap, second, 32);
    }
    gpurt_magazine_flush(m, &p->heap);
}

/* The array of what a warp has freed is the program's again. Context: one warp. */
GPURT_DEVN void order_free_warp(const struct order_args *p)
{
    enum {
        FEW = 8 /* other lanes free none */
    };
    void **objects = (void **)(uintptr_t)p->cells;

    order_expect(p, gpurt_heap_alloc_warp(&p->heap, FEW, 16, objects) == FEW);
    gpurt_heap_free_warp(&p->heap, FEW, objects);
    objects[(gpurt_lane() + FEW) % GPURT_WARP_SIZE] = NULL;
}

/* ---- all ----------------------------------------------------------------------------- */

/* Those of a lane alone. */
GPURT_DEV void order_by_lane(const struct order_args *p, uint32_t block)
{
    bool first = block == 0;

    if (gpurt_lane() != 0)
        return;
    if (p->scene == ORDER_HINT_CLASS)
        order_hint_class(p, block);
    else if (block > 1)
        return;
    else if (p->scene <= ORDER_ROOT_ROW)
        order_sets(p, first);
    else if (p->scene <= ORDER_KNOWN)
        order_news(p, first);
    else if (p->scene == ORDER_DRY)
        order_dry(p, first);
    else if (p->scene == ORDER_HINT_SHARD)
        order_hint_shard(p, first);
    else if (p->scene == ORDER_HAZARD_LATE)
        order_hazard_late(p, first);
    else if (p->scene == ORDER_HAZARD_FIND)
        order_hazard_find(p, first);
    else if (p->scene == ORDER_REF_UNDO)
        order_ref_undo(p, first);
}

GPURT_DEV void order_by_warp(const struct order_args *p, uint32_t block)
{
    bool first = block == 0;

    if (p->scene == ORDER_EPOCH)
        order_epoch(p, block);
    if (p->scene == ORDER_CLOSE_ROW)
        order_close_row(p, block);
    if (block > 1)
        return;
    if (p->scene >= ORDER_TICKET && p->scene <= ORDER_HINT_LOOK)
        order_runs(p, first);
    if (p->scene >= ORDER_FREE && p->scene <= ORDER_FREE_ROW)
        order_slots(p, first);
    if (p->scene == ORDER_SECTION_NEXT || p->scene == ORDER_BORROW)
        order_section(p, first);
    if (p->scene >= ORDER_HAZARD_SLOT && p->scene <= ORDER_HAZARD_SET)
        order_hazard(p, first);
    if (p->scene == ORDER_REF_RECORD)
        order_ref_record(p, first);
    if (p->scene == ORDER_REF_LAST)
        order_ref_last(p, first);
    if (p->scene == ORDER_NUMBERS)
        order_numbers(p, first);
    if (p->scene == ORDER_GC_CONTROL)
        order_gc_control(p, first);
    if (p->scene == ORDER_GC_WAIT)
        order_gc_wait(p, first);
    if (p->scene >= ORDER_GC_OBJECT && p->scene <= ORDER_GC_SHADE)
        order_gc(p, first);
    if (p->scene == ORDER_GC_DONE)
        order_gc_done(p, first);
    if (p->scene >= ORDER_ARENA_RELEASE && p->scene <= ORDER_ARENA_MARK)
        order_arena(p, first);
    if (p->scene == ORDER_REGION)
        order_region(p, first);
}

/* Those of one warp. */
GPURT_DEV void order_by_itself(const struct order_args *p, gpurt_magazine_t *m)
{
    if (p->scene == ORDER_RETIRE_EPOCH || p->scene == ORDER_RETIRE_HAZARD)
        order_retire(p);
    if (p->scene == ORDER_MAGAZINE)
        order_magazine(p, m);
    if (p->scene == ORDER_FREE_WARP)
        order_free_warp(p);
}

/* A block begins when the one before is through, which nothing but time orders. The last one of
 * those at once waits for both. */
GPURT_KERNEL(order_scene, struct order_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazine, 1);
    uint32_t block = gpurt_block_x();

    while (gpurt_load_relaxed_dev_u32(p->xcome) < block * GPURT_WARP_SIZE &&
           (p->scene < ORDER_AT_ONCE || block > 1))
        gpurt_relax();
    order_by_lane(p, block);
    order_by_warp(p, block);
    if (block == 0)
        order_by_itself(p, magazine);
    gpurt_red_add_relaxed_dev_u32(p->xcome, 1);
}
