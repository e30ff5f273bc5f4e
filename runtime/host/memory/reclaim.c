/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of epochs and of hazard pointers: made, swept, and looked into. */
#include "heapmap.h"
#include "ownwait.h"
#include "reclaimtable.h"
#include "reclaimview.h"
#include "refuse.h"
#include "sweep_kernels.h"

#include <errno.h>
#include <gpurt/epoch.h>
#include <gpurt/impl/heaprow.h>
#include <gpurt/reclaim.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_MOST = 1 << 20,
    SLOTS_DEFAULT_MOST = 16384,
    WAITING_MOST = 1 << 16,
    WAITING_DEFAULT = 256,
    EACH_DEFAULT = 2,
    EACH_MOST = 8,
    SWEEP_BLOCKS = 64,
    SWEEP_WARPS = 8
};
/* Just before the wrap, so that what depends on it shows at once. */
#define FIRST_EPOCH 0xfffffff0u
__attribute__((used)) static void (*const cpu_half)(const void *) =
    gpurt_cpu_gpurt_epochs_sweep_all;
static const char EPOCHS[] = "epochs", HAZARDS[] = "hazard pointers";

/* ---- make ---------------------------------------------------------------------------- */

/* The counts come first in both: their address is the table's. */
static size_t epochs_place(gpurt_epochs_t *e, void *memory)
{
    size_t at = 0, n = e->slot_count;

    e->counts = (gpurt_reclaim_counts_t *)gpurt_table_part(memory, &at, sizeof *e->counts);
    e->slots = (uint64_t *)gpurt_table_part(memory, &at, n * sizeof *e->slots);
    e->limbos = (gpurt_limbo_t *)gpurt_table_part(memory, &at, n * sizeof *e->limbos);
    e->items = (gpurt_limbo_item_t *)gpurt_table_part(memory, &at,
                                                      n * e->limbo_size * sizeof *e->items);
    return at;
}

static size_t hazards_place(gpurt_hazards_t *h, void *memory)
{
    size_t at = 0, n = h->slot_count;

    h->counts = (gpurt_reclaim_counts_t *)gpurt_table_part(memory, &at, sizeof *h->counts);
    h->slots = (uint64_t *)gpurt_table_part(memory, &at, n * sizeof *h->slots);
    h->pointers = (uint64_t *)gpurt_table_part(
        memory, &at, n * h->each * GPURT_WARP_SIZE * sizeof *h->pointers);
    h->retired =
        (uint64_t *)gpurt_table_part(memory, &at, n * h->retired_size * sizeof *h->retired);
    h->retired_counts =
        (uint32_t *)gpurt_table_part(memory, &at, n * sizeof *h->retired_counts);
    return at;
}

/* What both have in common: a heap that exists, and so many slots, each with room. */
static gpurt_status_t sizes_check(gpurt_t *rt, const char *what, const gpurt_heap_t *heap,
                                  uint32_t *slots, uint32_t *waiting, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_heap_known(rt, heap, err);
    gpurt_info_t info;

    if (st == GPURT_OK && gpurt_info(rt, &info) != GPURT_OK)
        st = REFUSE(err, GPURT_E_CLOSED, "%s: the runtime is not open", what);
    if (st != GPURT_OK)
        return st;
    if (*slots == 0)
        *slots = info.sm_count * info.warp_slots < SLOTS_DEFAULT_MOST
                     ? info.sm_count * info.warp_slots
                     : SLOTS_DEFAULT_MOST;
    if (*waiting == 0)
        *waiting = WAITING_DEFAULT;
    if (*slots > SLOTS_MOST || *waiting > WAITING_MOST)
        return REFUSE(err, GPURT_E_INVALID, "%s: %u slots of %u objects: at most %d of %d",
                      what, *slots, *waiting, SLOTS_MOST, WAITING_MOST);
    return GPURT_OK;
}

gpurt_status_t gpurt_epochs_make(gpurt_t *rt, const gpurt_heap_t *heap,
                                 const gpurt_epochs_options_t *options, gpurt_epochs_t *out,
                                 gpurt_error_t *err)
{
    static const uint64_t first = FIRST_EPOCH;
    gpurt_epochs_options_t o;
    gpurt_epochs_t e = {0};
    gpurt_status_t st;
    void *memory = NULL;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "%s: out is NULL: pass a place for it", EPOCHS);
    memset(out, 0, sizeof *out);
    gpurt_table_options(&o, sizeof o, options);
    st = sizes_check(rt, EPOCHS, heap, &o.slots, &o.limbo, err);
    if (st != GPURT_OK)
        return st;
    if (o.limbo & (o.limbo - 1))
        return REFUSE(err, GPURT_E_INVALID, "%s: limbo %u: a power of two, or 0", EPOCHS,
                      o.limbo);
    e.heap = *heap;
    e.slot_count = o.slots;
    e.limbo_size = o.limbo;
    st = gpurt_table_create(rt, EPOCHS, epochs_place(&e, NULL), &memory, &e.id, err);
    if (st != GPURT_OK)
        return st;
    epochs_place(&e, memory);
    st = gpurt_table_write(rt, &e.counts->xepoch, &first, sizeof first, err);
    if (st == GPURT_OK)
        *out = e;
    else
        gpurt_table_destroy(rt, EPOCHS, e.id, memory, NULL);
    return st;
}

gpurt_status_t gpurt_epochs_create(gpurt_t *rt, const gpurt_heap_t *heap,
                                   const gpurt_epochs_options_t *options,
                                   gpurt_epochs_t *out, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_epochs_make(rt, heap, options, out, err);

    if (st == GPURT_OK)
        gpurt_reclaimview_begin(rt, &(gpurt_reclaim_look_t){.what = GPURT_RECLAIM_EPOCHS,
                                                            .table = out->id,
                                                            .heap = heap->id,
                                                            .room = out->slot_count,
                                                            .counts = out->counts,
                                                            .slots = out->slots,
                                                            .words = out->slot_count});
    return st;
}

gpurt_status_t gpurt_hazards_create(gpurt_t *rt, const gpurt_heap_t *heap,
                                    const gpurt_hazards_options_t *options,
                                    gpurt_hazards_t *out, gpurt_error_t *err)
{
    gpurt_hazards_options_t o;
    gpurt_hazards_t h = {0};
    gpurt_status_t st;
    void *memory = NULL;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "%s: out is NULL: pass a place for it",
                      HAZARDS);
    memset(out, 0, sizeof *out);
    gpurt_table_options(&o, sizeof o, options);
    st = sizes_check(rt, HAZARDS, heap, &o.slots, &o.retired, err);
    if (st != GPURT_OK)
        return st;
    if (o.each > EACH_MOST)
        return REFUSE(err, GPURT_E_INVALID, "%s: %u for each lane: at most %d", HAZARDS,
                      o.each, EACH_MOST);
    h.heap = *heap;
    h.slot_count = o.slots;
    h.each = o.each ? o.each : EACH_DEFAULT;
    h.retired_size = o.retired;
    st = gpurt_table_create(rt, HAZARDS, hazards_place(&h, NULL), &memory, &h.id, err);
    if (st != GPURT_OK)
        return st;
    hazards_place(&h, memory);
    gpurt_reclaimview_begin(rt, &(gpurt_reclaim_look_t){.what = GPURT_RECLAIM_HAZARDS,
                                                        .table = h.id,
                                                        .heap = heap->id,
                                                        .room = h.slot_count,
                                                        .counts = h.counts,
                                                        .slots = h.slots,
                                                        .words = h.slot_count});
    *out = h;
    return GPURT_OK;
}

gpurt_status_t gpurt_epochs_destroy(gpurt_t *rt, gpurt_epochs_t *e, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!e || !e->counts)
        return GPURT_OK;
    st = gpurt_table_destroy(rt, EPOCHS, e->id, e->counts, err);
    if (st == GPURT_OK)
        memset(e, 0, sizeof *e);
    return st;
}

gpurt_status_t gpurt_hazards_destroy(gpurt_t *rt, gpurt_hazards_t *h, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!h || !h->counts)
        return GPURT_OK;
    st = gpurt_table_destroy(rt, HAZARDS, h->id, h->counts, err);
    if (st == GPURT_OK)
        memset(h, 0, sizeof *h);
    return st;
}

/* ---- sweep --------------------------------------------------------------------------- */

/* A warp a slot, as far as that makes a kernel of some size. */
static gpurt_launch_t sweep_launch(uint32_t slots)
{
    uint32_t blocks = (slots + SWEEP_WARPS - 1) / SWEEP_WARPS;

    return (gpurt_launch_t){.grid = {blocks < SWEEP_BLOCKS ? blocks : SWEEP_BLOCKS, 1, 1},
                            .block = {SWEEP_WARPS * GPURT_WARP_SIZE, 1, 1}};
}

gpurt_status_t gpurt_epochs_sweep(gpurt_t *rt, const gpurt_epochs_t *e, gpurt_error_t *err)
{
    gpurt_launch_t launch;
    gpurt_status_t st;

    if (!e)
        return gpurt_table_take(EPOCHS, 0, NULL, err);
    st = gpurt_table_take_both(rt, EPOCHS, e->id, e->counts, &e->heap, err);
    if (st != GPURT_OK)
        return st;
    launch = sweep_launch(e->slot_count);
    st = gpurt_launch(rt, &launch, gpurt_epochs_sweep_all, e, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    gpurt_table_drop_both(e->id, &e->heap);
    return st;
}

gpurt_status_t gpurt_hazards_sweep(gpurt_t *rt, const gpurt_hazards_t *h,
                                   gpurt_error_t *err)
{
    gpurt_launch_t launch;
    gpurt_status_t st;

    if (!h)
        return gpurt_table_take(HAZARDS, 0, NULL, err);
    st = gpurt_table_take_both(rt, HAZARDS, h->id, h->counts, &h->heap, err);
    if (st != GPURT_OK)
        return st;
    launch = sweep_launch(h->slot_count);
    st = gpurt_launch(rt, &launch, gpurt_hazards_sweep_all, h, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    gpurt_table_drop_both(h->id, &h->heap);
    return st;
}

/* ---- look ---------------------------------------------------------------------------- */

/* A copy of a table that still exists, to be freed. */
static gpurt_status_t copy_make(gpurt_t *rt, const char *what, uint32_t id,
                                const void *from, size_t bytes, char **out,
                                gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_table_take(what, id, from, err);

    *out = NULL;
    if (st != GPURT_OK)
        return st;
    *out = (char *)gpurt_table_room(bytes);
    if (*out)
        st = gpurt_table_read(rt, *out, from, bytes, err);
    else
        st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "a copy of %zu bytes",
                        bytes);
    gpurt_table_drop(id);
    if (st == GPURT_OK)
        return st;
    free(*out);
    *out = NULL;
    return st;
}

static void stats_begin(const gpurt_reclaim_counts_t *c, uint32_t slots,
                        gpurt_reclaim_stats_t *out)
{
    out->retired = c->xretired;
    out->freed = c->xfreed;
    out->refused = c->xfull;
    out->no_slot = c->xno_slot;
    out->abandoned = c->xabandoned;
    out->wrong = c->xwrong;
    out->epoch = (uint32_t)c->xepoch;
    out->slots = slots;
}

/* Of a snapshot while kernels run the sum may be of two moments. */
static void stats_end(gpurt_reclaim_stats_t *out)
{
    uint64_t known = out->freed + out->waiting;

    out->lost = out->retired > known ? out->retired - known : 0;
}

static void slot_look(uint64_t word, gpurt_reclaim_stats_t *out, uint32_t *oldest)
{
    uint32_t age = out->epoch - gpurt_epoch_of(word);

    if (!word)
        return;
    if (out->open == 0 || age > *oldest) {
        *oldest = age;
        out->oldest_block = (uint32_t)(word & (GPURT_SLOT_TAKEN - 1));
    }
    out->open++;
}

gpurt_status_t gpurt_epochs_stats(gpurt_t *rt, const gpurt_epochs_t *e,
                                  gpurt_reclaim_stats_t *out, gpurt_error_t *err)
{
    gpurt_epochs_t copy;
    uint32_t oldest = 0;
    gpurt_status_t st;
    char *memory;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "%s: out is NULL: pass a place for it", EPOCHS);
    memset(out, 0, sizeof *out);
    if (!e)
        return gpurt_table_take(EPOCHS, 0, NULL, err);
    copy = *e;
    st = copy_make(rt, EPOCHS, e->id, e->counts, epochs_place(&copy, NULL), &memory, err);
    if (st != GPURT_OK)
        return st;
    epochs_place(&copy, memory);
    stats_begin(copy.counts, e->slot_count, out);
    for (uint32_t i = 0; i < e->slot_count; i++) {
        slot_look(copy.slots[i], out, &oldest);
        out->waiting += copy.limbos[i].tail - copy.limbos[i].head;
    }
    stats_end(out);
    free(memory);
    return st;
}

gpurt_status_t gpurt_hazards_stats(gpurt_t *rt, const gpurt_hazards_t *h,
                                   gpurt_reclaim_stats_t *out, gpurt_error_t *err)
{
    gpurt_hazards_t copy;
    uint32_t oldest = 0;
    gpurt_status_t st;
    char *memory;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "%s: out is NULL: pass a place for it",
                      HAZARDS);
    memset(out, 0, sizeof *out);
    if (!h)
        return gpurt_table_take(HAZARDS, 0, NULL, err);
    copy = *h;
    st = copy_make(rt, HAZARDS, h->id, h->counts, hazards_place(&copy, NULL), &memory, err);
    if (st != GPURT_OK)
        return st;
    hazards_place(&copy, memory);
    stats_begin(copy.counts, h->slot_count, out);
    for (uint32_t i = 0; i < h->slot_count; i++) {
        slot_look(copy.slots[i], out, &oldest);
        for (uint32_t n = 0; n < copy.retired_counts[i]; n++)
            out->waiting += copy.retired[(size_t)i * h->retired_size + n] != 0;
    }
    for (size_t i = 0; i < (size_t)h->slot_count * h->each * GPURT_WARP_SIZE; i++)
        out->named += copy.pointers[i] != 0;
    stats_end(out);
    free(memory);
    return st;
}
