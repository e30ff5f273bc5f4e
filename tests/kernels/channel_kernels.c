/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 2
#include "channel_kernels.h"

#include <gpurt/device.h>

/* ---- a list of calls ----------------------------------------------------------------- */

/* Each call of the list; a pair's have a type. */
#define CHANNEL_LIST(kind, type, prefix)                                       \
    GPURT_DEVN int32_t channel_many_##kind(const type *c, channel_step_t *s)   \
    {                                                                          \
        uint64_t many[GPURT_CHANNEL_MANY_MOST + 1];                            \
        uint32_t done = 0;                                                     \
        int32_t answer;                                                        \
                                                                               \
        for (uint32_t i = 0; i <= GPURT_CHANNEL_MANY_MOST; i++)                \
            many[i] = s->what == CHANNEL_SEND_MANY ? 1000 + i : 0;             \
        if (s->what == CHANNEL_SEND_MANY)                                      \
            answer = prefix##send_many(c, many, (uint32_t)s->value, &done);    \
        else                                                                   \
            answer = prefix##receive_many(c, many, (uint32_t)s->value, &done); \
        s->found = done;                                                       \
        for (uint32_t i = 0; s->what == CHANNEL_RECEIVE_MANY && i < done; i++) \
            if (many[i] != 1000 + i)                                           \
                s->found = many[i] << 32;                                      \
        return answer;                                                         \
    }                                                                          \
    GPURT_DEVN int32_t channel_do_##kind(const type *c, channel_step_t *s)     \
    {                                                                          \
        switch (s->what) {                                                     \
        case CHANNEL_SEND:                                                     \
            return prefix##send(c, &s->value);                                 \
        case CHANNEL_SEND_FOR:                                                 \
            return prefix##send_for(c, &s->value, 2000);                       \
        case CHANNEL_TRY_SEND:                                                 \
            return prefix##try_send(c, &s->value);                             \
        case CHANNEL_RECEIVE:                                                  \
            return prefix##receive(c, &s->found);                              \
        case CHANNEL_RECEIVE_FOR:                                              \
            return prefix##receive_for(c, &s->found, 2000);                    \
        case CHANNEL_TRY_RECEIVE:                                              \
            return prefix##try_receive(c, &s->found);                          \
        default:                                                               \
            return channel_many_##kind(c, s);                                  \
        }                                                                      \
    }
CHANNEL_LIST(any, gpurt_channel_t, gpurt_channel_)
CHANNEL_LIST(two, channel_two_t, gpurt_)

GPURT_DEVN int32_t channel_do(const struct channel_args *p, channel_step_t *s)
{
    uint32_t half = 0;
    int32_t answer;

    switch (s->what) {
    case CHANNEL_CLOSE:
        return gpurt_channel_close(&p->channel);
    case CHANNEL_SEND_SHORT:
        return gpurt_channel_send(&p->channel, &half);
    case CHANNEL_SEND_OTHER:
        return p->mode ? gpurt_channel_send(&p->channel, &s->value)
                       : gpurt_send(&p->two, &s->value);
    case CHANNEL_GRANT:
        answer = gpurt_grant(&p->two, (uint32_t)s->value, &half);
        s->found = half;
        return answer;
    case CHANNEL_RESIZE:
        return gpurt_resize(&p->two, (uint32_t)s->value);
    case CHANNEL_DEPTH:
        s->found = gpurt_channel_depth(&p->channel);
        return GPURT_OK;
    default:
        return p->mode ? channel_do_two(&p->two, s) : channel_do_any(&p->channel, s);
    }
}

/* One lane does what the list says, in order. */
GPURT_KERNEL(channel_trace, struct channel_args, p)
{
    for (uint32_t i = 0; gpurt_global_id() == 0 && i < p->step_count; i++)
        p->steps[i].answer = channel_do(p, &p->steps[i]);
}

/* ---- storms -------------------------------------------------------------------------- */

GPURT_DEV uint32_t channel_pattern(uint64_t id, uint32_t i)
{
    return (uint32_t)id * 2654435761u + i * 40503u;
}

GPURT_DEV void channel_write_pair(channel_pair_t *m, uint64_t id)
{
    m->id = id;
}
GPURT_DEV uint64_t channel_read_pair(const channel_pair_t *m)
{
    return m->id;
}
GPURT_DEV void channel_write_word(uint32_t *m, uint64_t id)
{
    *m = (uint32_t)id;
}
GPURT_DEV uint64_t channel_read_word(const uint32_t *m)
{
    return *m;
}

/* The first word is the number; UINT64_MAX: the rest is not that number's. */
#define CHANNEL_WORDS(kind, type, count)                        \
    GPURT_DEV void channel_write_##kind(type *m, uint64_t id)   \
    {                                                           \
        m->words[0] = (uint32_t)id;                             \
        for (uint32_t i = 1; i < (count); i++)                  \
            m->words[i] = channel_pattern(id, i);               \
    }                                                           \
    GPURT_DEV uint64_t channel_read_##kind(const type *m)       \
    {                                                           \
        for (uint32_t i = 1; i < (count); i++)                  \
            if (m->words[i] != channel_pattern(m->words[0], i)) \
                return UINT64_MAX;                              \
        return m->words[0];                                     \
    }
CHANNEL_WORDS(card, channel_card_t, 10)
CHANNEL_WORDS(page, channel_page_t, 25)
CHANNEL_WORDS(sheet, channel_sheet_t, 163)

/* Lanes that send are numbered through; so are their messages. */
GPURT_DEV uint32_t channel_messages(const struct channel_args *p)
{
    return gpurt_grid_blocks() * gpurt_block_threads() * p->each;
}

GPURT_DEV void channel_blame(uint32_t *what)
{
    gpurt_red_add_relaxed_dev_u32(what, 1);
}

GPURT_DEVN void channel_check(const struct channel_args *p, uint64_t id)
{
    if (id >= channel_messages(p)) {
        channel_blame(&p->verdict->xwrong);
        return;
    }
    if (!(p->channel.flags & GPURT_CHANNEL_ALONE) &&
        p->plain[id] != channel_pattern(id, 77)) /* what it wrote before */
        channel_blame(&p->verdict->xwrong);
    gpurt_red_add_relaxed_dev_u32(&p->seen[id], 1);
    gpurt_red_add_relaxed_dev_u64(&p->verdict->xreceived, 1);
}

GPURT_DEVN void channel_told(const struct channel_args *p, int32_t answer)
{
    channel_verdict_t *v = p->verdict;

    if (answer == GPURT_OK)
        gpurt_red_add_relaxed_dev_u64(&v->xsent, 1);
    else if (answer == GPURT_E_DROPPED)
        gpurt_red_add_relaxed_dev_u64(&v->xdropped, 1);
    else if (answer == GPURT_E_FULL)
        gpurt_red_add_relaxed_dev_u64(&v->xrefused, 1);
    else
        channel_blame(&v->xanswers);
}

/* The last of all warps that send closes, and so does one that is cancelled. */
GPURT_DEVN void channel_sender_ends(uint64_t arg)
{
    channel_verdict_t *v = (channel_verdict_t *)(uintptr_t)arg;

    if (gpurt_sub_relaxed_dev_u32(&v->xsenders, 1) > 1)
        return;
    v->farewell = 1;
    if (gpurt_channel_close(&v->channel) != GPURT_OK)
        channel_blame(&v->xanswers);
}

/* Lanes of a warp that take part: all, or all but each third. */
GPURT_DEV uint32_t channel_lanes(const struct channel_args *p)
{
    uint32_t rest = gpurt_block_threads() - gpurt_warp() * GPURT_WARP_SIZE;
    uint32_t there = rest < GPURT_WARP_SIZE ? (1u << rest) - 1 : GPURT_FULL_MASK;

    return p->mode & CHANNEL_PART ? there & 0x6db6db6du : there;
}

GPURT_DEV bool channel_is_wide(const struct channel_args *p)
{
    return p->channel.capacity >= CHANNEL_WIDE;
}

/* A call that is told of the close sees what was written before it, and has granted nothing. */
GPURT_DEV void channel_hears_farewell(const struct channel_args *p, uint32_t done)
{
    if (done || !p->verdict->farewell)
        channel_blame(&p->verdict->xanswers);
}

/* A credit for each of n messages. In a narrow channel others may have promised the
 * room. */
GPURT_DEVN void channel_grants(const struct channel_args *p, uint32_t n)
{
    uint32_t done = 0;
    int32_t answer;

    if (!gpurt_channel_is_granted(&p->channel))
        return;
    answer = gpurt_channel_grant(&p->channel, n, &done);
    if (answer == GPURT_E_CHANNEL_CLOSED)
        channel_hears_farewell(p, done);
    else if (answer != (done == n ? GPURT_OK : GPURT_E_FULL))
        channel_blame(&p->verdict->xanswers);
    if (answer == GPURT_E_FULL && channel_is_wide(p))
        channel_blame(&p->verdict->xanswers);
}

/* Lanes of a group wait for a message each before one of them grants: where there is no room for
 * as many, one lane of a warp receives, and grants before. */
GPURT_DEV bool channel_receives(const struct channel_args *p, uint32_t lanes)
{
    return !gpurt_channel_is_granted(&p->channel) || channel_is_wide(p) ||
           gpurt_lane() == gpurt_ctz(lanes);
}

/* Some lanes move the limit; receivers do also beside the close, and after it in vain. */
GPURT_DEVN void channel_moves(const struct channel_args *p, uint64_t id)
{
    const gpurt_channel_t *c = &p->channel;
    uint32_t limit = 1 + channel_pattern(id, 5) / 7 % c->capacity;
    int32_t answer;

    if (!(p->mode & CHANNEL_LIMITS) || id % 5)
        return;
    answer = gpurt_channel_resize(c, limit);
    if (answer == GPURT_E_CHANNEL_CLOSED)
        channel_hears_farewell(p, 0);
    else if (answer != GPURT_OK)
        channel_blame(&p->verdict->xanswers);
}

/* One message, or up to three, each checked; a pair's have a type. */
#define CHANNEL_RECEIVER(function, channel, kind, type, prefix)                 \
    GPURT_DEVN int32_t function(const struct channel_args *p, const channel *c) \
    {                                                                           \
        uint32_t done = 0;                                                      \
        int32_t answer;                                                         \
        type m[3];                                                              \
                                                                                \
        if (!channel_is_wide(p))                                                \
            channel_grants(p, p->mode &CHANNEL_MANY ? 3 : 1);                   \
        if (p->mode & CHANNEL_MANY) {                                           \
            answer = prefix##receive_many(c, m, 3, &done);                      \
        } else {                                                                \
            answer = prefix##receive(c, m);                                     \
            done = answer == GPURT_OK;                                          \
        }                                                                       \
        for (uint32_t i = 0; i < done; i++)                                     \
            channel_check(p, channel_read_##kind(&m[i]));                       \
        if (channel_is_wide(p) && done)                                         \
            channel_grants(p, done);                                            \
        return answer;                                                          \
    }

#define CHANNEL_STORM(kind, type)                                                              \
    GPURT_DEVN void channel_send_##kind(const struct channel_args *p, uint64_t id)             \
    {                                                                                          \
        const gpurt_channel_t *c = &p->channel;                                                \
        type m;                                                                                \
                                                                                               \
        channel_write_##kind(&m, id);                                                          \
        p->plain[id] = channel_pattern(id, 77);                                                \
        channel_told(p, p->mode &CHANNEL_TRIES ? gpurt_channel_try_send(c, &m)                 \
                                               : gpurt_channel_send(c, &m));                   \
    }                                                                                          \
    CHANNEL_RECEIVER(channel_receive_##kind, gpurt_channel_t, kind, type, gpurt_channel_)      \
    /* Even warps send, odd ones receive until it is closed; or all lanes do both by turns. */ \
    GPURT_KERNEL(channel_storm_##kind, struct channel_args, p)                                 \
    {                                                                                          \
        uint64_t first = (uint64_t)gpurt_global_id() * p->each;                                \
        bool sends = gpurt_warp() % 2 == 0, both = p->mode & CHANNEL_MIXED;                    \
        uint32_t lanes = channel_lanes(p);                                                     \
        int32_t answer = GPURT_OK;                                                             \
                                                                                               \
        if (!(lanes >> gpurt_lane() & 1u) || !(sends || channel_receives(p, lanes)))           \
            return;                                                                            \
        if (sends && !both)                                                                    \
            (void)gpurt_defer(lanes, channel_sender_ends,                                      \
                              (uint64_t)(uintptr_t)p->verdict);                                \
        for (uint32_t i = 0; (sends || both) && i < p->each; i++) {                            \
            channel_moves(p, first + i);                                                       \
            channel_send_##kind(p, first + i);                                                 \
            if (both)                                                                          \
                answer = channel_receive_##kind(p, &p->channel);                               \
            if ((p->mode & CHANNEL_CANCELS) && gpurt_block_x() % 2 && i == p->each / 2)        \
                gpurt_cancel_block();                                                          \
            gpurt_cancel_point();                                                              \
        }                                                                                      \
        if (sends && !both) {                                                                  \
            gpurt_syncwarp(lanes); /* all have sent */                                         \
            (void)gpurt_undefer(lanes, true);                                                  \
        }                                                                                      \
        while (!sends && !both && answer == GPURT_OK) {                                        \
            channel_moves(p, first++);                                                         \
            answer = channel_receive_##kind(p, &p->channel);                                   \
        }                                                                                      \
        if (answer != (both || sends ? GPURT_OK : GPURT_E_CHANNEL_CLOSED) ||                   \
            (answer == GPURT_E_CHANNEL_CLOSED && !p->verdict->farewell))                       \
            channel_blame(&p->verdict->xanswers);                                              \
    }
CHANNEL_STORM(word, uint32_t)
CHANNEL_STORM(pair, channel_pair_t)
CHANNEL_STORM(card, channel_card_t)
CHANNEL_STORM(page, channel_page_t)
CHANNEL_STORM(sheet, channel_sheet_t)

/* ---- pairs --------------------------------------------------------------------------- */

/* A lane of warp 0 sends, one of warp 1 receives until it is closed. */
#define CHANNEL_PIPE(kind, type)                                                       \
    GPURT_PAIR(channel_pipe_##kind, type, 64);                                         \
    GPURT_DEVN void channel_pipe_send_##kind(const struct channel_args *p,             \
                                             const channel_pipe_##kind##_t *c)         \
    {                                                                                  \
        uint32_t done = 0, count = p->mode & CHANNEL_MANY ? 5 : 1;                     \
        type m[5];                                                                     \
                                                                                       \
        for (uint64_t i = 0; i < channel_messages(p); i += done) {                     \
            for (uint32_t k = 0; k < count; k++) {                                     \
                channel_write_##kind(&m[k], i + k);                                    \
                p->plain[i + k] = channel_pattern(i + k, 77);                          \
            }                                                                          \
            done = 1;                                                                  \
            if (p->mode & CHANNEL_TRIES)                                               \
                channel_told(p, gpurt_try_send(c, m));                                 \
            else if (!(p->mode & CHANNEL_MANY))                                        \
                channel_told(p, gpurt_send(c, m));                                     \
            else if (gpurt_send_many(c, m, 5, &done) == GPURT_OK && done == 5)         \
                gpurt_red_add_relaxed_dev_u64(&p->verdict->xsent, 5);                  \
            else                                                                       \
                channel_blame(&p->verdict->xanswers);                                  \
        }                                                                              \
        channel_sender_ends((uint64_t)(uintptr_t)p->verdict);                          \
    }                                                                                  \
    CHANNEL_RECEIVER(channel_pipe_receive_##kind, channel_pipe_##kind##_t, kind, type, \
                     gpurt_)                                                           \
    GPURT_KERNEL(channel_pipe_##kind, struct channel_args, p)                          \
    {                                                                                  \
        channel_pipe_##kind##_t c;                                                     \
        int32_t answer = GPURT_OK;                                                     \
                                                                                       \
        c.channel = p->channel;                                                        \
        if (gpurt_lane() > 0)                                                          \
            return;                                                                    \
        if (gpurt_warp() == 0) {                                                       \
            channel_pipe_send_##kind(p, &c);                                           \
            return;                                                                    \
        }                                                                              \
        while (answer == GPURT_OK)                                                     \
            answer = channel_pipe_receive_##kind(p, &c);                               \
        if (answer != GPURT_E_CHANNEL_CLOSED || !p->verdict->farewell)                 \
            channel_blame(&p->verdict->xanswers);                                      \
    }
CHANNEL_PIPE(word, uint32_t)
CHANNEL_PIPE(pair, channel_pair_t)
CHANNEL_PIPE(card, channel_card_t)
CHANNEL_PIPE(page, channel_page_t)
CHANNEL_PIPE(sheet, channel_sheet_t)

/* ---- cancelled while they wait -------------------------------------------------------- */

/* Block 0 waits for what nobody does, and is cancelled by its second warp. */
GPURT_KERNEL(channel_cancelled, struct channel_args, p)
{
    uint64_t value = 1;

    if (gpurt_warp() == 1) {
        for (uint32_t i = 0; i < 40; i++)
            gpurt_relax();
        gpurt_cancel_block();
        return;
    }
    if (p->mode >= CHANNEL_LONE && gpurt_lane() > 0)
        return;
    if (p->mode == (CHANNEL_LONE | 1))
        (void)gpurt_send(&p->two, &value);
    else if (p->mode == CHANNEL_LONE)
        (void)gpurt_receive(&p->two, &value);
    else if (p->mode)
        (void)gpurt_channel_send(&p->channel, &value);
    else
        (void)gpurt_channel_receive(&p->channel, &value);
    channel_blame(&p->verdict->xanswers); /* it should have left */
}

/* ---- several, the most urgent first ---------------------------------------------------- */

GPURT_DEVN void channel_expect(channel_verdict_t *v, int32_t answer, int32_t expected)
{
    if (answer != expected)
        channel_blame(&v->xanswers);
}

GPURT_KERNEL(channel_in_order, struct channel_urgent_args, p)
{
    channel_verdict_t *v = p->verdict;
    uint32_t m = 0, which = 9;

    if (gpurt_global_id() > 0)
        return;
    channel_expect(v, gpurt_receive_first(p->lanes, 0, &m, &which), GPURT_E_INVALID);
    channel_expect(v, gpurt_receive_first_for(p->lanes, 3, &m, &which, 0), GPURT_E_EMPTY);
    channel_expect(v, gpurt_receive_first_for(p->lanes, 3, &m, &which, 900),
                   GPURT_E_TIMEOUT);
    for (m = 0; m < 6; m++)
        channel_expect(v, gpurt_send(&p->lanes[2 - m % 3], &m), GPURT_OK);
    for (uint32_t i = 0; i < 6; i++) {
        channel_expect(v, gpurt_receive_first(p->lanes, 3, &m, &which), GPURT_OK);
        channel_expect(v, (int32_t)which, (int32_t)i / 2);
        channel_expect(v, (int32_t)m, 2 - (int32_t)i / 2 + (int32_t)i % 2 * 3);
    }
    m = 5;
    channel_expect(v, gpurt_send(&p->lanes[1], &m), GPURT_OK);
    for (uint32_t i = 0; i < 3; i++)
        channel_expect(v, gpurt_channel_close(&p->lanes[i].channel), GPURT_OK);
    channel_expect(v, gpurt_receive_first(p->lanes, 3, &m, &which), GPURT_OK);
    channel_expect(v, gpurt_receive_first(p->lanes, 3, &m, &which), GPURT_E_CHANNEL_CLOSED);
}

/* Even warps send to all of them by turns, odd ones receive until all are closed. */
GPURT_KERNEL(channel_storm_urgent, struct channel_urgent_args, p)
{
    uint32_t m = gpurt_lane(), which = 0, senders = gpurt_grid_blocks() * gpurt_warps() / 2;
    uint64_t mine = 0;

    if (gpurt_warp() % 2) {
        while (gpurt_receive_first(p->lanes, CHANNEL_URGENCIES, &m, &which) == GPURT_OK)
            mine++;
        gpurt_red_add_relaxed_dev_u64(&p->verdict->xreceived, mine);
        return;
    }
    for (uint32_t i = 0; i < CHANNEL_URGENT_EACH; i++)
        channel_expect(p->verdict,
                       gpurt_send(&p->lanes[(i + gpurt_lane()) % CHANNEL_URGENCIES], &m),
                       GPURT_OK);
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have sent */
    if (gpurt_lane() == 0 &&
        gpurt_add_relaxed_dev_u32(&p->verdict->xsenders, 1) + 1 == senders)
        for (uint32_t i = 0; i < CHANNEL_URGENCIES; i++)
            channel_expect(p->verdict, gpurt_channel_close(&p->lanes[i].channel), GPURT_OK);
}

/* ---- halves of calls ------------------------------------------------------------------ */

GPURT_DEV uint32_t channel_half_messages(const struct channel_args *p)
{
    return p->mode == CHANNEL_HALF_LIMIT ? 2 : 1;
}

GPURT_DEV void channel_half_sends(const gpurt_channel_t *c, uint32_t n)
{
    gpurt_channel_words_t *w = c->words;
    uint64_t first = gpurt_channel_draw(&w->xsent, &w->xsent_wraps, n, n), m = 9;

    for (uint32_t i = 0; i < n; i++)
        gpurt_channel_put(c, 1, true, first + i, &m, GPURT_CHANNEL_SHAPE_(&m));
}

/* Up to the middle of a call; with one lane nobody else is between its claim and its draw. */
GPURT_DEVN void channel_half_begin(const struct channel_args *p)
{
    gpurt_channel_words_t *w = p->channel.words;
    uint32_t open = GPURT_CHANNEL_OPEN;

    if (p->mode == CHANNEL_HALF_CLOSE)
        (void)gpurt_cas_relaxed_dev_u32(&w->desk.xstate, &open, GPURT_CHANNEL_SHUT);
    else if (gpurt_channel_claim(p->mode == CHANNEL_HALF_RECEIVE ? &w->xsent : &w->xtaken,
                                 channel_half_messages(p)) != channel_half_messages(p))
        channel_blame(&p->verdict->xanswers);
    if (p->mode == CHANNEL_HALF_LIMIT && gpurt_channel_resize(&p->channel, 1) != GPURT_OK)
        channel_blame(&p->verdict->xanswers);
    if (p->mode == CHANNEL_HALF_SEND_CLOSED)
        (void)gpurt_channel_close(&p->channel);
}

GPURT_DEVN void channel_half_end(const struct channel_args *p)
{
    const gpurt_channel_t *c = &p->channel;
    gpurt_channel_words_t *w = c->words;
    uint64_t m = 9;

    if (p->mode == CHANNEL_HALF_CLOSE)
        gpurt_red_add_relaxed_dev_u64(&w->xtaken, -(uint64_t)GPURT_CHANNEL_CLOSING);
    else if (p->mode == CHANNEL_HALF_RECEIVE)
        gpurt_channel_get(c, 1, true, gpurt_channel_draw_out(c, 1), &m,
                          GPURT_CHANNEL_SHAPE_(&m));
    else
        channel_half_sends(c, channel_half_messages(p));
}

/* What another lane is told meanwhile. */
GPURT_DEVN bool channel_half_other(const struct channel_args *p)
{
    const gpurt_channel_t *c = &p->channel;
    uint64_t m = 7;

    if (p->mode == CHANNEL_HALF_RECEIVE)
        return gpurt_channel_try_receive(c, &m) == GPURT_E_EMPTY;
    if (p->mode == CHANNEL_HALF_SEND)
        return gpurt_channel_try_send(c, &m) == GPURT_E_FULL;
    if (p->mode == CHANNEL_HALF_LIMIT)
        return gpurt_channel_try_receive(c, &m) == GPURT_OK && m == 9;
    if (p->mode == CHANNEL_HALF_CLOSE)
        return gpurt_channel_close(c) == GPURT_E_CHANNEL_CLOSED;
    return gpurt_channel_receive(c, &m) == GPURT_OK && m == 9 &&
           gpurt_channel_receive(c, &m) == GPURT_E_CHANNEL_CLOSED;
}

/* It is not told before the first lane went on: what it is told would not be so. */
GPURT_KERNEL(channel_half, struct channel_args, p)
{
    channel_verdict_t *v = p->verdict;

    if (gpurt_lane() > 0)
        return;
    if (gpurt_warp() == 0) {
        channel_half_begin(p);
        gpurt_store_relaxed_dev_u32(&v->xsenders, 1); /* relaxed: the words are atomics */
        for (uint32_t i = 0; i < 300; i++)
            gpurt_relax();
        gpurt_store_relaxed_dev_u32(&v->xsenders, 2);
        channel_half_end(p);
        return;
    }
    while (gpurt_load_relaxed_dev_u32(&v->xsenders) == 0)
        gpurt_relax();
    if (!channel_half_other(p) || gpurt_load_relaxed_dev_u32(&v->xsenders) != 2)
        channel_blame(&v->xanswers);
}

/* ---- a pair that another lane closes ------------------------------------------------- */

GPURT_DEVN void channel_cut_send(const struct channel_cut_args *p)
{
    int32_t answer = GPURT_OK;
    uint64_t i = 0, m[4];

    while (i < CHANNEL_CUT_MOST && answer == GPURT_OK) {
        uint32_t done = 0;

        for (uint32_t k = 0; k < p->many; k++)
            m[k] = i + k;
        answer = p->many > 1 ? gpurt_send_many(&p->two, m, p->many, &done)
                             : gpurt_send(&p->two, m);
        i += p->many > 1 ? done : answer == GPURT_OK;
    }
    *p->sent = i;
    p->answers[0] = answer;
    if (answer == GPURT_OK)
        (void)gpurt_channel_close(&p->two.channel);
}

GPURT_DEVN void channel_cut_receive(const struct channel_cut_args *p)
{
    int32_t answer;
    uint64_t m, next = 0;

    while ((answer = gpurt_receive(&p->two, &m)) == GPURT_OK)
        *p->wrong += m != next++;
    *p->received = next;
    p->answers[1] = answer;
}

/* Block 0 sends, block 1 receives, block 2 closes in the middle. */
GPURT_KERNEL(channel_cut, struct channel_cut_args, p)
{
    if (gpurt_block_x() == 0)
        channel_cut_send(p);
    else if (gpurt_block_x() == 1)
        channel_cut_receive(p);
    else {
        for (uint32_t i = 0; i < p->pauses; i++)
            gpurt_relax();
        (void)gpurt_channel_close(&p->two.channel);
    }
}

/* ---- two that wait for each other ----------------------------------------------------- */

GPURT_KERNEL(channel_knot, struct channel_knot_args, p)
{
    uint32_t m = 0;

    if (gpurt_lane() != 0)
        return;
    if (gpurt_block_x() == 0 && gpurt_channel_receive(&p->left, &m) == GPURT_OK)
        (void)gpurt_channel_send(&p->right, &m);
    if (gpurt_block_x() == 1 && gpurt_channel_receive(&p->right, &m) == GPURT_OK)
        (void)gpurt_channel_send(&p->left, &m);
}
