/* SPDX-License-Identifier: Apache-2.0 */
/* Channels, on both back ends: what each call answers, one after the other; storms in which no
 * message is lost, doubled or torn, whatever the policy; blocks that are cancelled while they wait;
 * handles that are wrong; games whose histories are those of a queue. */
#include "../kernels/channel_stage.h"
#include "channel_trace.h"
#include "stage_parts.h"

#include <pthread.h>
#include <unistd.h>

static const gpurt_launch_t storm_shape = {.grid = {4, 1, 1}, .block = {128, 1, 1}};

/* ---- one call after the other --------------------------------------------------------- */

static void waits_and_answers_of(uint32_t flags)
{
    gpurt_channel_t c = channel_made(2, 8, GPURT_CHANNEL_BLOCK, flags);
    gpurt_channel_status_t s;

    TRACE(&c, GOT(CHANNEL_TRY_RECEIVE, 0, GPURT_E_EMPTY),
          GOT(CHANNEL_RECEIVE_FOR, 0, GPURT_E_TIMEOUT), SENT(CHANNEL_SEND, 7, GPURT_OK),
          GOT(CHANNEL_DEPTH, 1, GPURT_OK), SENT(CHANNEL_TRY_SEND, 8, GPURT_OK),
          SENT(CHANNEL_TRY_SEND, 9, GPURT_E_FULL),
          SENT(CHANNEL_SEND_FOR, 9, GPURT_E_TIMEOUT), GOT(CHANNEL_DEPTH, 2, GPURT_OK),
          GOT(CHANNEL_RECEIVE, 7, GPURT_OK), SENT(CHANNEL_SEND_FOR, 10, GPURT_OK),
          GOT(CHANNEL_TRY_RECEIVE, 8, GPURT_OK), GOT(CHANNEL_RECEIVE_FOR, 10, GPURT_OK),
          GOT(CHANNEL_TRY_RECEIVE, 0, GPURT_E_EMPTY),
          SENT(CHANNEL_SEND_SHORT, 0, GPURT_E_INVALID),
          SENT(CHANNEL_SEND_OTHER, 1, GPURT_E_INVALID));
    s = channel_look(&c);
    CHECK_EQ(s.counts.sent, 3);
    CHECK_EQ(s.counts.received, 3);
    CHECK_EQ(s.counts.dropped, 0);
    CHECK_EQ(s.refused, 1);
    CHECK_EQ(s.timed_out, 2);
    CHECK_STR(s.name, "tested");
    CHECK_EQ(s.state, GPURT_CHANNEL_OPEN);
    OK(gpurt_channel_destroy(rt, &c, &err));
}

static void waits_and_answers(void)
{
    waits_and_answers_of(0);
    waits_and_answers_of(GPURT_CHANNEL_PAIR);
}

static void closes_and_drains_of(uint32_t flags)
{
    gpurt_channel_t c = channel_made(4, 8, GPURT_CHANNEL_BLOCK, flags);

    TRACE(&c, SENT(CHANNEL_SEND, 1, GPURT_OK), SENT(CHANNEL_SEND, 2, GPURT_OK),
          SENT(CHANNEL_CLOSE, 0, GPURT_OK), SENT(CHANNEL_CLOSE, 0, GPURT_E_CHANNEL_CLOSED),
          SENT(CHANNEL_SEND, 3, GPURT_E_CHANNEL_CLOSED),
          SENT(CHANNEL_TRY_SEND, 3, GPURT_E_CHANNEL_CLOSED),
          SENT(CHANNEL_SEND_FOR, 3, GPURT_E_CHANNEL_CLOSED),
          GOT(CHANNEL_RECEIVE, 1, GPURT_OK), GOT(CHANNEL_TRY_RECEIVE, 2, GPURT_OK),
          GOT(CHANNEL_RECEIVE, 0, GPURT_E_CHANNEL_CLOSED),
          GOT(CHANNEL_TRY_RECEIVE, 0, GPURT_E_CHANNEL_CLOSED),
          GOT(CHANNEL_RECEIVE_FOR, 0, GPURT_E_CHANNEL_CLOSED));
    CHECK_EQ(channel_look(&c).state, GPURT_CHANNEL_SHUT);
    CHECK_EQ(gpurt_channel_end(rt, &c, NULL), GPURT_E_CHANNEL_CLOSED);
    OK(gpurt_channel_destroy(rt, &c, &err));
    c = channel_made(4, 8, GPURT_CHANNEL_BLOCK, flags);
    TRACE(&c, SENT(CHANNEL_SEND, 1, GPURT_OK));
    OK(gpurt_channel_end(rt, &c, &err));
    TRACE(&c, SENT(CHANNEL_SEND, 2, GPURT_E_CHANNEL_CLOSED),
          SENT(CHANNEL_CLOSE, 0, GPURT_E_CHANNEL_CLOSED), GOT(CHANNEL_RECEIVE, 1, GPURT_OK),
          GOT(CHANNEL_RECEIVE, 0, GPURT_E_CHANNEL_CLOSED));
    OK(gpurt_channel_destroy(rt, &c, &err));
}

static void closes_and_drains(void)
{
    closes_and_drains_of(0);
    closes_and_drains_of(GPURT_CHANNEL_PAIR);
}

static void full_ones_fail_or_drop(uint32_t flags)
{
    gpurt_channel_t c = channel_made(2, 8, GPURT_CHANNEL_FAIL, flags);
    gpurt_channel_status_t s;

    TRACE(&c, SENT(CHANNEL_SEND, 1, GPURT_OK), SENT(CHANNEL_SEND, 2, GPURT_OK),
          SENT(CHANNEL_SEND, 3, GPURT_E_FULL), GOT(CHANNEL_RECEIVE, 1, GPURT_OK));
    CHECK_EQ(channel_look(&c).refused, 1);
    OK(gpurt_channel_destroy(rt, &c, &err));

    c = channel_made(2, 8, GPURT_CHANNEL_DROP_NEWEST, flags);
    TRACE(&c, SENT(CHANNEL_SEND, 1, GPURT_OK), SENT(CHANNEL_SEND, 2, GPURT_OK),
          SENT(CHANNEL_SEND, 3, GPURT_E_DROPPED), SENT(CHANNEL_TRY_SEND, 4, GPURT_E_FULL),
          GOT(CHANNEL_RECEIVE, 1, GPURT_OK), GOT(CHANNEL_RECEIVE, 2, GPURT_OK),
          GOT(CHANNEL_TRY_RECEIVE, 0, GPURT_E_EMPTY));
    s = channel_look(&c);
    CHECK_EQ(s.counts.sent, 3);
    CHECK_EQ(s.dropped_newest, 1);
    OK(gpurt_channel_destroy(rt, &c, &err));
}

static void policies_say_what_they_do(void)
{
    gpurt_channel_t c = channel_made(2, 8, GPURT_CHANNEL_DROP_OLDEST, 0);
    gpurt_channel_status_t s;

    full_ones_fail_or_drop(0);
    full_ones_fail_or_drop(GPURT_CHANNEL_PAIR);
    TRACE(&c, SENT(CHANNEL_SEND, 1, GPURT_OK), SENT(CHANNEL_SEND, 2, GPURT_OK),
          SENT(CHANNEL_SEND, 3, GPURT_OK), SENT(CHANNEL_TRY_SEND, 4, GPURT_E_FULL),
          SENT(CHANNEL_SEND, 5, GPURT_OK), GOT(CHANNEL_RECEIVE, 3, GPURT_OK),
          GOT(CHANNEL_RECEIVE, 5, GPURT_OK), GOT(CHANNEL_TRY_RECEIVE, 0, GPURT_E_EMPTY));
    s = channel_look(&c);
    CHECK_EQ(s.counts.sent, 4);
    CHECK_EQ(s.dropped_oldest, 2);
    OK(gpurt_channel_destroy(rt, &c, &err));
}

static void many_at_once_of(uint32_t flags)
{
    gpurt_channel_t c = channel_made(8, 8, GPURT_CHANNEL_FAIL, flags);

    TRACE(&c, {CHANNEL_SEND_MANY, 5, 5, GPURT_OK}, {CHANNEL_SEND_MANY, 5, 3, GPURT_E_FULL},
          {CHANNEL_RECEIVE_MANY, 5, 5, GPURT_OK},
          {CHANNEL_SEND_MANY, 65, 0, GPURT_E_INVALID},
          {CHANNEL_SEND_MANY, 0, 0, GPURT_E_INVALID}, GOT(CHANNEL_DEPTH, 3, GPURT_OK));
    OK(gpurt_channel_destroy(rt, &c, &err));
    c = channel_made(64, 8, GPURT_CHANNEL_BLOCK, flags);
    TRACE(&c, {CHANNEL_SEND_MANY, 9, 9, GPURT_OK}, {CHANNEL_RECEIVE_MANY, 64, 9, GPURT_OK},
          {CHANNEL_CLOSE, 0, 0, GPURT_OK},
          {CHANNEL_RECEIVE_MANY, 64, 0, GPURT_E_CHANNEL_CLOSED});
    OK(gpurt_channel_destroy(rt, &c, &err));
}

static void many_at_once(void)
{
    gpurt_channel_t c;

    many_at_once_of(0);
    many_at_once_of(GPURT_CHANNEL_PAIR);
    c = channel_made(8, 8, GPURT_CHANNEL_DROP_OLDEST, 0);
    TRACE(&c, {CHANNEL_SEND_MANY, 20, 20, GPURT_OK}, GOT(CHANNEL_DEPTH, 8, GPURT_OK),
          GOT(CHANNEL_RECEIVE, 1012, GPURT_OK), {CHANNEL_CLOSE, 0, 0, GPURT_OK},
          GOT(CHANNEL_DEPTH, 7, GPURT_OK));
    CHECK_EQ(channel_look(&c).dropped_oldest, 12);
    OK(gpurt_channel_destroy(rt, &c, &err));
}

/* ---- what cannot be right -------------------------------------------------------------- */

static void bad_input_is_told(void)
{
    gpurt_channel_t c = channel_made(2, 8, 0, 0), copy = c, none = {0};
    gpurt_channel_status_t s;
    gpurt_error_t e = {0};

    refused((gpurt_channel_options_t){.struct_size = 4096, .capacity = 4, .bytes = 8},
            "channel: struct_size 4096, this library knows");
    refused((gpurt_channel_options_t){.capacity = 0, .bytes = 8}, "a capacity of 0");
    refused((gpurt_channel_options_t){.capacity = 12, .bytes = 8}, "power of two");
    refused((gpurt_channel_options_t){.capacity = 1u << 25, .bytes = 8}, "16777216");
    refused((gpurt_channel_options_t){.capacity = 4}, "messages of 0 bytes");
    refused((gpurt_channel_options_t){.capacity = 4, .bytes = 2 << 20}, "pointers");
    refused((gpurt_channel_options_t){.capacity = 4, .bytes = 8, .policy = 4}, "policy 4");
    refused((gpurt_channel_options_t){.capacity = 4, .bytes = 8, .flags = 18},
            "flags 0x12");
    refused((gpurt_channel_options_t){.capacity = 4,
                                      .bytes = 8,
                                      .policy = GPURT_CHANNEL_DROP_OLDEST,
                                      .flags = GPURT_CHANNEL_PAIR},
            "take another policy");
    CHECK_EQ(gpurt_channel_create(rt, NULL, NULL, &e), GPURT_E_INVALID);
    CHECK_EQ(gpurt_channel_status(rt, &c, NULL, &e), GPURT_E_INVALID);
    CHECK_EQ(gpurt_channel_status(rt, &none, &s, &e), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_channel_destroy(rt, NULL, &e), GPURT_OK);
    CHECK_EQ(gpurt_channel_destroy(rt, &none, &e), GPURT_OK);
    OK(gpurt_channel_destroy(rt, &c, &err));
    CHECK(!c.words);
    CHECK_EQ(gpurt_channel_destroy(rt, &copy, &e), GPURT_E_HANDLE);
    CHECK_CONTAINS(e.text, "was destroyed");
    CHECK_EQ(gpurt_channel_end(rt, &copy, &e), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_channel_status(rt, &copy, &s, &e), GPURT_E_HANDLE);
    TRACE(&copy, SENT(CHANNEL_SEND, 1, GPURT_E_HANDLE),
          SENT(CHANNEL_TRY_SEND, 1, GPURT_E_HANDLE),
          GOT(CHANNEL_RECEIVE, 0, GPURT_E_HANDLE),
          GOT(CHANNEL_TRY_RECEIVE, 0, GPURT_E_HANDLE),
          SENT(CHANNEL_CLOSE, 0, GPURT_E_HANDLE));
    TRACE(&none, SENT(CHANNEL_SEND, 1, GPURT_E_HANDLE),
          GOT(CHANNEL_RECEIVE, 0, GPURT_E_HANDLE), SENT(CHANNEL_CLOSE, 0, GPURT_E_HANDLE));
}

GPURT_CHANNEL(channel_named_one, uint32_t, 4);

static void name_is(const gpurt_channel_t *c, const char *want)
{
    gpurt_channel_status_t s;

    OK(gpurt_channel_status(rt, c, &s, &err));
    CHECK_MSG(strcmp(s.name, want) == 0, "%s, not %s", s.name, want);
}

/* Names come into errors and reports of one line. */
static void names_are_plain(void)
{
    static const char *const names[][2] = {
        {"nl\nhere", "nl\\nhere"},
        {"red\033[31m", "red\\u{1b}[31m"},
        {"0123456789012345678901234567890123456789012345\xc3\xa4xyz",
         "01234567890123456789012345678901234567890123..."},
    };
    gpurt_error_t e = {0};

    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        gpurt_channel_t c = channel_named(names[i][0], 4, 8, 0, 0);

        name_is(&c, names[i][1]);
        OK(gpurt_channel_end(rt, &c, &err));
        CHECK_EQ(gpurt_channel_end(rt, &c, &e), GPURT_E_CHANNEL_CLOSED);
        CHECK_CONTAINS(e.text, names[i][1]);
        OK(gpurt_channel_destroy(rt, &c, &err));
    }
}

/* What it is called in the program, with a number where a loop makes several. */
static void names_of_an_array_differ(void)
{
    channel_named_one_t all[3];
    char want[GPURT_CHANNEL_NAME_BYTES];
    gpurt_error_t e = {0};
    uint32_t first = 0;

    for (uint32_t i = 0; i < 3; i++) {
        gpurt_channel_status_t s;

        OK(gpurt_make_channel(rt, &(all[i]),
                              &(gpurt_channel_options_t){.policy = GPURT_CHANNEL_FAIL,
                                                         .flags = GPURT_CHANNEL_ALONE},
                              &err));
        OK(gpurt_channel_status(rt, &all[i].channel, &s, &err));
        if (i == 0)
            CHECK_MSG(sscanf(s.name, "all[i] #%u", &first) == 1, "%s", s.name);
        snprintf(want, sizeof want, "all[i] #%u", first + i);
        name_is(&all[i].channel, want);
        OK(gpurt_channel_destroy(rt, &all[i].channel, &err));
    }
    OK(gpurt_make_channel(rt, &all[2], NULL, &err));
    name_is(&all[2].channel, "all[2]");
    OK(gpurt_channel_destroy(rt, &all[2].channel, &err));
    CHECK_EQ(gpurt_make_channel(
                 rt, &all[0], &(gpurt_channel_options_t){.flags = GPURT_CHANNEL_PAIR}, &e),
             GPURT_E_INVALID);
    CHECK_CONTAINS(e.text, "declare the type with GPURT_PAIR");
}

/* More channels end than are kept, and a device closes with some of them. */
static void many_come_and_go(void)
{
    for (uint32_t i = 0; i < 2 * GPURT_CHANNELS_KEPT + 3; i++) {
        gpurt_channel_t c = channel_made(4, 8, 0, 0);

        TRACE(&c, SENT(CHANNEL_SEND, 1, GPURT_OK));
        OK(gpurt_channel_destroy(rt, &c, &err));
    }
}

/* Threads that close one channel until it is gone. Owner: closed_once_beside_a_destroy. */
typedef struct closing {
    gpurt_channel_t channel;
    uint32_t xclosed; /* calls that were told they did it; written by: its threads */
} closing_t;

static void *close_until_gone(void *context)
{
    closing_t *c = (closing_t *)context;
    gpurt_status_t st;

    do {
        st = gpurt_channel_end(rt, &c->channel, NULL);
        if (st == GPURT_OK)
            gpurt_add_relaxed_sys_u32(&c->xclosed, 1); /* relaxed: a count, then a join */
        CHECK(st == GPURT_OK || st == GPURT_E_CHANNEL_CLOSED || st == GPURT_E_HANDLE);
    } while (st != GPURT_E_HANDLE);
    return NULL;
}

/* A destroy buries what a close answers with: it waits for those in progress. */
static void closed_once_beside_a_destroy(void)
{
    enum {
        CLOSERS = 4,
        TIMES = 150
    };

    for (uint32_t i = 0; i < TIMES; i++) {
        closing_t c = {.channel = channel_made(4, 8, 0, 0)};
        gpurt_channel_t copy = c.channel;
        pthread_t closers[CLOSERS];

        for (uint32_t k = 0; k < CLOSERS; k++)
            CHECK(pthread_create(&closers[k], NULL, close_until_gone, &c) == 0);
        usleep(500 + i % 50 * 40);
        OK(gpurt_channel_destroy(rt, &copy, &err));
        for (uint32_t k = 0; k < CLOSERS; k++)
            pthread_join(closers[k], NULL);
        CHECK_MSG(c.xclosed <= 1, "%u calls have closed channel %u", c.xclosed, i);
    }
}

/* ---- storms -------------------------------------------------------------------------- */

static void storms_of_all_sizes(void)
{
    for (uint32_t size = 0; size < CHANNEL_SIZES; size++)
        for (uint32_t alone = 0; alone < 2; alone++) {
            channel_storm(size, 64, GPURT_CHANNEL_BLOCK, alone, 0, storm_shape, 20);
            channel_storm(size, 1, GPURT_CHANNEL_BLOCK, alone, CHANNEL_PART, storm_shape,
                          3);
        }
}

static void storms_of_all_policies(void)
{
    for (uint32_t policy = 0; policy < GPURT_CHANNEL_POLICIES; policy++)
        for (uint32_t capacity = 2; capacity <= 128; capacity *= 8) {
            channel_storm(1, capacity, policy, 0, 0, storm_shape, 12);
            channel_storm(2, capacity, policy, 0, CHANNEL_TRIES | CHANNEL_MANY, storm_shape,
                          12);
        }
}

/* Five messages at a time need no room for all of them. */
static void pairs_of_all_sizes(void)
{
    static const uint32_t modes[] = {0, CHANNEL_MANY, CHANNEL_TRIES};
    const gpurt_launch_t one = {.grid = {1, 1, 1}, .block = {64, 1, 1}};

    for (uint32_t size = 0; size < CHANNEL_SIZES; size++)
        for (uint32_t i = 0; i < 3 * 2; i++)
            for (uint32_t capacity = 1; capacity <= 64; capacity *= 8)
                channel_storm(size, capacity, GPURT_CHANNEL_BLOCK,
                              GPURT_CHANNEL_PAIR | i / 3, modes[i % 3], one, 5);
}

/* Whole warps send and receive by turns: all that a group sends has room. */
static void each_lane_does_both(void)
{
    for (uint32_t size = 0; size < CHANNEL_SIZES; size++)
        channel_storm(size, 512, GPURT_CHANNEL_BLOCK, 0, CHANNEL_MIXED, storm_shape, 10);
}

static void cancelled_senders_lose_nothing(void)
{
    for (uint32_t size = 0; size < CHANNEL_SIZES; size++)
        for (uint32_t policy = 0; policy < GPURT_CHANNEL_POLICIES; policy++)
            channel_storm(size, policy ? 8 : 256, policy, 0, CHANNEL_CANCELS, storm_shape,
                          2);
}

static void the_most_urgent_comes_first(void)
{
    channel_urgent_stage_t s =
        channel_urgent_open((gpurt_launch_t){.grid = {1, 1, 1}, .block = {32, 1, 1}});

    RUN(&s, channel_in_order);
    channel_urgent_close(&s);
    channel_urgent_storm(storm_shape);
}

/* The sum of a side may be seen later than that of the other, also where tickets wrap. */
static void nothing_lies_behind_the_receivers(void)
{
    const uint64_t one = 1ull << GPURT_CHANNEL_CREDIT_BITS, first = 0 - 2 * one;

    CHECK_EQ(gpurt_channel_between(first + 3 * one, first), 3);
    CHECK_EQ(gpurt_channel_between(first, first), 0);
    CHECK_EQ(gpurt_channel_between(first, first + one), 0);
    CHECK_EQ(gpurt_channel_between(first, first + 3 * one), 0);
}

/* ---- cancelled ----------------------------------------------------------------------- */

static void who_waits_and_is_cancelled_lets_go(void)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t sends = i % 2, flags = i / 2 ? GPURT_CHANNEL_PAIR : 0;
        channel_stage_t s = {.launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}}};
        channel_verdict_t v;
        gpurt_channel_status_t now;

        s.args.channel = s.args.two.channel = channel_made(1, 8, 0, flags);
        s.args.mode = sends | (flags ? CHANNEL_LONE : 0);
        s.args.verdict = (channel_verdict_t *)stage_zeros(sizeof v);
        if (sends)
            TRACE(&s.args.channel, SENT(CHANNEL_SEND, 5, GPURT_OK));
        RUN(&s, channel_cancelled);
        stage_read(&v, s.args.verdict, sizeof v);
        CHECK_EQ(v.xanswers, 0);
        now = channel_look(&s.args.channel);
        CHECK_EQ(now.cancelled, flags ? 1 : 32);
        CHECK_EQ(now.counts.sent, sends);
        if (sends)
            TRACE(&s.args.channel, GOT(CHANNEL_RECEIVE, 5, GPURT_OK),
                  SENT(CHANNEL_SEND, 6, GPURT_OK), GOT(CHANNEL_RECEIVE, 6, GPURT_OK));
        else
            TRACE(&s.args.channel, SENT(CHANNEL_SEND, 6, GPURT_OK),
                  GOT(CHANNEL_RECEIVE, 6, GPURT_OK));
        OK(gpurt_channel_destroy(rt, &s.args.channel, &err));
        CHECK_EQ(gpurt_mem_destroy(rt, s.args.verdict), GPURT_OK);
    }
}

/* A lane in the middle of a call: what others are told must be true all the same. */
static void halves_are_waited_for(void)
{
    static const uint32_t flags[] = {0, GPURT_CHANNEL_GRANTED, GPURT_CHANNEL_RESIZED};

    for (uint32_t i = 0; i < 3 * CHANNEL_HALVES; i++) {
        uint32_t half = i % CHANNEL_HALVES;
        channel_stage_t s = {.launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}}};
        channel_verdict_t v;

        if (half == CHANNEL_HALF_LIMIT &&
            flags[i / CHANNEL_HALVES] != GPURT_CHANNEL_RESIZED)
            continue;
        s.args.channel = channel_made(half == CHANNEL_HALF_LIMIT ? 2 : 1, 8, 0,
                                      flags[i / CHANNEL_HALVES]);
        s.args.mode = half;
        s.args.verdict = (channel_verdict_t *)stage_zeros(sizeof v);
        if (half == CHANNEL_HALF_RECEIVE)
            TRACE(&s.args.channel, SENT(CHANNEL_SEND, 9, GPURT_OK));
        RUN(&s, channel_half);
        stage_read(&v, s.args.verdict, sizeof v);
        CHECK_MSG(v.xanswers == 0, "half %u: another lane was told what was not so", i);
        OK(gpurt_channel_destroy(rt, &s.args.channel, &err));
        CHECK_EQ(gpurt_mem_destroy(rt, s.args.verdict), GPURT_OK);
    }
}

/* ---- the judge of games ---------------------------------------------------------------- */

#define OP(begin, end, what, value, answer)             \
    {                                                   \
        begin, end, CHANNEL_OP_##what, 0, value, answer \
    }

static void the_judge_knows_a_queue(void)
{
    static const struct {
        const char *name;
        bool fine;
        channel_history_t history; /* with two slots */
    } lines[] = {
        {"nothing", true, {.count = 0}},
        {"sent, received",
         true,
         {{OP(0, 1, SEND, 1, GPURT_OK), OP(2, 3, RECEIVE, 1, GPURT_OK)}, .count = 2}},
        {"received before",
         false,
         {{OP(0, 1, RECEIVE, 1, GPURT_OK), OP(2, 3, SEND, 1, GPURT_OK)}, .count = 2}},
        {"missed",
         false,
         {{OP(0, 1, SEND, 1, GPURT_OK), OP(2, 3, RECEIVE, 0, GPURT_E_EMPTY),
           OP(4, 5, RECEIVE, 1, GPURT_OK)},
          .count = 3}},
        {"missed while another takes it",
         true,
         {{OP(0, 1, SEND, 1, GPURT_OK), OP(2, 4, RECEIVE, 0, GPURT_E_EMPTY),
           OP(3, 5, RECEIVE, 1, GPURT_OK)},
          .count = 3}},
        {"out of turn",
         false,
         {{OP(0, 1, SEND, 1, GPURT_OK), OP(2, 3, SEND, 2, GPURT_OK),
           OP(4, 5, RECEIVE, 2, GPURT_OK)},
          .count = 3}},
        {"twice",
         false,
         {{OP(0, 1, SEND, 1, GPURT_OK), OP(2, 5, RECEIVE, 1, GPURT_OK),
           OP(3, 4, RECEIVE, 1, GPURT_OK)},
          .count = 3}},
        {"full, and was not",
         false,
         {{OP(0, 1, SEND, 1, GPURT_OK), OP(2, 3, SEND, 2, GPURT_E_FULL)}, .count = 2}},
        {"full",
         true,
         {{OP(0, 1, SEND, 1, GPURT_OK), OP(2, 3, SEND, 2, GPURT_OK),
           OP(4, 5, SEND, 3, GPURT_E_FULL)},
          .count = 3}},
        {"more than there is room for",
         false,
         {{OP(0, 1, SEND, 1, GPURT_OK), OP(2, 3, SEND, 2, GPURT_OK),
           OP(4, 5, SEND, 3, GPURT_OK)},
          .count = 3}},
        {"sent after it was closed",
         false,
         {{OP(0, 1, CLOSE, 0, GPURT_OK), OP(2, 3, SEND, 1, GPURT_OK)}, .count = 2}},
        {"closed with a message in it",
         false,
         {{OP(0, 1, SEND, 1, GPURT_OK), OP(2, 3, CLOSE, 0, GPURT_OK),
           OP(4, 5, RECEIVE, 0, GPURT_E_CHANNEL_CLOSED)},
          .count = 3}},
        {"closed twice",
         false,
         {{OP(0, 1, CLOSE, 0, GPURT_OK), OP(2, 3, CLOSE, 0, GPURT_OK)}, .count = 2}},
    };

    for (uint32_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        channel_history_t h = lines[i].history;

        h.capacity = 2;
        CHECK_MSG(channel_is_linear(&h) == lines[i].fine, "%s", lines[i].name);
    }
}

/* ---- games --------------------------------------------------------------------------- */

static void games_are_those_of_a_queue(void)
{
    for (uint32_t seed = 1; seed <= 40; seed++)
        channel_games(16, seed,
                      seed % 4 == 0   ? GPURT_CHANNEL_GRANTED
                      : seed % 4 == 2 ? GPURT_CHANNEL_RESIZED
                      : seed % 8 == 1 ? 0
                      : seed % 8 == 5 ? GPURT_CHANNEL_GRANTED | GPURT_CHANNEL_RESIZED
                                      : GPURT_CHANNEL_PAIR);
}

static const stage_part_t parts[] = {
    {"waits_and_answers", waits_and_answers},
    {"closes_and_drains", closes_and_drains},
    {"policies_say_what_they_do", policies_say_what_they_do},
    {"many_at_once", many_at_once},
    {"bad_input_is_told", bad_input_is_told},
    {"many_come_and_go", many_come_and_go},
    {"storms_of_all_sizes", storms_of_all_sizes},
    {"storms_of_all_policies", storms_of_all_policies},
    {"pairs_of_all_sizes", pairs_of_all_sizes},
    {"each_lane_does_both", each_lane_does_both},
    {"the_most_urgent_comes_first", the_most_urgent_comes_first},
    {"cancelled_senders_lose_nothing", cancelled_senders_lose_nothing},
    {"nothing_lies_behind_the_receivers", nothing_lies_behind_the_receivers},
    {"names_are_plain", names_are_plain},
    {"names_of_an_array_differ", names_of_an_array_differ},
    {"closed_once_beside_a_destroy", closed_once_beside_a_destroy},
    {"who_waits_and_is_cancelled_lets_go", who_waits_and_is_cancelled_lets_go},
    {"halves_are_waited_for", halves_are_waited_for},
    {"the_judge_knows_a_queue", the_judge_knows_a_queue},
    {"games_are_those_of_a_queue", games_are_those_of_a_queue},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}
