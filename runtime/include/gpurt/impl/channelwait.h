/* SPDX-License-Identifier: Apache-2.0 */
/* channelwait.h - how lanes wait at a channel of any kind: they tell the desk and the wait-for graph,
 * hear a cancel, look at the clock, and pause longer each time. What they wait for is the
 * caller's: channelcore.h, broadcastcore.h. */
#ifndef GPURT_CHANNELWAIT_H
#define GPURT_CHANNELWAIT_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/clock.h>
#include <gpurt/impl/channelmap.h>
#include <gpurt/status.h>
#include <gpurt/waits.h>

/* Answers beside gpurt_status_t, of a group that is not through. */
enum {
    GPURT_CHANNEL_AGAIN = 1,
    GPURT_CHANNEL_MAKE_ROOM = 2,
    GPURT_CHANNEL_GO = 3 /* again, and there are credits */
};

/* What a lane waits for. */
enum {
    GPURT_CHANNEL_FOR_DATA = 0,
    GPURT_CHANNEL_FOR_ROOM = 1,  /* it sends */
    GPURT_CHANNEL_FOR_CREDIT = 2 /* it sends, and a receiver must grant it */
};

enum {
    GPURT_CHANNEL_GLANCES = 32,    /* at one word, before others are told: 10 us on a GPU */
    GPURT_CHANNEL_POLLS = 4,       /* of one word, between two looks at both */
    GPURT_CHANNEL_PAUSES_MOST = 64 /* of who waits long: 2 us */
};

/* What lanes of a group wait for, told while they do. Owner: its lowest lane. */
typedef struct gpurt_channel_wait {
    gpurt_channel_desk_t *desk;
    uint64_t ns;          /* UINT64_MAX: for ever */
    uint64_t *begin;      /* of the call's first wait; 0: there was none */
    gpurt_site_t *place;  /* of the caller, for who looks at waits */
    const char *here;     /* its line, for reports of the CPU back end */
    const uint64_t *word; /* whose credits it waits for; NULL: it looks by itself */
    uint32_t lanes, passes;
    uint8_t sends; /* GPURT_CHANNEL_FOR_DATA ... */
    bool told;
} gpurt_channel_wait_t;

GPURT_DEV uint32_t *gpurt_channel_wait_count(const gpurt_channel_wait_t *w)
{
    return w->sends ? &w->desk->xsending : &w->desk->xreceiving;
}

GPURT_DEV void gpurt_channel_wait_begin(gpurt_channel_wait_t *w)
{
    w->told = true;
    gpurt_red_add_relaxed_dev_u32(gpurt_channel_wait_count(w),
                                  w->lanes); /* relaxed: a statistic */
    gpurt_waitable_name(&w->desk->waitable, GPURT_WAITABLE_CHANNEL, w->desk->name,
                        GPURT_WAITABLE_SINGLE);
    gpurt_wait_begin(&w->desk->waitable,
                     w->sends == GPURT_CHANNEL_FOR_CREDIT ? GPURT_WAIT_CREDIT
                     : w->sends                           ? GPURT_WAIT_ROOM
                                                          : GPURT_WAIT_DATA,
                     w->place);
}

GPURT_DEV void gpurt_channel_wait_end(gpurt_channel_wait_t *w)
{
    if (!w->told)
        return;
    gpurt_red_add_relaxed_dev_u32(gpurt_channel_wait_count(w),
                                  0u - w->lanes); /* relaxed: a statistic */
    gpurt_wait_end(w->place);
}

/* A wait gets longer by a part of itself, and leaves the word's line to those who get on. */
GPURT_DEV void gpurt_channel_wait_pause(gpurt_channel_wait_t *w)
{
    gpurt_pause_for(
        w->passes, w->sends == GPURT_CHANNEL_FOR_CREDIT ? "a credit of channel" : "channel",
        w->desk->name, gpurt_until(*w->begin, w->ns), w->here);
    w->passes += w->passes < GPURT_CHANNEL_PAUSES_MOST;
}

/* relaxed: who sees credits claims them */
GPURT_DEV bool gpurt_channel_wait_polls(gpurt_channel_wait_t *w)
{
    for (uint32_t i = 0; w->word && i < GPURT_CHANNEL_POLLS; i++) {
        gpurt_channel_wait_pause(w);
        if (gpurt_channel_credits(gpurt_load_relaxed_dev_u64(w->word)) > 0)
            return true;
    }
    return false;
}

/* Whether a wait goes on: tells of it, hears a cancel, looks at the clock. relaxed: statistics
 * Returns: GPURT_CHANNEL_AGAIN, or why it is over. */
GPURT_DEV int32_t gpurt_channel_wait_check(gpurt_channel_wait_t *w)
{
    if (!w->told) {
        gpurt_channel_wait_begin(w);
        if (w->ns != UINT64_MAX && !*w->begin)
            *w->begin = gpurt_globaltimer();
    }
    if (gpurt_cancelled()) {
        gpurt_red_add_relaxed_dev_u64(&w->desk->xcancelled, w->lanes);
        return GPURT_E_CANCELLED;
    }
    if (w->ns != UINT64_MAX && gpurt_globaltimer() - *w->begin >= w->ns) {
        gpurt_red_add_relaxed_dev_u64(&w->desk->xlate, w->lanes);
        return GPURT_E_TIMEOUT;
    }
    return GPURT_CHANNEL_AGAIN;
}

/* A pass of a wait. Returns: GPURT_CHANNEL_AGAIN, GPURT_CHANNEL_GO, or why it is over.
 * Not inlined: the registers of what waits are those of every kernel that sends. */
GPURT_DEVN int32_t gpurt_channel_wait_pass(gpurt_channel_wait_t *w)
{
    int32_t answer = gpurt_channel_wait_check(w);

    if (answer != GPURT_CHANNEL_AGAIN)
        return answer;
    if (!w->word)
        gpurt_channel_wait_pause(w);
    else if (gpurt_channel_wait_polls(w))
        return GPURT_CHANNEL_GO;
    return GPURT_CHANNEL_AGAIN;
}

/* Whether it was closed, or is none any more. relaxed: the number of a thing that ended */
GPURT_DEV gpurt_status_t gpurt_channel_gone(const gpurt_channel_desk_t *desk, uint32_t id)
{
    return gpurt_load_relaxed_dev_u32(&desk->xstate) == GPURT_CHANNEL_DESTROYED ||
                   gpurt_load_relaxed_dev_u32(&desk->id) != id
               ? GPURT_E_HANDLE
               : GPURT_E_CHANNEL_CLOSED;
}

#endif
