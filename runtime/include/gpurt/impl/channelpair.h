/* SPDX-License-Identifier: Apache-2.0 */
/* channelpair.h - channels with one lane at each end (GPURT_CHANNEL_PAIR).
 *
 * Each end keeps its next ticket in a line of its own, so nothing is drawn and nothing claimed.
 * The sender stores a message, then adds to xsent. The receiver polls the slot itself, then adds
 * to xtaken; by that the slot is the sender's again. Nobody waits for either addition. The sender
 * reads xtaken when it knows of no room: once in a lap, or when the receiver is behind.
 *
 * The sums are those of other channels, without credits, so who watches, looks for an end or asks
 * whether it is full reads the same words. A close comes from the sender's side: it takes the
 * room that the sender knows of. A sender that others close on in the middle of a call may go on
 * until it looks next, and receivers may have been told of the end by then. To hear of it at once
 * would cost each send a load from the cache that all share. */
#ifndef GPURT_CHANNELPAIR_H
#define GPURT_CHANNELPAIR_H

#include <gpurt/impl/channelslot.h>
#include <gpurt/waits.h>

/* Owner: a lane, for one call. */
typedef struct gpurt_channel_call {
    const gpurt_channel_t *c;
    uint64_t ns;    /* 0: never waits; UINT64_MAX: by the policy */
    uint64_t begin; /* of the first wait */
    gpurt_site_t *place;
    const char *here;
} gpurt_channel_call_t;

enum {
    GPURT_CHANNEL_LOOKS =
        64 /* at a slot, before others are told of the wait: 20 us on a GPU */
};

/* The sender knows of too little room. Returns: how much there is; none: closed. */
GPURT_DEV uint64_t gpurt_channel_pair_look(const gpurt_channel_t *c, uint64_t next)
{
    uint64_t taken = gpurt_load_acquire_dev_u64(&c->words->xtaken); /* CH5.acq */

    if (gpurt_channel_credits(taken) < GPURT_CHANNEL_CLOSED_BELOW)
        return 0;
    return c->capacity -
           ((next - gpurt_channel_tickets(taken)) & (GPURT_CHANNEL_TICKETS - 1));
}

/* Of n messages so many as there is room for. */
GPURT_DEV uint32_t gpurt_channel_pair_room(const gpurt_channel_t *c, uint32_t n)
{
    gpurt_channel_end_t *end = &c->words->out;
    int64_t room = (int64_t)(end->limit - end->next); /* < 0: closed by another lane */

    if (GPURT_UNLIKELY(room < (int64_t)n)) {
        room = (int64_t)gpurt_channel_pair_look(c, end->next);
        end->limit = end->next + (uint64_t)room;
    }
    return room < (int64_t)n ? (uint32_t)room : n;
}

/* ... as there are, by the sender's count. relaxed: their turns order them */
GPURT_DEV uint32_t gpurt_channel_pair_there(const gpurt_channel_t *c, uint32_t n)
{
    uint64_t sent = gpurt_load_relaxed_dev_u64(&c->words->xsent);
    uint64_t there =
        gpurt_channel_between(sent, c->words->in.next << GPURT_CHANNEL_CREDIT_BITS);

    return there < n ? (uint32_t)there : n;
}

/* The other end learns of n tickets from `first` on, behind the bytes of large messages, which
 * were read before. */
GPURT_DEV void gpurt_channel_pair_tell(const gpurt_channel_t *c, uint64_t first, uint32_t n,
                                       uint64_t shape, bool sends)
{
    uint64_t more = (uint64_t)n << GPURT_CHANNEL_CREDIT_BITS;
    gpurt_channel_words_t *w = c->words;

    if (sends) /* relaxed: a number; turns order the messages */
        gpurt_red_add_relaxed_dev_u64(&w->xsent, more);
    else if (gpurt_channel_lines(GPURT_CHANNEL_SHAPE_BYTES_(shape)) == 0)
        gpurt_red_add_release_dev_u64(&w->xtaken, more); /* CH5.rel */
    else /* relaxed: what was read had its turn, so nothing that comes later was */
        gpurt_red_add_relaxed_dev_u64(&w->xtaken, more);
    if (GPURT_UNLIKELY(first % GPURT_CHANNEL_TICKETS + n >= GPURT_CHANNEL_TICKETS))
        gpurt_red_add_relaxed_dev_u64(sends ? &w->xsent_wraps : &w->xtaken_wraps,
                                      1); /* relaxed: a statistic */
}

/* One, if there is room: at an address that the compiler knows, so it may stay in registers. */
GPURT_DEV uint32_t gpurt_channel_pair_put(const gpurt_channel_t *c, const void *from,
                                          uint64_t shape)
{
    const uint64_t first = c->words->out.next;
    gpurt_channel_place_t place = gpurt_channel_place(c, first);

    if (gpurt_channel_pair_room(c, 1) == 0)
        return 0;
    (void)gpurt_channel_put_once(c, 1, true, &place, from, shape);
    c->words->out.next = first + 1;
    gpurt_channel_pair_tell(c, first, 1, shape, true);
    return 1;
}

/* So many of n as there is room for. */
GPURT_DEV uint32_t gpurt_channel_pair_send(const gpurt_channel_t *c, const char *from,
                                           uint64_t shape, uint32_t n)
{
    const uint64_t first = c->words->out.next;

    n = gpurt_channel_pair_room(c, n);
    for (uint32_t i = 0; i < n; i++) {
        gpurt_channel_place_t place = gpurt_channel_place(c, first + i);

        (void)gpurt_channel_put_once(c, 1, true, &place,
                                     from + (size_t)i * GPURT_CHANNEL_SHAPE_BYTES_(shape),
                                     shape);
    }
    if (n) {
        c->words->out.next = first + n;
        gpurt_channel_pair_tell(c, first, n, shape, true);
    }
    return n;
}

/* Some that are there. */
GPURT_DEV uint32_t gpurt_channel_pair_receive(const gpurt_channel_t *c, char *to,
                                              uint64_t shape, uint32_t n)
{
    const uint64_t first = c->words->in.next;

    n = gpurt_channel_pair_there(c, n);
    for (uint32_t i = 0; i < n; i++) {
        gpurt_channel_place_t place = gpurt_channel_place(c, first + i);

        while (!gpurt_channel_get_once(
            c, 1, true, &place, to + (size_t)i * GPURT_CHANNEL_SHAPE_BYTES_(shape), shape))
            gpurt_pause();
    }
    if (n) {
        c->words->in.next = first + n;
        gpurt_channel_pair_tell(c, first, n, shape, false);
    }
    return n;
}

/* One, out of its slot: nobody asks the sender's count. A call that waits looks for some time. */
GPURT_DEV uint32_t gpurt_channel_pair_get(const gpurt_channel_t *c, void *to,
                                          uint64_t shape, const gpurt_channel_call_t *call)
{
    const uint64_t first = c->words->in.next;
    gpurt_channel_place_t place = gpurt_channel_place(c, first);

    for (uint32_t looks = call->ns == 0 ? GPURT_CHANNEL_LOOKS : 0;
         !gpurt_channel_get_once(c, 1, true, &place, to, shape); looks++) {
        if (looks >= GPURT_CHANNEL_LOOKS)
            return 0;
        gpurt_pause_for(0, "channel", c->words->desk.name, UINT64_MAX, call->here);
    }
    c->words->in.next = first + 1;
    gpurt_channel_pair_tell(c, first, 1, shape, false);
    return 1;
}

#endif
