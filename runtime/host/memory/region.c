/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: life, and what a copy of their tables tells. */
#include <gpurt/regions.h>

#include "idtable.h"
#include "ownwait.h"
#include "plural.h"
#include "refuse.h"
#include "regionview.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_BYTES = 64 << 20,
    GRANULE_MOST = 1 << 30,
    /* no version of the options is shorter; a smaller struct_size was never set */
    OPTIONS_FIRST = offsetof(gpurt_region_options_t, name)
};

static const char WHAT[] = "region";
static gpurt_id_entry_t entries[GPURT_REGIONS];
static gpurt_idtable_t regions = {
    .lock = GPURT_LOCK_INIT, .what = "region", .entries = entries, .count = GPURT_REGIONS};

/* ---- life ---------------------------------------------------------------------------- */

static gpurt_status_t tables_init(gpurt_t *rt, const gpurt_region_t *r, gpurt_error_t *err)
{
    size_t bytes = gpurt_region_table_bytes(r);
    gpurt_region_t copy = *r;
    char *tables = (char *)calloc(1, bytes);
    gpurt_status_t st;

    if (!tables)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM,
                          "region: %zu bytes of tables", bytes);
    gpurt_region_place(&copy, tables);
    for (uint32_t i = 0; i < r->words; i++)
        copy.bits[i] = gpurt_region_all_free(r, i);
    st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, r->counts, tables, bytes, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    free(tables);
    return st;
}

static gpurt_status_t region_lay(gpurt_region_t *r, void *memory,
                                 const gpurt_region_options_t *o, gpurt_error_t *err)
{
    switch (gpurt_region_layout(r, memory, o->bytes, o->granule, o->fit)) {
    case GPURT_REGION_OK:
        return GPURT_OK;
    case GPURT_REGION_ALIGNMENT:
        if (o->granule > GRANULE_MOST)
            return REFUSE(err, GPURT_E_INVALID,
                          "region: a granule of %llu bytes: at most 2^30",
                          (unsigned long long)o->granule);
        return REFUSE(err, GPURT_E_INVALID,
                      "region: a granule of %llu byte%s: a power of two from 16 on, or 0",
                      (unsigned long long)o->granule, gpurt_plural(o->granule, "s"));
    case GPURT_REGION_TOO_LARGE:
        return REFUSE(err, GPURT_E_INVALID,
                      "region: more than 2^30 granules: choose larger ones");
    default:
        return REFUSE(err, GPURT_E_INVALID,
                      "region: %llu byte%s too few for a granule and its tables",
                      (unsigned long long)o->bytes, o->bytes == 1 ? " is" : "s are");
    }
}

gpurt_status_t gpurt_region_create(gpurt_t *rt, const gpurt_region_options_t *options,
                                   gpurt_region_t *out, gpurt_error_t *err)
{
    gpurt_region_options_t o = {0};
    gpurt_region_t r = {0};
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the region");
    memset(out, 0, sizeof *out);
    if (options) {
        size_t given = options->struct_size ? options->struct_size : sizeof o;

        if (given < OPTIONS_FIRST)
            return REFUSE(err, GPURT_E_INVALID,
                          "region: struct_size is %zu: set it to "
                          "sizeof(gpurt_region_options_t)",
                          given);
        memcpy(&o, options, given < sizeof o ? given : sizeof o);
    }
    if (o.fit >= GPURT_FITS)
        return REFUSE(err, GPURT_E_INVALID, "region: policy %u: first, best or worst fit",
                      o.fit);
    if (o.memory && o.bytes == 0)
        return REFUSE(err, GPURT_E_INVALID, "region: how long is its memory?");
    o.bytes = o.bytes ? o.bytes : DEFAULT_BYTES;
    if (!o.memory) {
        st = region_lay(&r, (void *)(uintptr_t)256, &o, err); /* before memory is taken */
        if (st == GPURT_OK)
            st = gpurt_mem_create(rt, o.bytes, &r.owned, err);
        if (st != GPURT_OK)
            return st;
    }
    st = region_lay(&r, r.owned ? r.owned : o.memory, &o, err);
    if (st == GPURT_OK)
        st = tables_init(rt, &r, err);
    if (st == GPURT_OK && (r.owned || o.name)) {
        r.id = gpurt_id_add(&regions, rt, r.base, r.owned);
        if (!r.id)
            st = REFUSE(err, GPURT_E_NOMEM, "%d regions exist, more cannot be",
                        GPURT_REGIONS);
    }
    if (st != GPURT_OK) {
        gpurt_mem_destroy(rt, r.owned);
        return st;
    }
    *out = r;
    if (r.id)
        gpurt_regionview_begin(rt, out, o.name);
    return st;
}

gpurt_status_t gpurt_region_destroy(gpurt_t *rt, gpurt_region_t *region, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!region || !region->base)
        return GPURT_OK;
    if (region->id) {
        st = gpurt_id_retire(&regions, WHAT, rt, region->id, region->base, err);
        if (st != GPURT_OK)
            return st;
        gpurt_regionview_end(rt, region);
        st = gpurt_id_drop(&regions, region->id);
        if (st != GPURT_OK)
            return REFUSE(err, st, "region: its memory could not be freed");
    }
    memset(region, 0, sizeof *region);
    return GPURT_OK;
}

/* ---- the copy ------------------------------------------------------------------------ */

typedef struct mirror {
    gpurt_region_t region;
    char *memory; /* owned */
} mirror_t;

/* Context: the region is taken, or not told apart. */
static gpurt_status_t mirror_fill(gpurt_t *rt, const gpurt_region_t *r, mirror_t *out,
                                  gpurt_error_t *err)
{
    size_t bytes = gpurt_region_table_bytes(r);
    gpurt_status_t st;

    out->region = *r;
    out->memory = (char *)malloc(bytes);
    if (!out->memory)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM,
                          "region: a copy of %zu bytes of tables", bytes);
    gpurt_region_place(&out->region, out->memory);
    st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, out->memory, r->counts, bytes, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    if (st != GPURT_OK)
        free(out->memory);
    return st;
}

static gpurt_status_t mirror_load(gpurt_t *rt, const gpurt_region_t *r, mirror_t *out,
                                  gpurt_error_t *err)
{
    gpurt_status_t st;

    out->memory = NULL;
    if (!r || !r->base)
        return REFUSE(err, GPURT_E_INVALID,
                      "region is NULL or empty: pass what gpurt_region_create gave");
    if (!r->id)
        return mirror_fill(rt, r, out, err);
    st = gpurt_id_take(&regions, WHAT, r->id, r->base, err);
    if (st != GPURT_OK)
        return st;
    st = mirror_fill(rt, r, out, err);
    gpurt_id_drop(&regions, r->id);
    return st;
}

static bool is_free(const gpurt_region_t *r, uint32_t i)
{
    return r->bits[i / 64] >> (i % 64) & 1;
}

/* Length of what begins at granule i: a block, or a row of free granules or of lost ones.
 * A block's length is believed as far as the region goes. */
static uint32_t row_at(const gpurt_region_t *r, uint32_t i)
{
    uint32_t n = r->lengths[i], rest = r->granules - i;
    bool free_row = is_free(r, i);

    if (n)
        return n < rest ? n : rest;
    for (n = 1; n < rest && is_free(r, i + n) == free_row && !r->lengths[i + n];)
        n++;
    return n;
}

/* ---- what it tells ------------------------------------------------------------------- */

gpurt_status_t gpurt_region_stats(gpurt_t *rt, const gpurt_region_t *region,
                                  gpurt_region_stats_t *out, gpurt_error_t *err)
{
    mirror_t m;
    gpurt_status_t st;
    const gpurt_region_t *r = &m.region;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the statistics");
    memset(out, 0, sizeof *out);
    st = mirror_load(rt, region, &m, err);
    if (st != GPURT_OK)
        return st;
    out->bytes = (uint64_t)r->granules << r->shift;
    out->tables = gpurt_region_table_bytes(r);
    out->granule = 1u << r->shift;
    out->counts = *r->counts;
    for (uint32_t i = 0, n; i < r->granules; i += n) {
        uint64_t bytes;

        n = row_at(r, i);
        bytes = (uint64_t)n << r->shift;
        if (r->lengths[i]) {
            out->live++;
            out->live_bytes += bytes;
        } else if (is_free(r, i)) {
            out->holes++;
            out->largest = bytes > out->largest ? bytes : out->largest;
        }
    }
    free(m.memory);
    return GPURT_OK;
}

gpurt_status_t gpurt_region_walk(gpurt_t *rt, const gpurt_region_t *region,
                                 gpurt_region_visit_fn visit, void *context,
                                 gpurt_error_t *err)
{
    mirror_t m;
    gpurt_status_t st;
    const gpurt_region_t *r = &m.region;

    if (!visit)
        return REFUSE(err, GPURT_E_INVALID, "visit is NULL: pass what to call");
    st = mirror_load(rt, region, &m, err);
    if (st != GPURT_OK)
        return st;
    for (uint32_t i = 0, n; i < r->granules; i += n) {
        n = row_at(r, i);
        if (r->lengths[i] &&
            !visit(context, r->base + ((size_t)i << r->shift), (size_t)n << r->shift))
            break;
    }
    free(m.memory);
    return GPURT_OK;
}

#define WRONG(...) REFUSE(err, GPURT_E_FAULT, "region: " __VA_ARGS__)

static gpurt_status_t check_block(const gpurt_region_t *r, uint32_t at, gpurt_error_t *err)
{
    uint32_t n = r->lengths[at];

    if (n > r->granules - at)
        return WRONG("the block at granule %u is longer than the region", at);
    for (uint32_t i = at; i < at + n; i++) {
        if (is_free(r, i))
            return WRONG("granule %u is free, and in the block at %u", i, at);
        if (i > at && r->lengths[i])
            return WRONG("a block begins at granule %u, inside of that at %u", i, at);
    }
    return GPURT_OK;
}

gpurt_status_t gpurt_region_check(gpurt_t *rt, const gpurt_region_t *region,
                                  gpurt_error_t *err)
{
    mirror_t m;
    gpurt_status_t st = mirror_load(rt, region, &m, err);
    const gpurt_region_t *r = &m.region;

    if (st != GPURT_OK)
        return st;
    for (uint32_t i = 0; st == GPURT_OK && i < r->granules; i += row_at(r, i)) {
        if (r->lengths[i])
            st = check_block(r, i, err);
        else if (!is_free(r, i))
            st = WRONG("granule %u is lost", i);
    }
    if (st == GPURT_OK && r->bits[r->words - 1] & ~gpurt_region_all_free(r, r->words - 1))
        st = WRONG("granules past the end are free");
    free(m.memory);
    return st;
}
