/* SPDX-License-Identifier: Apache-2.0 */
/* channelcredit.h - how much room senders are given: credits that receivers grant, and a limit that
 * moves. Verbs: channel.h; layout: channelmap.h.
 *
 * A channel without both has as many credits as slots, for ever: who receives hands its credit back.
 *
 *   granted   Who receives hands the credit to xgranted, where it is room that nobody was promised.
 *             A grant takes it from there, and only then gives it to senders. So credits that are
 *             left are the grants less the senders' tickets.
 *   resized   Less than all slots are in use. The limit goes down by credits that are taken from
 *             senders, at once, also those that are not there yet: they may be short of them until
 *             so many were received. It goes up by credits that are added.
 *
 * Nobody waits for another lane here, but for one that changes the limit. Nothing ends a lane in
 * between. */
#ifndef GPURT_CHANNELCREDIT_H
#define GPURT_CHANNELCREDIT_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/impl/channelmap.h>
#include <gpurt/impl/channelwait.h>
#include <gpurt/status.h>

/* ---- what there is --------------------------------------------------------------------- */

/* The limit and how often it was changed. Before the words of a look, and after them. */
GPURT_DEV uint64_t gpurt_channel_limit_first(const gpurt_channel_t *c)
{
    return gpurt_channel_is_resized(c)
               ? gpurt_load_acquire_dev_u64(&c->words->xlimit) & /* CH6.acq */
                     ~GPURT_CHANNEL_LIMIT_BUSY
               : c->capacity;
}
/* relaxed: behind loads that acquire */
GPURT_DEV uint64_t gpurt_channel_limit_last(const gpurt_channel_t *c)
{
    return gpurt_channel_is_resized(c)
               ? gpurt_load_relaxed_dev_u64(&c->words->xlimit) & ~GPURT_CHANNEL_LIMIT_BUSY
               : c->capacity;
}

/* Grants that no sender has used. relaxed: as above. More than there can be: the senders' word is
 * the newer one. */
GPURT_DEV uint64_t gpurt_channel_unused(const gpurt_channel_t *c, uint64_t sent)
{
    uint64_t granted = gpurt_load_relaxed_dev_u64(&c->words->xgranted);

    return (gpurt_channel_tickets(granted) - gpurt_channel_tickets(sent)) &
           (GPURT_CHANNEL_TICKETS - 1);
}

/* Whether a sender found no room, at the moment of one of the two loads; limit: as it was before
 * them. Where that has changed meanwhile nobody knows. */
GPURT_DEV bool gpurt_channel_is_full(const gpurt_channel_t *c, uint64_t sent,
                                     uint64_t taken, uint64_t limit)
{
    if (gpurt_channel_is_granted(c))
        return gpurt_channel_unused(c, sent) == 0;
    return gpurt_channel_between(sent, taken) >= (uint32_t)limit &&
           gpurt_channel_limit_last(c) == limit;
}

/* Credits of a closed channel in which no sender has one without a ticket, as receivers compare
 * them: none is handed out any more. Behind a load of xtaken. */
GPURT_DEV uint64_t gpurt_channel_all_credits(const gpurt_channel_t *c, uint64_t sent)
{
    return gpurt_channel_is_granted(c) ? gpurt_channel_unused(c, sent)
                                       : (uint32_t)gpurt_channel_limit_last(c);
}

/* ---- grants ---------------------------------------------------------------------------- */

/* relaxed: a call that finds it shut acquires what is behind it (gpurt_channel_ended) */
GPURT_DEV bool gpurt_channel_is_shut(const gpurt_channel_words_t *w)
{
    return gpurt_channel_credits(gpurt_load_relaxed_dev_u64(&w->xtaken)) <
           GPURT_CHANNEL_CLOSED_BELOW;
}

/* The answer of a call that found it shut: its caller sees what the closer wrote before. Only
 * additions follow the close's in that word, so the load finds the close, too. */
GPURT_DEV gpurt_status_t gpurt_channel_ended(const gpurt_channel_t *c)
{
    (void)gpurt_load_acquire_dev_u64(&c->words->xtaken); /* CH3.acq */
    return gpurt_channel_gone(&c->words->desk, c->id);
}

/* Of n so many as there is room for that nobody was promised: a ticket of xgranted each. relaxed:
 * as above. Fails only when others change the word: a receive for each message that is there, a
 * grant, a new limit. */
GPURT_DEV uint32_t gpurt_channel_promise(uint64_t *word, uint32_t n)
{
    uint64_t was = gpurt_load_relaxed_dev_u64(word), now;
    uint32_t got;

    do {
        int32_t room = gpurt_channel_credits(was);

        got = room <= 0 ? 0 : (uint32_t)room < n ? (uint32_t)room : n;
        now = was - got + ((uint64_t)got << GPURT_CHANNEL_CREDIT_BITS);
    } while (got && !gpurt_cas_relaxed_dev_u64(word, &was, now));
    return got;
}

/* What was promised becomes credits of senders. Returns: false, a close came before. Then the
 * credits stay, of no use to anybody: receivers count them on both sides. */
GPURT_DEV bool gpurt_channel_give(gpurt_channel_words_t *w, uint32_t n)
{
    uint64_t was = gpurt_add_release_dev_u64(&w->xtaken, n); /* CH3.rel */

    return gpurt_channel_credits(was) >= GPURT_CHANNEL_CLOSED_BELOW;
}

/* One lane. Senders may send n messages more. *done: so many of them. What the caller wrote is not
 * handed over with it.
 * Returns: GPURT_E_FULL, fewer: with what was promised before they fill the channel.
 * GPURT_E_CHANNEL_CLOSED, GPURT_E_HANDLE. GPURT_E_INVALID: not GPURT_CHANNEL_GRANTED, or n is 0. */
GPURT_DEVN gpurt_status_t gpurt_channel_grant(const gpurt_channel_t *c, uint32_t n,
                                              uint32_t *done)
{
    gpurt_channel_words_t *w = c->words;
    uint32_t got;

    *done = 0;
    if (!w || gpurt_load_relaxed_dev_u32(&w->desk.id) != c->id) /* relaxed: only compared */
        return GPURT_E_HANDLE;
    if (!gpurt_channel_is_granted(c) || n == 0)
        return GPURT_E_INVALID;
    if (gpurt_channel_is_shut(w))
        return gpurt_channel_ended(c);
    got = gpurt_channel_promise(&w->xgranted, n);
    if (got && !gpurt_channel_give(w, got))
        return gpurt_channel_ended(c);
    *done = got;
    return *done == n ? GPURT_OK : GPURT_E_FULL;
}

/* ---- the limit ------------------------------------------------------------------------- */

/* Keeps others from changing it. relaxed: what they agree on is in this word */
GPURT_DEV uint64_t gpurt_channel_limit_hold(gpurt_channel_words_t *w)
{
    uint64_t was = gpurt_load_relaxed_dev_u64(&w->xlimit);

    for (;;) {
        was &= ~GPURT_CHANNEL_LIMIT_BUSY;
        if (gpurt_cas_relaxed_dev_u64(&w->xlimit, &was, was | GPURT_CHANNEL_LIMIT_BUSY))
            return was;
        gpurt_pause();
    }
}

/* Up: receivers of a closed channel must not find credits that the limit lacks, so it comes
 * first. Down: it must not lack credits that senders still have, so it comes last, and not at all
 * where a close was quicker: receivers may have looked.
 * Returns: false, a close was quicker. */
GPURT_DEV bool gpurt_channel_limit_move(const gpurt_channel_t *c, uint64_t was,
                                        uint64_t next)
{
    gpurt_channel_words_t *w = c->words;
    uint64_t *word = gpurt_channel_is_granted(c) ? &w->xgranted : &w->xtaken;
    const uint64_t more = (uint64_t)(uint32_t)next - (uint32_t)was;
    bool shut;

    if ((uint32_t)next > (uint32_t)was) { /* relaxed: in front of the release */
        gpurt_store_relaxed_dev_u64(&w->xlimit, next | GPURT_CHANNEL_LIMIT_BUSY);
        return gpurt_channel_credits(gpurt_add_release_dev_u64(word, more)) >= /* CH3.rel */
               GPURT_CHANNEL_CLOSED_BELOW;
    }
    /* relaxed: a credit says how many */
    shut = gpurt_channel_credits(gpurt_add_relaxed_far_u64(word, more)) <
           GPURT_CHANNEL_CLOSED_BELOW;
    if (shut)
        gpurt_red_add_relaxed_dev_u64(word, 0 - more);
    return !shut;
}

/* One lane. From now on so many messages are in it at most. What is in it stays: with more than
 * that, senders wait until enough was received.
 * Returns: GPURT_E_CHANNEL_CLOSED, GPURT_E_HANDLE. GPURT_E_INVALID: not GPURT_CHANNEL_RESIZED, or
 * no number from 1 to its slots. */
GPURT_DEVN gpurt_status_t gpurt_channel_resize(const gpurt_channel_t *c, uint32_t limit)
{
    gpurt_channel_words_t *w = c->words;
    uint64_t was, next;
    bool open;

    if (!w || gpurt_load_relaxed_dev_u32(&w->desk.id) != c->id) /* relaxed: only compared */
        return GPURT_E_HANDLE;
    if (!gpurt_channel_is_resized(c) || limit - 1 >= c->capacity)
        return GPURT_E_INVALID;
    if (gpurt_channel_is_shut(w))
        return gpurt_channel_ended(c);
    was = gpurt_channel_limit_hold(w);
    next = (was & ~0xffffffffull) + GPURT_CHANNEL_LIMIT_CHANGE + limit;
    open = gpurt_channel_limit_move(c, was, next);
    /* What a closed channel was given stays. */
    gpurt_store_release_dev_u64(&w->xlimit,
                                open || limit > (uint32_t)was ? next : was); /* CH6.rel */
    return open ? GPURT_OK : gpurt_channel_ended(c);
}

#endif
