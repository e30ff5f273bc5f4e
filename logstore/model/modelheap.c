/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps of kernels, each as it was told of last. Live and in a replay the same rows make the
 * same view; a program that was killed leaves what it told last. */
#include "modelpart.h"
#include "program.h"

#include <string.h>

void *model_told_of(void *list, size_t entry_bytes, uint64_t *count, uint32_t most,
                    const gpurt_row_t *row, uint32_t id)
{
    const gpurt_model_told_t its = {
        .id = id, .device = row->block, .program = row->program};
    gpurt_model_told_t *free = NULL;

    for (uint32_t i = 0; i < *count; i++) {
        gpurt_model_told_t *at = (void *)((char *)list + i * entry_bytes);

        if (gpurt_model_told_same(at, &its))
            return at;
        if (at->flags & GPURT_HEAP_ENDED && (!free || at->time_ns < free->time_ns))
            free = at;
    }
    if (*count < most)
        free = (void *)((char *)list + (*count)++ * entry_bytes);
    if (free) {
        memset(free, 0, entry_bytes);
        *free = its;
    }
    return free;
}

bool model_told_put(gpurt_model_told_t *told, const gpurt_row_t *row, uint32_t flags)
{
    if (row->time_ns < told->time_ns)
        return false;
    told->time_ns = row->time_ns;
    told->flags = flags;
    return true;
}

static void put_state(gpurt_model_heap_t *h, const gpurt_row_t *row,
                      const gpurt_heap_state_row_t *s)
{
    if (!model_told_put(&h->told, row, s->flags))
        return;
    h->bytes = gpurt_pair_value(s->bytes);
    h->live = gpurt_pair_value(s->live);
    h->live_bytes = gpurt_pair_value(s->live_bytes);
    h->peak_bytes = h->live_bytes > h->peak_bytes ? h->live_bytes : h->peak_bytes;
    h->slack = gpurt_pair_value(s->slack);
    h->kept = gpurt_pair_value(s->kept);
    h->refused = gpurt_pair_value(s->refused);
    h->wrong = gpurt_pair_value(s->wrong);
    h->free_chunks = s->free_chunks;
    h->largest_row = s->largest_row;
    h->large_chunks = s->large_chunks;
}

/* Rows stay in order of size. */
static void put_class(gpurt_model_heap_t *h, const gpurt_heap_class_row_t *row)
{
    uint32_t i = 0;

    while (i < h->class_count && h->classes[i].bytes < row->bytes)
        i++;
    if (i == h->class_count || h->classes[i].bytes != row->bytes) {
        if (h->class_count == GPURT_MODEL_HEAP_CLASSES || row->bytes == 0)
            return;
        memmove(&h->classes[i + 1], &h->classes[i],
                sizeof h->classes[0] * (h->class_count++ - i));
    }
    h->classes[i].bytes = row->bytes;
    h->classes[i].chunks = row->chunks;
    h->classes[i].live = gpurt_pair_value(row->live);
    h->classes[i].reusable = gpurt_pair_value(row->reusable);
    h->classes[i].fresh = gpurt_pair_value(row->fresh);
}

void model_cells_put(uint8_t cells[GPURT_HEAP_CELLS], const gpurt_pair_t *words)
{
    for (uint32_t i = 0; i < GPURT_HEAP_CELLS; i++)
        cells[i] = gpurt_pair_value(words[i / 16]) >> (i % 16 * 4) & 15u;
}

static void put_map(gpurt_model_heap_t *h, const gpurt_heap_map_row_t *row)
{
    h->map_chunks = row->chunks;
    model_cells_put(h->cells, row->cells);
}

static void put_pools(gpurt_model_heap_t *h, const gpurt_heap_pools_row_t *row)
{
    for (uint32_t i = 0; i < GPURT_HEAP_POOLS; i++) {
        h->got[i] = gpurt_pair_value(row->got[i]);
        h->put[i] = gpurt_pair_value(row->put[i]);
    }
}

static void put_site(model_heaps_t *heaps, gpurt_model_heap_t *h,
                     const gpurt_heap_site_row_t *row)
{
    h->sampled = row->sampled;
    h->site_count =
        row->count < GPURT_MODEL_HEAP_SITES ? row->count : GPURT_MODEL_HEAP_SITES;
    if (row->rank >= h->site_count)
        return;
    h->sites[row->rank].objects = gpurt_pair_value(row->objects);
    h->sites[row->rank].bytes = gpurt_pair_value(row->bytes);
    heaps->sites[h - heaps->sums.list][row->rank] = row->site;
}

/* Words that a row of a kind has at least. A shorter one (a file that somebody made) is not
 * believed. */
static uint32_t words_of(uint32_t kind)
{
    for (uint32_t i = 0; i < GPURT_ACTIVITY_SITES; i++)
        if (gpurt_activity_sites[i].kind == kind)
            return gpurt_activity_sites[i].words;
    return UINT32_MAX;
}

static bool put_heap(model_heaps_t *heaps, const gpurt_row_t *row, const void *words)
{
    gpurt_model_heap_t *h = model_told_of(heaps->sums.list, sizeof *h, &heaps->sums.count,
                                          GPURT_MODEL_HEAPS, row, *(const uint32_t *)words);

    if (!h)
        return false;
    switch (row->kind) {
    case GPURT_KIND_HEAP_STATE:
        put_state(h, row, words);
        break;
    case GPURT_KIND_HEAP_CLASS:
        put_class(h, words);
        break;
    case GPURT_KIND_HEAP_MAP:
        put_map(h, words);
        break;
    case GPURT_KIND_HEAP_SITE:
        put_site(heaps, h, words);
        break;
    case GPURT_KIND_HEAP_POOLS:
        put_pools(h, words);
        break;
    default:
        break;
    }
    return true;
}

void model_heap_put(model_heaps_t *heaps, const gpurt_row_t *row)
{
    const void *words = gpurt_row_words(row);

    heaps->sums.rows++;
    if (row->kind == GPURT_KIND_HEAP_ALLOC)
        heaps->sums.calls += gpurt_row_messages(row);
    if (row->kind == GPURT_KIND_HEAP_FREE)
        heaps->sums.freed += gpurt_row_messages(row);
    if (row->words < words_of(row->kind))
        return;
    heaps->sums.others += !put_heap(heaps, row, words);
}

void model_string(const gpurt_model_t *m, uint32_t id, const char *other, char *to,
                  size_t room)
{
    gpurt_site_info_t info;

    if (gpurt_dictionary_get(m->dictionary, id, &info) && info.kind == GPURT_DEF_STRING)
        model_text_end(to, room, info.format, info.format_bytes);
    else
        model_text_begin(to, room, other, strlen(other));
}

/* ---- whose ----------------------------------------------------------------------------- */

static void whose_view(const gpurt_model_t *m, void *list, size_t entry_bytes,
                       uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        gpurt_model_told_t *at = (void *)((char *)list + i * entry_bytes);

        at->pid = model_pid_of(m, at->program);
    }
}

bool model_heaps_view(const gpurt_model_t *m, gpurt_model_heaps_t *v)
{
    uint32_t programs = model_programs(m);

    if (v->rows == m->heaps.sums.rows && (v->rows == 0 || v->programs == programs))
        return false;
    *v = m->heaps.sums;
    v->programs = programs;
    whose_view(m, v->list, sizeof v->list[0], v->count);
    for (uint32_t i = 0; i < v->count; i++)
        for (uint32_t k = 0; k < v->list[i].site_count; k++) {
            gpurt_model_heap_site_t *to = &v->list[i].sites[k];

            model_string(m, m->heaps.sites[i][k], "a place not known", to->site,
                         sizeof to->site);
        }
    return true;
}
