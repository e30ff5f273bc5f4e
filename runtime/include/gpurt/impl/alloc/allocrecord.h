/* SPDX-License-Identifier: Apache-2.0 */
/* allocrecord.h - what a heap that checks knows of each object: the line that asked for it,
 * its record, the guards around it, and what they say is wrong.
 *
 * Context: device code, any lanes. For alloccheck.h only. */
#ifndef GPURT_ALLOCRECORD_H
#define GPURT_ALLOCRECORD_H

#include <gpurt/impl/alloc/alloccore.h>
#include <gpurt/impl/alloc/alloctell.h>

enum {
    GPURT_WATCH_PROBES = 32
};

/* Word by word: the host may look meanwhile. relaxed: it reads a name, or the half of one. */
GPURT_DEVN void gpurt_watch_name(gpurt_alloc_site_t *site, const char *from, uint32_t bytes)
{
    uint32_t *words = (uint32_t *)(void *)site->text;

    for (uint32_t i = 0; i < bytes; i += 4) {
        uint32_t word = 0;

        for (uint32_t k = 0; k < 4 && i + k < bytes; k++)
            word |= (uint32_t)(uint8_t)from[i + k] << 8 * k;
        gpurt_store_relaxed_dev_u32(words + i / 4, word);
    }
}

/* The row of a place in the source; 0: unknown, or no row is left for it. */
GPURT_DEVN uint32_t gpurt_watch_site(gpurt_heap_watch_t *w, const char *here)
{
    uint64_t key = (uint64_t)(uintptr_t)here;
    uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 48);

    for (uint32_t i = 0; here && i < GPURT_WATCH_PROBES; i++) {
        uint32_t row = 1 + (at + i) % (GPURT_WATCH_SITES - 1), bytes = 0, from;
        gpurt_alloc_site_t *site = w->sites + row;
        uint64_t found = gpurt_load_relaxed_dev_u64(&site->xkey); /* relaxed: a name */

        if (found == key)
            return row;
        if (found || !gpurt_cas_relaxed_far_u64(&site->xkey, &found, key)) {
            if (found == key)
                return row;
            continue;
        }
        while (here[bytes])
            bytes++;
        from = bytes < GPURT_WATCH_SITE_TEXT ? 0 : bytes - GPURT_WATCH_SITE_TEXT;
        gpurt_watch_name(site, here + from, bytes - from);
        /* relaxed: the host reads it; in the midst of a kernel it may miss some */
        gpurt_store_relaxed_dev_u32(&site->xbytes, bytes - from);
        return row;
    }
    return 0;
}

/* ---- slots and their records --------------------------------------------------------- */

/* A slot of a heap that checks. */
typedef struct gpurt_watch_slot {
    char *begin;
    gpurt_alloc_record_t *record; /* NULL: the slot has none */
    uint64_t bytes;               /* 0: no slot begins there */
} gpurt_watch_slot_t;

GPURT_DEV uint32_t gpurt_watch_half(uint64_t offset)
{
    return offset & (GPURT_WATCH_GRANULE / 2) ? GPURT_RECORD_HALF : 0;
}

/* The slot that begins there, by the tables of the heap. */
GPURT_DEVN gpurt_watch_slot_t gpurt_watch_slot_at(const gpurt_heap_t *h, char *begin)
{
    uint64_t offset = (uint64_t)(begin - h->chunks);
    uint32_t chunk = (uint32_t)(offset >> GPURT_CHUNK_SHIFT);
    uint32_t at = (uint32_t)offset % GPURT_CHUNK_BYTES, state;
    gpurt_watch_slot_t s = {begin, NULL, 0};

    if (offset >> GPURT_CHUNK_SHIFT >= h->chunk_count)
        return s;
    s.record = h->watch->records + offset / GPURT_WATCH_GRANULE;
    /* relaxed: fixed as long as the object lives */
    state = gpurt_load_relaxed_dev_u32(gpurt_slab_state(h, chunk));
    if (gpurt_state_is_slab(state)) {
        uint32_t c = gpurt_state_class(state), bytes = gpurt_class_bytes(c);
        uint64_t shape = gpurt_class_shape(c);
        uint32_t slot = gpurt_shape_slot(shape, gpurt_class_shift(c), at);

        if (slot * bytes == at && slot < gpurt_shape_slots(shape))
            s.bytes = bytes;
    } else if ((state & GPURT_STATE_KIND) == GPURT_STATE_LARGE && at == 0) {
        s.bytes = (uint64_t)gpurt_state_chunks(state) << GPURT_CHUNK_SHIFT;
    }
    if (s.bytes < GPURT_WATCH_GRANULE)
        s.record = NULL; /* of code that does not check: smaller than a granule */
    return s;
}

/* The record of an object that was handed out there, in whatever state; NULL: none was. Looks
 * at each begin that its slot can have. Of an earlier use of the memory, when it was cut into
 * other slots, a record may be left that fits, too: one in use counts before it. */
GPURT_DEVN gpurt_alloc_record_t *gpurt_watch_record(const gpurt_heap_t *h,
                                                    const char *object, char **begin)
{
    uint64_t offset = (uint64_t)(object - h->chunks);
    gpurt_alloc_record_t *freed = NULL;

    if (offset >> GPURT_CHUNK_SHIFT >= h->chunk_count || offset % 16)
        return NULL;
    for (uint64_t front = 0; front <= GPURT_CHUNK_BYTES && front <= offset;
         front = front ? 2 * front : 16) {
        uint64_t at = offset - front;
        gpurt_alloc_record_t *r = h->watch->records + at / GPURT_WATCH_GRANULE;
        /* relaxed: it came to us with the pointer */
        uint32_t state = gpurt_load_relaxed_dev_u32(&r->xstate);

        if ((state & GPURT_RECORD_STATE) == GPURT_RECORD_NONE ||
            (state & GPURT_RECORD_HALF) != gpurt_watch_half(at) ||
            gpurt_load_relaxed_dev_u32(&r->xfront) != front)
            continue;
        if ((state & GPURT_RECORD_STATE) == GPURT_RECORD_FREE && freed)
            continue;
        *begin = h->chunks + at;
        if ((state & GPURT_RECORD_STATE) != GPURT_RECORD_FREE)
            return r;
        freed = r;
    }
    return freed;
}

/* ---- what is wrong ------------------------------------------------------------------- */

GPURT_DEV gpurt_heap_found_t gpurt_watch_found(uint32_t what, const void *object,
                                               int64_t at)
{
    gpurt_heap_found_t f;

    f.xready = 0;
    f.what = what;
    f.object = (uint64_t)(uintptr_t)object;
    f.size = 0;
    f.at = at;
    f.site = f.free_site = f.found_site = 0;
    f.block = f.thread = f.free_block = f.free_thread = f.found_block = f.found_thread = 0;
    f.reserved = 0;
    return f;
}

/* All that the record says. relaxed: each word is whole; after a free that was one too many
 * they may be of two moments. */
GPURT_DEV void gpurt_watch_read(gpurt_alloc_record_t *r, gpurt_heap_found_t *f)
{
    uint32_t sites = gpurt_load_relaxed_dev_u32(&r->xsites);
    uint32_t threads = gpurt_load_relaxed_dev_u32(&r->xthreads);

    f->size = gpurt_load_relaxed_dev_u64(&r->xsize);
    f->site = sites & 0xffffu;
    f->free_site = sites >> 16;
    f->thread = threads & 0xffffu;
    f->free_thread = threads >> 16;
    f->block = gpurt_load_relaxed_dev_u32(&r->xblock);
    f->free_block = gpurt_load_relaxed_dev_u32(&r->xfree_block);
}

/* Keeps what was found for the host, and tells the log. */
GPURT_DEVN void gpurt_watch_tell(gpurt_heap_watch_t *w, gpurt_heap_found_t *f,
                                 uint32_t here)
{
    bool at_free = f->what <= GPURT_WRONG_TWICE;
    uint64_t row = gpurt_add_relaxed_far_u64(&w->xrows, 1); /* relaxed: a ticket */

    f->found_site = here;
    f->found_block = gpurt_block_rank();
    f->found_thread = gpurt_thread_rank();
    f->xready = 1;
    gpurt_red_add_relaxed_dev_u64(&w->xfound[f->what], 1); /* relaxed: a statistic */
    if (row < GPURT_WATCH_FAULTS)
        w->found[row] = *f;
    gpurt_tell_found(w, f, at_free ? here : f->site);
}

/* Writes the guards of an object in a slot of so many bytes. */
GPURT_DEVN void gpurt_watch_guard(char *begin, uint64_t bytes, uint64_t front,
                                  uint64_t size)
{
    uint64_t address = (uint64_t)(uintptr_t)begin, at = address + front + size;
    uint64_t low = front > GPURT_GUARD_BEFORE ? front - GPURT_GUARD_BEFORE : 0;
    uint64_t end = gpurt_guard_end(front ? GPURT_CHECKS_FULL : GPURT_CHECKS_CHEAP, at,
                                   address + bytes);

    for (uint64_t i = low; i < front; i += 8)
        *(uint64_t *)(void *)(begin + i) = gpurt_guard_word(address + i);
    for (; at & 7u; at++)
        begin[at - address] = (char)(gpurt_guard_word(at) >> 8 * (at & 7u));
    for (; at < end; at += 8)
        *(uint64_t *)(void *)(begin + (at - address)) = gpurt_guard_word(at);
}

/* Looks at the guards of an object whose record is not in use any more. What is found is told
 * once: they are made good. */
GPURT_DEVN void gpurt_watch_guards(gpurt_heap_watch_t *w, const gpurt_watch_slot_t *s,
                                   uint32_t here)
{
    uint64_t begin = (uint64_t)(uintptr_t)s->begin;
    uint64_t front = gpurt_load_relaxed_dev_u32(&s->record->xfront); /* relaxed: ours */
    uint64_t size = gpurt_load_relaxed_dev_u64(&s->record->xsize);
    uint64_t low = front > GPURT_GUARD_BEFORE ? front - GPURT_GUARD_BEFORE : 0, at;
    uint64_t end = gpurt_guard_end(front ? GPURT_CHECKS_FULL : GPURT_CHECKS_CHEAP,
                                   begin + front + size, begin + s->bytes) -
                   begin;
    uint32_t what = GPURT_WRONG_UNDERRUN;
    gpurt_heap_found_t f;

    at = gpurt_guard_damage(s->begin, begin, low, front);
    if (at == front) {
        what = GPURT_WRONG_OVERRUN;
        at = gpurt_guard_damage(s->begin, begin, front + size, end);
        if (at == end)
            return;
    }
    f = gpurt_watch_found(what, s->begin + front, (int64_t)at - (int64_t)front);
    gpurt_watch_read(s->record, &f);
    gpurt_watch_tell(w, &f, here);
    gpurt_watch_guard(s->begin, s->bytes, front, size);
}

#endif
