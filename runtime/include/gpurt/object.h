/* SPDX-License-Identifier: Apache-2.0 */
/* object.h - objects that nobody frees: a collector finds out which are out of reach.
 *
 *     gpurt_section_t in = gpurt_gc_enter(&p->gc, lanes);
 *     gpurt_object_t o = gpurt_object_alloc(&p->gc, in, TYPE_NODE, sizeof(struct node), &why);
 *     struct node *n = (struct node *)gpurt_object_get(&p->gc, o);      words, zeroed
 *     gpurt_gc_write(&p->gc, in, o, WORD_NEXT, other);                  handles
 *     gpurt_gc_root_write(&p->gc, in, 0, o);
 *     gpurt_gc_leave(&p->gc, in, lanes);
 *
 * An object is named by a handle, and a handle lives in a word that the object's type says
 * is one, or in a root. Those words are read by gpurt_gc_read and written by gpurt_gc_write
 * alone; all others are the program's. Work with objects is done in sections: an object
 * that a section has met or made, and the address that gpurt_object_get gave, stay until
 * the section ends, whatever the collector does meanwhile. A handle that is kept longer,
 * elsewhere than in an object or a root, does not keep its object: it is recognised when
 * that is gone (GPURT_GC_DEAD). The host makes the collector and lets it run (gc.h), beside
 * kernels that work. Sections should be short: a collection waits for those that are open.
 * Answers are gpurt_gc_answer_t. Context: device code; enter and leave: all lanes of the
 * mask; all else: any lanes, in a section. Lock-free. */
#ifndef GPURT_OBJECT_H
#define GPURT_OBJECT_H

#include <gpurt/alloc.h>
#include <gpurt/epoch.h>
#include <gpurt/impl/gcmap.h>
#include <gpurt/impl/slotset.h>

GPURT_DEV uint32_t gpurt_gc_age(uint32_t meta)
{
    return meta >> 8 & 0xffu;
}
GPURT_DEV bool gpurt_gc_is_old(uint32_t meta)
{
    return gpurt_gc_age(meta) >= GPURT_GC_OLD_AGE;
}
/* Whether a mark is of an earlier cycle: cycles wrap. */
GPURT_DEV bool gpurt_gc_is_older(uint32_t mark, uint32_t cycle)
{
    return (int32_t)(mark - (cycle << 1)) < 0;
}

GPURT_DEV uint32_t gpurt_gc_refused(const gpurt_gc_t *gc, uint32_t answer)
{
    if (gc->control) /* relaxed: a statistic */
        gpurt_red_add_relaxed_dev_u64(&gc->control->xanswers[answer], 1);
    return answer;
}

/* ---- sections ------------------------------------------------------------------------ */

/* Returns: a section, whose slot is GPURT_SLOT_NONE when too many are open. */
GPURT_DEVN gpurt_section_t gpurt_gc_enter(const gpurt_gc_t *gc, uint32_t lanes)
{
    gpurt_section_t in;
    uint64_t control = 0;

    in.slot = gpurt_epoch_enter(&gc->sections, lanes);
    if (gpurt_is_leader(lanes)) /* after the fence in enter: who waits sees this section */
        control = gpurt_load_acquire_dev_u64(&gc->control->course.xcontrol); /* GC3.acq */
    gpurt_syncwarp(lanes);
    control = gpurt_shfl_u64(lanes, control, gpurt_leader(lanes));
    in.cycle = (uint32_t)(control >> 32);
    in.flags = (uint32_t)control;
    return in;
}

/* Once for each gpurt_gc_enter, as of gpurt_epoch_leave. A section that was left is none: what is
 * written in it is answered as before, and may be collected. */
GPURT_DEV void gpurt_gc_leave(const gpurt_gc_t *gc, gpurt_section_t in, uint32_t lanes)
{
    gpurt_epoch_leave(&gc->sections, in.slot, lanes);
}

/* ---- handles ------------------------------------------------------------------------- */

/* Returns: OK and the entry and address; or DEAD, FOREIGN. */
GPURT_DEV uint32_t gpurt_object_find(const gpurt_gc_t *gc, gpurt_object_t object,
                                     gpurt_gc_entry_t **entry, char **address)
{
    uint32_t index = (uint32_t)object;

    *address = NULL;
    if (!object || index >= gc->entry_count)
        return GPURT_GC_FOREIGN;
    *entry = gc->entries + index;
    *address =
        (char *)(uintptr_t)gpurt_load_acquire_dev_u64(&(*entry)->xaddress); /* GC5.acq */
    /* relaxed: a new object's address comes after its entry's new generation */
    if (*address && gpurt_load_relaxed_dev_u32(&(*entry)->xgeneration) == object >> 32)
        return GPURT_GC_OK;
    *address = NULL;
    return GPURT_GC_DEAD;
}

/* The object's memory, until the section ends; NULL when it is gone. */
GPURT_DEV void *gpurt_object_get(const gpurt_gc_t *gc, gpurt_object_t object)
{
    gpurt_gc_entry_t *entry;
    char *address;

    gpurt_object_find(gc, object, &entry, &address);
    return address;
}

/* Bytes, as they were asked for; 0 when it is gone. */
GPURT_DEV uint32_t gpurt_object_size(const gpurt_gc_t *gc, gpurt_object_t object)
{
    gpurt_gc_entry_t *entry;
    char *address;

    if (gpurt_object_find(gc, object, &entry, &address) != GPURT_GC_OK)
        return 0;
    return gpurt_load_relaxed_dev_u32(&entry->xsize); /* relaxed: GC5 ordered it */
}

GPURT_DEV bool gpurt_gc_is_handle(const gpurt_gc_type_t *type, uint32_t word)
{
    return word >= type->tail || (word < 64 && (type->handles >> word & 1u));
}

/* ---- marking ------------------------------------------------------------------------- */

/* The object will be kept and looked through. Nothing when it is marked already, or by a
 * later cycle than this one. */
GPURT_DEVN void gpurt_gc_shade(const gpurt_gc_t *gc, uint32_t cycle, uint32_t flags,
                               gpurt_object_t object)
{
    gpurt_gc_entry_t *e = gc->entries + (uint32_t)object;
    uint32_t mark, lanes, at = 0;

    if (!object || (uint32_t)object >= gc->entry_count)
        return;
    /* relaxed: who is old stays so until a cycle that is not minor */
    if ((flags & GPURT_GC_MINOR) && gpurt_gc_is_old(gpurt_load_relaxed_dev_u32(&e->xmeta)))
        return;
    mark = gpurt_load_relaxed_dev_u32(&e->xmark); /* relaxed: a look */
    do
        if (!gpurt_gc_is_older(mark, cycle))
            return;
    while (!gpurt_cas_release_dev_u32(&e->xmark, &mark, cycle << 1)); /* GC4.rel */
    lanes = gpurt_activemask();
    if (gpurt_is_leader(lanes)) /* relaxed, both: the mark is the truth, the queue a hint */
        at = gpurt_add_relaxed_dev_u32(&gc->control->xtail, gpurt_popc(lanes));
    at = gpurt_shfl_u32(lanes, at, gpurt_leader(lanes)) +
         gpurt_popc(lanes & gpurt_lanes_below());
    if (at < gc->entry_count)
        gpurt_store_relaxed_dev_u32(gc->queue + at, (uint32_t)object + 1);
}

/* ---- reading and writing handles ------------------------------------------------------ */

/* Puts a handle into a word, and tells the collector of what was there. */
GPURT_DEV void gpurt_gc_store(const gpurt_gc_t *gc, gpurt_section_t in, uint64_t *word,
                              gpurt_object_t value)
{
    if (in.flags & GPURT_GC_ACTIVE)
        gpurt_gc_shade(gc, in.cycle, in.flags,
                       gpurt_xchg_acq_rel_dev_u64(word, value)); /* GC1.rel GC1.acq */
    else
        gpurt_store_release_dev_u64(word, value); /* GC1.rel */
}

/* 0, or a live object of this collector. */
GPURT_DEV uint32_t gpurt_gc_check(const gpurt_gc_t *gc, gpurt_section_t in,
                                  gpurt_object_t value)
{
    gpurt_gc_entry_t *entry;
    char *address;

    if (in.slot == GPURT_SLOT_NONE)
        return GPURT_GC_NO_SECTION;
    return value ? gpurt_object_find(gc, value, &entry, &address) : (uint32_t)GPURT_GC_OK;
}

/* The write barrier: word `word` of an object becomes a handle. Order: release, for
 * gpurt_gc_read. Returns: OK, DEAD, FOREIGN, NO_SECTION, NOT_A_HANDLE; then nothing was
 * written. */
GPURT_DEVN uint32_t gpurt_gc_write(const gpurt_gc_t *gc, gpurt_section_t in,
                                   gpurt_object_t object, uint32_t word,
                                   gpurt_object_t value)
{
    uint32_t answer = gpurt_gc_check(gc, in, value), meta;
    gpurt_gc_entry_t *e;
    char *address;

    if (answer == GPURT_GC_OK)
        answer = gpurt_object_find(gc, object, &e, &address);
    if (answer != GPURT_GC_OK)
        return gpurt_gc_refused(gc, answer);
    meta = gpurt_load_relaxed_dev_u32(&e->xmeta); /* relaxed, both: GC5 ordered them */
    if (word >= gpurt_load_relaxed_dev_u32(&e->xsize) / 8 ||
        !gpurt_gc_is_handle(gc->types + (meta >> 16), word))
        return gpurt_gc_refused(gc, GPURT_GC_NOT_A_HANDLE);
    gpurt_gc_store(gc, in, (uint64_t *)address + word, value);
    /* Who becomes old meanwhile is dirty by that. */
    if (gpurt_gc_is_old(meta))
        gpurt_red_or_release_dev_u32(&e->xmeta, GPURT_GC_DIRTY); /* GC2.rel */
    return GPURT_GC_OK;
}

/* A handle out of a word; 0 when there is none, or the object is gone. Order: acquire. */
GPURT_DEV gpurt_object_t gpurt_gc_read(const gpurt_gc_t *gc, gpurt_object_t object,
                                       uint32_t word)
{
    gpurt_gc_entry_t *e;
    char *address;

    if (gpurt_object_find(gc, object, &e, &address) != GPURT_GC_OK ||
        word >= gpurt_load_relaxed_dev_u32(&e->xsize) / 8) /* relaxed: GC5 ordered it */
        return 0;
    return gpurt_load_acquire_dev_u64((uint64_t *)address + word); /* GC1.acq */
}

/* A root. Returns: as gpurt_gc_write. */
GPURT_DEV uint32_t gpurt_gc_root_write(const gpurt_gc_t *gc, gpurt_section_t in,
                                       uint32_t root, gpurt_object_t value)
{
    uint32_t answer = root < gc->root_count ? gpurt_gc_check(gc, in, value)
                                            : (uint32_t)GPURT_GC_NOT_A_HANDLE;

    if (answer != GPURT_GC_OK)
        return gpurt_gc_refused(gc, answer);
    gpurt_gc_store(gc, in, gc->roots + root, value);
    return answer;
}

GPURT_DEV gpurt_object_t gpurt_gc_root_read(const gpurt_gc_t *gc, uint32_t root)
{
    if (root >= gc->root_count)
        return 0;
    return gpurt_load_acquire_dev_u64(gc->roots + root); /* GC1.acq */
}

/* ---- allocate ------------------------------------------------------------------------- */

/* An entry for an object's memory. From here to the end nothing ends a lane. */
GPURT_DEV gpurt_object_t gpurt_object_enter(const gpurt_gc_t *gc, gpurt_section_t in,
                                            uint32_t type, uint32_t bytes, char *address)
{
    uint32_t index = gpurt_slotset_take(&gc->unused, gpurt_activemask());
    gpurt_gc_entry_t *e = gc->entries + index;
    /* Marked and looked through: whatever it is told from now on is kept anyway. Not so while
     * some open sections shade nothing yet: then it is as if it had been there before. */
    uint32_t born = in.flags & GPURT_GC_ARMING ? in.cycle - 1 : in.cycle, generation;

    if (index == GPURT_SLOT_NONE)
        return 0;
    generation =
        gpurt_load_relaxed_dev_u32(&e->xgeneration); /* relaxed, all: GC5 publishes */
    gpurt_store_relaxed_dev_u32(&e->xsize, bytes);
    gpurt_store_relaxed_dev_u32(&e->xmeta, type << 16);
    gpurt_store_relaxed_dev_u32(&e->xmark, born << 1 | 1);
    gpurt_store_release_dev_u64(&e->xaddress, (uint64_t)(uintptr_t)address); /* GC5.rel */
    gpurt_red_add_relaxed_dev_u64(&gc->control->xallocated, 1); /* relaxed: a statistic */
    return (uint64_t)generation << 32 | index;
}

/* What the heap is asked for. Objects are words, the last one too: in code that checks a guard
 * begins behind it; in other code the slot has room for it. */
GPURT_DEV size_t gpurt_object_room(size_t bytes)
{
#if GPURT_HEAP_CHECKS
    return (bytes + 7) & ~(size_t)7;
#else
    return bytes;
#endif
}

/* An object of a registered type, all zeros. It stays to the end of the section; to stay
 * longer its handle has to be written somewhere. Returns: 0 when there is none, and *answer
 * says why. */
GPURT_DEVN gpurt_object_t gpurt_object_alloc(const gpurt_gc_t *gc, gpurt_section_t in,
                                             uint32_t type, size_t bytes,
                                             uint32_t *answer GPURT_ASKED_BY)
{
    gpurt_object_t object;
    uint64_t *words;

    *answer = GPURT_GC_OK;
    if (in.slot == GPURT_SLOT_NONE)
        *answer = GPURT_GC_NO_SECTION;
    else if (type >= gc->type_count || bytes < gc->types[type].bytes || bytes >> 32)
        *answer = GPURT_GC_NO_TYPE;
    if (*answer != GPURT_GC_OK)
        return gpurt_gc_refused(gc, *answer), 0;
    words = (uint64_t *)gpurt_heap_alloc_aligned_at(&gc->heap, gpurt_object_room(bytes), 16,
                                                    GPURT_ASKER);
    if (!words) {
        *answer = gpurt_gc_refused(gc, GPURT_GC_NO_MEMORY);
        return 0;
    }
    for (size_t i = 0; i < (bytes + 7) / 8; i++)
        words[i] = 0;
    object = gpurt_object_enter(gc, in, type, (uint32_t)bytes, (char *)words);
    if (!object) {
        gpurt_heap_free_at(&gc->heap, words, GPURT_ASKER);
        *answer = gpurt_gc_refused(gc, GPURT_GC_NO_ENTRY);
    }
    return object;
}

/* here: as of gpurt_heap_alloc_at. */
GPURT_DEV gpurt_object_t gpurt_object_alloc_at(const gpurt_gc_t *gc, gpurt_section_t in,
                                               uint32_t type, size_t bytes,
                                               uint32_t *answer, const char *here)
{
    (void)here;
    return gpurt_object_alloc(gc, in, type, bytes, answer GPURT_ASKS);
}

#if GPURT_HEAP_CHECKS
#    define gpurt_object_alloc(gc, in, type, bytes, answer) \
        gpurt_object_alloc_at(gc, in, type, bytes, answer, GPURT_HERE)
#endif

#endif
