/* SPDX-License-Identifier: Apache-2.0 */
/* Channels: life, and what the host does to one while kernels use it. All of it goes over a stream
 * of its own: the program's streams may hold kernels that wait for this. */
#include <gpurt/channels.h>

#include "channel_close_kernels.h"
#include "channelkeep.h"
#include "channelname.h"
#include "idtable.h"
#include "ownwait.h"
#include "refuse.h"
#include "watch.h"

#include <string.h>

GPURT_CLASS(channel);

static const char WHAT[] = "channel";
static gpurt_id_entry_t entries[GPURT_CHANNELS];
static gpurt_idtable_t channels = {.lock = GPURT_LOCK_INIT,
                                   .what = "channel",
                                   .entries = entries,
                                   .count = GPURT_CHANNELS};
static gpurt_lock_t end_lock = GPURT_LOCK_INIT; /* one answer for all who close */
__attribute__((used)) static void (*const cpu_half)(const void *) =
    gpurt_cpu_gpurt_channel_close_one;

/* ---- words, from a stream of our own -------------------------------------------------- */

typedef gpurt_status_t work_fn(gpurt_t *rt, gpurt_stream_t stream, const gpurt_channel_t *c,
                               gpurt_channel_words_t *words, gpurt_error_t *err);

static gpurt_status_t work_do(gpurt_t *rt, const gpurt_channel_t *c, work_fn *work,
                              gpurt_channel_words_t *words, gpurt_error_t *err)
{
    gpurt_stream_t stream;
    gpurt_status_t st = gpurt_stream_create(rt, &stream, err);

    if (st != GPURT_OK)
        return st;
    st = work(rt, stream, c, words, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, stream, err);
    gpurt_stream_destroy(rt, stream);
    return st;
}

static gpurt_status_t words_read(gpurt_t *rt, gpurt_stream_t stream,
                                 const gpurt_channel_t *c, gpurt_channel_words_t *words,
                                 gpurt_error_t *err)
{
    return gpurt_copy(rt, stream, words, c->words, GPURT_CHANNEL_WATCHED_BYTES, err);
}

static gpurt_status_t words_write(gpurt_t *rt, gpurt_stream_t stream,
                                  const gpurt_channel_t *c, gpurt_channel_words_t *words,
                                  gpurt_error_t *err)
{
    return gpurt_copy(rt, stream, c->words, words, sizeof *words, err);
}

/* Slots of zeros are free, in the first lap. */
static gpurt_status_t memory_init(gpurt_t *rt, gpurt_stream_t stream,
                                  const gpurt_channel_t *c, gpurt_channel_words_t *words,
                                  gpurt_error_t *err)
{
    gpurt_status_t st =
        gpurt_fill(rt, stream, c->slots, 0, gpurt_channel_slots_bytes(c), err);

    return st == GPURT_OK ? words_write(rt, stream, c, words, err) : st;
}

static gpurt_status_t close_run(gpurt_t *rt, gpurt_stream_t stream,
                                const gpurt_channel_t *c, gpurt_channel_words_t *words,
                                gpurt_error_t *err)
{
    const gpurt_launch_t launch = {
        .grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}, .stream = stream};
    gpurt_status_t st = gpurt_launch(rt, &launch, gpurt_channel_close_one, c, err);

    return st == GPURT_OK ? words_read(rt, stream, c, words, err) : st;
}

/* ---- life ---------------------------------------------------------------------------- */

static void words_fill(gpurt_channel_words_t *w, const gpurt_channel_t *c, const char *name)
{
    memset(w, 0, sizeof *w);
    w->xsent = gpurt_channel_word(c->capacity, 0);
    w->xtaken = gpurt_channel_word(c->capacity, c->capacity);
    w->out.next = w->out.limit = w->in.next = gpurt_channel_first(c->capacity);
    gpurt_channel_name(&w->desk, c->id, name);
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
                      "channel: flags 0x%x: GPURT_CHANNEL_ALONE and GPURT_CHANNEL_PAIR",
                      o->flags);
    if ((o->flags & GPURT_CHANNEL_PAIR) && o->policy == GPURT_CHANNEL_DROP_OLDEST)
        return REFUSE(err, GPURT_E_INVALID,
                      "channel: GPURT_CHANNEL_DROP_OLDEST removes what the other end of a "
                      "GPURT_CHANNEL_PAIR receives: take another policy");
    return GPURT_OK;
}

static gpurt_channel_t channel_shape(const gpurt_channel_options_t *o)
{
    gpurt_channel_t c = {
        .capacity = o->capacity, .bytes = o->bytes, .policy = o->policy, .flags = o->flags};

    c.shift = (uint32_t)__builtin_ctz(o->capacity);
    c.stride = gpurt_channel_stride(o->bytes);
    return c;
}

static gpurt_channel_options_t options_take(const gpurt_channel_options_t *given)
{
    gpurt_channel_options_t o = {0};
    size_t bytes = given && given->struct_size ? given->struct_size : sizeof o;

    if (given)
        memcpy(&o, given, bytes < sizeof o ? bytes : sizeof o);
    return o;
}

gpurt_status_t gpurt_channel_create(gpurt_t *rt, const gpurt_channel_options_t *options,
                                    gpurt_channel_t *out, gpurt_error_t *err)
{
    gpurt_channel_options_t o = options_take(options);
    gpurt_channel_words_t words;
    gpurt_channel_t c;
    gpurt_status_t st;
    void *memory = NULL;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the channel");
    memset(out, 0, sizeof *out);
    st = options_check(&o, err);
    if (st != GPURT_OK)
        return st;
    c = channel_shape(&o);
    st = gpurt_mem_create(rt, sizeof words + gpurt_channel_slots_bytes(&c), &memory, err);
    if (st != GPURT_OK)
        return st;
    c.words = (gpurt_channel_words_t *)memory;
    c.slots = (char *)(c.words + 1);
    c.id = gpurt_id_add(&channels, rt, c.words, NULL);
    if (!c.id) {
        gpurt_mem_destroy(rt, memory);
        return REFUSE(err, GPURT_E_NOMEM, "%d channels exist, more cannot be",
                      GPURT_CHANNELS);
    }
    words_fill(&words, &c, o.name);
    st = work_do(rt, &c, memory_init, &words, err);
    if (st != GPURT_OK) {
        if (gpurt_id_retire(&channels, WHAT, rt, c.id, c.words, NULL) == GPURT_OK)
            gpurt_id_drop(&channels, c.id);
        gpurt_mem_destroy(rt, memory);
        return st;
    }
    *out = c;
    gpurt_watch_begin(rt, &gpurt_class_channel, out->id, out, sizeof *out);
    return GPURT_OK;
}

gpurt_status_t gpurt_channel_create_of(gpurt_t *rt, gpurt_channel_t *out, uint32_t capacity,
                                       uint64_t shape,
                                       const gpurt_channel_options_t *options,
                                       const char *name, gpurt_error_t *err)
{
    gpurt_channel_options_t o = options_take(options);

    o.struct_size = (uint32_t)sizeof o;
    o.capacity = capacity;
    o.bytes = GPURT_CHANNEL_SHAPE_BYTES_(shape);
    if (GPURT_CHANNEL_SHAPE_PAIR_(shape))
        o.flags |= GPURT_CHANNEL_PAIR;
    if (!o.name)
        o.name = gpurt_channel_last_word(name);
    return gpurt_channel_create(rt, &o, out, err);
}

/* What it says from now on to who still uses it: closed, with nothing in it. */
static void words_bury(gpurt_channel_words_t *w, const gpurt_channel_t *c)
{
    words_fill(w, c, NULL);
    w->xtaken -= GPURT_CHANNEL_CLOSING;
    w->desk.xstate = GPURT_CHANNEL_DESTROYED;
}

gpurt_status_t gpurt_channel_destroy(gpurt_t *rt, gpurt_channel_t *channel,
                                     gpurt_error_t *err)
{
    gpurt_channel_words_t words;
    gpurt_status_t st;

    if (!channel || !channel->words)
        return GPURT_OK;
    st = gpurt_id_retire(&channels, WHAT, rt, channel->id, channel->words, err);
    if (st != GPURT_OK)
        return st;
    gpurt_watch_end(rt, &gpurt_class_channel, channel->id);
    words_bury(&words, channel);
    st = work_do(rt, channel, words_write, &words, err);
    gpurt_id_drop(&channels, channel->id);
    if (st == GPURT_OK)
        st = gpurt_channel_keep(rt, channel->words);
    if (st == GPURT_OK)
        memset(channel, 0, sizeof *channel);
    return st;
}

/* ---- while kernels use it ------------------------------------------------------------- */

static gpurt_status_t channel_take(const gpurt_channel_t *c, gpurt_error_t *err)
{
    return gpurt_id_take(&channels, WHAT, c ? c->id : 0, c ? c->words : NULL, err);
}

gpurt_status_t gpurt_channel_end(gpurt_t *rt, const gpurt_channel_t *channel,
                                 gpurt_error_t *err)
{
    gpurt_channel_words_t words;
    gpurt_status_t st = channel_take(channel, err);

    if (st != GPURT_OK)
        return st;
    gpurt_lock_take(&end_lock);
    st = work_do(rt, channel, close_run, &words, err);
    gpurt_lock_give(&end_lock);
    gpurt_id_drop(&channels, channel->id);
    if (st == GPURT_OK && words.desk.xanswer != GPURT_OK)
        return REFUSE(err, words.desk.xanswer, "channel \"%.*s\" was closed before",
                      (int)sizeof words.desk.name, words.desk.name);
    return st;
}

gpurt_status_t gpurt_channel_status(gpurt_t *rt, const gpurt_channel_t *channel,
                                    gpurt_channel_status_t *out, gpurt_error_t *err)
{
    gpurt_channel_words_t w;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the status");
    memset(out, 0, sizeof *out);
    st = channel_take(channel, err);
    if (st != GPURT_OK)
        return st;
    st = work_do(rt, channel, words_read, &w, err);
    gpurt_id_drop(&channels, channel->id);
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
    return GPURT_OK;
}
