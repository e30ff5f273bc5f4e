/* SPDX-License-Identifier: Apache-2.0 */
/* treewalk - blocks walk a tree that nobody stores: each node is a message of a channel without a bound,
 * and whoever takes one sends its children. Nobody could say before how many wait at once.
 *
 *     gpurt-top -- treewalk 20          key 8: how deep the channel is, and its memory */
#include <gpurt/device.h>
#include <gpurt/unbounded.h>

struct node {
    uint32_t depth, path;
};
GPURT_UNBOUNDED(nodes, struct node);

/* Written by: any lane. */
struct tree_sums {
    uint64_t xnodes, xlost;
    uint64_t xopen; /* nodes that were sent, and whose children were not */
};

struct tree {
    nodes_t nodes;
    struct tree_sums *sums;
    uint32_t depth;
};

GPURT_DEV void send(const struct tree *p, uint32_t depth, uint32_t path)
{
    struct node node = {depth, path};

    gpurt_add_relaxed_dev_u64(&p->sums->xopen, 1); /* relaxed: a number */
    if (gpurt_post(&p->nodes, &node) == GPURT_OK)
        return;
    gpurt_add_relaxed_dev_u64(&p->sums->xopen, (uint64_t)-1);
    gpurt_add_relaxed_dev_u64(&p->sums->xlost, 1); /* no memory */
}

GPURT_KERNEL(walk, struct tree, p)
{
    struct node node = {0, 0};

    if (gpurt_global_id() == 0)
        send(p, 0, 1);
    /* Lanes that fetch together go on together: here one would wait for another one's children. */
    while (gpurt_lane() == 0 && gpurt_fetch(&p->nodes, &node) == GPURT_OK) {
        for (uint32_t i = 0; node.depth < p->depth && i < 2; i++)
            send(p, node.depth + 1, node.path * 2 + i);
        gpurt_add_relaxed_dev_u64(&p->sums->xnodes, 1);
        if (gpurt_add_relaxed_dev_u64(&p->sums->xopen, (uint64_t)-1) == 1)
            (void)gpurt_unbounded_close(&p->nodes.unbounded); /* the last one */
    }
}

#if !GPURT_ON_CUDA /* host code, compiled once */
#    include <gpurt/gpurt.h>
#    include <gpurt/unboundeds.h>
#    include <stdio.h>
#    include <stdlib.h>

static gpurt_status_t tree_walk(gpurt_t *rt, struct tree *t, gpurt_error_t *err)
{
    const gpurt_launch_t launch = {.grid = {4, 1, 1}, .block = {64, 1, 1}};
    gpurt_status_t st = gpurt_launch(rt, &launch, walk, t, err);

    return st == GPURT_OK ? gpurt_sync(rt, err) : st;
}

int main(int argc, char **argv)
{
    const gpurt_unbounded_options_t options = {.policy = GPURT_CHANNEL_FAIL};
    struct tree t = {.depth = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 11};
    struct tree_sums sums = {0};
    gpurt_error_t err = {0};
    void *memory = NULL;
    gpurt_heap_t heap;
    gpurt_t *rt;

    if (gpurt_open(NULL, &rt, &err) || gpurt_heap_create(rt, NULL, &heap, &err) ||
        gpurt_mem_create(rt, sizeof sums, &memory, &err) ||
        gpurt_fill(rt, 0, memory, 0, sizeof sums, &err) ||
        gpurt_make_unbounded(rt, &t.nodes, &heap, &options, &err) ||
        (t.sums = (struct tree_sums *)memory, tree_walk(rt, &t, &err)) ||
        gpurt_copy(rt, 0, &sums, memory, sizeof sums, &err) || gpurt_sync(rt, &err) ||
        gpurt_unbounded_destroy(rt, &t.nodes.unbounded, &err) ||
        gpurt_heap_destroy(rt, &heap, &err))
        return fprintf(stderr, "treewalk: %s\n", err.text), 1;
    gpurt_mem_destroy(rt, memory);
    printf("treewalk: %llu nodes, %llu had no room\n", (unsigned long long)sums.xnodes,
           (unsigned long long)sums.xlost);
    return gpurt_close(rt, &err) == GPURT_OK && sums.xnodes == (2ull << t.depth) - 1 ? 0
                                                                                     : 1;
}
#endif
