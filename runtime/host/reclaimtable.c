/* SPDX-License-Identifier: Apache-2.0 */
#include "reclaimtable.h"

#include "heapmap.h"
#include "life.h"
#include "reclaimview.h"
#include "refuse.h"

#include <errno.h>
#include <gpurt/reclaim.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    TABLE_ALIGN = 128
};

/* As in heaptable.h: a call takes a table and drops it; a destroy retires it, and its memory
 * goes with whoever drops it last. */
typedef struct entry {
    void *memory; /* NULL: free */
    gpurt_t *rt;  /* of one that is retired: the destroyer's */
    uint32_t id;
    uint32_t users;
    bool live; /* it can be taken */
} entry_t;

static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;
static entry_t entries[GPURT_RECLAIM_TABLES]; /* under entries_lock */

static uint32_t entry_add(gpurt_t *rt, void *memory)
{
    uint32_t i = 0, id = 0;

    pthread_mutex_lock(&entries_lock);
    while (i < GPURT_RECLAIM_TABLES && entries[i].memory)
        i++;
    if (i < GPURT_RECLAIM_TABLES) {
        id =
            entries[i].id ? entries[i].id + GPURT_RECLAIM_TABLES : GPURT_RECLAIM_TABLES + i;
        entries[i] = (entry_t){.memory = memory, .rt = rt, .id = id, .live = true};
    }
    pthread_mutex_unlock(&entries_lock);
    return id;
}

static entry_t *entry_of(uint32_t id)
{
    return &entries[id % GPURT_RECLAIM_TABLES];
}

/* Context: under entries_lock. */
static bool entry_is(const entry_t *e, uint32_t id, const void *memory)
{
    return memory && e->live && e->memory == memory && e->id == id;
}

static gpurt_status_t table_gone(const char *what, gpurt_error_t *err)
{
    return REFUSE(err, GPURT_E_HANDLE,
                  "%s: the table was destroyed, or never made: create another", what);
}

gpurt_status_t gpurt_table_take(const char *what, uint32_t id, const void *memory,
                                gpurt_error_t *err)
{
    entry_t *e = entry_of(id);
    bool is;

    pthread_mutex_lock(&entries_lock);
    is = entry_is(e, id, memory);
    e->users += is;
    pthread_mutex_unlock(&entries_lock);
    return is ? GPURT_OK : table_gone(what, err);
}

/* Where the memory cannot be freed the table is there again. Context: it is retired, and
 * nobody uses it. */
static gpurt_status_t entry_end(entry_t *e)
{
    gpurt_status_t st = gpurt_mem_destroy(e->rt, e->memory);

    pthread_mutex_lock(&entries_lock);
    if (st == GPURT_OK)
        e->memory = NULL;
    else
        e->live = true;
    pthread_mutex_unlock(&entries_lock);
    return st;
}

gpurt_status_t gpurt_table_drop(uint32_t id)
{
    entry_t *e = entry_of(id);
    bool last;

    pthread_mutex_lock(&entries_lock);
    last = --e->users == 0 && !e->live;
    pthread_mutex_unlock(&entries_lock);
    return last ? entry_end(e) : GPURT_OK;
}

gpurt_status_t gpurt_table_take_both(gpurt_t *rt, const char *what, uint32_t id,
                                     const void *memory, const gpurt_heap_t *heap,
                                     gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_table_take(what, id, memory, err);

    if (st != GPURT_OK)
        return st;
    st = gpurt_heap_take(rt, heap, err);
    if (st != GPURT_OK)
        gpurt_table_drop(id);
    return st;
}

void gpurt_table_drop_both(uint32_t id, const gpurt_heap_t *heap)
{
    gpurt_heap_drop(heap);
    gpurt_table_drop(id);
}

gpurt_status_t gpurt_table_create(gpurt_t *rt, const char *what, size_t bytes,
                                  void **memory, uint32_t *id, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_mem_create(rt, bytes, memory, err);

    if (st == GPURT_OK)
        st = gpurt_fill(rt, GPURT_STREAM_DEFAULT, *memory, 0, bytes, err);
    if (st == GPURT_OK) {
        *id = entry_add(rt, *memory);
        if (!*id)
            st = REFUSE(err, GPURT_E_NOMEM, "%s: %d tables exist, more cannot be", what,
                        GPURT_RECLAIM_TABLES);
    }
    if (st == GPURT_OK)
        return st;
    gpurt_mem_destroy(rt, *memory);
    *memory = NULL;
    return st;
}

/* Takes it, for one of several callers, and lets nobody else do so any more. */
static gpurt_status_t entry_retire(gpurt_t *rt, const char *what, uint32_t id,
                                   const void *memory, gpurt_error_t *err)
{
    const gpurt_opened_t *opened;
    gpurt_status_t st = gpurt_life_enter(rt, &opened, err);
    entry_t *e = entry_of(id);
    bool is, own = false;

    if (st != GPURT_OK)
        return st;
    pthread_mutex_lock(&entries_lock);
    is = entry_is(e, id, memory);
    own = is && gpurt_life_index(e->rt) == gpurt_life_index(rt);
    if (own) {
        e->users++;
        e->live = false;
        e->rt = rt;
    }
    pthread_mutex_unlock(&entries_lock);
    gpurt_life_leave(opened, GPURT_OK);
    if (!is)
        return table_gone(what, err);
    return own ? GPURT_OK
               : REFUSE(err, GPURT_E_HANDLE,
                        "%s: the table is of another device that is open: use it with the "
                        "pointer that created it",
                        what);
}

gpurt_status_t gpurt_table_destroy(gpurt_t *rt, const char *what, uint32_t id, void *memory,
                                   gpurt_error_t *err)
{
    gpurt_status_t st = entry_retire(rt, what, id, memory, err);

    if (st != GPURT_OK)
        return st;
    gpurt_reclaimview_end(rt, id);
    st = gpurt_table_drop(id);
    return st == GPURT_OK ? st : REFUSE(err, st, "%s: its memory could not be freed", what);
}

void *gpurt_table_part(void *memory, size_t *at, size_t bytes)
{
    void *begin = (void *)((uintptr_t)memory + *at);

    *at += (bytes + TABLE_ALIGN - 1) / TABLE_ALIGN * TABLE_ALIGN;
    return begin;
}

void *gpurt_table_room(size_t bytes)
{
    return aligned_alloc(TABLE_ALIGN,
                         (bytes + TABLE_ALIGN - 1) / TABLE_ALIGN * TABLE_ALIGN);
}

gpurt_status_t gpurt_table_read(gpurt_t *rt, void *to, const void *from, size_t bytes,
                                gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, to, from, bytes, err);

    return st == GPURT_OK ? gpurt_stream_sync(rt, GPURT_STREAM_DEFAULT, err) : st;
}

gpurt_status_t gpurt_table_write(gpurt_t *rt, void *to, const void *from, size_t bytes,
                                 gpurt_error_t *err)
{
    return gpurt_table_read(rt, to, from, bytes, err);
}

void gpurt_table_options(void *out, size_t size, const void *in)
{
    uint32_t given = 0;

    memset(out, 0, size);
    if (!in)
        return;
    memcpy(&given, in, sizeof given); /* struct_size comes first */
    memcpy(out, in, given && given < size ? given : size);
}

/* ---- sets of free numbers ------------------------------------------------------------ */

size_t gpurt_slotset_shape(gpurt_slotset_t *set, uint32_t count)
{
    gpurt_heap_t *t = &set->tree;

    memset(set, 0, sizeof *set);
    set->count = count;
    t->leaf_words = (count + 63) / 64;
    t->branch_words = (t->leaf_words + 63) / 64;
    t->root_words = (t->branch_words + 63) / 64;
    t->tree_words = t->leaf_words + t->branch_words + t->root_words;
    return t->tree_words;
}

static uint64_t *ones(uint64_t *words, uint32_t bits)
{
    uint32_t count = (bits + 63) / 64;

    for (uint32_t i = 0; i < count; i++)
        words[i] = bits - i * 64 >= 64 ? ~0ull : (1ull << (bits - i * 64)) - 1;
    return words + count;
}

gpurt_status_t gpurt_slotset_fill(gpurt_t *rt, const gpurt_slotset_t *set,
                                  gpurt_error_t *err)
{
    uint64_t *words = (uint64_t *)calloc(set->tree.tree_words, sizeof *words), *at;
    gpurt_status_t st;

    if (!words)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "%u free numbers",
                          set->count);
    at = ones(words, set->count);
    at = ones(at, set->tree.leaf_words);
    ones(at, set->tree.branch_words);
    st = gpurt_table_write(rt, set->tree.trees, words, set->tree.tree_words * sizeof *words,
                           err);
    free(words);
    return st;
}
