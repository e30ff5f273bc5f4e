/* SPDX-License-Identifier: Apache-2.0 */
/* What a heap that checks has besides, and a look at its guards from the host: the same rules
 * as of alloccheck.h, on copies of its chunks. */
#include "heapmap.h"

#include "environ.h"
#include "ownwait.h"
#include "refuse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TRACE_BYTES (64ull << 30)

enum {
    ALIGN = 128,
    PLACES_LEAST = 256,
    PLACES_MOST = 1 << 16,
    PLACE_BYTES = 256, /* a place for so many bytes that are kept back */
    RECORDS = GPURT_CHUNK_BYTES / GPURT_WATCH_GRANULE /* of a chunk */
};

/* ---- making it ----------------------------------------------------------------------- */

static gpurt_status_t level_read(uint32_t option, uint32_t *level, gpurt_error_t *err)
{
    static const char *const words[] = {"off", "cheap", "full"};
    const char *value = gpurt_env_get("GPURT_HEAP_CHECKS");

    *level = option ? option : (uint32_t)GPURT_CHECKS_OFF;
    if (*level > GPURT_CHECKS_FULL)
        return REFUSE(err, GPURT_E_INVALID,
                      "heap: checks %u: say GPURT_CHECKS_OFF, "
                      "_CHEAP or _FULL",
                      option);
    if (!value)
        return GPURT_OK;
    for (uint32_t i = 0; i < 3; i++)
        if (strcasecmp(value, words[i]) == 0) {
            *level = GPURT_CHECKS_OFF + i;
            return GPURT_OK;
        }
    return REFUSE(err, GPURT_E_INVALID, "GPURT_HEAP_CHECKS=%.32s: say off, cheap or full",
                  value);
}

static bool trace_read(bool option)
{
    const char *value = gpurt_env_get("GPURT_HEAP_TRACE");

    return value ? strcmp(value, "0") != 0 : option;
}

/* Records of a trace say where an object lies in 32 bits, by units of 16 bytes. */
static gpurt_status_t trace_check(const gpurt_heap_options_t *o, gpurt_error_t *err)
{
    uint64_t bytes = o->reserve_bytes > o->bytes ? o->reserve_bytes : o->bytes;

    if (bytes < TRACE_BYTES)
        return GPURT_OK;
    return REFUSE(
        err, GPURT_E_INVALID,
        "heap: trace (or GPURT_HEAP_TRACE) with %llu bytes: only heaps of less than "
        "64 GiB, with what they can grow to, are traced",
        (unsigned long long)bytes);
}

gpurt_status_t gpurt_heap_watch_plan(const gpurt_heap_options_t *o, gpurt_heap_watch_t *out,
                                     gpurt_error_t *err)
{
    gpurt_status_t st;

    memset(out, 0, sizeof *out);
    st = level_read(o->checks, &out->level, err);
    out->trace = trace_read(o->trace);
    if (st == GPURT_OK && out->trace)
        st = trace_check(o, err);
    if (st != GPURT_OK)
        return st;
    if (out->level == GPURT_CHECKS_OFF && !out->trace) {
        out->level = 0;
        return GPURT_OK;
    }
    if (out->level == GPURT_CHECKS_FULL) {
        out->keep_bytes = o->keep_bytes ? o->keep_bytes : o->bytes / 16;
        for (out->place_count = PLACES_LEAST;
             out->place_count < PLACES_MOST &&
             (uint64_t)out->place_count * PLACE_BYTES < out->keep_bytes;)
            out->place_count *= 2;
    }
    return GPURT_OK;
}

static void *part(char *memory, size_t *at, size_t bytes)
{
    char *begin = (char *)((uintptr_t)memory + *at);

    *at += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return begin;
}

size_t gpurt_heap_watch_place(gpurt_heap_watch_t *watch, uint32_t chunks, char *memory)
{
    size_t at = 0;

    if (!watch->level)
        return 0;
    part(memory, &at, sizeof *watch);
    watch->sites =
        (gpurt_alloc_site_t *)part(memory, &at, sizeof *watch->sites * GPURT_WATCH_SITES);
    watch->found =
        (gpurt_heap_found_t *)part(memory, &at, sizeof *watch->found * GPURT_WATCH_FAULTS);
    watch->xplaces =
        (uint64_t *)part(memory, &at, sizeof *watch->xplaces * watch->place_count);
    watch->records = NULL;
    if (watch->level > GPURT_CHECKS_OFF)
        watch->records = (gpurt_alloc_record_t *)part(
            memory, &at,
            sizeof *watch->records * (GPURT_CHUNK_BYTES / GPURT_WATCH_GRANULE) * chunks);
    return at;
}

gpurt_status_t gpurt_heap_watch_begin(gpurt_t *rt, const gpurt_heap_t *heap,
                                      const gpurt_heap_watch_t *watch, gpurt_error_t *err)
{
    gpurt_heap_watch_t w = *watch;
    size_t bytes = gpurt_heap_watch_place(&w, heap->chunk_count, NULL);
    gpurt_status_t st;

    w = *watch;
    w.id = heap->id;
    st = gpurt_fill(rt, GPURT_STREAM_DEFAULT, heap->watch, 0, bytes, err);
    if (st == GPURT_OK)
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, heap->watch, &w, sizeof w, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    return st;
}

gpurt_status_t gpurt_heap_watch_load(gpurt_t *rt, const gpurt_heap_t *heap,
                                     gpurt_heap_watch_t *out, gpurt_error_t *err)
{
    gpurt_status_t st =
        gpurt_copy(rt, GPURT_STREAM_DEFAULT, out, heap->watch, sizeof *out, err);

    return st == GPURT_OK ? gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err) : st;
}

/* ---- guards -------------------------------------------------------------------------- */

/* Chunks and records as copies, one of each at a time. Owner: the call. */
typedef struct look {
    gpurt_t *rt;
    const gpurt_heap_t *heap;
    gpurt_heap_watch_t watch;
    gpurt_error_t *err;
    uint32_t chunk; /* that `bytes` holds; GPURT_CHUNK_BYTES: none */
    char *bytes;
    uint64_t begin, slot_bytes; /* of the slot at hand: offset in the heap */
    const gpurt_alloc_record_t *r;
    gpurt_heap_found_fn fn;
    void *context;
} look_t;

static gpurt_status_t fetch(look_t *l, void *to, const void *from, size_t bytes)
{
    gpurt_status_t st = gpurt_copy(l->rt, GPURT_STREAM_DEFAULT, to, from, bytes, l->err);

    return st == GPURT_OK ? gpurt_own_stream_sync(l->rt, GPURT_STREAM_DEFAULT, l->err) : st;
}

/* Bytes [from, to) of the heap: guard or poison. *at: the first that is not, else `to`. */
static gpurt_status_t range_look(look_t *l, bool poison, uint64_t from, uint64_t to,
                                 uint64_t *at)
{
    gpurt_status_t st = GPURT_OK;

    *at = to;
    while (from < to && st == GPURT_OK) {
        uint32_t chunk = (uint32_t)(from >> GPURT_CHUNK_SHIFT);
        uint64_t base = (uint64_t)chunk << GPURT_CHUNK_SHIFT;
        uint64_t end = to < base + GPURT_CHUNK_BYTES ? to : base + GPURT_CHUNK_BYTES, found;

        if (chunk != l->chunk)
            st = fetch(l, l->bytes, l->heap->chunks + base, GPURT_CHUNK_BYTES);
        l->chunk = st == GPURT_OK ? chunk : UINT32_MAX;
        if (st != GPURT_OK)
            break;
        found = poison ? gpurt_poison_damage(l->bytes, from - base, end - base)
                       : gpurt_guard_damage(l->bytes,
                                            (uint64_t)(uintptr_t)l->heap->chunks + base,
                                            from - base, end - base);
        if (base + found < end) {
            *at = base + found;
            break;
        }
        from = end;
    }
    return st;
}

/* What a kernel would have found, in a row as it would have kept. at: offset in the heap. */
static gpurt_status_t damaged(look_t *l, uint32_t what, uint64_t at)
{
    const gpurt_alloc_record_t *r = l->r;
    uint64_t object = l->begin + r->xfront;
    gpurt_heap_found_t f = {.xready = 1,
                            .what = what,
                            .object = (uint64_t)(uintptr_t)l->heap->chunks + object,
                            .size = r->xsize,
                            .at = (int64_t)at - (int64_t)object,
                            .site = r->xsites & 0xffffu,
                            .block = r->xblock,
                            .thread = r->xthreads & 0xffffu};

    if ((r->xstate & GPURT_RECORD_STATE) == GPURT_RECORD_KEPT) {
        f.free_site = r->xsites >> 16;
        f.free_block = r->xfree_block;
        f.free_thread = r->xthreads >> 16;
    }
    return l->fn(l->context, &f);
}

static gpurt_status_t slot_look(look_t *l)
{
    uint64_t base = (uint64_t)(uintptr_t)l->heap->chunks, front = l->r->xfront;
    uint64_t object = l->begin + front, size = l->r->xsize, at, to;
    uint64_t low = front > GPURT_GUARD_BEFORE ? object - GPURT_GUARD_BEFORE : l->begin;
    uint64_t first = object + gpurt_poison_first(size),
             last = object + gpurt_poison_last(size), end = object + (size & ~7ull);
    bool kept = (l->r->xstate & GPURT_RECORD_STATE) == GPURT_RECORD_KEPT;
    gpurt_status_t st = range_look(l, false, low, object, &at);

    if (st == GPURT_OK && at < object)
        return damaged(l, GPURT_WRONG_UNDERRUN, at);
    to = gpurt_guard_end(front ? GPURT_CHECKS_FULL : GPURT_CHECKS_CHEAP,
                         base + object + size, base + l->begin + l->slot_bytes) -
         base;
    if (st == GPURT_OK)
        st = range_look(l, false, object + size, to, &at);
    if (st == GPURT_OK && at < to)
        return damaged(l, GPURT_WRONG_OVERRUN, at);
    if (!kept || st != GPURT_OK)
        return st;
    st = range_look(l, true, object, first, &at);
    if (st == GPURT_OK && at == first) {
        st = range_look(l, true, last, end, &at);
        first = end;
    }
    return st == GPURT_OK && at < first ? damaged(l, GPURT_WRONG_USED, at) : st;
}

static gpurt_status_t record_look(void *context, const gpurt_alloc_record_t *r,
                                  uint64_t begin, uint64_t bytes)
{
    look_t *l = (look_t *)context;

    l->r = r;
    l->begin = begin;
    l->slot_bytes = bytes;
    return slot_look(l);
}

gpurt_status_t gpurt_heap_guards_each(gpurt_t *rt, const gpurt_heap_t *heap,
                                      const gpurt_heap_mirror_t *mirror,
                                      const gpurt_heap_watch_t *watch,
                                      gpurt_heap_found_fn fn, void *context,
                                      gpurt_error_t *err)
{
    look_t l = {.rt = rt,
                .heap = heap,
                .watch = *watch,
                .err = err,
                .chunk = UINT32_MAX,
                .fn = fn,
                .context = context};
    gpurt_status_t st;

    if (!watch->records)
        return GPURT_OK;
    l.bytes = (char *)malloc(GPURT_CHUNK_BYTES);
    if (!l.bytes)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "heap: a chunk");
    st = gpurt_heap_records_each(rt, heap, mirror, watch, record_look, &l, err);
    free(l.bytes);
    return st;
}

/* Of a check, which ends with the first thing that is wrong. Owner: the call. */
typedef struct refusal {
    gpurt_t *rt;
    gpurt_heap_watch_t watch;
    gpurt_error_t *err;
} refusal_t;

static gpurt_status_t refuse_found(void *context, const gpurt_heap_found_t *f)
{
    refusal_t *r = (refusal_t *)context;
    gpurt_alloc_site_t site = {0};

    if (f->site < GPURT_WATCH_SITES &&
        gpurt_copy(r->rt, GPURT_STREAM_DEFAULT, &site, r->watch.sites + f->site,
                   sizeof site, NULL) == GPURT_OK)
        gpurt_own_stream_sync(r->rt, GPURT_STREAM_DEFAULT, NULL);
    return REFUSE(r->err, GPURT_E_FAULT,
                  "heap: 0x%llx of %llu B %s: byte %lld; allocated at %.*s by block %u "
                  "thread %u",
                  (unsigned long long)f->object, (unsigned long long)f->size,
                  gpurt_heap_wrong_text(f->what), (long long)f->at, (int)sizeof site.text,
                  site.xbytes ? site.text : "a place not known", f->block, f->thread);
}

gpurt_status_t gpurt_heap_guards_check(gpurt_t *rt, const gpurt_heap_t *heap,
                                       const gpurt_heap_mirror_t *mirror,
                                       gpurt_error_t *err)
{
    refusal_t r = {.rt = rt, .err = err};
    gpurt_status_t st = gpurt_heap_watch_load(rt, heap, &r.watch, err);

    return st == GPURT_OK
               ? gpurt_heap_guards_each(rt, heap, mirror, &r.watch, refuse_found, &r, err)
               : st;
}

/* ---- records ------------------------------------------------------------------------- */

static gpurt_status_t chunk_each(const gpurt_heap_mirror_t *mirror, uint32_t chunk,
                                 const gpurt_alloc_record_t *records,
                                 gpurt_heap_record_fn fn, void *context)
{
    gpurt_status_t st = GPURT_OK;

    for (uint32_t i = 0; i < RECORDS && st == GPURT_OK; i++) {
        const gpurt_alloc_record_t *r = &records[i];
        uint32_t what = r->xstate & GPURT_RECORD_STATE;
        uint64_t begin = ((uint64_t)chunk << GPURT_CHUNK_SHIFT) +
                         (uint64_t)i * GPURT_WATCH_GRANULE +
                         (r->xstate & GPURT_RECORD_HALF ? GPURT_WATCH_GRANULE / 2 : 0);
        uint64_t bytes;

        if ((what == GPURT_RECORD_LIVE || what == GPURT_RECORD_KEPT) &&
            gpurt_heap_slot_taken(&mirror->heap, begin, &bytes))
            st = fn(context, r, begin, bytes);
    }
    return st;
}

gpurt_status_t gpurt_heap_records_each(gpurt_t *rt, const gpurt_heap_t *heap,
                                       const gpurt_heap_mirror_t *mirror,
                                       const gpurt_heap_watch_t *watch,
                                       gpurt_heap_record_fn fn, void *context,
                                       gpurt_error_t *err)
{
    gpurt_alloc_record_t *records;
    gpurt_status_t st = GPURT_OK;

    if (!watch->records)
        return GPURT_OK;
    records = (gpurt_alloc_record_t *)malloc(sizeof *records * RECORDS);
    if (!records)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "heap: records");
    for (uint32_t i = 0; i < heap->chunk_count && st == GPURT_OK; i++) {
        uint32_t state = mirror->heap.states[i];

        if (!gpurt_state_is_slab(state) && !(state & GPURT_STATE_LARGE))
            continue;
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, records,
                        watch->records + (size_t)i * RECORDS, sizeof *records * RECORDS,
                        err);
        if (st == GPURT_OK)
            st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
        if (st == GPURT_OK)
            st = chunk_each(mirror, i, records, fn, context);
    }
    free(records);
    return st;
}
