/* SPDX-License-Identifier: Apache-2.0 */
/* hostchannelcore.h - how lanes receive from another place and send to it. Verbs: hostchannel.h, of
 * the host; peerchannel.h, of another device. Layout: hostchannelmap.h.
 *
 *     draw     one lane at a time, for its group: tickets up to the limit; without any it looks at
 *              the host's word, for all
 *     copy     each lane out of its slot, or into it
 *     tell     a mark, or the slot's turn: the host may go on
 *
 * A read of host memory takes a microsecond, and a bus carries some ten million a second. So only
 * who draws looks, and the others find its limit in device memory. Nothing between draw and tell
 * ends a lane: who waits holds no ticket. Between devices an end looks at its own memory instead:
 * peerlook.h. */
#ifndef GPURT_HOSTCHANNELCORE_H
#define GPURT_HOSTCHANNELCORE_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/hostword.h>
#include <gpurt/ids.h>
#include <gpurt/impl/channelcore.h>
#include <gpurt/impl/hostchannelmap.h>
#include <gpurt/impl/peerlook.h>

enum {
    GPURT_HOSTCHANNEL_READS = 16, /* of a look, while nothing is new */
    /* An answer beside gpurt_status_t and those of channelwait.h: another lane draws now. */
    GPURT_HOSTCHANNEL_BUSY = 4
};

/* Owner: a lane, for one call. */
typedef struct gpurt_hostchannel_call {
    const gpurt_hostchannel_t *c;
    uint64_t ns;    /* 0: never waits; UINT64_MAX: by the policy */
    uint64_t begin; /* of the first wait */
    gpurt_site_t *place;
    const char *here;
    bool sends, keeps; /* keeps: the mark comes later, by gpurt_host_acknowledge */
} gpurt_hostchannel_call_t;

/* ---- draw ---------------------------------------------------------------------------- */

GPURT_DEV bool gpurt_hostchannel_enter(gpurt_hostchannel_words_t *w)
{
    uint32_t none = 0;

    return !gpurt_load_relaxed_dev_u32(&w->xdrawing) &&       /* relaxed: a hint */
           gpurt_cas_acquire_far_u32(&w->xdrawing, &none, 1); /* HN1.acq */
}

GPURT_DEV void gpurt_hostchannel_exit(gpurt_hostchannel_words_t *w)
{
    gpurt_store_release_dev_u32(&w->xdrawing, 0); /* HN1.rel */
}

/* What a group draws. Owner: its lowest lane. */
typedef struct gpurt_hostchannel_drawn {
    gpurt_channel_tickets_t t;
    gpurt_u128_t unit; /* of the first one's slot */
    bool has_unit;     /* it came with the look */
} gpurt_hostchannel_drawn_t;

/* The first unit of a slot. The host may store the turn of a small message meanwhile, so the CPU
 * leaves it out. Larger ones have none: their units are read beside each other. relaxed: the message
 * is there, or its turn says that it is not */
GPURT_DEV gpurt_u128_t gpurt_hostchannel_unit(const gpurt_hostchannel_t *c,
                                              const char *slot)
{
    const uint32_t *words = (const uint32_t *)(const void *)slot;
    gpurt_u128_t v;

    if (c->bytes > GPURT_HOSTCHANNEL_SMALL)
        return *(const gpurt_u128_t *)(const void *)slot;
    if (GPURT_IN_DEVICE)
        return gpurt_load_relaxed_sys_u128((const gpurt_u128_t *)(const void *)slot);
    v.lo = (uint64_t)words[1] << 32;
    v.hi = words[2] | (uint64_t)words[3] << 32;
    return v;
}

/* A small message comes with its turn in one read of 16 bytes, which a GPU's access to one line of
 * host memory takes whole. The CPU reads the turn alone. The host has told of the message before.
 * relaxed: acquired behind it
 * Returns: whether the next message is there. */
GPURT_DEV bool gpurt_hostchannel_peek(const gpurt_hostchannel_t *c,
                                      gpurt_hostchannel_drawn_t *d)
{
    const uint64_t next = c->words->next;
    const char *slot = gpurt_hostchannel_slot(c, next);
    uint32_t turn;

    if (GPURT_IN_DEVICE) {
        d->unit = gpurt_hostchannel_unit(c, slot);
        turn = (uint32_t)d->unit.lo;
    } else {
        turn = gpurt_load_relaxed_sys_u32((const uint32_t *)(const void *)slot);
    }
    if (turn != (uint32_t)next + 1)
        return false;
    gpurt_acquire_behind_sys_u32((const uint32_t *)(const void *)slot, 1); /* HW2.acq */
    d->has_unit = GPURT_IN_DEVICE;
    return true;
}

/* Raises the limit. A lane alone reads the slot of a small message, and the host's word at last: the
 * message comes with the first read that finds it. Others read the word.
 * Returns: whether the host has closed the channel, and lanes have drawn all that it sent. Context:
 * entered. relaxed: acquired behind it; what is stored is for who enters next, and for a viewer that
 * looks beside */
GPURT_DEV bool gpurt_hostchannel_look(const gpurt_hostchannel_t *c, uint32_t reads,
                                      bool peeks, gpurt_hostchannel_drawn_t *d)
{
    gpurt_hostchannel_words_t *w = c->words;
    const uint32_t room = c->way == GPURT_TO_HOST ? c->capacity : 0;
    uint32_t told = 0, more = 0;

    gpurt_store_relaxed_dev_u64(&w->xlooks, w->xlooks + 1);
    while (reads-- > 0 && more == 0 && !(told & GPURT_HOSTCHANNEL_CLOSED)) {
        if (peeks && gpurt_hostchannel_peek(c, d)) {
            gpurt_store_relaxed_dev_u64(&w->limit, w->next + 1);
            return false;
        }
        if (peeks && reads > 0)
            continue;
        told = gpurt_load_relaxed_sys_u32(&c->side->xtold);
        more = gpurt_hostchannel_ahead(told, room, w->next);
    }
    if (more || (told & GPURT_HOSTCHANNEL_CLOSED))
        gpurt_acquire_behind_sys_u32(&c->side->xtold, 1); /* HW2.acq */
    gpurt_store_relaxed_dev_u64(&w->limit, w->next + more);
    return !more && (told & GPURT_HOSTCHANNEL_CLOSED);
}

/* Up to n tickets. relaxed: the state is written by who has entered, or by the host at its end.
 * Returns: GPURT_CHANNEL_GO, _AGAIN: there are none, GPURT_HOSTCHANNEL_BUSY, or
 * GPURT_E_CHANNEL_CLOSED. */
GPURT_DEV int32_t gpurt_hostchannel_draw(const gpurt_hostchannel_call_t *call, uint32_t n,
                                         gpurt_hostchannel_drawn_t *d)
{
    const gpurt_hostchannel_t *c = call->c;
    gpurt_hostchannel_words_t *w = c->words;
    int32_t answer = GPURT_CHANNEL_AGAIN;
    bool closed;

    if (!gpurt_hostchannel_enter(w))
        return GPURT_HOSTCHANNEL_BUSY;
    closed = gpurt_load_relaxed_dev_u32(&w->desk.xstate) != GPURT_CHANNEL_OPEN;
    if (!closed && w->limit == w->next)
        closed = c->far ? gpurt_peer_look(c, n)
                        : gpurt_hostchannel_look(c, call->ns ? GPURT_HOSTCHANNEL_READS : 1,
                                                 n == 1 && !call->sends &&
                                                     c->bytes <= GPURT_HOSTCHANNEL_SMALL,
                                                 d);
    if (closed) {
        answer = GPURT_E_CHANNEL_CLOSED;
    } else if (w->limit != w->next) {
        uint64_t there = w->limit - w->next;

        d->t.count = there < n ? (uint32_t)there : n;
        d->t.first = w->next;
        gpurt_store_relaxed_dev_u64(&w->next, w->next + d->t.count);
        answer = GPURT_CHANNEL_GO;
    }
    gpurt_hostchannel_exit(w);
    if (answer != GPURT_CHANNEL_AGAIN)
        gpurt_host_wake(); /* who found it busy may find something */
    return answer;
}

/* ---- waiting ------------------------------------------------------------------------- */

/* A lane that has waited here is one that the host may wait for, until it is told that nothing more
 * comes. Of devices that are two, each has its own graph. Behind the wait: its registers are not those
 * of who waits. */
GPURT_DEVN void gpurt_hostchannel_hold(const gpurt_hostchannel_call_t *call, bool held)
{
    gpurt_hold_tell(gpurt_waitable_number(&call->c->words->desk.waitable),
                    call->sends ? GPURT_HOLD_SENDER : GPURT_HOLD_RECEIVER,
                    held ? gpurt_place_number(call->place) : 0, held);
}

/* A pass of a wait: for the host, or for a lane that draws. */
GPURT_DEV int32_t gpurt_hostchannel_wait(const gpurt_hostchannel_call_t *call,
                                         gpurt_channel_wait_t *w)
{
    int32_t answer = call->ns ? gpurt_channel_wait_check(w) : (int32_t)GPURT_CHANNEL_AGAIN;
    uint64_t gone = 0;

    if (answer != GPURT_CHANNEL_AGAIN)
        return answer;
    if (call->begin)
        gone = gpurt_globaltimer() - call->begin;
    gpurt_host_pause_held(w->passes++,
                          call->begin && gone < call->ns ? call->ns - gone : UINT64_MAX,
                          call->here);
    return answer;
}

/* There is no ticket for n lanes. relaxed: statistics */
GPURT_DEV int32_t gpurt_hostchannel_none(const gpurt_hostchannel_call_t *call,
                                         gpurt_channel_wait_t *w, uint32_t n)
{
    const gpurt_hostchannel_t *c = call->c;
    const uint32_t policy = gpurt_hostchannel_policy(c, call->ns);

    if (!call->sends)
        return call->ns ? gpurt_hostchannel_wait(call, w) : (int32_t)GPURT_E_EMPTY;
    if (policy == GPURT_CHANNEL_BLOCK)
        return gpurt_hostchannel_wait(call, w);
    gpurt_red_add_relaxed_dev_u64(
        policy == GPURT_CHANNEL_FAIL ? &w->desk->xrefused : &c->words->xdropped, n);
    return policy == GPURT_CHANNEL_FAIL ? GPURT_E_FULL : GPURT_E_DROPPED;
}

/* One lane, for n of its group. Not inlined: what waits for the host takes microseconds, and its
 * registers are not the caller's. Returns: GPURT_CHANNEL_GO and tickets, or why there are none. */
GPURT_DEVN int32_t gpurt_hostchannel_take(gpurt_hostchannel_call_t *call, uint32_t n,
                                          gpurt_hostchannel_drawn_t *d)
{
    const gpurt_hostchannel_t *c = call->c;
    gpurt_channel_wait_t w = {
        &c->words->desk, call->ns, &call->begin, call->place, call->here, NULL, n, 0,
        call->sends,     false};
    int32_t answer;

    do {
        answer = gpurt_hostchannel_draw(call, n, d);
        if (answer == GPURT_HOSTCHANNEL_BUSY)
            answer = gpurt_hostchannel_wait(call, &w);
        else if (answer == GPURT_CHANNEL_AGAIN)
            answer = gpurt_hostchannel_none(call, &w, n);
    } while (answer == GPURT_CHANNEL_AGAIN);
    gpurt_channel_wait_end(&w);
    /* The port last: a lane that found a message at once does not read it. */
    if (GPURT_UNLIKELY(w.told || answer == GPURT_E_CHANNEL_CLOSED) && !c->far &&
        gpurt_log_port.waits)
        gpurt_hostchannel_hold(call, answer == GPURT_CHANNEL_GO);
    return answer == GPURT_E_CHANNEL_CLOSED ? gpurt_channel_gone(w.desk, c->id) : answer;
}

/* ---- slots --------------------------------------------------------------------------- */

/* In units of 16 bytes; v: the first one, where the first 12 lie beside the turn. */
GPURT_DEV void gpurt_hostchannel_get(const char *slot, gpurt_u128_t v, char *to,
                                     uint32_t bytes)
{
    uint32_t n =
        bytes < GPURT_HOSTCHANNEL_SMALL ? bytes : (uint32_t)GPURT_HOSTCHANNEL_SMALL;

    __builtin_memcpy(to, (const char *)&v + GPURT_HOSTCHANNEL_HEAD, n);
    for (uint32_t at = n; at < bytes; at += n) {
        n = bytes - at < GPURT_HOSTCHANNEL_UNIT ? bytes - at
                                                : (uint32_t)GPURT_HOSTCHANNEL_UNIT;
        v = *(const gpurt_u128_t *)(const void *)(slot + GPURT_HOSTCHANNEL_HEAD + at);
        __builtin_memcpy(to + at, &v, n);
    }
}

/* The turn is told behind it, so the first unit goes as words. */
GPURT_DEV void gpurt_hostchannel_put(char *slot, const char *from, uint32_t bytes)
{
    uint32_t *words = (uint32_t *)(void *)slot, head[3] = {0};
    uint32_t n =
        bytes < GPURT_HOSTCHANNEL_SMALL ? bytes : (uint32_t)GPURT_HOSTCHANNEL_SMALL;

    __builtin_memcpy(head, from, n);
    for (uint32_t i = 0; i < 3; i++)
        words[1 + i] = head[i];
    for (uint32_t at = n; at < bytes; at += n) {
        gpurt_u128_t v = {0, 0};

        n = bytes - at < GPURT_HOSTCHANNEL_UNIT ? bytes - at
                                                : (uint32_t)GPURT_HOSTCHANNEL_UNIT;
        __builtin_memcpy(&v, from + at, n);
        *(gpurt_u128_t *)(void *)(slot + GPURT_HOSTCHANNEL_HEAD + at) = v;
    }
}

/* The other end may go on. */
GPURT_DEV void gpurt_hostchannel_done(const gpurt_hostchannel_call_t *call, uint64_t ticket)
{
    const gpurt_hostchannel_t *c = call->c;

    if (!call->keeps)
        gpurt_hostword_tell(call->sends
                                ? (uint32_t *)(void *)gpurt_hostchannel_slot(c, ticket)
                                : &c->marks[gpurt_hostchannel_at(c, ticket)],
                            (uint32_t)ticket + 1);
    if (c->far)
        gpurt_peer_wake();
}

/* This lane's message of a ticket. unit: NULL, or the slot's first one. */
GPURT_DEV void gpurt_hostchannel_copy(const gpurt_hostchannel_call_t *call, void *message,
                                      uint32_t bytes, uint64_t ticket,
                                      const gpurt_u128_t *unit)
{
    const gpurt_hostchannel_t *c = call->c;
    char *slot = gpurt_hostchannel_slot(c, ticket);

    if (call->sends)
        gpurt_hostchannel_put(slot, (const char *)message, bytes);
    else
        gpurt_hostchannel_get(slot, unit ? *unit : gpurt_hostchannel_unit(c, slot),
                              (char *)message, bytes);
}

/* ---- calls --------------------------------------------------------------------------- */

/* relaxed: the number of a thing that ended */
GPURT_DEV gpurt_status_t gpurt_hostchannel_refused(const gpurt_hostchannel_t *c,
                                                   uint32_t bytes, bool sends)
{
    if (!c->words || gpurt_load_relaxed_dev_u32(&c->words->desk.id) != c->id ||
        gpurt_load_relaxed_dev_u32(&c->words->desk.xstate) == GPURT_CHANNEL_DESTROYED)
        return GPURT_E_HANDLE;
    return bytes == c->bytes && sends == gpurt_hostchannel_sends(c) ? GPURT_OK
                                                                    : GPURT_E_INVALID;
}

/* A message of this lane, which a send only reads. *ticket: NULL, or what it got. */
GPURT_DEV gpurt_status_t gpurt_hostchannel_run(gpurt_hostchannel_call_t *call,
                                               void *message, uint32_t bytes,
                                               uint64_t *ticket)
{
    const gpurt_hostchannel_t *c = call->c;
    int32_t answer = gpurt_hostchannel_refused(c, bytes, call->sends);
    uint32_t group, waits = call->ns == 0 ? 0 : call->ns == UINT64_MAX ? 1 : 2, wanting;
    bool wants = true, mine;

    if (answer != GPURT_OK)
        return answer;
    group = gpurt_channel_alike((uint64_t)(uintptr_t)c->words | waits << 2 |
                                call->keeps << 1 | call->sends);
    while ((wanting = gpurt_channel_votes(group, wants)) != 0) {
        uint32_t rank = gpurt_popc(wanting & gpurt_lanes_below());
        gpurt_hostchannel_drawn_t d = {{0, 0}, {0, 0}, false};
        gpurt_channel_tickets_t t;

        if (gpurt_is_leader(group))
            answer = gpurt_hostchannel_take(call, gpurt_popc(wanting), &d);
        answer = (int32_t)gpurt_channel_led_u32(group, (uint32_t)answer);
        t.count = gpurt_channel_led_u32(group, d.t.count);
        t.first = gpurt_channel_led_u64(group, d.t.first);
        gpurt_syncwarp(group); /* what the leader acquired with the tickets */
        if (answer != GPURT_CHANNEL_GO)
            break;
        mine = wants && rank < t.count;
        if (gpurt_peer_is_wide(c, group, message, bytes))
            gpurt_peer_copy_wide(group, mine,
                                 gpurt_hostchannel_slot(c, t.first + rank) +
                                     GPURT_HOSTCHANNEL_HEAD,
                                 (char *)message, bytes, call->sends);
        else if (mine)
            gpurt_hostchannel_copy(call, message, bytes, t.first + rank,
                                   d.has_unit ? &d.unit : NULL);
        if (mine) {
            gpurt_hostchannel_done(call, t.first + rank);
            if (ticket)
                *ticket = t.first + rank;
            wants = false;
        }
    }
    if (!wants)
        return GPURT_OK;
    if (answer == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    return answer;
}

/* ---- end ----------------------------------------------------------------------------- */

GPURT_DEVN gpurt_status_t gpurt_hostchannel_acknowledge(const gpurt_hostchannel_t *c,
                                                        uint64_t ticket)
{
    gpurt_status_t st = gpurt_hostchannel_refused(c, c->bytes, false);

    if (st == GPURT_OK)
        gpurt_hostword_tell(&c->marks[gpurt_hostchannel_at(c, ticket)],
                            (uint32_t)ticket + 1);
    return st;
}

/* The other end learns how many tickets were drawn: each of them comes. relaxed: as in the draw */
GPURT_DEVN gpurt_status_t gpurt_hostchannel_shut(const gpurt_hostchannel_t *c)
{
    gpurt_hostchannel_words_t *w = c->words;
    gpurt_status_t st = gpurt_hostchannel_refused(c, c->bytes, true);
    uint32_t ended;

    if (st != GPURT_OK)
        return st;
    while (!gpurt_hostchannel_enter(w))
        gpurt_pause();
    if (gpurt_load_relaxed_dev_u32(&w->desk.xstate) == GPURT_CHANNEL_OPEN)
        gpurt_store_relaxed_dev_u32(&w->desk.xstate, GPURT_CHANNEL_SHUT);
    else
        st = gpurt_channel_gone(&w->desk, c->id);
    ended = ((uint32_t)w->next & GPURT_HOSTCHANNEL_TICKETS) | GPURT_HOSTCHANNEL_CLOSED;
    gpurt_hostchannel_exit(w);
    if (st == GPURT_OK)
        gpurt_hostword_tell(&c->side->xended, ended);
    if (c->far)
        gpurt_peer_wake();
    gpurt_host_wake();
    return st;
}

#endif
