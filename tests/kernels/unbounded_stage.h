/* SPDX-License-Identifier: Apache-2.0 */
/* unbounded_stage.h - unbounded channels, kernels that use them, and what must be true afterwards. */
#ifndef GPURT_TESTS_UNBOUNDED_STAGE_H
#define GPURT_TESTS_UNBOUNDED_STAGE_H

#include "linear.h"
#include "stage.h"
#include "unbounded_kernels.h"

#include <gpurt/unboundeds.h>

GPURT_KERNEL_DECLARE(unbounded_trace, struct unbounded_args);
GPURT_KERNEL_DECLARE(unbounded_storm, struct unbounded_args);
GPURT_KERNEL_DECLARE(unbounded_ended, struct unbounded_args);
GPURT_KERNEL_DECLARE(unbounded_game, struct unbounded_args);

typedef struct unbounded_stage {
    struct unbounded_args args;
    gpurt_launch_t launch;
} unbounded_stage_t;

static gpurt_heap_t unbounded_heap_now; /* zeros: there is none */

/* Of all channels here: small, so that a channel of pages uses it up. */
static inline gpurt_heap_t *unbounded_heap(void)
{
    const gpurt_heap_options_t o = {.bytes = 1 << 20};

    if (!unbounded_heap_now.chunks)
        OK(gpurt_heap_create(rt, &o, &unbounded_heap_now, &err));
    return &unbounded_heap_now;
}

static inline gpurt_unbounded_t unbounded_made(uint32_t bytes, uint32_t policy,
                                               uint32_t segments)
{
    const gpurt_unbounded_options_t o = {.bytes = bytes,
                                         .policy = policy,
                                         .segments = segments,
                                         .heap = unbounded_heap(),
                                         .name = "tested"};
    gpurt_unbounded_t c;

    OK(gpurt_unbounded_create(rt, &o, &c, &err));
    return c;
}

static inline uint64_t unbounded_live(void)
{
    gpurt_heap_stats_t s;

    OK(gpurt_heap_stats(rt, unbounded_heap(), &s, &err));
    return s.live;
}

static inline gpurt_unbounded_status_t unbounded_seen(const gpurt_unbounded_t *c)
{
    gpurt_unbounded_status_t s;

    OK(gpurt_unbounded_status(rt, c, &s, &err));
    CHECK_EQ(s.sending, 0);
    CHECK_EQ(s.receiving, 0);
    CHECK_EQ(s.counts.sent, s.counts.received + s.counts.dropped + s.counts.depth);
    return s;
}

/* Its memory goes back to the heap, whatever is in it. */
static inline void unbounded_gone(gpurt_unbounded_t *c)
{
    OK(gpurt_unbounded_destroy(rt, c, &err));
    CHECK_EQ(unbounded_live(), 0);
}

/* ---- storms -------------------------------------------------------------------------- */

static inline void unbounded_judge(const unbounded_stage_t *s)
{
    const gpurt_unbounded_status_t now = unbounded_seen(&s->args.unbounded);
    unbounded_verdict_t v;

    stage_read(&v, s->args.verdict, sizeof v);
    CHECK_EQ(v.xwrong, 0);
    CHECK_EQ(v.xanswers, 0);
    CHECK_EQ(now.counts.received, v.xreceived);
    CHECK(now.counts.segments <= 1);
    CHECK_EQ(unbounded_live(), now.counts.segments);
    if (s->args.mode & UNBOUNDED_CANCELS)
        return;
    CHECK_EQ(now.counts.depth, 0);
    CHECK_EQ(v.xreceived, v.xsent);
    CHECK_EQ(now.refused, v.xrefused);
    CHECK_EQ(now.counts.dropped, v.xdropped);
}

static inline void unbounded_storm_run(uint32_t policy, uint32_t segments, uint32_t mode,
                                       uint32_t blocks, uint32_t each)
{
    unbounded_stage_t s = {.launch = {.grid = {blocks, 1, 1}, .block = {64, 1, 1}}};
    uint32_t messages = blocks * 64 * each;
    uint32_t bytes = mode & UNBOUNDED_PAGES ? sizeof(unbounded_page_t) : sizeof(uint64_t);
    unbounded_verdict_t v = {.xsenders = blocks};

    s.args.unbounded = unbounded_made(bytes, policy, segments);
    s.args.mode = mode;
    s.args.each = each;
    s.args.seen = (uint32_t *)stage_zeros(messages * sizeof(uint32_t));
    s.args.plain = (uint32_t *)stage_zeros(messages * sizeof(uint32_t));
    s.args.verdict = (unbounded_verdict_t *)stage_zeros(sizeof v);
    v.unbounded = s.args.unbounded;
    OK(gpurt_copy(rt, 0, s.args.verdict, &v, sizeof v, &err));
    RUN(&s, unbounded_storm);
    unbounded_judge(&s);
    unbounded_gone(&s.args.unbounded);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.seen), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.plain), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.verdict), GPURT_OK);
}

/* ---- games --------------------------------------------------------------------------- */

/* The state: messages in it (their number in the lowest 4 bits, then 4 bits each, the oldest
 * first), and whether it is closed. */
enum {
    UNBOUNDED_SHUT_AT = 40
};

typedef struct unbounded_history {
    unbounded_op_t ops[UNBOUNDED_LANES * UNBOUNDED_ROUNDS];
    uint32_t count;
} unbounded_history_t;

static inline bool unbounded_receive_is(const unbounded_op_t *op, uint64_t *state)
{
    uint64_t shut = *state >> UNBOUNDED_SHUT_AT;
    uint64_t rest = (*state & ((1ull << UNBOUNDED_SHUT_AT) - 1)) >> 8;
    uint32_t n = *state & 15u, first = *state >> 4 & 15u;

    if (op->answer == GPURT_OK) {
        *state = shut << UNBOUNDED_SHUT_AT | rest << 4 | (n - 1);
        return n > 0 && first == op->value;
    }
    if (op->answer == GPURT_E_CHANNEL_CLOSED)
        return shut && n == 0;
    return (op->answer == GPURT_E_EMPTY || op->answer == GPURT_E_TIMEOUT) && !shut &&
           n == 0;
}

static inline bool unbounded_step_is(const void *history, uint32_t i, uint64_t *state)
{
    const unbounded_op_t *op = &((const unbounded_history_t *)history)->ops[i];
    bool shut = *state >> UNBOUNDED_SHUT_AT;

    if (op->what == UNBOUNDED_OP_RECEIVE)
        return unbounded_receive_is(op, state);
    if (op->what == UNBOUNDED_OP_SEND && op->answer == GPURT_OK) {
        *state |= (uint64_t)op->value << 4 * ((*state & 15u) + 1);
        *state += 1;
        return !shut;
    }
    if (op->what == UNBOUNDED_OP_SEND)
        return op->answer == GPURT_E_CHANNEL_CLOSED && shut;
    *state |= 1ull << UNBOUNDED_SHUT_AT;
    return op->answer == (shut ? GPURT_E_CHANNEL_CLOSED : GPURT_OK);
}

static inline linear_span_t unbounded_span(const void *history, uint32_t i)
{
    const unbounded_op_t *op = &((const unbounded_history_t *)history)->ops[i];

    return (linear_span_t){op->begin, op->end};
}

static inline void unbounded_game_judge(const unbounded_book_t *book)
{
    static const char *const names[] = {"send", "receive", "close"};
    static unbounded_history_t h;
    linear_t l = {&h, 0, unbounded_span, unbounded_step_is};

    h = (unbounded_history_t){.count = 0};
    for (uint32_t i = 0; i < UNBOUNDED_LANES * UNBOUNDED_ROUNDS; i++)
        if (book->ops[i / UNBOUNDED_ROUNDS][i % UNBOUNDED_ROUNDS].end)
            h.ops[h.count++] = book->ops[i / UNBOUNDED_ROUNDS][i % UNBOUNDED_ROUNDS];
    l.all = (1ull << h.count) - 1;
    if (linear_is(&l, 0))
        return;
    for (uint32_t i = 0; i < h.count; i++)
        fprintf(stderr, "%4u..%-4u lane %u %s %u: %s\n", h.ops[i].begin, h.ops[i].end,
                h.ops[i].lane, names[h.ops[i].what], h.ops[i].value,
                gpurt_status_name(h.ops[i].answer));
    CHECK_MSG(false, "this cannot have happened");
}

/* Some games at once, each with a channel of its own. */
static inline void unbounded_games(uint32_t games, uint32_t seed)
{
    unbounded_stage_t s = {.launch = {.grid = {games, 1, 1}, .block = {64, 1, 1}},
                           .args = {.seed = seed}};
    gpurt_unbounded_t *all = (gpurt_unbounded_t *)malloc(games * sizeof *all);
    unbounded_book_t book;

    CHECK(all);
    s.args.books = (unbounded_book_t *)stage_zeros(games * sizeof book);
    s.args.games = (gpurt_unbounded_t *)stage_zeros(games * sizeof *all);
    for (uint32_t i = 0; i < games; i++)
        all[i] = unbounded_made(sizeof(uint64_t), 0, 2);
    OK(gpurt_copy(rt, 0, s.args.games, all, games * sizeof *all, &err));
    RUN(&s, unbounded_game);
    for (uint32_t i = 0; i < games; i++) {
        stage_read(&book, &s.args.books[i], sizeof book);
        unbounded_game_judge(&book);
        (void)unbounded_seen(&all[i]);
        OK(gpurt_unbounded_destroy(rt, &all[i], &err));
    }
    CHECK_EQ(unbounded_live(), 0);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.books), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.games), GPURT_OK);
    free(all);
}

#endif
