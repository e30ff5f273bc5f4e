/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcasts: life, and what the host does to one while kernels use it. As with channels all of it
 * goes over a stream of its own. */
#include <gpurt/broadcasts.h>

#include "channel_close_kernels.h"
#include "channellife.h"
#include "channelname.h"
#include "optionsize.h"
#include "refuse.h"

GPURT_CLASS(broadcast);

static gpurt_id_entry_t entries[GPURT_CHANNELS];
static gpurt_idtable_t broadcasts = {.lock = GPURT_LOCK_INIT,
                                     .what = "broadcast",
                                     .entries = entries,
                                     .count = GPURT_CHANNELS};
__attribute__((used)) static void (*const cpu_half)(const void *) =
    gpurt_cpu_gpurt_broadcast_close_one;

enum {
    ONES = 0xff /* of slots: the lap before the first */
};

/* What the host reads, or writes. */
typedef struct parts {
    gpurt_broadcast_words_t words;
    gpurt_seat_t seats[GPURT_BROADCAST_READERS_MOST];
} parts_t;

/* ---- words and memory ------------------------------------------------------------------ */

static size_t parts_bytes(const gpurt_broadcast_t *b)
{
    return sizeof(gpurt_broadcast_words_t) + gpurt_broadcast_seats_bytes(b);
}

static gpurt_status_t words_read(gpurt_t *rt, gpurt_stream_t stream, const void *broadcast,
                                 void *parts, gpurt_error_t *err)
{
    const gpurt_broadcast_t *b = broadcast;

    return gpurt_copy(rt, stream, parts, b->words, parts_bytes(b), err);
}

static gpurt_status_t words_write(gpurt_t *rt, gpurt_stream_t stream, const void *broadcast,
                                  void *parts, gpurt_error_t *err)
{
    const gpurt_broadcast_t *b = broadcast;

    return gpurt_copy(rt, stream, b->words, parts, parts_bytes(b), err);
}

static gpurt_status_t memory_init(gpurt_t *rt, gpurt_stream_t stream, const void *broadcast,
                                  void *parts, gpurt_error_t *err)
{
    const gpurt_broadcast_t *b = broadcast;
    gpurt_status_t st =
        gpurt_fill(rt, stream, b->slots, ONES, gpurt_broadcast_slots_bytes(b), err);

    return st == GPURT_OK ? words_write(rt, stream, b, parts, err) : st;
}

static const gpurt_channellife_t life = {.table = &broadcasts,
                                         .plural = "broadcasts",
                                         .class_ = &gpurt_class_broadcast,
                                         .close = &gpurt_kernel_gpurt_broadcast_close_one,
                                         .bytes = sizeof(gpurt_broadcast_t),
                                         .id_at = offsetof(gpurt_broadcast_t, id),
                                         .desk_at = offsetof(parts_t, words.desk),
                                         .read = words_read,
                                         .init = memory_init,
                                         .fini = words_write};
GPURT_STATIC_ASSERT(offsetof(gpurt_broadcast_t, words) == 0,
                    "a description begins with its words");

/* ---- life ---------------------------------------------------------------------------- */

static gpurt_status_t options_check(const gpurt_broadcast_options_t *o, gpurt_error_t *err)
{
    if (o->capacity == 0 || (o->capacity & (o->capacity - 1)) ||
        o->capacity > GPURT_CHANNEL_CAPACITY_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "broadcast: a capacity of %u: a power of two from 1 to %d",
                      o->capacity, GPURT_CHANNEL_CAPACITY_MOST);
    if (o->bytes == 0 || o->bytes > GPURT_BROADCAST_BYTES_MOST)
        return REFUSE(
            err, GPURT_E_INVALID,
            "broadcast: messages of %u bytes: 1 to %d, publish pointers to larger ones",
            o->bytes, GPURT_BROADCAST_BYTES_MOST);
    if (o->policy >= GPURT_BROADCAST_POLICIES)
        return REFUSE(err, GPURT_E_INVALID,
                      "broadcast: policy %u: one of GPURT_BROADCAST_BLOCK, _FAIL and _DROP",
                      o->policy);
    if (o->readers > GPURT_BROADCAST_READERS_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "broadcast: %u readers: %d at most; let one read for a block",
                      o->readers, GPURT_BROADCAST_READERS_MOST);
    return GPURT_OK;
}

static gpurt_broadcast_t broadcast_shape(const gpurt_broadcast_options_t *o)
{
    gpurt_broadcast_t b = {.capacity = o->capacity,
                           .bytes = o->bytes,
                           .policy = o->policy,
                           .readers =
                               o->readers ? o->readers : (uint32_t)GPURT_BROADCAST_READERS};

    b.shift = (uint32_t)__builtin_ctz(o->capacity);
    b.stride = gpurt_broadcast_lines(o->bytes) * GPURT_CHANNEL_LINE;
    return b;
}

gpurt_status_t gpurt_broadcast_create(gpurt_t *rt, const gpurt_broadcast_options_t *options,
                                      gpurt_broadcast_t *out, gpurt_error_t *err)
{
    gpurt_broadcast_options_t o;
    parts_t parts = {0}; /* no seat is anybody's */
    gpurt_broadcast_t b;
    gpurt_status_t st;
    void *memory = NULL;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the broadcast");
    memset(out, 0, sizeof *out);
    st = gpurt_options_copy(&o, sizeof o, options, broadcasts.what, err);
    if (st == GPURT_OK)
        st = options_check(&o, err);
    if (st != GPURT_OK)
        return st;
    b = broadcast_shape(&o);
    st = gpurt_channellife_get(&life, rt, parts_bytes(&b) + gpurt_broadcast_slots_bytes(&b),
                               &memory, &b.id, err);
    if (st != GPURT_OK)
        return st;
    b.words = (gpurt_broadcast_words_t *)memory;
    b.seats = (gpurt_seat_t *)(b.words + 1);
    b.slots = (char *)(b.seats + b.readers);
    return gpurt_channellife_begin(&life, rt, &b, &parts, o.name, out, err);
}

gpurt_status_t gpurt_broadcast_create_of(gpurt_t *rt, gpurt_broadcast_t *out,
                                         uint32_t capacity, uint32_t bytes,
                                         const char *name,
                                         const gpurt_broadcast_options_t *options,
                                         gpurt_error_t *err)
{
    gpurt_broadcast_options_t o;
    char word[GPURT_CHANNEL_NAME_BYTES];
    gpurt_status_t st = gpurt_options_copy(&o, sizeof o, options, broadcasts.what, err);

    if (st != GPURT_OK)
        return st;
    o.struct_size = (uint32_t)sizeof o;
    o.capacity = capacity;
    o.bytes = bytes;
    if (!o.name)
        o.name = gpurt_channel_name_of(word, name);
    return gpurt_broadcast_create(rt, &o, out, err);
}

gpurt_status_t gpurt_broadcast_destroy(gpurt_t *rt, gpurt_broadcast_t *broadcast,
                                       gpurt_error_t *err)
{
    parts_t parts = {.words = {.xsent = GPURT_BROADCAST_CLOSED}}; /* no seat is anybody's */

    return gpurt_channellife_end(&life, rt, broadcast, &parts, err);
}

/* ---- while kernels use it ------------------------------------------------------------- */

gpurt_status_t gpurt_broadcast_end(gpurt_t *rt, const gpurt_broadcast_t *broadcast,
                                   gpurt_error_t *err)
{
    parts_t parts;

    return gpurt_channellife_close(&life, rt, broadcast, &parts, err);
}

gpurt_status_t gpurt_broadcast_status(gpurt_t *rt, const gpurt_broadcast_t *broadcast,
                                      gpurt_broadcast_status_t *out, gpurt_error_t *err)
{
    parts_t parts;
    const gpurt_channel_desk_t *desk = &parts.words.desk;
    gpurt_status_t st =
        gpurt_channellife_ask(&life, rt, broadcast, &parts, out, sizeof *out, err);

    if (st != GPURT_OK)
        return st;
    memcpy(out->name, desk->name, sizeof out->name);
    out->state = desk->xstate;
    out->policy = broadcast->policy;
    out->capacity = broadcast->capacity;
    out->bytes = broadcast->bytes;
    out->seats = broadcast->readers;
    out->counts = gpurt_broadcast_count(&parts.words, parts.seats, broadcast->readers);
    out->refused = desk->xrefused;
    out->cancelled = desk->xcancelled;
    out->timed_out = desk->xlate;
    out->unseated = parts.words.xunseated;
    out->sending = desk->xsending;
    out->receiving = desk->xreceiving;
    return GPURT_OK;
}
