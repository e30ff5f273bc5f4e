/* SPDX-License-Identifier: Apache-2.0 */
/* channelcore.h - how lanes send and receive. Verbs: channel.h; layout: channelmap.h.
 *
 * A lane that sends takes a credit of xtaken, then draws a ticket of xsent, which brings a credit
 * for a receiver along in the same addition; a receiver the other way round. So each ticket that
 * is drawn has its counterpart drawn already: that of a slot before, or that of its message.
 *
 *     claim    credits of one word -= n; what it was short of is given back
 *     draw     tickets and credits of the other word += what was got
 *     slot     wait for its turn, copy, next turn
 *
 * All lanes of a group (those that call together with one channel) go through this as one: the
 * lowest one claims and draws for all. Nothing in between ends a lane. A group that has got too
 * few credits looks at both words. Tickets alone say full or empty: credits may be on their way
 * between a claim and a draw, or given back in a moment. */
#ifndef GPURT_CHANNELCORE_H
#define GPURT_CHANNELCORE_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/clock.h>
#include <gpurt/ids.h>
#include <gpurt/impl/channelmap.h>
#include <gpurt/status.h>
#include <gpurt/waits.h>
#include <gpurt/warp.h>

/* Owner: a lane, for one call. */
typedef struct gpurt_channel_call {
    const gpurt_channel_t *c;
    uint64_t ns;    /* 0: never waits; UINT64_MAX: by the policy */
    uint64_t begin; /* of the first wait */
    gpurt_site_t *place;
    const char *here;
} gpurt_channel_call_t;

/* Answers beside gpurt_status_t, of a group that got too few credits. */
enum {
    GPURT_CHANNEL_AGAIN = 1,
    GPURT_CHANNEL_MAKE_ROOM = 2
};

/* Tickets of a group, in the order of its lanes. */
typedef struct gpurt_channel_tickets {
    uint64_t first;
    uint32_t count;
} gpurt_channel_tickets_t;

/* ---- claim, draw --------------------------------------------------------------------- */

/* Takes up to n credits. relaxed: a credit says how many; a slot's turn orders what is in it. */
GPURT_DEV uint32_t gpurt_channel_claim(uint64_t *word, uint32_t n)
{
    int32_t there = gpurt_channel_credits(gpurt_add_relaxed_far_u64(word, -(uint64_t)n));
    uint32_t got = there <= 0 ? 0 : (uint32_t)there < n ? (uint32_t)there : n;

    if (got < n) /* relaxed: as above */
        gpurt_red_add_relaxed_dev_u64(word, n - got);
    return got;
}

/* Draws n tickets, and hands n credits to the other side. */
GPURT_DEV uint64_t gpurt_channel_draw(uint64_t *word, uint64_t *wraps, uint32_t n)
{
    uint64_t first = gpurt_channel_tickets(
        gpurt_add_relaxed_far_u64(word, ((uint64_t)n << GPURT_CHANNEL_CREDIT_BITS) +
                                            n)); /* relaxed: CH4.rel, the turn
                                                                 * orders */

    if (GPURT_UNLIKELY(first + n >= GPURT_CHANNEL_TICKETS)) /* relaxed: a statistic */
        gpurt_red_add_relaxed_dev_u64(wraps, 1);
    return first;
}

/* For a group: n are wanted. Each of its lanes is told. */
GPURT_DEV gpurt_channel_tickets_t gpurt_channel_take(uint32_t group, uint64_t *credits,
                                                     uint64_t *tickets, uint64_t *wraps,
                                                     uint32_t n)
{
    gpurt_channel_tickets_t t = {0, 0};

    if (gpurt_is_leader(group)) {
        t.count = gpurt_channel_claim(credits, n);
        if (t.count)
            t.first = gpurt_channel_draw(tickets, wraps, t.count);
    }
    t.count = gpurt_shfl_u32(group, t.count, gpurt_leader(group));
    t.first = gpurt_shfl_u64(group, t.first, gpurt_leader(group));
    return t;
}

/* ---- slots --------------------------------------------------------------------------- */

GPURT_DEV char *gpurt_channel_slot(const gpurt_channel_t *c, uint64_t ticket)
{
    return c->slots + (size_t)(ticket & (c->capacity - 1)) * c->stride;
}

GPURT_DEV gpurt_u128_t gpurt_channel_line(uint32_t turn, uint32_t a, uint32_t b, uint32_t c)
{
    gpurt_u128_t line;

    line.lo = turn | (uint64_t)a << 32;
    line.hi = b | (uint64_t)c << 32;
    return line;
}

/* relaxed: what is read is compared with the turn, and a line is whole. */
GPURT_DEV bool gpurt_channel_lines_are(const gpurt_u128_t *line, uint32_t lines,
                                       uint32_t turn)
{
    bool all = true;

    for (uint32_t i = 0; i < lines; i++)
        all &= (uint32_t)gpurt_load_relaxed_dev_u128(line + i).lo == turn;
    return all;
}

/* A message of some lines. The turn goes with each, so no line waits for another; the first
 * one is stored last, and says for the order of everything else. */
GPURT_DEV bool gpurt_channel_put_lines(const gpurt_channel_t *c, char *slot, uint32_t turn,
                                       const void *message, uint32_t bytes)
{
    gpurt_u128_t *line = (gpurt_u128_t *)(void *)slot;
    const uint32_t lines = (bytes + 11) / 12;
    uint32_t w[3 * GPURT_CHANNEL_LINES_MOST] = {0};

    if (!gpurt_channel_lines_are(line, lines, turn))
        return false;
    __builtin_memcpy(w, message, bytes);
    for (uint32_t i = lines - 1; i > 0; i--) /* relaxed: its turn goes with it */
        gpurt_store_relaxed_dev_u128(
            line + i, gpurt_channel_line(turn + 1, w[3 * i], w[3 * i + 1], w[3 * i + 2]));
    if (c->flags & GPURT_CHANNEL_ALONE) /* relaxed: as above, and no other memory counts */
        gpurt_store_relaxed_dev_u128(line, gpurt_channel_line(turn + 1, w[0], w[1], w[2]));
    else
        gpurt_store_release_dev_u128(line, /* CH1.rel */
                                     gpurt_channel_line(turn + 1, w[0], w[1], w[2]));
    return true;
}

/* Line by line the slot is the next sender's: who stores there has seen that it was read. */
GPURT_DEV bool gpurt_channel_get_lines(const gpurt_channel_t *c, char *slot, uint32_t turn,
                                       uint32_t next, void *message, uint32_t bytes)
{
    gpurt_u128_t *line = (gpurt_u128_t *)(void *)slot, got[GPURT_CHANNEL_LINES_MOST];
    const uint32_t lines = (bytes + 11) / 12;
    uint32_t w[3 * GPURT_CHANNEL_LINES_MOST];
    bool all;

    if (c->flags & GPURT_CHANNEL_ALONE) /* relaxed: its turn goes with it */
        got[0] = gpurt_load_relaxed_dev_u128(line);
    else
        got[0] = gpurt_load_acquire_dev_u128(line); /* CH1.acq */
    all = (uint32_t)got[0].lo == turn;
    for (uint32_t i = 1; i < lines; i++) { /* relaxed: as above */
        got[i] = gpurt_load_relaxed_dev_u128(line + i);
        all &= (uint32_t)got[i].lo == turn;
    }
    if (!all)
        return false;
    for (uint32_t i = 0; i < lines; i++) {
        w[3 * i] = (uint32_t)(got[i].lo >> 32);
        w[3 * i + 1] = (uint32_t)got[i].hi;
        w[3 * i + 2] = (uint32_t)(got[i].hi >> 32);
        gpurt_store_relaxed_dev_u128(line +
                                         i, /* relaxed: behind the load of the same word */
                                     gpurt_channel_line(next, 0, 0, 0));
    }
    if (message)
        __builtin_memcpy(message, w, bytes);
    return true;
}

/* A larger message: plain memory behind its turn. */
GPURT_DEV bool gpurt_channel_put_large(char *slot, uint32_t turn, const void *message,
                                       uint32_t bytes)
{
    uint32_t *word = (uint32_t *)(void *)slot;

    if (gpurt_load_acquire_dev_u32(word) != turn) /* CH2.acq */
        return false;
    __builtin_memcpy(slot + GPURT_CHANNEL_LINE, message, bytes);
    gpurt_store_release_dev_u32(word, turn + 1); /* CH1.rel */
    return true;
}

GPURT_DEV bool gpurt_channel_get_large(char *slot, uint32_t turn, uint32_t next,
                                       void *message, uint32_t bytes)
{
    uint32_t *word = (uint32_t *)(void *)slot;

    if (gpurt_load_acquire_dev_u32(word) != turn) /* CH1.acq */
        return false;
    if (message)
        __builtin_memcpy(message, slot + GPURT_CHANNEL_LINE, bytes);
    gpurt_store_release_dev_u32(word, next); /* CH2.rel */
    return true;
}

/* Each lane of the group that has a ticket waits for its slot. The vote keeps the stores of
 * those that are through from being put off until all are: another lane of this warp may wait
 * for them. */
GPURT_DEV void gpurt_channel_put(const gpurt_channel_t *c, uint32_t group, bool mine,
                                 uint64_t ticket, const void *message, uint32_t bytes)
{
    char *slot = gpurt_channel_slot(c, ticket);
    uint32_t turn = gpurt_channel_turn(c, ticket);

    for (;;) {
        if (mine)
            mine = gpurt_channel_lines(bytes)
                       ? !gpurt_channel_put_lines(c, slot, turn, message, bytes)
                       : !gpurt_channel_put_large(slot, turn, message, bytes);
        if (!gpurt_any(group, mine))
            break;
        gpurt_pause();
    }
}

GPURT_DEV void gpurt_channel_get(const gpurt_channel_t *c, uint32_t group, bool mine,
                                 uint64_t ticket, void *message, uint32_t bytes)
{
    char *slot = gpurt_channel_slot(c, ticket);
    uint32_t turn = gpurt_channel_turn(c, ticket) + 1;
    uint32_t next = gpurt_channel_turn(c, ticket + c->capacity);

    for (;;) {
        if (mine)
            mine = gpurt_channel_lines(bytes)
                       ? !gpurt_channel_get_lines(c, slot, turn, next, message, bytes)
                       : !gpurt_channel_get_large(slot, turn, next, message, bytes);
        if (!gpurt_any(group, mine))
            break;
        gpurt_pause();
    }
}

/* ---- waiting ------------------------------------------------------------------------- */

/* What lanes of a group wait for, told while they do. Owner: its lowest lane. */
typedef struct gpurt_channel_wait {
    gpurt_channel_call_t *call;
    uint32_t *xwaiting; /* of the channel's words */
    uint32_t reason;    /* GPURT_WAIT_* */
    uint32_t lanes, turns;
    bool told;
} gpurt_channel_wait_t;

GPURT_DEV void gpurt_channel_wait_begin(gpurt_channel_wait_t *w)
{
    gpurt_channel_words_t *words = w->call->c->words;

    w->told = true;
    gpurt_red_add_relaxed_dev_u32(w->xwaiting, w->lanes); /* relaxed: a statistic */
    gpurt_waitable_name(&words->waitable, GPURT_WAITABLE_CHANNEL, words->name,
                        GPURT_WAITABLE_SINGLE);
    gpurt_wait_begin(&words->waitable, w->reason, w->call->place);
}

GPURT_DEV void gpurt_channel_wait_end(gpurt_channel_wait_t *w)
{
    if (!w->told)
        return;
    gpurt_red_add_relaxed_dev_u32(w->xwaiting, 0u - w->lanes); /* relaxed: a statistic */
    gpurt_wait_end(w->call->place);
}

GPURT_DEV void gpurt_channel_wait_pause(gpurt_channel_wait_t *w)
{
    gpurt_pause_for(w->turns, "channel", w->call->c->words->name, w->call->here);
    w->turns = w->turns < GPURT_BACKOFF_MOST ? w->turns * 2 : w->turns;
}

/* A pass of a wait. Returns: GPURT_CHANNEL_AGAIN, or why it is over. relaxed: statistics */
GPURT_DEV int32_t gpurt_channel_wait_pass(gpurt_channel_wait_t *w)
{
    gpurt_channel_call_t *call = w->call;

    if (!w->told) {
        gpurt_channel_wait_begin(w);
        if (call->ns != UINT64_MAX && !call->begin)
            call->begin = gpurt_globaltimer();
    }
    if (gpurt_cancelled()) {
        gpurt_red_add_relaxed_dev_u64(&call->c->words->xcancelled, w->lanes);
        return GPURT_E_CANCELLED;
    }
    if (call->ns != UINT64_MAX && gpurt_globaltimer() - call->begin >= call->ns) {
        gpurt_red_add_relaxed_dev_u64(&call->c->words->xlate, w->lanes);
        return GPURT_E_TIMEOUT;
    }
    gpurt_channel_wait_pause(w);
    return GPURT_CHANNEL_AGAIN;
}

/* Whether it was closed, or is none any more. relaxed: the number of a thing that ended */
GPURT_DEV gpurt_status_t gpurt_channel_gone(const gpurt_channel_t *c)
{
    return gpurt_load_relaxed_dev_u32(&c->words->xstate) == GPURT_CHANNEL_DESTROYED ||
                   gpurt_load_relaxed_dev_u32(&c->words->id) != c->id
               ? GPURT_E_HANDLE
               : GPURT_E_CHANNEL_CLOSED;
}

/* It is full: what becomes of the messages of so many lanes. relaxed: statistics */
GPURT_DEV int32_t gpurt_channel_full(gpurt_channel_wait_t *w, uint32_t n)
{
    gpurt_channel_words_t *words = w->call->c->words;

    if (w->call->ns == 0 ||
        (w->call->ns == UINT64_MAX && w->call->c->policy == GPURT_CHANNEL_FAIL)) {
        gpurt_red_add_relaxed_dev_u64(&words->xrefused, n);
        return GPURT_E_FULL;
    }
    if (w->call->ns == UINT64_MAX && w->call->c->policy == GPURT_CHANNEL_DROP_NEWEST) {
        gpurt_red_add_relaxed_dev_u64(&words->xdropped_new, n);
        return GPURT_E_DROPPED;
    }
    if (w->call->ns == UINT64_MAX && w->call->c->policy == GPURT_CHANNEL_DROP_OLDEST)
        return GPURT_CHANNEL_MAKE_ROOM;
    return gpurt_channel_wait_pass(w);
}

/* One lane looks for a group of senders without credits, n messages of `lanes` lanes. The
 * senders' word comes first: receivers that draw afterwards make it less full, not more. */
GPURT_DEVN int32_t gpurt_channel_await_room(gpurt_channel_call_t *call, uint32_t lanes,
                                            uint32_t n)
{
    const gpurt_channel_t *c = call->c;
    gpurt_channel_wait_t w = {call, &c->words->xsending, GPURT_WAIT_ROOM, lanes, 1, false};
    int32_t answer;

    do {
        uint64_t sent = gpurt_load_acquire_dev_u64(&c->words->xsent);   /* CH4.acq */
        uint64_t taken = gpurt_load_acquire_dev_u64(&c->words->xtaken); /* CH3.acq */

        if (gpurt_channel_credits(taken) < GPURT_CHANNEL_CLOSED_BELOW) {
            gpurt_red_add_relaxed_dev_u64(&c->words->xrefused,
                                          n); /* relaxed: a statistic */
            answer = gpurt_channel_gone(c);
        } else if (gpurt_channel_credits(taken) > 0) {
            answer = GPURT_CHANNEL_AGAIN;
            break;
        } else if (gpurt_channel_between(sent, taken) >= c->capacity) {
            answer = gpurt_channel_full(&w, n);
        } else { /* a credit is on its way */
            gpurt_channel_wait_pause(&w);
            answer = GPURT_CHANNEL_AGAIN;
        }
    } while (answer == GPURT_CHANNEL_AGAIN);
    gpurt_channel_wait_end(&w);
    return answer;
}

/* The same for receivers. Their own word comes first. Nothing is left of a closed channel when
 * no ticket is out, and no sender either that has a credit and no ticket yet: it holds what
 * the credits are short of. */
GPURT_DEVN int32_t gpurt_channel_await_data(gpurt_channel_call_t *call, uint32_t lanes)
{
    const gpurt_channel_t *c = call->c;
    gpurt_channel_wait_t w = {call, &c->words->xreceiving, GPURT_WAIT_DATA, lanes, 1,
                              false};
    int32_t answer;

    do {
        uint64_t taken = gpurt_load_acquire_dev_u64(&c->words->xtaken); /* CH3.acq */
        uint64_t sent = gpurt_load_acquire_dev_u64(&c->words->xsent);   /* CH4.acq */
        int32_t room = gpurt_channel_credits(taken);
        bool empty = gpurt_channel_between(sent, taken) == 0;

        if (gpurt_channel_credits(sent) > 0) {
            answer = GPURT_CHANNEL_AGAIN;
            break;
        }
        if (empty && room + GPURT_CHANNEL_CLOSING == (int32_t)c->capacity) {
            answer = gpurt_channel_gone(c);
        } else if (empty && room >= GPURT_CHANNEL_CLOSED_BELOW) {
            answer = call->ns ? gpurt_channel_wait_pass(&w) : GPURT_E_EMPTY;
        } else { /* a credit is on its way */
            gpurt_channel_wait_pause(&w);
            answer = GPURT_CHANNEL_AGAIN;
        }
    } while (answer == GPURT_CHANNEL_AGAIN);
    gpurt_channel_wait_end(&w);
    return answer;
}

/* ---- calls --------------------------------------------------------------------------- */

/* What lanes below want, and all of the group. */
GPURT_DEV uint32_t gpurt_channel_rank(uint32_t group, uint32_t mine, bool single,
                                      uint32_t *all)
{
    uint32_t below = 0;

    if (single) {
        uint32_t some = gpurt_ballot(group, mine > 0);

        *all = gpurt_popc(some);
        return gpurt_popc(some & gpurt_lanes_below());
    }
    *all = 0;
    for (uint32_t rest = group; rest; rest &= rest - 1) {
        uint32_t of = gpurt_shfl_u32(group, mine, gpurt_ctz(rest));

        below += gpurt_ctz(rest) < gpurt_lane() ? of : 0;
        *all += of;
    }
    return below;
}

/* The first lanes of a group get what there is. */
GPURT_DEV uint32_t gpurt_channel_share(uint32_t got, uint32_t below, uint32_t mine)
{
    uint32_t left = got > below ? got - below : 0;

    return left < mine ? left : mine;
}

/* The oldest message is dropped for each of n, as far as there are any. */
GPURT_DEVN void gpurt_channel_make_room(const gpurt_channel_t *c, uint32_t group,
                                        uint32_t n)
{
    gpurt_channel_words_t *w = c->words;
    uint32_t lanes = gpurt_popc(group), rank = gpurt_popc(group & gpurt_lanes_below());
    gpurt_channel_tickets_t t;

    t = gpurt_channel_take(group, &w->xsent, &w->xtaken, &w->xtaken_wraps,
                           n < lanes ? n : lanes);
    if (gpurt_is_leader(group) && t.count) /* relaxed: a statistic */
        gpurt_red_add_relaxed_dev_u64(&w->xdropped_old, t.count);
    gpurt_channel_get(c, group, rank < t.count, t.first + rank, NULL, c->bytes);
}

/* The lanes that make the same call with this one, on the same channel. Lanes in other branches
 * may be at the same line of this file. */
GPURT_DEV uint32_t gpurt_channel_group(const gpurt_channel_call_t *call, bool sends,
                                       bool single)
{
    uint32_t waits = call->ns == 0 ? 0 : call->ns == UINT64_MAX ? 1 : 2;

    return gpurt_match_any_u64(gpurt_activemask(), (uint64_t)(uintptr_t)call->c->words |
                                                       waits << 2 | single << 1 | sends);
}

GPURT_DEV gpurt_status_t gpurt_channel_refused(const gpurt_channel_t *c, uint32_t bytes,
                                               uint32_t count)
{
    if (!c->words)
        return GPURT_E_HANDLE;
    return bytes != c->bytes || count - 1 >= GPURT_CHANNEL_MANY_MOST ? GPURT_E_INVALID
                                                                     : GPURT_OK;
}

/* What the lowest lane was told, and what it acquired with it: a shuffle orders nothing. */
GPURT_DEV int32_t gpurt_channel_told(uint32_t group, int32_t answer)
{
    answer = gpurt_shfl_i32(group, answer, gpurt_leader(group));
    if (answer == GPURT_E_CHANNEL_CLOSED)
        gpurt_syncwarp(group);
    return answer;
}

/* count messages of this lane; single: it is 1, which nvcc must see. */
GPURT_DEV gpurt_status_t gpurt_channel_send_as(gpurt_channel_call_t *call,
                                               const void *messages, uint32_t bytes,
                                               uint32_t count, uint32_t *done, bool single)
{
    const gpurt_channel_t *c = call->c;
    gpurt_channel_words_t *w = c->words;
    int32_t answer = gpurt_channel_refused(c, bytes, count);
    uint32_t group, all, below, lanes, left = count;
    bool looks = call->ns == 0;

    if (answer != GPURT_OK)
        return answer;
    answer = GPURT_E_INTERNAL; /* never told: who is not through has another answer */
    group = gpurt_channel_group(call, true, single);
    for (;;) {
        gpurt_channel_tickets_t t = {0, 0};
        uint32_t mine;

        below = gpurt_channel_rank(group, left, single, &all);
        if (all == 0)
            break;
        if (!looks)
            t = gpurt_channel_take(group, &w->xtaken, &w->xsent, &w->xsent_wraps, all);
        mine = gpurt_channel_share(t.count, below, left);
        for (uint32_t i = 0; single ? i < 1 : gpurt_any(group, i < mine); i++)
            gpurt_channel_put(c, group, i < mine, t.first + below + i,
                              (const char *)messages + (size_t)(*done + i) * bytes, bytes);
        *done += mine;
        left -= mine;
        if (t.count == all)
            break;
        lanes = gpurt_popc(gpurt_ballot(group, left > 0));
        if (gpurt_is_leader(group))
            answer = gpurt_channel_await_room(call, lanes, all - t.count);
        answer = gpurt_channel_told(group, answer);
        looks = false;
        if (answer == GPURT_CHANNEL_MAKE_ROOM)
            gpurt_channel_make_room(c, group, all - t.count);
        else if (answer != GPURT_CHANNEL_AGAIN)
            break;
    }
    if (left == 0)
        return GPURT_OK;
    if (answer == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    return answer;
}

GPURT_DEV gpurt_status_t gpurt_channel_receive_as(gpurt_channel_call_t *call,
                                                  void *messages, uint32_t bytes,
                                                  uint32_t count, uint32_t *done,
                                                  bool single)
{
    const gpurt_channel_t *c = call->c;
    gpurt_channel_words_t *w = c->words;
    int32_t answer = gpurt_channel_refused(c, bytes, count);
    uint32_t group, all, below, lanes, left = count;
    bool looks = call->ns == 0;

    if (answer != GPURT_OK)
        return answer;
    answer = GPURT_E_INTERNAL; /* as above */
    group = gpurt_channel_group(call, false, single);
    for (;;) {
        gpurt_channel_tickets_t t = {0, 0};
        uint32_t mine;

        below = gpurt_channel_rank(group, left, single, &all);
        if (all == 0)
            break;
        if (!looks)
            t = gpurt_channel_take(group, &w->xsent, &w->xtaken, &w->xtaken_wraps, all);
        mine = gpurt_channel_share(t.count, below, left);
        for (uint32_t i = 0; single ? i < 1 : gpurt_any(group, i < mine); i++)
            gpurt_channel_get(c, group, i < mine, t.first + below + i,
                              (char *)messages + (size_t)(*done + i) * bytes, bytes);
        *done += mine;
        left = single || mine == 0 ? left - mine : 0; /* some are enough */
        if (t.count == all)
            break;
        lanes = gpurt_popc(gpurt_ballot(group, left > 0));
        if (!lanes)
            break;
        if (gpurt_is_leader(group))
            answer = gpurt_channel_await_data(call, lanes);
        answer = gpurt_channel_told(group, answer);
        looks = false;
        if (answer != GPURT_CHANNEL_AGAIN)
            break;
    }
    if (left == 0)
        return GPURT_OK;
    if (answer == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    return answer;
}

#endif
