/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas of threads, warps and blocks, on both back ends: objects never share a byte, marks
 * and inner arenas end what is theirs and nothing else, and no piece of the heap is lost,
 * not by a block that is cancelled either. */
#include "arena_stage.h"

static void test_kind(const gpurt_kernel_t *kernel, uint32_t piece, uint32_t max_bytes)
{
    gpurt_arena_stats_t stats;
    uint64_t taken = 0;
    arena_stage_t s;

    arena_stage_open(&s, 4 << 20, piece, max_bytes);
    s.args.rounds = 60;
    for (s.args.seed = 1; s.args.seed < 4; s.args.seed++) {
        arena_run(&s, kernel);
        CHECK(arena_verdict(&s).xserved > 0);
        CHECK_EQ(arena_live(&s), 0);
        OK(gpurt_arena_source_stats(rt, &s.args.source, &stats, &err));
        CHECK_EQ(stats.arenas, 0);
        CHECK(stats.taken > taken); /* all of it was given back */
        taken = stats.taken;
    }
    arena_stage_close(&s);
}

/* Cancelled blocks leave pieces behind; the host or the next launch gives them back. */
static void test_cancelled(const gpurt_kernel_t *kernel, bool host)
{
    uint64_t lost = 0, swept = 0, pieces;
    arena_stage_t s;

    arena_stage_open(&s, 4 << 20, 1000, 2000);
    s.args.rounds = 60;
    for (s.args.seed = 1; s.args.seed < 6; s.args.seed++) {
        s.args.mode = ARENA_CANCELS | (host ? 0 : ARENA_SWEEPS);
        arena_run(&s, kernel);
        arena_verdict(&s);
        pieces = arena_live(&s);
        lost += pieces;
        if (host) {
            OK(gpurt_arena_source_sweep(rt, &s.args.source, &swept, &err));
            CHECK_EQ(swept, pieces);
            CHECK_EQ(arena_live(&s), 0);
        }
        gpurt_arena_source_next(&s.args.source);
    }
    CHECK(lost > 0); /* or nothing was tested */
    s.args.mode = ARENA_SWEEPS;
    arena_run(&s, kernel);
    arena_verdict(&s);
    CHECK_EQ(arena_live(&s), 0);
    arena_stage_close(&s);
}

static void test_rules(void)
{
    uint32_t rules[RULE_COUNT];
    gpurt_arena_source_t none;
    gpurt_arena_stats_t stats;
    gpurt_error_t failed = {0};
    arena_stage_t s;

    arena_stage_open(&s, 2 << 20, 0, 64);
    arena_run(&s, &gpurt_kernel_arena_rules);
    OK(gpurt_copy(rt, 0, rules, s.args.rules, sizeof rules, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    CHECK_EQ(rules[RULE_FIXED_FULL], 5 << 8 | GPURT_ARENA_FULL); /* of 48 in 256 */
    CHECK_EQ(rules[RULE_ALIGNMENT], GPURT_ARENA_ALIGNMENT);
    CHECK_EQ(rules[RULE_OUTER_ALLOC], GPURT_ARENA_OUTER);
    CHECK_EQ(rules[RULE_OUTER_RESET], GPURT_ARENA_OUTER);
    CHECK_EQ(rules[RULE_INNER_GETS_REST], 12);
    CHECK_EQ(rules[RULE_OUTER_GOES_ON], 12 << 8);
    CHECK_EQ(rules[RULE_STALE_MARK], GPURT_ARENA_MARK);
    CHECK_EQ(rules[RULE_STALE_NEAR], GPURT_ARENA_MARK);
    CHECK_EQ(rules[RULE_STALE_RESET], GPURT_ARENA_MARK);
    CHECK_EQ(rules[RULE_HUGE], GPURT_ARENA_HEAP);
    CHECK_EQ(rules[RULE_HUGE_SERVED], 0);
    CHECK_EQ(rules[RULE_HUGE_ALIGNMENT], GPURT_ARENA_ALIGNMENT);
    CHECK_EQ(rules[RULE_HUGE_MEMORY] / 16, 0xfffffffu);
    CHECK_EQ(rules[RULE_ZERO], 1);
    CHECK_EQ(rules[RULE_NO_TABLE], GPURT_ARENA_TABLE);
    CHECK_EQ(rules[RULE_LARGE_APART], 1);
    CHECK_EQ(rules[RULE_SPARE], 1);
    CHECK_EQ(rules[RULE_HEAP_OUT] & 255, GPURT_ARENA_HEAP);
    /* Records take half of a heap that checks, and what guards them a second chunk each. */
    CHECK(rules[RULE_HEAP_OUT] >> 8 > (s.args.heap.watch ? 3 : 20));
    CHECK_EQ(arena_live(&s), 0);
    OK(gpurt_arena_source_stats(rt, &s.args.narrow, &stats, &err));
    CHECK_EQ(stats.refused, 1);
    CHECK_EQ(stats.arenas, 0);
    CHECK_EQ(gpurt_arena_source_stats(rt, NULL, &stats, &failed), GPURT_E_INVALID);
    CHECK_EQ(gpurt_arena_source_stats(rt, &s.args.narrow, NULL, &failed), GPURT_E_INVALID);
    CHECK_EQ(gpurt_arena_source_create(rt, NULL, 0, &none, &failed), GPURT_E_INVALID);
    CHECK_EQ(gpurt_arena_source_create(rt, &s.args.heap, 0, NULL, &failed),
             GPURT_E_INVALID);
    CHECK_EQ(gpurt_arena_source_create(rt, &s.args.heap, 1u << 25, &none, &failed),
             GPURT_E_INVALID);
    CHECK_EQ(gpurt_arena_source_sweep(rt, NULL, NULL, &failed), GPURT_E_INVALID);
    CHECK_EQ(gpurt_arena_source_destroy(rt, NULL, &failed), GPURT_OK);
    arena_stage_close(&s);
}

/* Where lanes of a block ask together for more than there is, those that come first are served. */
static void test_together(void)
{
    uint32_t rules[RULE_COUNT], grown;
    arena_stage_t s;

    arena_stage_open(&s, 2 << 20, 0, 64);
    s.launch = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}};
    arena_run(&s, &gpurt_kernel_arena_rules_together);
    OK(gpurt_copy(rt, 0, rules, s.args.rules, sizeof rules, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    grown = rules[RULE_PART_GROWN];
    CHECK_EQ(rules[RULE_HUGE_TOGETHER], 0);
    CHECK_EQ(rules[RULE_STALE_BLOCK], GPURT_ARENA_MARK << 8 | 1);
    CHECK_EQ(rules[RULE_PART_FIXED], 0x1f); /* of 96 in 512 */
    CHECK_EQ(rules[RULE_PART_LAST], 1);
    CHECK_EQ(grown & (grown + 1), 0);                 /* the first of them */
    CHECK(grown >= (s.args.heap.watch ? 1u : 0xffu)); /* records take room, as above */
    CHECK(grown != GPURT_FULL_MASK);
    CHECK_EQ(arena_live(&s), 0);
    arena_stage_close(&s);
}

int main(void)
{
    static const gpurt_kernel_t *const kinds[] = {
        &gpurt_kernel_arena_thread, &gpurt_kernel_arena_warp, &gpurt_kernel_arena_block};
    gpurt_error_t failed = {0};

    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    test_rules();
    test_together();
    for (uint32_t i = 0; i < 3; i++) {
        test_kind(kinds[i], 0, 400);
        test_kind(kinds[i], 256, 4000);
        test_kind(kinds[i], 50000, 3000);
        test_cancelled(kinds[i], true);
        test_cancelled(kinds[i], false);
    }
    OK(gpurt_close(rt, &err));
    return 0;
}
