/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator, from kernels, on both back ends: objects never share a byte, whoever frees
 * them; what is freed can be had again; when memory is out the answer is NULL; and after all
 * is freed every chunk is back. */
#include "alloc_stage.h"

/* ---- tests ---------------------------------------------------------------------------- */

static void test_storm(uint32_t min_bytes, uint32_t max_bytes, uint32_t cells,
                       const gpurt_heap_options_t *options, bool may_be_full)
{
    stage_t s;
    alloc_verdict_t v;

    stage_open(&s, options, cells);
    s.args.min_bytes = min_bytes;
    s.args.max_bytes = max_bytes;
    s.args.rounds = 60;
    for (uint32_t launch = 0; launch < 3; launch++) {
        s.args.seed++;
        RUN(&s, alloc_storm);
        v = stage_verdict(&s);
        CHECK(v.xserved > 0);
        CHECK_MSG(may_be_full || v.xnull == 0, "%u of %u requests of %u..%u got NULL",
                  v.xnull, v.xnull + v.xserved, min_bytes, max_bytes);
        stage_compare(&s);
    }
    stage_drain(&s);
    stage_close(&s);
}

static void test_storms(void)
{
    gpurt_heap_options_t roomy = {.bytes = 64 * MIB};
    gpurt_heap_options_t tight = {.bytes = 2 * MIB, .spread = 2, .shards = 5};
    gpurt_heap_options_t narrow = {.bytes = 600 << 10, .shards = 1};

    test_storm(4, 64, 512, &roomy, false);
    test_storm(16, 8192, 512, &roomy, false);
    test_storm(20000, 200000, 64, &roomy, false);
    test_storm(4, 9000, 700, &tight, true);
    test_storm(4, 3000, 300, &narrow, true);
    test_storm(1000, 200000, 300, &tight, true);
}

/* Lanes take until nothing is left: nearly all bytes are served, no object twice; then one
 * freed object can be had again at once, and all of them. */
static void test_full(uint32_t bytes, uint32_t percent)
{
    gpurt_heap_options_t options = {.bytes = 8 * MIB, .shards = 3, .spread = 2};
    uint32_t cells = 2 * (options.bytes / bytes), live, kept;
    uint64_t served;
    stage_t s;

    stage_open(&s, &options, cells);
    s.args.min_bytes = s.args.max_bytes = bytes;
    live = stage_fill(&s);
    CHECK_EQ(stage_compare(&s), live);
    served = (uint64_t)live * bytes;
    CHECK_MSG(served * 100 >= options.bytes * percent, "%u bytes: only %llu of %llu served",
              bytes, (unsigned long long)served, (unsigned long long)options.bytes);

    s.args.mode = 2; /* every other object is freed ... */
    RUN(&s, alloc_drain);
    kept = stage_compare(&s);
    CHECK(kept > live / 3 && kept < live / 3 * 2);
    CHECK_EQ(stage_fill(&s), live - kept); /* ... and its place can be had again, */
    CHECK_EQ(stage_compare(&s), live);
    stage_drain(&s);
    CHECK_EQ(stage_fill(&s), live); /* as can all of it */
    stage_drain(&s);
    stage_close(&s);
}

int main(void)
{
    gpurt_error_t failed = {0};

    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    test_storms();
    test_full(16, 90);
    test_full(48, 90);
    test_full(1000, 85);
    test_full(16384, 80);
    test_full(65536, 80);
    OK(gpurt_close(rt, &err));
    return 0;
}
