/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast.h - messages from any lanes to all readers, in one order, with a bound.
 *
 *     GPURT_BROADCAST(prices, struct price, 256);     types prices_t and prices_reader_t
 *     struct args { prices_t prices; ... };           made by the host (broadcasts.h)
 *
 *     gpurt_publish(&p->prices, &price)               the type of the message is checked
 *
 *     prices_reader_t r;                              a lane that reads
 *     gpurt_reader_join(&p->prices, &r)               reads what is published from now on
 *     while (gpurt_reader_read(&r, &price) == GPURT_OK) ...
 *     gpurt_reader_leave(&r)                          nobody waits for it any more
 *
 *   gpurt_publish(b, m)           when the slowest reader leaves no room: by the policy
 *   gpurt_publish_for(b, m, ns)   waits so long at most; never with GPURT_BROADCAST_DROP
 *   gpurt_try_publish(b, m)       never waits; GPURT_E_FULL
 *   gpurt_reader_read(r, m)       waits for the next message
 *   gpurt_reader_read_for(r, m, ns), gpurt_reader_try_read(r, m)
 *   gpurt_reader_lag(r)           messages before it
 *   gpurt_reader_lost(r)          messages that it missed since it joined
 *   gpurt_broadcast_close(b)      nothing can be published any more; readers read what is left
 *
 *   policy                    when the slowest reader is a capacity behind
 *   GPURT_BROADCAST_BLOCK     gpurt_publish waits for it
 *   GPURT_BROADCAST_FAIL      GPURT_E_FULL; the caller keeps the message
 *   GPURT_BROADCAST_DROP      it misses the oldest message; its next read says GPURT_E_DROPPED,
 *                             and the one after that goes on with the oldest that is left
 *
 *   GPURT_OK
 *   GPURT_E_FULL              of a join: all seats are taken
 *   GPURT_E_EMPTY             of a try: nothing is before this reader
 *   GPURT_E_DROPPED           of a read: messages were missed (gpurt_reader_lost); no message
 *   GPURT_E_CHANNEL_CLOSED    of a read: closed, and all was read. Of a join: closed
 *   GPURT_E_TIMEOUT
 *   GPURT_E_CANCELLED         the caller's block was; a reader that waited has left
 *   GPURT_E_HANDLE            none, or destroyed; of a read: the reader has not joined, or left
 *   GPURT_E_INVALID           the message has not the size of the broadcast's
 *
 * A reader belongs to one lane at a time, which may keep it from kernel to kernel. A copy is the
 * same reader: use one of them. What is in *m is defined for GPURT_OK alone. With no reader
 * nothing is full, and what is published is read by nobody. A lane that may be cancelled outside
 * of a read notes a handler that leaves (defer.h).
 *
 * Lanes that publish together draw tickets together, and go on together (channel.h).
 * Linearizable: a publish happens when its ticket is drawn, a read when the seat says so. With
 * GPURT_BROADCAST_DROP a message that may be overwritten is read as long as it is not. A reader
 * sees what the sender wrote before it published, and behind GPURT_E_CHANNEL_CLOSED what the
 * closer wrote before.
 * Context: device code, any lane. docs/BROADCAST.md tells how. */
#ifndef GPURT_BROADCAST_H
#define GPURT_BROADCAST_H

#include <gpurt/channel.h>
#include <gpurt/impl/broadcastcore.h>

/* ---- typed --------------------------------------------------------------------------- */

#define GPURT_BROADCAST(name, type, capacity)                                             \
    GPURT_STATIC_ASSERT((capacity) > 0 && ((capacity) & ((capacity)-1)) == 0 &&           \
                            (capacity) <= (long)GPURT_CHANNEL_CAPACITY_MOST,              \
                        "GPURT_BROADCAST: the capacity is a power of two, 2^24 at most"); \
    GPURT_STATIC_ASSERT(sizeof(type) <= GPURT_BROADCAST_BYTES_MOST,                       \
                        "GPURT_BROADCAST: a message has 4,096 bytes at most");            \
    typedef union name {                                                                  \
        gpurt_broadcast_t broadcast;                                                      \
        type *message;             /* never one: it has the type */                       \
        char (*slots)[(capacity)]; /* never any: it has the number */                     \
    } name##_t;                                                                           \
    typedef union name##_reader {                                                         \
        gpurt_reader_t reader;                                                            \
        type *message; /* as above */                                                     \
    } name##_reader_t

#define GPURT_BROADCAST_CALL_(function, text, c, of, m, ns)                            \
    __extension__({                                                                    \
        GPURT_STATIC_ASSERT(GPURT_IS_MESSAGE(c, m),                                    \
                            "this broadcast's messages have another type");            \
        GPURT_PLACE(gpurt_place_, text);                                               \
        function(&(c)->of, m, GPURT_CHANNEL_SHAPE_(m), ns, &gpurt_place_, GPURT_HERE); \
    })
#define gpurt_publish_for(b, m, ns) \
    GPURT_BROADCAST_CALL_(gpurt_broadcast_publish_at, "publishes", b, broadcast, m, ns)
#define gpurt_publish(b, m)     gpurt_publish_for(b, m, UINT64_MAX)
#define gpurt_try_publish(b, m) gpurt_publish_for(b, m, 0)
#define gpurt_reader_read_for(r, m, ns) \
    GPURT_BROADCAST_CALL_(gpurt_reader_run, "reads", r, reader, m, ns)
#define gpurt_reader_read(r, m)     gpurt_reader_read_for(r, m, UINT64_MAX)
#define gpurt_reader_try_read(r, m) gpurt_reader_read_for(r, m, 0)
#define gpurt_reader_join(b, r)                                             \
    __extension__({                                                         \
        GPURT_STATIC_ASSERT(GPURT_IS_MESSAGE(b, (r)->message),              \
                            "this broadcast's messages have another type"); \
        GPURT_FAR(gpurt_broadcast_join)(&(b)->broadcast, &(r)->reader);     \
    })
#define gpurt_reader_leave(r) gpurt_reader_quit(&(r)->reader)
#define gpurt_reader_lag(r)   gpurt_reader_before(&(r)->reader)
#define gpurt_reader_lost(r)  ((r)->reader.lost)

/* ---- of any type --------------------------------------------------------------------- */

/* ns: 0 never waits, UINT64_MAX is the policy's; place, here: as in channel.h. */
GPURT_DEV gpurt_status_t gpurt_broadcast_publish_at(const gpurt_broadcast_t *b,
                                                    const void *message, uint64_t shape,
                                                    uint64_t ns, gpurt_site_t *place,
                                                    const char *here)
{
    gpurt_publish_call_t call = {b, ns, 0, place, here};

    return gpurt_broadcast_run(&call, message, shape);
}

/* Messages before it; of one that is too slow also those that it will miss. relaxed: a number */
GPURT_DEV uint64_t gpurt_reader_before(const gpurt_reader_t *r)
{
    return gpurt_reader_is(r)
               ? (gpurt_load_relaxed_dev_u64(&r->of.words->xsent) >> 1) - r->next
               : 0;
}

/* One lane. Returns: GPURT_E_CHANNEL_CLOSED when it was closed before. */
GPURT_DEVN gpurt_status_t gpurt_broadcast_close(const gpurt_broadcast_t *b)
{
    gpurt_broadcast_words_t *w = b->words;

    if (!w || gpurt_load_relaxed_dev_u32(&w->desk.id) != b->id) /* relaxed: only compared */
        return GPURT_E_HANDLE;
    if (gpurt_or_release_dev_u64(&w->xsent, GPURT_BROADCAST_CLOSED) & /* BC3.rel */
        GPURT_BROADCAST_CLOSED)
        return gpurt_channel_gone(&w->desk, b->id);
    /* relaxed: for who watches, and what says more stands in xsent */
    gpurt_store_relaxed_dev_u32(&w->desk.xstate, GPURT_CHANNEL_SHUT);
    return GPURT_OK;
}

#endif
