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
#include <gpurt/impl/channelcredit.h>
#include <gpurt/impl/channelmap.h>
#include <gpurt/impl/channelpair.h>
#include <gpurt/impl/channelslot.h>
#include <gpurt/impl/channelwait.h>
#include <gpurt/status.h>
#include <gpurt/warp.h>

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

/* Draws n tickets, and hands so many credits to the other side. */
GPURT_DEV uint64_t gpurt_channel_draw(uint64_t *word, uint64_t *wraps, uint32_t n,
                                      uint32_t credits)
{
    uint64_t first = gpurt_channel_tickets(
        gpurt_add_relaxed_far_u64(word, ((uint64_t)n << GPURT_CHANNEL_CREDIT_BITS) +
                                            credits)); /* relaxed: CH4.rel; turns order */

    if (GPURT_UNLIKELY(first + n >= GPURT_CHANNEL_TICKETS)) /* relaxed: a statistic */
        gpurt_red_add_relaxed_dev_u64(wraps, 1);
    return first;
}

/* The same for receivers. Where they grant credits, those are room that nobody was promised. */
GPURT_DEV uint64_t gpurt_channel_draw_out(const gpurt_channel_t *c, uint32_t n)
{
    gpurt_channel_words_t *w = c->words;
    const bool keeps = gpurt_channel_is_granted(c);
    uint64_t first = gpurt_channel_draw(&w->xtaken, &w->xtaken_wraps, n, keeps ? 0 : n);

    if (GPURT_UNLIKELY(keeps)) /* relaxed: a credit says how many */
        gpurt_red_add_relaxed_dev_u64(&w->xgranted, n);
    return first;
}

/* For a group: n are wanted. Each of its lanes is told. sends: a literal of the caller */
GPURT_DEV gpurt_channel_tickets_t gpurt_channel_take(const gpurt_channel_t *c,
                                                     uint32_t group, uint32_t n, bool sends)
{
    gpurt_channel_words_t *w = c->words;
    gpurt_channel_tickets_t t = {0, 0};

    if (gpurt_is_leader(group)) {
        t.count = gpurt_channel_claim(sends ? &w->xtaken : &w->xsent, n);
        if (t.count)
            t.first = sends
                          ? gpurt_channel_draw(&w->xsent, &w->xsent_wraps, t.count, t.count)
                          : gpurt_channel_draw_out(c, t.count);
    }
    t.count = gpurt_channel_led_u32(group, t.count);
    t.first = gpurt_channel_led_u64(group, t.first);
    return t;
}

/* ---- slots ---------------------------------------------------------------------------- */

/* Each lane of the group that has a ticket waits for its slot. The vote keeps the stores of
 * those that are through from being put off until all are: another lane of this warp may wait
 * for them. */
GPURT_DEV void gpurt_channel_put(const gpurt_channel_t *c, uint32_t group, bool mine,
                                 uint64_t ticket, const void *message, uint64_t shape)
{
    gpurt_channel_place_t place = gpurt_channel_place(c, ticket);

    for (;;) {
        if (gpurt_channel_put_once(c, group, mine, &place, message, shape))
            mine = false;
        if (!gpurt_channel_votes(group, mine))
            break;
        gpurt_pause();
    }
}

GPURT_DEV void gpurt_channel_get(const gpurt_channel_t *c, uint32_t group, bool mine,
                                 uint64_t ticket, void *message, uint64_t shape)
{
    gpurt_channel_place_t place = gpurt_channel_place(c, ticket);

    for (;;) {
        if (gpurt_channel_get_once(c, group, mine, &place, message, shape))
            mine = false;
        if (!gpurt_channel_votes(group, mine))
            break;
        gpurt_pause();
    }
}

/* ---- waiting ------------------------------------------------------------------------- */

/* The oldest message makes room; where receivers and other senders have them all, room comes soon.
 * Claims made in vain hide each other's credits, for ever if nobody pauses. */
GPURT_DEV int32_t gpurt_channel_oldest(gpurt_channel_wait_t *w, uint64_t sent)
{
    if (gpurt_channel_credits(sent) > 0)
        return GPURT_CHANNEL_MAKE_ROOM;
    gpurt_channel_wait_pause(w);
    return GPURT_CHANNEL_AGAIN;
}

/* It is full: what becomes of the messages of so many lanes. relaxed: statistics */
GPURT_DEV int32_t gpurt_channel_full(const gpurt_channel_t *c, gpurt_channel_wait_t *w,
                                     uint32_t n, uint64_t sent)
{
    gpurt_channel_words_t *words = c->words;

    if (w->ns == 0 || (w->ns == UINT64_MAX && c->policy == GPURT_CHANNEL_FAIL)) {
        gpurt_red_add_relaxed_dev_u64(&w->desk->xrefused, n);
        return GPURT_E_FULL;
    }
    if (w->ns == UINT64_MAX && c->policy == GPURT_CHANNEL_DROP_NEWEST) {
        gpurt_red_add_relaxed_dev_u64(&words->xdropped_new, n);
        return GPURT_E_DROPPED;
    }
    if (w->ns == UINT64_MAX && c->policy == GPURT_CHANNEL_DROP_OLDEST)
        return gpurt_channel_oldest(w, sent);
    return gpurt_channel_wait_pass(w);
}

/* What senders may take, and receivers; in a pair the tickets tell. */
GPURT_DEV int32_t gpurt_channel_room(const gpurt_channel_t *c, uint64_t sent,
                                     uint64_t taken)
{
    return gpurt_channel_is_pair(c)
               ? (int32_t)(c->capacity - gpurt_channel_between(sent, taken))
               : gpurt_channel_credits(taken);
}
GPURT_DEV bool gpurt_channel_has_some(const gpurt_channel_t *c, uint64_t sent,
                                      uint64_t taken)
{
    return gpurt_channel_is_pair(c) ? gpurt_channel_between(sent, taken) > 0
                                    : gpurt_channel_credits(sent) > 0;
}

GPURT_DEV gpurt_channel_wait_t gpurt_channel_wait_of(gpurt_channel_call_t *call,
                                                     uint32_t lanes, bool sends)
{
    gpurt_channel_words_t *words = call->c->words;
    gpurt_channel_wait_t w = {&words->desk, call->ns,      &call->begin, call->place,
                              call->here,   &words->xsent, lanes,        0,
                              sends,        false};

    if (sends)
        w.word = &words->xtaken;
    if (sends && gpurt_channel_is_granted(call->c))
        w.sends = GPURT_CHANNEL_FOR_CREDIT;
    if (gpurt_channel_is_pair(call->c))
        w.word = NULL;
    return w;
}

/* One lane looks for a group of senders without credits, n messages of `lanes` lanes. The
 * senders' word comes first: receivers that draw afterwards make it less full, not more, and so
 * do grants. */
GPURT_DEVN int32_t gpurt_channel_await_room(gpurt_channel_call_t *call, uint32_t lanes,
                                            uint32_t n)
{
    const gpurt_channel_t *c = call->c;
    gpurt_channel_wait_t w = gpurt_channel_wait_of(call, lanes, true);
    int32_t answer;

    do {
        uint64_t limit = gpurt_channel_limit_first(c);
        uint64_t sent = gpurt_load_acquire_dev_u64(&c->words->xsent);   /* CH4.acq */
        uint64_t taken = gpurt_load_acquire_dev_u64(&c->words->xtaken); /* CH3.acq */

        if (gpurt_channel_credits(taken) < GPURT_CHANNEL_CLOSED_BELOW) {
            gpurt_red_add_relaxed_dev_u64(&c->words->desk.xrefused,
                                          n); /* relaxed: a statistic */
            answer = gpurt_channel_gone(&c->words->desk, c->id);
        } else if (gpurt_channel_room(c, sent, taken) > 0) {
            answer = GPURT_CHANNEL_GO;
        } else if (gpurt_channel_is_full(c, sent, taken, limit)) {
            answer = gpurt_channel_full(c, &w, n, sent);
        } else { /* a credit is on its way */
            gpurt_channel_wait_pause(&w);
            answer = GPURT_CHANNEL_AGAIN;
        }
    } while (answer == GPURT_CHANNEL_AGAIN);
    gpurt_channel_wait_end(&w);
    return answer == GPURT_CHANNEL_GO ? (int32_t)GPURT_CHANNEL_AGAIN : answer;
}

/* Credits that senders lack at most, so that an empty channel is told to be empty. Senders that had
 * credits before the limit went down may hold more of them than it allows now. What they send counts
 * as sent before the limit moved, as far as it is more than that. So they are in the channel already
 * for whoever looks after the move, though their tickets are not drawn. With no credit missing, all
 * that they hold fits under the limit: it may count as sent when the tickets are drawn. Nobody gets
 * a new credit before that. Other channels never have more credits out than slots, and granted ones
 * lose no credit with their limit. */
GPURT_DEV int64_t gpurt_channel_empty_from(const gpurt_channel_t *c)
{
    return gpurt_channel_is_resized(c) && !gpurt_channel_is_granted(c)
               ? 0
               : (int64_t)GPURT_CHANNEL_CLOSED_BELOW;
}

/* The same for receivers. Their own word comes first. Nothing is left of a closed channel when
 * no ticket is out, and no sender either that has a credit and no ticket yet: it holds what
 * the credits are short of. */
GPURT_DEVN int32_t gpurt_channel_await_data(gpurt_channel_call_t *call, uint32_t lanes)
{
    const gpurt_channel_t *c = call->c;
    gpurt_channel_wait_t w = gpurt_channel_wait_of(call, lanes, false);
    int32_t answer;

    do {
        uint64_t taken = gpurt_load_acquire_dev_u64(&c->words->xtaken); /* CH3.acq */
        uint64_t sent = gpurt_load_acquire_dev_u64(&c->words->xsent);   /* CH4.acq */
        int64_t room = gpurt_channel_credits(taken);
        int64_t all = (int64_t)gpurt_channel_all_credits(c, sent);
        bool empty = gpurt_channel_between(sent, taken) == 0;

        if (gpurt_channel_has_some(c, sent, taken)) {
            answer = GPURT_CHANNEL_GO;
        } else if (empty && room + GPURT_CHANNEL_CLOSING == all) {
            answer = gpurt_channel_gone(&c->words->desk, c->id);
        } else if (empty && room >= gpurt_channel_empty_from(c)) {
            answer = call->ns ? gpurt_channel_wait_pass(&w) : GPURT_E_EMPTY;
        } else { /* a credit is on its way */
            gpurt_channel_wait_pause(&w);
            answer = GPURT_CHANNEL_AGAIN;
        }
    } while (answer == GPURT_CHANNEL_AGAIN);
    gpurt_channel_wait_end(&w);
    return answer == GPURT_CHANNEL_GO ? (int32_t)GPURT_CHANNEL_AGAIN : answer;
}

/* ---- calls --------------------------------------------------------------------------- */

/* What lanes below want, and all of the group. */
GPURT_DEV uint32_t gpurt_channel_rank(uint32_t group, uint32_t mine, bool single,
                                      uint32_t *all)
{
    uint32_t below = 0;

    if (single) {
        uint32_t some = gpurt_channel_votes(group, mine > 0);

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

    t = gpurt_channel_take(c, group, n < lanes ? n : lanes, false);
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

    return gpurt_channel_alike((uint64_t)(uintptr_t)call->c->words | waits << 2 |
                               single << 1 | sends);
}

GPURT_DEV gpurt_status_t gpurt_channel_refused(const gpurt_channel_t *c, uint64_t shape,
                                               uint32_t count)
{
    bool other = GPURT_CHANNEL_SHAPE_BYTES_(shape) != c->bytes ||
                 GPURT_CHANNEL_SHAPE_PAIR_(shape) != gpurt_channel_is_pair(c);

    if (!c->words)
        return GPURT_E_HANDLE;
    return other || count - 1 >= GPURT_CHANNEL_MANY_MOST ? GPURT_E_INVALID : GPURT_OK;
}

/* What the lowest lane was told, and what it acquired with it: a shuffle orders nothing. */
GPURT_DEV int32_t gpurt_channel_told(uint32_t group, int32_t answer)
{
    answer = (int32_t)gpurt_channel_led_u32(group, (uint32_t)answer);
    if (answer == GPURT_E_CHANNEL_CLOSED)
        gpurt_syncwarp(group);
    return answer;
}

/* Most waits are short. They look at one word, with no order: on a GPU each acquire empties the
 * cache of its multiprocessor, where also lie the variables of who waits longer. relaxed: who
 * sees credits claims them */
GPURT_DEV bool gpurt_channel_glances(const gpurt_channel_call_t *call, bool sends)
{
    const gpurt_channel_words_t *words = call->c->words;
    int32_t credits = 0;

    if (call->ns != UINT64_MAX || gpurt_channel_is_pair(call->c) ||
        (sends && call->c->policy != GPURT_CHANNEL_BLOCK))
        return false;
    for (uint32_t i = 0; i < GPURT_CHANNEL_GLANCES; i++) {
        credits = gpurt_channel_credits(
            gpurt_load_relaxed_dev_u64(sends ? &words->xtaken : &words->xsent));
        if (credits > 0 || credits < GPURT_CHANNEL_CLOSED_BELOW)
            break;
        gpurt_pause_for(0, "channel", words->desk.name, UINT64_MAX, call->here);
    }
    return credits > 0;
}

/* What the lanes of a group are told that miss something; missing: messages. Seldom a wait is
 * long: blocks of 1,024 threads have room for the registers of the common way only, which keeps
 * its call in them. What waits has a copy. */
GPURT_DEV int32_t gpurt_channel_await(gpurt_channel_call_t *call, uint32_t group,
                                      uint32_t lanes, uint32_t missing, bool sends)
{
    int32_t answer = GPURT_CHANNEL_AGAIN;

    if (gpurt_is_leader(group) && !gpurt_channel_glances(call, sends)) {
        gpurt_channel_call_t slow = *call;

        answer = sends ? GPURT_FAR(gpurt_channel_await_room)(&slow, lanes, missing)
                       : GPURT_FAR(gpurt_channel_await_data)(&slow, lanes);
        if (call->ns != UINT64_MAX)
            call->begin = slow.begin;
    }
    return gpurt_channel_told(group, answer);
}

/* A lane of a pair; as gpurt_channel_run. */
GPURT_DEV gpurt_status_t gpurt_channel_run_pair(gpurt_channel_call_t *call,
                                                const void *from, void *to, uint64_t shape,
                                                uint32_t count, uint32_t *done, bool single,
                                                bool sends)
{
    const gpurt_channel_t *c = call->c;
    int32_t answer = GPURT_CHANNEL_AGAIN;

    for (;;) {
        size_t at = (size_t)*done * GPURT_CHANNEL_SHAPE_BYTES_(shape);
        uint32_t n;

        if (single)
            n = sends ? gpurt_channel_pair_put(c, from, shape)
                      : gpurt_channel_pair_get(c, to, shape, call);
        else
            n = sends ? gpurt_channel_pair_send(c, (const char *)from + at, shape,
                                                count - *done)
                      : gpurt_channel_pair_receive(c, (char *)to, shape, count);
        *done += n;
        if (sends ? *done == count : n > 0)
            return GPURT_OK;
        answer = gpurt_channel_await(call, 1u << gpurt_lane(), 1, count - *done, sends);
        if (answer != GPURT_CHANNEL_AGAIN)
            break;
    }
    if (answer == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    return answer;
}

/* count messages of this lane, out of `from` or into `to`. sends, and single: count is 1, are
 * literals of the caller. Of many a receiver takes what is there: some are enough. */
GPURT_DEV gpurt_status_t gpurt_channel_run(gpurt_channel_call_t *call, const void *from,
                                           void *to, uint64_t shape, uint32_t count,
                                           uint32_t *done, bool single, bool sends)
{
    const gpurt_channel_t *c = call->c;
    const uint32_t bytes = GPURT_CHANNEL_SHAPE_BYTES_(shape);
    int32_t answer = gpurt_channel_refused(c, shape, count);
    uint32_t group, all, below, left = count;
    bool looks = call->ns == 0;

    if (answer != GPURT_OK)
        return answer;
    if (GPURT_CHANNEL_SHAPE_PAIR_(shape))
        return gpurt_channel_run_pair(call, from, to, shape, count, done, single, sends);
    answer = GPURT_E_INTERNAL; /* never told: who is not through has another answer */
    group = gpurt_channel_group(call, sends, single);
    for (;;) {
        gpurt_channel_tickets_t t = {0, 0};
        uint32_t mine, lanes;

        below = gpurt_channel_rank(group, left, single, &all);
        if (!looks)
            t = gpurt_channel_take(c, group, all, sends);
        mine = gpurt_channel_share(t.count, below, left);
        for (uint32_t i = 0; single ? i < 1 : gpurt_channel_votes(group, i < mine); i++) {
            uint64_t ticket = t.first + below + i;
            size_t at = single ? 0 : (size_t)(*done + i) * bytes;

            if (sends)
                gpurt_channel_put(c, group, i < mine, ticket, (const char *)from + at,
                                  shape);
            else
                gpurt_channel_get(c, group, i < mine, ticket, (char *)to + at, shape);
        }
        *done += mine;
        left = sends || single || mine == 0 ? left - mine : 0;
        lanes = gpurt_popc(gpurt_channel_votes(group, left > 0));
        if (lanes == 0)
            break;
        answer = gpurt_channel_await(call, group, lanes, all - t.count, sends);
        looks = false;
        if (answer == GPURT_CHANNEL_MAKE_ROOM)
            GPURT_FAR(gpurt_channel_make_room)(c, group, all - t.count);
        else if (answer != GPURT_CHANNEL_AGAIN)
            break;
    }
    if (left == 0)
        return GPURT_OK;
    if (answer == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    return answer;
}

#endif
