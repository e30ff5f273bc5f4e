/* SPDX-License-Identifier: Apache-2.0 */
/* broadcastcore.h - how lanes publish, join, read and leave. Verbs: broadcast.h; layout:
 * broadcastmap.h.
 *
 *     publish  one compare-exchange of xsent draws the tickets of a group; then each lane waits
 *              for its slot's last sender, and stores its lines
 *     read     the lines of the slot say by their turns whether the message is there, or was
 *              overwritten; then the seat says that it was read
 *
 * Readers tell senders only where they are, each in its seat. A sender that knows of no room
 * looks at all seats, and leaves what it found in xlimit for the others.
 *
 * A reader that joins takes a seat, touches xsent, and begins with the ticket that it found
 * there. Either a sender read xsent before: then it knows of no room beyond that ticket and a
 * capacity. Or it reads xsent after: then it sees the seat, and waits until that is told. */
#ifndef GPURT_BROADCASTCORE_H
#define GPURT_BROADCASTCORE_H

#include <gpurt/impl/broadcastmap.h>
#include <gpurt/impl/channelcore.h>

/* Owner: a lane, for one call. */
typedef struct gpurt_publish_call {
    const gpurt_broadcast_t *b;
    uint64_t ns;    /* 0: never waits; UINT64_MAX: by the policy */
    uint64_t begin; /* of the first wait */
    gpurt_site_t *place;
    const char *here;
} gpurt_publish_call_t;

/* Tickets of a group, in the order of its lanes. */
typedef gpurt_channel_tickets_t gpurt_broadcast_tickets_t;

/* ---- lines --------------------------------------------------------------------------- */

GPURT_DEV gpurt_u128_t *gpurt_broadcast_slot(const gpurt_broadcast_t *b, uint64_t ticket)
{
    return (gpurt_u128_t *)(void *)(b->slots +
                                    (size_t)(ticket & (b->capacity - 1)) * b->stride);
}

/* Bytes of the message in line i. */
GPURT_DEV uint32_t gpurt_broadcast_part(uint32_t bytes, uint32_t i)
{
    uint32_t left = bytes - i * GPURT_BROADCAST_LINE_BYTES;

    return left < GPURT_BROADCAST_LINE_BYTES ? left : (uint32_t)GPURT_BROADCAST_LINE_BYTES;
}

GPURT_DEV gpurt_u128_t gpurt_broadcast_line(const char *message, uint32_t bytes, uint32_t i,
                                            uint32_t turn)
{
    uint32_t w[3] = {0};

    __builtin_memcpy(w, message + (size_t)i * GPURT_BROADCAST_LINE_BYTES,
                     gpurt_broadcast_part(bytes, i));
    return gpurt_channel_line(turn, w[0], w[1], w[2]);
}

/* Returns: whether the slot's last sender was through, and so is this one. The first line is
 * stored last, and says for the order of everything else. */
GPURT_DEV bool gpurt_broadcast_put_once(const gpurt_broadcast_t *b, uint64_t ticket,
                                        const void *message, uint64_t shape)
{
    const uint32_t bytes = GPURT_CHANNEL_SHAPE_BYTES_(shape),
                   lines = gpurt_broadcast_lines(bytes);
    const char *from = gpurt_channel_aligned(message, shape);
    gpurt_u128_t *line = gpurt_broadcast_slot(b, ticket);
    uint32_t turn = gpurt_broadcast_turn(b, ticket);

    if (!gpurt_channel_lines_are(line, lines, turn - 1))
        return false;
    for (uint32_t i = lines - 1; i > 0; i--) /* relaxed: its turn goes with it */
        gpurt_store_relaxed_dev_u128(line + i, gpurt_broadcast_line(from, bytes, i, turn));
    gpurt_store_release_dev_u128(line, /* BC1.rel */
                                 gpurt_broadcast_line(from, bytes, 0, turn));
    return true;
}

/* As gpurt_channel_put: the vote keeps stores of those that are through from being put off. */
GPURT_DEV void gpurt_broadcast_put(const gpurt_broadcast_t *b, uint32_t group, bool mine,
                                   uint64_t ticket, const void *message, uint64_t shape)
{
    for (;;) {
        if (mine && gpurt_broadcast_put_once(b, ticket, message, shape))
            mine = false;
        if (!gpurt_channel_votes(group, mine))
            return;
        gpurt_pause();
    }
}

/* Up to four lines of a message that was published: into it. */
GPURT_DEV bool gpurt_broadcast_take(const gpurt_u128_t *line, uint32_t first,
                                    uint32_t lines, uint32_t turn, char *to, uint32_t bytes)
{
    gpurt_u128_t got[GPURT_CHANNEL_LINES_MOST];
    uint32_t n = lines - first < GPURT_CHANNEL_LINES_MOST
                     ? lines - first
                     : (uint32_t)GPURT_CHANNEL_LINES_MOST;
    bool all = true;

    for (uint32_t i = 0; i < n; i++) { /* relaxed: its turn goes with it */
        got[i] = first + i ? gpurt_load_relaxed_dev_u128(line + first + i)
                           : gpurt_load_acquire_dev_u128(line); /* BC1.acq */
        all &= (uint32_t)got[i].lo == turn;
    }
    for (uint32_t i = 0; all && i < n; i++) {
        uint32_t w[3] = {(uint32_t)(got[i].lo >> 32), (uint32_t)got[i].hi,
                         (uint32_t)(got[i].hi >> 32)};

        __builtin_memcpy(to + (size_t)(first + i) * GPURT_BROADCAST_LINE_BYTES, w,
                         gpurt_broadcast_part(bytes, first + i));
    }
    return all;
}

/* Returns: whether all of it was there. */
GPURT_DEV bool gpurt_broadcast_get(const gpurt_broadcast_t *b, uint64_t ticket,
                                   void *message, uint64_t shape)
{
    const uint32_t bytes = GPURT_CHANNEL_SHAPE_BYTES_(shape),
                   lines = gpurt_broadcast_lines(bytes);
    char *to = (char *)gpurt_channel_aligned(message, shape);
    const gpurt_u128_t *line = gpurt_broadcast_slot(b, ticket);
    uint32_t turn = gpurt_broadcast_turn(b, ticket);

    for (uint32_t i = 0; i < lines; i += GPURT_CHANNEL_LINES_MOST)
        if (!gpurt_broadcast_take(line, i, lines, turn, to, bytes))
            return false;
    return true;
}

/* ---- publish ------------------------------------------------------------------------- */

/* Draws up to n tickets, as far as it knows of room. relaxed: turns order the messages, and what
 * xlimit once said stays true */
GPURT_DEV uint32_t gpurt_broadcast_draw(const gpurt_broadcast_t *b, uint32_t n,
                                        uint64_t *first)
{
    uint64_t sent = gpurt_load_relaxed_dev_u64(&b->words->xsent);

    while (!(sent & GPURT_BROADCAST_CLOSED)) {
        uint64_t ticket = sent >> 1;
        int64_t room = n;

        if (b->policy != GPURT_BROADCAST_DROP)
            room = (int64_t)(gpurt_load_relaxed_dev_u64(&b->words->xlimit) + b->capacity -
                             ticket);
        if (room <= 0)
            break;
        n = (uint64_t)room < n ? (uint32_t)room : n;
        if (gpurt_cas_relaxed_dev_u64(&b->words->xsent, &sent, sent + 2ull * n)) {
            *first = ticket;
            return n;
        }
    }
    return 0;
}

/* Up to where each reader has read; sent: of xsent, acquired before. Returns: false, one is about
 * to say where it begins. relaxed: who reads a line compares its turn, so a cursor that is seen
 * early does no harm */
GPURT_DEV bool gpurt_broadcast_scan(const gpurt_broadcast_t *b, uint64_t sent,
                                    uint64_t *limit)
{
    bool known = true;

    *limit = sent >> 1;
    for (uint32_t i = 0; i < b->readers; i++) {
        uint64_t v = gpurt_load_relaxed_dev_u64(&b->seats[i].xcursor);
        uint64_t cursor = v >> GPURT_SEAT_BITS;

        known &= !(v & GPURT_SEAT_JOINING);
        if ((v & GPURT_SEAT_TAKEN) && cursor < *limit)
            *limit = cursor;
    }
    return known;
}

/* It is full. relaxed: a statistic */
GPURT_DEV int32_t gpurt_broadcast_full(const gpurt_broadcast_t *b, gpurt_channel_wait_t *w,
                                       uint32_t n)
{
    if (w->ns == 0 || (w->ns == UINT64_MAX && b->policy == GPURT_BROADCAST_FAIL)) {
        gpurt_red_add_relaxed_dev_u64(&w->desk->xrefused, n);
        return GPURT_E_FULL;
    }
    return gpurt_channel_wait_pass(w);
}

/* One lane looks for a group of n lanes. The seats come behind xsent: the slowest reader has a
 * capacity before it at the moment when its seat is read. */
GPURT_DEVN int32_t gpurt_broadcast_await_room(gpurt_publish_call_t *call, uint32_t n)
{
    const gpurt_broadcast_t *b = call->b;
    gpurt_channel_wait_t w = {&b->words->desk,
                              call->ns,
                              &call->begin,
                              call->place,
                              call->here,
                              NULL,
                              n,
                              0,
                              true,
                              false};
    int32_t answer;

    do {
        uint64_t sent = gpurt_load_acquire_dev_u64(&b->words->xsent); /* BC2.acq BC3.acq */
        uint64_t limit;

        if (sent & GPURT_BROADCAST_CLOSED) {
            gpurt_red_add_relaxed_dev_u64(&w.desk->xrefused, n); /* relaxed: a statistic */
            answer = gpurt_channel_gone(w.desk, b->id);
        } else if (!gpurt_broadcast_scan(b, sent, &limit)) {
            gpurt_channel_wait_pause(&w);
            answer = GPURT_CHANNEL_AGAIN;
        } else if (b->policy == GPURT_BROADCAST_DROP || (sent >> 1) - limit < b->capacity) {
            gpurt_red_max_relaxed_dev_u64(&b->words->xlimit, limit); /* relaxed: as draw */
            answer = GPURT_CHANNEL_GO;
        } else {
            answer = gpurt_broadcast_full(b, &w, n);
        }
    } while (answer == GPURT_CHANNEL_AGAIN);
    gpurt_channel_wait_end(&w);
    return answer == GPURT_CHANNEL_GO ? (int32_t)GPURT_CHANNEL_AGAIN : answer;
}

/* A group's tickets; each of its lanes is told. */
GPURT_DEV gpurt_broadcast_tickets_t gpurt_broadcast_tickets(const gpurt_broadcast_t *b,
                                                            uint32_t group, uint32_t n)
{
    gpurt_broadcast_tickets_t t = {0, 0};

    if (gpurt_is_leader(group))
        t.count = gpurt_broadcast_draw(b, n, &t.first);
    t.count = gpurt_channel_led_u32(group, t.count);
    t.first = gpurt_channel_led_u64(group, t.first);
    return t;
}

GPURT_DEV int32_t gpurt_broadcast_await(gpurt_publish_call_t *call, uint32_t group,
                                        uint32_t lanes)
{
    int32_t answer = GPURT_CHANNEL_AGAIN;

    if (gpurt_is_leader(group)) {
        gpurt_publish_call_t slow = *call;

        answer = GPURT_FAR(gpurt_broadcast_await_room)(&slow, lanes);
        call->begin = slow.begin;
    }
    return gpurt_channel_told(group, answer);
}

GPURT_DEV gpurt_status_t gpurt_broadcast_run(gpurt_publish_call_t *call,
                                             const void *message, uint64_t shape)
{
    const gpurt_broadcast_t *b = call->b;
    uint32_t waits = call->ns == 0 ? 0 : call->ns == UINT64_MAX ? 1 : 2;
    int32_t answer =
        GPURT_E_INTERNAL; /* never told: who is not through has another answer */
    uint32_t group, lanes;
    bool left = true;

    if (!b->words)
        return GPURT_E_HANDLE;
    if (GPURT_CHANNEL_SHAPE_BYTES_(shape) != b->bytes)
        return GPURT_E_INVALID;
    group = gpurt_channel_alike((uint64_t)(uintptr_t)b->words | waits);
    for (;;) {
        uint32_t all, below = gpurt_channel_rank(group, left, true, &all);
        gpurt_broadcast_tickets_t t = gpurt_broadcast_tickets(b, group, all);
        bool mine = left && below < t.count;

        gpurt_broadcast_put(b, group, mine, t.first + below, message, shape);
        left = left && !mine;
        lanes = gpurt_popc(gpurt_channel_votes(group, left));
        if (lanes == 0)
            break;
        answer = gpurt_broadcast_await(call, group, lanes);
        if (answer != GPURT_CHANNEL_AGAIN)
            break;
    }
    if (!left)
        return GPURT_OK;
    if (answer == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    return answer;
}

/* ---- readers ------------------------------------------------------------------------- */

/* relaxed: what was read had its turn, so nothing that is stored later was */
GPURT_DEV void gpurt_seat_say(gpurt_seat_t *seat, uint64_t next, uint32_t state)
{
    gpurt_store_relaxed_dev_u64(&seat->xcursor, next << GPURT_SEAT_BITS | state);
}

/* Whoever takes the seat next goes on from there with its counts; copies of the reader have
 * another number now. */
GPURT_DEV void gpurt_seat_leave(gpurt_seat_t *seat, uint64_t next)
{
    gpurt_store_relaxed_dev_u32(&seat->xjoins, gpurt_load_relaxed_dev_u32(&seat->xjoins) +
                                                   1); /* relaxed: below */
    gpurt_store_release_dev_u64(&seat->xcursor, next << GPURT_SEAT_BITS); /* BC4.rel */
}

/* One look at all seats. The first one differs from lane to lane. relaxed: who finds one free
 * takes it with order. Returns: a seat, or NULL; *known: of each seat it was clear whose it is. */
GPURT_DEV gpurt_seat_t *gpurt_seat_find(const gpurt_broadcast_t *b, uint64_t *was,
                                        bool *known)
{
    uint32_t first = gpurt_global_id() % b->readers;

    *known = true;
    for (uint32_t i = 0; i < b->readers; i++) {
        gpurt_seat_t *seat = b->seats + (first + i) % b->readers;
        uint64_t v = gpurt_load_relaxed_dev_u64(&seat->xcursor);

        if (v & GPURT_SEAT_TAKEN)
            continue;
        if (!(v & GPURT_SEAT_JOINING) &&
            gpurt_cas_acquire_dev_u64(&seat->xcursor, &v,
                                      v | GPURT_SEAT_JOINING)) { /* BC4.acq */
            *was = v >> GPURT_SEAT_BITS;
            return seat;
        }
        *known = false; /* who is about to take it may find it closed */
    }
    return NULL;
}

GPURT_DEV gpurt_seat_t *gpurt_seat_take(const gpurt_broadcast_t *b, uint64_t *was)
{
    bool known = true;
    gpurt_seat_t *seat = gpurt_seat_find(b, was, &known);

    while (!seat && !known) {
        gpurt_pause();
        seat = gpurt_seat_find(b, was, &known);
    }
    return seat;
}

/* A seat, and the ticket that its reader begins with; *was: where the last one stopped. */
GPURT_DEV gpurt_status_t gpurt_reader_seat(const gpurt_broadcast_t *b, gpurt_reader_t *r,
                                           uint64_t *was)
{
    gpurt_broadcast_words_t *w = b->words;
    gpurt_seat_t *seat = gpurt_seat_take(b, was);
    uint64_t sent;

    if (!seat) {
        gpurt_red_add_relaxed_dev_u64(&w->xunseated, 1); /* relaxed: a statistic */
        return GPURT_E_FULL;
    }
    /* 0: a sender that reads xsent from here on sees the seat, one that has read it knows of no
     * room that this reader could need. */
    sent = gpurt_add_acq_rel_dev_u64(&w->xsent, 0); /* BC2.rel BC3.acq */
    if (sent & GPURT_BROADCAST_CLOSED) {
        gpurt_seat_leave(seat, *was);
        return gpurt_channel_gone(&w->desk, b->id);
    }
    r->of = *b;
    r->seat = seat;
    r->next = sent >> 1;
    r->lost = 0;
    return GPURT_OK;
}

/* From here on senders know where it is. relaxed: as gpurt_seat_find */
GPURT_DEV void gpurt_reader_sit(gpurt_reader_t *r, uint64_t was)
{
    gpurt_seat_t *seat = r->seat;

    r->join = gpurt_load_relaxed_dev_u32(&seat->xjoins) + 1;
    gpurt_store_relaxed_dev_u32(&seat->xjoins, r->join);
    gpurt_store_relaxed_dev_u64(&seat->xskew,
                                gpurt_load_relaxed_dev_u64(&seat->xskew) + r->next - was);
    gpurt_seat_say(seat, r->next, GPURT_SEAT_TAKEN);
}

GPURT_DEVN gpurt_status_t gpurt_broadcast_join(const gpurt_broadcast_t *b,
                                               gpurt_reader_t *r)
{
    gpurt_status_t st;
    uint64_t was = 0;

    r->seat = NULL;
    if (!b->words || gpurt_load_relaxed_dev_u32(&b->words->desk.id) !=
                         b->id) /* relaxed: only compared */
        return GPURT_E_HANDLE;
    st = gpurt_reader_seat(b, r, &was);
    if (st == GPURT_OK)
        gpurt_reader_sit(r, was);
    return st;
}

/* Whether its seat is its own. relaxed: only compared */
GPURT_DEV bool gpurt_reader_is(const gpurt_reader_t *r)
{
    return r->seat && gpurt_load_relaxed_dev_u32(&r->seat->xjoins) == r->join;
}

GPURT_DEV gpurt_status_t gpurt_reader_quit(gpurt_reader_t *r)
{
    if (!gpurt_reader_is(r))
        return GPURT_E_HANDLE;
    gpurt_seat_leave(r->seat, r->next);
    r->seat = NULL;
    return GPURT_OK;
}

/* It was overtaken: the oldest message that a send has left it is its next. relaxed: statistics */
GPURT_DEV int32_t gpurt_reader_skip(gpurt_reader_t *r, uint64_t next)
{
    uint64_t lost = next - r->next;
    gpurt_seat_t *s = r->seat;

    r->lost += lost;
    r->next = next;
    gpurt_store_relaxed_dev_u64(&s->xskew, gpurt_load_relaxed_dev_u64(&s->xskew) + lost);
    gpurt_store_relaxed_dev_u64(&s->xlost, gpurt_load_relaxed_dev_u64(&s->xlost) + lost);
    gpurt_seat_say(s, next, GPURT_SEAT_TAKEN);
    return GPURT_E_DROPPED;
}

/* Why its next message is not there. */
GPURT_DEVN int32_t gpurt_reader_look(gpurt_reader_t *r)
{
    const gpurt_broadcast_t *b = &r->of;
    uint64_t sent = gpurt_load_acquire_dev_u64(&b->words->xsent); /* BC3.acq */
    uint64_t tail = sent >> 1;

    if (!gpurt_reader_is(r))
        return GPURT_E_HANDLE;
    if (tail == r->next)
        return sent & GPURT_BROADCAST_CLOSED ? gpurt_channel_gone(&b->words->desk, b->id)
                                             : (int32_t)GPURT_E_EMPTY;
    if (b->policy == GPURT_BROADCAST_DROP && tail - r->next > b->capacity)
        return gpurt_reader_skip(r, tail - b->capacity);
    return GPURT_CHANNEL_AGAIN;
}

/* Its first line's turn, which is stored last. relaxed: who reads the message acquires it */
GPURT_DEV bool gpurt_reader_glances(const gpurt_reader_t *r, const char *here)
{
    const gpurt_u128_t *line = gpurt_broadcast_slot(&r->of, r->next);
    uint32_t turn = gpurt_broadcast_turn(&r->of, r->next);

    for (uint32_t i = 0; i < GPURT_CHANNEL_LOOKS; i++) {
        if ((uint32_t)gpurt_load_relaxed_dev_u128(line).lo == turn)
            return true;
        gpurt_pause_for(0, "channel", r->of.words->desk.name, UINT64_MAX, here);
    }
    return false;
}

/* Not there at once: looks for a time, then waits. Returns: GPURT_CHANNEL_GO, it may be there now,
 * or why it is not. The copy is the caller's: it knows the shape, and has the registers. */
GPURT_DEVN int32_t gpurt_reader_await(gpurt_reader_t *r, uint64_t ns, gpurt_site_t *place,
                                      const char *here)
{
    const gpurt_broadcast_t *b = &r->of;
    uint64_t begin = 0;
    gpurt_channel_wait_t w = {&b->words->desk, ns,   &begin, place, here, NULL, 1, 0,
                              false,           false};
    int32_t answer = GPURT_CHANNEL_AGAIN;

    if (ns == UINT64_MAX && gpurt_reader_glances(r, here))
        return GPURT_CHANNEL_GO;
    while (answer == GPURT_CHANNEL_AGAIN) {
        answer = gpurt_reader_look(r);
        if (answer == GPURT_CHANNEL_AGAIN) { /* its sender is in the middle of its copy */
            gpurt_pause();
            answer = GPURT_CHANNEL_GO;
        } else if (answer == GPURT_E_EMPTY && ns > 0) {
            answer = gpurt_channel_wait_pass(&w);
        }
    }
    gpurt_channel_wait_end(&w);
    return answer;
}

GPURT_DEV gpurt_status_t gpurt_reader_run(gpurt_reader_t *r, void *message, uint64_t shape,
                                          uint64_t ns, gpurt_site_t *place,
                                          const char *here)
{
    int32_t answer = GPURT_OK;

    if (!gpurt_reader_is(r))
        return GPURT_E_HANDLE;
    if (GPURT_CHANNEL_SHAPE_BYTES_(shape) != r->of.bytes)
        return GPURT_E_INVALID;
    while (!gpurt_broadcast_get(&r->of, r->next, message, shape)) {
        answer = GPURT_FAR(gpurt_reader_await)(r, ns, place, here);
        if (answer != GPURT_CHANNEL_GO)
            break;
        answer = GPURT_OK;
    }
    if (answer == GPURT_OK) {
        r->next++;
        gpurt_seat_say(r->seat, r->next, GPURT_SEAT_TAKEN);
    } else if (answer == GPURT_E_CANCELLED) { /* nobody is to wait for this reader */
        (void)gpurt_reader_quit(r);
        gpurt_cancel_point();
    }
    return answer;
}

#endif
