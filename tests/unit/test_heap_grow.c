/* SPDX-License-Identifier: Apache-2.0 */
/* A heap that grows, on both back ends: between launches and while a kernel waits for
 * memory; not further than was reserved; what was there before stays as it was. */
#include "place_stage.h"

#include <gpurt/atomic.h>

#include <time.h>
#include <unistd.h>

enum {
    MIB = 1 << 20,
    STEP = 4 * MIB,
    LANES = 256,
    OBJECT = 16384,
    WAIT_S = 30
};

static void open_growing(place_stage_t *s, uint64_t bytes, uint64_t reserve, uint32_t rows)
{
    gpurt_heap_options_t o = {.bytes = bytes, .reserve_bytes = reserve, .shards = 3};
    gpurt_error_t failed = {0};
    gpurt_status_t st;

    place_stage_open(s, MIB, LANES * rows);
    OK(gpurt_heap_destroy(rt, &s->args.heap, &err));
    st = gpurt_heap_create(rt, &o, &s->args.heap, &failed);
    if (st == GPURT_E_UNSUPPORTED)
        SKIP("%s", failed.text);
    CHECK_MSG(st == GPURT_OK, "%s", failed.text);
    OK(gpurt_host_create(rt, 2 * sizeof(uint32_t), (void **)&s->args.gate, &err));
    s->args.rows = rows;
    s->args.max_bytes = OBJECT;
    s->launch = (gpurt_launch_t){.grid = {LANES / 64, 1, 1}, .block = {64, 1, 1}};
}

static void close_growing(place_stage_t *s)
{
    RUN(s, place_drain);
    holding_take(s->args.verdict);
    CHECK_EQ(place_stats(s).live, 0);
    OK(gpurt_heap_trim(rt, &s->args.heap, &err));
    CHECK_EQ(place_stats(s).free_chunks, place_stats(s).chunks);
    CHECK_EQ(gpurt_host_destroy(rt, s->args.gate), GPURT_OK);
    place_stage_close(s);
}

/* Fills what is there: until a launch gets nothing more, and nothing is held ready for
 * anybody. How many objects that are is for the lanes' luck to say: one that finds nothing of
 * its size while another shares the last chunk out takes an object up to twice as large. */
static void fill(place_stage_t *s)
{
    uint64_t live = place_stats(s).live, before;
    gpurt_heap_stats_t stats;

    do {
        before = live;
        s->args.gate[0] = 0;
        s->args.gate[1] = 1;
        RUN(s, place_wait);
        OK(gpurt_heap_trim(rt, &s->args.heap, &err));
        stats = place_stats(s);
        live = stats.live;
    } while (live > before);
    CHECK_EQ(stats.free_chunks, 0);
    for (uint32_t c = 0; c < GPURT_CLASS_COUNT; c++)
        if (stats.classes[c].bytes >= OBJECT)
            CHECK_EQ(stats.classes[c].reusable + stats.classes[c].fresh, 0);
    CHECK(live <= stats.bytes / OBJECT);
    CHECK(live >= stats.bytes / (2 * OBJECT));
}

static void test_between_launches(void)
{
    gpurt_heap_stats_t stats;
    gpurt_error_t failed = {0};
    place_stage_t s;

    open_growing(&s, 3 * MIB, 18 * MIB, 8);
    CHECK_EQ(place_stats(&s).bytes, STEP); /* rounded up */
    fill(&s);
    CHECK_EQ(gpurt_heap_grow(rt, &s.args.heap, 17 * MIB, &failed), GPURT_E_NOMEM);
    OK(gpurt_heap_grow(rt, &s.args.heap, 1, &err));
    stats = place_stats(&s);
    CHECK_EQ(stats.bytes, 2 * STEP);
    CHECK_EQ(stats.free_chunks, STEP / GPURT_CHUNK_BYTES);
    RUN(&s, place_drain); /* objects of before are whole, and can be freed */
    holding_take(s.args.verdict);
    fill(&s);
    OK(gpurt_heap_grow(rt, &s.args.heap, 12 * MIB, &err));
    CHECK_EQ(place_stats(&s).bytes, 20 * MIB); /* the reserve was rounded up too */
    CHECK_EQ(gpurt_heap_grow(rt, &s.args.heap, 1, &failed), GPURT_E_NOMEM);
    RUN(&s, place_drain);
    holding_take(s.args.verdict);
    fill(&s);
    CHECK_EQ(place_stats(&s).bytes, 20 * MIB);
    close_growing(&s);
}

/* Lanes wait in a kernel for memory that the host brings: 12 MiB, or twice as much (fill). */
static void test_while_a_kernel_waits(void)
{
    struct timespec pause = {.tv_nsec = 1000000};
    place_stage_t s;

    open_growing(&s, STEP, 8 * STEP, 3);
    s.args.gate[0] = s.args.gate[1] = 0;
    OK(gpurt_launch(rt, &s.launch, place_wait, &s.args, &err));
    for (uint32_t ms = 0; gpurt_load_relaxed_sys_u32(&s.args.gate[0]) == 0; ms++) {
        CHECK_MSG(ms < WAIT_S * 1000, "no lane ran out of memory");
        nanosleep(&pause, NULL);
    }
    OK(gpurt_heap_grow(rt, &s.args.heap, STEP, &err));
    OK(gpurt_heap_grow(rt, &s.args.heap, 5 * STEP, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    CHECK_EQ(place_stats(&s).live, LANES * 3);
    CHECK_EQ(place_stats(&s).bytes, 7 * STEP);
    close_growing(&s);
}

static void test_bad_input(void)
{
    gpurt_heap_options_t o = {.bytes = 8 * MIB, .reserve_bytes = 4 * MIB};
    gpurt_heap_t h, gone;
    gpurt_error_t failed = {0};

    CHECK_EQ(gpurt_heap_create(rt, &o, &h, &failed), GPURT_E_INVALID);
    o.reserve_bytes = 1ull << 45;
    CHECK_EQ(gpurt_heap_create(rt, &o, &h, &failed), GPURT_E_INVALID);
    o.reserve_bytes = 0;
    OK(gpurt_heap_create(rt, &o, &h, &err));
    gone = h;
    CHECK_EQ(gpurt_heap_grow(rt, &h, STEP, &failed), GPURT_E_INVALID);
    CHECK_CONTAINS(failed.text, "reserve_bytes");
    OK(gpurt_heap_destroy(rt, &h, &err));
    CHECK_EQ(gpurt_heap_grow(rt, &gone, STEP, &failed), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_heap_grow(rt, NULL, STEP, &failed), GPURT_E_INVALID);
}

int main(void)
{
    gpurt_error_t failed = {0};

    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    test_bad_input();
    test_between_launches();
    test_while_a_kernel_waits();
    OK(gpurt_close(rt, &err));
    return 0;
}
