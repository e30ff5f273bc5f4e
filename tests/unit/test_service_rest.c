/* SPDX-License-Identifier: Apache-2.0 */
/* While a heap is saved, compacted or destroyed, the services that declared it rest, others run on, and
 * one that does not come to a safe point is named. */
#include "../kernels/service_stage.h"

#include <gpurt/checkpoint.h>
#include <gpurt/gc.h>

#include <stdio.h>
#include <unistd.h>

enum {
    HEAP_BYTES = 4 << 20,
    STILL_MS = 30,
    STOP_MS = 100
};

static gpurt_heap_t heap, other;
static char path[] = "/tmp/gpurt_service_rest_XXXXXX";

static void heap_make(gpurt_heap_t *h)
{
    gpurt_heap_options_t options = {.bytes = HEAP_BYTES};

    must(gpurt_heap_create(rt, &options, h, &err));
}

static gpurt_service_t serve(struct service_args *a, const gpurt_heap_t *h, bool rests)
{
    gpurt_service_options_t options = {
        .stop_ms = STOP_MS * 100, .heaps = &h, .heap_count = h != NULL};
    gpurt_service_t service;

    *a = args_make();
    if (rests)
        must(gpurt_service_launch(rt, &shape, service_echo, a, &options, &service, &err));
    else
        must(gpurt_service_launch(rt, &shape, service_busy, a, &options, &service, &err));
    return service;
}

/* Comes to no safe point before xask is 1. */
static gpurt_service_t serve_deaf(struct service_args *a, const gpurt_heap_t *h)
{
    gpurt_service_options_t options = {
        .stop_ms = STOP_MS, .name = "mule", .heaps = &h, .heap_count = 1};
    gpurt_service_t service;

    *a = args_make();
    must(gpurt_service_launch(rt, &shape, service_deaf, a, &options, &service, &err));
    return service;
}

static void end(gpurt_service_t service, struct service_args *a)
{
    must_at_last(gpurt_service_stop(rt, service, &err));
    args_free(a);
}

/* ---- what is seen of services while parts are saved -------------------------------------- */

typedef struct watched {
    gpurt_service_t busy, idle, free;
    struct service_args busy_args, free_args;
    uint32_t saved, round;
} watched_t;

/* passes is a plain word of a block that is at rest. */
static gpurt_status_t watched_save(void *context, gpurt_t *of,
                                   gpurt_checkpoint_stream_t *to, gpurt_error_t *e)
{
    watched_t *w = context;
    uint64_t passes[BLOCKS];

    for (uint32_t b = 0; b < BLOCKS; b++)
        passes[b] = w->busy_args.replies[b].passes;
    ms_pass(STILL_MS);
    for (uint32_t b = 0; b < BLOCKS; b++)
        CHECK_EQ(w->busy_args.replies[b].passes, passes[b]);
    CHECK_EQ(status_of(w->busy).state, GPURT_SERVICE_IS_RESTING);
    CHECK_EQ(status_of(w->busy).resting, BLOCKS);
    CHECK_EQ(status_of(w->idle).resting, BLOCKS);
    CHECK_EQ(status_of(w->free).state, GPURT_SERVICE_IS_RUNNING);
    w->round++;
    round_ask(&w->free_args, w->round);
    must(gpurt_service_ring(of, w->free));
    round_hear(&w->free_args, w->round - 1, w->round, BLOCKS);
    w->saved++;
    return gpurt_checkpoint_write(to, passes, sizeof passes, e);
}

static gpurt_status_t watched_load(void *context, gpurt_t *of,
                                   gpurt_checkpoint_stream_t *from, gpurt_error_t *e)
{
    (void)context;
    (void)of;
    (void)from;
    return gpurt_fail(e, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0, "nothing to load");
}

static gpurt_checkpoint_t *checkpoint_of(watched_t *w)
{
    const gpurt_checkpoint_part_t part = {.struct_size = sizeof part,
                                          .version = 1,
                                          .context = w,
                                          .save = watched_save,
                                          .load = watched_load};
    gpurt_checkpoint_t *c;

    must(gpurt_checkpoint_create(rt, &c, &err));
    must(gpurt_checkpoint_add_heap(c, "heap", &heap, 0, &err));
    must(gpurt_checkpoint_add(c, "watched", &part, &err));
    return c;
}

static void a_checkpoint_rests_those_that_declared_its_heap(void)
{
    watched_t w = {0};
    gpurt_checkpoint_t *c = checkpoint_of(&w);
    struct service_args idle_args;

    w.busy = serve(&w.busy_args, &heap, false);
    w.idle = serve(&idle_args, &heap, true);
    w.free = serve(&w.free_args, &other, true);
    state_await(w.busy, GPURT_SERVICE_IS_RUNNING);
    for (uint32_t i = 1; i <= 3; i++) {
        must(gpurt_checkpoint_save(c, path, &err));
        CHECK_EQ(w.saved, i);
        state_await(w.busy, GPURT_SERVICE_IS_RUNNING);
        round_ask(&idle_args, i); /* it does answer again */
        must(gpurt_service_ring(rt, w.idle));
        round_hear(&idle_args, i - 1, i, BLOCKS);
    }
    gpurt_checkpoint_destroy(c);
    end(w.busy, &w.busy_args);
    end(w.idle, &idle_args);
    end(w.free, &w.free_args);
}

/* ---- one that does not rest -------------------------------------------------------------- */

static void a_checkpoint_names_one_that_does_not_rest(void)
{
    struct service_args mule_args, echo_args;
    gpurt_service_t echo = serve(&echo_args, &heap, true);
    gpurt_service_t mule = serve_deaf(&mule_args, &heap);
    gpurt_checkpoint_t *c;

    must(gpurt_checkpoint_create(rt, &c, &err));
    must(gpurt_checkpoint_add_heap(c, "heap", &heap, 0, &err));
    CHECK_EQ(gpurt_checkpoint_save(c, path, &err), GPURT_E_TIMEOUT);
    CHECK_CONTAINS(err.text, "service mule ");
    round_ask(&echo_args, 1); /* the others go on */
    must(gpurt_service_ring(rt, echo));
    round_hear(&echo_args, 0, 1, BLOCKS);
    must(gpurt_hostword_store(rt, &mule_args.desk->xask, 1, &err));
    must_at_last(gpurt_checkpoint_save(c, path, &err));
    gpurt_checkpoint_destroy(c);
    end(mule, &mule_args);
    end(echo, &echo_args);
}

static void so_does_a_compaction(void)
{
    struct service_args mule_args;
    gpurt_service_t mule;
    uint32_t moved;
    gpurt_gc_t gc;

    must(gpurt_gc_create(rt, &heap, NULL, &gc, &err));
    mule = serve_deaf(&mule_args, &heap);
    CHECK_EQ(gpurt_gc_compact(rt, &gc, &moved, &err), GPURT_E_TIMEOUT);
    CHECK_CONTAINS(err.text, "service mule ");
    must(gpurt_hostword_store(rt, &mule_args.desk->xask, 1, &err));
    must_at_last(gpurt_gc_compact(rt, &gc, &moved, &err));
    end(mule, &mule_args);
    must(gpurt_gc_destroy(rt, &gc, &err));
}

static void so_does_the_end_of_a_heap(void)
{
    struct service_args mule_args;
    gpurt_service_t mule = serve_deaf(&mule_args, &heap);

    CHECK_EQ(gpurt_heap_destroy(rt, &heap, &err), GPURT_E_TIMEOUT);
    CHECK_CONTAINS(err.text, "service mule ");
    must(gpurt_heap_check(rt, &heap, &err)); /* it is there */
    must(gpurt_hostword_store(rt, &mule_args.desk->xask, 1, &err));
    must_at_last(gpurt_heap_destroy(rt, &heap, &err));
    state_await(mule, GPURT_SERVICE_IS_RUNNING);
    end(mule, &mule_args);
}

static void one_that_was_told_to_stop_is_waited_for(void)
{
    struct service_args mule_args;
    gpurt_service_t mule;

    heap_make(&heap);
    mule = serve_deaf(&mule_args, &heap);
    CHECK_EQ(gpurt_service_stop(rt, mule, &err), GPURT_E_TIMEOUT);
    CHECK_EQ(gpurt_heap_destroy(rt, &heap, &err), GPURT_E_TIMEOUT);
    must(gpurt_hostword_store(rt, &mule_args.desk->xask, 1, &err));
    must_at_last(gpurt_heap_destroy(rt, &heap, &err));
    end(mule, &mule_args);
}

/* Its other blocks rest; it has left. */
static void a_block_that_panicked_is_not_waited_for(void)
{
    const gpurt_heap_t *h = &heap;
    gpurt_service_options_t options = {.heaps = &h, .heap_count = 1};
    struct service_args a = args_make();
    gpurt_service_t service;

    heap_make(&heap);
    a.value = 1;
    must(gpurt_service_launch(rt, &shape, service_panics, &a, &options, &service, &err));
    must(gpurt_hostword_store(rt, &a.desk->xask, 1, &err));
    must(gpurt_service_ring(rt, service));
    for (uint32_t ms = 0; status_of(service).left != 1; ms++) {
        CHECK(ms < 30000);
        ms_pass(1);
    }
    must(gpurt_heap_destroy(rt, &heap, &err));
    CHECK_EQ(status_of(service).left, 1);
    CHECK_EQ(gpurt_service_stop(rt, service, &err), GPURT_E_PANIC);
    args_free(&a);
}

/* A service may read its description at any time. The end of the heap takes it away all the same. */
static void the_default_heap_stays_beside_a_service(void)
{
    gpurt_heap_options_t options = {.bytes = HEAP_BYTES, .make_default = true};
    gpurt_heap_t late = {0};
    struct service_args a;
    gpurt_service_t service;

    heap_make(&heap);
    must(gpurt_heap_set_default(rt, &heap, &err));
    service = serve(&a, &heap, true);
    CHECK_EQ(gpurt_heap_set_default(rt, &other, &err), GPURT_E_SERVICE);
    CHECK_CONTAINS(err.text, "stop services first");
    CHECK_EQ(gpurt_heap_set_default(rt, NULL, &err), GPURT_E_SERVICE);
    CHECK_EQ(gpurt_heap_create(rt, &options, &late, &err), GPURT_E_SERVICE);
    CHECK(!late.chunks);
    must(gpurt_heap_destroy(rt, &heap, &err));
    end(service, &a);
    must(gpurt_heap_set_default(rt, &other, &err));
}

static void too_many_heaps_are_refused(void)
{
    const gpurt_heap_t *heaps[GPURT_SERVICE_HEAPS + 1] = {&other};
    gpurt_service_options_t options = {.heaps = heaps,
                                       .heap_count = GPURT_SERVICE_HEAPS + 1};
    struct service_args a = {0};
    gpurt_service_t service;

    CHECK_EQ(gpurt_service_launch(rt, &shape, service_echo, &a, &options, &service, &err),
             GPURT_E_INVALID);
    options.heap_count = 2;
    CHECK_EQ(gpurt_service_launch(rt, &shape, service_echo, &a, &options, &service, &err),
             GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "heaps[1] is NULL");
}

int main(void)
{
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    close(fd);
    open_with(0);
    heap_make(&heap);
    heap_make(&other);
    a_checkpoint_rests_those_that_declared_its_heap();
    a_checkpoint_names_one_that_does_not_rest();
    so_does_a_compaction();
    so_does_the_end_of_a_heap();
    one_that_was_told_to_stop_is_waited_for();
    a_block_that_panicked_is_not_waited_for();
    the_default_heap_stays_beside_a_service();
    too_many_heaps_are_refused();
    must(gpurt_heap_destroy(rt, &other, &err));
    must(gpurt_close(rt, &err));
    unlink(path);
    return 0;
}
