/* SPDX-License-Identifier: Apache-2.0 */
#include "gpurows.h"

#include "times_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum by {
    BY_TOTAL,
    BY_COUNT,
    BY_MEAN,
    BY_MAX,
    BY_MORE, /* errors, marks */
    BY_NOW,
    BY_PEAK,
    BY_TAKEN,
    BY_SIZE,
    BY_USED,
    BY_ADDRESS,
    BY_NAME,
    BY_SAMPLES /* in the place of BY_TOTAL, of kernels without times: then by count */
} by_t;

static const struct {
    by_t by;
    const char *word; /* NULL ends a table's */
} sorts[GPUROWS_TABLES][7] = {
    {{BY_TOTAL, "total"},
     {BY_COUNT, "count"},
     {BY_MEAN, "mean"},
     {BY_MAX, "max"},
     {BY_NAME, "name"}},
    {{BY_TOTAL, "total"},
     {BY_COUNT, "count"},
     {BY_MEAN, "mean"},
     {BY_MAX, "max"},
     {BY_MORE, "errors"},
     {BY_NAME, "name"}},
    {{BY_TOTAL, "total"},
     {BY_COUNT, "count"},
     {BY_MEAN, "mean"},
     {BY_MAX, "max"},
     {BY_MORE, "marks"},
     {BY_NAME, "name"}},
    {{BY_NOW, "now"}, {BY_PEAK, "peak"}, {BY_TAKEN, "taken"}, {BY_NAME, "kind"}},
    {{BY_SIZE, "size"}, {BY_USED, "used"}, {BY_ADDRESS, "address"}},
};

const char *gpurows_sort(gpurows_t table, uint32_t sort)
{
    return sort < sizeof sorts[0] / sizeof sorts[0][0] ? sorts[table][sort].word : NULL;
}

/* ---- rows ---------------------------------------------------------------------------- */

const gpurt_model_host_rows_t *gpurows_host(const gpurt_model_activity_t *a,
                                            gpurows_t table)
{
    return table == GPUROWS_CALLS ? &a->call_rows : &a->range_rows;
}

const gpurt_model_times_t *gpurows_times(const gpurt_model_activity_t *a, gpurows_t table,
                                         uint32_t index)
{
    switch (table) {
    case GPUROWS_KERNELS:
        return &a->kernels[index].times;
    case GPUROWS_CALLS:
    case GPUROWS_RANGES:
        return &gpurows_host(a, table)->list[index].times;
    default:
        return NULL;
    }
}

uint64_t gpurows_whole_ns(const gpurt_model_activity_t *a, gpurows_t table)
{
    uint32_t count = table == GPUROWS_KERNELS ? (uint32_t)GPURT_MODEL_KERNEL_ROWS
                                              : GPURT_MODEL_HOST_ROWS + 1u;
    uint64_t sum = 0;

    if (table > GPUROWS_RANGES)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        sum = gpurt_model_sum(sum, times_total(gpurows_times(a, table, i)));
    return sum;
}

double gpurows_share(const gpurt_model_activity_t *a, gpurows_t table, uint32_t index,
                     uint64_t whole, bool *about)
{
    const gpurt_model_times_t *t = gpurows_times(a, table, index);

    const bool sampled = whole == 0 && table == GPUROWS_KERNELS && a->warp_samples;

    *about = sampled || (table == GPUROWS_KERNELS && a->windows.rows);
    if (sampled)
        return times_percent(a->kernels[index].samples, a->warp_samples);
    return whole || t->count > t->untimed ? times_percent(times_total(t), whole) : -1;
}

/* Rows that have a name, and of how many there may be one. Another program may have written the
 * counts. */
static uint32_t named_rows(const gpurt_model_activity_t *a, gpurows_t table)
{
    static const uint32_t most[GPUROWS_TABLES] = {
        GPURT_MODEL_KERNELS, GPURT_MODEL_HOST_ROWS, GPURT_MODEL_HOST_ROWS,
        GPURT_MODEL_MEMORIES, GPURT_MODEL_POOLS};
    const uint64_t counts[GPUROWS_TABLES] = {a->kernel_count, a->call_rows.count,
                                             a->range_rows.count, a->memories.count,
                                             a->memories.pool_count};

    return counts[table] < most[table] ? (uint32_t)counts[table] : most[table];
}

/* Those behind the named ones: all others. Returns: the first one, and in *end the one behind
 * the last. */
static uint32_t other_rows(gpurows_t table, uint32_t *end)
{
    static const uint32_t ends[GPUROWS_TABLES] = {
        GPURT_MODEL_KERNEL_ROWS, GPURT_MODEL_HOST_ROWS + 1, GPURT_MODEL_HOST_ROWS + 1,
        GPURT_MODEL_MEMORIES + 1, 0};
    static const uint32_t first[GPUROWS_TABLES] = {
        GPURT_MODEL_KERNELS, GPURT_MODEL_HOST_ROWS, GPURT_MODEL_HOST_ROWS,
        GPURT_MODEL_MEMORIES, 0};

    *end = ends[table];
    return first[table];
}

static bool is_used(const gpurt_model_activity_t *a, gpurows_t table, uint32_t index)
{
    const gpurt_model_memory_sums_t *m;

    if (table == GPUROWS_KERNELS)
        return a->kernels[index].times.count > 0;
    if (table == GPUROWS_MEMORY) {
        m = &a->memories.list[index].sums;
        return m->takes || m->gives;
    }
    return gpurows_host(a, table)->list[index].times.count ||
           gpurows_host(a, table)->list[index].more;
}

uint32_t gpurows_others(const gpurt_model_activity_t *a, gpurows_t table)
{
    uint32_t count = 0, end;

    for (uint32_t i = other_rows(table, &end); i < end; i++)
        count += is_used(a, table, i);
    return count;
}

uint32_t gpurows_count(const gpurt_model_activity_t *a, gpurows_t table)
{
    return named_rows(a, table) + gpurows_others(a, table);
}

/* ---- order --------------------------------------------------------------------------- */

typedef struct entry {
    uint64_t key;             /* larger comes first */
    const char *name, *extra; /* equal ones by these */
    uint16_t room, extra_room;
    uint16_t index;
} entry_t;

static int compare(const void *x, const void *y)
{
    const entry_t *a = x, *b = y;
    int order;

    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    order = strncmp(a->name, b->name, a->room);
    if (order == 0)
        order = strncmp(a->extra, b->extra, a->extra_room);
    return order ? order : (int)a->index - (int)b->index; /* never jumps between frames */
}

static uint64_t key_of_times(const gpurt_model_times_t *t, by_t by)
{
    return by == BY_TOTAL   ? times_total(t)
           : by == BY_COUNT ? t->count
           : by == BY_MEAN  ? times_mean(t)
           : by == BY_MAX   ? t->max_ns
                            : 0;
}

static uint64_t key_of_memory(const gpurt_model_memory_sums_t *m, by_t by)
{
    return by == BY_NOW     ? m->bytes
           : by == BY_PEAK  ? m->peak_bytes
           : by == BY_TAKEN ? m->takes
                            : 0;
}

static uint64_t key_of_pool(const gpurt_model_pool_t *p, by_t by)
{
    return by == BY_SIZE   ? gpurows_known(p->bytes)
           : by == BY_USED ? gpurows_known(p->used)
                           : UINT64_MAX - p->address;
}

static uint64_t key_of(const gpurt_model_activity_t *a, gpurows_t table, by_t by,
                       uint32_t i)
{
    if (table == GPUROWS_MEMORY)
        return key_of_memory(&a->memories.list[i].sums, by);
    if (table == GPUROWS_POOLS)
        return key_of_pool(&a->memories.pools[i], by);
    if (by == BY_SAMPLES)
        return (uint64_t)a->kernels[i].samples << 32 |
               gpurt_at_least(a->kernels[i].times.count);
    if (by == BY_MORE)
        return gpurows_host(a, table)->list[i].more;
    return key_of_times(gpurows_times(a, table, i), by);
}

static void name_entry(const gpurt_model_activity_t *a, gpurows_t table, entry_t *e)
{
    const gpurt_model_host_row_t *host;

    switch (table) {
    case GPUROWS_KERNELS:
        e->name = a->kernels[e->index].name;
        e->room = GPURT_MODEL_KERNEL_NAME;
        break;
    case GPUROWS_CALLS:
    case GPUROWS_RANGES:
        host = &gpurows_host(a, table)->list[e->index];
        e->name = host->name;
        e->room = GPURT_MODEL_KERNEL_NAME;
        e->extra = host->domain;
        e->extra_room = GPURT_MODEL_DOMAIN;
        break;
    case GPUROWS_MEMORY:
        e->name = a->memories.list[e->index].kind;
        e->room = GPURT_MODEL_WORDS;
        break;
    default:
        break;
    }
}

static void rows_sort(const gpurt_model_activity_t *a, gpurows_t table, by_t by,
                      uint16_t *order, uint32_t count)
{
    entry_t entries[GPUROWS_MOST];

    for (uint32_t i = 0; i < count; i++) {
        entries[i] = (entry_t){
            .key = key_of(a, table, by, i), .name = "", .extra = "", .index = (uint16_t)i};
        name_entry(a, table, &entries[i]);
    }
    qsort(entries, count, sizeof entries[0], compare);
    for (uint32_t i = 0; i < count; i++)
        order[i] = entries[i].index;
}

uint32_t gpurows_order(const gpurt_model_activity_t *a, gpurows_t table, uint32_t sort,
                       uint16_t order[GPUROWS_MOST])
{
    uint32_t count = named_rows(a, table), end;
    by_t by = sorts[table][gpurows_sort(table, sort) ? sort : 0].by;

    if (by == BY_TOTAL && table == GPUROWS_KERNELS && gpurows_whole_ns(a, table) == 0)
        by = BY_SAMPLES;
    if (sort == GPUROWS_AS_TOLD)
        for (uint32_t i = 0; i < count; i++)
            order[i] = (uint16_t)i;
    else
        rows_sort(a, table, by, order, count);
    for (uint32_t i = other_rows(table, &end); i < end; i++)
        if (is_used(a, table, i))
            order[count++] = (uint16_t)i;
    return count;
}

/* ---- names --------------------------------------------------------------------------- */

/* Where something is, and whose. */
static int where_put(char *at, size_t room, uint32_t gpu, uint32_t pid)
{
    int used = 0;

    if (gpu < GPURT_MODEL_DEVICES)
        used = snprintf(at, room, ", GPU %" PRIu32, gpu);
    if (pid)
        used += snprintf(at + used, room - (size_t)used, ", process %" PRIu32, pid);
    return used;
}

static void memory_name(const gpurt_model_memory_row_t *r, char buffer[GPUROWS_NAME])
{
    int used = snprintf(buffer, GPUROWS_NAME, "%.*s", (int)sizeof r->kind, r->kind);

    where_put(buffer + used, GPUROWS_NAME - (size_t)used, r->gpu, r->pid);
}

static void pool_name(const gpurt_model_pool_t *p, char buffer[GPUROWS_NAME])
{
    int used = snprintf(buffer, GPUROWS_NAME, "0x%" PRIx64, p->address);

    used += where_put(buffer + used, GPUROWS_NAME - (size_t)used, p->gpu, p->pid);
    snprintf(buffer + used, GPUROWS_NAME - (size_t)used, ", %.*s", (int)sizeof p->kind,
             p->kind);
}

/* The domain that a program has not chosen is not worth a word. */
static void host_name(const gpurt_model_host_row_t *r, char buffer[GPUROWS_NAME])
{
    int used = snprintf(buffer, GPUROWS_NAME, "%.*s", (int)sizeof r->name, r->name);

    if (r->domain[0] && strncmp(r->domain, "default", sizeof r->domain) != 0)
        snprintf(buffer + used, GPUROWS_NAME - (size_t)used, " (%.*s)",
                 (int)sizeof r->domain, r->domain);
}

const char *gpurows_name(const gpurt_model_activity_t *a, gpurows_t table, uint32_t index,
                         char buffer[GPUROWS_NAME])
{
    switch (table) {
    case GPUROWS_KERNELS:
        snprintf(buffer, GPUROWS_NAME, "%.*s", GPURT_MODEL_KERNEL_NAME,
                 a->kernels[index].name);
        break;
    case GPUROWS_MEMORY:
        memory_name(&a->memories.list[index], buffer);
        break;
    case GPUROWS_POOLS:
        pool_name(&a->memories.pools[index], buffer);
        break;
    default:
        host_name(&gpurows_host(a, table)->list[index], buffer);
    }
    return buffer;
}
