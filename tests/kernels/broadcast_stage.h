/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast_stage.h - broadcasts, kernels that use them, and what must be true afterwards. */
#ifndef GPURT_TESTS_BROADCAST_STAGE_H
#define GPURT_TESTS_BROADCAST_STAGE_H

#include "broadcast_kernels.h"
#include "linear.h"
#include "stage.h"

#include <gpurt/broadcasts.h>

GPURT_KERNEL_DECLARE(broadcast_trace, struct broadcast_args);
GPURT_KERNEL_DECLARE(broadcast_storm_one, struct broadcast_args);
GPURT_KERNEL_DECLARE(broadcast_storm_word, struct broadcast_args);
GPURT_KERNEL_DECLARE(broadcast_storm_card, struct broadcast_args);
GPURT_KERNEL_DECLARE(broadcast_storm_page, struct broadcast_args);
GPURT_KERNEL_DECLARE(broadcast_ended, struct broadcast_args);
GPURT_KERNEL_DECLARE(broadcast_half, struct broadcast_args);
GPURT_KERNEL_DECLARE(broadcast_torn, struct broadcast_args);
GPURT_KERNEL_DECLARE(broadcast_game, struct broadcast_args);
GPURT_KERNEL_DECLARE(broadcast_stuck, struct broadcast_args);

typedef struct broadcast_stage {
    struct broadcast_args args;
    gpurt_launch_t launch;
} broadcast_stage_t;

static inline gpurt_broadcast_t broadcast_named(const char *name, uint32_t capacity,
                                                uint32_t bytes, uint32_t policy,
                                                uint32_t readers)
{
    const gpurt_broadcast_options_t o = {.capacity = capacity,
                                         .bytes = bytes,
                                         .policy = policy,
                                         .readers = readers,
                                         .name = name};
    gpurt_broadcast_t b;

    OK(gpurt_broadcast_create(rt, &o, &b, &err));
    return b;
}

static inline gpurt_broadcast_t broadcast_made(uint32_t capacity, uint32_t policy,
                                               uint32_t readers)
{
    return broadcast_named("tested", capacity, 8, policy, readers);
}

static inline gpurt_broadcast_status_t broadcast_look(const gpurt_broadcast_t *b)
{
    gpurt_broadcast_status_t s;

    OK(gpurt_broadcast_status(rt, b, &s, &err));
    CHECK_EQ(s.sending, 0);
    CHECK_EQ(s.receiving, 0);
    return s;
}

/* ---- storms -------------------------------------------------------------------------- */

enum {
    BROADCAST_SIZES = 4
};

static inline uint32_t broadcast_bytes(uint32_t size)
{
    static const uint32_t bytes[BROADCAST_SIZES] = {4, 8, sizeof(cast_card_t),
                                                    sizeof(cast_page_t)};

    return bytes[size];
}

static inline void broadcast_storm_run(broadcast_stage_t *s, uint32_t size)
{
    static const gpurt_kernel_t *const kernels[BROADCAST_SIZES] = {
        &gpurt_kernel_broadcast_storm_one, &gpurt_kernel_broadcast_storm_word,
        &gpurt_kernel_broadcast_storm_card, &gpurt_kernel_broadcast_storm_page};

    OK(gpurt_launch_kernel(rt, &s->launch, kernels[size], &s->args, sizeof s->args, &err));
    OK(gpurt_sync(rt, &err));
}

/* No two tickets carry the same message. */
static inline void broadcast_order_judge(const broadcast_stage_t *s, uint32_t messages)
{
    uint32_t *order = (uint32_t *)malloc(messages * sizeof *order);
    bool *met = (bool *)calloc(messages + 1, 1);

    CHECK(order && met);
    stage_read(order, s->args.order, messages * sizeof *order);
    for (uint32_t i = 0; i < messages; i++) {
        CHECK(order[i] <= messages);
        CHECK_MSG(!order[i] || !met[order[i]], "message %u was read under two tickets",
                  order[i] - 1);
        met[order[i]] = true;
    }
    free(order);
    free(met);
}

/* What came while a reader had joined was read by it, or it was told that it is lost. */
static inline void broadcast_judge(const broadcast_stage_t *s, uint32_t readers)
{
    const gpurt_broadcast_status_t now = broadcast_look(&s->args.broadcast);
    broadcast_verdict_t v;

    stage_read(&v, s->args.verdict, sizeof v);
    CHECK_EQ(v.xwrong, 0);
    CHECK_EQ(v.xanswers, 0);
    CHECK_EQ(now.counts.readers, 0);
    CHECK_EQ(now.counts.lag, 0);
    if (s->args.broadcast.policy != GPURT_BROADCAST_DROP)
        CHECK_EQ(now.counts.lost, 0);
    if (s->args.mode & BROADCAST_CANCELS)
        return;
    CHECK_EQ(now.counts.sent, v.xsent);
    CHECK_EQ(now.refused, v.xrefused);
    CHECK_EQ(v.xread + v.xlost, v.xspan);
    CHECK_EQ(now.counts.received, v.xread);
    CHECK_EQ(now.counts.lost, v.xlost);
    if (!(s->args.mode & BROADCAST_REJOINS))
        CHECK_EQ(v.xspan, readers * v.xsent);
}

static inline void broadcast_storm(uint32_t size, uint32_t capacity, uint32_t policy,
                                   uint32_t mode, uint32_t blocks, uint32_t each)
{
    broadcast_stage_t s = {.launch = {.grid = {blocks, 1, 1}, .block = {64, 1, 1}}};
    uint32_t messages = blocks * 64 * each, readers = blocks * BROADCAST_READING;
    broadcast_verdict_t v = {.xsenders = blocks};

    s.args.broadcast =
        broadcast_named("storm", capacity, broadcast_bytes(size), policy, readers);
    s.args.mode = mode;
    s.args.each = each;
    s.args.readers = (gpurt_reader_t *)stage_zeros(readers * sizeof(gpurt_reader_t));
    s.args.order = (uint32_t *)stage_zeros(messages * sizeof(uint32_t));
    s.args.plain = (uint32_t *)stage_zeros(messages * sizeof(uint32_t));
    s.args.verdict = (broadcast_verdict_t *)stage_zeros(sizeof v);
    v.broadcast = s.args.broadcast;
    OK(gpurt_copy(rt, 0, s.args.verdict, &v, sizeof v, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    broadcast_storm_run(&s, size);
    broadcast_judge(&s, readers);
    broadcast_order_judge(&s, messages);
    OK(gpurt_broadcast_destroy(rt, &s.args.broadcast, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.readers), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.order), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.plain), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.verdict), GPURT_OK);
}

/* ---- games --------------------------------------------------------------------------- */

/* The state: messages so far (their number in the lowest 4 bits, 4 bits each), where the two
 * readers are (4 bits each, one more; 0: it has not joined), and whether it is closed. */
enum {
    CAST_READERS_AT = 36,
    CAST_SHUT_AT = 44
};

typedef struct broadcast_history {
    broadcast_op_t ops[BROADCAST_LANES * BROADCAST_ROUNDS];
    uint32_t count, capacity, policy, seats;
} broadcast_history_t;

static inline uint32_t cast_part(uint64_t state, uint32_t at)
{
    return (uint32_t)(state >> at) & 15u;
}
static inline void cast_set(uint64_t *state, uint32_t at, uint32_t part)
{
    *state = (*state & ~(15ull << at)) | (uint64_t)part << at;
}
static inline bool cast_shut(uint64_t state)
{
    return state >> CAST_SHUT_AT & 1u;
}

/* Messages that the slowest reader has before it. */
static inline uint32_t cast_lag(uint64_t state)
{
    uint32_t lag = 0;

    for (uint32_t i = 0; i < 2; i++) {
        uint32_t at = cast_part(state, CAST_READERS_AT + 4 * i);

        if (at && cast_part(state, 0) - (at - 1) > lag)
            lag = cast_part(state, 0) - (at - 1);
    }
    return lag;
}

static inline bool cast_send_is(const broadcast_history_t *h, const broadcast_op_t *op,
                                uint64_t *state)
{
    uint32_t n = cast_part(*state, 0);
    bool full = h->policy != GPURT_BROADCAST_DROP && cast_lag(*state) >= h->capacity;
    bool shut = cast_shut(*state);

    if (op->answer == GPURT_OK) {
        cast_set(state, 4 + 4 * n, op->value);
        cast_set(state, 0, n + 1);
        return !shut && !full;
    }
    if (op->answer == GPURT_E_FULL || op->answer == GPURT_E_TIMEOUT)
        return !shut && full;
    return op->answer == GPURT_E_CHANNEL_CLOSED && shut;
}

static inline bool cast_join_is(const broadcast_history_t *h, const broadcast_op_t *op,
                                uint64_t *state)
{
    uint32_t mine = CAST_READERS_AT + 4 * (op->lane / 2);
    uint32_t other = CAST_READERS_AT + 4 * (1 - op->lane / 2);

    if (op->answer == GPURT_E_FULL)
        return h->seats == 1 && cast_part(*state, other);
    if (op->answer == GPURT_E_CHANNEL_CLOSED)
        return cast_shut(*state);
    cast_set(state, mine, cast_part(*state, 0) + 1);
    return op->answer == GPURT_OK && !cast_shut(*state) &&
           (h->seats > 1 || !cast_part(*state, other));
}

static inline bool cast_read_is(const broadcast_history_t *h, const broadcast_op_t *op,
                                uint64_t *state)
{
    uint32_t mine = CAST_READERS_AT + 4 * (op->lane / 2), n = cast_part(*state, 0);
    uint32_t at = cast_part(*state, mine) - 1;

    switch (op->answer) {
    case GPURT_OK:
        cast_set(state, mine, at + 2);
        return at < n && cast_part(*state, 4 + 4 * at) == op->value;
    case GPURT_E_DROPPED:
        cast_set(state, mine, at + op->value + 1);
        return h->policy == GPURT_BROADCAST_DROP && op->value > 0 &&
               at + op->value + h->capacity == n;
    case GPURT_E_EMPTY:
    case GPURT_E_TIMEOUT:
        return at == n && !cast_shut(*state);
    default:
        return op->answer == GPURT_E_CHANNEL_CLOSED && at == n && cast_shut(*state);
    }
}

static inline bool broadcast_step_is(const void *history, uint32_t i, uint64_t *state)
{
    const broadcast_history_t *h = (const broadcast_history_t *)history;
    const broadcast_op_t *op = &h->ops[i];
    bool shut = cast_shut(*state);

    switch (op->what) {
    case BROADCAST_OP_SEND:
        return cast_send_is(h, op, state);
    case BROADCAST_OP_JOIN:
        return cast_join_is(h, op, state);
    case BROADCAST_OP_READ:
        return cast_read_is(h, op, state);
    case BROADCAST_OP_LEAVE:
        cast_set(state, CAST_READERS_AT + 4 * (op->lane / 2), 0);
        return op->answer == GPURT_OK;
    default:
        *state |= 1ull << CAST_SHUT_AT;
        return op->answer == (shut ? GPURT_E_CHANNEL_CLOSED : GPURT_OK);
    }
}

static inline linear_span_t broadcast_span(const void *history, uint32_t i)
{
    const broadcast_op_t *op = &((const broadcast_history_t *)history)->ops[i];

    return (linear_span_t){op->begin, op->end};
}

static inline bool broadcast_is_linear(const broadcast_history_t *h)
{
    linear_t l = {h, (1ull << h->count) - 1, broadcast_span, broadcast_step_is};

    return linear_is(&l, 0);
}

static inline void broadcast_history_print(const broadcast_history_t *h)
{
    static const char *const names[] = {"publish", "join", "leave", "read", "close"};

    for (uint32_t i = 0; i < h->count; i++)
        fprintf(stderr, "%4u..%-4u lane %u %s %u: %s\n", h->ops[i].begin, h->ops[i].end,
                h->ops[i].lane, names[h->ops[i].what], h->ops[i].value,
                gpurt_status_name(h->ops[i].answer));
}

static inline void broadcast_game_judge(const broadcast_book_t *book,
                                        const gpurt_broadcast_t *b)
{
    static broadcast_history_t h;

    h = (broadcast_history_t){
        .capacity = b->capacity, .policy = b->policy, .seats = b->readers};
    for (uint32_t i = 0; i < BROADCAST_LANES * BROADCAST_ROUNDS; i++)
        if (book->ops[i / BROADCAST_ROUNDS][i % BROADCAST_ROUNDS].end)
            h.ops[h.count++] = book->ops[i / BROADCAST_ROUNDS][i % BROADCAST_ROUNDS];
    if (!broadcast_is_linear(&h)) {
        broadcast_history_print(&h);
        CHECK_MSG(false, "with %u slots, %u seats and policy %u this cannot have happened",
                  b->capacity, b->readers, b->policy);
    }
}

/* Some games at once, each with a broadcast of its own. */
static inline void broadcast_games(uint32_t games, uint32_t seed)
{
    broadcast_stage_t s = {.launch = {.grid = {games, 1, 1}, .block = {64, 1, 1}},
                           .args = {.seed = seed}};
    gpurt_broadcast_t *all = (gpurt_broadcast_t *)malloc(games * sizeof *all);
    broadcast_book_t book;

    CHECK(all);
    s.args.books = (broadcast_book_t *)stage_zeros(games * sizeof book);
    s.args.games = (gpurt_broadcast_t *)stage_zeros(games * sizeof *all);
    for (uint32_t i = 0; i < games; i++)
        all[i] = broadcast_made(1u << (seed + i) % 3,
                                (seed + i / 2) % GPURT_BROADCAST_POLICIES, 1 + i % 2);
    OK(gpurt_copy(rt, 0, s.args.games, all, games * sizeof *all, &err));
    RUN(&s, broadcast_game);
    for (uint32_t i = 0; i < games; i++) {
        stage_read(&book, &s.args.books[i], sizeof book);
        broadcast_game_judge(&book, &all[i]);
        CHECK_EQ(broadcast_look(&all[i]).counts.readers, 0);
        OK(gpurt_broadcast_destroy(rt, &all[i], &err));
    }
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.books), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.games), GPURT_OK);
    free(all);
}

#endif
