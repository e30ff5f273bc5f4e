/* SPDX-License-Identifier: Apache-2.0 */
/* Unbounded channels: life, and what the host does to one while kernels use it. As with channels all of it
 * goes over a stream of its own. */
#include <gpurt/unboundeds.h>

#include "channel_close_kernels.h"
#include "channelkeep.h"
#include "channelname.h"
#include "idtable.h"
#include "ownwait.h"
#include "refuse.h"
#include "watch.h"

#include <string.h>

GPURT_CLASS(unbounded);

static const char WHAT[] = "unbounded channel";
static gpurt_id_entry_t entries[GPURT_CHANNELS];
static gpurt_idtable_t unboundeds = {.lock = GPURT_LOCK_INIT,
                                     .what = "unbounded channel",
                                     .entries = entries,
                                     .count = GPURT_CHANNELS};
static gpurt_lock_t end_lock = GPURT_LOCK_INIT; /* one answer for all who close */
__attribute__((used)) static void (*const cpu_half)(const void *) =
    gpurt_cpu_gpurt_unbounded_close_one;
__attribute__((used)) static void (*const cpu_half_of_free)(const void *) =
    gpurt_cpu_gpurt_unbounded_free_all;

/* ---- words, from a stream of our own -------------------------------------------------- */

typedef gpurt_status_t work_fn(gpurt_t *rt, gpurt_stream_t stream,
                               const gpurt_unbounded_t *c, gpurt_unbounded_words_t *words,
                               gpurt_error_t *err);

static gpurt_status_t work_do(gpurt_t *rt, const gpurt_unbounded_t *c, work_fn *work,
                              gpurt_unbounded_words_t *words, gpurt_error_t *err)
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
                                 const gpurt_unbounded_t *c, gpurt_unbounded_words_t *words,
                                 gpurt_error_t *err)
{
    return gpurt_copy(rt, stream, words, c->words, sizeof *words, err);
}

static gpurt_status_t memory_init(gpurt_t *rt, gpurt_stream_t stream,
                                  const gpurt_unbounded_t *c,
                                  gpurt_unbounded_words_t *words, gpurt_error_t *err)
{
    gpurt_status_t st =
        gpurt_fill(rt, stream, c->rows, 0, gpurt_unbounded_rows_bytes(c), err);

    return st == GPURT_OK ? gpurt_copy(rt, stream, c->words, words, sizeof *words, err)
                          : st;
}

/* Segments go back to their heap, if that is there still. */
static gpurt_status_t memory_fini(gpurt_t *rt, gpurt_stream_t stream,
                                  const gpurt_unbounded_t *c,
                                  gpurt_unbounded_words_t *words, gpurt_error_t *err)
{
    const gpurt_launch_t launch = {
        .grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}, .stream = stream};
    gpurt_heap_stats_t stats;
    gpurt_status_t st = GPURT_OK;

    if (gpurt_heap_stats(rt, &c->heap, &stats, NULL) == GPURT_OK)
        st = gpurt_launch(rt, &launch, gpurt_unbounded_free_all, c, err);
    return st == GPURT_OK ? memory_init(rt, stream, c, words, err) : st;
}

static gpurt_status_t close_run(gpurt_t *rt, gpurt_stream_t stream,
                                const gpurt_unbounded_t *c, gpurt_unbounded_words_t *words,
                                gpurt_error_t *err)
{
    const gpurt_launch_t launch = {
        .grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}, .stream = stream};
    gpurt_status_t st = gpurt_launch(rt, &launch, gpurt_unbounded_close_one, c, err);

    return st == GPURT_OK ? words_read(rt, stream, c, words, err) : st;
}

/* ---- life ---------------------------------------------------------------------------- */

static gpurt_status_t options_check(gpurt_t *rt, const gpurt_unbounded_options_t *o,
                                    gpurt_error_t *err)
{
    gpurt_heap_stats_t stats;

    if (o->bytes == 0 || o->bytes > GPURT_UNBOUNDED_BYTES_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "unbounded channel: messages of %u bytes: 1 to %d, send pointers to "
                      "larger ones",
                      o->bytes, GPURT_UNBOUNDED_BYTES_MOST);
    if (o->policy > GPURT_CHANNEL_DROP_NEWEST)
        return REFUSE(err, GPURT_E_INVALID,
                      "unbounded channel: policy %u: one of GPURT_CHANNEL_BLOCK, _FAIL and "
                      "_DROP_NEWEST",
                      o->policy);
    if ((o->segments & (o->segments - 1)) || o->segments > GPURT_UNBOUNDED_ROWS_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "unbounded channel: %u segments: a power of two, %d at most",
                      o->segments, GPURT_UNBOUNDED_ROWS_MOST);
    if (!o->heap)
        return REFUSE(err, GPURT_E_INVALID,
                      "unbounded channel: no heap: make one with gpurt_heap_create");
    return gpurt_heap_stats(rt, o->heap, &stats, err);
}

static gpurt_unbounded_options_t options_take(const gpurt_unbounded_options_t *given)
{
    gpurt_unbounded_options_t o = {0};
    size_t bytes = given && given->struct_size ? given->struct_size : sizeof o;

    if (given)
        memcpy(&o, given, bytes < sizeof o ? bytes : sizeof o);
    return o;
}

/* Returns: GPURT_E_NOMEM: too many exist, or what the device says. */
static gpurt_status_t memory_get(gpurt_t *rt, gpurt_unbounded_t *c, gpurt_error_t *err)
{
    void *memory = NULL;
    gpurt_status_t st = gpurt_mem_create(
        rt, sizeof *c->words + gpurt_unbounded_rows_bytes(c), &memory, err);

    if (st != GPURT_OK)
        return st;
    c->words = (gpurt_unbounded_words_t *)memory;
    c->rows = (uint64_t *)(c->words + 1);
    c->id = gpurt_id_add(&unboundeds, rt, c->words, NULL);
    if (c->id)
        return GPURT_OK;
    gpurt_mem_destroy(rt, memory);
    return REFUSE(err, GPURT_E_NOMEM, "%d unbounded channels exist, more cannot be",
                  GPURT_CHANNELS);
}

static gpurt_unbounded_t unbounded_shape(const gpurt_unbounded_options_t *o)
{
    gpurt_unbounded_t c = {.heap = *o->heap, .bytes = o->bytes, .policy = o->policy};

    c.row_count = o->segments ? o->segments : (uint32_t)GPURT_UNBOUNDED_ROWS;
    c.shift = (uint32_t)__builtin_ctz(c.row_count);
    c.stride = gpurt_broadcast_lines(o->bytes) * GPURT_CHANNEL_LINE;
    return c;
}

gpurt_status_t gpurt_unbounded_create(gpurt_t *rt, const gpurt_unbounded_options_t *options,
                                      gpurt_unbounded_t *out, gpurt_error_t *err)
{
    gpurt_unbounded_options_t o = options_take(options);
    gpurt_unbounded_words_t words = {0};
    gpurt_unbounded_t c;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the channel");
    memset(out, 0, sizeof *out);
    st = options_check(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    c = unbounded_shape(&o);
    st = memory_get(rt, &c, err);
    if (st != GPURT_OK)
        return st;
    gpurt_channel_name(&words.desk, c.id, o.name);
    st = work_do(rt, &c, memory_init, &words, err);
    if (st != GPURT_OK) {
        if (gpurt_id_retire(&unboundeds, WHAT, rt, c.id, c.words, NULL) == GPURT_OK)
            gpurt_id_drop(&unboundeds, c.id);
        gpurt_mem_destroy(rt, c.words);
        return st;
    }
    *out = c;
    gpurt_watch_begin(rt, &gpurt_class_unbounded, out->id, out, sizeof *out);
    return GPURT_OK;
}

gpurt_status_t gpurt_unbounded_create_of(gpurt_t *rt, gpurt_unbounded_t *out,
                                         uint32_t bytes, const gpurt_heap_t *heap,
                                         const gpurt_unbounded_options_t *options,
                                         const char *name, gpurt_error_t *err)
{
    gpurt_unbounded_options_t o = options_take(options);

    o.struct_size = (uint32_t)sizeof o;
    o.bytes = bytes;
    o.heap = heap;
    if (!o.name)
        o.name = gpurt_channel_last_word(name);
    return gpurt_unbounded_create(rt, &o, out, err);
}

gpurt_status_t gpurt_unbounded_destroy(gpurt_t *rt, gpurt_unbounded_t *channel,
                                       gpurt_error_t *err)
{
    gpurt_unbounded_words_t words = {0};
    gpurt_status_t st;

    if (!channel || !channel->words)
        return GPURT_OK;
    st = gpurt_id_retire(&unboundeds, WHAT, rt, channel->id, channel->words, err);
    if (st != GPURT_OK)
        return st;
    gpurt_watch_end(rt, &gpurt_class_unbounded, channel->id);
    gpurt_channel_name(&words.desk, channel->id, NULL);
    words.desk.xstate = GPURT_CHANNEL_DESTROYED;
    words.xsent = GPURT_UNBOUNDED_CLOSED;
    st = work_do(rt, channel, memory_fini, &words, err);
    gpurt_id_drop(&unboundeds, channel->id);
    if (st == GPURT_OK)
        st = gpurt_channel_keep(rt, channel->words);
    if (st == GPURT_OK)
        memset(channel, 0, sizeof *channel);
    return st;
}

/* ---- while kernels use it ------------------------------------------------------------- */

static gpurt_status_t unbounded_take(const gpurt_unbounded_t *c, gpurt_error_t *err)
{
    return gpurt_id_take(&unboundeds, WHAT, c ? c->id : 0, c ? c->words : NULL, err);
}

gpurt_status_t gpurt_unbounded_end(gpurt_t *rt, const gpurt_unbounded_t *channel,
                                   gpurt_error_t *err)
{
    gpurt_unbounded_words_t words;
    gpurt_status_t st = unbounded_take(channel, err);

    if (st != GPURT_OK)
        return st;
    gpurt_lock_take(&end_lock);
    st = work_do(rt, channel, close_run, &words, err);
    gpurt_lock_give(&end_lock);
    gpurt_id_drop(&unboundeds, channel->id);
    if (st == GPURT_OK && words.desk.xanswer != GPURT_OK)
        return REFUSE(err, words.desk.xanswer,
                      "unbounded channel \"%.*s\" was closed before",
                      (int)sizeof words.desk.name, words.desk.name);
    return st;
}

gpurt_status_t gpurt_unbounded_status(gpurt_t *rt, const gpurt_unbounded_t *channel,
                                      gpurt_unbounded_status_t *out, gpurt_error_t *err)
{
    gpurt_unbounded_words_t words;
    const gpurt_channel_desk_t *desk = &words.desk;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the status");
    memset(out, 0, sizeof *out);
    st = unbounded_take(channel, err);
    if (st != GPURT_OK)
        return st;
    st = work_do(rt, channel, words_read, &words, err);
    gpurt_id_drop(&unboundeds, channel->id);
    if (st != GPURT_OK)
        return st;
    memcpy(out->name, desk->name, sizeof out->name);
    out->state = desk->xstate;
    out->policy = channel->policy;
    out->bytes = channel->bytes;
    out->segments_most = channel->row_count;
    out->counts = gpurt_unbounded_count(&words);
    out->refused = desk->xrefused;
    out->cancelled = desk->xcancelled;
    out->timed_out = desk->xlate;
    out->sending = desk->xsending;
    out->receiving = desk->xreceiving;
    return GPURT_OK;
}
