/* SPDX-License-Identifier: Apache-2.0 */
/* Tables hold numbers of chunks and no addresses, so they are good wherever the heap comes to
 * lie; objects may hold addresses, so it should lie where it was. */
#include "checkpointown.h"
#include "heapmap.h"
#include "heapview.h"
#include "refuse.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEAPKEEP_VERSION = 1
};

typedef struct heapkeep {
    gpurt_heap_t *heap;
    uint32_t flags; /* GPURT_CHECKPOINT_MAY_MOVE */
} heapkeep_t;

typedef struct heap_shape {
    uint64_t chunks;      /* address of the first */
    uint64_t table_bytes; /* as a check */
    uint32_t chunk_count, shard_count, spread, run_chunks;
    uint32_t rows; /* of used chunks that follow the tables */
    uint32_t reserved;
} heap_shape_t;
GPURT_STATIC_ASSERT(sizeof(heap_shape_t) == 40, "version 1");

typedef struct chunk_row {
    uint32_t first, count;
} chunk_row_t;

/* The next row of chunks that are not in the pool; count 0 at the end. */
static chunk_row_t row_next(const gpurt_heap_t *mirror, uint32_t from)
{
    const uint64_t *free_chunks = gpurt_tree_leaves(mirror, GPURT_TREE_POOL);
    chunk_row_t row = {from, 0};

    while (row.first < mirror->chunk_count &&
           free_chunks[row.first / 64] >> (row.first % 64) & 1)
        row.first++;
    while (
        row.first + row.count < mirror->chunk_count &&
        !(free_chunks[(row.first + row.count) / 64] >> ((row.first + row.count) % 64) & 1))
        row.count++;
    return row;
}

static char *chunk_at(const gpurt_heap_t *h, uint32_t chunk)
{
    return h->chunks + (size_t)chunk * GPURT_CHUNK_BYTES;
}

static gpurt_status_t rows_save(const gpurt_heap_t *h, const gpurt_heap_t *mirror,
                                gpurt_checkpoint_stream_t *to, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;
    chunk_row_t row = {0, 0};

    for (;;) {
        row = row_next(mirror, row.first + row.count);
        if (!row.count)
            return GPURT_OK;
        st = gpurt_checkpoint_write(to, &row, sizeof row, err);
        if (st == GPURT_OK)
            st = gpurt_checkpoint_write(to, chunk_at(h, row.first),
                                        (size_t)row.count * GPURT_CHUNK_BYTES, err);
        if (st != GPURT_OK)
            return st;
    }
}

/* Context: it is taken. */
static gpurt_status_t heap_save(gpurt_t *rt, const gpurt_heap_t *h,
                                gpurt_checkpoint_stream_t *to, gpurt_error_t *err)
{
    gpurt_heap_mirror_t mirror;
    heap_shape_t shape = {0};
    gpurt_status_t st = gpurt_heap_check(rt, h, err); /* nothing broken is kept */

    if (st == GPURT_OK)
        st = gpurt_heap_mirror_load(rt, h, &mirror, err);
    if (st != GPURT_OK)
        return st;
    if (gpurt_heap_backed(&mirror.heap) < h->chunk_count) {
        gpurt_heap_mirror_free(&mirror);
        return REFUSE(err, GPURT_E_UNSUPPORTED,
                      "checkpoint: a heap that can still grow is not kept");
    }
    shape.chunks = (uint64_t)(uintptr_t)h->chunks;
    shape.table_bytes = gpurt_heap_table_bytes(h);
    shape.chunk_count = h->chunk_count;
    shape.shard_count = h->shard_count;
    shape.spread = h->spread;
    shape.run_chunks = h->run_chunks;
    for (chunk_row_t row = row_next(&mirror.heap, 0); row.count;
         row = row_next(&mirror.heap, row.first + row.count))
        shape.rows++;
    st = gpurt_checkpoint_write(to, &shape, sizeof shape, err);
    if (st == GPURT_OK)
        st = gpurt_checkpoint_write(to, mirror.memory, shape.table_bytes, err);
    if (st == GPURT_OK)
        st = rows_save(h, &mirror.heap, to, err);
    gpurt_heap_mirror_free(&mirror);
    return st;
}

static gpurt_status_t part_save(void *context, gpurt_t *rt, gpurt_checkpoint_stream_t *to,
                                gpurt_error_t *err)
{
    gpurt_heap_t h = *((const heapkeep_t *)context)->heap;
    gpurt_status_t st = gpurt_heap_take(rt, &h, err);

    if (st != GPURT_OK)
        return st;
    st = heap_save(rt, &h, to, err);
    gpurt_heap_drop(&h);
    return st;
}

static gpurt_status_t rows_load(const gpurt_heap_t *h, uint32_t rows,
                                gpurt_checkpoint_stream_t *from, gpurt_error_t *err)
{
    uint32_t end = 0;

    for (uint32_t i = 0; i < rows; i++) {
        chunk_row_t row;
        gpurt_status_t st = gpurt_checkpoint_read(from, &row, sizeof row, err);

        if (st != GPURT_OK)
            return st;
        if (row.first < end || row.first >= h->chunk_count ||
            row.count > h->chunk_count - row.first)
            return REFUSE(err, GPURT_E_DAMAGED, "checkpoint: a heap's chunks overlap");
        st = gpurt_checkpoint_read(from, chunk_at(h, row.first),
                                   (size_t)row.count * GPURT_CHUNK_BYTES, err);
        if (st != GPURT_OK)
            return st;
        end = row.first + row.count;
    }
    return GPURT_OK;
}

/* The new heap's own counts of its tables must agree with what was saved. */
static gpurt_status_t shape_read(gpurt_checkpoint_stream_t *from, heap_shape_t *shape,
                                 gpurt_heap_t *h, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_checkpoint_read(from, shape, sizeof *shape, err);

    if (st != GPURT_OK)
        return st;
    memset(h, 0, sizeof *h);
    h->chunk_count = shape->chunk_count;
    h->shard_count = shape->shard_count;
    h->spread = shape->spread;
    h->run_chunks = shape->run_chunks;
    gpurt_heap_count_words(h);
    if (shape->chunk_count == 0 || shape->chunk_count >> 24 || shape->shard_count == 0 ||
        shape->shard_count > 1u << 16 || shape->spread > 6 || shape->run_chunks == 0 ||
        shape->run_chunks > GPURT_RUN_CHUNKS || shape->chunks % GPURT_CHUNK_BYTES ||
        shape->table_bytes != gpurt_heap_table_bytes(h))
        return REFUSE(err, GPURT_E_VERSION, "checkpoint: a heap of another layout");
    return GPURT_OK;
}

static gpurt_status_t part_load(void *context, gpurt_t *rt, gpurt_checkpoint_stream_t *from,
                                gpurt_error_t *err)
{
    const heapkeep_t *keep = (const heapkeep_t *)context;
    heap_shape_t shape;
    gpurt_heap_t h;
    gpurt_status_t st;

    if (keep->heap->chunks)
        return REFUSE(err, GPURT_E_INVALID,
                      "checkpoint: a heap is made by loading; pass one of zeros");
    st = shape_read(from, &shape, &h, err);
    if (st == GPURT_OK)
        st = gpurt_heap_make_at(rt, &h, (void *)(uintptr_t)shape.chunks,
                                (keep->flags & GPURT_CHECKPOINT_MAY_MOVE) != 0, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_checkpoint_read(from, h.counts, shape.table_bytes, err);
    if (st == GPURT_OK)
        st = rows_load(&h, shape.rows, from, err);
    if (st == GPURT_OK)
        st = gpurt_heap_check(rt, &h, err);
    if (st == GPURT_OK) {
        *keep->heap = h;
        gpurt_heapview_begin(rt, &h);
    } else {
        gpurt_heap_destroy(rt, &h, NULL);
    }
    return st;
}

static uint32_t heap_id(void *context)
{
    return ((const heapkeep_t *)context)->heap->id;
}

gpurt_status_t gpurt_checkpoint_add_heap(gpurt_checkpoint_t *c, const char *name,
                                         gpurt_heap_t *heap, uint32_t flags,
                                         gpurt_error_t *err)
{
    gpurt_checkpoint_part_t part = {
        .version = HEAPKEEP_VERSION, .save = part_save, .load = part_load, .heap = heap_id};
    const heapkeep_t keep = {heap, flags};

    return gpurt_checkpoint_add_owned(c, name, &part, &keep, sizeof keep, err);
}
