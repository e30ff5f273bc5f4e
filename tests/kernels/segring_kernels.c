/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 8
#include "segring_kernels.h"

#include "holding.h"

#include <gpurt/defer.h>
#include <gpurt/device.h>
#include <gpurt/panic.h>

GPURT_DEV void segring_blame(uint32_t *what)
{
    gpurt_red_add_relaxed_dev_u32(what, 1);
}

/* ---- a list of calls ----------------------------------------------------------------- */

GPURT_DEV void segring_text(uint8_t *to, uint32_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value + 13 * i);
}

/* value << 32 | bytes; UINT64_MAX: the bytes are not one value's. */
GPURT_DEV uint64_t segring_value(const uint8_t *of, uint64_t bytes)
{
    for (uint32_t i = 1; i < bytes; i++)
        if (of[i] != (uint8_t)(of[0] + 13 * i))
            return UINT64_MAX;
    return (uint64_t)(bytes ? of[0] : 0) << 32 | bytes;
}

GPURT_DEVN int32_t segring_reads(const gpurt_segring_t *r, segring_step_t *s)
{
    uint8_t to[SEGRING_TRACE_MOST];
    int32_t answer;

    if (s->what == SEGRING_READ)
        answer = gpurt_segring_read(r, to, s->bytes, &s->found);
    else if (s->what == SEGRING_READ_FOR)
        answer = gpurt_segring_read_for(r, to, s->bytes, &s->found, 3000);
    else
        answer = gpurt_segring_try_read(r, to, s->bytes, &s->found);
    if (answer == GPURT_OK)
        s->found = segring_value(to, s->found);
    return answer;
}

GPURT_DEVN int32_t segring_spoils(const gpurt_segment_t *g)
{
    gpurt_u128_t line = {1, 2};

    gpurt_store_relaxed_dev_u128(gpurt_segring_line(&g->of, g->at, 1), line);
    return GPURT_OK;
}

GPURT_DEVN int32_t segring_do(const struct segring_args *p, segring_step_t *s)
{
    const gpurt_segring_t *r = &p->ring;
    gpurt_segment_t *g = &p->segments[s->who];
    uint8_t from[SEGRING_TRACE_MOST];

    segring_text(from, s->value, s->bytes < sizeof from ? s->bytes : (uint32_t)sizeof from);
    switch (s->what) {
    case SEGRING_WRITE:
        return gpurt_segring_write(r, from, s->bytes);
    case SEGRING_WRITE_FOR:
        return gpurt_segring_write_for(r, from, s->bytes, 3000);
    case SEGRING_TRY_WRITE:
        return gpurt_segring_try_write(r, from, s->bytes);
    case SEGRING_RESERVE:
        return gpurt_segring_reserve(r, s->bytes, g);
    case SEGRING_TRY_RESERVE:
        return gpurt_segring_try_reserve(r, s->bytes, g);
    case SEGRING_PUT:
        segring_text(from, s->value + 13 * (uint32_t)g->put, s->bytes);
        return gpurt_segment_put(g, from, s->bytes);
    case SEGRING_COMMIT:
        return gpurt_segment_commit(g);
    case SEGRING_ABORT:
        return gpurt_segment_abort(g);
    case SEGRING_SPOIL:
        return segring_spoils(g);
    case SEGRING_CLOSE:
        return gpurt_segring_close(r);
    default:
        return segring_reads(r, s);
    }
}

/* One lane does what the list says, in order. */
GPURT_KERNEL(segring_trace, struct segring_args, p)
{
    for (uint32_t i = 0; gpurt_global_id() == 0 && i < p->step_count; i++)
        p->steps[i].answer = segring_do(p, &p->steps[i]);
}

/* ---- storms -------------------------------------------------------------------------- */

GPURT_DEV uint32_t segring_pattern(uint32_t id, uint32_t i)
{
    return id * 2654435761u + i * 40503u;
}

/* From one word up; most take several units. */
GPURT_DEV uint32_t segring_length(uint32_t id)
{
    return 4 + segring_pattern(id, 3) / 7 % (SEGRING_STORM_MOST - 4);
}

/* The last of all warps that write closes, and so does one that is cancelled. */
GPURT_DEVN void segring_writer_ends(uint64_t arg)
{
    segring_verdict_t *v = (segring_verdict_t *)(uintptr_t)arg;

    if (gpurt_sub_relaxed_dev_u32(&v->xwriters, 1) > 1)
        return;
    v->farewell = 1;
    if (gpurt_segring_close(&v->ring) != GPURT_OK)
        segring_blame(&v->xanswers);
}

/* In pieces of odd lengths. Returns: what the last call was told. */
GPURT_DEVN int32_t segring_in_pieces(const struct segring_args *p, uint32_t id,
                                     const uint32_t *words, uint32_t bytes)
{
    const uint8_t *from = (const uint8_t *)words;
    segring_verdict_t *v = p->verdict;
    uint32_t done = 0, piece = 4;
    gpurt_segment_t s;
    int32_t answer = p->mode & SEGRING_TRIES
                         ? gpurt_segring_try_reserve(&p->ring, bytes + id % 50, &s)
                         : gpurt_segring_reserve(&p->ring, bytes + id % 50, &s);

    if (answer != GPURT_OK)
        return answer;
    p->plain[id] = segring_pattern(id, 77); /* what the commit hands over */
    if (p->mode & SEGRING_CANCELS)
        (void)GPURT_DEFER(gpurt_segment_left, (uint64_t)(uintptr_t)&s);
    for (; done < bytes && answer == GPURT_OK; done += piece) {
        piece = done ? 1 + segring_pattern(id, done) % 61 : 4;
        piece = piece < bytes - done ? piece : bytes - done;
        answer = done ? gpurt_segment_put(&s, from + done, piece)
                      : gpurt_segment_put(&s, words, piece);
        if ((p->mode & SEGRING_CANCELS) && gpurt_block_x() % 2 && id % p->each == 2)
            gpurt_cancel_block();
        gpurt_cancel_point();
    }
    if (p->mode & SEGRING_CANCELS)
        (void)gpurt_undefer(1u << gpurt_lane(), false);
    if (answer == GPURT_OK && (p->mode & SEGRING_FORGETS) && id % 7 == 3) {
        gpurt_red_add_relaxed_dev_u64(&v->xforgot, 1);
        return GPURT_E_NOT_READY;
    }
    if (answer == GPURT_OK && (p->mode & SEGRING_ABORTS) && id % 5 == 1) {
        answer = gpurt_segment_abort(&s);
        if (answer == GPURT_OK)
            gpurt_red_add_relaxed_dev_u64(&v->xaborted, 1);
        return answer == GPURT_OK ? (int32_t)GPURT_E_NOT_READY : answer;
    }
    return answer == GPURT_OK ? gpurt_segment_commit(&s) : answer;
}

GPURT_DEVN int32_t segring_sends(const struct segring_args *p, uint32_t id)
{
    uint32_t words[(SEGRING_STORM_MOST + 3) / 4], bytes = segring_length(id);

    words[0] = id;
    for (uint32_t i = 1; i < (bytes + 3) / 4; i++)
        words[i] = segring_pattern(id, i);
    if (p->mode & SEGRING_PIECES)
        return segring_in_pieces(p, id, words, bytes);
    p->plain[id] = segring_pattern(id, 77);
    return p->mode & SEGRING_TRIES ? gpurt_segring_try_write(&p->ring, words, bytes)
                                   : gpurt_segring_write(&p->ring, words, bytes);
}

GPURT_DEVN void segring_writes(const struct segring_args *p)
{
    segring_verdict_t *v = p->verdict;

    (void)gpurt_defer(GPURT_FULL_MASK, segring_writer_ends, (uint64_t)(uintptr_t)v);
    for (uint32_t i = 0; i < p->each; i++) {
        int32_t answer = segring_sends(p, gpurt_global_id() * p->each + i);

        if (answer == GPURT_OK)
            gpurt_red_add_relaxed_dev_u64(&v->xwritten, 1);
        else if (answer == GPURT_E_FULL)
            gpurt_red_add_relaxed_dev_u64(&v->xrefused, 1);
        else if (answer == GPURT_E_DROPPED && (p->mode & SEGRING_PIECES))
            gpurt_red_add_relaxed_dev_u64(&v->xforgot, 1); /* it was too slow */
        else if (answer != GPURT_E_NOT_READY)
            segring_blame(&v->xanswers);
        gpurt_cancel_point();
    }
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have written, or left */
    gpurt_cancel_point();
    (void)gpurt_undefer(GPURT_FULL_MASK, true);
}

GPURT_DEVN void segring_check(const struct segring_args *p, const uint32_t *words,
                              uint64_t bytes)
{
    uint32_t id = words[0];
    bool fine = bytes >= 4 && id < gpurt_grid_blocks() * gpurt_block_threads() * p->each &&
                bytes == segring_length(id) && p->plain[id] == segring_pattern(id, 77) &&
                gpurt_add_relaxed_dev_u32(&p->seen[id], 1) == 0;

    for (uint32_t i = 1; fine && i < bytes / 4; i++)
        fine = words[i] == segring_pattern(id, i);
    for (uint64_t i = bytes / 4 * 4; fine && i < bytes; i++)
        fine = ((const uint8_t *)words)[i] ==
               (uint8_t)(segring_pattern(id, (uint32_t)i / 4) >> 8 * (i % 4));
    if (!fine)
        segring_blame(&p->verdict->xwrong);
}

/* The second warp of a block reads until it is closed, the first one writes. */
GPURT_KERNEL(segring_storm, struct segring_args, p)
{
    uint32_t words[(SEGRING_STORM_MOST + 3) / 4];
    segring_verdict_t *v = p->verdict;
    int32_t answer = GPURT_OK;

    if (gpurt_warp() == 0) {
        segring_writes(p);
        return;
    }
    while (gpurt_lane() < SEGRING_READERS && answer != GPURT_E_CHANNEL_CLOSED) {
        uint64_t bytes = 0;

        answer = gpurt_segring_read(&p->ring, words, sizeof words, &bytes);
        if (answer == GPURT_OK) {
            segring_check(p, words, bytes);
            gpurt_red_add_relaxed_dev_u64(&v->xread, 1);
        } else if (answer == GPURT_E_DROPPED) {
            gpurt_red_add_relaxed_dev_u64(&v->xlost, bytes);
        } else if (answer == GPURT_E_DAMAGED) {
            gpurt_red_add_relaxed_dev_u64(&v->xtorn, 1);
        } else if (answer != GPURT_E_CHANNEL_CLOSED || !v->farewell) {
            segring_blame(&v->xanswers);
            return;
        }
    }
}

/* A writer that had to wait for room sees what the reader did before. */
GPURT_KERNEL(segring_room, struct segring_args, p)
{
    segring_verdict_t *v = p->verdict;
    uint64_t bytes = 0, word = 7;

    if (gpurt_lane() > 0)
        return;
    if (gpurt_warp() == 0) {
        if (gpurt_segring_write(&p->ring, &word, sizeof word) != GPURT_OK ||
            gpurt_segring_write(&p->ring, &word, sizeof word) != GPURT_OK ||
            v->farewell != 9)
            segring_blame(&v->xanswers);
        return;
    }
    v->farewell = 9;
    for (uint32_t i = 0; i < 2; i++)
        if (gpurt_segring_read(&p->ring, &word, sizeof word, &bytes) != GPURT_OK ||
            word != 7)
            segring_blame(&v->xanswers);
}

/* ---- cancelled, or in a panic, in the middle ------------------------------------------- */

/* Warp 0 writes into what is full, warp 1 waits for what nobody writes (a ring of its own), warp 2
 * is between reserve and commit of a third, without a handler, and warp 3 ends them all. */
GPURT_KERNEL(segring_ended, struct segring_args, p)
{
    const gpurt_segring_t *r = &p->games[gpurt_warp() % 3];
    uint64_t m = 1, bytes;
    gpurt_segment_t s;

    if (gpurt_warp() == 3) {
        for (uint32_t i = 0; i < 60; i++)
            gpurt_relax();
        if (p->mode && gpurt_lane() == 0)
            GPURT_PANIC("in the middle");
        gpurt_cancel_block();
        return;
    }
    if (gpurt_warp() > 0 && gpurt_lane() > 0)
        return;
    if (gpurt_warp() == 0) {
        while (gpurt_segring_write(r, &m, sizeof m) == GPURT_OK)
            gpurt_cancel_point();
    } else if (gpurt_warp() == 1) {
        (void)gpurt_segring_read(r, &m, sizeof m, &bytes);
    } else if (gpurt_segring_reserve(r, sizeof m, &s) == GPURT_OK) {
        (void)gpurt_segment_put(&s, &m, sizeof m);
        for (;;)
            gpurt_relax();
    }
    segring_blame(&p->verdict->xanswers); /* it should have left */
}

/* ---- games --------------------------------------------------------------------------- */

GPURT_DEV uint32_t segring_tick(segring_book_t *book)
{
    return gpurt_add_acq_rel_dev_u32(&book->xclock,
                                     1); /* a read does not wait for its store */
}

GPURT_DEVN int32_t segring_plays(const gpurt_segring_t *r, segring_op_t *op,
                                 uint32_t choice)
{
    uint8_t text[80];
    uint64_t bytes = 0;
    int32_t answer;

    if (op->what == SEGRING_OP_READ) {
        answer = choice % 3 ? gpurt_segring_try_read(r, text, sizeof text, &bytes)
                            : gpurt_segring_read_for(r, text, sizeof text, &bytes, 3000);
        if (answer != GPURT_OK)
            return answer;
        op->value = text[0];
        return bytes == segring_game_bytes(op->value) &&
                       segring_value(text, bytes) != UINT64_MAX
                   ? answer
                   : (int32_t)GPURT_E_INTERNAL;
    }
    if (choice == 31) {
        op->what = SEGRING_OP_CLOSE;
        return gpurt_segring_close(r);
    }
    bytes = segring_game_bytes(op->value);
    segring_text(text, op->value, (uint32_t)bytes);
    if (r->policy == GPURT_SEGRING_FAIL && choice % 2)
        return gpurt_segring_write(r, text, bytes);
    return choice % 3 ? gpurt_segring_try_write(r, text, bytes)
                      : gpurt_segring_write_for(r, text, bytes, 3000);
}

GPURT_DEVN void segring_act(segring_book_t *book, const gpurt_segring_t *r, uint32_t round,
                            uint32_t *state)
{
    uint32_t choice = holding_random(state) % 32, lane = gpurt_warp() * 2 + gpurt_lane();
    segring_op_t op = {0, 0, SEGRING_OP_WRITE, lane, 0, 0};

    if (gpurt_lane() == 0 && round >= SEGRING_WRITES / 2)
        return;
    op.value = gpurt_warp() * (SEGRING_WRITES / 2) + round + 1;
    if (gpurt_lane() > 0) {
        op.what = SEGRING_OP_READ;
        op.value = 0;
    }
    op.begin = segring_tick(book);
    op.answer = segring_plays(r, &op, choice);
    op.end = segring_tick(book);
    book->ops[lane][round] = op;
}

/* A block a game: of each of two warps one lane writes and one reads. */
GPURT_KERNEL(segring_game, struct segring_args, p)
{
    segring_book_t *book = &p->books[gpurt_block_x()];
    const gpurt_segring_t r = p->games[gpurt_block_x()];
    uint32_t state = holding_seed(p->seed);

    for (uint32_t round = 0; gpurt_lane() < 2 && round < SEGRING_ROUNDS; round++)
        segring_act(book, &r, round, &state);
}
