/* SPDX-License-Identifier: Apache-2.0 */
/* What stands on heaps: regions. */
#include "modelpart.h"

#include <string.h>

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static gpurt_model_region_t *region_of(model_heaps_t *h, const gpurt_row_t *row,
                                       uint32_t id)
{
    return model_told_of(h->sums.regions, sizeof h->sums.regions[0], &h->sums.region_count,
                         GPURT_MODEL_REGIONS, row, id);
}

static bool put_region(model_heaps_t *h, const gpurt_row_t *row,
                       const gpurt_region_state_row_t *s)
{
    gpurt_model_region_t *r = region_of(h, row, s->region);

    if (!r)
        return false;
    if (!model_told_put(&r->told, row, s->flags))
        return true;
    h->names[r - h->sums.regions] = s->name;
    r->granule = s->granule;
    r->looking = s->looking;
    r->bytes = gpurt_pair_value(s->bytes);
    r->used = gpurt_pair_value(s->used);
    r->peak_used = larger(r->peak_used, r->used);
    r->largest = gpurt_pair_value(s->largest);
    r->holes = gpurt_pair_value(s->holes);
    r->blocks = gpurt_pair_value(s->blocks);
    r->full = gpurt_pair_value(s->full);
    r->fragmented = gpurt_pair_value(s->fragmented);
    r->refused = gpurt_pair_value(s->refused);
    r->wrong = gpurt_pair_value(s->wrong);
    r->stuck = gpurt_pair_value(s->stuck);
    r->races = gpurt_pair_value(s->races);
    return true;
}

static bool put_map(model_heaps_t *h, const gpurt_row_t *row,
                    const gpurt_region_map_row_t *map)
{
    gpurt_model_region_t *r = region_of(h, row, map->region);

    if (!r)
        return false;
    r->map_granules = map->granules;
    model_cells_put(r->cells, map->cells);
    return true;
}

bool model_region_put(model_heaps_t *h, const gpurt_row_t *row, const void *words)
{
    switch (row->kind) {
    case GPURT_KIND_REGION_STATE:
        return put_region(h, row, words);
    case GPURT_KIND_REGION_MAP:
        return put_map(h, row, words);
    default:
        return true;
    }
}

void model_regions_view(const gpurt_model_t *m, gpurt_model_heaps_t *v)
{
    for (uint32_t i = 0; i < v->region_count; i++)
        model_string(m, m->heaps.names[i], "", v->regions[i].name,
                     sizeof v->regions[i].name);
}
