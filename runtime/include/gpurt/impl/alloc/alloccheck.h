/* SPDX-License-Identifier: Apache-2.0 */
/* alloccheck.h - requests and frees of a heap that checks, and what is kept back after its
 * free. allocrecord.h has the records and the guards.
 *
 * The begin of a slot, then so many bytes that the object behind is aligned as it would be
 * otherwise, the object, and a guard behind it. Compiled where GPURT_HEAP_CHECKS is not 0;
 * objects of such code and of other code may lie in one heap.
 * Context: device code, any lanes. For alloc.h only. docs/HEAP_CHECKS.md tells what is found
 * and what is not. */
#ifndef GPURT_ALLOC_H
#    include <gpurt/alloc.h> /* which includes this file where it belongs */
#endif
#ifndef GPURT_ALLOCCHECK_H
#    define GPURT_ALLOCCHECK_H

#    include <gpurt/impl/alloc/alloccore.h>
#    include <gpurt/impl/alloc/allocrecord.h>
#    include <gpurt/impl/warptally.h>

enum {
    GPURT_WATCH_LOOKS = 256,
    GPURT_WATCH_TRIES = 4, /* places that a free empties when too much is kept back */
    GPURT_WATCH_WAITS =
        16 /* requests that find nothing while others give what was kept back */
};

/* What this code does in a heap. */
GPURT_DEV uint32_t gpurt_watch_level(const gpurt_heap_watch_t *w)
{
    return w->level < GPURT_CHECKS_CEILING(GPURT_HEAP_CHECKS)
               ? w->level
               : GPURT_CHECKS_CEILING(GPURT_HEAP_CHECKS);
}

/* ---- kept back ----------------------------------------------------------------------- */

GPURT_DEVN void gpurt_watch_poison(const gpurt_watch_slot_t *s)
{
    uint64_t front = gpurt_load_relaxed_dev_u32(&s->record->xfront); /* relaxed: ours */
    uint64_t size = gpurt_load_relaxed_dev_u64(&s->record->xsize);
    uint64_t *words = (uint64_t *)(void *)(s->begin + front);

    for (uint64_t i = 0; i < gpurt_poison_first(size); i += 8)
        words[i / 8] = GPURT_POISON_WORD;
    for (uint64_t i = gpurt_poison_last(size); i + 8 <= size; i += 8)
        words[i / 8] = GPURT_POISON_WORD;
}

/* Gives a slot that was kept back to the heap, after a look at what became of it. Returns: its bytes. */
GPURT_DEVN uint64_t gpurt_watch_release(const gpurt_heap_t *h, char *begin, uint32_t here)
{
    gpurt_heap_watch_t *w = h->watch;
    gpurt_watch_slot_t s = gpurt_watch_slot_at(h, begin);
    uint64_t front = gpurt_load_relaxed_dev_u32(&s.record->xfront); /* relaxed: ours */
    uint64_t size = gpurt_load_relaxed_dev_u64(&s.record->xsize), at;
    uint64_t first = gpurt_poison_first(size), last = gpurt_poison_last(size);

    at = gpurt_poison_damage(begin + front, 0, first);
    if (at == first)
        at = gpurt_poison_damage(begin + front, last, size & ~7ull);
    if (at < (size & ~7ull)) {
        gpurt_heap_found_t f =
            gpurt_watch_found(GPURT_WRONG_USED, begin + front, (int64_t)at);

        gpurt_watch_read(s.record, &f);
        gpurt_watch_tell(w, &f, here);
    } else {
        gpurt_watch_guards(w, &s, here);
    }
    /* relaxed: the free below publishes it */
    gpurt_store_relaxed_dev_u32(&s.record->xstate,
                                GPURT_RECORD_FREE |
                                    gpurt_watch_half((uint64_t)(begin - h->chunks)));
    gpurt_tally_red(&w->xkept_bytes, 0 - s.bytes);
    gpurt_core_free(h, begin);
    gpurt_tally_red(&w->xkept, ~0ull); /* behind it: gpurt_watch_again waits for that */
    return s.bytes;
}

/* Empties a place. Returns: the bytes that it kept. */
GPURT_DEV uint64_t gpurt_watch_empty(const gpurt_heap_t *h, uint64_t ticket, uint64_t put,
                                     uint32_t here)
{
    gpurt_heap_watch_t *w = h->watch;
    uint64_t old = gpurt_xchg_acq_rel_far_u64(w->xplaces + (ticket & (w->place_count - 1)),
                                              put); /* AW1.rel AW1.acq */

    return old ? gpurt_watch_release(h, (char *)(uintptr_t)old, here) : 0;
}

/* Keeps a freed slot back; the oldest ones go for it when there are too many. Each lane has as much go
 * as it keeps and no more, or those that find too many at once would leave none. lanes: who does so
 * together. */
GPURT_DEVN void gpurt_watch_keep(const gpurt_heap_t *h, const gpurt_watch_slot_t *s,
                                 uint32_t lanes, uint32_t here)
{
    gpurt_heap_watch_t *w = h->watch;
    uint64_t kept, gone = 0;

    gpurt_watch_poison(s);
    gpurt_syncwarp(lanes); /* loops of any length parted them: one atomic is for all */
    kept = gpurt_tally_add(&w->xkept_bytes, s->bytes);
    gpurt_tally_red(&w->xkept, 1);
    gpurt_watch_empty(h, gpurt_tally_ticket(&w->xhead), (uint64_t)(uintptr_t)s->begin,
                      here);
    for (uint32_t i = 0; i < GPURT_WATCH_TRIES && kept > w->keep_bytes && gone < s->bytes;
         i++) {
        gone += gpurt_watch_empty(h, gpurt_tally_ticket(&w->xtail), 0, here);
        kept = gpurt_load_relaxed_dev_u64(&w->xkept_bytes);
    }
}

/* All that is kept back, because a request would get nothing. Returns: whether any was. */
GPURT_DEVN bool gpurt_watch_release_all(const gpurt_heap_t *h, uint32_t here)
{
    gpurt_heap_watch_t *w = h->watch;
    bool any = false;

    if (!w->xplaces || !gpurt_load_relaxed_dev_u64(&w->xkept)) /* relaxed: a statistic */
        return false;
    for (uint32_t i = 0; i < w->place_count; i++)
        if (gpurt_load_relaxed_dev_u64(w->xplaces + i)) /* relaxed: a look */
            any |= gpurt_watch_empty(h, i, 0, here) > 0;
    return any;
}

/* ---- allocate ------------------------------------------------------------------------ */

/* What is asked of the heap for an object. */
typedef struct gpurt_watch_shape {
    size_t bytes;
    uint32_t align, front;
} gpurt_watch_shape_t;

GPURT_DEV gpurt_watch_shape_t gpurt_watch_shape(uint32_t level, size_t size, uint32_t align)
{
    gpurt_watch_shape_t s = {size, align, 0};

    if (level <= GPURT_CHECKS_OFF || size > ~(size_t)0 / 2)
        return s;
    if (s.align < 16)
        s.align = 16;
    if (size <= GPURT_SMALL_MAX && !(size & (size - 1)) && size > s.align)
        s.align = (uint32_t)size; /* powers of two are aligned to themselves */
    s.front = level == GPURT_CHECKS_FULL ? s.align : 0;
    s.bytes = s.front + size + GPURT_GUARD_BYTES;
    return s;
}

/* Fills guards and record in. Returns: the object. */
GPURT_DEVN void *gpurt_watch_dress(const gpurt_heap_t *h, char *begin, uint32_t front,
                                   size_t size, uint32_t site)
{
    gpurt_watch_slot_t s = gpurt_watch_slot_at(h, begin);

    gpurt_watch_guard(begin, s.bytes, front, size);
    /* relaxed: they reach others with the pointer */
    gpurt_store_relaxed_dev_u32(&s.record->xfront, front);
    gpurt_store_relaxed_dev_u64(&s.record->xsize, size);
    gpurt_store_relaxed_dev_u32(&s.record->xsites, site);
    gpurt_store_relaxed_dev_u32(&s.record->xthreads, gpurt_thread_rank());
    gpurt_store_relaxed_dev_u32(&s.record->xblock, gpurt_block_rank());
    gpurt_store_relaxed_dev_u32(&s.record->xstate,
                                GPURT_RECORD_LIVE |
                                    gpurt_watch_half((uint64_t)(begin - h->chunks)));
    return begin + front;
}

GPURT_DEVN void gpurt_watch_trace_alloc(const gpurt_heap_t *h, const void *object,
                                        size_t size, size_t align, uint32_t site)
{
    uint64_t unit = (uint64_t)((const char *)object - h->chunks) / 16;
    uint32_t words[GPURT_ALLOC_TRACE_WORDS];

    words[0] = h->id;
    words[1] = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    words[2] = object ? (uint32_t)unit : GPURT_HEAP_NO_UNIT;
    words[3] = (uint32_t)align;
    gpurt_tell(h->watch, site, GPURT_ALLOC_FORM_ALLOC, words, GPURT_ALLOC_TRACE_WORDS);
}

/* A request that got nothing, when what is kept back goes. Another lane may be giving it back at this
 * moment: as long as something is on its way, it is not said that there is none. */
GPURT_DEVN char *gpurt_watch_again(const gpurt_heap_t *h, const gpurt_watch_shape_t *s,
                                   uint32_t *why, uint32_t here)
{
    char *begin = NULL;

    for (uint32_t i = 0; !begin && i < GPURT_WATCH_WAITS; i++) {
        uint32_t before = *why;
        bool some = gpurt_load_relaxed_dev_u64(&h->watch->xkept) > 0; /* relaxed: a look */

        if (!gpurt_watch_release_all(h, here) && !some)
            break;
        begin = (char *)gpurt_core_alloc(h, s->bytes, s->align, why);
        /* relaxed: a statistic. It was not refused in the end, or is counted twice. */
        gpurt_red_add_relaxed_dev_u64(&h->counts->xrefused[before], ~0ull);
        if (!begin)
            gpurt_pause(); /* ends no lane: others rely on that, as of all requests */
    }
    return begin;
}

/* A request of a heap that checks or traces. here: "file:line", or NULL. */
GPURT_DEVN void *gpurt_watch_alloc(const gpurt_heap_t *h, size_t size, size_t align,
                                   uint32_t *why, const char *here)
{
    gpurt_heap_watch_t *w = h->watch;
    uint32_t lanes = gpurt_activemask(), site = gpurt_watch_site(w, here);
    bool odd = !align || align > GPURT_CHUNK_BYTES || (align & (align - 1));
    uint32_t level = odd ? (uint32_t)GPURT_CHECKS_OFF : gpurt_watch_level(w);
    gpurt_watch_shape_t s = gpurt_watch_shape(level, size ? size : 1, (uint32_t)align);
    char *begin;
    void *object;

    gpurt_syncwarp(lanes); /* the search for the site parted them: one atomic is for all */
    begin = (char *)gpurt_core_alloc(h, s.bytes, odd ? align : s.align, why);
    object = begin;

    if (!begin && (*why == GPURT_ALLOC_FULL || *why == GPURT_ALLOC_FRAGMENTED))
        object = begin = gpurt_watch_again(h, &s, why, site);
    if (begin && level > GPURT_CHECKS_OFF)
        object = gpurt_watch_dress(h, begin, s.front, size ? size : 1, site);
    if (w->trace)
        gpurt_watch_trace_alloc(h, object, size, align, site);
    return object;
}

/* n objects for a warp: as gpurt_core_alloc_warp, but each by itself. */
GPURT_DEVN uint32_t gpurt_watch_alloc_warp(const gpurt_heap_t *h, uint32_t n, size_t size,
                                           void **out, const char *here)
{
    uint32_t done = 0, why, got = GPURT_FULL_MASK, want = GPURT_FULL_MASK;

    while (done < n && got == want && size <= GPURT_SMALL_MAX) {
        bool mine = gpurt_lane() < n - done;
        void *object = mine ? gpurt_watch_alloc(h, size, 16, &why, here) : NULL;

        gpurt_syncwarp(GPURT_FULL_MASK);
        want = gpurt_ballot(GPURT_FULL_MASK, mine);
        got = gpurt_ballot(GPURT_FULL_MASK, object != NULL);
        if (object)
            out[done + gpurt_popc(got & gpurt_lanes_below())] = object;
        done += gpurt_popc(got);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    if (n > 0 && size > GPURT_SMALL_MAX && gpurt_lane() == 0)
        gpurt_heap_refused(h, GPURT_ALLOC_TOO_LARGE);
    return done;
}

/* ---- free ---------------------------------------------------------------------------- */

/* Whether a slot of class c is one of a shard's current run that has not been drawn yet: nobody has
 * it. One look at each shard's word, so for frees that are wrong, or of objects that have no record.
 * A run that a lane is just bringing is in none. relaxed: who frees an object has been told of it
 * after its ticket was drawn. */
GPURT_DEVN bool gpurt_watch_is_fresh(const gpurt_heap_t *h, uint32_t c, uint32_t chunk,
                                     uint32_t slot)
{
    uint32_t slots = gpurt_shape_slots(gpurt_class_shape(c));
    bool fresh = false;

    for (uint32_t shard = 0; shard < h->shard_count; shard++) {
        uint64_t run = gpurt_load_relaxed_dev_u64(gpurt_run_current(h, shard, c));
        uint32_t begin = gpurt_run_chunk(run), t = (chunk - begin) * slots + slot;

        fresh |= !(run & GPURT_RUN_BARE) && chunk >= begin &&
                 chunk - begin < GPURT_RUN_CHUNKS && t >= gpurt_run_ticket(run) &&
                 t < gpurt_run_limit(run);
    }
    return fresh;
}

/* What the heap itself would say of a pointer. runs: look through them, too. */
GPURT_DEVN uint32_t gpurt_watch_judge(const gpurt_heap_t *h, char *object, bool runs)
{
    uint64_t offset = (uint64_t)(object - h->chunks);
    uint32_t chunk = (uint32_t)(offset >> GPURT_CHUNK_SHIFT), state, at, c;

    if (offset >> GPURT_CHUNK_SHIFT >= h->chunk_count)
        return GPURT_WRONG_FOREIGN;
    /* relaxed: a look */
    state = gpurt_load_relaxed_dev_u32(gpurt_slab_state(h, chunk));
    at = (uint32_t)offset % GPURT_CHUNK_BYTES;
    if ((state & GPURT_STATE_KIND) == GPURT_STATE_POOL)
        return at % 16 == 0 && gpurt_large_first(h, chunk) == GPURT_TREE_NONE
                   ? GPURT_WRONG_TWICE
                   : GPURT_WRONG_INTERIOR;
    if (!gpurt_watch_slot_at(h, object).bytes)
        return GPURT_WRONG_INTERIOR;
    if (!gpurt_state_is_slab(state))
        return GPURT_WRONG_NONE;
    c = gpurt_state_class(state);
    at = gpurt_shape_slot(gpurt_class_shape(c), gpurt_class_shift(c), at);
    if (gpurt_load_relaxed_dev_u32(gpurt_slab_bits(h, chunk) + at / 32) >> (at % 32) & 1u)
        return GPURT_WRONG_TWICE;
    return runs && gpurt_watch_is_fresh(h, c, chunk, at) ? GPURT_WRONG_TWICE
                                                         : GPURT_WRONG_NONE;
}

/* The live object that a byte of the heap belongs to, or to whose guard. NULL: none. */
GPURT_DEVN gpurt_alloc_record_t *gpurt_watch_around(const gpurt_heap_t *h, char *inside,
                                                    char **begin)
{
    uint64_t offset = (uint64_t)(inside - h->chunks), at = offset % GPURT_CHUNK_BYTES;
    uint32_t chunk = (uint32_t)(offset >> GPURT_CHUNK_SHIFT), first = chunk;
    uint32_t state = gpurt_load_relaxed_dev_u32(gpurt_slab_state(h, chunk)); /* a look */
    gpurt_watch_slot_t s;

    if (gpurt_state_is_slab(state))
        at %= gpurt_class_bytes(gpurt_state_class(state)); /* slots begin with the chunk */
    else if (state == GPURT_STATE_POOL)
        first = gpurt_large_first(h, chunk);
    if (first < chunk)
        at = offset - ((uint64_t)first << GPURT_CHUNK_SHIFT);
    s = gpurt_watch_slot_at(h, inside - at);
    *begin = s.begin;
    return s.record && (gpurt_load_relaxed_dev_u32(&s.record->xstate) &
                        GPURT_RECORD_STATE) == GPURT_RECORD_LIVE
               ? s.record
               : NULL;
}

/* A pointer that no live object has. */
GPURT_DEVN void gpurt_watch_bad_free(const gpurt_heap_t *h, char *object,
                                     gpurt_alloc_record_t *record, uint32_t here)
{
    uint32_t what =
        record ? (uint32_t)GPURT_WRONG_TWICE : gpurt_watch_judge(h, object, true);
    gpurt_heap_found_t f;
    char *begin = object;

    if (what == GPURT_WRONG_NONE) { /* of code that does not check */
        gpurt_core_free(h, object);
        return;
    }
    f = gpurt_watch_found(what, object, 0);
    if (what == GPURT_WRONG_INTERIOR)
        record = gpurt_watch_around(h, object, &begin);
    if (record)
        gpurt_watch_read(record, &f);
    if (record && what == GPURT_WRONG_INTERIOR) {
        begin += gpurt_load_relaxed_dev_u32(&record->xfront); /* relaxed: a look */
        f.object = (uint64_t)(uintptr_t)begin;
        f.at = object - begin;
        f.free_site = here;
        f.free_block = gpurt_block_rank();
        f.free_thread = gpurt_thread_rank();
    }
    gpurt_heap_bad_free(h, object, what);
    gpurt_watch_tell(h->watch, &f, here);
}

GPURT_DEVN void gpurt_watch_trace_free(const gpurt_heap_t *h, const void *object,
                                       uint32_t site)
{
    uint64_t offset = (uint64_t)((const char *)object - h->chunks);
    uint32_t words[GPURT_ALLOC_FREE_WORDS];

    words[0] = h->id;
    words[1] = offset >> GPURT_CHUNK_SHIFT < h->chunk_count ? (uint32_t)(offset / 16)
                                                            : GPURT_HEAP_ALIEN;
    gpurt_tell(h->watch, site, GPURT_ALLOC_FORM_FREE, words, GPURT_ALLOC_FREE_WORDS);
}

/* The object of a record that this lane has just made its own. keepers: lanes that keep
 * theirs back. */
GPURT_DEVN void gpurt_watch_take_back(const gpurt_heap_t *h, char *begin, uint32_t keepers,
                                      uint32_t here)
{
    gpurt_heap_watch_t *w = h->watch;
    gpurt_watch_slot_t s = gpurt_watch_slot_at(h, begin);
    uint32_t site = gpurt_load_relaxed_dev_u32(&s.record->xsites); /* relaxed: ours */
    uint32_t thread = gpurt_load_relaxed_dev_u32(&s.record->xthreads);

    gpurt_store_relaxed_dev_u32(&s.record->xsites, (site & 0xffffu) | here << 16);
    gpurt_store_relaxed_dev_u32(&s.record->xthreads,
                                (thread & 0xffffu) | gpurt_thread_rank() << 16);
    gpurt_store_relaxed_dev_u32(&s.record->xfree_block, gpurt_block_rank());
    gpurt_watch_guards(w, &s, here);
    if (keepers >> gpurt_lane() & 1u)
        gpurt_watch_keep(h, &s, keepers, here);
    else
        gpurt_core_free(h, begin);
}

/* Whether an object of so many bytes is kept back after its free. */
GPURT_DEV bool gpurt_watch_keeps(const gpurt_heap_watch_t *w, gpurt_alloc_record_t *r)
{
#    if GPURT_HEAP_CHECKS >= 2
    /* relaxed: it came with the pointer */
    return w->level == GPURT_CHECKS_FULL &&
           gpurt_load_relaxed_dev_u64(&r->xsize) <= w->keep_bytes / 2;
#    else
    (void)w;
    (void)r;
    return false;
#    endif
}

/* Whether an object whose record is of an earlier one was handed out by code that does not
 * check. Or another lane has just freed it, and the heap does not know yet: it soon will. Or its
 * slot's chunk has been to the pool since, and the slot is in a run. */
GPURT_DEVN bool gpurt_watch_is_alien(const gpurt_heap_t *h, char *object)
{
    for (uint32_t looks = 0; looks < GPURT_WATCH_LOOKS; looks++) {
        if (gpurt_watch_judge(h, object, looks == 0) != GPURT_WRONG_NONE)
            return false;
        gpurt_pause(); /* likewise: who frees may have half of its work before it */
    }
    return true;
}

/* Context: h->watch is not NULL. */
GPURT_DEVN void gpurt_watch_free(const gpurt_heap_t *h, void *object, const char *here)
{
    gpurt_heap_watch_t *w = h->watch;
    gpurt_alloc_record_t *r = NULL;
    uint32_t site, half, live = 0, lanes;
    bool keep = false, mine = false;
    char *begin = NULL;

    if (!object)
        return;
    site = gpurt_watch_site(w, here);
    if (w->trace)
        gpurt_watch_trace_free(h, object, site);
    if (w->level <= GPURT_CHECKS_OFF) {
        gpurt_core_free(h, object);
        return;
    }
    lanes = gpurt_activemask();
    r = gpurt_watch_record(h, (const char *)object, &begin);
    if (r) {
        half = gpurt_watch_half((uint64_t)(begin - h->chunks));
        live = GPURT_RECORD_LIVE | half;
        keep = gpurt_watch_keeps(w, r);
        /* relaxed: of all that free an object, one */
        mine = gpurt_cas_relaxed_far_u32(
            &r->xstate, &live, half | (keep ? GPURT_RECORD_KEPT : GPURT_RECORD_FREE));
    }
    lanes = gpurt_ballot(lanes, mine && keep);
    if (mine) {
        gpurt_watch_take_back(h, begin, lanes, site);
        return;
    }
    if (!r) {
        gpurt_watch_bad_free(h, (char *)object, NULL, site);
        return;
    }
    if ((live & GPURT_RECORD_STATE) == GPURT_RECORD_FREE &&
        gpurt_watch_is_alien(h, (char *)object))
        r = NULL;
    gpurt_watch_bad_free(h, (char *)object, r, site);
}

/* ---- move ---------------------------------------------------------------------------- */
/* An object goes to another slot of its class (gc_kernels.c). Context: nobody else works in the
 * heap; h->watch is not NULL. */

/* Where the slot of a live object begins; NULL: it is of code that does not check. */
GPURT_DEVN char *gpurt_watch_begin(const gpurt_heap_t *h, const char *object)
{
    char *begin = NULL;
    gpurt_alloc_record_t *r =
        h->watch->records ? gpurt_watch_record(h, object, &begin) : NULL;

    /* relaxed: nobody else is here */
    return r && (gpurt_load_relaxed_dev_u32(&r->xstate) & GPURT_RECORD_STATE) ==
                       GPURT_RECORD_LIVE
               ? begin
               : NULL;
}

/* The record and the guards of a live object go from its slot to another one. */
GPURT_DEVN void gpurt_watch_carry(const gpurt_heap_t *h, char *from, char *to,
                                  uint32_t here)
{
    gpurt_watch_slot_t old = gpurt_watch_slot_at(h, from), s = gpurt_watch_slot_at(h, to);
    /* relaxed, all: nobody else is here */
    uint64_t size = gpurt_load_relaxed_dev_u64(&old.record->xsize);
    uint32_t front = gpurt_load_relaxed_dev_u32(&old.record->xfront);
    uint32_t site = gpurt_load_relaxed_dev_u32(&old.record->xsites) & 0xffffu;

    gpurt_watch_guards(h->watch, &old, here);
    *s.record = *old.record;
    gpurt_store_relaxed_dev_u32(&s.record->xstate,
                                GPURT_RECORD_LIVE |
                                    gpurt_watch_half((uint64_t)(to - h->chunks)));
    gpurt_watch_guard(to, s.bytes, front, size);
    gpurt_store_relaxed_dev_u32(&old.record->xsites, site | here << 16);
    gpurt_store_relaxed_dev_u32(&old.record->xstate,
                                GPURT_RECORD_FREE |
                                    gpurt_watch_half((uint64_t)(from - h->chunks)));
}

/* What lay at `from` lies at `to` now. begin: as gpurt_watch_begin says, of `from`. */
GPURT_DEVN void gpurt_watch_moved(const gpurt_heap_t *h, char *begin, const char *from,
                                  char *to, size_t size, const char *here)
{
    uint32_t site = gpurt_watch_site(h->watch, here);

    if (h->watch->trace)
        gpurt_watch_trace_free(h, from, site);
    if (begin)
        gpurt_watch_carry(h, begin, to - (from - begin), site);
    if (h->watch->trace)
        gpurt_watch_trace_alloc(h, to, size, 16, site);
}

#endif
