/* SPDX-License-Identifier: Apache-2.0 */
/* Channels whose receivers grant credits, and channels whose limit moves, on both back ends: what each
 * call answers, what cannot be made, the parts of a new limit, storms in which both happen. */
#include "../kernels/channel_stage.h"
#include "../kernels/limit_kernels.h"
#include "channel_trace.h"
#include "stage_parts.h"

static const gpurt_launch_t storm_shape = {.grid = {4, 1, 1}, .block = {128, 1, 1}};

static void room_is_refused(void)
{
    refused((gpurt_channel_options_t){.capacity = 4, .bytes = 8, .flags = 6},
            "ask nobody for room");
    refused((gpurt_channel_options_t){.capacity = 4, .bytes = 8, .flags = 10},
            "ask nobody for room");
    refused((gpurt_channel_options_t){.capacity = 4,
                                      .bytes = 8,
                                      .policy = GPURT_CHANNEL_DROP_OLDEST,
                                      .flags = GPURT_CHANNEL_GRANTED},
            "take another policy");
    refused((gpurt_channel_options_t){.capacity = 1u << 24, .bytes = 8, .flags = 8},
            "8388608 slots at most");
    refused((gpurt_channel_options_t){.capacity = 4, .bytes = 8, .limit = 3},
            "a limit of 3");
    refused((gpurt_channel_options_t){.capacity = 4, .bytes = 8, .flags = 8, .limit = 5},
            "a limit of 5");
    refused((gpurt_channel_options_t){.capacity = 4, .bytes = 8, .credits = 1},
            "1 credits");
    refused((gpurt_channel_options_t){.capacity = 4, .bytes = 8, .flags = 4, .credits = 5},
            "5 credits");
}

static void credits_are_what_senders_have(void)
{
    gpurt_channel_t c = channel_made(4, 8, GPURT_CHANNEL_FAIL, GPURT_CHANNEL_GRANTED);
    uint32_t done = 9;

    CHECK_EQ(channel_look(&c).credits, 1);
    TRACE(&c, SENT(CHANNEL_SEND, 1, GPURT_OK), SENT(CHANNEL_SEND, 2, GPURT_E_FULL),
          SENT(CHANNEL_SEND_FOR, 2, GPURT_E_TIMEOUT), GOT(CHANNEL_RECEIVE, 1, GPURT_OK),
          SENT(CHANNEL_TRY_SEND, 2, GPURT_E_FULL), {CHANNEL_GRANT, 0, 0, GPURT_E_INVALID},
          {CHANNEL_GRANT, 3, 3, GPURT_OK}, {CHANNEL_GRANT, 3, 1, GPURT_E_FULL},
          {CHANNEL_GRANT, 1, 0, GPURT_E_FULL}, {CHANNEL_SEND_MANY, 6, 4, GPURT_E_FULL},
          {CHANNEL_GRANT, 4, 0, GPURT_E_FULL}, {CHANNEL_RECEIVE_MANY, 2, 2, GPURT_OK});
    CHECK_EQ(channel_look(&c).credits, 0);
    CHECK_EQ(gpurt_channel_grant_more(rt, &c, 7, &done, NULL), GPURT_E_FULL);
    CHECK_EQ(done, 2);
    CHECK_EQ(channel_look(&c).credits, 2);
    TRACE(&c, SENT(CHANNEL_SEND, 7, GPURT_OK), {CHANNEL_CLOSE, 0, 0, GPURT_OK},
          SENT(CHANNEL_SEND, 8, GPURT_E_CHANNEL_CLOSED),
          {CHANNEL_GRANT, 1, 0, GPURT_E_CHANNEL_CLOSED}, GOT(CHANNEL_DEPTH, 3, GPURT_OK),
          GOT(CHANNEL_RECEIVE, 1002, GPURT_OK), GOT(CHANNEL_RECEIVE, 1003, GPURT_OK),
          GOT(CHANNEL_RECEIVE, 7, GPURT_OK),
          GOT(CHANNEL_RECEIVE, 0, GPURT_E_CHANNEL_CLOSED));
    CHECK_EQ(gpurt_channel_grant_more(rt, &c, 1, NULL, NULL), GPURT_E_CHANNEL_CLOSED);
    OK(gpurt_channel_destroy(rt, &c, &err));
    CHECK_EQ(gpurt_channel_grant_more(rt, &c, 1, NULL, NULL), GPURT_E_HANDLE);
}

static void a_limit_moves_at_once(void)
{
    gpurt_channel_t c = channel_made(8, 8, GPURT_CHANNEL_FAIL, GPURT_CHANNEL_RESIZED);

    TRACE(&c, {CHANNEL_SEND_MANY, 5, 5, GPURT_OK}, {CHANNEL_RESIZE, 3, 0, GPURT_OK},
          SENT(CHANNEL_SEND, 1, GPURT_E_FULL), {CHANNEL_RECEIVE_MANY, 2, 2, GPURT_OK},
          SENT(CHANNEL_SEND, 1, GPURT_E_FULL), GOT(CHANNEL_RECEIVE, 1002, GPURT_OK),
          SENT(CHANNEL_SEND, 11, GPURT_OK), SENT(CHANNEL_SEND, 12, GPURT_E_FULL),
          {CHANNEL_RESIZE, 0, 0, GPURT_E_INVALID}, {CHANNEL_RESIZE, 9, 0, GPURT_E_INVALID},
          {CHANNEL_RESIZE, 8, 0, GPURT_OK}, {CHANNEL_SEND_MANY, 9, 5, GPURT_E_FULL},
          GOT(CHANNEL_DEPTH, 8, GPURT_OK));
    OK(gpurt_channel_set_limit(rt, &c, 6, &err));
    CHECK_EQ(channel_look(&c).limit, 6);
    CHECK_EQ(gpurt_channel_set_limit(rt, &c, 9, NULL), GPURT_E_INVALID);
    TRACE(&c, {CHANNEL_CLOSE, 0, 0, GPURT_OK},
          {CHANNEL_RESIZE, 8, 0, GPURT_E_CHANNEL_CLOSED},
          GOT(CHANNEL_RECEIVE, 1003, GPURT_OK), GOT(CHANNEL_RECEIVE, 1004, GPURT_OK),
          GOT(CHANNEL_RECEIVE, 11, GPURT_OK), {CHANNEL_RECEIVE_MANY, 9, 5, GPURT_OK},
          GOT(CHANNEL_RECEIVE, 0, GPURT_E_CHANNEL_CLOSED));
    CHECK_EQ(gpurt_channel_set_limit(rt, &c, 2, NULL), GPURT_E_CHANNEL_CLOSED);
    CHECK_EQ(channel_look(&c).limit, 6);
    OK(gpurt_channel_destroy(rt, &c, &err));
}

/* Less can be promised, and what was promised stays. */
static void a_limit_of_credits_moves(void)
{
    gpurt_channel_t c = channel_made(8, 8, GPURT_CHANNEL_FAIL,
                                     GPURT_CHANNEL_GRANTED | GPURT_CHANNEL_RESIZED);

    TRACE(&c, {CHANNEL_GRANT, 5, 5, GPURT_OK}, {CHANNEL_RESIZE, 4, 0, GPURT_OK},
          {CHANNEL_GRANT, 1, 0, GPURT_E_FULL}, {CHANNEL_SEND_MANY, 7, 6, GPURT_E_FULL},
          {CHANNEL_RECEIVE_MANY, 3, 3, GPURT_OK}, {CHANNEL_GRANT, 3, 1, GPURT_E_FULL},
          {CHANNEL_RESIZE, 8, 0, GPURT_OK}, {CHANNEL_GRANT, 9, 4, GPURT_E_FULL},
          {CHANNEL_CLOSE, 0, 0, GPURT_OK}, {CHANNEL_RESIZE, 1, 0, GPURT_E_CHANNEL_CLOSED},
          GOT(CHANNEL_DEPTH, 3, GPURT_OK));
    OK(gpurt_channel_destroy(rt, &c, &err));
    c = channel_made(8, 8, GPURT_CHANNEL_FAIL, 0);
    TRACE(&c, {CHANNEL_RESIZE, 4, 0, GPURT_E_INVALID},
          {CHANNEL_GRANT, 1, 0, GPURT_E_INVALID});
    OK(gpurt_channel_destroy(rt, &c, &err));
    TRACE(&c, {CHANNEL_RESIZE, 4, 0, GPURT_E_HANDLE},
          {CHANNEL_GRANT, 1, 0, GPURT_E_HANDLE});
}

/* A kernel that still has a description of it. */
static void destroyed_ones_are_told(void)
{
    gpurt_channel_t c = channel_made(8, 8, GPURT_CHANNEL_FAIL,
                                     GPURT_CHANNEL_GRANTED | GPURT_CHANNEL_RESIZED);
    const gpurt_channel_t was = c;

    OK(gpurt_channel_destroy(rt, &c, &err));
    TRACE(&was, {CHANNEL_GRANT, 1, 0, GPURT_E_HANDLE},
          {CHANNEL_RESIZE, 4, 0, GPURT_E_HANDLE});
}

static void a_limit_has_parts(void)
{
    gpurt_channel_options_t o = {
        .capacity = 8, .bytes = 8, .flags = GPURT_CHANNEL_RESIZED, .limit = 2};
    struct {
        struct limit_args args;
        gpurt_launch_t launch;
    } s = {.launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}}};
    uint32_t wrong;

    OK(gpurt_channel_create(rt, &o, &s.args.full, &err));
    TRACE(&s.args.full, SENT(CHANNEL_SEND, 1, GPURT_OK), SENT(CHANNEL_SEND, 2, GPURT_OK));
    o.limit = 6;
    OK(gpurt_channel_create(rt, &o, &s.args.shut, &err));
    s.args.granted = channel_made(4, 8, 0, GPURT_CHANNEL_GRANTED);
    s.args.wrong = (uint32_t *)stage_zeros(sizeof *s.args.wrong);
    RUN(&s, limit_parts);
    stage_read(&wrong, s.args.wrong, sizeof wrong);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(channel_look(&s.args.full).limit, 2);
    OK(gpurt_channel_destroy(rt, &s.args.full, &err));
    OK(gpurt_channel_destroy(rt, &s.args.shut, &err));
    OK(gpurt_channel_destroy(rt, &s.args.granted, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.wrong), GPURT_OK);
}

static void storms_of_credits_and_limits(void)
{
    static const uint32_t flags[] = {GPURT_CHANNEL_GRANTED, GPURT_CHANNEL_RESIZED,
                                     GPURT_CHANNEL_GRANTED | GPURT_CHANNEL_RESIZED};

    for (uint32_t i = 0; i < 3 * CHANNEL_SIZES; i++)
        for (uint32_t policy = 0; policy < GPURT_CHANNEL_DROP_OLDEST; policy++)
            channel_storm(i % CHANNEL_SIZES, 2u << i % 4, policy, flags[i / CHANNEL_SIZES],
                          i / CHANNEL_SIZES ? CHANNEL_LIMITS : 0, storm_shape, 4);
    /* A group grants when each of its lanes has some, so there is room for three of each lane. */
    for (uint32_t size = 0; size < CHANNEL_SIZES; size++)
        channel_storm(size, 512u << size % 2, 0, GPURT_CHANNEL_GRANTED,
                      size % 2 * CHANNEL_MANY, storm_shape, 12);
    channel_storm(1, 8, GPURT_CHANNEL_DROP_OLDEST, GPURT_CHANNEL_RESIZED, CHANNEL_LIMITS,
                  storm_shape, 12);
}

static const stage_part_t parts[] = {
    {"room_is_refused", room_is_refused},
    {"credits_are_what_senders_have", credits_are_what_senders_have},
    {"a_limit_moves_at_once", a_limit_moves_at_once},
    {"a_limit_of_credits_moves", a_limit_of_credits_moves},
    {"destroyed_ones_are_told", destroyed_ones_are_told},
    {"a_limit_has_parts", a_limit_has_parts},
    {"storms_of_credits_and_limits", storms_of_credits_and_limits},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}
