/* SPDX-License-Identifier: Apache-2.0 */
/* unboundedcore.h - how lanes send to an unbounded channel and receive from it. Verbs: unbounded.h;
 * layout: unboundedmap.h.
 *
 *     send      one compare-exchange of xsent draws the tickets of a group, as far as segments
 *               stand behind them; then each lane stores its lines
 *     receive   one compare-exchange of xtaken draws as many tickets as there are messages; each
 *               lane waits for the lines of its slot, and counts itself in the segment. The last
 *               of a segment frees it
 *     append    a segment of the heap is wiped, then put into the directory by a compare-exchange,
 *               then xbacked goes on. Any lane that finds the second without the third does that
 *
 * Memory comes before tickets, so a send that finds none has taken nothing. Nobody reaches a
 * segment but who has a ticket in it, so its last reader may free it: no epoch is needed. */
#ifndef GPURT_UNBOUNDEDCORE_H
#define GPURT_UNBOUNDEDCORE_H

#include <gpurt/alloc.h>
#include <gpurt/impl/broadcastcore.h>
#include <gpurt/impl/unboundedmap.h>

enum {
    GPURT_UNBOUNDED_LOOKS =
        64 /* at one that is about to append, before one does it oneself */
};

/* Owner: a lane, for one call. */
typedef struct gpurt_unbounded_call {
    const gpurt_unbounded_t *c;
    uint64_t ns;    /* 0: never waits; UINT64_MAX: by the policy */
    uint64_t begin; /* of the first wait */
    gpurt_site_t *place;
    const char *here;
} gpurt_unbounded_call_t;

/* ---- segments ------------------------------------------------------------------------ */

GPURT_DEV uint64_t *gpurt_unbounded_row_of(const gpurt_unbounded_t *c, uint64_t segment)
{
    return c->rows + (segment & (c->row_count - 1));
}

GPURT_DEV gpurt_unbounded_segment_t *gpurt_unbounded_at(const gpurt_unbounded_t *c,
                                                        uint64_t place)
{
    return (gpurt_unbounded_segment_t *)(void *)(c->heap.chunks + (place - 1) * 16);
}

/* Of a ticket that was drawn: there is one. Who has seen the ticket may still miss the row, but
 * not for long. */
GPURT_DEV gpurt_unbounded_segment_t *gpurt_unbounded_find(const gpurt_unbounded_t *c,
                                                          uint64_t ticket)
{
    uint64_t k = ticket / GPURT_UNBOUNDED_SLOTS, lap = gpurt_unbounded_lap(c, k), row;

    for (;;) {
        row = gpurt_load_acquire_dev_u64(gpurt_unbounded_row_of(c, k)); /* UB1.acq */
        if (gpurt_unbounded_place(row) &&
            gpurt_unbounded_row(gpurt_unbounded_place(row), lap) == row)
            return gpurt_unbounded_at(c, gpurt_unbounded_place(row));
        gpurt_pause();
    }
}

GPURT_DEV gpurt_u128_t *gpurt_unbounded_slot(const gpurt_unbounded_t *c,
                                             gpurt_unbounded_segment_t *s, uint64_t ticket)
{
    return (gpurt_u128_t *)(void *)((char *)(s + 1) +
                                    ticket % GPURT_UNBOUNDED_SLOTS * c->stride);
}

/* All of its slots are empty. relaxed: who puts it into the directory releases it */
GPURT_DEV void gpurt_unbounded_wipe(const gpurt_unbounded_t *c,
                                    gpurt_unbounded_segment_t *s)
{
    gpurt_u128_t *line = (gpurt_u128_t *)(void *)(s + 1), zero = {0, 0};

    gpurt_store_relaxed_dev_u32(&s->xread, 0);
    for (uint32_t i = 0; i < GPURT_UNBOUNDED_SLOTS * (c->stride / GPURT_CHANNEL_LINE); i++)
        gpurt_store_relaxed_dev_u128(line + i, zero);
}

/* One reader is through with it. The last one frees it; its row waits for the next lap's. */
GPURT_DEV void gpurt_unbounded_done(const gpurt_unbounded_t *c,
                                    gpurt_unbounded_segment_t *s, uint64_t ticket)
{
    uint64_t k = ticket / GPURT_UNBOUNDED_SLOTS;

    if (gpurt_add_acq_rel_dev_u32(&s->xread, 1) + 1 <
        GPURT_UNBOUNDED_SLOTS) /* UB3.rel UB3.acq */
        return;
    /* relaxed: what is put there next brings its own order */
    gpurt_store_relaxed_dev_u64(
        gpurt_unbounded_row_of(c, k),
        gpurt_unbounded_row(0, gpurt_unbounded_lap(c, k + c->row_count)));
    gpurt_heap_free(&c->heap, s);
    gpurt_red_add_relaxed_dev_u64(&c->words->xfreed, 1); /* relaxed: a statistic */
}

/* ---- appending ----------------------------------------------------------------------- */

/* Tickets that could be drawn at once. */
GPURT_DEV int64_t gpurt_unbounded_backed(const gpurt_unbounded_t *c)
{
    uint64_t sent =
        gpurt_load_acquire_dev_u64(&c->words->xsent); /* UB4.acq: before xbacked */
    uint64_t backed = gpurt_load_acquire_dev_u64(&c->words->xbacked); /* UB2.acq */

    return (int64_t)(backed - (sent >> 1));
}

/* Puts a segment behind the last one. Returns: GPURT_OK, it has one more, by this lane (*mine is
 * NULL then) or another; GPURT_E_FULL, its row is that of a lap before. */
GPURT_DEV int32_t gpurt_unbounded_link(const gpurt_unbounded_t *c,
                                       gpurt_unbounded_segment_t **mine)
{
    uint64_t backed = gpurt_load_acquire_dev_u64(&c->words->xbacked); /* UB2.acq */
    uint64_t k = backed / GPURT_UNBOUNDED_SLOTS, lap = gpurt_unbounded_lap(c, k);
    uint64_t place = (uint64_t)((char *)*mine - c->heap.chunks) / 16 + 1;
    uint64_t was = gpurt_unbounded_row(0, lap);

    if (gpurt_cas_release_dev_u64(gpurt_unbounded_row_of(c, k), &was, /* UB1.rel */
                                  gpurt_unbounded_row(place, lap)))
        *mine = NULL;
    else if (!gpurt_unbounded_place(was) ||
             was != gpurt_unbounded_row(gpurt_unbounded_place(was), lap))
        return gpurt_load_acquire_dev_u64(&c->words->xbacked) == backed /* UB2.acq */
                   ? (int32_t)GPURT_E_FULL
                   : (int32_t)GPURT_OK;
    /* The row has it, by whomever: it counts. A failure: another lane said so. */
    (void)gpurt_cas_release_dev_u64(&c->words->xbacked, &backed, /* UB2.rel */
                                    backed + GPURT_UNBOUNDED_SLOTS);
    return GPURT_OK;
}

/* One lane. Returns: GPURT_OK, or why there is no memory. */
GPURT_DEV int32_t gpurt_unbounded_append(const gpurt_unbounded_t *c)
{
    gpurt_unbounded_segment_t *s = (gpurt_unbounded_segment_t *)gpurt_heap_alloc(
        &c->heap, gpurt_unbounded_segment_bytes(c));
    int32_t answer = GPURT_OK;

    if (!s)
        return gpurt_unbounded_backed(c) > 0 ? (int32_t)GPURT_OK : (int32_t)GPURT_E_NOMEM;
    gpurt_unbounded_wipe(c, s);
    while (answer == GPURT_OK && s && gpurt_unbounded_backed(c) <= 0)
        answer = gpurt_unbounded_link(c, &s);
    gpurt_heap_free(&c->heap, s); /* NULL: it was put there */
    return answer;
}

/* Mostly one lane appends, and the others wait a moment for it: none needs it to get on.
 * relaxed: a hint */
GPURT_DEVN int32_t gpurt_unbounded_grow(const gpurt_unbounded_t *c)
{
    gpurt_unbounded_words_t *w = c->words;
    uint32_t no = 0;
    int32_t answer;

    for (uint32_t i = 0;
         i < GPURT_UNBOUNDED_LOOKS && !gpurt_cas_relaxed_dev_u32(&w->xgrowing, &no, 1);
         i++) {
        gpurt_pause();
        no = 0;
        if (gpurt_unbounded_backed(c) > 0)
            return GPURT_OK;
    }
    answer = gpurt_unbounded_append(c);
    gpurt_store_relaxed_dev_u32(&w->xgrowing, 0);
    return answer;
}

/* ---- tickets ------------------------------------------------------------------------- */

/* Of up to n messages, as far as they have memory. */
GPURT_DEV uint32_t gpurt_unbounded_draw(const gpurt_unbounded_t *c, uint32_t n,
                                        uint64_t *first)
{
    uint64_t sent = gpurt_load_acquire_dev_u64(&c->words->xsent); /* UB4.acq */

    while (!(sent & GPURT_UNBOUNDED_CLOSED)) {
        int64_t room = (int64_t)(gpurt_load_acquire_dev_u64(&c->words->xbacked) -
                                 (sent >> 1)); /* UB2.acq */

        if (room <= 0)
            break;
        *first = sent >> 1;
        n = (uint64_t)room < n ? (uint32_t)room : n;
        if (gpurt_cas_acquire_dev_u64(&c->words->xsent, &sent,
                                      sent + 2ull * n)) /* UB4.acq */
            return n;
    }
    return 0;
}

/* Messages that are there, or why there are none. Their own word is read first: empty is true at
 * the moment of the second. */
GPURT_DEV int32_t gpurt_unbounded_look(const gpurt_unbounded_t *c, uint64_t *taken,
                                       uint64_t *there)
{
    uint64_t sent;

    *taken = gpurt_load_acquire_dev_u64(&c->words->xtaken); /* UB5.acq */
    sent = gpurt_load_acquire_dev_u64(&c->words->xsent);    /* UB4.acq */
    *there = (sent >> 1) - *taken;
    if (*there)
        return GPURT_CHANNEL_GO;
    return sent & GPURT_UNBOUNDED_CLOSED ? gpurt_channel_gone(&c->words->desk, c->id)
                                         : (int32_t)GPURT_E_EMPTY;
}

/* Of up to n messages that were sent. *answer: why there is none. */
GPURT_DEV uint32_t gpurt_unbounded_claim(const gpurt_unbounded_t *c, uint32_t n,
                                         uint64_t *first, int32_t *answer)
{
    uint64_t taken, there;

    for (;;) {
        *answer = gpurt_unbounded_look(c, &taken, &there);
        if (*answer != GPURT_CHANNEL_GO)
            return 0;
        *first = taken;
        if (there < n)
            n = (uint32_t)there;
        if (gpurt_cas_relaxed_dev_u64(&c->words->xtaken, &taken,
                                      taken + n)) /* relaxed: UB5.rel; lines order */
            return n;
    }
}

/* ---- messages ------------------------------------------------------------------------ */

/* The first line is stored last, and says for the order of everything else. */
GPURT_DEV void gpurt_unbounded_put(const gpurt_unbounded_t *c, uint64_t ticket,
                                   const void *message, uint64_t shape)
{
    const uint32_t bytes = GPURT_CHANNEL_SHAPE_BYTES_(shape),
                   lines = gpurt_broadcast_lines(bytes);
    const char *from = gpurt_channel_aligned(message, shape);
    gpurt_u128_t *line = gpurt_unbounded_slot(c, gpurt_unbounded_find(c, ticket), ticket);

    for (uint32_t i = lines - 1; i > 0; i--) /* relaxed: its turn goes with it */
        gpurt_store_relaxed_dev_u128(
            line + i, gpurt_broadcast_line(from, bytes, i, GPURT_UNBOUNDED_FULL_TURN));
    gpurt_store_release_dev_u128(
        line, /* BC1.rel */
        gpurt_broadcast_line(from, bytes, 0, GPURT_UNBOUNDED_FULL_TURN));
}

/* Returns: whether its sender was through with it. */
GPURT_DEV bool gpurt_unbounded_get_once(const gpurt_unbounded_t *c, uint64_t ticket,
                                        void *message, uint64_t shape)
{
    const uint32_t bytes = GPURT_CHANNEL_SHAPE_BYTES_(shape),
                   lines = gpurt_broadcast_lines(bytes);
    gpurt_unbounded_segment_t *s = gpurt_unbounded_find(c, ticket);
    const gpurt_u128_t *line = gpurt_unbounded_slot(c, s, ticket);
    char *to = (char *)gpurt_channel_aligned(message, shape);

    for (uint32_t i = 0; i < lines; i += GPURT_CHANNEL_LINES_MOST)
        if (!gpurt_broadcast_take(line, i, lines, GPURT_UNBOUNDED_FULL_TURN, to, bytes))
            return false;
    gpurt_unbounded_done(c, s, ticket);
    return true;
}

/* As gpurt_channel_get: the vote keeps stores of those that are through from being put off. */
GPURT_DEV void gpurt_unbounded_get(const gpurt_unbounded_t *c, uint32_t group, bool mine,
                                   uint64_t ticket, void *message, uint64_t shape)
{
    for (;;) {
        if (mine && gpurt_unbounded_get_once(c, ticket, message, shape))
            mine = false;
        if (!gpurt_channel_votes(group, mine))
            return;
        gpurt_pause();
    }
}

/* ---- calls --------------------------------------------------------------------------- */

/* There is no memory for n messages. relaxed: statistics */
GPURT_DEV int32_t gpurt_unbounded_full(const gpurt_unbounded_t *c, gpurt_channel_wait_t *w,
                                       uint32_t n, int32_t why)
{
    if (w->ns == 0 || (w->ns == UINT64_MAX && c->policy == GPURT_CHANNEL_FAIL)) {
        gpurt_red_add_relaxed_dev_u64(&w->desk->xrefused, n);
        return why;
    }
    if (w->ns == UINT64_MAX && c->policy == GPURT_CHANNEL_DROP_NEWEST) {
        gpurt_red_add_relaxed_dev_u64(&c->words->xdropped, n);
        return GPURT_E_DROPPED;
    }
    return gpurt_channel_wait_pass(w);
}

/* One lane appends for a group of n lanes, or waits for memory. Returns: GPURT_CHANNEL_AGAIN, or
 * what the group is told. */
GPURT_DEVN int32_t gpurt_unbounded_await_room(gpurt_unbounded_call_t *call, uint32_t n)
{
    const gpurt_unbounded_t *c = call->c;
    gpurt_channel_wait_t w = {&c->words->desk,
                              call->ns,
                              &call->begin,
                              call->place,
                              call->here,
                              NULL,
                              n,
                              0,
                              true,
                              false};
    int32_t answer = GPURT_CHANNEL_AGAIN;

    while (answer == GPURT_CHANNEL_AGAIN) {
        if (gpurt_load_acquire_dev_u64(&c->words->xsent) & /* UB4.acq */
            GPURT_UNBOUNDED_CLOSED) {
            gpurt_red_add_relaxed_dev_u64(&w.desk->xrefused, n); /* relaxed: a statistic */
            answer = gpurt_channel_gone(w.desk, c->id);
        } else {
            answer = gpurt_unbounded_grow(c);
            answer = answer == GPURT_OK ? (int32_t)GPURT_CHANNEL_GO
                                        : gpurt_unbounded_full(c, &w, n, answer);
        }
    }
    gpurt_channel_wait_end(&w);
    return answer == GPURT_CHANNEL_GO ? (int32_t)GPURT_CHANNEL_AGAIN : answer;
}

GPURT_DEVN int32_t gpurt_unbounded_await_data(gpurt_unbounded_call_t *call, uint32_t n)
{
    const gpurt_unbounded_t *c = call->c;
    gpurt_channel_wait_t w = {
        &c->words->desk, call->ns, &call->begin, call->place, call->here, NULL, n, 0,
        false,           false};
    uint64_t taken, there;
    int32_t answer;

    do {
        answer = gpurt_unbounded_look(c, &taken, &there);
        if (answer == GPURT_E_EMPTY)
            answer = gpurt_channel_wait_pass(&w);
    } while (answer == GPURT_CHANNEL_AGAIN);
    gpurt_channel_wait_end(&w);
    return answer == GPURT_CHANNEL_GO ? (int32_t)GPURT_CHANNEL_AGAIN : answer;
}

/* What the leader draws for its group; each lane is told. */
GPURT_DEV gpurt_channel_tickets_t gpurt_unbounded_tickets(const gpurt_unbounded_t *c,
                                                          uint32_t group, uint32_t n,
                                                          bool sends, int32_t *answer)
{
    gpurt_channel_tickets_t t = {0, 0};

    if (gpurt_is_leader(group))
        t.count = sends ? gpurt_unbounded_draw(c, n, &t.first)
                        : gpurt_unbounded_claim(c, n, &t.first, answer);
    t.count = gpurt_channel_led_u32(group, t.count);
    t.first = gpurt_channel_led_u64(group, t.first);
    return t;
}

/* A group that got too few tickets. */
GPURT_DEV int32_t gpurt_unbounded_await(gpurt_unbounded_call_t *call, uint32_t group,
                                        uint32_t n, bool sends, int32_t answer)
{
    if (gpurt_is_leader(group)) {
        gpurt_unbounded_call_t slow = *call;

        if (sends)
            answer = GPURT_FAR(gpurt_unbounded_await_room)(&slow, n);
        else if (answer == GPURT_E_EMPTY && call->ns > 0)
            answer = GPURT_FAR(gpurt_unbounded_await_data)(&slow, n);
        call->begin = slow.begin;
    }
    return gpurt_channel_told(group, answer);
}

/* sends: a literal of the caller. */
GPURT_DEV gpurt_status_t gpurt_unbounded_run(gpurt_unbounded_call_t *call, const void *from,
                                             void *to, uint64_t shape, bool sends)
{
    const gpurt_unbounded_t *c = call->c;
    uint32_t waits = call->ns == 0 ? 0 : call->ns == UINT64_MAX ? 1 : 2;
    int32_t answer = GPURT_CHANNEL_AGAIN;
    uint32_t group, lanes;
    bool left = true;

    if (!c->words)
        return GPURT_E_HANDLE;
    if (GPURT_CHANNEL_SHAPE_BYTES_(shape) != c->bytes)
        return GPURT_E_INVALID;
    group = gpurt_channel_alike((uint64_t)(uintptr_t)c->words | waits << 1 | sends);
    for (;;) {
        uint32_t all, below = gpurt_channel_rank(group, left, true, &all);
        gpurt_channel_tickets_t t;
        bool mine;

        answer = GPURT_CHANNEL_AGAIN; /* some tickets, and another pass for the others */
        t = gpurt_unbounded_tickets(c, group, all, sends, &answer);
        mine = left && below < t.count;
        if (sends && mine)
            gpurt_unbounded_put(c, t.first + below, from, shape);
        if (!sends)
            gpurt_unbounded_get(c, group, mine, t.first + below, to, shape);
        left = left && !mine;
        lanes = gpurt_popc(gpurt_channel_votes(group, left));
        if (lanes == 0)
            break;
        if (sends || t.count == 0)
            answer = gpurt_unbounded_await(call, group, lanes, sends, answer);
        else
            answer = GPURT_CHANNEL_AGAIN;
        if (answer != GPURT_CHANNEL_AGAIN)
            break;
    }
    if (!left)
        return GPURT_OK;
    if (answer == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    return answer;
}

#endif
