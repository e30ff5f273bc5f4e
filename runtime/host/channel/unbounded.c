/* SPDX-License-Identifier: Apache-2.0 */
/* Unbounded channels: life, and what the host does to one while kernels use it. As with channels all of it
 * goes over a stream of its own. */
#include <gpurt/unboundeds.h>

#include "channel_close_kernels.h"
#include "channellife.h"
#include "channelname.h"
#include "optionsize.h"
#include "refuse.h"

GPURT_CLASS(unbounded);

static gpurt_id_entry_t entries[GPURT_CHANNELS];
static gpurt_idtable_t unboundeds = {.lock = GPURT_LOCK_INIT,
                                     .what = "unbounded channel",
                                     .entries = entries,
                                     .count = GPURT_CHANNELS};
__attribute__((used)) static void (*const cpu_half)(const void *) =
    gpurt_cpu_gpurt_unbounded_close_one;
__attribute__((used)) static void (*const cpu_half_of_free)(const void *) =
    gpurt_cpu_gpurt_unbounded_free_all;

/* ---- words and memory ------------------------------------------------------------------ */

static gpurt_status_t words_read(gpurt_t *rt, gpurt_stream_t stream, const void *channel,
                                 void *words, gpurt_error_t *err)
{
    const gpurt_unbounded_t *c = channel;

    return gpurt_copy(rt, stream, words, c->words, sizeof *c->words, err);
}

static gpurt_status_t memory_init(gpurt_t *rt, gpurt_stream_t stream, const void *channel,
                                  void *words, gpurt_error_t *err)
{
    const gpurt_unbounded_t *c = channel;
    gpurt_status_t st =
        gpurt_fill(rt, stream, c->rows, 0, gpurt_unbounded_rows_bytes(c), err);

    return st == GPURT_OK ? gpurt_copy(rt, stream, c->words, words, sizeof *c->words, err)
                          : st;
}

/* Segments go back to their heap, if that is there still. */
static gpurt_status_t memory_fini(gpurt_t *rt, gpurt_stream_t stream, const void *channel,
                                  void *words, gpurt_error_t *err)
{
    const gpurt_launch_t launch = {
        .grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}, .stream = stream};
    const gpurt_unbounded_t *c = channel;
    gpurt_heap_stats_t stats;
    gpurt_status_t st = GPURT_OK;

    if (gpurt_heap_stats(rt, &c->heap, &stats, NULL) == GPURT_OK)
        st = gpurt_launch(rt, &launch, gpurt_unbounded_free_all, c, err);
    return st == GPURT_OK ? memory_init(rt, stream, c, words, err) : st;
}

static const gpurt_channellife_t life = {.table = &unboundeds,
                                         .plural = "unbounded channels",
                                         .class_ = &gpurt_class_unbounded,
                                         .close = &gpurt_kernel_gpurt_unbounded_close_one,
                                         .bytes = sizeof(gpurt_unbounded_t),
                                         .id_at = offsetof(gpurt_unbounded_t, id),
                                         .desk_at = offsetof(gpurt_unbounded_words_t, desk),
                                         .read = words_read,
                                         .init = memory_init,
                                         .fini = memory_fini};
GPURT_STATIC_ASSERT(offsetof(gpurt_unbounded_t, words) == 0,
                    "a description begins with its words");

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
    gpurt_unbounded_options_t o;
    gpurt_unbounded_words_t words = {0};
    gpurt_unbounded_t c;
    gpurt_status_t st;
    void *memory = NULL;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the channel");
    memset(out, 0, sizeof *out);
    st = gpurt_options_copy(&o, sizeof o, options, unboundeds.what, err);
    if (st == GPURT_OK)
        st = options_check(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    c = unbounded_shape(&o);
    st = gpurt_channellife_get(&life, rt, sizeof words + gpurt_unbounded_rows_bytes(&c),
                               &memory, &c.id, err);
    if (st != GPURT_OK)
        return st;
    c.words = (gpurt_unbounded_words_t *)memory;
    c.rows = (uint64_t *)(c.words + 1);
    return gpurt_channellife_begin(&life, rt, &c, &words, o.name, out, err);
}

gpurt_status_t gpurt_unbounded_create_of(gpurt_t *rt, gpurt_unbounded_t *out,
                                         uint32_t bytes, const gpurt_heap_t *heap,
                                         const char *name,
                                         const gpurt_unbounded_options_t *options,
                                         gpurt_error_t *err)
{
    gpurt_unbounded_options_t o;
    char word[GPURT_CHANNEL_NAME_BYTES];
    gpurt_status_t st = gpurt_options_copy(&o, sizeof o, options, unboundeds.what, err);

    if (st != GPURT_OK)
        return st;
    o.struct_size = (uint32_t)sizeof o;
    o.bytes = bytes;
    o.heap = heap;
    if (!o.name)
        o.name = gpurt_channel_name_of(word, name);
    return gpurt_unbounded_create(rt, &o, out, err);
}

gpurt_status_t gpurt_unbounded_destroy(gpurt_t *rt, gpurt_unbounded_t *channel,
                                       gpurt_error_t *err)
{
    gpurt_unbounded_words_t words = {.xsent = GPURT_UNBOUNDED_CLOSED};

    return gpurt_channellife_end(&life, rt, channel, &words, err);
}

/* ---- while kernels use it ------------------------------------------------------------- */

gpurt_status_t gpurt_unbounded_end(gpurt_t *rt, const gpurt_unbounded_t *channel,
                                   gpurt_error_t *err)
{
    gpurt_unbounded_words_t words;

    return gpurt_channellife_close(&life, rt, channel, &words, err);
}

gpurt_status_t gpurt_unbounded_status(gpurt_t *rt, const gpurt_unbounded_t *channel,
                                      gpurt_unbounded_status_t *out, gpurt_error_t *err)
{
    gpurt_unbounded_words_t words;
    const gpurt_channel_desk_t *desk = &words.desk;
    gpurt_status_t st =
        gpurt_channellife_ask(&life, rt, channel, &words, out, sizeof *out, err);

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
