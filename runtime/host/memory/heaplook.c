/* SPDX-License-Identifier: Apache-2.0 */
/* What a heap holds, told from a copy of its tables. Device functions of alloc.h work on
 * the copy as they do on the heap, so each rule is written once. */
#include "heapmap.h"

#include "ownwait.h"
#include "refuse.h"
#include "viewer.h"

#include <errno.h>
#include <gpurt/alloc.h>
#include <stdlib.h>
#include <string.h>

/* ---- the copy ------------------------------------------------------------------------ */

gpurt_status_t gpurt_heap_mirror_load(gpurt_t *rt, const gpurt_heap_t *heap,
                                      gpurt_heap_mirror_t *out, gpurt_error_t *err)
{
    size_t bytes = gpurt_heap_table_bytes(heap);
    gpurt_status_t st;

    out->heap = *heap;
    out->memory = (char *)aligned_alloc(128, (bytes + 127) / 128 * 128);
    if (!out->memory)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM,
                          "heap: a copy of %zu bytes of tables", bytes);
    gpurt_heap_place(&out->heap, out->memory);
    st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, out->memory, heap->counts, bytes, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    if (st != GPURT_OK)
        gpurt_heap_mirror_free(out);
    return st;
}

gpurt_status_t gpurt_heap_mirror_store(gpurt_t *rt, const gpurt_heap_t *heap,
                                       const gpurt_heap_mirror_t *mirror,
                                       gpurt_error_t *err)
{
    gpurt_viewer_t *viewer = gpurt_viewer_enter(rt);
    gpurt_status_t st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, heap->counts, mirror->memory,
                                   gpurt_heap_table_bytes(heap), err);

    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    if (viewer)
        gpurt_viewer_leave();
    return st;
}

void gpurt_heap_mirror_free(gpurt_heap_mirror_t *mirror)
{
    free(mirror->memory);
    mirror->memory = NULL;
}

/* The heap is taken until look_end. */
static gpurt_status_t look(gpurt_t *rt, const gpurt_heap_t *heap, gpurt_heap_mirror_t *out,
                           gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_heap_take(rt, heap, err);

    out->memory = NULL;
    if (st != GPURT_OK)
        return st;
    st = gpurt_heap_mirror_load(rt, heap, out, err);
    if (st != GPURT_OK)
        gpurt_heap_drop(heap);
    return st;
}

static void look_end(gpurt_heap_mirror_t *m)
{
    gpurt_heap_mirror_free(m);
    gpurt_heap_drop(&m->heap);
}

/* ---- runs ---------------------------------------------------------------------------- */

/* What the runs of all shards keep of each chunk. Owner: the call. */
typedef struct kept {
    uint32_t from;     /* slots from here on were never handed out */
    uint32_t promised; /* free slots that tickets stand for */
} kept_t;

static void kept_add(kept_t *kept, uint32_t c, uint64_t run)
{
    uint32_t slots = gpurt_shape_slots(gpurt_class_shape(c));
    uint32_t first = gpurt_run_chunk(run), from = gpurt_run_ticket(run);

    if (run & GPURT_RUN_REUSED) {
        kept[first].promised += gpurt_run_limit(run) - from;
        return;
    }
    for (uint32_t i = 0; i * slots < gpurt_run_limit(run); i++)
        if (from < (i + 1) * slots)
            kept[first + i].from = from > i * slots ? from - i * slots : 0;
}

/* Returns: one element a chunk, to be freed. */
static kept_t *kept_make(const gpurt_heap_t *h, gpurt_error_t *err)
{
    kept_t *kept = (kept_t *)calloc(h->chunk_count, sizeof *kept);

    if (!kept) {
        gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "heap: %u chunks",
                   h->chunk_count);
        return NULL;
    }
    for (uint32_t i = 0; i < h->chunk_count; i++)
        kept[i] = (kept_t){.from = GPURT_CHUNK_BYTES, .promised = 0};
    for (uint32_t shard = 0; shard < h->shard_count; shard++)
        for (uint32_t c = 0; c < GPURT_CLASS_COUNT; c++) {
            uint64_t run = *gpurt_run_current(h, shard, c);

            if (gpurt_run_is_live(run) && gpurt_run_chunk(run) < h->chunk_count)
                kept_add(kept, c, run);
        }
    return kept;
}

/* ---- statistics ---------------------------------------------------------------------- */

/* Returns: bytes that are live in the chunk. */
static uint32_t stats_slab(const gpurt_heap_t *h, const kept_t *kept, uint32_t i,
                           gpurt_heap_stats_t *out)
{
    uint32_t c = gpurt_state_class(h->states[i]) % GPURT_CLASS_COUNT;
    uint32_t slots = gpurt_shape_slots(gpurt_class_shape(c));
    uint32_t reusable = gpurt_state_free(h->states[i]) + kept[i].promised;
    uint32_t fresh = kept[i].from < slots ? slots - kept[i].from : 0;
    gpurt_heap_class_t *k = &out->classes[c];

    if (reusable + fresh > slots) /* the copy is of two moments */
        reusable = slots - fresh;
    k->chunks++;
    k->reusable += reusable;
    k->fresh += fresh;
    k->live += slots - reusable - fresh;
    return (slots - reusable - fresh) * gpurt_class_bytes(c);
}

static void stats_pool(const gpurt_heap_t *h, gpurt_heap_stats_t *out)
{
    const uint64_t *leaves = gpurt_tree_leaves(h, GPURT_TREE_POOL);
    uint32_t row = 0;

    for (uint32_t i = 0; i < h->chunk_count; i++) {
        row = leaves[i / 64] >> (i % 64) & 1 ? row + 1 : 0;
        out->free_chunks += row > 0;
        if (row > out->largest_row)
            out->largest_row = row;
    }
}

/* live: bytes of each chunk; NULL: nobody asks. */
static void stats_make(const gpurt_heap_t *h, const kept_t *kept, gpurt_heap_stats_t *out,
                       uint32_t *live)
{
    out->bytes = (uint64_t)gpurt_heap_backed(h) * GPURT_CHUNK_BYTES;
    out->tables = gpurt_heap_table_bytes(h);
    out->chunks = gpurt_heap_backed(h);
    out->counts = *h->counts;
    for (uint32_t i = 0; i < h->shard_count; i++)
        out->counts.xclosed += h->currents[i * GPURT_CLASS_STRIDE + GPURT_CLASS_CLOSED];
    stats_pool(h, out);
    for (uint32_t i = 0; i < h->chunk_count; i++) {
        if (gpurt_state_is_slab(h->states[i])) {
            uint32_t bytes = stats_slab(h, kept, i, out);

            if (live)
                live[i] = bytes;
        } else if (h->states[i] & GPURT_STATE_LARGE) {
            out->large++;
            out->large_chunks += gpurt_state_chunks(h->states[i]);
        }
    }
    out->live = out->large;
    out->live_bytes = (uint64_t)out->large_chunks * GPURT_CHUNK_BYTES;
    for (uint32_t c = 0; c < GPURT_CLASS_COUNT; c++) {
        gpurt_heap_class_t *k = &out->classes[c];

        k->bytes = gpurt_class_bytes(c);
        out->live += k->live;
        out->live_bytes += k->live * k->bytes;
    }
}

gpurt_status_t gpurt_heap_figures(const gpurt_heap_t *mirror, gpurt_heap_stats_t *out,
                                  uint32_t *live, gpurt_error_t *err)
{
    kept_t *kept = kept_make(mirror, err);

    memset(out, 0, sizeof *out);
    if (!kept)
        return GPURT_E_NOMEM;
    stats_make(mirror, kept, out, live);
    free(kept);
    return GPURT_OK;
}

static gpurt_status_t stats_watch(gpurt_t *rt, const gpurt_heap_t *heap,
                                  gpurt_heap_stats_t *out, gpurt_error_t *err)
{
    gpurt_heap_watch_t watch;
    gpurt_status_t st = gpurt_heap_watch_load(rt, heap, &watch, err);

    if (st != GPURT_OK)
        return st;
    out->kept = watch.xkept;
    out->kept_bytes = watch.xkept_bytes;
    out->tables += gpurt_heap_watch_place(&watch, heap->chunk_count, NULL);
    return GPURT_OK;
}

gpurt_status_t gpurt_heap_stats(gpurt_t *rt, const gpurt_heap_t *heap,
                                gpurt_heap_stats_t *out, gpurt_error_t *err)
{
    gpurt_heap_mirror_t m;
    gpurt_status_t st;
    kept_t *kept;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the statistics");
    memset(out, 0, sizeof *out);
    st = look(rt, heap, &m, err);
    if (st != GPURT_OK)
        return st;
    kept = kept_make(&m.heap, err);
    if (kept)
        stats_make(&m.heap, kept, out, NULL);
    st = kept ? GPURT_OK : GPURT_E_NOMEM;
    if (st == GPURT_OK && heap->watch)
        st = stats_watch(rt, heap, out, err);
    free(kept);
    look_end(&m);
    return st;
}

bool gpurt_heap_slot_taken(const gpurt_heap_t *h, uint64_t offset, uint64_t *bytes)
{
    uint32_t chunk = (uint32_t)(offset >> GPURT_CHUNK_SHIFT), slot, c;
    uint32_t at = (uint32_t)offset % GPURT_CHUNK_BYTES, state = h->states[chunk];

    if (state & GPURT_STATE_LARGE) {
        *bytes = (uint64_t)gpurt_state_chunks(state) << GPURT_CHUNK_SHIFT;
        return at == 0;
    }
    if (!gpurt_state_is_slab(state) || gpurt_state_class(state) >= GPURT_CLASS_COUNT)
        return false;
    c = gpurt_state_class(state);
    slot = gpurt_shape_slot(gpurt_class_shape(c), gpurt_class_shift(c), at);
    *bytes = gpurt_class_bytes(c);
    return slot * *bytes == at && slot < gpurt_shape_slots(gpurt_class_shape(c)) &&
           !(gpurt_slab_bits(h, chunk)[slot / 32] >> (slot % 32) & 1);
}

/* ---- live objects -------------------------------------------------------------------- */

static bool walk_slab(const gpurt_heap_t *h, uint32_t i, uint32_t from,
                      gpurt_heap_visit_fn visit, void *context)
{
    uint32_t c = gpurt_state_class(h->states[i]);
    uint32_t slots = gpurt_shape_slots(gpurt_class_shape(c));
    const uint32_t *bits = gpurt_slab_bits(h, i);

    for (uint32_t slot = 0; slot < slots && slot < from; slot++)
        if (!(bits[slot / 32] >> (slot % 32) & 1) &&
            !visit(context, gpurt_slab_slot(h, gpurt_class_bytes(c), i, slot),
                   gpurt_class_bytes(c)))
            return false;
    return true;
}

static void walk(const gpurt_heap_t *h, const kept_t *kept, gpurt_heap_visit_fn visit,
                 void *context)
{
    for (uint32_t i = 0; i < h->chunk_count; i++) {
        uint32_t state = h->states[i];
        bool on = true;

        if (gpurt_state_is_slab(state))
            on = walk_slab(h, i, kept[i].from, visit, context);
        else if (state & GPURT_STATE_LARGE)
            on = visit(context, h->chunks + (size_t)i * GPURT_CHUNK_BYTES,
                       (size_t)gpurt_state_chunks(state) * GPURT_CHUNK_BYTES);
        if (!on)
            return;
    }
}

gpurt_status_t gpurt_heap_mirror_walk(const gpurt_heap_t *mirror, gpurt_heap_visit_fn visit,
                                      void *context, gpurt_error_t *err)
{
    kept_t *kept = kept_make(mirror, err);

    if (!kept)
        return GPURT_E_NOMEM;
    walk(mirror, kept, visit, context);
    free(kept);
    return GPURT_OK;
}

gpurt_status_t gpurt_heap_walk(gpurt_t *rt, const gpurt_heap_t *heap,
                               gpurt_heap_visit_fn visit, void *context, gpurt_error_t *err)
{
    gpurt_heap_mirror_t m;
    gpurt_status_t st;

    if (!visit)
        return REFUSE(err, GPURT_E_INVALID, "visit is NULL: pass what to call");
    st = look(rt, heap, &m, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_heap_mirror_walk(&m.heap, visit, context, err);
    look_end(&m);
    return st;
}

gpurt_status_t gpurt_heap_trim(gpurt_t *rt, const gpurt_heap_t *heap, gpurt_error_t *err)
{
    gpurt_heap_mirror_t m;
    gpurt_status_t st = look(rt, heap, &m, err);

    if (st != GPURT_OK)
        return st;
    for (uint32_t shard = 0; shard < heap->shard_count; shard++)
        for (uint32_t c = 0; c < GPURT_CLASS_COUNT; c++) {
            uint64_t *current = gpurt_run_current(&m.heap, shard, c), run = *current;

            *current = 0;
            if (gpurt_run_is_live(run))
                gpurt_slab_dispose(&m.heap, c, run);
        }
    st = gpurt_heap_mirror_store(rt, heap, &m, err);
    look_end(&m);
    return st;
}

/* ---- what cannot be ------------------------------------------------------------------ */

#define WRONG(...) REFUSE(err, GPURT_E_FAULT, "heap: " __VA_ARGS__)

static bool is_in(const gpurt_heap_t *h, uint32_t tree, uint32_t chunk)
{
    return gpurt_tree_leaves(h, tree)[chunk / 64] >> (chunk % 64) & 1;
}

static gpurt_status_t check_slab(const gpurt_heap_t *h, const kept_t *kept, uint32_t i,
                                 gpurt_error_t *err)
{
    uint32_t state = h->states[i], c = gpurt_state_class(state), set = 0, slots;
    uint32_t count = gpurt_state_free(state);
    const uint32_t *bits = gpurt_slab_bits(h, i);

    if (c >= GPURT_CLASS_COUNT)
        return WRONG("chunk %u is of class %u", i, c);
    slots = gpurt_shape_slots(gpurt_class_shape(c));
    for (uint32_t slot = 0; slot < GPURT_CHUNK_BITS_WORDS * 32; slot++) {
        bool is_free = bits[slot / 32] >> (slot % 32) & 1;

        if (is_free && (slot >= slots || slot >= kept[i].from))
            return WRONG("chunk %u: slot %u of %u is free, but was never handed out", i,
                         slot, slots);
        set += is_free;
    }
    if (set != count + kept[i].promised)
        return WRONG("chunk %u: %u slots are free, %u counted, %u promised", i, set, count,
                     kept[i].promised);
    if (count == slots)
        return WRONG("chunk %u is empty and not in the pool", i);
    if (count >= gpurt_class_enough(slots) && !is_in(h, gpurt_tree_good(c), i))
        return WRONG("chunk %u with %u free slots is not found", i, count);
    if (count > 0 && !is_in(h, gpurt_tree_good(c), i) && !is_in(h, gpurt_tree_sparse(c), i))
        return WRONG("chunk %u with %u free slots is not found when all is full", i, count);
    return GPURT_OK;
}

static gpurt_status_t check_chunks(const gpurt_heap_t *h, const kept_t *kept,
                                   gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;
    uint32_t large = 0; /* chunks that the last large object still covers */

    for (uint32_t i = 0; i < gpurt_heap_backed(h) && st == GPURT_OK; i++) {
        bool pooled = is_in(h, GPURT_TREE_POOL, i);

        if (pooled && (h->states[i] != GPURT_STATE_POOL || large))
            return WRONG("chunk %u is in the pool, and in use", i);
        if (!pooled && !large && h->states[i] == GPURT_STATE_POOL)
            return WRONG("chunk %u is lost", i);
        if (large)
            large--;
        else if (h->states[i] & GPURT_STATE_LARGE)
            large = gpurt_state_chunks(h->states[i]) - 1;
        if (gpurt_state_is_slab(h->states[i]))
            st = check_slab(h, kept, i, err);
        else
            for (uint32_t row = 0; row < GPURT_CHUNK_BITS_WORDS; row++)
                if (gpurt_slab_bits(h, i)[row])
                    return WRONG("chunk %u has free slots, but is of no class", i);
    }
    return st;
}

/* Hints may be set in vain, but not missing. */
static gpurt_status_t check_tree(const gpurt_heap_t *h, uint32_t tree, gpurt_error_t *err)
{
    const uint64_t *leaves = gpurt_tree_leaves(h, tree);
    const uint64_t *branches = leaves + h->leaf_words;
    const uint64_t *roots = branches + h->branch_words;

    for (uint32_t i = 0; i < h->leaf_words; i++)
        if (leaves[i] && !(branches[i / 64] >> (i % 64) & 1) &&
            (tree != GPURT_TREE_POOL || i < h->counts->xtaken_up))
            return WRONG("set %u: leaf %u is not found", tree, i);
    for (uint32_t i = 0; i < h->branch_words; i++)
        if (branches[i] && !(roots[i / 64] >> (i % 64) & 1))
            return WRONG("set %u: branch %u is not found", tree, i);
    return GPURT_OK;
}

static bool is_hinted(const gpurt_heap_t *h, uint32_t c, bool whole, uint32_t shard)
{
    return gpurt_run_hints(h, c, whole)[shard / 64] >> (shard % 64) & 1;
}

/* What is left of a run is found by other shards when the pool is empty; likewise. */
static gpurt_status_t check_runs(const gpurt_heap_t *h, gpurt_error_t *err)
{
    for (uint32_t shard = 0; shard < h->shard_count; shard++)
        for (uint32_t c = 0; c < GPURT_CLASS_COUNT; c++) {
            uint32_t slots = gpurt_shape_slots(gpurt_class_shape(c));
            uint64_t run = *gpurt_run_current(h, shard, c);

            if (gpurt_run_is_worth(run, false, slots) && !is_hinted(h, c, false, shard))
                return WRONG("the run of shard %u, class %u is found by no other", shard,
                             c);
            if (gpurt_run_is_worth(run, true, slots) &&
                !(is_hinted(h, c, true, shard) && *gpurt_run_wholes(h) >> c & 1))
                return WRONG("chunks of shard %u, class %u are found by no other class",
                             shard, c);
        }
    return GPURT_OK;
}

gpurt_status_t gpurt_heap_check(gpurt_t *rt, const gpurt_heap_t *heap, gpurt_error_t *err)
{
    gpurt_heap_mirror_t m;
    gpurt_status_t st = look(rt, heap, &m, err);
    kept_t *kept;

    if (st != GPURT_OK)
        return st;
    kept = kept_make(&m.heap, err);
    st = kept ? check_chunks(&m.heap, kept, err) : GPURT_E_NOMEM;
    for (uint32_t tree = 0; tree < GPURT_TREE_COUNT && st == GPURT_OK; tree++)
        st = check_tree(&m.heap, tree, err);
    if (st == GPURT_OK)
        st = check_runs(&m.heap, err);
    if (st == GPURT_OK && heap->watch)
        st = gpurt_heap_guards_check(rt, heap, &m, err);
    free(kept);
    look_end(&m);
    return st;
}
