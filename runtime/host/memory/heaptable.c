/* SPDX-License-Identifier: Apache-2.0 */
#include "heaptable.h"

#include "heapgrow.h"
#include "life.h"
#include "process.h"
#include "refuse.h"

typedef struct entry {
    gpurt_heap_t heap;
    gpurt_t *rt; /* NULL: free. Of one that is retired: the destroyer's */
    void *memory;
    gpurt_range_t *range; /* of its chunks, when it can grow */
    uint32_t generation;
    uint32_t parent; /* up to this generation heaps are from before a fork; 0: none is */
    uint32_t users;  /* calls that have taken it and not dropped it */
    bool live;       /* it can be taken */
} entry_t;

static gpurt_lock_t entries_lock = GPURT_LOCK_INIT;
static entry_t entries[GPURT_HEAPS]; /* under entries_lock */

static entry_t *entry_of(const gpurt_heap_t *heap)
{
    return &entries[heap->id % GPURT_HEAPS];
}

static bool is_live(const entry_t *e, const gpurt_heap_t *heap)
{
    return e->live && e->heap.id == heap->id && e->heap.chunks == heap->chunks;
}

/* ---- made ---------------------------------------------------------------------------- */

gpurt_status_t gpurt_heaptable_add(gpurt_t *rt, gpurt_heap_t *heap, void *memory,
                                   gpurt_range_t *range, gpurt_error_t *err)
{
    uint32_t i = 0;

    gpurt_lock_take(&entries_lock);
    while (i < GPURT_HEAPS && entries[i].rt)
        i++;
    if (i < GPURT_HEAPS) {
        uint32_t generation = entries[i].generation + 1;

        heap->id = generation * GPURT_HEAPS + i;
        entries[i] = (entry_t){.heap = *heap,
                               .rt = rt,
                               .memory = memory,
                               .range = range,
                               .generation = generation,
                               .parent = entries[i].parent};
    }
    gpurt_lock_give(&entries_lock);
    if (i < GPURT_HEAPS)
        return GPURT_OK;
    return REFUSE(err, GPURT_E_NOMEM, "%d heaps exist, more cannot be: destroy some",
                  GPURT_HEAPS);
}

void gpurt_heaptable_open(const gpurt_heap_t *heap)
{
    gpurt_lock_take(&entries_lock);
    entry_of(heap)->live = true;
    gpurt_lock_give(&entries_lock);
}

void gpurt_heaptable_remove(const gpurt_heap_t *heap)
{
    gpurt_lock_take(&entries_lock);
    entry_of(heap)->rt = NULL;
    gpurt_lock_give(&entries_lock);
}

void gpurt_heaptable_forked(void)
{
    for (uint32_t i = 0; i < GPURT_HEAPS; i++) {
        entries[i].rt = NULL;
        entries[i].live = false;
        entries[i].users = 0;
        entries[i].parent = entries[i].generation;
    }
}

/* ---- used ---------------------------------------------------------------------------- */

typedef enum how {
    KNOW,
    TAKE,
    RETIRE
} how_t;

static bool belongs(const entry_t *e, const gpurt_t *rt)
{
    return gpurt_life_index(e->rt) == gpurt_life_index(rt);
}

static gpurt_status_t gone(const gpurt_heap_t *heap, gpurt_error_t *err)
{
    uint32_t parent;

    gpurt_lock_take(&entries_lock);
    parent = entry_of(heap)->parent;
    gpurt_lock_give(&entries_lock);
    if (heap->id / GPURT_HEAPS && heap->id / GPURT_HEAPS <= parent)
        return REFUSE(err, GPURT_E_FORKED,
                      "the heap was made before this process was forked and is its "
                      "parent's: create another");
    return REFUSE(err, GPURT_E_HANDLE,
                  "the heap was destroyed, or never made: create another");
}

static void entry_use(entry_t *e, gpurt_t *rt, how_t how)
{
    e->users += how != KNOW;
    if (how == RETIRE) {
        e->live = false;
        e->rt = rt;
    }
}

static gpurt_status_t entry_get(gpurt_t *rt, const gpurt_heap_t *heap, how_t how,
                                gpurt_error_t *err)
{
    const gpurt_opened_t *opened;
    const gpurt_t *of = NULL;
    bool live, own = false;
    gpurt_status_t st;
    entry_t *e;

    if (!heap)
        return REFUSE(err, GPURT_E_INVALID,
                      "heap is NULL: pass what gpurt_heap_create gave");
    st = gpurt_life_enter(rt, &opened, err);
    if (st != GPURT_OK)
        return st;
    gpurt_lock_take(&entries_lock);
    e = entry_of(heap);
    live = is_live(e, heap);
    if (live)
        of = e->rt, own = belongs(e, rt);
    if (own)
        entry_use(e, rt, how);
    gpurt_lock_give(&entries_lock);
    gpurt_life_leave(opened, GPURT_OK);
    if (!live)
        return gone(heap, err);
    if (!own && gpurt_life_check(of, NULL) != GPURT_OK)
        return REFUSE(err, GPURT_E_CLOSED,
                      "the heap is of a device that was closed: gpurt_open it again, use "
                      "the new pointer");
    if (!own)
        return REFUSE(err, GPURT_E_HANDLE,
                      "the heap is of another device that is open: use it with the pointer "
                      "that created it");
    return GPURT_OK;
}

gpurt_status_t gpurt_heap_known(gpurt_t *rt, const gpurt_heap_t *heap, gpurt_error_t *err)
{
    return entry_get(rt, heap, KNOW, err);
}

gpurt_status_t gpurt_heap_take(gpurt_t *rt, const gpurt_heap_t *heap, gpurt_error_t *err)
{
    return entry_get(rt, heap, TAKE, err);
}

gpurt_status_t gpurt_heaptable_retire(gpurt_t *rt, const gpurt_heap_t *heap,
                                      gpurt_error_t *err)
{
    return entry_get(rt, heap, RETIRE, err);
}

bool gpurt_heap_take_nth(uint32_t i, const gpurt_t *rt, gpurt_heap_t *out)
{
    entry_t *e = &entries[i];
    bool is;

    gpurt_lock_take(&entries_lock);
    is = e->live && e->rt == rt;
    if (is) {
        e->users++;
        *out = e->heap;
    }
    gpurt_lock_give(&entries_lock);
    return is;
}

bool gpurt_heap_find(const void *memory, gpurt_heap_t *out)
{
    bool found = false;

    gpurt_lock_take(&entries_lock);
    for (uint32_t i = 0; i < GPURT_HEAPS && !found; i++) {
        const entry_t *e = &entries[i];
        uint64_t offset = (uint64_t)(uintptr_t)memory - (uint64_t)(uintptr_t)e->heap.chunks;

        found = e->live && offset >> GPURT_CHUNK_SHIFT < e->heap.chunk_count;
        if (found)
            *out = e->heap;
    }
    gpurt_lock_give(&entries_lock);
    return found;
}

gpurt_range_t *gpurt_heaptable_range(const gpurt_heap_t *heap)
{
    gpurt_range_t *range;

    gpurt_lock_take(&entries_lock);
    range = entry_of(heap)->range;
    gpurt_lock_give(&entries_lock);
    return range;
}

/* ---- ended --------------------------------------------------------------------------- */

/* Its memory goes. Where that fails it is there again and can be destroyed again: nothing was
 * given back. Context: it is retired, and nobody uses it. */
static gpurt_status_t entry_end(entry_t *e)
{
    gpurt_status_t st = gpurt_mem_destroy(e->rt, e->memory), other = GPURT_OK;

    if (st == GPURT_OK)
        other = gpurt_heapgrow_destroy(e->rt, e->range);
    gpurt_lock_take(&entries_lock);
    if (st == GPURT_OK)
        e->rt = NULL;
    else
        e->live = true;
    gpurt_lock_give(&entries_lock);
    return st == GPURT_OK ? other : st;
}

gpurt_status_t gpurt_heap_drop(const gpurt_heap_t *heap)
{
    entry_t *e = entry_of(heap);
    bool last;

    gpurt_lock_take(&entries_lock);
    last = --e->users == 0 && !e->live;
    gpurt_lock_give(&entries_lock);
    return last ? entry_end(e) : GPURT_OK;
}
