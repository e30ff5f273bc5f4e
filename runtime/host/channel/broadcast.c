/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcasts: life, and what the host does to one while kernels use it. As with channels all of it
 * goes over a stream of its own. */
#include <gpurt/broadcasts.h>

#include "channel_close_kernels.h"
#include "channelkeep.h"
#include "channelname.h"
#include "idtable.h"
#include "ownwait.h"
#include "refuse.h"
#include "watch.h"

#include <string.h>

GPURT_CLASS(broadcast);

static const char WHAT[] = "broadcast";
static gpurt_id_entry_t entries[GPURT_CHANNELS];
static gpurt_idtable_t broadcasts = {.lock = GPURT_LOCK_INIT,
                                     .what = "broadcast",
                                     .entries = entries,
                                     .count = GPURT_CHANNELS};
static gpurt_lock_t end_lock = GPURT_LOCK_INIT; /* one answer for all who close */
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

/* ---- words, from a stream of our own -------------------------------------------------- */

typedef gpurt_status_t work_fn(gpurt_t *rt, gpurt_stream_t stream,
                               const gpurt_broadcast_t *b, parts_t *parts,
                               gpurt_error_t *err);

static gpurt_status_t work_do(gpurt_t *rt, const gpurt_broadcast_t *b, work_fn *work,
                              parts_t *parts, gpurt_error_t *err)
{
    gpurt_stream_t stream;
    gpurt_status_t st = gpurt_stream_create(rt, &stream, err);

    if (st != GPURT_OK)
        return st;
    st = work(rt, stream, b, parts, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, stream, err);
    gpurt_stream_destroy(rt, stream);
    return st;
}

static size_t parts_bytes(const gpurt_broadcast_t *b)
{
    return sizeof(gpurt_broadcast_words_t) + gpurt_broadcast_seats_bytes(b);
}

static gpurt_status_t parts_read(gpurt_t *rt, gpurt_stream_t stream,
                                 const gpurt_broadcast_t *b, parts_t *parts,
                                 gpurt_error_t *err)
{
    return gpurt_copy(rt, stream, parts, b->words, parts_bytes(b), err);
}

static gpurt_status_t parts_write(gpurt_t *rt, gpurt_stream_t stream,
                                  const gpurt_broadcast_t *b, parts_t *parts,
                                  gpurt_error_t *err)
{
    return gpurt_copy(rt, stream, b->words, parts, parts_bytes(b), err);
}

static gpurt_status_t memory_init(gpurt_t *rt, gpurt_stream_t stream,
                                  const gpurt_broadcast_t *b, parts_t *parts,
                                  gpurt_error_t *err)
{
    gpurt_status_t st =
        gpurt_fill(rt, stream, b->slots, ONES, gpurt_broadcast_slots_bytes(b), err);

    return st == GPURT_OK ? parts_write(rt, stream, b, parts, err) : st;
}

static gpurt_status_t close_run(gpurt_t *rt, gpurt_stream_t stream,
                                const gpurt_broadcast_t *b, parts_t *parts,
                                gpurt_error_t *err)
{
    const gpurt_launch_t launch = {
        .grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}, .stream = stream};
    gpurt_status_t st = gpurt_launch(rt, &launch, gpurt_broadcast_close_one, b, err);

    return st == GPURT_OK ? parts_read(rt, stream, b, parts, err) : st;
}

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

static gpurt_broadcast_options_t options_take(const gpurt_broadcast_options_t *given)
{
    gpurt_broadcast_options_t o = {0};
    size_t bytes = given && given->struct_size ? given->struct_size : sizeof o;

    if (given)
        memcpy(&o, given, bytes < sizeof o ? bytes : sizeof o);
    return o;
}

/* Returns: GPURT_E_NOMEM: too many exist, or what the device says. */
static gpurt_status_t memory_get(gpurt_t *rt, gpurt_broadcast_t *b, gpurt_error_t *err)
{
    void *memory = NULL;
    gpurt_status_t st =
        gpurt_mem_create(rt, parts_bytes(b) + gpurt_broadcast_slots_bytes(b), &memory, err);

    if (st != GPURT_OK)
        return st;
    b->words = (gpurt_broadcast_words_t *)memory;
    b->seats = (gpurt_seat_t *)(b->words + 1);
    b->slots = (char *)(b->seats + b->readers);
    b->id = gpurt_id_add(&broadcasts, rt, b->words, NULL);
    if (b->id)
        return GPURT_OK;
    gpurt_mem_destroy(rt, memory);
    return REFUSE(err, GPURT_E_NOMEM, "%d broadcasts exist, more cannot be",
                  GPURT_CHANNELS);
}

gpurt_status_t gpurt_broadcast_create(gpurt_t *rt, const gpurt_broadcast_options_t *options,
                                      gpurt_broadcast_t *out, gpurt_error_t *err)
{
    gpurt_broadcast_options_t o = options_take(options);
    parts_t parts = {0};
    gpurt_broadcast_t b;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the broadcast");
    memset(out, 0, sizeof *out);
    st = options_check(&o, err);
    if (st != GPURT_OK)
        return st;
    b = broadcast_shape(&o);
    st = memory_get(rt, &b, err);
    if (st != GPURT_OK)
        return st;
    gpurt_channel_name(&parts.words.desk, b.id, o.name);
    st = work_do(rt, &b, memory_init, &parts, err);
    if (st != GPURT_OK) {
        if (gpurt_id_retire(&broadcasts, WHAT, rt, b.id, b.words, NULL) == GPURT_OK)
            gpurt_id_drop(&broadcasts, b.id);
        gpurt_mem_destroy(rt, b.words);
        return st;
    }
    *out = b;
    gpurt_watch_begin(rt, &gpurt_class_broadcast, out->id, out, sizeof *out);
    return GPURT_OK;
}

gpurt_status_t gpurt_broadcast_create_of(gpurt_t *rt, gpurt_broadcast_t *out,
                                         uint32_t capacity, uint32_t bytes,
                                         const gpurt_broadcast_options_t *options,
                                         const char *name, gpurt_error_t *err)
{
    gpurt_broadcast_options_t o = options_take(options);

    o.struct_size = (uint32_t)sizeof o;
    o.capacity = capacity;
    o.bytes = bytes;
    if (!o.name)
        o.name = gpurt_channel_last_word(name);
    return gpurt_broadcast_create(rt, &o, out, err);
}

gpurt_status_t gpurt_broadcast_destroy(gpurt_t *rt, gpurt_broadcast_t *broadcast,
                                       gpurt_error_t *err)
{
    parts_t parts = {0}; /* no seat is anybody's */
    gpurt_status_t st;

    if (!broadcast || !broadcast->words)
        return GPURT_OK;
    st = gpurt_id_retire(&broadcasts, WHAT, rt, broadcast->id, broadcast->words, err);
    if (st != GPURT_OK)
        return st;
    gpurt_watch_end(rt, &gpurt_class_broadcast, broadcast->id);
    gpurt_channel_name(&parts.words.desk, broadcast->id, NULL);
    parts.words.desk.xstate = GPURT_CHANNEL_DESTROYED;
    parts.words.xsent = GPURT_BROADCAST_CLOSED;
    st = work_do(rt, broadcast, parts_write, &parts, err);
    gpurt_id_drop(&broadcasts, broadcast->id);
    if (st == GPURT_OK)
        st = gpurt_channel_keep(rt, broadcast->words);
    if (st == GPURT_OK)
        memset(broadcast, 0, sizeof *broadcast);
    return st;
}

/* ---- while kernels use it ------------------------------------------------------------- */

static gpurt_status_t broadcast_take(const gpurt_broadcast_t *b, gpurt_error_t *err)
{
    return gpurt_id_take(&broadcasts, WHAT, b ? b->id : 0, b ? b->words : NULL, err);
}

gpurt_status_t gpurt_broadcast_end(gpurt_t *rt, const gpurt_broadcast_t *broadcast,
                                   gpurt_error_t *err)
{
    parts_t parts;
    gpurt_status_t st = broadcast_take(broadcast, err);

    if (st != GPURT_OK)
        return st;
    gpurt_lock_take(&end_lock);
    st = work_do(rt, broadcast, close_run, &parts, err);
    gpurt_lock_give(&end_lock);
    gpurt_id_drop(&broadcasts, broadcast->id);
    if (st == GPURT_OK && parts.words.desk.xanswer != GPURT_OK)
        return REFUSE(err, parts.words.desk.xanswer, "broadcast \"%.*s\" was closed before",
                      (int)sizeof parts.words.desk.name, parts.words.desk.name);
    return st;
}

gpurt_status_t gpurt_broadcast_status(gpurt_t *rt, const gpurt_broadcast_t *broadcast,
                                      gpurt_broadcast_status_t *out, gpurt_error_t *err)
{
    parts_t parts;
    const gpurt_channel_desk_t *desk = &parts.words.desk;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the status");
    memset(out, 0, sizeof *out);
    st = broadcast_take(broadcast, err);
    if (st != GPURT_OK)
        return st;
    st = work_do(rt, broadcast, parts_read, &parts, err);
    gpurt_id_drop(&broadcasts, broadcast->id);
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
