/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of segments: life, and what the host does to one while kernels use it. As with channels all of it
 * goes over a stream of its own. */
#include <gpurt/segrings.h>

#include "channel_close_kernels.h"
#include "channellife.h"
#include "channelname.h"
#include "optionsize.h"
#include "refuse.h"

GPURT_CLASS(segring);

static gpurt_id_entry_t entries[GPURT_CHANNELS];
static gpurt_idtable_t segrings = {.lock = GPURT_LOCK_INIT,
                                   .what = "ring of segments",
                                   .entries = entries,
                                   .count = GPURT_CHANNELS};
__attribute__((used)) static void (*const cpu_half)(const void *) =
    gpurt_cpu_gpurt_segring_close_one;

enum {
    ONES = 0xff /* of spots: no segment's */
};

/* ---- words and memory ------------------------------------------------------------------ */

static gpurt_status_t words_read(gpurt_t *rt, gpurt_stream_t stream, const void *ring,
                                 void *words, gpurt_error_t *err)
{
    const gpurt_segring_t *r = ring;

    return gpurt_copy(rt, stream, words, r->words, sizeof *r->words, err);
}

/* No spot is anybody's: neither at the begin, nor for who uses it after its end. */
static gpurt_status_t memory_init(gpurt_t *rt, gpurt_stream_t stream, const void *ring,
                                  void *words, gpurt_error_t *err)
{
    const gpurt_segring_t *r = ring;
    gpurt_status_t st =
        gpurt_fill(rt, stream, r->spots, ONES, gpurt_segring_spots_bytes(r), err);

    return st == GPURT_OK ? gpurt_copy(rt, stream, r->words, words, sizeof *r->words, err)
                          : st;
}

static const gpurt_channellife_t life = {.table = &segrings,
                                         .plural = "rings of segments",
                                         .class_ = &gpurt_class_segring,
                                         .close = &gpurt_kernel_gpurt_segring_close_one,
                                         .bytes = sizeof(gpurt_segring_t),
                                         .id_at = offsetof(gpurt_segring_t, id),
                                         .desk_at = offsetof(gpurt_segring_words_t, desk),
                                         .read = words_read,
                                         .init = memory_init,
                                         .fini = memory_init};
GPURT_STATIC_ASSERT(offsetof(gpurt_segring_t, words) == 0,
                    "a description begins with its words");

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

gpurt_status_t gpurt_segring_create(gpurt_t *rt, const gpurt_segring_options_t *options,
                                    gpurt_segring_t *out, gpurt_error_t *err)
{
    gpurt_segring_options_t o;
    gpurt_segring_words_t words = {0};
    gpurt_segring_t r;
    gpurt_status_t st;
    void *memory = NULL;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the ring");
    memset(out, 0, sizeof *out);
    st = gpurt_options_copy(&o, sizeof o, options, segrings.what, err);
    if (st == GPURT_OK)
        st = options_check(&o, err);
    if (st != GPURT_OK)
        return st;
    r = (gpurt_segring_t){.units = o.bytes >> GPURT_SEGRING_UNIT_SHIFT,
                          .policy = o.policy,
                          .patience = patience_of(o.patience_ns)};
    st = gpurt_channellife_get(
        &life, rt, sizeof words + gpurt_segring_spots_bytes(&r) + gpurt_segring_bytes(&r),
        &memory, &r.id, err);
    if (st != GPURT_OK)
        return st;
    r.words = (gpurt_segring_words_t *)memory;
    r.spots = (gpurt_spot_row_t *)(r.words + 1);
    r.data = (char *)(r.spots + r.units);
    return gpurt_channellife_begin(&life, rt, &r, &words, o.name, out, err);
}

gpurt_status_t gpurt_segring_destroy(gpurt_t *rt, gpurt_segring_t *ring, gpurt_error_t *err)
{
    gpurt_segring_words_t words = {.xhead = GPURT_SEGRING_CLOSED};

    return gpurt_channellife_end(&life, rt, ring, &words, err);
}

/* ---- while kernels use it ------------------------------------------------------------- */

gpurt_status_t gpurt_segring_end(gpurt_t *rt, const gpurt_segring_t *ring,
                                 gpurt_error_t *err)
{
    gpurt_segring_words_t words;

    return gpurt_channellife_close(&life, rt, ring, &words, err);
}

gpurt_status_t gpurt_segring_status(gpurt_t *rt, const gpurt_segring_t *ring,
                                    gpurt_segring_status_t *out, gpurt_error_t *err)
{
    gpurt_segring_words_t words;
    const gpurt_channel_desk_t *desk = &words.desk;
    gpurt_status_t st =
        gpurt_channellife_ask(&life, rt, ring, &words, out, sizeof *out, err);

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
