/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of reference counts: made, and looked into. */
#include "heapmap.h"
#include "reclaimtable.h"
#include "reclaimview.h"
#include "refuse.h"

#include <errno.h>
#include <gpurt/impl/heaprow.h>
#include <gpurt/reclaim.h>
#include <gpurt/ref.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_RECORDS = 65536,
    RECORDS_MOST = 1 << 24
};
static const char WHAT[] = "references";

/* counts come first: their address is the table's. */
static size_t refs_place(gpurt_refs_t *t, void *memory)
{
    size_t at = 0;

    t->counts = (gpurt_ref_counts_t *)gpurt_table_part(memory, &at, sizeof *t->counts);
    t->unused.tree.trees = (uint64_t *)gpurt_table_part(
        memory, &at, t->unused.tree.tree_words * sizeof(uint64_t));
    t->records = (gpurt_ref_record_t *)gpurt_table_part(
        memory, &at, (size_t)t->record_count * sizeof *t->records);
    return at;
}

static gpurt_status_t records_init(gpurt_t *rt, const gpurt_refs_t *t, gpurt_error_t *err)
{
    size_t bytes = (size_t)t->record_count * sizeof *t->records;
    gpurt_ref_record_t *records = (gpurt_ref_record_t *)gpurt_table_room(bytes);
    gpurt_status_t st;

    if (!records)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "%u records",
                          t->record_count);
    memset(records, 0, bytes);
    for (uint32_t i = 0; i < t->record_count; i++) {
        records[i].xword = (uint64_t)gpurt_table_first_life(t->id) << 32 | GPURT_REF_BIAS;
        records[i].heap = t->heap.id;
    }
    st = gpurt_table_write(rt, t->records, records, bytes, err);
    free(records);
    return st == GPURT_OK ? gpurt_slotset_fill(rt, &t->unused, err) : st;
}

gpurt_status_t gpurt_refs_create(gpurt_t *rt, const gpurt_heap_t *heap,
                                 const gpurt_refs_options_t *options, gpurt_refs_t *out,
                                 gpurt_error_t *err)
{
    gpurt_refs_options_t o;
    gpurt_refs_t t = {0};
    gpurt_status_t st;
    void *memory = NULL;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "%s: out is NULL: pass a place for it", WHAT);
    memset(out, 0, sizeof *out);
    gpurt_table_options(&o, sizeof o, options);
    t.record_count = o.records ? o.records : DEFAULT_RECORDS;
    if (t.record_count > RECORDS_MOST)
        return REFUSE(err, GPURT_E_INVALID, "%s: %u records: at most %d", WHAT,
                      t.record_count, RECORDS_MOST);
    st = gpurt_heap_known(rt, heap, err);
    if (st != GPURT_OK)
        return st;
    t.heap = *heap;
    gpurt_slotset_shape(&t.unused, t.record_count);
    st = gpurt_table_create(rt, WHAT, refs_place(&t, NULL), &memory, &t.id, err);
    if (st != GPURT_OK)
        return st;
    refs_place(&t, memory);
    st = records_init(rt, &t, err);
    if (st != GPURT_OK) {
        gpurt_table_destroy(rt, WHAT, t.id, memory, NULL);
        return st;
    }
    gpurt_reclaimview_begin(rt, &(gpurt_reclaim_look_t){.what = GPURT_RECLAIM_REFS,
                                                        .table = t.id,
                                                        .heap = heap->id,
                                                        .room = t.record_count,
                                                        .counts = t.counts,
                                                        .slots = t.unused.tree.trees,
                                                        .words = t.unused.tree.leaf_words});
    *out = t;
    return GPURT_OK;
}

gpurt_status_t gpurt_refs_destroy(gpurt_t *rt, gpurt_refs_t *refs, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!refs || !refs->counts)
        return GPURT_OK;
    st = gpurt_table_destroy(rt, WHAT, refs->id, refs->counts, err);
    if (st == GPURT_OK)
        memset(refs, 0, sizeof *refs);
    return st;
}

static bool sum(void *context, const gpurt_ref_info_t *info)
{
    gpurt_refs_stats_t *stats = (gpurt_refs_stats_t *)context;

    stats->live++;
    stats->references += info->references;
    stats->live_bytes += info->size;
    return true;
}

gpurt_status_t gpurt_refs_stats(gpurt_t *rt, const gpurt_refs_t *refs,
                                gpurt_refs_stats_t *out, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "%s: out is NULL: pass a place for it", WHAT);
    memset(out, 0, sizeof *out);
    if (!refs)
        return gpurt_table_take(WHAT, 0, NULL, err);
    out->records = refs->record_count;
    st = gpurt_table_take(WHAT, refs->id, refs->counts, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_refs_walk(rt, refs, sum, out, err);
    if (st == GPURT_OK)
        st = gpurt_table_read(rt, &out->counts, refs->counts, sizeof out->counts, err);
    gpurt_table_drop(refs->id);
    return st;
}

static gpurt_ref_info_t info_of(const gpurt_ref_record_t *r, uint32_t record)
{
    return (gpurt_ref_info_t){.ref = r->xword >> 32 << 32 | record,
                              .object = (void *)(uintptr_t)r->xobject,
                              .size = r->xsize,
                              .references = (uint32_t)gpurt_ref_count(r->xword),
                              .generation = gpurt_ref_generation(r->xword),
                              .record = record,
                              .flags = r->xflags,
                              .heap = r->heap};
}

/* A copy of all of them, to be freed; NULL when it fails. */
static gpurt_status_t records_read(gpurt_t *rt, const gpurt_refs_t *refs,
                                   gpurt_ref_record_t **out, gpurt_error_t *err)
{
    size_t bytes = (size_t)refs->record_count * sizeof **out;
    gpurt_status_t st = gpurt_table_take(WHAT, refs->id, refs->counts, err);

    *out = NULL;
    if (st != GPURT_OK)
        return st;
    *out = (gpurt_ref_record_t *)gpurt_table_room(bytes);
    if (*out)
        st = gpurt_table_read(rt, *out, refs->records, bytes, err);
    else
        st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "%u records",
                        refs->record_count);
    gpurt_table_drop(refs->id);
    return st;
}

gpurt_status_t gpurt_refs_walk(gpurt_t *rt, const gpurt_refs_t *refs,
                               gpurt_ref_visit_fn visit, void *context, gpurt_error_t *err)
{
    gpurt_ref_record_t *records;
    gpurt_status_t st;

    if (!refs || !visit)
        return REFUSE(err, GPURT_E_INVALID, "%s: NULL: pass a table and a function", WHAT);
    st = records_read(rt, refs, &records, err);
    for (uint32_t i = 0; i < refs->record_count && st == GPURT_OK; i++) {
        gpurt_ref_info_t info = info_of(records + i, i);

        if ((records[i].xword & GPURT_REF_LIVE) && !visit(context, &info))
            break;
    }
    free(records);
    return st;
}
