/* SPDX-License-Identifier: Apache-2.0 */
/* How heaps and what stands on them end: a destroy that is refused leaves all as it was, also
 * one with the pointer of another device; what stands on a heap that is gone says so; a heap
 * that is looked at stays until that look is over, whoever destroys it meanwhile. */
#include "device_kernels.h"
#include "stage_parts.h"

#include <gpurt/arenas.h>
#include <gpurt/checkpoint.h>
#include <gpurt/gc.h>
#include <gpurt/heap.h>
#include <gpurt/reclaim.h>
#include <gpurt/regions.h>

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MIB = 1 << 20,
    LANES = 64,
    HEAPS = 300, /* that come and go while others look */
    LOOKERS = 3
};

/* A heap and all that can stand on it. */
typedef struct stack {
    gpurt_heap_t heap;
    gpurt_refs_t refs;
    gpurt_epochs_t epochs;
    gpurt_hazards_t hazards;
    gpurt_gc_t gc;
    gpurt_arena_source_t source;
    gpurt_region_t region; /* beside it: a region has memory of its own */
} stack_t;

static const gpurt_heap_options_t small = {.bytes = 4 * MIB};
static const gpurt_epochs_options_t few_epochs = {.slots = 64};
static const gpurt_hazards_options_t few_hazards = {.slots = 64};

static const gpurt_region_options_t tiny = {.bytes = 1 << 16};

static void stack_make(stack_t *s)
{
    gpurt_gc_options_t gc = {.objects = 64, .sections = 64};

    OK(gpurt_heap_create(rt, &small, &s->heap, &err));
    OK(gpurt_refs_create(rt, &s->heap, NULL, &s->refs, &err));
    OK(gpurt_epochs_create(rt, &s->heap, &few_epochs, &s->epochs, &err));
    OK(gpurt_hazards_create(rt, &s->heap, &few_hazards, &s->hazards, &err));
    OK(gpurt_gc_create(rt, &s->heap, &gc, &s->gc, &err));
    OK(gpurt_arena_source_create(rt, &s->heap, 64, &s->source, &err));
    OK(gpurt_region_create(rt, &tiny, &s->region, &err));
}

static void tables_destroy(stack_t *s)
{
    OK(gpurt_gc_destroy(rt, &s->gc, &err));
    OK(gpurt_hazards_destroy(rt, &s->hazards, &err));
    OK(gpurt_epochs_destroy(rt, &s->epochs, &err));
    OK(gpurt_refs_destroy(rt, &s->refs, &err));
    OK(gpurt_arena_source_destroy(rt, &s->source, &err));
    OK(gpurt_region_destroy(rt, &s->region, &err));
    CHECK(!s->gc.control && !s->hazards.counts && !s->epochs.counts && !s->refs.counts);
    CHECK(!s->source.slots && !s->region.base);
}

/* ---- refused ------------------------------------------------------------------------- */

/* All destroys with a pointer that is not the owner's. */
static void all_refused(gpurt_t *other, gpurt_status_t want)
{
    stack_t s, before;

    stack_make(&s);
    before = s;
    CHECK_EQ(gpurt_gc_destroy(other, &s.gc, NULL), want);
    CHECK_EQ(gpurt_hazards_destroy(other, &s.hazards, NULL), want);
    CHECK_EQ(gpurt_epochs_destroy(other, &s.epochs, NULL), want);
    CHECK_EQ(gpurt_refs_destroy(other, &s.refs, NULL), want);
    CHECK_EQ(gpurt_arena_source_destroy(other, &s.source, NULL), want);
    CHECK_EQ(gpurt_region_destroy(other, &s.region, NULL), want);
    CHECK_EQ(gpurt_heap_destroy(other, &s.heap, NULL), want);
    CHECK(s.gc.control == before.gc.control && s.gc.id == before.gc.id);
    CHECK(s.hazards.counts == before.hazards.counts && s.hazards.id == before.hazards.id);
    CHECK(s.epochs.counts == before.epochs.counts && s.epochs.id == before.epochs.id);
    CHECK(s.refs.counts == before.refs.counts && s.refs.id == before.refs.id);
    CHECK(s.source.slots == before.source.slots && s.source.id == before.source.id);
    CHECK(s.region.base == before.region.base && s.region.id == before.region.id);
    CHECK(s.heap.chunks == before.heap.chunks && s.heap.id == before.heap.id);
    OK(gpurt_gc_collect(rt, &s.gc, GPURT_GC_MAJOR_CYCLE, &err)); /* and all still works */
    OK(gpurt_epochs_sweep(rt, &s.epochs, &err));
    OK(gpurt_hazards_sweep(rt, &s.hazards, &err));
    OK(gpurt_arena_source_sweep(rt, &s.source, NULL, &err));
    OK(gpurt_region_check(rt, &s.region, &err));
    OK(gpurt_heap_check(rt, &s.heap, &err));
    tables_destroy(&s);
    OK(gpurt_heap_destroy(rt, &s.heap, &err));
    CHECK(!s.heap.chunks);
    CHECK_EQ(gpurt_heap_destroy(rt, &before.heap, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_gc_destroy(rt, &before.gc, NULL), GPURT_E_HANDLE);
}

/* What is left of a device that was closed: no pointer is "the one that created it" any more. */
static void closed_refused(gpurt_options_t *o)
{
    gpurt_region_t region;
    gpurt_heap_t heap;
    gpurt_t *other;
    gpurt_error_t failed = {0};

    OK(gpurt_open(o, &other, &err));
    OK(gpurt_heap_create(other, &small, &heap, &err));
    OK(gpurt_region_create(other, NULL, &region, &err));
    OK(gpurt_close(other, &err));
    CHECK_EQ(gpurt_heap_destroy(rt, &heap, &failed), GPURT_E_CLOSED);
    CHECK_CONTAINS(failed.text, "of a device that was closed");
    CHECK_EQ(gpurt_region_destroy(rt, &region, &failed), GPURT_E_CLOSED);
    CHECK_CONTAINS(failed.text, "of a device that was closed");
    OK(gpurt_open(o, &other, &err));
    OK(gpurt_heap_destroy(other, &heap, &err));
    OK(gpurt_region_destroy(other, &region, &err));
    OK(gpurt_close(other, &err));
}

/* Room for the tables of so many shards is what lacks, and not a MiB. */
static void test_shards(void)
{
    gpurt_heap_options_t o = {.bytes = MIB, .shards = 65536};
    gpurt_error_t failed = {0};
    gpurt_heap_t heap;

    CHECK_EQ(gpurt_heap_create(rt, &o, &heap, &failed), GPURT_E_INVALID);
    CHECK_CONTAINS(failed.text, "give more bytes or fewer shards");
    o = (gpurt_heap_options_t){.bytes = 100};
    CHECK_EQ(gpurt_heap_create(rt, &o, &heap, &failed), GPURT_E_INVALID);
    CHECK_CONTAINS(failed.text, "give 1 MiB");
}

static void test_refused(void)
{
    gpurt_options_t o = {.struct_size = sizeof o, .device = 1};
    gpurt_t *other;

    all_refused(NULL, GPURT_E_CLOSED);
    o.cpu.workers = 1;
    if (gpurt_open(&o, &other, NULL) != GPURT_OK)
        return; /* a machine of one GPU */
    all_refused(other, GPURT_E_HANDLE);
    OK(gpurt_close(other, &err));
    all_refused(other, GPURT_E_CLOSED);
    closed_refused(&o);
}

/* The default of a device that has failed: who destroys it hears of that first. */
static void test_default_refused(void)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {2, 1, 1}};
    gpurt_heap_options_t options = {.bytes = MIB, .make_default = true};
    struct device_args args = {.device = 0};
    gpurt_heap_t heap;
    gpurt_info_t info;
    void *chunks;

    OK(gpurt_info(rt, &info));
    OK(gpurt_heap_create(rt, &options, &heap, &err));
    chunks = heap.chunks;
    if (info.backend == GPURT_BACKEND_CPU) { /* nobody finds that on a GPU */
        OK(gpurt_launch(rt, &launch, device_stuck, &args, &err));
        CHECK_EQ(gpurt_heap_destroy(rt, &heap, NULL), GPURT_E_DEADLOCK);
        CHECK(heap.chunks == chunks);
        OK(gpurt_heap_check(rt, &heap, &err));
    }
    OK(gpurt_heap_destroy(rt, &heap, &err));
}

/* ---- order --------------------------------------------------------------------------- */

static void checkpoint_refused(gpurt_heap_t *gone)
{
    char path[] = "/tmp/gpurt-life-XXXXXX";
    int fd = mkstemp(path);
    gpurt_checkpoint_t *c;

    CHECK(fd >= 0);
    OK(gpurt_checkpoint_create(rt, &c, &err));
    OK(gpurt_checkpoint_add_heap(c, "objects", gone, 0, &err));
    CHECK_EQ(gpurt_checkpoint_save(c, path, NULL), GPURT_E_HANDLE);
    gpurt_checkpoint_destroy(c);
    close(fd);
    unlink(path);
}

/* The heap went first: what would touch its memory says so, what only looks into tables of
 * its own tells it, and all of that can be ended. */
static void test_order(void)
{
    gpurt_reclaim_stats_t stats;
    gpurt_arena_stats_t arenas;
    gpurt_refs_stats_t refs;
    gpurt_gc_stats_t gc;
    gpurt_heap_t copy;
    uint32_t moved = 7;
    stack_t s;

    stack_make(&s);
    copy = s.heap;
    OK(gpurt_heap_destroy(rt, &s.heap, &err));
    CHECK_EQ(gpurt_gc_collect(rt, &s.gc, GPURT_GC_MAJOR_CYCLE, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_gc_collect(rt, &s.gc, GPURT_GC_MINOR_CYCLE, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_gc_compact(rt, &s.gc, &moved, NULL), GPURT_E_HANDLE);
    CHECK_EQ(moved, 0);
    CHECK_EQ(gpurt_gc_recover(rt, &s.gc, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_epochs_sweep(rt, &s.epochs, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_hazards_sweep(rt, &s.hazards, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_arena_source_sweep(rt, &s.source, NULL, NULL), GPURT_E_HANDLE);
    checkpoint_refused(&copy);
    OK(gpurt_gc_stats(rt, &s.gc, &gc, &err));
    OK(gpurt_epochs_stats(rt, &s.epochs, &stats, &err));
    OK(gpurt_hazards_stats(rt, &s.hazards, &stats, &err));
    OK(gpurt_refs_stats(rt, &s.refs, &refs, &err));
    OK(gpurt_arena_source_stats(rt, &s.source, &arenas, &err));
    tables_destroy(&s);
}

/* ---- copies -------------------------------------------------------------------------- */

static bool no_block(void *context, void *block, size_t bytes)
{
    (void)context, (void)block, (void)bytes;
    return true;
}

/* Of a region that was destroyed, also where another one has its memory now. */
static void copies_of_a_region(void)
{
    gpurt_region_stats_t stats;
    gpurt_region_t r, copy, next;

    OK(gpurt_region_create(rt, &tiny, &r, &err));
    copy = r;
    OK(gpurt_region_stats(rt, &copy, &stats, &err));
    OK(gpurt_region_destroy(rt, &r, &err));
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQ(gpurt_region_destroy(rt, &copy, NULL), GPURT_E_HANDLE);
        CHECK_EQ(gpurt_region_stats(rt, &copy, &stats, NULL), GPURT_E_HANDLE);
        CHECK_EQ(gpurt_region_walk(rt, &copy, no_block, NULL, NULL), GPURT_E_HANDLE);
        CHECK_EQ(gpurt_region_check(rt, &copy, NULL), GPURT_E_HANDLE);
        if (i == 0)
            OK(gpurt_region_create(rt, &tiny, &next, &err));
    }
    CHECK(next.id != copy.id);
    OK(gpurt_region_check(rt, &next, &err));
    OK(gpurt_region_destroy(rt, &next, &err));
}

static void copies_of_a_source(void)
{
    gpurt_arena_source_t s, copy, next;
    gpurt_arena_stats_t stats;
    gpurt_heap_t heap;

    OK(gpurt_heap_create(rt, &small, &heap, &err));
    OK(gpurt_arena_source_create(rt, &heap, 64, &s, &err));
    copy = s;
    OK(gpurt_arena_source_destroy(rt, &s, &err));
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQ(gpurt_arena_source_destroy(rt, &copy, NULL), GPURT_E_HANDLE);
        CHECK_EQ(gpurt_arena_source_stats(rt, &copy, &stats, NULL), GPURT_E_HANDLE);
        CHECK_EQ(gpurt_arena_source_sweep(rt, &copy, NULL, NULL), GPURT_E_HANDLE);
        if (i == 0)
            OK(gpurt_arena_source_create(rt, &heap, 64, &next, &err));
    }
    OK(gpurt_arena_source_stats(rt, &next, &stats, &err));
    OK(gpurt_arena_source_destroy(rt, &next, &err));
    for (uint32_t i = 0; i < 2 * GPURT_ARENA_SOURCES; i++) { /* all places served again */
        OK(gpurt_arena_source_create(rt, &heap, 64, &next, &err));
        CHECK(next.id != copy.id);
        CHECK_EQ(gpurt_arena_source_stats(rt, &copy, &stats, NULL), GPURT_E_HANDLE);
        OK(gpurt_arena_source_destroy(rt, &next, &err));
    }
    OK(gpurt_heap_destroy(rt, &heap, &err));
}

/* Of memory of the caller's: a name makes it one that is told apart. */
static void copies_of_the_callers(void)
{
    gpurt_region_options_t o = {.bytes = 1 << 16, .memory = stage_zeros(1 << 16)};
    gpurt_region_t r, copy;

    OK(gpurt_region_create(rt, &o, &r, &err));
    copy = r;
    OK(gpurt_region_destroy(rt, &r, &err));
    OK(gpurt_region_destroy(rt, &copy, &err)); /* it has nothing that could end */
    o.name = "pieces";
    OK(gpurt_region_create(rt, &o, &r, &err));
    copy = r;
    OK(gpurt_region_destroy(rt, &r, &err));
    CHECK_EQ(gpurt_region_destroy(rt, &copy, NULL), GPURT_E_HANDLE);
    for (uint32_t i = 0; i <= GPURT_REGIONS; i++) { /* there, in each place of the table */
        OK(gpurt_region_create(rt, &o, &r, &err));
        CHECK_EQ(gpurt_region_destroy(rt, &copy, NULL), GPURT_E_HANDLE);
        OK(gpurt_region_destroy(rt, &r, &err));
    }
    CHECK_EQ(gpurt_mem_destroy(rt, o.memory), GPURT_OK);
}

static void copies_of_too_many(void)
{
    static gpurt_arena_source_t all[GPURT_ARENA_SOURCES];
    gpurt_arena_source_t more;
    gpurt_heap_t heap;

    OK(gpurt_heap_create(rt, &small, &heap, &err));
    for (uint32_t i = 0; i < GPURT_ARENA_SOURCES; i++)
        OK(gpurt_arena_source_create(rt, &heap, 1, &all[i], &err));
    CHECK_EQ(gpurt_arena_source_create(rt, &heap, 1, &more, NULL), GPURT_E_NOMEM);
    CHECK(!more.slots);
    OK(gpurt_arena_source_destroy(rt, &all[7], &err));
    OK(gpurt_arena_source_create(rt, &heap, 1, &all[7], &err));
    for (uint32_t i = 0; i < GPURT_ARENA_SOURCES; i++)
        OK(gpurt_arena_source_destroy(rt, &all[i], &err));
    OK(gpurt_heap_destroy(rt, &heap, &err));
}

static void test_copies(void)
{
    copies_of_a_region();
    copies_of_a_source();
    copies_of_the_callers();
    copies_of_too_many();
}

/* ---- inside -------------------------------------------------------------------------- */

/* Owner: test_inside. */
typedef struct visit {
    gpurt_heap_t heap, copy;
    uint32_t seen;
} visit_t;

/* Destroys the heap at the first object. */
static bool visit(void *context, void *object, size_t bytes)
{
    visit_t *v = (visit_t *)context;
    gpurt_heap_stats_t stats;

    (void)object;
    CHECK_EQ(bytes, DEVICE_OBJECT_BYTES);
    if (v->seen++ == 0)
        OK(gpurt_heap_destroy(rt, &v->heap, &err));
    CHECK_EQ(gpurt_heap_stats(rt, &v->copy, &stats, NULL), GPURT_E_HANDLE);
    return true;
}

/* More than a process may have: none is left over. */
static void test_inside(void)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {LANES, 1, 1}};
    struct device_args args = {.objects = (uint32_t **)stage_zeros(LANES * 8),
                               .refused = (uint32_t *)stage_zeros(8)};

    for (uint32_t i = 0; i < 2 * GPURT_HEAPS; i++) {
        visit_t v = {.seen = 0};

        OK(gpurt_heap_create(rt, &small, &v.heap, &err));
        v.copy = args.heap = v.heap;
        OK(gpurt_launch(rt, &launch, device_take_of, &args, &err));
        OK(gpurt_sync(rt, &err));
        OK(gpurt_heap_walk(rt, &v.copy, visit, &v, &err));
        CHECK_EQ(v.seen, LANES);
        CHECK(!v.heap.chunks);
        CHECK_EQ(gpurt_heap_walk(rt, &v.copy, visit, &v, NULL), GPURT_E_HANDLE);
    }
    CHECK_EQ(gpurt_mem_destroy(rt, args.objects), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, args.refused), GPURT_OK);
}

/* ---- raced --------------------------------------------------------------------------- */

/* What comes and goes. Written by: main, under lock. */
static struct {
    pthread_mutex_t lock;
    stack_t now;
    bool stop;
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* It was there, or it was not; never is memory looked at that is somebody else's. */
static bool looked(gpurt_status_t st)
{
    CHECK_MSG(st == GPURT_OK || st == GPURT_E_HANDLE, "%s", gpurt_status_name(st));
    return st == GPURT_OK;
}

static bool never(void *context, void *object, size_t bytes)
{
    (void)context;
    check_end(CHECK_FAILED, CHECK_HERE, "%p of %zu bytes in an empty heap", object, bytes);
    return false;
}

static void look(uint32_t what, stack_t *s)
{
    gpurt_heap_stats_t stats;
    uint32_t n;

    switch (what % 7) {
    case 0:
        if (looked(gpurt_heap_stats(rt, &s->heap, &stats, NULL)))
            CHECK_EQ(stats.live, 0);
        break;
    case 1:
        looked(gpurt_heap_check(rt, &s->heap, NULL));
        break;
    case 2:
        looked(gpurt_heap_walk(rt, &s->heap, never, NULL, NULL));
        break;
    case 3:
        looked(gpurt_heap_trim(rt, &s->heap, NULL));
        break;
    case 4:
        looked(gpurt_heap_leaks(rt, &s->heap, NULL, 0, &n, NULL));
        break;
    case 5:
        looked(gpurt_epochs_sweep(rt, &s->epochs, NULL));
        break;
    default:
        looked(gpurt_heap_destroy(rt, &s->heap, NULL)); /* of two one is first */
    }
}

static void *looker(void *number)
{
    for (uint32_t i = (uint32_t)(uintptr_t)number;; i++) {
        stack_t s;
        bool stop;

        pthread_mutex_lock(&shown.lock);
        s = shown.now;
        stop = shown.stop;
        pthread_mutex_unlock(&shown.lock);
        if (stop)
            return NULL;
        if (s.heap.chunks)
            look(i, &s);
    }
}

static void show(const stack_t *s, bool stop)
{
    pthread_mutex_lock(&shown.lock);
    shown.now = *s;
    shown.stop = stop;
    pthread_mutex_unlock(&shown.lock);
}

static void test_raced(void)
{
    static const gpurt_heap_options_t checked = {.bytes = MIB, .checks = GPURT_CHECKS_FULL};
    pthread_t lookers[LOOKERS];
    stack_t s;

    memset(&s, 0, sizeof s);
    for (uintptr_t i = 0; i < LOOKERS; i++)
        CHECK(pthread_create(&lookers[i], NULL, looker, (void *)(i * 3)) == 0);
    for (uint32_t i = 0; i < HEAPS; i++) {
        OK(gpurt_heap_create(rt, i % 2 ? &checked : &small, &s.heap, &err));
        OK(gpurt_epochs_create(rt, &s.heap, &few_epochs, &s.epochs, &err));
        show(&s, false);
        usleep(200);
        if (i % 3)
            looked(gpurt_heap_destroy(rt, &s.heap, NULL));
        OK(gpurt_epochs_destroy(rt, &s.epochs, &err));
        looked(gpurt_heap_destroy(rt, &s.heap, NULL));
    }
    memset(&s, 0, sizeof s);
    show(&s, true);
    for (uint32_t i = 0; i < LOOKERS; i++)
        pthread_join(lookers[i], NULL);
}

static const stage_part_t parts[] = {
    {"refused", test_refused}, {"default", test_default_refused}, {"order", test_order},
    {"copies", test_copies},   {"inside", test_inside},           {"raced", test_raced},
    {"shards", test_shards}};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof parts[0]);
}
