/* SPDX-License-Identifier: Apache-2.0 */
/* segring_stage.h - rings of segments, kernels that use them, and what must be true afterwards. */
#ifndef GPURT_TESTS_SEGRING_STAGE_H
#define GPURT_TESTS_SEGRING_STAGE_H

#include "linear.h"
#include "segring_kernels.h"
#include "stage.h"

#include <gpurt/segrings.h>

GPURT_KERNEL_DECLARE(segring_trace, struct segring_args);
GPURT_KERNEL_DECLARE(segring_storm, struct segring_args);
GPURT_KERNEL_DECLARE(segring_room, struct segring_args);
GPURT_KERNEL_DECLARE(segring_ended, struct segring_args);
GPURT_KERNEL_DECLARE(segring_game, struct segring_args);

typedef struct segring_stage {
    struct segring_args args;
    gpurt_launch_t launch;
} segring_stage_t;

static inline gpurt_segring_t segring_made(uint32_t bytes, uint32_t policy,
                                           uint64_t patience_ns)
{
    const gpurt_segring_options_t o = {
        .bytes = bytes, .policy = policy, .patience_ns = patience_ns, .name = "tested"};
    gpurt_segring_t r;

    OK(gpurt_segring_create(rt, &o, &r, &err));
    return r;
}

/* Whatever was reserved has gone somewhere. */
static inline gpurt_segring_status_t segring_seen(const gpurt_segring_t *r)
{
    gpurt_segring_status_t s;

    OK(gpurt_segring_status(rt, r, &s, &err));
    CHECK_EQ(s.writing, 0);
    CHECK_EQ(s.reading, 0);
    CHECK_EQ(s.counts.reserved, s.counts.read + s.counts.lost + s.counts.torn +
                                    s.counts.aborted + s.counts.depth);
    return s;
}

/* ---- storms -------------------------------------------------------------------------- */

static inline void segring_judge(const segring_stage_t *s)
{
    const gpurt_segring_status_t now = segring_seen(&s->args.ring);
    segring_verdict_t v;

    stage_read(&v, s->args.verdict, sizeof v);
    CHECK_EQ(v.xwrong, 0);
    CHECK_EQ(v.xanswers, 0);
    CHECK_EQ(now.counts.depth, 0);
    CHECK_EQ(now.counts.used, 0);
    CHECK_EQ(now.counts.read, v.xread);
    CHECK_EQ(now.counts.lost, v.xlost);
    CHECK_EQ(now.counts.torn, v.xtorn);
    if (s->args.mode & SEGRING_CANCELS)
        return;
    CHECK_EQ(now.refused, v.xrefused);
    CHECK_EQ(now.counts.reserved, v.xwritten + v.xaborted + v.xforgot);
    if (s->args.ring.policy == GPURT_SEGRING_OVERWRITE)
        return; /* what is torn or aborted may be overwritten before it is met */
    CHECK_EQ(v.xlost, 0);
    CHECK_EQ(v.xread + v.xtorn, v.xwritten + v.xforgot);
    if (!(s->args.mode & SEGRING_FORGETS)) /* else late writers may spoil what is others' */
        CHECK_EQ(v.xread, v.xwritten);
    CHECK_EQ(now.counts.aborted, v.xaborted);
}

static inline void segring_storm_run(uint32_t bytes, uint32_t policy, uint32_t mode,
                                     uint32_t blocks, uint32_t each)
{
    segring_stage_t s = {.launch = {.grid = {blocks, 1, 1}, .block = {64, 1, 1}}};
    uint32_t messages = blocks * 64 * each;
    segring_verdict_t v = {.xwriters = blocks};

    /* Short where some are never committed, else for ever. */
    s.args.ring = segring_made(
        bytes, policy, mode & (SEGRING_FORGETS | SEGRING_CANCELS) ? 20000 : UINT64_MAX);
    s.args.mode = mode;
    s.args.each = each;
    s.args.seen = (uint32_t *)stage_zeros(messages * sizeof(uint32_t));
    s.args.plain = (uint32_t *)stage_zeros(messages * sizeof(uint32_t));
    s.args.verdict = (segring_verdict_t *)stage_zeros(sizeof v);
    v.ring = s.args.ring;
    OK(gpurt_copy(rt, 0, s.args.verdict, &v, sizeof v, &err));
    RUN(&s, segring_storm);
    segring_judge(&s);
    OK(gpurt_segring_destroy(rt, &s.args.ring, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.seen), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.plain), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.verdict), GPURT_OK);
}

static inline void segring_room_run(void)
{
    segring_stage_t s = {.launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}}};
    segring_verdict_t v;

    s.args.ring = segring_made(64, GPURT_SEGRING_BLOCK, UINT64_MAX);
    s.args.verdict = (segring_verdict_t *)stage_zeros(sizeof v);
    RUN(&s, segring_room);
    stage_read(&v, s.args.verdict, sizeof v);
    CHECK_EQ(v.xanswers, 0);
    OK(gpurt_segring_destroy(rt, &s.args.ring, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.verdict), GPURT_OK);
}

/* ---- games --------------------------------------------------------------------------- */

/* The state: segments in it (their number in the lowest 4 bits, then a value of 4 bits each, the
 * oldest first), and whether it is closed. */
enum {
    SEGRING_SHUT_AT = 40
};

typedef struct segring_history {
    segring_op_t ops[SEGRING_LANES * SEGRING_ROUNDS];
    uint32_t count, units;
} segring_history_t;

static inline uint32_t segring_part(uint64_t state, uint32_t i)
{
    return (uint32_t)(state >> 4 * i) & 15u;
}

static inline uint32_t segring_used(uint64_t state)
{
    uint32_t used = 0;

    for (uint32_t i = 1; i <= segring_part(state, 0); i++)
        used += gpurt_segring_units(segring_game_bytes(segring_part(state, i)));
    return used;
}

static inline bool segring_write_is(const segring_history_t *h, const segring_op_t *op,
                                    uint64_t *state)
{
    bool shut = *state >> SEGRING_SHUT_AT;
    bool fits = segring_used(*state) + gpurt_segring_units(segring_game_bytes(op->value)) <=
                h->units;

    if (op->answer == GPURT_E_CHANNEL_CLOSED)
        return shut;
    if (op->answer == GPURT_OK) {
        *state |= (uint64_t)op->value << 4 * (segring_part(*state, 0) + 1);
        *state += 1;
        return !shut && fits;
    }
    return (op->answer == GPURT_E_FULL || op->answer == GPURT_E_TIMEOUT) && !shut && !fits;
}

static inline bool segring_read_is(const segring_op_t *op, uint64_t *state)
{
    uint64_t shut = *state >> SEGRING_SHUT_AT, rest;
    uint32_t n = segring_part(*state, 0), first = segring_part(*state, 1);

    if (op->answer == GPURT_OK) {
        rest = (*state & ((1ull << SEGRING_SHUT_AT) - 1)) >> 8;
        *state = shut << SEGRING_SHUT_AT | rest << 4 | (n - 1);
        return n > 0 && first == op->value;
    }
    if (op->answer == GPURT_E_CHANNEL_CLOSED)
        return shut && n == 0;
    return (op->answer == GPURT_E_EMPTY || op->answer == GPURT_E_TIMEOUT) && !shut &&
           n == 0;
}

static inline bool segring_step_is(const void *history, uint32_t i, uint64_t *state)
{
    const segring_history_t *h = (const segring_history_t *)history;
    const segring_op_t *op = &h->ops[i];
    bool shut = *state >> SEGRING_SHUT_AT;

    if (op->what == SEGRING_OP_WRITE)
        return segring_write_is(h, op, state);
    if (op->what == SEGRING_OP_READ)
        return segring_read_is(op, state);
    *state |= 1ull << SEGRING_SHUT_AT;
    return op->answer == (shut ? GPURT_E_CHANNEL_CLOSED : GPURT_OK);
}

static inline linear_span_t segring_span(const void *history, uint32_t i)
{
    const segring_op_t *op = &((const segring_history_t *)history)->ops[i];

    return (linear_span_t){op->begin, op->end};
}

static inline bool segring_is_linear(const segring_history_t *h)
{
    linear_t l = {h, (1ull << h->count) - 1, segring_span, segring_step_is};

    return linear_is(&l, 0);
}

/* A read may be told to wait for a segment that is being written: then a write is under way. */
static inline bool segring_is_excused(const segring_book_t *book, const segring_op_t *op)
{
    if (op->what != SEGRING_OP_READ ||
        (op->answer != GPURT_E_NOT_READY && op->answer != GPURT_E_TIMEOUT))
        return false;
    for (uint32_t i = 0; i < SEGRING_LANES * SEGRING_ROUNDS; i++) {
        const segring_op_t *other = &book->ops[i / SEGRING_ROUNDS][i % SEGRING_ROUNDS];

        if (other->what == SEGRING_OP_WRITE && other->end > op->begin &&
            other->begin < op->end)
            return true;
    }
    return false;
}

static inline void segring_game_judge(const segring_book_t *book, const gpurt_segring_t *r)
{
    static const char *const names[] = {"write", "read", "close"};
    static segring_history_t h;

    h = (segring_history_t){.units = r->units};
    for (uint32_t i = 0; i < SEGRING_LANES * SEGRING_ROUNDS; i++) {
        const segring_op_t *op = &book->ops[i / SEGRING_ROUNDS][i % SEGRING_ROUNDS];

        if (op->end && !segring_is_excused(book, op))
            h.ops[h.count++] = *op;
    }
    if (segring_is_linear(&h))
        return;
    for (uint32_t i = 0; i < h.count; i++)
        fprintf(stderr, "%4u..%-4u lane %u %s %u: %s\n", h.ops[i].begin, h.ops[i].end,
                h.ops[i].lane, names[h.ops[i].what], h.ops[i].value,
                gpurt_status_name(h.ops[i].answer));
    CHECK_MSG(false, "with %u units this cannot have happened", r->units);
}

/* Some games at once, each with a ring of its own. */
static inline void segring_games(uint32_t games, uint32_t seed)
{
    segring_stage_t s = {.launch = {.grid = {games, 1, 1}, .block = {64, 1, 1}},
                         .args = {.seed = seed}};
    gpurt_segring_t *all = (gpurt_segring_t *)malloc(games * sizeof *all);
    segring_book_t book;

    CHECK(all);
    s.args.books = (segring_book_t *)stage_zeros(games * sizeof book);
    s.args.games = (gpurt_segring_t *)stage_zeros(games * sizeof *all);
    for (uint32_t i = 0; i < games; i++)
        all[i] = segring_made(128u << (seed + i) % 2, (seed + i / 2) % 2, UINT64_MAX);
    OK(gpurt_copy(rt, 0, s.args.games, all, games * sizeof *all, &err));
    RUN(&s, segring_game);
    for (uint32_t i = 0; i < games; i++) {
        stage_read(&book, &s.args.books[i], sizeof book);
        segring_game_judge(&book, &all[i]);
        (void)segring_seen(&all[i]);
        OK(gpurt_segring_destroy(rt, &all[i], &err));
    }
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.books), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.games), GPURT_OK);
    free(all);
}

#endif
