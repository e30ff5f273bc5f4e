/* SPDX-License-Identifier: Apache-2.0 */
/* How often records are turned on: as often as a budget allows for what they were seen to cost. */
#include "windows.h"

#include "check.h"

#define MS 1000000ull

enum {
    PERCENT = 10000
};

/* `rate` launches a second beside a window, slower in it by `slowdown` percent. */
static void learn(windows_plan_t *p, uint64_t rate, uint32_t slowdown)
{
    windows_slice_t beside = {.ns = 400 * MS, .launches = rate * 4 / 10};
    windows_slice_t window = {.ns = 200 * MS,
                              .launches = rate * 2 / 10 * (100 - slowdown) / 100};

    windows_plan_learn(p, &window, &beside, &beside);
}

/* What windows with that pause cost, in millionths, by what records really do. */
static uint64_t real_cost(uint32_t pause_ms, uint32_t slowdown)
{
    return (uint64_t)slowdown * PERCENT * WINDOWS_MS / (WINDOWS_MS + pause_ms);
}

static void check_budget_is_kept(void)
{
    static const uint32_t slowdowns[] = {1, 5, 25, 60};

    for (uint32_t i = 0; i < sizeof slowdowns / sizeof slowdowns[0]; i++)
        for (uint32_t budget = 1; budget < 8; budget++) {
            windows_plan_t p = {.budget = budget * PERCENT, .opened = true};
            uint32_t pause;

            for (int n = 0; n < 12; n++)
                learn(&p, 24000, slowdowns[i]); /* to count them takes 0.72 % */
            pause = windows_plan_pause(&p);
            CHECK(pause >= WINDOWS_PAUSE_LEAST);
            CHECK_EQ(p.counting, 7200);
            CHECK_MSG(p.counting + real_cost(pause, slowdowns[i]) <= p.budget + 100,
                      "%u%% of %u: pause %u", slowdowns[i], budget, pause);
            CHECK(windows_plan_cost(&p, pause) <= p.budget + 100);
            if (pause > WINDOWS_PAUSE_LEAST) /* and it is used */
                CHECK(windows_plan_cost(&p, pause) + 300 >= p.budget);
        }
}

/* Before a few windows have shown it, records are taken to cost what they cost at most. */
static void check_first_ones(void)
{
    windows_plan_t p = {.budget = 2 * PERCENT};
    uint32_t first;

    windows_plan_see(&p, &(windows_slice_t){.ns = 200 * MS, .launches = 10000});
    first = windows_plan_pause(&p);
    CHECK(first > 1000); /* 50,000 launches a second, 1.6 us each: 8 % */
    learn(&p, 50000, 0);
    CHECK_EQ(windows_plan_pause(&p), first);
    for (int n = 0; n < 4; n++)
        learn(&p, 50000, 0);
    CHECK_EQ(windows_plan_pause(&p), WINDOWS_PAUSE_LEAST); /* they cost nothing */
}

/* One odd window among others changes little. A program that changes is seen. */
static void check_change(void)
{
    windows_plan_t p = {.budget = 2 * PERCENT};
    uint32_t usual;

    for (int n = 0; n < 12; n++)
        learn(&p, 20000, 10);
    usual = windows_plan_pause(&p);
    learn(&p, 20000, 60);
    CHECK(windows_plan_pause(&p) < 2 * usual);
    for (int n = 0; n < WINDOWS_PAST; n++)
        learn(&p, 20000, 40);
    CHECK(windows_plan_pause(&p) > 3 * usual);
}

static void check_no_room(void)
{
    windows_plan_t p = {.budget = 2 * PERCENT, .opened = true};

    windows_plan_see(&p, &(windows_slice_t){.ns = 1000 * MS,
                                            .launches = 120000}); /* counting takes 3.6 % */
    CHECK_EQ(windows_plan_pause(&p), 0);
    CHECK_EQ(windows_plan_cost(&p, 0), 36000);
    CHECK(!p.unwatched); /* nothing was watched */
    windows_plan_see(&p,
                     &(windows_slice_t){.ns = 1000 * MS,
                                        .launches = 66600}); /* all but nothing is left */
    CHECK_EQ(windows_plan_pause(&p), 0);
    windows_plan_see(&p, &(windows_slice_t){.ns = 1000 * MS, .launches = 0}); /* it rests */
    CHECK_EQ(windows_plan_pause(&p), WINDOWS_PAUSE_LEAST);
}

/* Once launches are timed, counting them takes what was seen, and the way there. */
static void check_counting(void)
{
    const windows_slice_t told = {
        .ns = 1000 * MS, .launches = 50000, .counting_ns = 2500, .counted = 50};
    windows_plan_t p = {.budget = 2 * PERCENT};

    windows_plan_see(&p, &told);
    CHECK_EQ(windows_plan_cost(&p, 0), 7500); /* 150 ns of 20 us each */
    CHECK_EQ(windows_plan_pause(&p), 0);      /* with a first window it would be 430 */
    p.opened = true;
    windows_plan_see(&p, &told);
    CHECK_EQ(windows_plan_cost(&p, 0), 21500);
    windows_plan_see(
        &p, &(windows_slice_t){.ns = 1000 * MS, .launches = 5000, .by_cupti = true});
    CHECK_EQ(windows_plan_cost(&p, 0), 8500); /* CUPTI takes 1.7 us of 200 us each */
}

/* What runs is watched unless that breaks the budget, and again when it takes three quarters of it. */
static void check_watching(void)
{
    static const struct {
        uint64_t launches, watching_ns;
        uint32_t cost;
        bool unwatched;
    } turns[] = {{100000, 30000, 44000, false}, /* 440 ns of 10 us */
                 {120000, 30000, 16800, true},
                 {100000, 0, 14000, true}, /* it would be 4.4 % again: it stays */
                 {80000, 0, 35200, false},
                 {80000, 30000, 35200, false}};
    windows_plan_t p = {.budget = 5 * PERCENT};

    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
        windows_plan_see(&p, &(windows_slice_t){.ns = 1000 * MS,
                                                .launches = turns[i].launches,
                                                .counting_ns = 4000,
                                                .counted = 100,
                                                .watching_ns = turns[i].watching_ns,
                                                .watched = turns[i].watching_ns ? 100 : 0});
        CHECK_EQ(p.unwatched, turns[i].unwatched);
        CHECK_EQ(windows_plan_cost(&p, 0), turns[i].cost);
    }
}

/* CUPTI works on for a while behind a window: that is a part of its cost. */
static void check_behind(void)
{
    const windows_slice_t window = {.ns = 200 * MS, .launches = 3600};
    const windows_slice_t behind = {.ns = 400 * MS, .launches = 7600};
    const windows_slice_t beside = {.ns = 400 * MS, .launches = 8000};
    windows_plan_t p = {.budget = 2 * PERCENT};

    for (int n = 0; n < 4; n++)
        windows_plan_learn(&p, &window, &behind, &beside);
    CHECK(p.slowdown >= 20 * PERCENT - 1 && p.slowdown <= 20 * PERCENT + 1);
}

int main(void)
{
    check_behind();
    check_budget_is_kept();
    check_first_ones();
    check_counting();
    check_watching();
    check_change();
    check_no_room();
    return 0;
}
