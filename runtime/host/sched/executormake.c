/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of an executor: one piece of the device's, one that both sides reach. Zeros are right for
 * all but the lists of what is free, and where tickets begin. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "executorown.h"

#include "ownwait.h"
#include "refuse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- where what lies ------------------------------------------------------------------- */

/* A part of the device's piece: where the pointer to it is kept, and how long it is. */
typedef struct part {
    void *at; /* of a pointer in the map */
    size_t bytes;
} part_t;

enum {
    PARTS = 19,
    PART_ALIGN = 256
};

static size_t slot_count(const gpurt_executor_map_t *m)
{
    /* without that of the edges: levels, free tasks, groups, tasks that wait for a time */
    return ((size_t)(GPURT_RING_FREE_EDGES + m->groups + 1) << m->task_shift) +
           ((size_t)1 << m->edge_shift);
}

static void parts_list(gpurt_executor_own_t *e, part_t parts[PARTS])
{
    gpurt_executor_map_t *m = &e->map;
    part_t all[PARTS] = {
        {&m->words, sizeof *m->words},
        {&m->blocks, e->blocks * sizeof *m->blocks},
        {&m->tasks, m->task_count * sizeof *m->tasks},
        {&m->marks, m->task_count * sizeof *m->marks},
        {&m->due, m->task_count * sizeof *m->due},
        {&m->at, m->places ? m->task_count * sizeof *m->at : 0},
        {&m->homes, m->places * sizeof *m->homes},
        {&m->home_slots, ((size_t)m->places << m->home_shift) * sizeof *m->home_slots},
        {&m->deques, ((size_t)e->blocks << GPURT_DEQUE_SHIFT) * sizeof *m->deques},
        {&m->edges, m->edge_count * sizeof *m->edges},
        {&m->slots, slot_count(m) * sizeof *m->slots},
        {&m->warps, (size_t)e->blocks * e->warps * sizeof *m->warps},
        {&m->queued, ((m->task_count >> m->queued_shift) + 1) * sizeof *m->queued},
        {&m->causes, e->slices ? m->task_count * sizeof *m->causes : 0},
        {&m->moves, gpurt_executor_moves_bytes(m)},
        {&m->named, e->record_count * sizeof *m->named},
        {&m->waits, e->told ? m->task_count * sizeof *m->waits : 0},
        {&m->lines, e->told ? e->kinds.count * sizeof *m->lines : 0},
        {&m->self, sizeof *m},
    };

    memcpy(parts, all, sizeof all);
}

/* Returns: bytes in all. base: NULL, only that. */
static size_t parts_place(const part_t parts[PARTS], char *base)
{
    size_t at = 0;

    for (uint32_t i = 0; i < PARTS; i++) {
        void *p = base ? base + at : NULL;

        memcpy(parts[i].at, &p, sizeof p);
        at += (parts[i].bytes + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
    }
    return at;
}

/* ---- what is in it at first ------------------------------------------------------------ */

static gpurt_status_t put(gpurt_executor_own_t *e, void *to, const void *from, size_t bytes,
                          gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_copy(e->rt, e->stream, to, from, bytes, err);

    return st == GPURT_OK ? gpurt_own_stream_sync(e->rt, e->stream, err) : st;
}

static gpurt_status_t ring_fill(gpurt_executor_own_t *e, uint32_t i, uint32_t count,
                                gpurt_error_t *err)
{
    gpurt_taskring_t ring = gpurt_executor_ring(&e->map, i);
    uint32_t first = gpurt_taskring_first(ring.shift);
    uint64_t *slots = (uint64_t *)malloc(count * sizeof *slots);
    gpurt_status_t st;

    if (!slots)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM,
                          "executor %s: a list of %u numbers", e->name, count);
    for (uint32_t n = 0; n < count; n++)
        slots[n] = gpurt_taskring_full(first + n, ring.shift, n);
    st = put(e, ring.slots, slots, count * sizeof *slots, err);
    free(slots);
    return st;
}

static gpurt_status_t words_fill(gpurt_executor_own_t *e, gpurt_error_t *err)
{
    gpurt_executor_words_t words;

    memset(&words, 0, sizeof words);
    for (uint32_t i = 0; i < GPURT_RINGS; i++) {
        uint32_t first = gpurt_taskring_first(
            i == GPURT_RING_FREE_EDGES ? e->map.edge_shift : e->map.task_shift);
        uint32_t count = i == GPURT_RING_FREE_TASKS   ? e->map.task_count
                         : i == GPURT_RING_FREE_EDGES ? e->map.edge_count
                                                      : 0;

        words.xcredits[i] = count;
        words.heads[i].x = first;
        words.tails[i].x = first + count;
    }
    words.xdue = GPURT_DUE_NEVER;
    return put(e, e->map.words, &words, sizeof words, err);
}

static gpurt_status_t homes_fill(gpurt_executor_own_t *e, gpurt_error_t *err)
{
    const size_t bytes = e->map.places * sizeof(gpurt_task_place_t);
    gpurt_task_place_t *homes =
        bytes
            ? (gpurt_task_place_t *)aligned_alloc(GPURT_ALIGNOF(gpurt_task_place_t), bytes)
            : NULL;
    gpurt_status_t st;

    if (!bytes)
        return GPURT_OK;
    if (!homes)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM,
                          "executor %s: %u places", e->name, e->map.places);
    memset(homes, 0, bytes);
    for (uint32_t i = 0; i < e->map.places; i++)
        homes[i].head.x = homes[i].tail.x = gpurt_taskring_first(e->map.home_shift);
    st = put(e, e->map.homes, homes, bytes, err);
    free(homes);
    return st;
}

static gpurt_status_t all_fill(gpurt_executor_own_t *e, size_t bytes, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_fill(e->rt, e->stream, e->memory, 0, bytes, err);

    if (st == GPURT_OK)
        st = words_fill(e, err);
    if (st == GPURT_OK)
        st = ring_fill(e, GPURT_RING_FREE_TASKS, e->map.task_count, err);
    if (st == GPURT_OK)
        st = ring_fill(e, GPURT_RING_FREE_EDGES, e->map.edge_count, err);
    if (st == GPURT_OK)
        st = homes_fill(e, err);
    if (st == GPURT_OK)
        st = put(e, (void *)(uintptr_t)e->map.self, &e->map, sizeof e->map, err);
    return st;
}

/* ---- the host's ------------------------------------------------------------------------ */

static gpurt_status_t records_make(gpurt_executor_own_t *e, gpurt_error_t *err)
{
    size_t bytes = sizeof *e->map.desk + e->record_count * sizeof *e->map.records;
    gpurt_status_t st = gpurt_host_create(e->rt, bytes, &e->host, err);

    if (st != GPURT_OK)
        return st;
    memset(e->host, 0, bytes);
    e->map.desk = (gpurt_executor_desk_t *)e->host;
    e->map.records = (gpurt_task_record_t *)(void *)(e->map.desk + 1);
    e->free_records = (uint32_t *)calloc(e->record_count, sizeof *e->free_records);
    e->record_uses = (uint32_t *)calloc(e->record_count, sizeof *e->record_uses);
    e->record_held = (bool *)calloc(e->record_count, sizeof *e->record_held);
    if (!e->free_records || !e->record_uses || !e->record_held)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM,
                          "executor %s: %u records", e->name, e->record_count);
    while (e->free_count < e->record_count) {
        e->free_records[e->free_count] = e->record_count - 1 - e->free_count;
        e->free_count++;
    }
    return GPURT_OK;
}

gpurt_status_t gpurt_executor_make(gpurt_executor_own_t *e, gpurt_error_t *err)
{
    part_t parts[PARTS];
    gpurt_status_t st = gpurt_stream_create(e->rt, &e->stream, err);
    size_t bytes;

    parts_list(e, parts);
    bytes = parts_place(parts, NULL);
    if (st == GPURT_OK)
        st = gpurt_mem_create(e->rt, bytes, &e->memory, err);
    if (st == GPURT_OK)
        st = records_make(e, err);
    if (st != GPURT_OK)
        return st;
    parts_place(parts, (char *)e->memory);
    if (!e->slices)
        e->map.causes = NULL;
    if (!e->told) {
        e->map.waits = NULL;
        e->map.lines = NULL;
    }
    return all_fill(e, bytes, err);
}

void gpurt_executor_unmake(gpurt_executor_own_t *e)
{
    if (e->stream)
        (void)gpurt_stream_destroy(e->rt, e->stream);
    (void)gpurt_mem_destroy(e->rt, e->memory);
    (void)gpurt_host_destroy(e->rt, e->host);
    free(e->free_records);
    free(e->record_uses);
    free(e->record_held);
    e->stream = 0;
    e->memory = e->host = NULL;
    e->free_records = e->record_uses = NULL;
    e->record_held = NULL;
    e->free_count = 0;
}

/* ---- looking --------------------------------------------------------------------------- */

gpurt_status_t gpurt_executor_fetch(gpurt_executor_own_t *e, void *to, const void *from,
                                    size_t bytes, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (e->on_cpu) {
        for (size_t i = 0; i < bytes / 8; i++) /* relaxed: a snapshot */
            ((uint64_t *)to)[i] = gpurt_load_relaxed_dev_u64((const uint64_t *)from + i);
        return GPURT_OK;
    }
    st = gpurt_copy(e->rt, e->stream, to, from, bytes, err);
    return st == GPURT_OK ? gpurt_own_stream_sync(e->rt, e->stream, err) : st;
}

void gpurt_executor_sum(const gpurt_executor_own_t *e, const gpurt_executor_words_t *words,
                        const gpurt_executor_block_t *blocks, gpurt_executor_status_t *out)
{
    uint32_t count = e->blocks;

    for (uint32_t i = 0; i < e->map.groups; i++) {
        out->groups[i] = (gpurt_executor_group_t){
            .percent = gpurt_load_relaxed_sys_u32(&e->xquotas[i]), /* relaxed: a number */
            .waiting = gpurt_taskring_count(words->xcredits[GPURT_RING_GROUPS + i]),
            .used_ns = words->groups[i].xused_ns,
            .held = words->groups[i].xheld};
    }
    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++)
        out->ready[i] = gpurt_taskring_count(words->xcredits[i]);
    out->timed = gpurt_taskring_count(words->xcredits[GPURT_RING_TIMED]);
    out->at_places = words->xplaced;
    out->live = (uint32_t)words->xlive;
    for (uint32_t i = 0; i < count; i++) {
        out->ended += blocks[i].xended;
        out->failed += blocks[i].xfailed;
        out->cancelled += blocks[i].xcancelled;
        out->refused += blocks[i].xrefused;
        out->groupless += blocks[i].xgroupless;
        out->at_once += blocks[i].xat_once;
        out->sliced += blocks[i].xsliced;
        out->retried += blocks[i].xretried;
        out->placed += blocks[i].xplaced;
        out->astray += blocks[i].xastray;
        out->stolen += blocks[i].xstolen;
        out->moved += blocks[i].xmoved * GPURT_TASK_SAMPLED;
        out->useful += blocks[i].xuseful;
        out->waiting += blocks[i].xwaiting;
        out->total += blocks[i].xtotal;
        out->asleep += blocks[i].xasleep != 0;
        for (uint32_t w = 0; w < GPURT_TASK_WAITS; w++)
            out->waits[w] += blocks[i].xwaits[w];
        for (uint32_t level = 0; level < GPURT_TASK_LEVELS; level++)
            out->ready[level] += (uint16_t)(blocks[i].xkept[level / 4] >> level % 4 * 16);
        out->ready[gpurt_deque_level(blocks[i].xdeque)] +=
            gpurt_deque_count(blocks[i].xdeque);
    }
}
