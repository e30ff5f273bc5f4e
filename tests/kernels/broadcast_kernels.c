/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 8
#include "broadcast_kernels.h"

#include "holding.h"

#include <gpurt/defer.h>
#include <gpurt/device.h>
#include <gpurt/panic.h>

/* ---- a list of calls ----------------------------------------------------------------- */

GPURT_DEVN int32_t broadcast_reads(cast_word_reader_t *r, broadcast_step_t *s)
{
    cast_word_reader_t *none = r;
    uint32_t half = 0;

    switch (s->what) {
    case BROADCAST_READ:
        return gpurt_reader_read(r, &s->found);
    case BROADCAST_READ_FOR:
        return gpurt_reader_read_for(r, &s->found, 2000);
    case BROADCAST_TRY_READ:
        return gpurt_reader_try_read(r, &s->found);
    case BROADCAST_READ_SHORT:
        return gpurt_reader_run(&none->reader, &half, GPURT_CHANNEL_SHAPE_(&half), 0, NULL,
                                GPURT_HERE);
    case BROADCAST_LAG:
        s->found = gpurt_reader_lag(r);
        return GPURT_OK;
    case BROADCAST_LOST:
        s->found = gpurt_reader_lost(r);
        return GPURT_OK;
    default:
        return gpurt_reader_leave(r);
    }
}

GPURT_DEVN int32_t broadcast_do(const struct broadcast_args *p, broadcast_step_t *s)
{
    cast_word_t b;
    cast_word_reader_t r;
    uint32_t half = 0;
    int32_t answer;

    b.broadcast = p->broadcast;
    r.reader = p->readers[s->what == BROADCAST_COPY ? s->value : s->who];
    switch (s->what) {
    case BROADCAST_PUBLISH:
        return gpurt_publish(&b, &s->value);
    case BROADCAST_PUBLISH_FOR:
        return gpurt_publish_for(&b, &s->value, 2000);
    case BROADCAST_TRY_PUBLISH:
        return gpurt_try_publish(&b, &s->value);
    case BROADCAST_PUBLISH_SHORT:
        return gpurt_broadcast_publish_at(&p->broadcast, &half, GPURT_CHANNEL_SHAPE_(&half),
                                          0, NULL, GPURT_HERE);
    case BROADCAST_CLOSE:
        return gpurt_broadcast_close(&p->broadcast);
    case BROADCAST_JOIN:
        answer = gpurt_reader_join(&b, &r);
        break;
    case BROADCAST_COPY:
        answer = GPURT_OK;
        break;
    default:
        answer = broadcast_reads(&r, s);
    }
    p->readers[s->who] = r.reader;
    return answer;
}

/* One lane does what the list says, in order. */
GPURT_KERNEL(broadcast_trace, struct broadcast_args, p)
{
    for (uint32_t i = 0; gpurt_global_id() == 0 && i < p->step_count; i++)
        p->steps[i].answer = broadcast_do(p, &p->steps[i]);
}

/* ---- storms -------------------------------------------------------------------------- */

GPURT_DEV uint32_t broadcast_pattern(uint64_t id, uint32_t i)
{
    return (uint32_t)id * 2654435761u + i * 40503u;
}

GPURT_DEV void broadcast_blame(uint32_t *what)
{
    gpurt_red_add_relaxed_dev_u32(what, 1);
}

/* Which message it is; UINT64_MAX: not all of it is that one's. */
GPURT_DEV uint64_t broadcast_id(const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (words[i] != broadcast_pattern(words[0], i))
            return UINT64_MAX;
    return words[0];
}

/* All readers find the same message behind a ticket, and what its sender wrote before. */
GPURT_DEVN void broadcast_check(const struct broadcast_args *p, uint64_t ticket,
                                uint64_t id)
{
    uint32_t found = 0;

    if (id >= (uint64_t)gpurt_grid_blocks() * gpurt_block_threads() * p->each ||
        p->plain[id] != broadcast_pattern(id, 77)) {
        broadcast_blame(&p->verdict->xwrong);
        return;
    }
    /* relaxed: an order of numbers */
    if (!gpurt_cas_relaxed_dev_u32(&p->order[ticket], &found, (uint32_t)id + 1) &&
        found != (uint32_t)id + 1)
        broadcast_blame(&p->verdict->xwrong);
}

/* The last of all warps that publish closes, and so does one that is cancelled. */
GPURT_DEVN void broadcast_sender_ends(uint64_t arg)
{
    broadcast_verdict_t *v = (broadcast_verdict_t *)(uintptr_t)arg;

    if (gpurt_sub_relaxed_dev_u32(&v->xsenders, 1) > 1)
        return;
    v->farewell = 1;
    if (gpurt_broadcast_close(&v->broadcast) != GPURT_OK)
        broadcast_blame(&v->xanswers);
}

GPURT_DEVN void broadcast_reader_ends(uint64_t arg)
{
    (void)gpurt_reader_quit((gpurt_reader_t *)(uintptr_t)arg);
}

/* What a reader has had since it joined. */
GPURT_DEVN void broadcast_sum(const struct broadcast_args *p, const gpurt_reader_t *r,
                              uint64_t joined, uint64_t lost)
{
    gpurt_red_add_relaxed_dev_u64(&p->verdict->xspan, r->next - joined);
    gpurt_red_add_relaxed_dev_u64(&p->verdict->xlost, lost);
}

GPURT_DEV bool broadcast_cancels(const struct broadcast_args *p, uint32_t i)
{
    return (p->mode & BROADCAST_CANCELS) && gpurt_block_x() % 2 && i == p->each / 2;
}

#define BROADCAST_STORM(kind, type, count)                                                 \
    GPURT_BROADCAST(cast_any_##kind, type, 64);                                            \
    GPURT_DEVN int32_t broadcast_send_##kind(const struct broadcast_args *p, uint64_t id)  \
    {                                                                                      \
        uint32_t w[count] = {(uint32_t)id};                                                \
        cast_any_##kind##_t b;                                                             \
        type m;                                                                            \
                                                                                           \
        for (uint32_t i = 1; i < (count); i++)                                             \
            w[i] = broadcast_pattern(id, i);                                               \
        __builtin_memcpy(&m, w, sizeof m);                                                 \
        p->plain[id] = broadcast_pattern(id, 77);                                          \
        b.broadcast = p->broadcast;                                                        \
        return p->mode & BROADCAST_TRIES ? gpurt_try_publish(&b, &m)                       \
                                         : gpurt_publish(&b, &m);                          \
    }                                                                                      \
    GPURT_DEVN void broadcast_sends_##kind(const struct broadcast_args *p)                 \
    {                                                                                      \
        uint64_t first = (uint64_t)gpurt_global_id() * p->each;                            \
        broadcast_verdict_t *v = p->verdict;                                               \
                                                                                           \
        (void)gpurt_defer(GPURT_FULL_MASK, broadcast_sender_ends, (uint64_t)(uintptr_t)v); \
        while (gpurt_load_relaxed_dev_u32(&v->xready) <                                    \
               gpurt_grid_blocks() * BROADCAST_READING)                                    \
            gpurt_relax();                                                                 \
        for (uint32_t i = 0; i < p->each; i++) {                                           \
            int32_t answer = broadcast_send_##kind(p, first + i);                          \
                                                                                           \
            if (answer == GPURT_OK)                                                        \
                gpurt_red_add_relaxed_dev_u64(&v->xsent, 1);                               \
            else if (answer == GPURT_E_FULL)                                               \
                gpurt_red_add_relaxed_dev_u64(&v->xrefused, 1);                            \
            else                                                                           \
                broadcast_blame(&v->xanswers);                                             \
            if (broadcast_cancels(p, i))                                                   \
                gpurt_cancel_block();                                                      \
            gpurt_cancel_point();                                                          \
        }                                                                                  \
        gpurt_syncwarp(GPURT_FULL_MASK); /* all have sent */                               \
        (void)gpurt_undefer(GPURT_FULL_MASK, true);                                        \
    }                                                                                      \
    GPURT_DEVN int32_t broadcast_reads_##kind(const struct broadcast_args *p,              \
                                              cast_any_##kind##_reader_t *r)               \
    {                                                                                      \
        uint64_t joined = r->reader.next;                                                  \
        uint32_t w[count], read = 0;                                                       \
        int32_t answer = GPURT_OK;                                                         \
        type m;                                                                            \
                                                                                           \
        while (answer == GPURT_OK || answer == GPURT_E_DROPPED) {                          \
            answer = gpurt_reader_read(r, &m);                                             \
            if (answer == GPURT_OK) {                                                      \
                read++;                                                                    \
                __builtin_memcpy(w, &m, sizeof w);                                         \
                broadcast_check(p, r->reader.next - 1, broadcast_id(w, count));            \
            }                                                                              \
            if ((p->mode & BROADCAST_REJOINS) && read > 2)                                 \
                break;                                                                     \
        }                                                                                  \
        gpurt_red_add_relaxed_dev_u64(&p->verdict->xread, read);                           \
        broadcast_sum(p, &r->reader, joined, gpurt_reader_lost(r));                        \
        return answer;                                                                     \
    }                                                                                      \
    /* The second warp of a block reads until it is closed, the first one publishes. */    \
    GPURT_KERNEL(broadcast_storm_##kind, struct broadcast_args, p)                         \
    {                                                                                      \
        cast_any_##kind##_reader_t *r;                                                     \
        int32_t answer = GPURT_OK;                                                         \
        cast_any_##kind##_t b;                                                             \
                                                                                           \
        if (gpurt_warp() == 0) {                                                           \
            broadcast_sends_##kind(p);                                                     \
            return;                                                                        \
        }                                                                                  \
        if (gpurt_lane() >= BROADCAST_READING)                                             \
            return;                                                                        \
        r = (cast_any_##kind##_reader_t *)(void *)(p->readers +                            \
                                                   gpurt_block_x() * BROADCAST_READING +   \
                                                   gpurt_lane());                          \
        b.broadcast = p->broadcast;                                                        \
        (void)GPURT_DEFER(broadcast_reader_ends, (uint64_t)(uintptr_t)&r->reader);         \
        for (uint32_t i = 0; answer == GPURT_OK || answer == GPURT_E_DROPPED; i++) {       \
            answer = gpurt_reader_join(&b, r);                                             \
            if (i == 0) /* relaxed: the senders' words are the messages */                 \
                gpurt_red_add_relaxed_dev_u32(&p->verdict->xready, 1);                     \
            if (answer == GPURT_OK)                                                        \
                answer = broadcast_reads_##kind(p, r);                                     \
            (void)gpurt_reader_leave(r);                                                   \
        }                                                                                  \
        if (answer != GPURT_E_CHANNEL_CLOSED || !p->verdict->farewell)                     \
            broadcast_blame(&p->verdict->xanswers);                                        \
        (void)gpurt_undefer(1u << gpurt_lane(), false);                                    \
    }
BROADCAST_STORM(one, uint32_t, 1)
BROADCAST_STORM(word, uint64_t, 2)
BROADCAST_STORM(card, cast_card_t, 10)
BROADCAST_STORM(page, cast_page_t, 25)

/* ---- cancelled, or in a panic, in the middle ------------------------------------------- */

/* Warp 0 publishes into what is full, warp 1 waits for what nobody publishes (mode: a
 * broadcast of its own), and warp 2 ends them all: it cancels, or panics. */
GPURT_KERNEL(broadcast_ended, struct broadcast_args, p)
{
    cast_word_t b;
    cast_word_reader_t r;
    uint64_t m = 1;

    b.broadcast = p->games[gpurt_warp() == 1];
    if (gpurt_warp() == 1 && gpurt_lane() > 1)
        return;
    if (gpurt_warp() == 2) {
        for (uint32_t i = 0; i < 60; i++)
            gpurt_relax();
        if (p->mode && gpurt_lane() == 0)
            GPURT_PANIC("in the middle");
        gpurt_cancel_block();
        return;
    }
    if (gpurt_warp() == 0) {
        while (gpurt_publish(&b, &m) == GPURT_OK)
            gpurt_cancel_point();
    } else if (gpurt_reader_join(&b, &r) == GPURT_OK) {
        (void)gpurt_reader_read(&r, &m);
    }
    broadcast_blame(&p->verdict->xanswers); /* it should have left */
}

/* ---- halves of calls ------------------------------------------------------------------ */

/* Up to the middle of a call. Returns: what the other half needs. */
GPURT_DEVN uint64_t broadcast_half_begin(const struct broadcast_args *p, gpurt_reader_t *r)
{
    uint64_t found = 0;

    if (p->mode >= BROADCAST_HALF_PUBLISH) {
        if (gpurt_broadcast_draw(&p->broadcast, 1, &found) != 1)
            broadcast_blame(&p->verdict->xanswers);
    } else if (gpurt_reader_seat(&p->broadcast, r, &found) != GPURT_OK) {
        broadcast_blame(&p->verdict->xanswers);
    }
    return found;
}

GPURT_DEVN void broadcast_half_end(const struct broadcast_args *p, gpurt_reader_t *r,
                                   uint64_t found)
{
    uint64_t m = 9;

    if (p->mode >= BROADCAST_HALF_PUBLISH)
        gpurt_broadcast_put(&p->broadcast, 1, true, found, &m, GPURT_CHANNEL_SHAPE_(&m));
    else
        gpurt_reader_sit(r, found);
}

/* What another lane is told meanwhile; there is one slot, and one seat. */
GPURT_DEVN bool broadcast_half_other(const struct broadcast_args *p)
{
    cast_word_reader_t r;
    cast_word_t b;
    uint64_t m = 7;

    b.broadcast = p->broadcast;
    r.reader = p->readers[0];
    switch (p->mode) {
    case BROADCAST_HALF_JOIN:
        return gpurt_publish(&b, &m) == GPURT_OK &&
               gpurt_try_publish(&b, &m) == GPURT_E_FULL;
    case BROADCAST_HALF_JOIN_OTHER:
        return gpurt_reader_join(&b, &r) == GPURT_E_FULL;
    case BROADCAST_HALF_PUBLISH:
        return gpurt_publish(&b, &m) == GPURT_OK;
    default:
        return gpurt_reader_try_read(&r, &m) == GPURT_OK && m == 9;
    }
}

/* It is not told before the first lane went on: what it is told would not be so. */
GPURT_KERNEL(broadcast_half, struct broadcast_args, p)
{
    broadcast_verdict_t *v = p->verdict;
    gpurt_reader_t r;
    uint64_t found;

    if (gpurt_lane() > 0)
        return;
    if (gpurt_warp() == 0) {
        found = broadcast_half_begin(p, &r);
        gpurt_store_relaxed_dev_u32(&v->xsenders, 1); /* relaxed: the words are atomics */
        for (uint32_t i = 0; i < 300; i++)
            gpurt_relax();
        gpurt_store_relaxed_dev_u32(&v->xsenders, 2);
        broadcast_half_end(p, &r, found);
        return;
    }
    while (gpurt_load_relaxed_dev_u32(&v->xsenders) == 0)
        gpurt_relax();
    if (!broadcast_half_other(p) || gpurt_load_relaxed_dev_u32(&v->xsenders) != 2)
        broadcast_blame(&v->xanswers);
}

/* A lane reads while it is in the middle of overwriting what it reads: all lines but the first. */
GPURT_KERNEL(broadcast_torn, struct broadcast_args, p)
{
    cast_card_t old = {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
                new_one = {{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}};
    const char *from = (const char *)&new_one;
    const gpurt_broadcast_t *b = &p->broadcast;
    uint64_t ticket = 0;
    cast_any_card_reader_t r;
    cast_any_card_t all;
    bool fine;

    if (gpurt_lane() > 0)
        return;
    all.broadcast = *b;
    fine = gpurt_reader_join(&all, &r) == GPURT_OK &&
           gpurt_publish(&all, &old) == GPURT_OK &&
           gpurt_broadcast_draw(b, 1, &ticket) == 1;
    for (uint32_t i = gpurt_broadcast_lines(sizeof old) - 1; i > 0; i--)
        gpurt_store_relaxed_dev_u128(
            gpurt_broadcast_slot(b, ticket) + i,
            gpurt_broadcast_line(from, sizeof old, i, gpurt_broadcast_turn(b, ticket)));
    fine = fine && gpurt_reader_try_read(&r, &old) == GPURT_E_DROPPED;
    gpurt_store_relaxed_dev_u128(
        gpurt_broadcast_slot(b, ticket),
        gpurt_broadcast_line(from, sizeof old, 0, gpurt_broadcast_turn(b, ticket)));
    fine = fine && gpurt_reader_try_read(&r, &old) == GPURT_OK && old.words[0] == 2 &&
           old.words[9] == 2 && gpurt_reader_leave(&r) == GPURT_OK;
    if (!fine)
        broadcast_blame(&p->verdict->xanswers);
}

/* ---- games --------------------------------------------------------------------------- */

GPURT_DEV uint32_t broadcast_tick(broadcast_book_t *book)
{
    return gpurt_add_acq_rel_dev_u32(&book->xclock,
                                     1); /* a read does not wait for its store */
}

GPURT_DEVN int32_t broadcast_publishes(const cast_word_t *b, broadcast_op_t *op,
                                       uint32_t choice)
{
    uint64_t m = op->value;

    if (choice == 31) {
        op->what = BROADCAST_OP_CLOSE;
        return gpurt_broadcast_close(&b->broadcast);
    }
    op->what = BROADCAST_OP_SEND;
    if (b->broadcast.policy != GPURT_BROADCAST_BLOCK && choice % 2)
        return gpurt_publish(b, &m);
    return choice % 3 ? gpurt_try_publish(b, &m) : gpurt_publish_for(b, &m, 400);
}

GPURT_DEVN int32_t broadcast_receives(const cast_word_t *b, cast_word_reader_t *r,
                                      broadcast_op_t *op, uint32_t choice)
{
    uint64_t m = 0, lost = r->reader.seat ? gpurt_reader_lost(r) : 0;
    int32_t answer;

    if (!r->reader.seat) {
        op->what = BROADCAST_OP_JOIN;
        return gpurt_reader_join(b, r);
    }
    if (choice < 5) {
        op->what = BROADCAST_OP_LEAVE;
        return gpurt_reader_leave(r);
    }
    op->what = BROADCAST_OP_READ;
    answer = choice % 3 ? gpurt_reader_try_read(r, &m) : gpurt_reader_read_for(r, &m, 400);
    op->value = (uint32_t)(answer == GPURT_E_DROPPED ? gpurt_reader_lost(r) - lost : m);
    return answer;
}

GPURT_DEVN void broadcast_act(broadcast_book_t *book, const cast_word_t *b,
                              cast_word_reader_t *r, uint32_t round, uint32_t *state)
{
    uint32_t choice = holding_random(state) % 32, lane = gpurt_warp() * 2 + gpurt_lane();
    broadcast_op_t op = {0, 0, 0, lane, 0, 0};

    if (gpurt_lane() == 0 && round >= BROADCAST_SENDS / 2)
        return;
    op.value = gpurt_warp() * (BROADCAST_SENDS / 2) + round + 1;
    op.begin = broadcast_tick(book);
    op.answer = gpurt_lane() == 0 ? broadcast_publishes(b, &op, choice)
                                  : broadcast_receives(b, r, &op, choice);
    op.end = broadcast_tick(book);
    book->ops[lane][round] = op;
}

/* A block a game: of each of two warps one lane publishes and one reads. */
GPURT_KERNEL(broadcast_game, struct broadcast_args, p)
{
    broadcast_book_t *book = &p->books[gpurt_block_x()];
    uint32_t state = holding_seed(p->seed);
    cast_word_reader_t r;
    cast_word_t b;

    b.broadcast = p->games[gpurt_block_x()];
    r.reader.seat = NULL;
    for (uint32_t round = 0; gpurt_lane() < 2 && round < BROADCAST_ROUNDS; round++)
        broadcast_act(book, &b, &r, round, &state);
    gpurt_block_barrier(); /* a leave that no history tells of would free a seat */
    if (r.reader.seat)
        (void)gpurt_reader_leave(&r);
}

/* ---- one that does not read ----------------------------------------------------------- */

GPURT_KERNEL(broadcast_stuck, struct broadcast_args, p)
{
    cast_word_t b;
    cast_word_reader_t r;
    uint64_t m = 0;

    b.broadcast = p->broadcast;
    if (gpurt_lane() > 0 || gpurt_reader_join(&b, &r) != GPURT_OK)
        return;
    while (gpurt_publish(&b, &m) == GPURT_OK)
        m++;
}
