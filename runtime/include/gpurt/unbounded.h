/* SPDX-License-Identifier: Apache-2.0 */
/* unbounded.h - messages from any lanes to any lanes, in order, with no bound but memory.
 *
 *     GPURT_UNBOUNDED(jobs, struct job);      the type jobs_t
 *     struct args { jobs_t jobs; ... };       made by the host, with a heap (unboundeds.h)
 *
 *     gpurt_post(&p->jobs, &job)              the type of the message is checked
 *     while (gpurt_fetch(&p->jobs, &job) == GPURT_OK) ...
 *
 *   gpurt_post(c, m)              takes memory of the heap where need be; if there is none: by
 *                                 the policy
 *   gpurt_post_for(c, m, ns)      waits so long at most for memory
 *   gpurt_try_post(c, m)          never waits; GPURT_E_NOMEM, GPURT_E_FULL
 *   gpurt_fetch(c, m)             waits for the next message
 *   gpurt_fetch_for(c, m, ns), gpurt_try_fetch(c, m)
 *   gpurt_unbounded_close(c)      nothing can be sent any more; receivers get what is left
 *   gpurt_unbounded_depth(c)      messages in it
 *
 *   policy                        there is no memory
 *   GPURT_CHANNEL_BLOCK           gpurt_post waits for some
 *   GPURT_CHANNEL_FAIL            GPURT_E_NOMEM, GPURT_E_FULL; the caller keeps the message
 *   GPURT_CHANNEL_DROP_NEWEST     GPURT_E_DROPPED; the message is gone, and counted
 *
 *   GPURT_OK
 *   GPURT_E_NOMEM             the heap has none
 *   GPURT_E_FULL              the directory has as many segments as it holds
 *   GPURT_E_EMPTY             of a try
 *   GPURT_E_CHANNEL_CLOSED    of a fetch: closed, and all was received
 *   GPURT_E_TIMEOUT
 *   GPURT_E_CANCELLED         the caller's block was; it took nothing
 *   GPURT_E_HANDLE            none, or destroyed
 *   GPURT_E_INVALID           the message has not the size of the channel's
 *
 * Memory comes in segments of 64 messages, and goes back to the heap when all of one were received.
 * A send that finds no memory has taken nothing. What is in *m is defined for GPURT_OK alone.
 * Lanes that send or receive together draw tickets together, and go on together (channel.h).
 * Linearizable: a send or receive happens when its ticket is drawn. A receiver sees what the
 * sender wrote before it sent, and behind GPURT_E_CHANNEL_CLOSED what the closer wrote before.
 * Context: device code, any lane. docs/UNBOUNDED.md tells how. */
#ifndef GPURT_UNBOUNDED_H
#define GPURT_UNBOUNDED_H

#include <gpurt/channel.h>
#include <gpurt/impl/unboundedcore.h>

/* ---- typed --------------------------------------------------------------------------- */

#define GPURT_UNBOUNDED(name, type)                                          \
    GPURT_STATIC_ASSERT(sizeof(type) <= GPURT_UNBOUNDED_BYTES_MOST,          \
                        "GPURT_UNBOUNDED: a message has 360 bytes at most"); \
    typedef union name {                                                     \
        gpurt_unbounded_t unbounded;                                         \
        type *message; /* never one: it has the type */                      \
    } name##_t

#define GPURT_UNBOUNDED_CALL_(function, text, c, m, ns)                          \
    __extension__({                                                              \
        GPURT_STATIC_ASSERT(GPURT_IS_MESSAGE(c, m),                              \
                            "this channel's messages have another type");        \
        GPURT_PLACE(gpurt_place_, text);                                         \
        function(&(c)->unbounded, m, GPURT_CHANNEL_SHAPE_(m), ns, &gpurt_place_, \
                 GPURT_HERE);                                                    \
    })
#define gpurt_post_for(c, m, ns) \
    GPURT_UNBOUNDED_CALL_(gpurt_unbounded_send_at, "sends", c, m, ns)
#define gpurt_post(c, m)     gpurt_post_for(c, m, UINT64_MAX)
#define gpurt_try_post(c, m) gpurt_post_for(c, m, 0)
#define gpurt_fetch_for(c, m, ns) \
    GPURT_UNBOUNDED_CALL_(gpurt_unbounded_receive_at, "receives", c, m, ns)
#define gpurt_fetch(c, m)     gpurt_fetch_for(c, m, UINT64_MAX)
#define gpurt_try_fetch(c, m) gpurt_fetch_for(c, m, 0)

/* ---- of any type --------------------------------------------------------------------- */

/* ns: 0 never waits, UINT64_MAX is the policy's; place, here: as in channel.h. */
GPURT_DEV gpurt_status_t gpurt_unbounded_send_at(const gpurt_unbounded_t *c,
                                                 const void *message, uint64_t shape,
                                                 uint64_t ns, gpurt_site_t *place,
                                                 const char *here)
{
    gpurt_unbounded_call_t call = {c, ns, 0, place, here};

    return gpurt_unbounded_run(&call, message, NULL, shape, true);
}

GPURT_DEV gpurt_status_t gpurt_unbounded_receive_at(const gpurt_unbounded_t *c,
                                                    void *message, uint64_t shape,
                                                    uint64_t ns, gpurt_site_t *place,
                                                    const char *here)
{
    gpurt_unbounded_call_t call = {c, ns, 0, place, here};

    return gpurt_unbounded_run(&call, NULL, message, shape, false);
}

/* relaxed: a number of some moment */
GPURT_DEV uint64_t gpurt_unbounded_depth(const gpurt_unbounded_t *c)
{
    uint64_t taken, there;

    return c->words && gpurt_unbounded_look(c, &taken, &there) == GPURT_CHANNEL_GO ? there
                                                                                   : 0;
}

/* One lane. Returns: GPURT_E_CHANNEL_CLOSED when it was closed before. */
GPURT_DEVN gpurt_status_t gpurt_unbounded_close(const gpurt_unbounded_t *c)
{
    gpurt_unbounded_words_t *w = c->words;

    if (!w || gpurt_load_relaxed_dev_u32(&w->desk.id) != c->id) /* relaxed: only compared */
        return GPURT_E_HANDLE;
    if (gpurt_or_release_dev_u64(&w->xsent, GPURT_UNBOUNDED_CLOSED) & /* UB4.rel */
        GPURT_UNBOUNDED_CLOSED)
        return gpurt_channel_gone(&w->desk, c->id);
    /* relaxed: for who watches, and what says more stands in xsent */
    gpurt_store_relaxed_dev_u32(&w->desk.xstate, GPURT_CHANNEL_SHUT);
    return GPURT_OK;
}

#endif
