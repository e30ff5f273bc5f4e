/* SPDX-License-Identifier: Apache-2.0 */
/* channel.h - messages from any lanes to any lanes, in order, with a bound.
 *
 *     GPURT_CHANNEL(orders, struct order, 1024);       a type of channel, for both sides
 *     struct args { orders_t orders; ... };            made by the host (channels.h)
 *
 *     gpurt_send(&p->orders, &order)                   the type of the message is checked
 *     while (gpurt_receive(&p->orders, &order) == GPURT_OK) ...
 *
 *     GPURT_PAIR(steps, struct step, 64);              the same for one lane at a time at each
 *                                                      end, where a message takes less time
 *
 *   gpurt_send(c, m)            by the channel's policy: waits, fails or drops when it is full
 *   gpurt_send_for(c, m, ns)    waits so long at most, whatever the policy would drop
 *   gpurt_try_send(c, m)        never waits; GPURT_E_FULL
 *   gpurt_receive(c, m)         waits for a message
 *   gpurt_receive_for(c, m, ns), gpurt_try_receive(c, m)
 *   gpurt_send_many(c, m, n, &done)        n messages of an array, 64 at most; done: so many
 *   gpurt_receive_many(c, m, n, &done)     waits for one, and takes more that are there
 *   gpurt_receive_first(cs, n, m, &which)  of an array of n channels, from the first that has one:
 *                               an array is a channel with priorities, cs[0] the most urgent
 *   gpurt_receive_first_for(cs, n, m, &which, ns)      0: never waits
 *   gpurt_channel_close(c)      nothing can be sent any more; what is in it can be received. A pair
 *                               is closed by the lane that sends, or when that sends no more: beside
 *                               a send, messages that were told GPURT_OK may stay in it
 *   gpurt_channel_depth(c)      messages in it at this moment
 *   gpurt_grant(c, n, &done)    of GPURT_CHANNEL_GRANTED: n messages more may be sent
 *   gpurt_resize(c, n)          of GPURT_CHANNEL_RESIZED: n messages at most from now on
 *   gpurt_sender_begin(c), gpurt_sender_end(c), gpurt_receiver_begin(c), gpurt_receiver_end(c)
 *                               who has an end of it, for reports of hangs (waits.h): a store each
 *
 * All are functions of an expression's value, gpurt_status_t. c may also be a gpurt_channel_t *
 * of messages whose type nobody checks: then gpurt_channel_send(c, m) and so on, likewise.
 *
 *   GPURT_OK                  sent, received
 *   GPURT_E_FULL, _EMPTY      of try, and of the policy FAIL; full: or no credit
 *   GPURT_E_DROPPED           of the policy DROP_NEWEST: the message is gone, and counted
 *   GPURT_E_CHANNEL_CLOSED    of a send: closed. Of a receive: closed and nothing is left
 *   GPURT_E_TIMEOUT
 *   GPURT_E_CANCELLED         the caller's block was: it has let go of what it had reserved
 *   GPURT_E_HANDLE            no channel, or one that was destroyed
 *   GPURT_E_INVALID           the message has not the size of the channel's
 *
 * Lanes that call together with the same channel draw tickets together, in the order of their
 * numbers, and go on together: a warp whose lanes send what other lanes of it are to receive
 * stands still when the channel has less room than that. Their time limit is the lowest lane's.
 *
 * Linearizable: each send and receive happens at one moment between call and return, when its
 * ticket is drawn; a try that fails saw that the channel was full, or empty, at such a moment.
 * Waiting is bounded to pairs: who has a ticket waits for one lane alone, which has its ticket
 * too and is in the middle of its copy. Who has none holds nothing. There is no order among
 * those who wait for room. What a sender wrote before is seen by the receiver of its message,
 * unless the channel is GPURT_CHANNEL_ALONE. What was written before a close is seen by who is
 * told GPURT_E_CHANNEL_CLOSED.
 * Context: device code, any lane. docs/COMMUNICATION.md tells how. */
#ifndef GPURT_CHANNEL_H
#define GPURT_CHANNEL_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/clock.h>
#include <gpurt/ids.h>
#include <gpurt/impl/channelcore.h>
#include <gpurt/status.h>

/* ---- typed --------------------------------------------------------------------------- */

/* Type name_t: a channel of `type` messages with so many slots. */
#define GPURT_CHANNEL(name, type, capacity) GPURT_CHANNEL_TYPE_(name, type, capacity, 1)
/* ... with one lane at a time at each end: it asks nobody for a ticket. */
#define GPURT_PAIR(name, type, capacity) GPURT_CHANNEL_TYPE_(name, type, capacity, 2)
#define GPURT_CHANNEL_TYPE_(name, type, capacity, kind)                                 \
    GPURT_STATIC_ASSERT((capacity) > 0 && ((capacity) & ((capacity)-1)) == 0 &&         \
                            (capacity) <= (long)GPURT_CHANNEL_CAPACITY_MOST,            \
                        "GPURT_CHANNEL: the capacity is a power of two, 2^24 at most"); \
    GPURT_STATIC_ASSERT(sizeof(type) <= GPURT_CHANNEL_BYTES_MOST,                       \
                        "GPURT_CHANNEL: a message has 1 MiB at most");                  \
    typedef union name {                                                                \
        gpurt_channel_t channel;                                                        \
        type *message;             /* never one: it has the type */                     \
        char (*slots)[(capacity)]; /* never any: it has the number */                   \
        char (*ends)[(kind)];      /* likewise: 2 of a pair */                          \
    } name##_t

/* Whether m points to a message of c: it does not compile otherwise. */
#if defined(__cplusplus)
template <class A, class B> struct gpurt_same_message {
    static const bool yes = false;
};
template <class A> struct gpurt_same_message<A, A> {
    static const bool yes = true;
};
template <class T> struct gpurt_bare_message {
    typedef T type;
};
template <class T> struct gpurt_bare_message<const T> {
    typedef T type;
};
#    define GPURT_IS_MESSAGE(c, m)                               \
        (gpurt_same_message<                                     \
            typename gpurt_bare_message<__typeof__(*(m))>::type, \
            typename gpurt_bare_message<__typeof__(*(c)->message)>::type>::yes)
#else
#    define GPURT_IS_MESSAGE(c, m) \
        __builtin_types_compatible_p(__typeof__(*(m)), __typeof__(*(c)->message))
#endif

#define GPURT_CHANNEL_CALL_(function, text, c, m, ...)                                     \
    __extension__({                                                                        \
        GPURT_STATIC_ASSERT(GPURT_IS_MESSAGE(c, m),                                        \
                            "this channel's messages have another type");                  \
        GPURT_CHANNEL_AT_(function, text, &(c)->channel, m, GPURT_CHANNEL_SHAPE_OF_(c, m), \
                          ##__VA_ARGS__);                                                  \
    })
#define gpurt_send_for(c, m, ns) \
    GPURT_CHANNEL_CALL_(gpurt_channel_send_at, "sends", c, m, ns)
#define gpurt_send(c, m)     gpurt_send_for(c, m, UINT64_MAX)
#define gpurt_try_send(c, m) gpurt_send_for(c, m, 0)
#define gpurt_receive_for(c, m, ns) \
    GPURT_CHANNEL_CALL_(gpurt_channel_receive_at, "receives", c, m, ns)
#define gpurt_receive(c, m)     gpurt_receive_for(c, m, UINT64_MAX)
#define gpurt_try_receive(c, m) gpurt_receive_for(c, m, 0)
#define gpurt_send_many(c, m, n, done) \
    GPURT_CHANNEL_CALL_(gpurt_channel_send_many_at, "sends many", c, m, n, done)
#define gpurt_receive_many(c, m, n, done) \
    GPURT_CHANNEL_CALL_(gpurt_channel_receive_many_at, "receives many", c, m, n, done)

#define gpurt_receive_first_for(cs, n, m, which, ns)                                   \
    __extension__({                                                                    \
        GPURT_STATIC_ASSERT(GPURT_IS_MESSAGE(cs, m),                                   \
                            "these channels' messages have another type");             \
        GPURT_CHANNEL_AT_(gpurt_channel_receive_first_at, "receives the first",        \
                          &(cs)->channel, n, m, GPURT_CHANNEL_SHAPE_OF_(cs, m), which, \
                          ns);                                                         \
    })
#define gpurt_receive_first(cs, n, m, which) \
    gpurt_receive_first_for(cs, n, m, which, UINT64_MAX)

#define GPURT_CHANNEL_END_(c, role, text)                       \
    do {                                                        \
        GPURT_PLACE(gpurt_place_, text);                        \
        gpurt_channel_hold(&(c)->channel, role, &gpurt_place_); \
    } while (0)
#define gpurt_sender_begin(c)   GPURT_CHANNEL_END_(c, GPURT_HOLD_SENDER, "is a sender")
#define gpurt_receiver_begin(c) GPURT_CHANNEL_END_(c, GPURT_HOLD_RECEIVER, "is a receiver")
#define gpurt_grant(c, n, done) gpurt_channel_grant(&(c)->channel, n, done)
#define gpurt_resize(c, n)      gpurt_channel_resize(&(c)->channel, n)
#define gpurt_sender_end(c)     gpurt_channel_leave(&(c)->channel, GPURT_HOLD_SENDER)
#define gpurt_receiver_end(c)   gpurt_channel_leave(&(c)->channel, GPURT_HOLD_RECEIVER)

/* ---- of any type --------------------------------------------------------------------- */

#define GPURT_CHANNEL_AT_(function, text, ...)            \
    __extension__({                                       \
        GPURT_PLACE(gpurt_place_, text);                  \
        function(__VA_ARGS__, &gpurt_place_, GPURT_HERE); \
    })
#define gpurt_channel_send(c, m)                                                     \
    GPURT_CHANNEL_AT_(gpurt_channel_send_at, "sends", c, m, GPURT_CHANNEL_SHAPE_(m), \
                      UINT64_MAX)
#define gpurt_channel_send_for(c, m, ns) \
    GPURT_CHANNEL_AT_(gpurt_channel_send_at, "sends", c, m, GPURT_CHANNEL_SHAPE_(m), ns)
#define gpurt_channel_try_send(c, m) \
    GPURT_CHANNEL_AT_(gpurt_channel_send_at, "sends", c, m, GPURT_CHANNEL_SHAPE_(m), 0)
#define gpurt_channel_receive(c, m)                                                        \
    GPURT_CHANNEL_AT_(gpurt_channel_receive_at, "receives", c, m, GPURT_CHANNEL_SHAPE_(m), \
                      UINT64_MAX)
#define gpurt_channel_receive_for(c, m, ns)                                                \
    GPURT_CHANNEL_AT_(gpurt_channel_receive_at, "receives", c, m, GPURT_CHANNEL_SHAPE_(m), \
                      ns)
#define gpurt_channel_try_receive(c, m)                                                    \
    GPURT_CHANNEL_AT_(gpurt_channel_receive_at, "receives", c, m, GPURT_CHANNEL_SHAPE_(m), \
                      0)
#define gpurt_channel_send_many(c, m, n, done)                        \
    GPURT_CHANNEL_AT_(gpurt_channel_send_many_at, "sends many", c, m, \
                      GPURT_CHANNEL_SHAPE_(m), n, done)
#define gpurt_channel_receive_many(c, m, n, done)                           \
    GPURT_CHANNEL_AT_(gpurt_channel_receive_many_at, "receives many", c, m, \
                      GPURT_CHANNEL_SHAPE_(m), n, done)

/* ns: 0 never waits, UINT64_MAX is the policy's. place: of the caller, for who looks at waits
 * (waits.h); here: its line, for reports of the CPU back end. */
GPURT_DEV gpurt_status_t gpurt_channel_send_at(const gpurt_channel_t *c,
                                               const void *message, uint64_t shape,
                                               uint64_t ns, gpurt_site_t *place,
                                               const char *here)
{
    gpurt_channel_call_t call = {c, ns, 0, place, here};
    uint32_t done = 0;

    return gpurt_channel_run(&call, message, NULL, shape, 1, &done, true, true);
}

GPURT_DEV gpurt_status_t gpurt_channel_receive_at(const gpurt_channel_t *c, void *message,
                                                  uint64_t shape, uint64_t ns,
                                                  gpurt_site_t *place, const char *here)
{
    gpurt_channel_call_t call = {c, ns, 0, place, here};
    uint32_t done = 0;

    return gpurt_channel_run(&call, NULL, message, shape, 1, &done, true, false);
}

/* *done: messages that were sent, from the first on; with the policy that drops the newest
 * those that were dropped are not among them. */
GPURT_DEV gpurt_status_t gpurt_channel_send_many_at(const gpurt_channel_t *c,
                                                    const void *messages, uint64_t shape,
                                                    uint32_t count, uint32_t *done,
                                                    gpurt_site_t *place, const char *here)
{
    gpurt_channel_call_t call = {c, UINT64_MAX, 0, place, here};

    *done = 0;
    return gpurt_channel_run(&call, messages, NULL, shape, count, done, false, true);
}

GPURT_DEV gpurt_status_t gpurt_channel_receive_many_at(const gpurt_channel_t *c,
                                                       void *messages, uint64_t shape,
                                                       uint32_t count, uint32_t *done,
                                                       gpurt_site_t *place,
                                                       const char *here)
{
    gpurt_channel_call_t call = {c, UINT64_MAX, 0, place, here};

    *done = 0;
    return gpurt_channel_run(&call, NULL, messages, shape, count, done, false, false);
}

/* One look at each, in order. */
GPURT_DEV gpurt_status_t gpurt_channel_try_each(const gpurt_channel_t *cs, uint32_t n,
                                                void *message, uint64_t shape,
                                                uint32_t *which, gpurt_site_t *place,
                                                const char *here)
{
    uint32_t closed = 0;

    for (uint32_t i = 0; i < n; i++) {
        gpurt_status_t st =
            gpurt_channel_receive_at(cs + i, message, shape, 0, place, here);

        *which = i;
        if (st != GPURT_E_EMPTY && st != GPURT_E_CHANNEL_CLOSED)
            return st;
        closed += st == GPURT_E_CHANNEL_CLOSED;
    }
    return closed == n ? GPURT_E_CHANNEL_CLOSED : GPURT_E_EMPTY;
}

/* The looks are one after the other: a message that comes to a channel behind the look at it may
 * be passed over for a less urgent one, and is found by the next call. A wait is told as one for
 * the first channel. Returns: GPURT_E_CHANNEL_CLOSED when all are, and empty. */
GPURT_DEV gpurt_status_t gpurt_channel_receive_first_at(const gpurt_channel_t *cs,
                                                        uint32_t n, void *message,
                                                        uint64_t shape, uint32_t *which,
                                                        uint64_t ns, gpurt_site_t *place,
                                                        const char *here)
{
    uint64_t begin = 0;
    gpurt_channel_wait_t w = {NULL, ns, &begin, place, here, NULL, 1, 0, false, false};
    int32_t answer = n ? (int32_t)GPURT_CHANNEL_AGAIN : (int32_t)GPURT_E_INVALID;

    while (answer == GPURT_CHANNEL_AGAIN) {
        answer = gpurt_channel_try_each(cs, n, message, shape, which, place, here);
        if (answer != GPURT_E_EMPTY || ns == 0)
            break;
        w.desk = &cs->words->desk;
        answer = gpurt_channel_wait_pass(&w);
    }
    gpurt_channel_wait_end(&w);
    if (answer == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    return answer;
}

/* What waits at it are waits for, with its name (waits.h, task.h). One lane. Returns: NULL, there is no channel. */
GPURT_DEV gpurt_waitable_t *gpurt_channel_waitable(const gpurt_channel_t *c)
{
    if (!c->words)
        return NULL;
    gpurt_waitable_name(&c->words->desk.waitable, GPURT_WAITABLE_CHANNEL,
                        c->words->desk.name, GPURT_WAITABLE_SINGLE);
    return &c->words->desk.waitable;
}

/* role: GPURT_HOLD_SENDER or _RECEIVER, until gpurt_channel_leave. One lane, for its warp. */
GPURT_DEV void gpurt_channel_hold(const gpurt_channel_t *c, uint32_t role,
                                  gpurt_site_t *place)
{
    gpurt_waitable_t *o = gpurt_channel_waitable(c);

    if (o)
        gpurt_hold(o, role, place);
}

GPURT_DEV void gpurt_channel_leave(const gpurt_channel_t *c, uint32_t role)
{
    if (c->words)
        gpurt_release(&c->words->desk.waitable, role);
}

/* One lane. Returns: GPURT_E_CHANNEL_CLOSED when it was closed before. */
GPURT_DEVN gpurt_status_t gpurt_channel_close(const gpurt_channel_t *c)
{
    gpurt_channel_words_t *w = c->words;
    uint32_t was = GPURT_CHANNEL_OPEN;

    if (!w || gpurt_load_relaxed_dev_u32(&w->desk.id) != c->id) /* relaxed: only compared */
        return GPURT_E_HANDLE;
    if (gpurt_cas_relaxed_dev_u32(&w->desk.xstate, &was,
                                  GPURT_CHANNEL_SHUT)) { /* one closes */
        if (gpurt_channel_is_pair(c))
            w->out.limit =
                w->out.next; /* the sender, most often this lane, looks next time */
        gpurt_red_add_release_dev_u64(&w->xtaken, /* CH3.rel */
                                      -(uint64_t)GPURT_CHANNEL_CLOSING);
        return GPURT_OK;
    }
    /* What another lane has begun is true when this one says so. */
    while (gpurt_channel_credits(gpurt_load_acquire_dev_u64(&w->xtaken)) >= /* CH3.acq */
           GPURT_CHANNEL_CLOSED_BELOW)
        gpurt_pause();
    return gpurt_channel_gone(&w->desk, c->id);
}

GPURT_DEV uint32_t gpurt_channel_depth(const gpurt_channel_t *c)
{
    uint64_t sent, taken;

    if (!c->words)
        return 0;
    taken = gpurt_load_acquire_dev_u64(&c->words->xtaken); /* CH3.acq */
    sent = gpurt_load_relaxed_dev_u64(&c->words->xsent);   /* relaxed: a number, no data */
    return (uint32_t)gpurt_channel_between(sent, taken);
}

#endif
