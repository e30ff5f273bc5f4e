/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of segments: life, and what the host does to one while kernels use it. As with channels all of it
 * goes over a stream of its own. */
#include <gpurt/segrings.h>

#include "channel_close_kernels.h"
#include "channelkeep.h"
#include "channelname.h"
#include "idtable.h"
#include "ownwait.h"
#include "refuse.h"
#include "watch.h"

#include <string.h>

GPURT_CLASS(segring);

static const char WHAT[] = "ring of segments";
static gpurt_id_entry_t entries[GPURT_CHANNELS];
static gpurt_idtable_t segrings = {.lock = GPURT_LOCK_INIT,
                                   .what = "ring of segments",
                                   .entries = entries,
                                   .count = GPURT_CHANNELS};
static gpurt_lock_t end_lock = GPURT_LOCK_INIT; /* one answer for all who close */
__attribute__((used)) static void (*const cpu_half)(const void *) =
    gpurt_cpu_gpurt_segring_close_one;

enum {
    ONES = 0xff /* of spots: no segment's */
};

/* ---- words, from a stream of our own -------------------------------------------------- */

typedef gpurt_status_t work_fn(gpurt_t *rt, gpurt_stream_t stream, const gpurt_segring_t *r,
                               gpurt_segring_words_t *words, gpurt_error_t *err);

static gpurt_status_t work_do(gpurt_t *rt, const gpurt_segring_t *r, work_fn *work,
                              gpurt_segring_words_t *words, gpurt_error_t *err)
{
    gpurt_stream_t stream;
    gpurt_status_t st = gpurt_stream_create(rt, &stream, err);

    if (st != GPURT_OK)
        return st;
    st = work(rt, stream, r, words, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, stream, err);
    gpurt_stream_destroy(rt, stream);
    return st;
}

static gpurt_status_t words_read(gpurt_t *rt, gpurt_stream_t stream,
                                 const gpurt_segring_t *r, gpurt_segring_words_t *words,
                                 gpurt_error_t *err)
{
    return gpurt_copy(rt, stream, words, r->words, sizeof *words, err);
}

/* No spot is anybody's: neither at the begin, nor for who uses it after its end. */
static gpurt_status_t memory_init(gpurt_t *rt, gpurt_stream_t stream,
                                  const gpurt_segring_t *r, gpurt_segring_words_t *words,
                                  gpurt_error_t *err)
{
    gpurt_status_t st =
        gpurt_fill(rt, stream, r->spots, ONES, gpurt_segring_spots_bytes(r), err);

    return st == GPURT_OK ? gpurt_copy(rt, stream, r->words, words, sizeof *words, err)
                          : st;
}

static gpurt_status_t close_run(gpurt_t *rt, gpurt_stream_t stream,
                                const gpurt_segring_t *r, gpurt_segring_words_t *words,
                                gpurt_error_t *err)
{
    const gpurt_launch_t launch = {
        .grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}, .stream = stream};
    gpurt_status_t st = gpurt_launch(rt, &launch, gpurt_segring_close_one, r, err);

    return st == GPURT_OK ? words_read(rt, stream, r, words, err) : st;
}

/* ---- life ---------------------------------------------------------------------------- */

static gpurt_status_t options_check(const gpurt_segring_options_t *o, gpurt_error_t *err)
{
    if (o->bytes < GPURT_SEGRING_UNIT || (o->bytes & (o->bytes - 1)) ||
        o->bytes > GPURT_SEGRING_BYTES_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "ring of segments: %u bytes: a power of two from %d to %d", o->bytes,
                      GPURT_SEGRING_UNIT, GPURT_SEGRING_BYTES_MOST);
    if (o->policy >= GPURT_SEGRING_POLICIES)
        return REFUSE(err, GPURT_E_INVALID,
                      "ring of segments: policy %u: one of GPURT_SEGRING_BLOCK, _FAIL and "
                      "_OVERWRITE",
                      o->policy);
    if (o->patience_ns > GPURT_SEGRING_PATIENCE_MOST && o->patience_ns != UINT64_MAX)
        return REFUSE(
            err, GPURT_E_INVALID,
            "ring of segments: a patience of %llu ns: %llu at most, or UINT64_MAX "
            "for ever",
            (unsigned long long)o->patience_ns,
            (unsigned long long)GPURT_SEGRING_PATIENCE_MOST);
    return GPURT_OK;
}

static uint32_t patience_of(uint64_t ns)
{
    if (ns == UINT64_MAX)
        return 0;
    if (ns == 0)
        ns = GPURT_SEGRING_PATIENCE;
    return (uint32_t)(ns >> GPURT_SEGRING_PATIENCE_SHIFT) + 1;
}

static gpurt_segring_options_t options_take(const gpurt_segring_options_t *given)
{
    gpurt_segring_options_t o = {0};
    size_t bytes = given && given->struct_size ? given->struct_size : sizeof o;

    if (given)
        memcpy(&o, given, bytes < sizeof o ? bytes : sizeof o);
    return o;
}

/* Returns: GPURT_E_NOMEM: too many exist, or what the device says. */
static gpurt_status_t memory_get(gpurt_t *rt, gpurt_segring_t *r, gpurt_error_t *err)
{
    void *memory = NULL;
    gpurt_status_t st = gpurt_mem_create(
        rt, sizeof *r->words + gpurt_segring_spots_bytes(r) + gpurt_segring_bytes(r),
        &memory, err);

    if (st != GPURT_OK)
        return st;
    r->words = (gpurt_segring_words_t *)memory;
    r->spots = (gpurt_spot_row_t *)(r->words + 1);
    r->data = (char *)(r->spots + r->units);
    r->id = gpurt_id_add(&segrings, rt, r->words, NULL);
    if (r->id)
        return GPURT_OK;
    gpurt_mem_destroy(rt, memory);
    return REFUSE(err, GPURT_E_NOMEM, "%d rings of segments exist, more cannot be",
                  GPURT_CHANNELS);
}

gpurt_status_t gpurt_segring_create(gpurt_t *rt, const gpurt_segring_options_t *options,
                                    gpurt_segring_t *out, gpurt_error_t *err)
{
    gpurt_segring_options_t o = options_take(options);
    gpurt_segring_words_t words = {0};
    gpurt_segring_t r;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the ring");
    memset(out, 0, sizeof *out);
    st = options_check(&o, err);
    if (st != GPURT_OK)
        return st;
    r = (gpurt_segring_t){.units = o.bytes >> GPURT_SEGRING_UNIT_SHIFT,
                          .policy = o.policy,
                          .patience = patience_of(o.patience_ns)};
    st = memory_get(rt, &r, err);
    if (st != GPURT_OK)
        return st;
    gpurt_channel_name(&words.desk, r.id, o.name);
    st = work_do(rt, &r, memory_init, &words, err);
    if (st != GPURT_OK) {
        if (gpurt_id_retire(&segrings, WHAT, rt, r.id, r.words, NULL) == GPURT_OK)
            gpurt_id_drop(&segrings, r.id);
        gpurt_mem_destroy(rt, r.words);
        return st;
    }
    *out = r;
    gpurt_watch_begin(rt, &gpurt_class_segring, out->id, out, sizeof *out);
    return GPURT_OK;
}

gpurt_status_t gpurt_segring_destroy(gpurt_t *rt, gpurt_segring_t *ring, gpurt_error_t *err)
{
    gpurt_segring_words_t words = {0};
    gpurt_status_t st;

    if (!ring || !ring->words)
        return GPURT_OK;
    st = gpurt_id_retire(&segrings, WHAT, rt, ring->id, ring->words, err);
    if (st != GPURT_OK)
        return st;
    gpurt_watch_end(rt, &gpurt_class_segring, ring->id);
    gpurt_channel_name(&words.desk, ring->id, NULL);
    words.desk.xstate = GPURT_CHANNEL_DESTROYED;
    words.xhead = GPURT_SEGRING_CLOSED;
    st = work_do(rt, ring, memory_init, &words, err);
    gpurt_id_drop(&segrings, ring->id);
    if (st == GPURT_OK)
        st = gpurt_channel_keep(rt, ring->words);
    if (st == GPURT_OK)
        memset(ring, 0, sizeof *ring);
    return st;
}

/* ---- while kernels use it ------------------------------------------------------------- */

static gpurt_status_t segring_take(const gpurt_segring_t *r, gpurt_error_t *err)
{
    return gpurt_id_take(&segrings, WHAT, r ? r->id : 0, r ? r->words : NULL, err);
}

gpurt_status_t gpurt_segring_end(gpurt_t *rt, const gpurt_segring_t *ring,
                                 gpurt_error_t *err)
{
    gpurt_segring_words_t words;
    gpurt_status_t st = segring_take(ring, err);

    if (st != GPURT_OK)
        return st;
    gpurt_lock_take(&end_lock);
    st = work_do(rt, ring, close_run, &words, err);
    gpurt_lock_give(&end_lock);
    gpurt_id_drop(&segrings, ring->id);
    if (st == GPURT_OK && words.desk.xanswer != GPURT_OK)
        return REFUSE(err, words.desk.xanswer,
                      "ring of segments \"%.*s\" was closed before",
                      (int)sizeof words.desk.name, words.desk.name);
    return st;
}

gpurt_status_t gpurt_segring_status(gpurt_t *rt, const gpurt_segring_t *ring,
                                    gpurt_segring_status_t *out, gpurt_error_t *err)
{
    gpurt_segring_words_t words;
    const gpurt_channel_desk_t *desk = &words.desk;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the status");
    memset(out, 0, sizeof *out);
    st = segring_take(ring, err);
    if (st != GPURT_OK)
        return st;
    st = work_do(rt, ring, words_read, &words, err);
    gpurt_id_drop(&segrings, ring->id);
    if (st != GPURT_OK)
        return st;
    memcpy(out->name, desk->name, sizeof out->name);
    out->state = desk->xstate;
    out->policy = ring->policy;
    out->bytes = (uint32_t)gpurt_segring_bytes(ring);
    out->counts = gpurt_segring_count(&words);
    out->refused = desk->xrefused;
    out->cancelled = desk->xcancelled;
    out->timed_out = desk->xlate;
    out->writing = desk->xsending;
    out->reading = desk->xreceiving;
    return GPURT_OK;
}
