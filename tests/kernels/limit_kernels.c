/* SPDX-License-Identifier: Apache-2.0 */
#include "limit_kernels.h"

#include <gpurt/device.h>

GPURT_DEV void limit_expect(const struct limit_args *p, uint32_t bit, bool is)
{
    if (!is)
        *p->wrong |= 1u << bit;
}

/* A sender that found it full may be wrong by now. */
GPURT_DEVN void limit_changes_meanwhile(const struct limit_args *p)
{
    const gpurt_channel_t *c = &p->full;
    uint64_t limit = gpurt_channel_limit_first(c), later;
    uint64_t sent = gpurt_load_relaxed_dev_u64(&c->words->xsent);
    uint64_t taken = gpurt_load_relaxed_dev_u64(&c->words->xtaken);

    limit_expect(p, 0, gpurt_channel_is_full(c, sent, taken, limit));
    limit_expect(p, 1, gpurt_channel_resize(c, 1) == GPURT_OK);
    limit_expect(p, 2, gpurt_channel_resize(c, 2) == GPURT_OK);
    limit_expect(p, 3, !gpurt_channel_is_full(c, sent, taken, limit)); /* and was not */
    later = gpurt_channel_limit_first(c);
    limit_expect(p, 4, gpurt_channel_is_full(c, sent, taken, later));
}

/* Who looks between the parts finds no credit that the limit lacks. */
GPURT_DEVN void limit_in_parts(const struct limit_args *p)
{
    const gpurt_channel_t *c = &p->full;
    gpurt_channel_words_t *w = c->words;
    uint64_t was = gpurt_channel_limit_hold(w), next = was + 6 + GPURT_CHANNEL_LIMIT_CHANGE;

    limit_expect(p, 5, gpurt_channel_limit_move(c, was, next));
    limit_expect(p, 6, (uint32_t)gpurt_channel_limit_last(c) == 8);
    gpurt_store_relaxed_dev_u64(&w->xlimit, next);
    was = gpurt_channel_limit_hold(w);
    next = was - 6 + GPURT_CHANNEL_LIMIT_CHANGE;
    limit_expect(p, 7, gpurt_channel_limit_move(c, was, next));
    limit_expect(p, 8, (uint32_t)gpurt_channel_limit_last(c) == 8);
    limit_expect(p, 9, gpurt_channel_credits(gpurt_load_relaxed_dev_u64(&w->xtaken)) == 0);
    gpurt_store_relaxed_dev_u64(&w->xlimit, next);
}

/* It is closed when a lane has looked, and before it takes the credits. */
GPURT_DEVN void limit_after_close(const struct limit_args *p)
{
    const gpurt_channel_t *c = &p->shut;
    gpurt_channel_words_t *w = c->words;
    uint64_t was = gpurt_channel_limit_hold(w), m;

    limit_expect(p, 10, gpurt_channel_close(c) == GPURT_OK);
    limit_expect(p, 11,
                 !gpurt_channel_limit_move(c, was, was - 3 + GPURT_CHANNEL_LIMIT_CHANGE));
    gpurt_store_relaxed_dev_u64(&w->xlimit, was);
    limit_expect(p, 12,
                 gpurt_channel_credits(gpurt_load_relaxed_dev_u64(&w->xtaken)) ==
                     6 - GPURT_CHANNEL_CLOSING);
    limit_expect(p, 13, gpurt_channel_receive(c, &m) == GPURT_E_CHANNEL_CLOSED);
    was = gpurt_channel_limit_hold(w);
    limit_expect(p, 14,
                 !gpurt_channel_limit_move(c, was, was + 1 + GPURT_CHANNEL_LIMIT_CHANGE));
    gpurt_store_relaxed_dev_u64(&w->xlimit, was + 1);
    limit_expect(p, 15, gpurt_channel_receive(c, &m) == GPURT_E_CHANNEL_CLOSED);
}

/* Likewise, between the promise of credits and their gift. */
GPURT_DEVN void limit_grant_after_close(const struct limit_args *p)
{
    const gpurt_channel_t *c = &p->granted;
    uint64_t m;

    limit_expect(p, 16, gpurt_channel_promise(&c->words->xgranted, 2) == 2);
    limit_expect(p, 17, gpurt_channel_close(c) == GPURT_OK);
    limit_expect(p, 18, !gpurt_channel_give(c->words, 2));
    limit_expect(p, 19, gpurt_channel_receive(c, &m) == GPURT_E_CHANNEL_CLOSED);
}

GPURT_KERNEL(limit_parts, struct limit_args, p)
{
    if (gpurt_global_id() > 0)
        return;
    limit_changes_meanwhile(p);
    limit_in_parts(p);
    limit_after_close(p);
    limit_grant_after_close(p);
}
