/* SPDX-License-Identifier: Apache-2.0 */
/* What stands on heaps: regions, arenas by their source, tables of reclamation. */
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

static bool put_arena(model_heaps_t *h, const gpurt_row_t *row,
                      const gpurt_arena_state_row_t *s)
{
    gpurt_model_arena_t *a = model_told_of(h->sums.arenas, sizeof *a, &h->sums.arena_count,
                                           GPURT_MODEL_ARENAS, row, s->source);

    if (!a)
        return false;
    if (!model_told_put(&a->told, row, s->flags))
        return true;
    a->heap = s->heap;
    a->slots = s->slots;
    a->arenas = s->arenas;
    a->pieces = gpurt_pair_value(s->pieces);
    a->bytes = gpurt_pair_value(s->bytes);
    a->peak_bytes = larger(a->peak_bytes, a->bytes);
    a->largest = gpurt_pair_value(s->largest);
    a->taken = gpurt_pair_value(s->taken);
    a->refused = gpurt_pair_value(s->refused);
    return true;
}

static bool put_reclaim(model_heaps_t *h, const gpurt_row_t *row,
                        const gpurt_reclaim_state_row_t *s)
{
    gpurt_model_reclaim_t *t =
        model_told_of(h->sums.reclaims, sizeof *t, &h->sums.reclaim_count,
                      GPURT_MODEL_RECLAIMS, row, s->table);

    if (!t)
        return false;
    if (!model_told_put(&t->told, row, s->flags))
        return true;
    t->heap = s->heap;
    t->room = s->room;
    t->open = s->open;
    t->turn = s->turn;
    t->live = gpurt_pair_value(s->live);
    t->peak_live = larger(t->peak_live, t->live);
    t->made = gpurt_pair_value(s->made);
    t->gone = gpurt_pair_value(s->gone);
    t->refused = gpurt_pair_value(s->refused);
    t->wrong = gpurt_pair_value(s->wrong);
    t->left = gpurt_pair_value(s->left);
    return true;
}

bool model_region_put(model_heaps_t *h, const gpurt_row_t *row, const void *words)
{
    switch (row->kind) {
    case GPURT_KIND_REGION_STATE:
        return put_region(h, row, words);
    case GPURT_KIND_REGION_MAP:
        return put_map(h, row, words);
    case GPURT_KIND_ARENA_STATE:
        return put_arena(h, row, words);
    case GPURT_KIND_RECLAIM_STATE:
        return put_reclaim(h, row, words);
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
