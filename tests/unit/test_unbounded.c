/* SPDX-License-Identifier: Apache-2.0 */
/* Unbounded channels, on both back ends: what each call answers, one after the other; channels that use
 * up their heap or their directory, and give memory back; storms in which each message comes once;
 * blocks that are cancelled or panic in the middle; handles that are wrong; games whose histories
 * could have happened. */
#include "../kernels/unbounded_stage.h"
#include "stage_parts.h"
#include "stage_trace.h"

/* ---- one call after the other --------------------------------------------------------- */

static void trace_on(const gpurt_unbounded_t *c, const unbounded_step_t *steps,
                     uint32_t count)
{
    unbounded_stage_t s = {0};

    s.args.unbounded = *c;
    STAGE_TRACE(&s, unbounded_trace, steps, count);
}
#define TRACE(channel, ...)                                                    \
    do {                                                                       \
        static const unbounded_step_t steps_[] = {__VA_ARGS__};                \
                                                                               \
        trace_on(channel, steps_, (uint32_t)(sizeof steps_ / sizeof *steps_)); \
    } while (0)
#define SENT(what, value, answer)          \
    {                                      \
        UNBOUNDED_##what, value, 0, answer \
    }
#define GOT(what, found, answer)           \
    {                                      \
        UNBOUNDED_##what, 0, found, answer \
    }
#define RAN(what, value, found, answer)        \
    {                                          \
        UNBOUNDED_##what, value, found, answer \
    }

static void messages_come_in_order(void)
{
    gpurt_unbounded_t c = unbounded_made(8, 0, 0);
    gpurt_unbounded_status_t s;

    TRACE(&c, GOT(TRY_FETCH, 0, GPURT_E_EMPTY), GOT(FETCH_FOR, 0, GPURT_E_TIMEOUT),
          SENT(POST, 7, GPURT_OK), SENT(TRY_POST, 8, GPURT_OK), SENT(POST_FOR, 9, GPURT_OK),
          GOT(DEPTH, 3, GPURT_OK), GOT(FETCH, 7, GPURT_OK), GOT(TRY_FETCH, 8, GPURT_OK),
          GOT(FETCH_FOR, 9, GPURT_OK), GOT(DEPTH, 0, GPURT_OK),
          SENT(POST_SHORT, 0, GPURT_E_INVALID), SENT(POST, 10, GPURT_OK));
    s = unbounded_seen(&c);
    CHECK_STR(s.name, "tested");
    CHECK_EQ(s.counts.sent, 4);
    CHECK_EQ(s.counts.segments, 1);
    CHECK_EQ(s.timed_out, 1);
    CHECK_EQ(s.segments_most, GPURT_UNBOUNDED_ROWS);
    CHECK_EQ(unbounded_live(), 1);
    unbounded_gone(&c);
}

static void closes_and_drains(void)
{
    gpurt_unbounded_t c = unbounded_made(8, 0, 4);

    TRACE(&c, SENT(POST, 1, GPURT_OK), SENT(POST, 2, GPURT_OK), SENT(CLOSE, 0, GPURT_OK),
          SENT(CLOSE, 0, GPURT_E_CHANNEL_CLOSED), SENT(POST, 3, GPURT_E_CHANNEL_CLOSED),
          SENT(TRY_POST, 3, GPURT_E_CHANNEL_CLOSED),
          SENT(POST_FOR, 3, GPURT_E_CHANNEL_CLOSED), GOT(FETCH, 1, GPURT_OK),
          GOT(FETCH, 2, GPURT_OK), GOT(FETCH, 0, GPURT_E_CHANNEL_CLOSED),
          GOT(TRY_FETCH, 0, GPURT_E_CHANNEL_CLOSED),
          GOT(FETCH_FOR, 0, GPURT_E_CHANNEL_CLOSED));
    CHECK_EQ(unbounded_seen(&c).state, GPURT_CHANNEL_SHUT);
    CHECK_EQ(unbounded_seen(&c).refused, 3);
    CHECK_EQ(gpurt_unbounded_end(rt, &c, NULL), GPURT_E_CHANNEL_CLOSED);
    unbounded_gone(&c);
    c = unbounded_made(8, 0, 4);
    TRACE(&c, SENT(POST, 1, GPURT_OK));
    OK(gpurt_unbounded_end(rt, &c, &err));
    TRACE(&c, SENT(POST, 1, GPURT_E_CHANNEL_CLOSED), GOT(FETCH, 1, GPURT_OK),
          GOT(FETCH, 0, GPURT_E_CHANNEL_CLOSED));
    unbounded_gone(&c);
}

/* ---- memory -------------------------------------------------------------------------- */

enum {
    PAGES = 1 << 20 /* more than the heap holds */
};

/* Messages until there is no more memory; each time all of them come back, and all memory. */
static void a_heap_that_is_used_up_is_told(void)
{
    gpurt_unbounded_t c =
        unbounded_made(sizeof(unbounded_page_t), GPURT_CHANNEL_FAIL, 1 << 10);
    uint64_t most = 0;

    for (uint32_t i = 0; i < 3; i++) {
        unbounded_stage_t s = {.launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}}};
        unbounded_step_t steps[2] = {{UNBOUNDED_POST_RUN, PAGES, 0, 0},
                                     {UNBOUNDED_FETCH_RUN, 0, 0, 0}};

        s.args.unbounded = c;
        s.args.step_count = 1;
        s.args.steps = (unbounded_step_t *)stage_zeros(sizeof steps);
        OK(gpurt_copy(rt, 0, s.args.steps, steps, sizeof steps, &err));
        RUN(&s, unbounded_trace);
        stage_read(steps, s.args.steps, sizeof steps);
        CHECK_EQ(steps[0].answer, GPURT_E_NOMEM);
        CHECK(steps[0].found > 0 && steps[0].found % GPURT_UNBOUNDED_SLOTS == 0);
        CHECK(i == 0 || steps[0].found == most);
        most = steps[0].found;
        CHECK_EQ(unbounded_live(), most / GPURT_UNBOUNDED_SLOTS);
        steps[1].value = most;
        OK(gpurt_copy(rt, 0, s.args.steps, steps + 1, sizeof *steps, &err));
        RUN(&s, unbounded_trace);
        stage_read(steps, s.args.steps, sizeof *steps);
        CHECK_EQ(steps[0].answer, GPURT_OK);
        CHECK_EQ(unbounded_live(), 0);
        CHECK_EQ(gpurt_mem_destroy(rt, s.args.steps), GPURT_OK);
    }
    CHECK_EQ(unbounded_seen(&c).refused, 3);
    unbounded_gone(&c);
}

static void a_directory_that_is_full_is_told(void)
{
    gpurt_unbounded_t c = unbounded_made(sizeof(unbounded_page_t), GPURT_CHANNEL_FAIL, 2);

    TRACE(&c, RAN(POST_RUN, PAGES, 128, GPURT_E_FULL), RAN(POST_RUN, 1, 0, GPURT_E_FULL),
          RAN(FETCH_RUN, 63, 63, GPURT_OK), RAN(POST_RUN, 1, 0, GPURT_E_FULL));
    CHECK_EQ(unbounded_live(), 2);
    unbounded_gone(&c);
    c = unbounded_made(sizeof(unbounded_page_t), GPURT_CHANNEL_FAIL, 1);
    for (uint32_t i = 0; i < 5; i++) /* laps */
        TRACE(&c, RAN(POST_RUN, PAGES, 64, GPURT_E_FULL), RAN(FETCH_RUN, 64, 64, GPURT_OK));
    unbounded_gone(&c);
    c = unbounded_made(sizeof(unbounded_page_t), GPURT_CHANNEL_DROP_NEWEST, 1);
    TRACE(&c, RAN(POST_RUN, PAGES, 64, GPURT_E_DROPPED), RAN(FETCH_RUN, 64, 64, GPURT_OK));
    CHECK_EQ(unbounded_seen(&c).counts.dropped, 1);
    unbounded_gone(&c);
}

/* ---- what cannot be right -------------------------------------------------------------- */

static void refused(gpurt_unbounded_options_t o, const char *text)
{
    gpurt_unbounded_t c;
    gpurt_error_t e = {0};

    CHECK_EQ(gpurt_unbounded_create(rt, &o, &c, &e), GPURT_E_INVALID);
    CHECK_CONTAINS(e.text, text);
    CHECK(!c.words);
}

static void bad_input_is_told(void)
{
    gpurt_unbounded_t c = unbounded_made(8, 0, 0), copy = c, none = {0};
    gpurt_heap_t *heap = unbounded_heap();
    gpurt_unbounded_status_t s;
    gpurt_error_t e = {0};

    refused((gpurt_unbounded_options_t){.struct_size = 4096, .bytes = 8, .heap = heap},
            "unbounded channel: struct_size 4096");
    refused((gpurt_unbounded_options_t){.heap = heap}, "messages of 0 bytes");
    refused((gpurt_unbounded_options_t){.bytes = 361, .heap = heap}, "pointers");
    refused((gpurt_unbounded_options_t){.bytes = 8, .policy = 3, .heap = heap}, "policy 3");
    refused((gpurt_unbounded_options_t){.bytes = 8, .segments = 3, .heap = heap},
            "3 segments: a power of two");
    refused((gpurt_unbounded_options_t){.bytes = 8}, "no heap");
    CHECK_EQ(gpurt_unbounded_create(rt, NULL, NULL, &e), GPURT_E_INVALID);
    CHECK_EQ(gpurt_unbounded_status(rt, &c, NULL, &e), GPURT_E_INVALID);
    CHECK_EQ(gpurt_unbounded_status(rt, &none, &s, &e), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_unbounded_destroy(rt, NULL, &e), GPURT_OK);
    CHECK_EQ(gpurt_unbounded_destroy(rt, &none, &e), GPURT_OK);
    TRACE(&c, SENT(POST, 1, GPURT_OK));
    unbounded_gone(&c);
    CHECK(!c.words);
    CHECK_EQ(gpurt_unbounded_destroy(rt, &copy, &e), GPURT_E_HANDLE);
    CHECK_CONTAINS(e.text, "was destroyed");
    CHECK_EQ(gpurt_unbounded_end(rt, &copy, &e), GPURT_E_HANDLE);
    TRACE(&copy, SENT(POST, 1, GPURT_E_HANDLE), SENT(TRY_POST, 1, GPURT_E_HANDLE),
          GOT(FETCH, 0, GPURT_E_HANDLE), SENT(CLOSE, 0, GPURT_E_HANDLE));
    TRACE(&none, SENT(POST, 1, GPURT_E_HANDLE), GOT(FETCH, 0, GPURT_E_HANDLE),
          GOT(DEPTH, 0, GPURT_OK), SENT(CLOSE, 0, GPURT_E_HANDLE));
    CHECK_EQ(unbounded_live(), 0);
}

/* ---- storms -------------------------------------------------------------------------- */

static void storms_of_all_kinds(void)
{
    for (uint32_t policy = 0; policy <= GPURT_CHANNEL_DROP_NEWEST; policy++)
        for (uint32_t segments = 1; segments <= 64; segments *= 8)
            for (uint32_t mode = 0; mode < 4; mode++)
                unbounded_storm_run(policy, segments, mode, 3, 8);
}

static void who_is_cancelled_in_the_middle_loses_nothing(void)
{
    for (uint32_t mode = 0; mode < 2; mode++)
        unbounded_storm_run(0, 8, mode | UNBOUNDED_CANCELS, 4, 8);
}

static void who_waits_lets_go(bool panics)
{
    unbounded_stage_t s = {.launch = {.grid = {1, 1, 1}, .block = {96, 1, 1}}};
    uint32_t bytes = sizeof(unbounded_page_t);
    gpurt_unbounded_t c[2] = {unbounded_made(bytes, 0, 2), unbounded_made(bytes, 0, 2)};
    unbounded_verdict_t v;
    gpurt_error_t e = {0};

    s.args.mode = panics;
    s.args.games = (gpurt_unbounded_t *)stage_zeros(sizeof c);
    s.args.verdict = (unbounded_verdict_t *)stage_zeros(sizeof v);
    OK(gpurt_copy(rt, 0, s.args.games, c, sizeof c, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    OK(gpurt_launch(rt, &s.launch, unbounded_ended, &s.args, &err));
    CHECK_EQ(gpurt_sync(rt, &e), panics ? GPURT_E_PANIC : GPURT_OK);
    stage_read(&v, s.args.verdict, sizeof v);
    CHECK_EQ(v.xanswers, 0);
    CHECK_EQ(unbounded_seen(&c[0]).counts.depth, UNBOUNDED_FULL);
    CHECK(unbounded_seen(&c[0]).cancelled > 0);
    CHECK_EQ(unbounded_seen(&c[1]).cancelled, 32);
    OK(gpurt_unbounded_destroy(rt, &c[0], &err));
    unbounded_gone(&c[1]);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.games), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.verdict), GPURT_OK);
}

static void who_waits_and_is_cancelled_lets_go(void)
{
    who_waits_lets_go(false);
}

static void who_waits_in_a_panic_lets_go(void)
{
    who_waits_lets_go(true);
}

static void games_could_have_happened(void)
{
    for (uint32_t seed = 1; seed <= 30; seed++)
        unbounded_games(18, seed);
}

static const stage_part_t parts[] = {
    {"messages_come_in_order", messages_come_in_order},
    {"closes_and_drains", closes_and_drains},
    {"a_heap_that_is_used_up_is_told", a_heap_that_is_used_up_is_told},
    {"a_directory_that_is_full_is_told", a_directory_that_is_full_is_told},
    {"bad_input_is_told", bad_input_is_told},
    {"storms_of_all_kinds", storms_of_all_kinds},
    {"who_is_cancelled_in_the_middle_loses_nothing",
     who_is_cancelled_in_the_middle_loses_nothing},
    {"who_waits_and_is_cancelled_lets_go", who_waits_and_is_cancelled_lets_go},
    {"who_waits_in_a_panic_lets_go", who_waits_in_a_panic_lets_go},
    {"games_could_have_happened", games_could_have_happened},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}
