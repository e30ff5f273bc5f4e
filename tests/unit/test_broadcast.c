/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcasts, on both back ends: what each call answers, one after the other; storms in which each
 * reader finds all messages in one order, or is told how many it missed; blocks that are cancelled
 * or panic in the middle; handles that are wrong; games whose histories could have happened. */
#include "../kernels/broadcast_stage.h"
#include "stage_parts.h"
#include "stage_trace.h"

/* ---- one call after the other --------------------------------------------------------- */

/* Of all lists: from kernel to kernel. */
static gpurt_reader_t *readers_get(void)
{
    static gpurt_reader_t *readers;

    if (!readers)
        readers = (gpurt_reader_t *)stage_zeros(BROADCAST_TRACED * sizeof(gpurt_reader_t));
    return readers;
}

static void trace_on(const gpurt_broadcast_t *b, const broadcast_step_t *steps,
                     uint32_t count)
{
    broadcast_stage_t s = {0};

    s.args.broadcast = *b;
    s.args.readers = readers_get();
    STAGE_TRACE(&s, broadcast_trace, steps, count);
}
#define TRACE(broadcast, ...)                                                    \
    do {                                                                         \
        static const broadcast_step_t steps_[] = {__VA_ARGS__};                  \
                                                                                 \
        trace_on(broadcast, steps_, (uint32_t)(sizeof steps_ / sizeof *steps_)); \
    } while (0)
#define SENT(what, value, answer)             \
    {                                         \
        BROADCAST_##what, 0, value, 0, answer \
    }
#define GOT(what, who, found, answer)           \
    {                                           \
        BROADCAST_##what, who, 0, found, answer \
    }

static void each_reader_sees_all(void)
{
    gpurt_broadcast_t b = broadcast_made(2, GPURT_BROADCAST_BLOCK, 2);
    gpurt_broadcast_status_t s;

    TRACE(&b, GOT(READ, 0, 0, GPURT_E_HANDLE), SENT(PUBLISH, 1, GPURT_OK),
          SENT(PUBLISH, 2, GPURT_OK), SENT(PUBLISH, 3, GPURT_OK), GOT(JOIN, 0, 0, GPURT_OK),
          GOT(TRY_READ, 0, 0, GPURT_E_EMPTY), GOT(READ_FOR, 0, 0, GPURT_E_TIMEOUT),
          SENT(PUBLISH, 4, GPURT_OK), GOT(JOIN, 1, 0, GPURT_OK),
          GOT(JOIN, 2, 0, GPURT_E_FULL), SENT(TRY_PUBLISH, 5, GPURT_OK),
          SENT(TRY_PUBLISH, 6, GPURT_E_FULL), SENT(PUBLISH_FOR, 6, GPURT_E_TIMEOUT),
          GOT(LAG, 0, 2, GPURT_OK), GOT(LAG, 1, 1, GPURT_OK), GOT(READ, 1, 5, GPURT_OK),
          SENT(TRY_PUBLISH, 6, GPURT_E_FULL), GOT(READ, 0, 4, GPURT_OK),
          SENT(PUBLISH_FOR, 7, GPURT_OK), SENT(TRY_PUBLISH, 8, GPURT_E_FULL));
    s = broadcast_look(&b);
    CHECK_EQ(s.counts.readers, 2);
    CHECK_EQ(s.counts.lag, 2);
    CHECK_EQ(s.counts.sent, 6);
    CHECK_EQ(s.counts.received, 2);
    CHECK_EQ(s.refused, 3);
    CHECK_EQ(s.timed_out, 2);
    CHECK_EQ(s.unseated, 1);
    CHECK_STR(s.name, "tested");
    CHECK_EQ(s.state, GPURT_CHANNEL_OPEN);
    /* Another kernel goes on with the same readers. */
    TRACE(&b, GOT(READ, 0, 5, GPURT_OK), GOT(READ_FOR, 0, 7, GPURT_OK),
          GOT(TRY_READ, 1, 7, GPURT_OK), SENT(PUBLISH_SHORT, 0, GPURT_E_INVALID),
          GOT(READ_SHORT, 0, 0, GPURT_E_INVALID), GOT(LEAVE, 1, 0, GPURT_OK),
          GOT(LEAVE, 1, 0, GPURT_E_HANDLE), SENT(PUBLISH, 8, GPURT_OK),
          SENT(PUBLISH, 9, GPURT_OK), SENT(TRY_PUBLISH, 10, GPURT_E_FULL),
          GOT(LEAVE, 0, 0, GPURT_OK), SENT(PUBLISH, 10, GPURT_OK),
          GOT(LOST, 0, 0, GPURT_OK));
    s = broadcast_look(&b);
    CHECK_EQ(s.counts.readers, 0);
    CHECK_EQ(s.counts.lag, 0);
    CHECK_EQ(s.counts.received, 5);
    OK(gpurt_broadcast_destroy(rt, &b, &err));
}

static void who_left_reads_no_more(void)
{
    gpurt_broadcast_t b = broadcast_made(4, GPURT_BROADCAST_BLOCK, 1);

    TRACE(&b, GOT(JOIN, 0, 0, GPURT_OK), {BROADCAST_COPY, 1, 0, 0, GPURT_OK},
          GOT(LEAVE, 0, 0, GPURT_OK), SENT(PUBLISH, 1, GPURT_OK),
          GOT(READ, 1, 0, GPURT_E_HANDLE), GOT(LEAVE, 1, 0, GPURT_E_HANDLE),
          GOT(JOIN, 2, 0, GPURT_OK), GOT(READ, 1, 0, GPURT_E_HANDLE),
          SENT(PUBLISH, 2, GPURT_OK), GOT(READ, 2, 2, GPURT_OK),
          GOT(LEAVE, 2, 0, GPURT_OK));
    OK(gpurt_broadcast_destroy(rt, &b, &err));
}

static void closes_and_drains(void)
{
    gpurt_broadcast_t b = broadcast_made(4, GPURT_BROADCAST_BLOCK, 0);

    TRACE(&b, GOT(JOIN, 0, 0, GPURT_OK), SENT(PUBLISH, 1, GPURT_OK),
          GOT(JOIN, 1, 0, GPURT_OK), SENT(PUBLISH, 2, GPURT_OK), SENT(CLOSE, 0, GPURT_OK),
          SENT(CLOSE, 0, GPURT_E_CHANNEL_CLOSED), SENT(PUBLISH, 3, GPURT_E_CHANNEL_CLOSED),
          SENT(TRY_PUBLISH, 3, GPURT_E_CHANNEL_CLOSED),
          SENT(PUBLISH_FOR, 3, GPURT_E_CHANNEL_CLOSED),
          GOT(JOIN, 2, 0, GPURT_E_CHANNEL_CLOSED), GOT(READ, 0, 1, GPURT_OK),
          GOT(READ, 1, 2, GPURT_OK), GOT(READ, 1, 0, GPURT_E_CHANNEL_CLOSED),
          GOT(TRY_READ, 0, 2, GPURT_OK), GOT(TRY_READ, 0, 0, GPURT_E_CHANNEL_CLOSED),
          GOT(READ_FOR, 0, 0, GPURT_E_CHANNEL_CLOSED), GOT(LEAVE, 0, 0, GPURT_OK),
          GOT(LEAVE, 1, 0, GPURT_OK));
    CHECK_EQ(broadcast_look(&b).state, GPURT_CHANNEL_SHUT);
    CHECK_EQ(broadcast_look(&b).refused, 3);
    CHECK_EQ(gpurt_broadcast_end(rt, &b, NULL), GPURT_E_CHANNEL_CLOSED);
    OK(gpurt_broadcast_destroy(rt, &b, &err));
    b = broadcast_made(4, GPURT_BROADCAST_DROP, 0);
    TRACE(&b, GOT(JOIN, 0, 0, GPURT_OK), SENT(PUBLISH, 1, GPURT_OK));
    OK(gpurt_broadcast_end(rt, &b, &err));
    TRACE(&b, SENT(PUBLISH, 2, GPURT_E_CHANNEL_CLOSED),
          SENT(CLOSE, 0, GPURT_E_CHANNEL_CLOSED), GOT(READ, 0, 1, GPURT_OK),
          GOT(READ, 0, 0, GPURT_E_CHANNEL_CLOSED));
    OK(gpurt_broadcast_destroy(rt, &b, &err));
}

static void policies_say_what_they_do(void)
{
    gpurt_broadcast_t b = broadcast_made(2, GPURT_BROADCAST_FAIL, 2);

    TRACE(&b, GOT(JOIN, 0, 0, GPURT_OK), SENT(PUBLISH, 1, GPURT_OK),
          SENT(PUBLISH, 2, GPURT_OK), SENT(PUBLISH, 3, GPURT_E_FULL),
          GOT(READ, 0, 1, GPURT_OK), SENT(PUBLISH, 4, GPURT_OK), GOT(READ, 0, 2, GPURT_OK),
          GOT(READ, 0, 4, GPURT_OK));
    CHECK_EQ(broadcast_look(&b).refused, 1);
    OK(gpurt_broadcast_destroy(rt, &b, &err));

    b = broadcast_made(2, GPURT_BROADCAST_DROP, 2);
    TRACE(&b, GOT(JOIN, 0, 0, GPURT_OK), GOT(JOIN, 1, 0, GPURT_OK),
          SENT(PUBLISH, 1, GPURT_OK), GOT(READ, 1, 1, GPURT_OK), SENT(PUBLISH, 2, GPURT_OK),
          SENT(PUBLISH, 3, GPURT_OK), SENT(TRY_PUBLISH, 4, GPURT_OK),
          SENT(PUBLISH_FOR, 5, GPURT_OK), GOT(LAG, 0, 5, GPURT_OK),
          GOT(READ, 0, 0, GPURT_E_DROPPED), GOT(LOST, 0, 3, GPURT_OK),
          GOT(READ, 0, 4, GPURT_OK), GOT(TRY_READ, 0, 5, GPURT_OK),
          GOT(TRY_READ, 0, 0, GPURT_E_EMPTY), GOT(TRY_READ, 1, 0, GPURT_E_DROPPED),
          GOT(LOST, 1, 2, GPURT_OK), GOT(READ, 1, 4, GPURT_OK), SENT(PUBLISH, 6, GPURT_OK),
          SENT(PUBLISH, 7, GPURT_OK), GOT(READ_FOR, 1, 0, GPURT_E_DROPPED),
          GOT(LOST, 1, 3, GPURT_OK), GOT(READ, 1, 6, GPURT_OK), GOT(LEAVE, 1, 0, GPURT_OK));
    CHECK_EQ(broadcast_look(&b).counts.lost, 6);
    CHECK_EQ(broadcast_look(&b).counts.received, 5);
    OK(gpurt_broadcast_destroy(rt, &b, &err));
}

/* ---- what cannot be right -------------------------------------------------------------- */

static void refused(gpurt_broadcast_options_t o, const char *text)
{
    gpurt_broadcast_t b;
    gpurt_error_t e = {0};

    CHECK_EQ(gpurt_broadcast_create(rt, &o, &b, &e), GPURT_E_INVALID);
    CHECK_CONTAINS(e.text, text);
    CHECK(!b.words);
}

static void bad_input_is_told(void)
{
    gpurt_broadcast_t b = broadcast_made(2, 0, 0), copy = b, none = {0};
    gpurt_broadcast_status_t s;
    gpurt_error_t e = {0};

    refused((gpurt_broadcast_options_t){.struct_size = 4096, .capacity = 4, .bytes = 8},
            "broadcast: struct_size 4096");
    refused((gpurt_broadcast_options_t){.capacity = 0, .bytes = 8}, "a capacity of 0");
    refused((gpurt_broadcast_options_t){.capacity = 12, .bytes = 8}, "power of two");
    refused((gpurt_broadcast_options_t){.capacity = 4}, "messages of 0 bytes");
    refused((gpurt_broadcast_options_t){.capacity = 4, .bytes = 4097}, "pointers");
    refused((gpurt_broadcast_options_t){.capacity = 4, .bytes = 8, .policy = 3},
            "policy 3");
    refused((gpurt_broadcast_options_t){.capacity = 4, .bytes = 8, .readers = 257},
            "257 readers");
    CHECK_EQ(gpurt_broadcast_create(rt, NULL, NULL, &e), GPURT_E_INVALID);
    CHECK_EQ(gpurt_broadcast_status(rt, &b, NULL, &e), GPURT_E_INVALID);
    CHECK_EQ(gpurt_broadcast_status(rt, &none, &s, &e), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_broadcast_destroy(rt, NULL, &e), GPURT_OK);
    CHECK_EQ(gpurt_broadcast_destroy(rt, &none, &e), GPURT_OK);
    CHECK_EQ(broadcast_look(&b).seats, GPURT_BROADCAST_READERS);
    TRACE(&b, GOT(JOIN, 0, 0, GPURT_OK), SENT(PUBLISH, 1, GPURT_OK));
    OK(gpurt_broadcast_destroy(rt, &b, &err));
    CHECK(!b.words);
    CHECK_EQ(gpurt_broadcast_destroy(rt, &copy, &e), GPURT_E_HANDLE);
    CHECK_CONTAINS(e.text, "was destroyed");
    CHECK_EQ(gpurt_broadcast_end(rt, &copy, &e), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_broadcast_status(rt, &copy, &s, &e), GPURT_E_HANDLE);
    TRACE(&copy, SENT(PUBLISH, 1, GPURT_E_HANDLE), SENT(TRY_PUBLISH, 1, GPURT_E_HANDLE),
          GOT(READ, 0, 0, GPURT_E_HANDLE), GOT(LEAVE, 0, 0, GPURT_E_HANDLE),
          GOT(JOIN, 1, 0, GPURT_E_HANDLE), SENT(CLOSE, 0, GPURT_E_HANDLE));
    TRACE(&none, SENT(PUBLISH, 1, GPURT_E_HANDLE), GOT(JOIN, 1, 0, GPURT_E_HANDLE),
          SENT(CLOSE, 0, GPURT_E_HANDLE));
}

/* ---- storms -------------------------------------------------------------------------- */

static void storms_of_all_sizes(void)
{
    for (uint32_t size = 0; size < BROADCAST_SIZES; size++)
        for (uint32_t policy = 0; policy < GPURT_BROADCAST_POLICIES; policy++)
            for (uint32_t capacity = 1; capacity <= 64; capacity *= 8)
                broadcast_storm(size, capacity, policy, 0, 3, 4);
}

static void readers_come_and_go(void)
{
    for (uint32_t policy = 0; policy < GPURT_BROADCAST_POLICIES; policy++)
        for (uint32_t size = 0; size < BROADCAST_SIZES; size++)
            broadcast_storm(size, 4u << size, policy,
                            BROADCAST_REJOINS | (size % 2 ? BROADCAST_TRIES : 0), 3, 4);
}

static void cancelled_ones_are_not_waited_for(void)
{
    for (uint32_t size = 0; size < BROADCAST_SIZES; size++)
        broadcast_storm(size, 8, size % 2 ? GPURT_BROADCAST_DROP : GPURT_BROADCAST_BLOCK,
                        BROADCAST_CANCELS, 4, 4);
}

/* ---- in the middle ------------------------------------------------------------------- */

static void who_waits_lets_go(bool panics)
{
    broadcast_stage_t s = {.launch = {.grid = {1, 1, 1}, .block = {96, 1, 1}}};
    gpurt_broadcast_t b[2] = {broadcast_made(2, 0, 4), broadcast_made(2, 0, 4)};
    broadcast_verdict_t v;
    gpurt_error_t e = {0};

    s.args.mode = panics;
    s.args.games = (gpurt_broadcast_t *)stage_zeros(sizeof b);
    s.args.verdict = (broadcast_verdict_t *)stage_zeros(sizeof v);
    OK(gpurt_copy(rt, 0, s.args.games, b, sizeof b, &err));
    TRACE(&b[0], GOT(JOIN, 0, 0, GPURT_OK)); /* which reads nothing meanwhile */
    OK(gpurt_launch(rt, &s.launch, broadcast_ended, &s.args, &err));
    CHECK_EQ(gpurt_sync(rt, &e), panics ? GPURT_E_PANIC : GPURT_OK);
    stage_read(&v, s.args.verdict, sizeof v);
    CHECK_EQ(v.xanswers, 0);
    CHECK_EQ(broadcast_look(&b[0]).counts.sent, 2);
    CHECK(broadcast_look(&b[0]).cancelled > 0);
    CHECK_EQ(broadcast_look(&b[1]).counts.readers, 0);
    CHECK_EQ(broadcast_look(&b[1]).cancelled, 2);
    TRACE(&b[0], GOT(READ, 0, 1, GPURT_OK), GOT(READ, 0, 1, GPURT_OK),
          SENT(PUBLISH, 2, GPURT_OK), GOT(READ, 0, 2, GPURT_OK),
          GOT(LEAVE, 0, 0, GPURT_OK));
    OK(gpurt_broadcast_destroy(rt, &b[0], &err));
    OK(gpurt_broadcast_destroy(rt, &b[1], &err));
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

/* A lane in the middle of a call: what others are told must be true all the same. */
static void halves_are_waited_for(void)
{
    for (uint32_t half = 0; half < BROADCAST_HALVES; half++) {
        broadcast_stage_t s = {.launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}}};
        uint32_t policy = half == BROADCAST_HALF_PUBLISH ? GPURT_BROADCAST_DROP : 0;
        broadcast_verdict_t v;

        s.args.broadcast = broadcast_made(1, policy, 1);
        s.args.mode = half;
        s.args.verdict = (broadcast_verdict_t *)stage_zeros(sizeof v);
        if (half >= BROADCAST_HALF_PUBLISH)
            TRACE(&s.args.broadcast, GOT(JOIN, 0, 0, GPURT_OK));
        s.args.readers = readers_get();
        RUN(&s, broadcast_half);
        stage_read(&v, s.args.verdict, sizeof v);
        CHECK_MSG(v.xanswers == 0, "half %u: another lane was told what was not so", half);
        OK(gpurt_broadcast_destroy(rt, &s.args.broadcast, &err));
        CHECK_EQ(gpurt_mem_destroy(rt, s.args.verdict), GPURT_OK);
    }
}

/* A message that is half overwritten is lost, and nothing of it is read. */
static void no_message_is_torn(void)
{
    broadcast_stage_t s = {.launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}}};
    broadcast_verdict_t v;

    s.args.broadcast =
        broadcast_named("torn", 1, sizeof(cast_card_t), GPURT_BROADCAST_DROP, 1);
    s.args.verdict = (broadcast_verdict_t *)stage_zeros(sizeof v);
    RUN(&s, broadcast_torn);
    stage_read(&v, s.args.verdict, sizeof v);
    CHECK_EQ(v.xanswers, 0);
    CHECK_EQ(broadcast_look(&s.args.broadcast).counts.lost, 1);
    OK(gpurt_broadcast_destroy(rt, &s.args.broadcast, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.verdict), GPURT_OK);
}

/* ---- games --------------------------------------------------------------------------- */

#define OP(begin, end, lane, what, value, answer)            \
    {                                                        \
        begin, end, BROADCAST_OP_##what, lane, value, answer \
    }

static void the_judge_knows_a_broadcast(void)
{
    static const struct {
        const char *name;
        bool fine;
        broadcast_history_t history; /* with two slots */
    } lines[] = {
        {"read what came before it joined",
         false,
         {{OP(0, 1, 0, SEND, 1, GPURT_OK), OP(2, 3, 1, JOIN, 0, GPURT_OK),
           OP(4, 5, 1, READ, 1, GPURT_OK)},
          .count = 3}},
        {"read what came while it joined",
         true,
         {{OP(0, 2, 0, SEND, 1, GPURT_OK), OP(1, 3, 1, JOIN, 0, GPURT_OK),
           OP(4, 5, 1, READ, 1, GPURT_OK)},
          .count = 3}},
        {"two readers, two orders",
         false,
         {{OP(0, 1, 1, JOIN, 0, GPURT_OK), OP(0, 1, 3, JOIN, 0, GPURT_OK),
           OP(2, 4, 0, SEND, 1, GPURT_OK), OP(3, 5, 2, SEND, 2, GPURT_OK),
           OP(6, 7, 1, READ, 1, GPURT_OK), OP(6, 7, 3, READ, 2, GPURT_OK)},
          .count = 6}},
        {"full of what nobody reads",
         false,
         {{OP(0, 1, 0, SEND, 1, GPURT_OK), OP(2, 3, 0, SEND, 2, GPURT_OK),
           OP(4, 5, 0, SEND, 3, GPURT_E_FULL)},
          .count = 3}},
        {"lost, and was not",
         false,
         {{OP(0, 1, 1, JOIN, 0, GPURT_OK), OP(2, 3, 0, SEND, 1, GPURT_OK),
           OP(4, 5, 1, READ, 1, GPURT_E_DROPPED)},
          .count = 3,
          .policy = GPURT_BROADCAST_DROP}},
        {"lost one of three",
         true,
         {{OP(0, 1, 1, JOIN, 0, GPURT_OK), OP(2, 3, 0, SEND, 1, GPURT_OK),
           OP(4, 5, 0, SEND, 2, GPURT_OK), OP(6, 7, 0, SEND, 3, GPURT_OK),
           OP(8, 9, 1, READ, 1, GPURT_E_DROPPED), OP(10, 11, 1, READ, 2, GPURT_OK)},
          .count = 6,
          .policy = GPURT_BROADCAST_DROP}},
        {"closed with a message before it",
         false,
         {{OP(0, 1, 1, JOIN, 0, GPURT_OK), OP(2, 3, 0, SEND, 1, GPURT_OK),
           OP(4, 5, 0, CLOSE, 0, GPURT_OK), OP(6, 7, 1, READ, 0, GPURT_E_CHANNEL_CLOSED)},
          .count = 4}},
    };

    for (uint32_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        broadcast_history_t h = lines[i].history;

        h.capacity = h.seats = 2;
        CHECK_MSG(broadcast_is_linear(&h) == lines[i].fine, "%s", lines[i].name);
    }
}

static void games_could_have_happened(void)
{
    for (uint32_t seed = 1; seed <= 30; seed++)
        broadcast_games(18, seed);
}

static const stage_part_t parts[] = {
    {"each_reader_sees_all", each_reader_sees_all},
    {"who_left_reads_no_more", who_left_reads_no_more},
    {"closes_and_drains", closes_and_drains},
    {"policies_say_what_they_do", policies_say_what_they_do},
    {"bad_input_is_told", bad_input_is_told},
    {"storms_of_all_sizes", storms_of_all_sizes},
    {"readers_come_and_go", readers_come_and_go},
    {"cancelled_ones_are_not_waited_for", cancelled_ones_are_not_waited_for},
    {"who_waits_and_is_cancelled_lets_go", who_waits_and_is_cancelled_lets_go},
    {"who_waits_in_a_panic_lets_go", who_waits_in_a_panic_lets_go},
    {"halves_are_waited_for", halves_are_waited_for},
    {"no_message_is_torn", no_message_is_torn},
    {"the_judge_knows_a_broadcast", the_judge_knows_a_broadcast},
    {"games_could_have_happened", games_could_have_happened},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}
