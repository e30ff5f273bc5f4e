/* SPDX-License-Identifier: Apache-2.0 */
/* Channels: life, and what the host does to one while kernels use it. All of it goes over a stream
 * of its own: the program's streams may hold kernels that wait for this. */
#include <gpurt/channels.h>

#include "channel_close_kernels.h"
#include "channellife.h"
#include "channelname.h"
#include "optionsize.h"
#include "refuse.h"

GPURT_CLASS(channel);

static gpurt_id_entry_t entries[GPURT_CHANNELS];
static gpurt_idtable_t channels = {.lock = GPURT_LOCK_INIT,
                                   .what = "channel",
                                   .entries = entries,
                                   .count = GPURT_CHANNELS};
__attribute__((used)) static void (*const cpu_half)(const void *) =
    gpurt_cpu_gpurt_channel_close_one;
__attribute__((used)) static void (*const cpu_room)(const void *) =
    gpurt_cpu_gpurt_channel_room_one;

/* ---- words and memory ------------------------------------------------------------------ */

static gpurt_status_t words_read(gpurt_t *rt, gpurt_stream_t stream, const void *channel,
                                 void *words, gpurt_error_t *err)
{
    const gpurt_channel_t *c = channel;

    return gpurt_copy(rt, stream, words, c->words, GPURT_CHANNEL_WATCHED_BYTES, err);
}

static gpurt_status_t words_write(gpurt_t *rt, gpurt_stream_t stream, const void *channel,
                                  void *words, gpurt_error_t *err)
{
    const gpurt_channel_t *c = channel;

    return gpurt_copy(rt, stream, c->words, words, sizeof *c->words, err);
}

/* Slots of zeros are free, in the first lap. */
static gpurt_status_t memory_init(gpurt_t *rt, gpurt_stream_t stream, const void *channel,
                                  void *words, gpurt_error_t *err)
{
    const gpurt_channel_t *c = channel;
    gpurt_status_t st =
        gpurt_fill(rt, stream, c->slots, 0, gpurt_channel_slots_bytes(c), err);

    return st == GPURT_OK ? words_write(rt, stream, c, words, err) : st;
}

static const gpurt_channellife_t life = {.table = &channels,
                                         .plural = "channels",
                                         .class_ = &gpurt_class_channel,
                                         .close = &gpurt_kernel_gpurt_channel_close_one,
                                         .bytes = sizeof(gpurt_channel_t),
                                         .id_at = offsetof(gpurt_channel_t, id),
                                         .desk_at = offsetof(gpurt_channel_words_t, desk),
                                         .read = words_read,
                                         .init = memory_init,
                                         .fini = words_write};
GPURT_STATIC_ASSERT(offsetof(gpurt_channel_t, words) == 0,
                    "a description begins with its words");

/* ---- life ---------------------------------------------------------------------------- */

/* The first lap. */
static void words_fill(gpurt_channel_words_t *w, const gpurt_channel_t *c, uint32_t limit,
                       uint32_t credits)
{
    const uint32_t capacity = c->capacity;

    memset(w, 0, sizeof *w);
    w->xsent = gpurt_channel_word(capacity, 0);
    w->xtaken = gpurt_channel_word(capacity, limit);
    w->xlimit = limit;
    if (gpurt_channel_is_granted(c)) {
        w->xtaken = gpurt_channel_word(capacity, credits);
        w->xgranted = gpurt_channel_word(capacity, limit - credits) +
                      ((uint64_t)credits << GPURT_CHANNEL_CREDIT_BITS);
    }
    w->out.next = w->out.limit = w->in.next = gpurt_channel_first(capacity);
}

/* Of a limit and of credits. */
static gpurt_status_t room_check(const gpurt_channel_options_t *o, gpurt_error_t *err)
{
    const uint32_t granted = o->flags & GPURT_CHANNEL_GRANTED;
    const uint32_t resized = o->flags & GPURT_CHANNEL_RESIZED;
    const uint32_t limit = o->limit ? o->limit : o->capacity;

    if ((granted || resized) && (o->flags & GPURT_CHANNEL_PAIR))
        return REFUSE(
            err, GPURT_E_INVALID,
            "channel: the ends of a GPURT_CHANNEL_PAIR ask nobody for room: it is "
            "neither GPURT_CHANNEL_GRANTED nor GPURT_CHANNEL_RESIZED");
    if (granted && o->policy == GPURT_CHANNEL_DROP_OLDEST)
        return REFUSE(err, GPURT_E_INVALID,
                      "channel: GPURT_CHANNEL_DROP_OLDEST makes room, but no credit of a "
                      "GPURT_CHANNEL_GRANTED one: take another policy");
    if (resized && o->capacity > GPURT_CHANNEL_RESIZED_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "channel: a GPURT_CHANNEL_RESIZED one has %d slots at most",
                      GPURT_CHANNEL_RESIZED_MOST);
    if (o->limit > o->capacity || (o->limit && !resized))
        return REFUSE(err, GPURT_E_INVALID,
                      "channel: a limit of %u: of a GPURT_CHANNEL_RESIZED one, 1 to its "
                      "capacity of %u",
                      o->limit, o->capacity);
    if (o->credits > limit || (o->credits && !granted))
        return REFUSE(err, GPURT_E_INVALID,
                      "channel: %u credits: of a GPURT_CHANNEL_GRANTED one, 0 to its limit "
                      "of %u",
                      o->credits, limit);
    return GPURT_OK;
}

static gpurt_status_t options_check(const gpurt_channel_options_t *o, gpurt_error_t *err)
{
    if (o->capacity == 0 || (o->capacity & (o->capacity - 1)) ||
        o->capacity > GPURT_CHANNEL_CAPACITY_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "channel: a capacity of %u: a power of two from 1 to %d", o->capacity,
                      GPURT_CHANNEL_CAPACITY_MOST);
    if (o->bytes == 0 || o->bytes > GPURT_CHANNEL_BYTES_MOST)
        return REFUSE(
            err, GPURT_E_INVALID,
            "channel: messages of %u bytes: 1 to %d, send pointers to larger ones",
            o->bytes, GPURT_CHANNEL_BYTES_MOST);
    if (o->policy >= GPURT_CHANNEL_POLICIES)
        return REFUSE(err, GPURT_E_INVALID,
                      "channel: policy %u: one of GPURT_CHANNEL_BLOCK "
                      "to GPURT_CHANNEL_DROP_OLDEST",
                      o->policy);
    if (o->flags & ~(uint32_t)GPURT_CHANNEL_FLAGS)
        return REFUSE(err, GPURT_E_INVALID,
                      "channel: flags 0x%x: GPURT_CHANNEL_ALONE, _PAIR, _GRANTED, _RESIZED",
                      o->flags);
    if ((o->flags & GPURT_CHANNEL_PAIR) && o->policy == GPURT_CHANNEL_DROP_OLDEST)
        return REFUSE(err, GPURT_E_INVALID,
                      "channel: GPURT_CHANNEL_DROP_OLDEST removes what the other end of a "
                      "GPURT_CHANNEL_PAIR receives: take another policy");
    return room_check(o, err);
}

static gpurt_channel_t channel_shape(const gpurt_channel_options_t *o)
{
    gpurt_channel_t c = {
        .capacity = o->capacity, .bytes = o->bytes, .policy = o->policy, .flags = o->flags};

    c.shift = (uint32_t)__builtin_ctz(o->capacity);
    c.stride = gpurt_channel_stride(o->bytes);
    return c;
}

gpurt_status_t gpurt_channel_create(gpurt_t *rt, const gpurt_channel_options_t *options,
                                    gpurt_channel_t *out, gpurt_error_t *err)
{
    gpurt_channel_options_t o;
    gpurt_channel_words_t words;
    gpurt_channel_t c;
    gpurt_status_t st;
    void *memory = NULL;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the channel");
    memset(out, 0, sizeof *out);
    st = gpurt_options_copy(&o, sizeof o, options, channels.what, err);
    if (st == GPURT_OK)
        st = options_check(&o, err);
    if (st != GPURT_OK)
        return st;
    c = channel_shape(&o);
    st = gpurt_channellife_get(&life, rt, sizeof words + gpurt_channel_slots_bytes(&c),
                               &memory, &c.id, err);
    if (st != GPURT_OK)
        return st;
    c.words = (gpurt_channel_words_t *)memory;
    c.slots = (char *)(c.words + 1);
    words_fill(&words, &c, o.limit ? o.limit : o.capacity, o.credits);
    return gpurt_channellife_begin(&life, rt, &c, &words, o.name, out, err);
}

gpurt_status_t gpurt_channel_create_of(gpurt_t *rt, gpurt_channel_t *out, uint32_t capacity,
                                       uint64_t shape, const char *name,
                                       const gpurt_channel_options_t *options,
                                       gpurt_error_t *err)
{
    gpurt_channel_options_t o;
    char word[GPURT_CHANNEL_NAME_BYTES];
    gpurt_status_t st = gpurt_options_copy(&o, sizeof o, options, channels.what, err);

    if (st != GPURT_OK)
        return st;
    o.struct_size = (uint32_t)sizeof o;
    o.capacity = capacity;
    o.bytes = GPURT_CHANNEL_SHAPE_BYTES_(shape);
    if ((o.flags & GPURT_CHANNEL_PAIR) && !GPURT_CHANNEL_SHAPE_PAIR_(shape))
        return REFUSE(err, GPURT_E_INVALID,
                      "channel: GPURT_CHANNEL_PAIR for a type of GPURT_CHANNEL: declare "
                      "the type with GPURT_PAIR");
    if (GPURT_CHANNEL_SHAPE_PAIR_(shape))
        o.flags |= GPURT_CHANNEL_PAIR;
    if (!o.name)
        o.name = gpurt_channel_name_of(word, name);
    return gpurt_channel_create(rt, &o, out, err);
}

/* What it says from now on to who still uses it: closed, with nothing in it. */
gpurt_status_t gpurt_channel_destroy(gpurt_t *rt, gpurt_channel_t *channel,
                                     gpurt_error_t *err)
{
    static const gpurt_channel_t none;
    gpurt_channel_words_t words;

    words_fill(&words, channel ? channel : &none, channel ? channel->capacity : 0, 0);
    words.xtaken -= GPURT_CHANNEL_CLOSING;
    return gpurt_channellife_end(&life, rt, channel, &words, err);
}

/* ---- while kernels use it ------------------------------------------------------------- */

gpurt_status_t gpurt_channel_end(gpurt_t *rt, const gpurt_channel_t *channel,
                                 gpurt_error_t *err)
{
    gpurt_channel_words_t words;

    return gpurt_channellife_close(&life, rt, channel, &words, err);
}

static gpurt_status_t room_order(gpurt_t *rt, const gpurt_channel_t *channel, uint32_t n,
                                 bool grants, gpurt_channel_words_t *words,
                                 gpurt_error_t *err)
{
    struct gpurt_channel_room_args args = {.n = n, .grants = grants};
    gpurt_status_t st;

    if (channel)
        args.channel = *channel;
    st = gpurt_channellife_order(&life, rt, channel, &gpurt_kernel_gpurt_channel_room_one,
                                 &args, sizeof args, words, err);
    return st == GPURT_OK ? (gpurt_status_t)words->desk.xanswer : st;
}

gpurt_status_t gpurt_channel_grant_more(gpurt_t *rt, const gpurt_channel_t *channel,
                                        uint32_t n, uint32_t *done, gpurt_error_t *err)
{
    gpurt_channel_words_t words = {.desk.xanswer = GPURT_OK};
    gpurt_status_t st = room_order(rt, channel, n, true, &words, err);

    if (done)
        *done = words.xdone;
    if (st == GPURT_OK || words.desk.xanswer == GPURT_OK)
        return st;
    return REFUSE(err, st,
                  "channel \"%.*s\" takes %u of %u credits: a GPURT_CHANNEL_GRANTED one "
                  "that is open takes as many as it has room for",
                  (int)sizeof words.desk.name, words.desk.name, words.xdone, n);
}

gpurt_status_t gpurt_channel_set_limit(gpurt_t *rt, const gpurt_channel_t *channel,
                                       uint32_t limit, gpurt_error_t *err)
{
    gpurt_channel_words_t words = {.desk.xanswer = GPURT_OK};
    gpurt_status_t st = room_order(rt, channel, limit, false, &words, err);

    if (st == GPURT_OK || words.desk.xanswer == GPURT_OK)
        return st;
    return REFUSE(err, st,
                  "channel \"%.*s\" takes no limit of %u: a GPURT_CHANNEL_RESIZED one that "
                  "is open takes 1 to its %u slots",
                  (int)sizeof words.desk.name, words.desk.name, limit, channel->capacity);
}

gpurt_status_t gpurt_channel_status(gpurt_t *rt, const gpurt_channel_t *channel,
                                    gpurt_channel_status_t *out, gpurt_error_t *err)
{
    gpurt_channel_words_t w;
    gpurt_status_t st =
        gpurt_channellife_ask(&life, rt, channel, &w, out, sizeof *out, err);

    if (st != GPURT_OK)
        return st;
    memcpy(out->name, w.desk.name, sizeof out->name);
    out->state = w.desk.xstate;
    out->policy = channel->policy;
    out->capacity = channel->capacity;
    out->bytes = channel->bytes;
    out->counts = gpurt_channel_count(channel->capacity, &w);
    out->dropped_newest = w.xdropped_new;
    out->dropped_oldest = w.xdropped_old;
    out->refused = w.desk.xrefused;
    out->cancelled = w.desk.xcancelled;
    out->timed_out = w.desk.xlate;
    out->sending = w.desk.xsending;
    out->receiving = w.desk.xreceiving;
    out->limit = (uint32_t)w.xlimit;
    out->credits = gpurt_channel_is_granted(channel) ? gpurt_channel_credits_left(&w) : 0;
    return GPURT_OK;
}
