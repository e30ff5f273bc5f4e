/* SPDX-License-Identifier: Apache-2.0 */
/* reclaimtable.h - device memory of a table, and whether it still exists. */
#ifndef GPURT_HOST_RECLAIMTABLE_H
#define GPURT_HOST_RECLAIMTABLE_H

#include <gpurt/reclaim.h>

/* Memory of that size, zeros, under an id of its own. Context of all: host, any thread. */
gpurt_status_t gpurt_table_create(gpurt_t *rt, const char *what, size_t bytes,
                                  void **memory, uint32_t *id, gpurt_error_t *err);
/* If id still names that memory: it stays until the drop, whoever destroys it meanwhile. */
gpurt_status_t gpurt_table_take(const char *what, uint32_t id, const void *memory,
                                gpurt_error_t *err);
/* Returns: what became of its memory where that went with it, else GPURT_OK. */
gpurt_status_t gpurt_table_drop(uint32_t id);
/* Both, the table and the heap that it stands on, or neither. */
gpurt_status_t gpurt_table_take_both(gpurt_t *rt, const char *what, uint32_t id,
                                     const void *memory, const gpurt_heap_t *heap,
                                     gpurt_error_t *err);
void gpurt_table_drop_both(uint32_t id, const gpurt_heap_t *heap);
/* Returns: anything but GPURT_OK, and the table is still there. */
gpurt_status_t gpurt_table_destroy(gpurt_t *rt, const char *what, uint32_t id, void *memory,
                                   gpurt_error_t *err);

/* The first life of a table's records. Each table begins elsewhere, and far from all others: what
 * another table's reference names is no life of this one. Never 0, which no life has. */
static inline uint32_t gpurt_table_first_life(uint32_t id)
{
    return id * 0x9e3779b1u; /* odd: 0 only for 0, which is no id */
}

/* The next part of a table at memory + *at, which grows: aligned to 128 bytes. */
void *gpurt_table_part(void *memory, size_t *at, size_t bytes);

/* Room for a copy of one, or of a part, aligned as they are: what malloc gives is not. Returns: heap,
 * or NULL. */
void *gpurt_table_room(size_t bytes);

/* Copies out and waits. */
gpurt_status_t gpurt_table_read(gpurt_t *rt, void *to, const void *from, size_t bytes,
                                gpurt_error_t *err);
gpurt_status_t gpurt_table_write(gpurt_t *rt, void *to, const void *from, size_t bytes,
                                 gpurt_error_t *err);

/* reclaim.c: gpurt_epochs_create, but the log is not told of them: a collector's sections. */
gpurt_status_t gpurt_epochs_make(gpurt_t *rt, const gpurt_heap_t *heap,
                                 const gpurt_epochs_options_t *options, gpurt_epochs_t *out,
                                 gpurt_error_t *err);

/* Words of a set of `count` numbers; its tree's counts are set. */
size_t gpurt_slotset_shape(gpurt_slotset_t *set, uint32_t count);
/* All of them are free. Context: set->tree.trees points to device memory. */
gpurt_status_t gpurt_slotset_fill(gpurt_t *rt, const gpurt_slotset_t *set,
                                  gpurt_error_t *err);

/* Options of the caller over zeros: `size` bytes, or as many as it knew of. */
void gpurt_table_options(void *out, size_t size, const void *in);

#endif
