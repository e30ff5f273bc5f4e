/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of segments, on both back ends: what each call answers, one after the other; segments that are
 * never committed, or spoilt, and are never shown; storms in which each segment is read whole and
 * once, or counted; blocks that are cancelled or panic in the middle; handles that are wrong; games
 * whose histories could have happened. */
#include "../kernels/segring_stage.h"
#include "stage_parts.h"
#include "stage_trace.h"

/* ---- one call after the other --------------------------------------------------------- */

/* Of all lists: from kernel to kernel. */
static gpurt_segment_t *segments_get(void)
{
    static gpurt_segment_t *segments;

    if (!segments)
        segments =
            (gpurt_segment_t *)stage_zeros(SEGRING_SEGMENTS * sizeof(gpurt_segment_t));
    return segments;
}

static void trace_on(const gpurt_segring_t *r, const segring_step_t *steps, uint32_t count)
{
    segring_stage_t s = {0};

    s.args.ring = *r;
    s.args.segments = segments_get();
    STAGE_TRACE(&s, segring_trace, steps, count);
}
#define TRACE(ring, ...)                                                    \
    do {                                                                    \
        static const segring_step_t steps_[] = {__VA_ARGS__};               \
                                                                            \
        trace_on(ring, steps_, (uint32_t)(sizeof steps_ / sizeof *steps_)); \
    } while (0)
#define DO(what, who, bytes, value, answer)          \
    {                                                \
        SEGRING_##what, who, bytes, value, 0, answer \
    }
#define GOT(what, value, bytes)                                                      \
    {                                                                                \
        SEGRING_##what, 0, SEGRING_TRACE_MOST, 0, (uint64_t)(value) << 32 | (bytes), \
            GPURT_OK                                                                 \
    }
#define TOLD(what, room, found, answer)           \
    {                                             \
        SEGRING_##what, 0, room, 0, found, answer \
    }
#define FULL  GPURT_E_FULL
#define EMPTY GPURT_E_EMPTY
enum {
    SHORT_NS =
        1024 /* a patience that is over at once: on a GPU after a microsecond or two */
};

static void segments_come_whole_and_in_order(void)
{
    gpurt_segring_t r = segring_made(256, GPURT_SEGRING_BLOCK, UINT64_MAX);
    gpurt_segring_status_t s;

    TRACE(&r, TOLD(TRY_READ, 9, 0, EMPTY), TOLD(READ_FOR, 9, 0, GPURT_E_TIMEOUT),
          DO(WRITE, 0, 1, 7, GPURT_OK), DO(WRITE, 0, 48, 8, GPURT_OK),
          DO(WRITE, 0, 49, 9, GPURT_OK), DO(TRY_WRITE, 0, 1, 1, FULL),
          DO(WRITE_FOR, 0, 1, 1, GPURT_E_TIMEOUT), DO(TRY_RESERVE, 0, 1, 1, FULL),
          GOT(READ, 7, 1), DO(TRY_WRITE, 0, 49, 1, FULL), GOT(TRY_READ, 8, 48),
          DO(TRY_WRITE, 0, 112, 10, GPURT_OK), /* around the end */
          TOLD(READ, 48, 49, GPURT_E_INVALID), TOLD(TRY_READ, 0, 49, GPURT_E_INVALID),
          GOT(READ_FOR, 9, 49), GOT(READ, 10, 112), DO(WRITE, 0, 0, 0, GPURT_OK),
          GOT(READ, 0, 0), DO(WRITE, 0, 240, 11, GPURT_OK), GOT(READ, 11, 240),
          DO(WRITE, 0, 241, 0, GPURT_E_INVALID), DO(RESERVE, 0, 241, 0, GPURT_E_INVALID),
          TOLD(TRY_READ, 9, 0, EMPTY));
    s = segring_seen(&r);
    CHECK_STR(s.name, "tested");
    CHECK_EQ(s.bytes, 256);
    CHECK_EQ(s.counts.reserved, 6);
    CHECK_EQ(s.counts.read, 6);
    CHECK_EQ(s.refused, 3);
    CHECK_EQ(s.timed_out, 2);
    OK(gpurt_segring_destroy(rt, &r, &err));
}

static void what_is_put_in_pieces_is_one(void)
{
    gpurt_segring_t r = segring_made(512, GPURT_SEGRING_BLOCK, UINT64_MAX);

    TRACE(&r, DO(RESERVE, 0, 60, 0, GPURT_OK), DO(PUT, 0, 3, 5, GPURT_OK),
          TOLD(TRY_READ, 99, 0, GPURT_E_NOT_READY), DO(WRITE, 0, 20, 6, GPURT_OK),
          TOLD(TRY_READ, 99, 0, GPURT_E_NOT_READY), TOLD(READ_FOR, 99, 0, GPURT_E_TIMEOUT),
          DO(PUT, 0, 16, 5, GPURT_OK), DO(PUT, 0, 29, 5, GPURT_OK),
          DO(PUT, 0, 13, 5, GPURT_E_INVALID), DO(PUT, 0, 12, 5, GPURT_OK),
          DO(COMMIT, 0, 0, 0, GPURT_OK), DO(COMMIT, 0, 0, 0, GPURT_E_HANDLE),
          DO(PUT, 0, 0, 0, GPURT_E_HANDLE), DO(ABORT, 0, 0, 0, GPURT_E_HANDLE),
          GOT(READ, 5, 60), GOT(READ, 6, 20), DO(RESERVE, 1, 300, 0, GPURT_OK),
          DO(PUT, 1, 7, 9, GPURT_OK), DO(COMMIT, 1, 0, 0, GPURT_OK), GOT(READ, 9, 7),
          DO(RESERVE, 1, 300, 0, GPURT_OK), DO(PUT, 1, 70, 9, GPURT_OK),
          DO(ABORT, 1, 0, 0, GPURT_OK), TOLD(TRY_READ, 99, 0, EMPTY),
          DO(RESERVE, 1, 400, 0, GPURT_OK));
    /* Another kernel goes on with the same segment. */
    TRACE(&r, DO(PUT, 1, 400, 3, GPURT_OK), DO(COMMIT, 1, 0, 0, GPURT_OK),
          GOT(READ, 3, 400));
    CHECK_EQ(segring_seen(&r).counts.aborted, 1);
    OK(gpurt_segring_destroy(rt, &r, &err));
    r = segring_made(64, GPURT_SEGRING_FAIL, UINT64_MAX);
    TRACE(&r, DO(RESERVE, 0, 5, 0, GPURT_OK), DO(WRITE, 0, 5, 2, FULL),
          DO(ABORT, 0, 0, 0, GPURT_OK), DO(WRITE, 0, 5, 2, GPURT_OK), /* takes its room */
          GOT(READ, 2, 5));
    OK(gpurt_segring_destroy(rt, &r, &err));
}

static void the_oldest_are_lost_and_that_is_told(void)
{
    gpurt_segring_t r = segring_made(256, GPURT_SEGRING_OVERWRITE, SHORT_NS);

    TRACE(&r, DO(WRITE, 0, 10, 1, GPURT_OK), DO(WRITE, 0, 10, 2, GPURT_OK),
          DO(WRITE, 0, 100, 3, GPURT_OK), DO(TRY_WRITE, 0, 10, 4, GPURT_OK),
          TOLD(READ, 99, 1, GPURT_E_DROPPED), GOT(READ, 2, 10),
          DO(WRITE, 0, 240, 5, GPURT_OK), TOLD(TRY_READ, 240, 2, GPURT_E_DROPPED),
          GOT(READ, 5, 240), TOLD(TRY_READ, 9, 0, EMPTY));
    CHECK_EQ(segring_seen(&r).counts.lost, 3);
    OK(gpurt_segring_destroy(rt, &r, &err));
    /* One that is being written is waited for, or given up. */
    r = segring_made(64, GPURT_SEGRING_OVERWRITE, UINT64_MAX);
    TRACE(&r, DO(RESERVE, 0, 10, 0, GPURT_OK), DO(TRY_WRITE, 0, 10, 1, FULL),
          DO(WRITE_FOR, 0, 10, 1, GPURT_E_TIMEOUT), DO(COMMIT, 0, 0, 0, GPURT_OK),
          DO(TRY_WRITE, 0, 10, 1, GPURT_OK), TOLD(READ, 99, 1, GPURT_E_DROPPED),
          GOT(READ, 1, 10));
    OK(gpurt_segring_destroy(rt, &r, &err));
    r = segring_made(64, GPURT_SEGRING_OVERWRITE, SHORT_NS);
    TRACE(&r, DO(RESERVE, 0, 10, 0, GPURT_OK), DO(WRITE, 0, 10, 1, GPURT_OK),
          DO(COMMIT, 0, 0, 0, GPURT_E_DROPPED), TOLD(READ, 99, 1, GPURT_E_DROPPED),
          GOT(READ, 1, 10));
    OK(gpurt_segring_destroy(rt, &r, &err));
}

/* ---- torn ---------------------------------------------------------------------------- */

/* A writer that was given up goes on writing into what is another's by now. */
static void a_torn_segment_is_never_shown(void)
{
    gpurt_segring_t r = segring_made(128, GPURT_SEGRING_BLOCK, SHORT_NS);
    gpurt_segring_status_t s;

    TRACE(&r, DO(RESERVE, 0, 40, 0, GPURT_OK), DO(PUT, 0, 20, 1, GPURT_OK),
          DO(WRITE, 0, 40, 2, GPURT_OK), TOLD(READ, 99, 0, GPURT_E_DAMAGED),
          DO(PUT, 0, 20, 1, GPURT_E_DROPPED), GOT(READ, 2, 40),
          DO(WRITE, 0, 100, 3, GPURT_OK), DO(SPOIL, 0, 0, 0, GPURT_OK),
          DO(COMMIT, 0, 0, 0, GPURT_E_DROPPED), TOLD(READ, 199, 0, GPURT_E_DAMAGED),
          TOLD(TRY_READ, 99, 0, EMPTY), DO(WRITE, 0, 100, 4, GPURT_OK), GOT(READ, 4, 100),
          DO(RESERVE, 1, 40, 0, GPURT_OK), TOLD(READ, 99, 0, GPURT_E_DAMAGED),
          DO(ABORT, 1, 0, 0, GPURT_E_DROPPED));
    s = segring_seen(&r);
    CHECK_EQ(s.counts.torn, 3);
    CHECK_EQ(s.counts.read, 2);
    OK(gpurt_segring_destroy(rt, &r, &err));
}

/* Each bit of header and data counts, and the generation. */
static void the_checksum_sees_each_bit(void)
{
    const gpurt_u128_t line = {5, 6}, zero = {0, 0};
    const uint64_t sum = gpurt_segring_sum(line, 1) + gpurt_segring_sum(zero, 2);
    const gpurt_u128_t header = gpurt_segring_header(9, 32, sum);

    for (uint32_t bit = 0; bit < 128; bit++) {
        gpurt_u128_t other = line;

        *(bit < 64 ? &other.lo : &other.hi) ^= 1ull << bit % 64;
        CHECK(gpurt_segring_sum(other, 1) != gpurt_segring_sum(line, 1));
    }
    for (uint32_t half = 0; half < 2;
         half++) { /* the same bytes elsewhere are another sum */
        gpurt_u128_t one = {half ? 5 : 0, half ? 0 : 5};

        CHECK(gpurt_segring_sum(one, 1) + gpurt_segring_sum(zero, 2) !=
              gpurt_segring_sum(zero, 1) + gpurt_segring_sum(one, 2));
    }
    CHECK(gpurt_segring_sum(zero, 1) != gpurt_segring_sum(zero, 2));
    CHECK(gpurt_segring_header(9, 31, sum).hi != header.hi);
    CHECK(gpurt_segring_header(10, 32, sum).hi != header.hi);
    CHECK(gpurt_segring_header(9 + (1ull << 32), 32, sum).hi != header.hi);
}

/* ---- ends ---------------------------------------------------------------------------- */

static void closes_and_drains(void)
{
    gpurt_segring_t r = segring_made(256, GPURT_SEGRING_BLOCK, UINT64_MAX);

    TRACE(&r, DO(WRITE, 0, 5, 1, GPURT_OK), DO(RESERVE, 0, 9, 0, GPURT_OK),
          DO(CLOSE, 0, 0, 0, GPURT_OK), DO(CLOSE, 0, 0, 0, GPURT_E_CHANNEL_CLOSED),
          DO(WRITE, 0, 5, 2, GPURT_E_CHANNEL_CLOSED),
          DO(TRY_WRITE, 0, 5, 2, GPURT_E_CHANNEL_CLOSED),
          DO(RESERVE, 1, 5, 2, GPURT_E_CHANNEL_CLOSED), GOT(READ, 1, 5),
          TOLD(TRY_READ, 9, 0, GPURT_E_NOT_READY), DO(PUT, 0, 9, 3, GPURT_OK),
          DO(COMMIT, 0, 0, 0, GPURT_OK), GOT(READ, 3, 9),
          TOLD(READ, 9, 0, GPURT_E_CHANNEL_CLOSED),
          TOLD(TRY_READ, 9, 0, GPURT_E_CHANNEL_CLOSED));
    CHECK_EQ(segring_seen(&r).state, GPURT_CHANNEL_SHUT);
    CHECK_EQ(segring_seen(&r).refused, 3);
    CHECK_EQ(gpurt_segring_end(rt, &r, NULL), GPURT_E_CHANNEL_CLOSED);
    OK(gpurt_segring_destroy(rt, &r, &err));
    r = segring_made(256, GPURT_SEGRING_BLOCK, UINT64_MAX);
    OK(gpurt_segring_end(rt, &r, &err));
    TRACE(&r, DO(WRITE, 0, 5, 1, GPURT_E_CHANNEL_CLOSED),
          TOLD(READ, 9, 0, GPURT_E_CHANNEL_CLOSED));
    OK(gpurt_segring_destroy(rt, &r, &err));
}

static void refused(gpurt_segring_options_t o, const char *text)
{
    gpurt_segring_t r;
    gpurt_error_t e = {0};

    CHECK_EQ(gpurt_segring_create(rt, &o, &r, &e), GPURT_E_INVALID);
    CHECK_CONTAINS(e.text, text);
    CHECK(!r.words);
}

static void bad_input_is_told(void)
{
    gpurt_segring_t r = segring_made(64, 0, 0), copy = r, none = {0};
    gpurt_segring_status_t s;
    gpurt_error_t e = {0};

    refused((gpurt_segring_options_t){.struct_size = 4096, .bytes = 64},
            "ring of segments: struct_size 4096");
    refused((gpurt_segring_options_t){.bytes = 0}, "0 bytes: a power of two from 64");
    refused((gpurt_segring_options_t){.bytes = 96}, "power of two");
    refused((gpurt_segring_options_t){.bytes = 32}, "32 bytes");
    refused((gpurt_segring_options_t){.bytes = 1u << 31}, "to 1073741824");
    refused((gpurt_segring_options_t){.bytes = 64, .policy = 3}, "policy 3");
    refused((gpurt_segring_options_t){.bytes = 64, .patience_ns = 1ull << 41}, "patience");
    CHECK_EQ(gpurt_segring_create(rt, NULL, NULL, &e), GPURT_E_INVALID);
    CHECK_EQ(gpurt_segring_status(rt, &r, NULL, &e), GPURT_E_INVALID);
    CHECK_EQ(gpurt_segring_status(rt, &none, &s, &e), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_segring_destroy(rt, NULL, &e), GPURT_OK);
    CHECK_EQ(gpurt_segring_destroy(rt, &none, &e), GPURT_OK);
    TRACE(&r, DO(RESERVE, 0, 5, 0, GPURT_OK));
    OK(gpurt_segring_destroy(rt, &r, &err));
    CHECK(!r.words);
    CHECK_EQ(gpurt_segring_destroy(rt, &copy, &e), GPURT_E_HANDLE);
    CHECK_CONTAINS(e.text, "was destroyed");
    CHECK_EQ(gpurt_segring_end(rt, &copy, &e), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_segring_status(rt, &copy, &s, &e), GPURT_E_HANDLE);
    TRACE(&copy, DO(WRITE, 0, 1, 1, GPURT_E_HANDLE), DO(RESERVE, 1, 1, 1, GPURT_E_HANDLE),
          DO(PUT, 0, 1, 1, GPURT_E_HANDLE), DO(COMMIT, 0, 1, 1, GPURT_E_HANDLE),
          TOLD(READ, 9, 0, GPURT_E_HANDLE), DO(CLOSE, 0, 0, 0, GPURT_E_HANDLE));
    TRACE(&none, DO(WRITE, 0, 1, 1, GPURT_E_HANDLE), TOLD(READ, 9, 0, GPURT_E_HANDLE),
          DO(CLOSE, 0, 0, 0, GPURT_E_HANDLE));
}

/* ---- storms -------------------------------------------------------------------------- */

static void storms_of_all_kinds(void)
{
    static const uint32_t modes[] = {
        0, SEGRING_TRIES, SEGRING_PIECES, SEGRING_PIECES | SEGRING_ABORTS,
        SEGRING_PIECES | SEGRING_FORGETS | SEGRING_TRIES | SEGRING_ABORTS};

    for (uint32_t policy = 0; policy < GPURT_SEGRING_POLICIES; policy++)
        for (uint32_t bytes = 512; bytes <= 8192; bytes *= 4)
            for (uint32_t i = 0; i < sizeof modes / sizeof *modes; i++)
                segring_storm_run(bytes, policy, modes[i], 3, 4);
}

static void who_is_cancelled_in_the_middle_is_not_waited_for(void)
{
    for (uint32_t policy = 0; policy < GPURT_SEGRING_POLICIES; policy++)
        segring_storm_run(1024, policy, SEGRING_PIECES | SEGRING_CANCELS, 4, 4);
}

static void room_hands_over(void)
{
    segring_room_run();
}

static void who_waits_lets_go(bool panics)
{
    segring_stage_t s = {.launch = {.grid = {1, 1, 1}, .block = {128, 1, 1}}};
    gpurt_segring_t r[3] = {segring_made(128, 0, SHORT_NS), segring_made(128, 0, SHORT_NS),
                            segring_made(128, 0, SHORT_NS)};
    segring_verdict_t v;
    gpurt_error_t e = {0};

    s.args.mode = panics;
    s.args.games = (gpurt_segring_t *)stage_zeros(sizeof r);
    s.args.verdict = (segring_verdict_t *)stage_zeros(sizeof v);
    OK(gpurt_copy(rt, 0, s.args.games, r, sizeof r, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    OK(gpurt_launch(rt, &s.launch, segring_ended, &s.args, &err));
    CHECK_EQ(gpurt_sync(rt, &e), panics ? GPURT_E_PANIC : GPURT_OK);
    stage_read(&v, s.args.verdict, sizeof v);
    CHECK_EQ(v.xanswers, 0);
    CHECK_EQ(segring_seen(&r[0]).counts.depth, 2);
    CHECK(segring_seen(&r[0]).cancelled > 0);
    CHECK_EQ(segring_seen(&r[1]).cancelled, 1);
    CHECK_EQ(segring_seen(&r[2]).counts.depth, 1);
    TRACE(&r[2], DO(WRITE, 0, 5, 1, GPURT_OK), TOLD(READ, 99, 0, GPURT_E_DAMAGED),
          GOT(READ, 1, 5));
    for (uint32_t i = 0; i < 3; i++)
        OK(gpurt_segring_destroy(rt, &r[i], &err));
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
        segring_games(18, seed);
}

static const stage_part_t parts[] = {
    {"segments_come_whole_and_in_order", segments_come_whole_and_in_order},
    {"what_is_put_in_pieces_is_one", what_is_put_in_pieces_is_one},
    {"the_oldest_are_lost_and_that_is_told", the_oldest_are_lost_and_that_is_told},
    {"a_torn_segment_is_never_shown", a_torn_segment_is_never_shown},
    {"the_checksum_sees_each_bit", the_checksum_sees_each_bit},
    {"closes_and_drains", closes_and_drains},
    {"bad_input_is_told", bad_input_is_told},
    {"storms_of_all_kinds", storms_of_all_kinds},
    {"who_is_cancelled_in_the_middle_is_not_waited_for",
     who_is_cancelled_in_the_middle_is_not_waited_for},
    {"room_hands_over", room_hands_over},
    {"who_waits_and_is_cancelled_lets_go", who_waits_and_is_cancelled_lets_go},
    {"who_waits_in_a_panic_lets_go", who_waits_in_a_panic_lets_go},
    {"games_could_have_happened", games_could_have_happened},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}
