/* SPDX-License-Identifier: Apache-2.0 */
/* Channels between two devices: their life. Each end is a channel of channellife.h, with words in the
 * memory of its own device; what a device polls lies there, too: marks at the sender, slots at the
 * receiver. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include <gpurt/peerchannels.h>

#include "channel_close_kernels.h"
#include "channellife.h"
#include "channelname.h"
#include "life.h"
#include "optionsize.h"
#include "refuse.h"

#include <stdio.h>

GPURT_CLASS(peerchannel);

static gpurt_id_entry_t entries[GPURT_PEERCHANNELS];
static gpurt_idtable_t ends = {.lock = GPURT_LOCK_INIT,
                               .what = "peer channel",
                               .entries = entries,
                               .count = GPURT_PEERCHANNELS};
__attribute__((used)) static void (*const cpu_half)(const void *) =
    gpurt_cpu_gpurt_hostchannel_shut_one;

/* ---- words and memory ------------------------------------------------------------------ */

/* Of an end: words; then marks, or what the sender tells and slots. */
static size_t end_bytes(const gpurt_hostchannel_t *c)
{
    return sizeof *c->words + (c->way == GPURT_TO_PEER
                                   ? (size_t)c->capacity * sizeof *c->marks
                                   : sizeof *c->side + (size_t)c->capacity * c->stride);
}

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

/* Zeros are no message yet, and a mark that nobody looks at: the limit lets the first lap go. */
static gpurt_status_t memory_init(gpurt_t *rt, gpurt_stream_t stream, const void *channel,
                                  void *words, gpurt_error_t *err)
{
    const gpurt_hostchannel_t *c = channel;
    gpurt_status_t st = gpurt_fill(rt, stream, c->words, 0, end_bytes(c), err);

    return st == GPURT_OK ? words_write(rt, stream, channel, words, err) : st;
}

static void words_fill(gpurt_hostchannel_words_t *w, const gpurt_hostchannel_t *c)
{
    memset(w, 0, sizeof *w);
    w->next = gpurt_hostchannel_first(c->capacity);
    w->limit = w->next + (c->way == GPURT_TO_PEER ? c->capacity : 0);
}

static const gpurt_channellife_t life = {.table = &ends,
                                         .plural = "ends of peer channels",
                                         .class_ = &gpurt_class_peerchannel,
                                         .close = &gpurt_kernel_gpurt_hostchannel_shut_one,
                                         .bytes = sizeof(gpurt_hostchannel_t),
                                         .id_at = offsetof(gpurt_hostchannel_t, id),
                                         .desk_at =
                                             offsetof(gpurt_hostchannel_words_t, desk),
                                         .read = words_read,
                                         .init = memory_init,
                                         .fini = words_write};

/* ---- two devices ----------------------------------------------------------------------- */

/* Both stay open until leave. Owner: its function. */
typedef struct two {
    const gpurt_opened_t *from, *to;
} two_t;

static gpurt_status_t two_enter(two_t *t, gpurt_t *from, gpurt_t *to, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_life_enter(from, &t->from, err);

    if (st != GPURT_OK)
        return st;
    st = gpurt_life_enter(to, &t->to, err);
    return st == GPURT_OK ? st : gpurt_life_leave(t->from, st);
}

static gpurt_status_t two_leave(const two_t *t, gpurt_status_t st)
{
    return gpurt_life_leave(t->from, gpurt_life_leave(t->to, st));
}

/* Each stores into the other's memory. */
static gpurt_status_t two_reach(gpurt_t *from, gpurt_t *to, gpurt_error_t *err)
{
    two_t t;
    gpurt_status_t st = two_enter(&t, from, to, err);

    if (st != GPURT_OK)
        return st;
    if (t.from->ops != t.to->ops)
        st = REFUSE(err, GPURT_E_UNSUPPORTED,
                    "peer channel: one device is a GPU and the other the CPU: use a "
                    "channel to the host (gpurt/hostchannels.h)");
    else if (t.from->self != t.to->self && t.from->ops->peer_reach) {
        st = t.from->ops->peer_reach(t.from->self, t.to->self, err);
        if (st == GPURT_OK)
            st = t.to->ops->peer_reach(t.to->self, t.from->self, err);
    }
    return two_leave(&t, st);
}

/* ---- life ------------------------------------------------------------------------------ */

static gpurt_status_t options_check(const gpurt_peerchannel_options_t *o,
                                    gpurt_error_t *err)
{
    if (o->capacity == 0 || (o->capacity & (o->capacity - 1)) ||
        o->capacity > GPURT_PEERCHANNEL_CAPACITY_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "peer channel: a capacity of %u: a power of two from 1 to %d",
                      o->capacity, GPURT_PEERCHANNEL_CAPACITY_MOST);
    if (o->bytes == 0 || o->bytes > GPURT_PEERCHANNEL_BYTES_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "peer channel: messages of %u bytes: 1 to %d, send pointers to "
                      "larger ones",
                      o->bytes, GPURT_PEERCHANNEL_BYTES_MOST);
    if (o->policy >= GPURT_CHANNEL_DROP_OLDEST)
        return REFUSE(err, GPURT_E_INVALID,
                      "peer channel: policy %u: one of GPURT_CHANNEL_BLOCK, _FAIL and "
                      "_DROP_NEWEST: the oldest message is the other device's already",
                      o->policy);
    return GPURT_OK;
}

/* Memory and an id. */
static gpurt_status_t end_get(gpurt_t *rt, gpurt_hostchannel_t *c, gpurt_error_t *err)
{
    void *memory = NULL;
    gpurt_status_t st =
        gpurt_channellife_get(&life, rt, end_bytes(c), &memory, &c->id, err);

    c->words = (gpurt_hostchannel_words_t *)memory;
    return st;
}

/* Of one that nobody has got. */
static void end_put(gpurt_t *rt, const gpurt_hostchannel_t *c)
{
    if (gpurt_id_retire(&ends, ends.what, rt, c->id, c->words, NULL) == GPURT_OK)
        (void)gpurt_id_drop(&ends, c->id);
    (void)gpurt_mem_destroy(rt, c->words);
}

/* Each is told where the other's words lie. */
static void ends_join(gpurt_hostchannel_t *out, gpurt_hostchannel_t *in)
{
    out->marks = in->marks = (uint32_t *)(void *)(out->words + 1);
    out->side = in->side = (gpurt_hostchannel_side_t *)(void *)(in->words + 1);
    out->slots = in->slots = (char *)(in->side + 1);
    out->far = in->words;
    in->far = out->words;
}

static gpurt_status_t ends_begin(gpurt_t *from, gpurt_hostchannel_t *out, gpurt_t *to,
                                 gpurt_hostchannel_t *in, const char *name,
                                 gpurt_error_t *err)
{
    gpurt_hostchannel_t made_out = *out, made_in = *in;
    gpurt_hostchannel_words_t words;
    char number[16];
    gpurt_status_t st;

    snprintf(number, sizeof number, "%u", out->id);
    name = name && name[0] ? name : number; /* one for both */
    memset(out, 0, sizeof *out);
    memset(in, 0, sizeof *in);
    words_fill(&words, &made_in);
    st = gpurt_channellife_begin(&life, to, &made_in, &words, name, in, err);
    if (st != GPURT_OK) {
        end_put(from, &made_out);
        return st;
    }
    words_fill(&words, &made_out);
    st = gpurt_channellife_begin(&life, from, &made_out, &words, name, out, err);
    if (st != GPURT_OK) {
        words_fill(&words, &made_in);
        (void)gpurt_channellife_end(&life, to, in, &words, NULL);
    }
    return st;
}

gpurt_status_t gpurt_peerchannel_create(gpurt_t *from, gpurt_hostchannel_t *out,
                                        gpurt_t *to, gpurt_hostchannel_t *in,
                                        const gpurt_peerchannel_options_t *options,
                                        gpurt_error_t *err)
{
    gpurt_peerchannel_options_t o;
    gpurt_status_t st;

    if (!out || !in)
        return REFUSE(err, GPURT_E_INVALID, "an end is NULL: pass places for both");
    memset(out, 0, sizeof *out);
    memset(in, 0, sizeof *in);
    st = gpurt_options_copy(&o, sizeof o, options, ends.what, err);
    if (st == GPURT_OK)
        st = options_check(&o, err);
    if (st == GPURT_OK)
        st = two_reach(from, to, err);
    if (st != GPURT_OK)
        return st;
    *out = (gpurt_hostchannel_t){.capacity = o.capacity,
                                 .bytes = o.bytes,
                                 .stride = gpurt_hostchannel_stride(o.bytes),
                                 .policy = o.policy,
                                 .way = GPURT_TO_PEER};
    *in = *out;
    in->way = GPURT_FROM_PEER;
    st = end_get(from, out, err);
    if (st == GPURT_OK) {
        st = end_get(to, in, err);
        if (st != GPURT_OK)
            end_put(from, out);
    }
    if (st != GPURT_OK) {
        memset(out, 0, sizeof *out);
        memset(in, 0, sizeof *in);
        return st;
    }
    ends_join(out, in);
    return ends_begin(from, out, to, in, o.name, err);
}

gpurt_status_t gpurt_peerchannel_create_of(gpurt_t *from, gpurt_hostchannel_t *out,
                                           gpurt_t *to, gpurt_hostchannel_t *in,
                                           uint32_t capacity, uint32_t bytes,
                                           const char *name,
                                           const gpurt_peerchannel_options_t *options,
                                           gpurt_error_t *err)
{
    gpurt_peerchannel_options_t o;
    char word[GPURT_CHANNEL_NAME_BYTES];
    gpurt_status_t st = gpurt_options_copy(&o, sizeof o, options, ends.what, err);

    if (st != GPURT_OK)
        return st;
    o.struct_size = (uint32_t)sizeof o;
    o.capacity = capacity;
    o.bytes = bytes;
    if (!o.name)
        o.name = gpurt_channel_name_of(word, name);
    return gpurt_peerchannel_create(from, out, to, in, &o, err);
}

/* ---- while kernels use it ---------------------------------------------------------------- */

static gpurt_status_t pair_check(const gpurt_hostchannel_t *out,
                                 const gpurt_hostchannel_t *in, gpurt_error_t *err)
{
    if (!out || !in || out->far != in->words || in->far != out->words ||
        out->way != GPURT_TO_PEER || in->way != GPURT_FROM_PEER)
        return REFUSE(err, GPURT_E_INVALID,
                      "peer channel: these are not the sender's and the receiver's end of "
                      "one channel");
    return GPURT_OK;
}

gpurt_status_t gpurt_peerchannel_close(gpurt_t *from, const gpurt_hostchannel_t *out,
                                       gpurt_error_t *err)
{
    gpurt_hostchannel_words_t words;

    if (out && out->words && out->way != GPURT_TO_PEER)
        return REFUSE(err, GPURT_E_INVALID,
                      "peer channel: the sender closes: pass its device and its end");
    return gpurt_channellife_close(&life, from, out, &words, err);
}

gpurt_status_t gpurt_peerchannel_status(gpurt_t *from, const gpurt_hostchannel_t *out,
                                        gpurt_t *to, const gpurt_hostchannel_t *in,
                                        gpurt_peerchannel_status_t *status,
                                        gpurt_error_t *err)
{
    gpurt_hostchannel_words_t a, b;
    gpurt_status_t st =
        gpurt_channellife_ask(&life, from, out, &a, status, sizeof *status, err);

    if (st == GPURT_OK)
        st = pair_check(out, in, err);
    if (st == GPURT_OK)
        st = gpurt_channellife_ask(&life, to, in, &b, status, sizeof *status, err);
    if (st != GPURT_OK)
        return st;
    memcpy(status->name, a.desk.name, sizeof status->name);
    status->state = a.desk.xstate;
    status->policy = out->policy;
    status->capacity = out->capacity;
    status->bytes = out->bytes;
    status->counts = gpurt_peer_count(out->capacity, &a, &b);
    status->refused = a.desk.xrefused;
    status->cancelled = a.desk.xcancelled + b.desk.xcancelled;
    status->timed_out = a.desk.xlate + b.desk.xlate;
    status->looks = a.xlooks + b.xlooks;
    status->sending = a.desk.xsending;
    status->receiving = b.desk.xreceiving;
    return GPURT_OK;
}

/* ---- end --------------------------------------------------------------------------------- */

static gpurt_status_t end_check(gpurt_t *rt, const gpurt_hostchannel_t *c,
                                gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_status_t st = gpurt_life_enter(rt, &o, err);

    if (st != GPURT_OK)
        return st;
    st = gpurt_id_take_of(&ends, ends.what, o, c->id, c->words, err);
    if (st == GPURT_OK)
        st = gpurt_id_drop(&ends, c->id);
    return gpurt_life_leave(o, st);
}

/* Both end or none does: a mistake of the caller's is found before. */
static gpurt_status_t ends_check(gpurt_t *from, const gpurt_hostchannel_t *out, gpurt_t *to,
                                 const gpurt_hostchannel_t *in, gpurt_error_t *err)
{
    gpurt_status_t st = pair_check(out, in, err);

    if (st == GPURT_OK)
        st = gpurt_life_check(to, err);
    if (st == GPURT_OK)
        st = end_check(from, out, err);
    if (st == GPURT_OK)
        st = end_check(to, in, err);
    return st;
}

gpurt_status_t gpurt_peerchannel_destroy(gpurt_t *from, gpurt_hostchannel_t *out,
                                         gpurt_t *to, gpurt_hostchannel_t *in,
                                         gpurt_error_t *err)
{
    gpurt_hostchannel_words_t words;
    gpurt_status_t st, other;

    if ((!out || !out->words) && (!in || !in->words))
        return GPURT_OK;
    st = ends_check(from, out, to, in, err);
    if (st != GPURT_OK)
        return st;
    /* Its last look is at the sender's words, too. */
    gpurt_watch_end(to, &gpurt_class_peerchannel, in->id);
    words_fill(&words, out);
    st = gpurt_channellife_end(&life, from, out, &words, err);
    if (st == GPURT_E_HANDLE)
        return st;
    words_fill(&words, in);
    other = gpurt_channellife_end(&life, to, in, &words, err);
    return st == GPURT_OK ? other : st;
}
