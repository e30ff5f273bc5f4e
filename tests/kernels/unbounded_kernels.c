/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 8
#include "unbounded_kernels.h"

#include "holding.h"

#include <gpurt/defer.h>
#include <gpurt/device.h>
#include <gpurt/panic.h>

GPURT_DEV void unbounded_blame(uint32_t *what)
{
    gpurt_red_add_relaxed_dev_u32(what, 1);
}

/* ---- a list of calls ----------------------------------------------------------------- */

/* Pages, so that a few fill a segment's memory and a heap. */
GPURT_DEVN int32_t unbounded_runs(const struct unbounded_args *p, unbounded_step_t *s)
{
    int32_t answer = GPURT_OK;
    unbounded_pages_t c;
    unbounded_page_t m = {{0}};

    c.unbounded = p->unbounded;
    for (s->found = 0; s->found < s->value; s->found++) {
        m.words[0] = m.words[74] = (uint32_t)s->found + 1;
        answer = s->what == UNBOUNDED_POST_RUN ? gpurt_post(&c, &m) : gpurt_fetch(&c, &m);
        if (answer != GPURT_OK)
            break;
        if (m.words[0] != s->found + 1 || m.words[74] != s->found + 1)
            return GPURT_E_INTERNAL;
    }
    return answer;
}

GPURT_DEVN int32_t unbounded_do(const struct unbounded_args *p, unbounded_step_t *s)
{
    unbounded_word_t c;
    uint32_t half = 0;

    c.unbounded = p->unbounded;
    switch (s->what) {
    case UNBOUNDED_POST:
        return gpurt_post(&c, &s->value);
    case UNBOUNDED_POST_FOR:
        return gpurt_post_for(&c, &s->value, 2000);
    case UNBOUNDED_TRY_POST:
        return gpurt_try_post(&c, &s->value);
    case UNBOUNDED_POST_SHORT:
        return gpurt_unbounded_send_at(&p->unbounded, &half, GPURT_CHANNEL_SHAPE_(&half), 0,
                                       NULL, GPURT_HERE);
    case UNBOUNDED_FETCH:
        return gpurt_fetch(&c, &s->found);
    case UNBOUNDED_FETCH_FOR:
        return gpurt_fetch_for(&c, &s->found, 2000);
    case UNBOUNDED_TRY_FETCH:
        return gpurt_try_fetch(&c, &s->found);
    case UNBOUNDED_DEPTH:
        s->found = gpurt_unbounded_depth(&p->unbounded);
        return GPURT_OK;
    case UNBOUNDED_CLOSE:
        return gpurt_unbounded_close(&p->unbounded);
    default:
        return unbounded_runs(p, s);
    }
}

/* One lane does what the list says, in order. */
GPURT_KERNEL(unbounded_trace, struct unbounded_args, p)
{
    for (uint32_t i = 0; gpurt_global_id() == 0 && i < p->step_count; i++)
        p->steps[i].answer = unbounded_do(p, &p->steps[i]);
}

/* ---- storms -------------------------------------------------------------------------- */

GPURT_DEV uint32_t unbounded_pattern(uint64_t id, uint32_t i)
{
    return (uint32_t)id * 2654435761u + i * 40503u;
}

/* The last of all warps that send closes, and so does one that is cancelled. */
GPURT_DEVN void unbounded_sender_ends(uint64_t arg)
{
    unbounded_verdict_t *v = (unbounded_verdict_t *)(uintptr_t)arg;

    if (gpurt_sub_relaxed_dev_u32(&v->xsenders, 1) > 1)
        return;
    v->farewell = 1;
    if (gpurt_unbounded_close(&v->unbounded) != GPURT_OK)
        unbounded_blame(&v->xanswers);
}

GPURT_DEVN int32_t unbounded_sends(const struct unbounded_args *p, uint64_t id)
{
    unbounded_pages_t pages;
    unbounded_word_t words;
    unbounded_page_t m;

    p->plain[id] = unbounded_pattern(id, 77);
    pages.unbounded = words.unbounded = p->unbounded;
    if (!(p->mode & UNBOUNDED_PAGES))
        return p->mode & UNBOUNDED_TRIES ? gpurt_try_post(&words, &id)
                                         : gpurt_post(&words, &id);
    m.words[0] = (uint32_t)id;
    for (uint32_t i = 1; i < 75; i++)
        m.words[i] = unbounded_pattern(id, i);
    return p->mode & UNBOUNDED_TRIES ? gpurt_try_post(&pages, &m) : gpurt_post(&pages, &m);
}

/* *id: which message it was; UINT64_MAX: not all of it is that one's. */
GPURT_DEVN int32_t unbounded_fetches(const struct unbounded_args *p, uint64_t *id)
{
    unbounded_pages_t pages;
    unbounded_word_t words;
    unbounded_page_t m;
    int32_t answer;

    pages.unbounded = words.unbounded = p->unbounded;
    if (!(p->mode & UNBOUNDED_PAGES))
        return gpurt_fetch(&words, id);
    answer = gpurt_fetch(&pages, &m);
    *id = m.words[0];
    for (uint32_t i = 1; answer == GPURT_OK && i < 75; i++)
        if (m.words[i] != unbounded_pattern(m.words[0], i))
            *id = UINT64_MAX;
    return answer;
}

GPURT_DEVN void unbounded_writes(const struct unbounded_args *p)
{
    unbounded_verdict_t *v = p->verdict;

    (void)gpurt_defer(GPURT_FULL_MASK, unbounded_sender_ends, (uint64_t)(uintptr_t)v);
    for (uint32_t i = 0; i < p->each; i++) {
        int32_t answer = unbounded_sends(p, (uint64_t)gpurt_global_id() * p->each + i);

        if (answer == GPURT_OK)
            gpurt_red_add_relaxed_dev_u64(&v->xsent, 1);
        else if (answer == GPURT_E_NOMEM || answer == GPURT_E_FULL)
            gpurt_red_add_relaxed_dev_u64(&v->xrefused, 1);
        else if (answer == GPURT_E_DROPPED)
            gpurt_red_add_relaxed_dev_u64(&v->xdropped, 1);
        else
            unbounded_blame(&v->xanswers);
        if ((p->mode & UNBOUNDED_CANCELS) && gpurt_block_x() % 2 && i == p->each / 2)
            gpurt_cancel_block();
        gpurt_cancel_point();
    }
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have sent, or left */
    gpurt_cancel_point();
    (void)gpurt_undefer(GPURT_FULL_MASK, true);
}

/* The second warp of a block receives until it is closed, the first one sends. */
GPURT_KERNEL(unbounded_storm, struct unbounded_args, p)
{
    unbounded_verdict_t *v = p->verdict;
    int32_t answer = GPURT_OK;

    if (gpurt_warp() == 0) {
        unbounded_writes(p);
        return;
    }
    while (answer == GPURT_OK) {
        uint64_t id = 0;

        answer = unbounded_fetches(p, &id);
        if (answer != GPURT_OK)
            break;
        gpurt_red_add_relaxed_dev_u64(&v->xreceived, 1);
        if (id >= (uint64_t)gpurt_grid_blocks() * gpurt_block_threads() * p->each ||
            p->plain[id] != unbounded_pattern(id, 77) ||
            gpurt_add_relaxed_dev_u32(&p->seen[id], 1) != 0)
            unbounded_blame(&v->xwrong);
    }
    if (answer != GPURT_E_CHANNEL_CLOSED || !v->farewell)
        unbounded_blame(&v->xanswers);
}

/* ---- cancelled, or in a panic, in the middle ------------------------------------------- */

/* Warp 0 sends until no memory is left, and waits. Warp 1 waits for what nobody sends (a channel of
 * its own). Then warp 2 ends them all: it cancels, or panics. */
GPURT_KERNEL(unbounded_ended, struct unbounded_args, p)
{
    unbounded_page_t m = {{0}};
    unbounded_pages_t c;

    c.unbounded = p->games[gpurt_warp() == 1];
    if (gpurt_warp() == 2) {
        for (uint32_t i = 0;
             i < 1000000 && gpurt_unbounded_depth(&p->games[0]) < UNBOUNDED_FULL; i++)
            gpurt_relax();
        for (uint32_t i = 0; i < 400; i++)
            gpurt_relax();
        if (p->mode && gpurt_lane() == 0)
            GPURT_PANIC("in the middle");
        gpurt_cancel_block();
        return;
    }
    if (gpurt_warp() == 0)
        while (gpurt_post(&c, &m) == GPURT_OK)
            gpurt_cancel_point();
    else
        (void)gpurt_fetch(&c, &m);
    unbounded_blame(&p->verdict->xanswers); /* it should have left */
}

/* ---- games --------------------------------------------------------------------------- */

GPURT_DEV uint32_t unbounded_tick(unbounded_book_t *book)
{
    return gpurt_add_acq_rel_dev_u32(&book->xclock,
                                     1); /* a read does not wait for its store */
}

GPURT_DEVN int32_t unbounded_plays(const unbounded_word_t *c, unbounded_op_t *op,
                                   uint32_t choice)
{
    uint64_t m = op->value;
    int32_t answer;

    if (op->what == UNBOUNDED_OP_RECEIVE) {
        answer = choice % 3 ? gpurt_try_fetch(c, &m) : gpurt_fetch_for(c, &m, 400);
        op->value = answer == GPURT_OK ? (uint32_t)m : 0;
        return answer;
    }
    if (choice == 31) {
        op->what = UNBOUNDED_OP_CLOSE;
        return gpurt_unbounded_close(&c->unbounded);
    }
    return choice % 2 ? gpurt_try_post(c, &m) : gpurt_post(c, &m);
}

/* A block a game: of each of two warps one lane sends and one receives. */
GPURT_KERNEL(unbounded_game, struct unbounded_args, p)
{
    unbounded_book_t *book = &p->books[gpurt_block_x()];
    uint32_t state = holding_seed(p->seed), lane = gpurt_warp() * 2 + gpurt_lane();
    bool sends = gpurt_lane() == 0;
    unbounded_word_t c;

    c.unbounded = p->games[gpurt_block_x()];
    for (uint32_t round = 0;
         gpurt_lane() < 2 &&
         round < (sends ? (uint32_t)UNBOUNDED_SENDS / 2 : (uint32_t)UNBOUNDED_ROUNDS);
         round++) {
        uint32_t choice = holding_random(&state) % 32;
        unbounded_op_t op = {0, 0, UNBOUNDED_OP_RECEIVE, lane, 0, 0};

        if (sends) {
            op.what = UNBOUNDED_OP_SEND;
            op.value = gpurt_warp() * (UNBOUNDED_SENDS / 2) + round + 1;
        }
        op.begin = unbounded_tick(book);
        op.answer = unbounded_plays(&c, &op, choice);
        op.end = unbounded_tick(book);
        book->ops[lane][round] = op;
    }
}
