/* SPDX-License-Identifier: Apache-2.0 */
/* channel_stage.h - channels, kernels that use them, and what must be true afterwards. */
#ifndef GPURT_TESTS_CHANNEL_STAGE_H
#define GPURT_TESTS_CHANNEL_STAGE_H

#include "channel_kernels.h"
#include "linear.h"
#include "stage.h"

#include <gpurt/channels.h>

GPURT_KERNEL_DECLARE(channel_trace, struct channel_args);
GPURT_KERNEL_DECLARE(channel_cut, struct channel_cut_args);
GPURT_KERNEL_DECLARE(channel_storm_word, struct channel_args);
GPURT_KERNEL_DECLARE(channel_storm_pair, struct channel_args);
GPURT_KERNEL_DECLARE(channel_storm_card, struct channel_args);
GPURT_KERNEL_DECLARE(channel_storm_page, struct channel_args);
GPURT_KERNEL_DECLARE(channel_storm_sheet, struct channel_args);
GPURT_KERNEL_DECLARE(channel_pipe_word, struct channel_args);
GPURT_KERNEL_DECLARE(channel_pipe_pair, struct channel_args);
GPURT_KERNEL_DECLARE(channel_pipe_card, struct channel_args);
GPURT_KERNEL_DECLARE(channel_pipe_page, struct channel_args);
GPURT_KERNEL_DECLARE(channel_pipe_sheet, struct channel_args);
GPURT_KERNEL_DECLARE(channel_cancelled, struct channel_args);
GPURT_KERNEL_DECLARE(channel_in_order, struct channel_urgent_args);
GPURT_KERNEL_DECLARE(channel_storm_urgent, struct channel_urgent_args);
GPURT_KERNEL_DECLARE(channel_half, struct channel_args);
GPURT_KERNEL_DECLARE(channel_game, struct channel_args);
GPURT_KERNEL_DECLARE(channel_knot, struct channel_knot_args);

typedef struct channel_stage {
    struct channel_args args;
    gpurt_launch_t launch;
} channel_stage_t;

static inline gpurt_channel_t channel_named(const char *name, uint32_t capacity,
                                            uint32_t bytes, uint32_t policy, uint32_t flags)
{
    const uint32_t granted = capacity < CHANNEL_WIDE ? 1 : capacity;
    const gpurt_channel_options_t o = {.capacity = capacity,
                                       .bytes = bytes,
                                       .policy = policy,
                                       .flags = flags,
                                       .name = name,
                                       .credits =
                                           flags & GPURT_CHANNEL_GRANTED ? granted : 0};
    gpurt_channel_t c;

    OK(gpurt_channel_create(rt, &o, &c, &err));
    return c;
}

static inline gpurt_channel_t channel_made(uint32_t capacity, uint32_t bytes,
                                           uint32_t policy, uint32_t flags)
{
    return channel_named("tested", capacity, bytes, policy, flags);
}

static inline gpurt_channel_status_t channel_look(const gpurt_channel_t *c)
{
    gpurt_channel_status_t s;

    OK(gpurt_channel_status(rt, c, &s, &err));
    CHECK_EQ(s.counts.sent, s.counts.received + s.counts.dropped + s.counts.depth);
    CHECK_EQ(s.counts.dropped, s.dropped_newest + s.dropped_oldest);
    CHECK_EQ(s.sending, 0);
    CHECK_EQ(s.receiving, 0);
    return s;
}

/* ---- storms -------------------------------------------------------------------------- */

enum {
    CHANNEL_SIZES = 5
};

static inline uint32_t channel_bytes(uint32_t size)
{
    static const uint32_t bytes[CHANNEL_SIZES] = {
        sizeof(uint32_t), sizeof(channel_pair_t), sizeof(channel_card_t),
        sizeof(channel_page_t), sizeof(channel_sheet_t)};

    return bytes[size];
}

static inline void channel_storm_run(channel_stage_t *s, uint32_t size)
{
    static const gpurt_kernel_t *const kernels[2][CHANNEL_SIZES] = {
        {&gpurt_kernel_channel_storm_word, &gpurt_kernel_channel_storm_pair,
         &gpurt_kernel_channel_storm_card, &gpurt_kernel_channel_storm_page,
         &gpurt_kernel_channel_storm_sheet},
        {&gpurt_kernel_channel_pipe_word, &gpurt_kernel_channel_pipe_pair,
         &gpurt_kernel_channel_pipe_card, &gpurt_kernel_channel_pipe_page,
         &gpurt_kernel_channel_pipe_sheet}};
    const bool pair = s->args.channel.flags & GPURT_CHANNEL_PAIR;

    OK(gpurt_launch_kernel(rt, &s->launch, kernels[pair][size], &s->args, sizeof s->args,
                           &err));
    OK(gpurt_sync(rt, &err));
}

/* What was received was sent once, and nothing else; what is missing was dropped, or refused. */
static inline void channel_judge(channel_stage_t *s, uint32_t messages)
{
    uint32_t *seen = (uint32_t *)malloc(messages * sizeof *seen);
    channel_verdict_t v;
    gpurt_channel_status_t now = channel_look(&s->args.channel);
    uint64_t received = 0;

    CHECK(seen);
    stage_read(&v, s->args.verdict, sizeof v);
    stage_read(seen, s->args.seen, messages * sizeof *seen);
    for (uint32_t i = 0; i < messages; i++) {
        CHECK_MSG(seen[i] <= 1, "message %u was received %u times", i, seen[i]);
        received += seen[i];
    }
    CHECK_EQ(v.xwrong, 0);
    CHECK_EQ(v.xanswers, 0);
    CHECK_EQ(received, v.xreceived);
    CHECK_EQ(now.counts.received, v.xreceived);
    CHECK_EQ(now.counts.depth, 0);
    if (!(s->args.mode & CHANNEL_CANCELS)) {
        CHECK_EQ(now.counts.sent, v.xsent + v.xdropped);
        CHECK_EQ(now.refused, v.xrefused);
    }
    free(seen);
}

static inline void channel_storm(uint32_t size, uint32_t capacity, uint32_t policy,
                                 uint32_t flags, uint32_t mode, gpurt_launch_t launch,
                                 uint32_t each)
{
    channel_stage_t s = {.launch = launch};
    uint32_t messages = launch.grid.x * launch.block.x * each;
    channel_verdict_t v = {.xsenders = launch.grid.x * ((launch.block.x + 63) / 64)};

    s.args.channel = channel_made(capacity, channel_bytes(size), policy, flags);
    s.args.mode = mode;
    s.args.each = each;
    s.args.seen = (uint32_t *)stage_zeros(messages * sizeof(uint32_t));
    s.args.plain = (uint32_t *)stage_zeros(messages * sizeof(uint32_t));
    s.args.verdict = (channel_verdict_t *)stage_zeros(sizeof(channel_verdict_t));
    v.channel = s.args.channel;
    OK(gpurt_copy(rt, 0, s.args.verdict, &v, sizeof v, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    channel_storm_run(&s, size);
    channel_judge(&s, messages);
    OK(gpurt_channel_destroy(rt, &s.args.channel, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.seen), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.plain), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.verdict), GPURT_OK);
}

/* ---- several, the most urgent first ---------------------------------------------------- */

typedef struct channel_urgent_stage {
    struct channel_urgent_args args;
    gpurt_launch_t launch;
} channel_urgent_stage_t;

static inline channel_urgent_stage_t channel_urgent_open(gpurt_launch_t launch)
{
    channel_urgent_stage_t s = {.launch = launch};

    for (uint32_t i = 0; i < CHANNEL_URGENCIES; i++)
        OK(gpurt_make_channel(rt, &s.args.lanes[i], NULL, &err));
    s.args.verdict = (channel_verdict_t *)stage_zeros(sizeof(channel_verdict_t));
    return s;
}

static inline channel_verdict_t channel_urgent_close(channel_urgent_stage_t *s)
{
    channel_verdict_t v;

    stage_read(&v, s->args.verdict, sizeof v);
    CHECK_EQ(v.xanswers, 0);
    for (uint32_t i = 0; i < CHANNEL_URGENCIES; i++) {
        CHECK_EQ(channel_look(&s->args.lanes[i].channel).counts.depth, 0);
        OK(gpurt_channel_destroy(rt, &s->args.lanes[i].channel, &err));
    }
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.verdict), GPURT_OK);
    return v;
}

static inline void channel_urgent_storm(gpurt_launch_t launch)
{
    channel_urgent_stage_t s = channel_urgent_open(launch);

    RUN(&s, channel_storm_urgent);
    CHECK_EQ(channel_urgent_close(&s).xreceived,
             (uint64_t)launch.grid.x * launch.block.x / 2 * CHANNEL_URGENT_EACH);
}

/* ---- games --------------------------------------------------------------------------- */

/* A queue of at most six small values: their number, the room of senders and whether it is closed,
 * then the values, the oldest lowest. The room is the limit; where credits are granted, those that
 * are left, and the limit has bits of its own. */
enum {
    CHANNEL_QUEUE_DEPTH = 0x7,
    CHANNEL_QUEUE_ROOM = 0x8, /* times up to eight */
    CHANNEL_QUEUE_SHUT = 0x80
};
#define CHANNEL_QUEUE_LIMIT (1ull << 56) /* times up to eight; of credits */

typedef struct channel_history {
    channel_op_t ops[CHANNEL_LANES * CHANNEL_ROUNDS + CHANNEL_REST];
    uint32_t count, capacity;
    bool granted; /* credits, one at first */
} channel_history_t;

static inline uint32_t channel_queue_room(uint64_t state)
{
    return (uint32_t)(state & (CHANNEL_QUEUE_SHUT - 1)) / CHANNEL_QUEUE_ROOM;
}

static inline bool channel_send_is(const channel_history_t *h, const channel_op_t *op,
                                   uint64_t *state)
{
    uint32_t depth = *state & CHANNEL_QUEUE_DEPTH, shut = *state & CHANNEL_QUEUE_SHUT;
    uint32_t room = channel_queue_room(*state);
    bool full = h->granted ? room == 0 : depth >= room;

    switch (op->answer) {
    case GPURT_OK:
        *state += 1 + ((uint64_t)op->value << (8 + 8 * depth));
        *state -= h->granted ? CHANNEL_QUEUE_ROOM : 0;
        return !shut && !full;
    case GPURT_E_FULL:
        return !shut && full;
    case GPURT_E_TIMEOUT:
        return !shut && full;
    default:
        return op->answer == GPURT_E_CHANNEL_CLOSED && shut;
    }
}

static inline bool channel_receive_is(const channel_op_t *op, uint64_t *state)
{
    uint32_t depth = *state & CHANNEL_QUEUE_DEPTH, shut = *state & CHANNEL_QUEUE_SHUT;
    uint32_t first = (uint32_t)(*state >> 8) & 0xff;

    switch (op->answer) {
    case GPURT_OK:
        *state = *state / CHANNEL_QUEUE_LIMIT * CHANNEL_QUEUE_LIMIT |
                 *state % CHANNEL_QUEUE_LIMIT >> 16 << 8 | ((*state & 0xff) - 1);
        return depth > 0 && first == op->value;
    case GPURT_E_EMPTY:
    case GPURT_E_TIMEOUT:
        return !shut && depth == 0;
    default:
        return op->answer == GPURT_E_CHANNEL_CLOSED && shut && depth == 0;
    }
}

/* One that was short of room may have missed that of a receive in the middle of its call. */
static inline bool channel_grant_is(const channel_op_t *op, uint64_t *state)
{
    uint32_t asked = op->value & 0xff, done = op->value >> 8;
    uint32_t depth = *state & CHANNEL_QUEUE_DEPTH;
    bool fits = done == 0 ||
                channel_queue_room(*state) + depth + done <= *state / CHANNEL_QUEUE_LIMIT;

    *state += (uint64_t)done * CHANNEL_QUEUE_ROOM;
    return fits && op->answer == (done == asked ? GPURT_OK : GPURT_E_FULL);
}

static inline bool channel_resize_is(const channel_history_t *h, const channel_op_t *op,
                                     uint64_t *state)
{
    if (h->granted) {
        *state %= CHANNEL_QUEUE_LIMIT;
        *state += op->value * CHANNEL_QUEUE_LIMIT;
    } else {
        *state &= ~(uint64_t)(CHANNEL_QUEUE_SHUT - CHANNEL_QUEUE_ROOM);
        *state += (uint64_t)op->value * CHANNEL_QUEUE_ROOM;
    }
    return op->answer == GPURT_OK;
}

static inline bool channel_step_is(const void *history, uint32_t i, uint64_t *state)
{
    const channel_history_t *h = (const channel_history_t *)history;
    const channel_op_t *op = &h->ops[i];
    bool shut = *state & CHANNEL_QUEUE_SHUT;

    if (op->what == CHANNEL_OP_SEND)
        return channel_send_is(h, op, state);
    if (op->what == CHANNEL_OP_RECEIVE)
        return channel_receive_is(op, state);
    if (op->what != CHANNEL_OP_CLOSE && shut)
        return op->answer == GPURT_E_CHANNEL_CLOSED;
    if (op->what == CHANNEL_OP_GRANT)
        return channel_grant_is(op, state);
    if (op->what == CHANNEL_OP_RESIZE)
        return channel_resize_is(h, op, state);
    *state |= CHANNEL_QUEUE_SHUT;
    return op->answer == (shut ? GPURT_E_CHANNEL_CLOSED : GPURT_OK);
}

static inline linear_span_t channel_span(const void *history, uint32_t i)
{
    const channel_op_t *op = &((const channel_history_t *)history)->ops[i];

    return (linear_span_t){op->begin, op->end};
}

static inline bool channel_is_linear(const channel_history_t *h)
{
    linear_t l = {h, (1ull << h->count) - 1, channel_span, channel_step_is};

    if (h->granted)
        return linear_is(&l, CHANNEL_QUEUE_ROOM + h->capacity * CHANNEL_QUEUE_LIMIT);
    return linear_is(&l, (uint64_t)h->capacity * CHANNEL_QUEUE_ROOM);
}

static inline void channel_history_print(const channel_history_t *h)
{
    static const char *const names[] = {"send", "receive", "close", "grant", "resize"};

    for (uint32_t i = 0; i < h->count; i++)
        fprintf(stderr, "%4u..%-4u lane %u %s %u: %s\n", h->ops[i].begin, h->ops[i].end,
                h->ops[i].lane, names[h->ops[i].what], h->ops[i].value,
                gpurt_status_name(h->ops[i].answer));
}

static inline void channel_game_judge(const channel_book_t *book, const gpurt_channel_t *c)
{
    static channel_history_t h;

    h.count = 0;
    h.capacity = c->capacity;
    h.granted = gpurt_channel_is_granted(c);
    for (uint32_t i = 0; i < CHANNEL_LANES * CHANNEL_ROUNDS; i++)
        if (book->ops[i / CHANNEL_ROUNDS][i % CHANNEL_ROUNDS].end) /* a pair has less */
            h.ops[h.count++] = book->ops[i / CHANNEL_ROUNDS][i % CHANNEL_ROUNDS];
    memcpy(h.ops + h.count, book->rest, sizeof book->rest);
    h.count += book->rest_count;
    if (!channel_is_linear(&h)) {
        channel_history_print(&h);
        CHECK_MSG(false,
                  "with %u slots and flags 0x%x this cannot have happened in any order",
                  c->capacity, c->flags);
    }
}

/* Some games at once, each with a channel of its own. */
static inline void channel_games(uint32_t games, uint32_t seed, uint32_t flags)
{
    channel_stage_t s = {.launch = {.grid = {games, 1, 1}, .block = {64, 1, 1}},
                         .args = {.seed = seed}};
    gpurt_channel_t *channels = (gpurt_channel_t *)malloc(games * sizeof *channels);
    channel_book_t book;

    CHECK(channels);
    s.args.books = (channel_book_t *)stage_zeros(games * sizeof(channel_book_t));
    s.args.games = (gpurt_channel_t *)stage_zeros(games * sizeof(gpurt_channel_t));
    for (uint32_t i = 0; i < games; i++)
        channels[i] = channel_made(1u << (seed + i) % 3, sizeof(uint32_t), 0, flags);
    OK(gpurt_copy(rt, 0, s.args.games, channels, games * sizeof *channels, &err));
    RUN(&s, channel_game);
    for (uint32_t i = 0; i < games; i++) {
        stage_read(&book, &s.args.books[i], sizeof book);
        channel_game_judge(&book, &channels[i]);
        channel_look(&channels[i]);
        OK(gpurt_channel_destroy(rt, &channels[i], &err));
    }
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.books), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.games), GPURT_OK);
    free(channels);
}

#endif
