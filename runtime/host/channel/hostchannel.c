/* SPDX-License-Identifier: Apache-2.0 */
/* Channels with one end on the host: their life, and that end. What is done to their words goes over
 * a stream of its own; messages go by memory that both sides reach. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include <gpurt/hostchannels.h>

#include "channellife.h"
#include "channelname.h"
#include "hostturn.h"
#include "life.h"
#include "optionsize.h"
#include "ownword.h"
#include "refuse.h"

GPURT_CLASS(hostchannel);

enum {
    LOOKS = 32 /* before the next pass of a wait: that takes as long */
};

/* ---- words and memory ------------------------------------------------------------------ */

static gpurt_status_t words_read(gpurt_t *rt, gpurt_stream_t stream, const void *channel,
                                 void *words, gpurt_error_t *err)
{
    const gpurt_hostchannel_t *c = channel;

    return gpurt_copy(rt, stream, words, c->words, sizeof *c->words, err);
}

static gpurt_status_t words_write(gpurt_t *rt, gpurt_stream_t stream, const void *channel,
                                  void *words, gpurt_error_t *err)
{
    const gpurt_hostchannel_t *c = channel;

    return gpurt_copy(rt, stream, c->words, words, sizeof *c->words, err);
}

static const gpurt_channellife_t life = {.table = &gpurt_hostend_table,
                                         .plural = "host channels",
                                         .class_ = &gpurt_class_hostchannel,
                                         .bytes = sizeof(gpurt_hostchannel_t),
                                         .id_at = offsetof(gpurt_hostchannel_t, id),
                                         .desk_at =
                                             offsetof(gpurt_hostchannel_words_t, desk),
                                         .read = words_read,
                                         .init = words_write,
                                         .fini = words_write};
GPURT_STATIC_ASSERT(offsetof(gpurt_hostchannel_t, words) == 0,
                    "a description begins with its words");

/* ---- life ------------------------------------------------------------------------------ */

static gpurt_status_t options_check(const gpurt_hostchannel_options_t *o,
                                    gpurt_error_t *err)
{
    if (o->capacity == 0 || (o->capacity & (o->capacity - 1)) ||
        o->capacity > GPURT_HOSTCHANNEL_CAPACITY_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "host channel: a capacity of %u: a power of two from 1 to %d",
                      o->capacity, GPURT_HOSTCHANNEL_CAPACITY_MOST);
    if (o->bytes == 0 || o->bytes > GPURT_HOSTCHANNEL_BYTES_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "host channel: messages of %u bytes: 1 to %d, send pointers to "
                      "larger ones",
                      o->bytes, GPURT_HOSTCHANNEL_BYTES_MOST);
    if (o->way != GPURT_TO_DEVICE && o->way != GPURT_TO_HOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "host channel: way %u: GPURT_TO_DEVICE or GPURT_TO_HOST", o->way);
    if (o->policy >= GPURT_CHANNEL_DROP_OLDEST)
        return REFUSE(err, GPURT_E_INVALID,
                      "host channel: policy %u: one of GPURT_CHANNEL_BLOCK, _FAIL and "
                      "_DROP_NEWEST: the oldest message is the other side's already",
                      o->policy);
    return GPURT_OK;
}

/* Marks say that the slots' messages of the lap before were acknowledged. */
static gpurt_status_t side_make(gpurt_t *rt, gpurt_hostchannel_t *c, gpurt_error_t *err)
{
    const uint64_t first = gpurt_hostchannel_first(c->capacity);
    const uint32_t lines = (uint32_t)sizeof *c->side; /* marks fill whole ones */
    size_t marks = ((size_t)c->capacity * sizeof *c->marks + lines - 1) / lines * lines;
    size_t bytes = sizeof *c->side + marks + (size_t)c->capacity * c->stride;
    void *memory = NULL;
    gpurt_status_t st = gpurt_host_create(rt, bytes, &memory, err);

    if (st != GPURT_OK)
        return st;
    memset(memory, 0, bytes);
    c->side = (gpurt_hostchannel_side_t *)memory;
    c->marks = (uint32_t *)(void *)(c->side + 1);
    c->slots = (char *)c->marks + marks;
    c->side->xtold = (uint32_t)first & GPURT_HOSTCHANNEL_TICKETS;
    c->side->tally.xnext = first;
    for (uint32_t i = 0; i < c->capacity; i++)
        c->marks[i] = (uint32_t)first + i - c->capacity + 1;
    return GPURT_OK;
}

static void words_fill(gpurt_hostchannel_words_t *w, const gpurt_hostchannel_t *c)
{
    memset(w, 0, sizeof *w);
    w->next = gpurt_hostchannel_first(c->capacity);
    w->limit = w->next;
}

gpurt_status_t gpurt_hostchannel_create(gpurt_t *rt,
                                        const gpurt_hostchannel_options_t *options,
                                        gpurt_hostchannel_t *out, gpurt_error_t *err)
{
    gpurt_hostchannel_options_t o;
    gpurt_hostchannel_words_t words;
    gpurt_hostchannel_t c;
    gpurt_status_t st;
    void *memory = NULL;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the channel");
    memset(out, 0, sizeof *out);
    st = gpurt_options_copy(&o, sizeof o, options, gpurt_hostend_table.what, err);
    if (st == GPURT_OK)
        st = options_check(&o, err);
    if (st != GPURT_OK)
        return st;
    c = (gpurt_hostchannel_t){.capacity = o.capacity,
                              .bytes = o.bytes,
                              .stride = gpurt_hostchannel_stride(o.bytes),
                              .policy = o.policy,
                              .way = o.way};
    st = side_make(rt, &c, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_channellife_get(&life, rt, sizeof words, &memory, &c.id, err);
    if (st == GPURT_OK) {
        gpurt_hostend_begin(&c);
        c.words = (gpurt_hostchannel_words_t *)memory;
        words_fill(&words, &c);
        st = gpurt_channellife_begin(&life, rt, &c, &words, o.name, out, err);
        gpurt_hostend_rename(&c, words.desk.name);
    }
    if (st != GPURT_OK)
        gpurt_host_destroy(rt, c.side);
    return st;
}

gpurt_status_t gpurt_hostchannel_create_of(gpurt_t *rt, gpurt_hostchannel_t *out,
                                           uint32_t capacity, uint32_t bytes, uint32_t way,
                                           const char *name,
                                           const gpurt_hostchannel_options_t *options,
                                           gpurt_error_t *err)
{
    gpurt_hostchannel_options_t o;
    char word[GPURT_CHANNEL_NAME_BYTES];
    gpurt_status_t st =
        gpurt_options_copy(&o, sizeof o, options, gpurt_hostend_table.what, err);

    if (st != GPURT_OK)
        return st;
    o.struct_size = (uint32_t)sizeof o;
    o.capacity = capacity;
    o.bytes = bytes;
    o.way = way;
    if (!o.name)
        o.name = gpurt_channel_name_of(word, name);
    return gpurt_hostchannel_create(rt, &o, out, err);
}

/* ---- calls ----------------------------------------------------------------------------- */

static gpurt_status_t turn_check(const gpurt_hostturn_t *t, const void *messages,
                                 uint32_t bytes, uint32_t count, uint32_t way)
{
    if (!messages)
        return REFUSE(t->err, GPURT_E_INVALID, "messages is NULL: pass a place for them");
    if (way != t->c->way)
        return REFUSE(t->err, GPURT_E_INVALID, "host channel %s: the host %s it",
                      gpurt_hostend_name(t->c),
                      way == GPURT_TO_HOST ? "sends into" : "receives from");
    if (messages && bytes != t->c->bytes)
        return REFUSE(t->err, GPURT_E_INVALID,
                      "host channel %s: a message of %u bytes, its have %u",
                      gpurt_hostend_name(t->c), bytes, t->c->bytes);
    if (count == 0)
        return REFUSE(t->err, GPURT_E_INVALID,
                      "host channel %s: 0 messages: pass 1 or more",
                      gpurt_hostend_name(t->c));
    return GPURT_OK;
}

/* ---- send ------------------------------------------------------------------------------ */

/* Whether the message before in that slot was acknowledged. */
static bool is_free(const gpurt_hostturn_t *t, uint64_t ticket)
{
    const gpurt_hostchannel_t *c = t->c;

    return gpurt_ownword_load(t->o, &c->marks[gpurt_hostchannel_at(c, ticket)]) ==
           (uint32_t)ticket - c->capacity + 1;
}

/* As many as there is room for, told at once: first all together, then each by its turn, so that who
 * has seen a turn finds it told. Context: under the lock. */
static uint32_t send_some(const gpurt_hostturn_t *t, const char *from, uint32_t count)
{
    const gpurt_hostchannel_t *c = t->c;
    gpurt_hostchannel_tally_t *tally = &c->side->tally;
    const uint64_t first = tally->xnext;
    uint32_t n = 0;

    for (; n < count && is_free(t, first + n); n++)
        memcpy(gpurt_hostchannel_slot(c, first + n) + GPURT_HOSTCHANNEL_HEAD,
               from + (size_t)n * c->bytes, c->bytes);
    tally->xnext = first + n;
    if (n)
        gpurt_ownword_store(t->o, &c->side->xtold,
                            (uint32_t)tally->xnext & GPURT_HOSTCHANNEL_TICKETS);
    for (uint32_t i = 0; i < n && c->bytes <= GPURT_HOSTCHANNEL_SMALL; i++)
        gpurt_ownword_store(t->o, (uint32_t *)(void *)gpurt_hostchannel_slot(c, first + i),
                            (uint32_t)(first + i) + 1);
    return n;
}

/* There is no room for so many. Returns: GPURT_OK: wait for it. Context: under the lock. */
static gpurt_status_t send_none(const gpurt_hostturn_t *t, uint32_t count)
{
    gpurt_hostchannel_tally_t *tally = &t->c->side->tally;
    uint32_t policy = gpurt_hostchannel_policy(t->c, t->ns);

    if (policy == GPURT_CHANNEL_BLOCK)
        return GPURT_OK;
    *(policy == GPURT_CHANNEL_FAIL ? &tally->xrefused : &tally->xdropped) += count;
    return policy == GPURT_CHANNEL_FAIL
               ? REFUSE(t->err, GPURT_E_FULL,
                        "host channel %s is full: %u messages are not acknowledged",
                        gpurt_hostend_name(t->c), t->c->capacity)
               : REFUSE(t->err, GPURT_E_DROPPED,
                        "host channel %s is full: %u messages were dropped, as its policy "
                        "says",
                        gpurt_hostend_name(t->c), count);
}

/* Returns: whether the call is over, with *st. */
static bool send_step(const gpurt_hostturn_t *t, const char *from, uint32_t count,
                      uint32_t *done, uint64_t *ticket, gpurt_status_t *st)
{
    gpurt_hostchannel_tally_t *tally = &t->c->side->tally;

    gpurt_hostend_lock(t->c);
    gpurt_hostturn_uses(t);
    if (tally->xclosed) {
        tally->xrefused += count - *done;
        *st = REFUSE(t->err, GPURT_E_CHANNEL_CLOSED, "host channel %s was closed",
                     gpurt_hostend_name(t->c));
    } else {
        *done += send_some(t, from + (size_t)*done * t->c->bytes, count - *done);
        if (ticket)
            *ticket = tally->xnext - 1;
        *st = *done == count ? GPURT_OK : send_none(t, count - *done);
    }
    gpurt_hostend_unlock(t->c);
    return *st != GPURT_OK || *done == count;
}

gpurt_status_t gpurt_hostchannel_send(gpurt_t *rt, const gpurt_hostchannel_t *channel,
                                      const void *messages, uint32_t bytes, uint32_t count,
                                      uint64_t ns, uint32_t *done, uint64_t *ticket,
                                      gpurt_error_t *err)
{
    uint32_t sent = 0;
    gpurt_hostturn_t t;
    gpurt_status_t st = gpurt_hostturn_enter(&t, rt, channel, GPURT_WAIT_ROOM, ns, err);

    if (done)
        *done = 0;
    if (st != GPURT_OK)
        return st;
    st = turn_check(&t, messages, bytes, count, GPURT_TO_DEVICE);
    while (st == GPURT_OK && !send_step(&t, messages, count, &sent, ticket, &st))
        st = gpurt_hostturn_wait(&t, "has made room");
    if (done)
        *done = sent;
    return gpurt_hostturn_leave(&t, st);
}

/* The mark of that turn, or of a later one. */
static bool is_marked(const gpurt_hostturn_t *t, const uint32_t *mark, uint32_t turn)
{
    for (uint32_t i = 0; i < LOOKS; i++)
        if ((int32_t)(gpurt_ownword_load(t->o, mark) - turn) >= 0)
            return true;
    return false;
}

gpurt_status_t gpurt_hostchannel_await(gpurt_t *rt, const gpurt_hostchannel_t *channel,
                                       uint64_t ticket, uint64_t ns, gpurt_error_t *err)
{
    gpurt_hostturn_t t;
    gpurt_status_t st = gpurt_hostturn_enter(&t, rt, channel, GPURT_WAIT_DONE, ns, err);
    const uint32_t *mark;

    if (st != GPURT_OK)
        return st;
    if (channel->way != GPURT_TO_DEVICE)
        st = REFUSE(err, GPURT_E_INVALID,
                    "host channel %s: the host receives from it, and awaits nothing",
                    gpurt_hostend_name(channel));
    mark = &channel->marks[gpurt_hostchannel_at(channel, ticket)];
    while (st == GPURT_OK && !is_marked(&t, mark, (uint32_t)ticket + 1))
        st = gpurt_hostturn_wait(&t, "has acknowledged the message");
    return gpurt_hostturn_leave(&t, st);
}

gpurt_status_t gpurt_hostchannel_close(gpurt_t *rt, const gpurt_hostchannel_t *channel,
                                       gpurt_error_t *err)
{
    gpurt_hostturn_t t;
    gpurt_status_t st = gpurt_hostturn_enter(&t, rt, channel, GPURT_WAIT_NONE, 0, err);
    gpurt_hostchannel_tally_t *tally;

    if (st != GPURT_OK)
        return st;
    tally = &channel->side->tally;
    gpurt_hostend_lock(channel);
    if (channel->way != GPURT_TO_DEVICE) {
        st = REFUSE(err, GPURT_E_INVALID,
                    "host channel %s: kernels send into it: one of them closes it",
                    gpurt_hostend_name(channel));
    } else if (tally->xclosed) {
        st = REFUSE(err, GPURT_E_CHANNEL_CLOSED, "host channel %s was closed before",
                    gpurt_hostend_name(channel));
    } else {
        tally->xclosed = 1;
        gpurt_ownword_store(t.o, &channel->side->xtold,
                            ((uint32_t)tally->xnext & GPURT_HOSTCHANNEL_TICKETS) |
                                GPURT_HOSTCHANNEL_CLOSED);
    }
    gpurt_hostend_unlock(channel);
    return gpurt_hostturn_leave(&t, st);
}

/* ---- receive --------------------------------------------------------------------------- */

static uint32_t receive_some(const gpurt_hostturn_t *t, char *to, uint32_t count)
{
    const gpurt_hostchannel_t *c = t->c;
    gpurt_hostchannel_tally_t *tally = &c->side->tally;
    uint32_t n = 0;

    for (; n < count; n++) {
        const char *slot = gpurt_hostchannel_slot(c, tally->xnext);

        if (gpurt_ownword_load(t->o, (const uint32_t *)(const void *)slot) !=
            (uint32_t)tally->xnext + 1)
            break;
        memcpy(to + (size_t)n * c->bytes, slot + GPURT_HOSTCHANNEL_HEAD, c->bytes);
        tally->xnext++;
    }
    if (n)
        gpurt_ownword_store(t->o, &c->side->xtold,
                            (uint32_t)tally->xnext & GPURT_HOSTCHANNEL_TICKETS);
    return n;
}

/* Kernels closed it, and all that they sent was taken. */
static bool is_over(const gpurt_hostturn_t *t)
{
    uint32_t ended = gpurt_ownword_load(t->o, &t->c->side->xended);

    return (ended & GPURT_HOSTCHANNEL_CLOSED) &&
           gpurt_hostchannel_ahead(ended, 0, t->c->side->tally.xnext) == 0;
}

/* Returns: whether the call is over, with *st. */
static bool receive_step(const gpurt_hostturn_t *t, char *to, uint32_t count,
                         uint32_t *done, gpurt_status_t *st)
{
    gpurt_hostend_lock(t->c);
    gpurt_hostturn_uses(t);
    for (uint32_t i = 0; i < LOOKS && *done == 0; i++)
        *done = receive_some(t, to, count);
    if (*done == 0 && is_over(t))
        *st = REFUSE(t->err, GPURT_E_CHANNEL_CLOSED,
                     "host channel %s was closed, and nothing is left",
                     gpurt_hostend_name(t->c));
    else if (*done == 0 && t->ns == 0)
        *st = REFUSE(t->err, GPURT_E_EMPTY, "host channel %s is empty",
                     gpurt_hostend_name(t->c));
    gpurt_hostend_unlock(t->c);
    return *st != GPURT_OK || *done > 0;
}

gpurt_status_t gpurt_hostchannel_receive(gpurt_t *rt, const gpurt_hostchannel_t *channel,
                                         void *messages, uint32_t bytes, uint32_t count,
                                         uint64_t ns, uint32_t *done, gpurt_error_t *err)
{
    uint32_t received = 0;
    gpurt_hostturn_t t;
    gpurt_status_t st = gpurt_hostturn_enter(&t, rt, channel, GPURT_WAIT_DATA, ns, err);

    if (done)
        *done = 0;
    if (st != GPURT_OK)
        return st;
    st = turn_check(&t, messages, bytes, count, GPURT_TO_HOST);
    if (ns == 0)
        gpurt_ownword_awaited(t.o);
    while (st == GPURT_OK && !receive_step(&t, messages, count, &received, &st))
        st = gpurt_hostturn_wait(&t, "has sent a message");
    if (done)
        *done = received;
    return gpurt_hostturn_leave(&t, st);
}

/* ---- status, end ----------------------------------------------------------------------- */

gpurt_status_t gpurt_hostchannel_status(gpurt_t *rt, const gpurt_hostchannel_t *channel,
                                        gpurt_hostchannel_status_t *out, gpurt_error_t *err)
{
    gpurt_hostchannel_words_t w;
    gpurt_hostchannel_tally_t tally;
    gpurt_status_t st =
        gpurt_channellife_ask(&life, rt, channel, &w, out, sizeof *out, err);
    uint64_t waited_ns;
    gpurt_hostturn_t t;

    if (st == GPURT_OK)
        st = gpurt_hostturn_enter(&t, rt, channel, GPURT_WAIT_NONE, 0, err);
    if (st != GPURT_OK)
        return st;
    tally = gpurt_hostend_tally(channel, &waited_ns);
    memcpy(out->name, w.desk.name, sizeof out->name);
    out->state = tally.xclosed ? (uint32_t)GPURT_CHANNEL_SHUT : w.desk.xstate;
    out->way = channel->way;
    out->policy = channel->policy;
    out->capacity = channel->capacity;
    out->bytes = channel->bytes;
    out->counts = gpurt_hostchannel_count(channel, &w, &tally);
    out->refused = w.desk.xrefused + tally.xrefused;
    out->cancelled = w.desk.xcancelled;
    out->timed_out = w.desk.xlate + tally.xlate;
    out->looks = w.xlooks;
    out->waiting = w.desk.xsending + w.desk.xreceiving;
    out->host_waiting = tally.xwaiting;
    return gpurt_hostturn_leave(&t, GPURT_OK);
}

gpurt_status_t gpurt_hostchannel_destroy(gpurt_t *rt, gpurt_hostchannel_t *channel,
                                         gpurt_error_t *err)
{
    gpurt_hostchannel_words_t words;
    const gpurt_opened_t *o;
    gpurt_hostchannel_t was;
    gpurt_status_t st, freed;

    if (!channel || !channel->words)
        return GPURT_OK;
    st = gpurt_life_enter(rt, &o, err);
    if (st == GPURT_OK)
        st = gpurt_life_leave(o, gpurt_hostend_finish(o, channel, err));
    if (st != GPURT_OK)
        return st;
    was = *channel;
    words_fill(&words, channel);
    st = gpurt_channellife_end(&life, rt, channel, &words, err);
    if (st == GPURT_E_HANDLE) { /* another device's: it stays */
        gpurt_hostend_resume(&was);
        return st;
    }
    freed = gpurt_host_destroy(rt, was.side);
    return st == GPURT_OK ? freed : st;
}
