/* SPDX-License-Identifier: Apache-2.0 */
#include "reclaimtable.h"

#include "heapmap.h"
#include "idtable.h"
#include "ownwait.h"
#include "reclaimview.h"
#include "refuse.h"

#include <errno.h>
#include <gpurt/reclaim.h>
#include <stdlib.h>
#include <string.h>

enum {
    TABLE_ALIGN = 128
};

static gpurt_id_entry_t entries[GPURT_RECLAIM_TABLES];
static gpurt_idtable_t tables = {.lock = GPURT_LOCK_INIT,
                                 .what = "table",
                                 .entries = entries,
                                 .count = GPURT_RECLAIM_TABLES,
                                 .last = GPURT_RECLAIM_TABLES - 1};

gpurt_status_t gpurt_table_take(const char *what, uint32_t id, const void *memory,
                                gpurt_error_t *err)
{
    return gpurt_id_take(&tables, what, id, memory, err);
}

gpurt_status_t gpurt_table_drop(uint32_t id)
{
    return gpurt_id_drop(&tables, id);
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
        *id = gpurt_id_add(&tables, rt, *memory, *memory);
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

gpurt_status_t gpurt_table_destroy(gpurt_t *rt, const char *what, uint32_t id, void *memory,
                                   gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_id_retire(&tables, what, rt, id, memory, err);

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

    return st == GPURT_OK ? gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err) : st;
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
