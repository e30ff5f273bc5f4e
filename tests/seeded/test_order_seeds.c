/* SPDX-License-Identifier: Apache-2.0 */
/* The pairs of docs/MEMORY_ORDER.md that memory rests on, one at a time. Two blocks follow one another
 * by relaxed words alone; what the second one reads was written plainly by the first, so the
 * race detector sees whether the pair under test orders it, which nothing else does. Where a
 * program has only atomics behind a pair, no other test could tell.
 * An argument is the number of seeds, a second one the first of them. */
#include "order_kernels.h"
#include "seeds.h"

#include <gpurt/gc.h>
#include <gpurt/heap.h>
#include <gpurt/reclaim.h>

GPURT_KERNEL_DECLARE(order_scene, struct order_args);

typedef struct stage {
    struct order_args args;
    gpurt_launch_t launch;
} stage_t;

static void tables_open(struct order_args *a)
{
    static const gpurt_gc_type_t pair = {
        .handles = 3, .tail = GPURT_GC_NO_TAIL, .bytes = 40};
    gpurt_gc_options_t gc = {
        .objects = 40, .roots = 1, .sections = 8, .type_count = 1, .types = &pair};
    gpurt_heap_options_t heap = {.bytes = 2 << 20, .shards = 1};
    gpurt_epochs_options_t one = {.slots = 1, .limbo = 4}, few = {.slots = 8, .limbo = 128};
    gpurt_hazards_options_t hazards = {.slots = 1, .each = 1, .retired = 128};
    gpurt_refs_options_t refs = {.records = 64};

    OK(gpurt_heap_create(rt, &heap, &a->heap, &err));
    OK(gpurt_epochs_create(rt, &a->heap, &one, &a->one, &err));
    OK(gpurt_epochs_create(rt, &a->heap, &few, &a->few, &err));
    OK(gpurt_hazards_create(rt, &a->heap, &hazards, &a->hazards, &err));
    OK(gpurt_refs_create(rt, &a->heap, &refs, &a->refs, &err));
    OK(gpurt_gc_create(rt, &a->heap, &gc, &a->gc, &err));
}

static void tables_close(struct order_args *a)
{
    OK(gpurt_gc_destroy(rt, &a->gc, &err));
    OK(gpurt_refs_destroy(rt, &a->refs, &err));
    OK(gpurt_hazards_destroy(rt, &a->hazards, &err));
    OK(gpurt_epochs_destroy(rt, &a->few, &err));
    OK(gpurt_epochs_destroy(rt, &a->one, &err));
    OK(gpurt_heap_destroy(rt, &a->heap, &err));
}

static void stage_open(stage_t *s, uint32_t scene)
{
    struct order_args *a = &s->args;

    memset(s, 0, sizeof *s);
    tables_open(a);
    a->set.leaf_words = ORDER_LEAVES;
    a->set.branch_words = ORDER_LEAVES / 64;
    a->set.root_words = 1;
    a->set.tree_words = ORDER_LEAVES + ORDER_LEAVES / 64 + 1;
    a->set.trees = (uint64_t *)stage_zeros(a->set.tree_words * sizeof *a->set.trees);
    a->notes = (uint64_t *)stage_zeros(ORDER_NOTES * sizeof *a->notes);
    a->cells = (uint64_t *)stage_zeros(ORDER_NOTES * sizeof *a->cells);
    a->room = (uint64_t *)stage_zeros(ORDER_ROOM * sizeof *a->room);
    a->xcome = (uint32_t *)stage_zeros(sizeof *a->xcome);
    a->xmet = (uint32_t *)stage_zeros(sizeof *a->xmet);
    a->xwrong = (uint32_t *)stage_zeros(sizeof *a->xwrong);
    a->scene = scene;
    s->launch.grid = (gpurt_dim3_t){ORDER_BLOCKS, 1, 1};
    s->launch.block = (gpurt_dim3_t){GPURT_WARP_SIZE, 1, 1};
}

static void stage_close(stage_t *s)
{
    struct order_args *a = &s->args;
    void *const parts[] = {a->set.trees, a->notes, a->cells, a->room,
                           a->xcome,     a->xmet,  a->xwrong};

    tables_close(a);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        CHECK_EQ(gpurt_mem_destroy(rt, parts[i]), GPURT_OK);
}

/* Returns: whether a scene at once came to its point. */
static uint32_t run_scene(uint32_t scene)
{
    uint32_t wrong, met;
    stage_t s;

    stage_open(&s, scene);
    RUN(&s, order_scene);
    stage_read(&wrong, s.args.xwrong, sizeof wrong);
    stage_read(&met, s.args.xmet, sizeof met);
    CHECK_MSG(wrong == 0, "scene %u went wrong", scene);
    stage_close(&s);
    return met;
}

int main(int argc, char **argv)
{
    uint32_t met[ORDER_SCENES] = {0};
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 20); seeds_next(&s, 4);)
        for (uint32_t scene = 0; scene < ORDER_SCENES; scene++)
            for (uint32_t i = 0; i < (scene < ORDER_AT_ONCE ? 1 : 8); i++)
                met[scene] += run_scene(scene);
    for (uint32_t scene = ORDER_AT_ONCE; scene < ORDER_SCENES; scene++) {
        fprintf(stderr, "scene %u met %u times\n", scene, met[scene]);
        CHECK(met[scene] > 0 || s.count < 10);
    }
    return 0;
}
