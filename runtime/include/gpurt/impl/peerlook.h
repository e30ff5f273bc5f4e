/* SPDX-License-Identifier: Apache-2.0 */
/* peerlook.h - how an end of a channel between two devices learns what the other one did, and how lanes
 * copy large messages there.
 *
 * Each end looks at memory of its own device alone: the receiver at the turns of slots, the sender at
 * marks of slots. The other end stores there: a store to another GPU's memory costs who makes it
 * little, a load of it a trip there and back. Either word says a ticket and 1, so one look serves
 * both ends: the next tickets whose words are as they should be may be drawn.
 * Called by hostchannelcore.h. */
#ifndef GPURT_PEERLOOK_H
#define GPURT_PEERLOOK_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/impl/channelslot.h>
#include <gpurt/impl/hostchannelmap.h>

enum {
    GPURT_PEER_AT_ONCE = 8,      /* words that are loaded before the first is compared */
    GPURT_PEER_WIDE_FROM = 256,  /* bytes: two words for each lane of a warp */
    GPURT_PEER_WORDS_AT_ONCE = 4 /* that a lane loads before it stores the first */
};

/* ---- looks ------------------------------------------------------------------------------ */

/* The word of this device that says whether a ticket may be drawn. */
GPURT_DEV const uint32_t *gpurt_peer_word(const gpurt_hostchannel_t *c, uint64_t ticket)
{
    return gpurt_hostchannel_sends(c)
               ? &c->marks[gpurt_hostchannel_at(c, ticket)]
               : (const uint32_t *)(const void *)gpurt_hostchannel_slot(c, ticket);
}

/* What it says then: the message is there; or the one a lap before was acknowledged. */
GPURT_DEV uint32_t gpurt_peer_due(const gpurt_hostchannel_t *c, uint64_t ticket)
{
    return (uint32_t)ticket + 1 - (gpurt_hostchannel_sends(c) ? c->capacity : 0);
}

/* Tickets from `from` on that may be drawn, GPURT_PEER_AT_ONCE at most. A slot has one word, so they
 * are no more than there are slots. relaxed: acquired behind it */
GPURT_DEV uint32_t gpurt_peer_some(const gpurt_hostchannel_t *c, uint64_t from)
{
    uint32_t good = 0;

    for (uint32_t i = 0; i < GPURT_PEER_AT_ONCE; i++)
        good |= (uint32_t)(gpurt_load_relaxed_sys_u32(gpurt_peer_word(c, from + i)) ==
                           gpurt_peer_due(c, from + i))
                << i;
    return gpurt_ctz(~good);
}

/* The sender has closed it, and lanes have drawn all that it sent. relaxed: acquired behind it */
GPURT_DEV bool gpurt_peer_over(const gpurt_hostchannel_t *c)
{
    const uint32_t ended = gpurt_load_relaxed_sys_u32(&c->side->xended);

    if (!(ended & GPURT_HOSTCHANNEL_CLOSED) ||
        gpurt_hostchannel_ahead(ended, 0, c->words->next))
        return false;
    gpurt_acquire_behind_sys_u32(&c->side->xended, 1); /* HW3.acq */
    return true;
}

/* Raises the limit for a group that wants n. A fence of a GPU serves all words at once. relaxed: for a
 * viewer that looks beside
 * Returns: whether nothing will come any more. Context: as gpurt_hostchannel_look. */
GPURT_DEV bool gpurt_peer_look(const gpurt_hostchannel_t *c, uint32_t n)
{
    gpurt_hostchannel_words_t *w = c->words;
    uint32_t more = 0, some;

    gpurt_store_relaxed_dev_u64(&w->xlooks, w->xlooks + 1);
    do {
        some = gpurt_peer_some(c, w->next + more);
        more += some;
    } while (some == GPURT_PEER_AT_ONCE && more < n);
    for (uint32_t i = 0; i < (GPURT_IN_DEVICE ? (uint32_t)(more > 0) : more); i++)
        gpurt_acquire_behind_sys_u32(gpurt_peer_word(c, w->next + i), 1); /* HW3.acq */
    gpurt_store_relaxed_dev_u64(&w->limit, w->next + more);
    return more == 0 && !gpurt_hostchannel_sends(c) && gpurt_peer_over(c);
}

/* ---- large messages ----------------------------------------------------------------------- */

/* Whether the lanes of a group copy each message together, neighbours to neighbouring words: a store to
 * another GPU is a packet, and 128 bytes of one line are one. On a lane's stack the others could not
 * read it. */
GPURT_DEV bool gpurt_peer_is_wide(const gpurt_hostchannel_t *c, uint32_t group,
                                  const void *message, uint32_t bytes)
{
    const bool fits = ((uintptr_t)message & 3) == 0 && bytes % 4 == 0;

    if (bytes < GPURT_PEER_WIDE_FROM || !c->far || gpurt_channel_is_alone(group))
        return false;
    return gpurt_all(group, fits && !gpurt_is_local(message));
}

/* One message, by all lanes of a group. */
GPURT_DEV void gpurt_peer_copy_words(uint32_t group, uint32_t *to, const uint32_t *from,
                                     uint32_t count)
{
    const uint32_t lanes = gpurt_popc(group);
    uint32_t i = gpurt_popc(group & gpurt_lanes_below());

    for (; i + (GPURT_PEER_WORDS_AT_ONCE - 1) * lanes < count;
         i += GPURT_PEER_WORDS_AT_ONCE * lanes) {
        uint32_t v[GPURT_PEER_WORDS_AT_ONCE];

        for (uint32_t k = 0; k < GPURT_PEER_WORDS_AT_ONCE; k++)
            v[k] = from[i + k * lanes];
        for (uint32_t k = 0; k < GPURT_PEER_WORDS_AT_ONCE; k++)
            to[i + k * lanes] = v[k];
    }
    for (; i < count; i += lanes)
        to[i] = from[i];
}

/* Those of the lanes that have a slot; the others help. */
GPURT_DEV void gpurt_peer_copy_wide(uint32_t group, bool mine, char *slot, char *message,
                                    uint32_t bytes, bool sends)
{
    gpurt_syncwarp(group); /* the others' messages */
    for (uint32_t left = gpurt_ballot(group, mine); left; left &= left - 1) {
        const uint32_t lane = gpurt_ctz(left);
        uint32_t *far =
            (uint32_t *)(uintptr_t)gpurt_shfl_u64(group, (uint64_t)(uintptr_t)slot, lane);
        uint32_t *near = (uint32_t *)(uintptr_t)gpurt_shfl_u64(
            group, (uint64_t)(uintptr_t)message, lane);

        gpurt_peer_copy_words(group, sends ? far : near, sends ? near : far, bytes / 4);
    }
    gpurt_syncwarp(group); /* all of it is there before a lane says so */
}

#endif
