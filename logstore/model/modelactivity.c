/* SPDX-License-Identifier: Apache-2.0 */
/* What GPUs did, added up: kernels by name, copies by direction, time by device. Sums do not
 * depend on the order of rows, so live and replay agree; only what is said to be of the last
 * one does. */
#include "modelpart.h"
#include "occupancy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- kernels ------------------------------------------------------------------------- */

/* The row of a kernel, by its name, or of a graph, by its number and whose that is: which of
 * `kernels`. */
static inline uint32_t row_of(model_activity_t *a, uint32_t kind, uint64_t key)
{
    const model_table_t table = {a, offsetof(model_activity_t, kernel_hash),
                                 offsetof(model_activity_t, kernels), sizeof a->kernels[0],
                                 KERNEL_HASH_BITS};
    bool graph = kind == GPURT_KIND_GRAPH;
    uint32_t place, row = model_table_find(table, kind, key, &place);
    model_kernel_t *k;

    if (row)
        return row - 1;
    if (a->kernel_count == GPURT_MODEL_KERNELS ||
        (graph && a->graph_rows == GPURT_MODEL_GRAPHS))
        return graph ? GPURT_MODEL_OTHER_GRAPHS : GPURT_MODEL_OTHER_KERNELS;
    a->graph_rows += graph;
    k = &a->kernels[a->kernel_count];
    k->id.kind = kind;
    k->id.key = key;
    a->kernel_hash[place] = (uint16_t)++a->kernel_count;
    return a->kernel_count - 1;
}

static inline void put_shape(model_kernel_t *k, const gpurt_row_t *row,
                             const gpurt_activity_kernel_t *words)
{
    enum {
        SHAPE_BYTES = offsetof(gpurt_activity_kernel_t, stream) -
                      offsetof(gpurt_activity_kernel_t, grid)
    };
    GPURT_STATIC_ASSERT(offsetof(model_kernel_t, shared_bytes) -
                                offsetof(model_kernel_t, grid) + sizeof k->shared_bytes ==
                            SHAPE_BYTES,
                        "the same fields");

    memcpy(k->grid, words->grid, SHAPE_BYTES);
    k->device = row->block;
    k->program = row->program;
}

static void put_graph(model_kernel_t *k, const gpurt_activity_graph_t *row)
{
    k->id.nodes = row->nodes > k->id.nodes ? row->nodes : k->id.nodes;
    model_times_put(&k->times, gpurt_pair_value(row->ns));
}

/* ---- the rest ------------------------------------------------------------------------ */

static void copy_add(gpurt_model_copy_t *c, uint64_t bytes, uint64_t ns)
{
    c->count++;
    c->bytes += bytes;
    if (ns == GPURT_ACTIVITY_NO_TIME)
        return;
    c->timed_bytes += bytes;
    c->ns += ns;
}

/* A record of faults stands for as many. */
static void managed_add(gpurt_model_copy_t managed[GPURT_MANAGED_KINDS],
                        const gpurt_activity_managed_t *row)
{
    gpurt_model_copy_t *m = &managed[row->what < GPURT_MANAGED_KINDS ? row->what : 0];

    copy_add(m, gpurt_pair_value(row->bytes), gpurt_pair_value(row->ns));
    m->count += row->faults > 1 ? row->faults - 1 : 0;
}

static void span_add(gpurt_model_span_t *s, gpurt_pair_t ns)
{
    uint64_t value = gpurt_pair_value(ns);

    s->count++;
    s->ns = gpurt_model_sum(s->ns, value == GPURT_ACTIVITY_NO_TIME ? 0 : value);
}

static void collector_put(model_collector_t *c, uint64_t time_ns,
                          const gpurt_activity_collector_t *row)
{
    if (time_ns < c->time_ns)
        return;
    c->time_ns = time_ns;
    c->sums = *row;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Launches without times. Those that have records of their own count by these. */
static void counted_put(model_activity_t *a, const gpurt_activity_counted_t *row)
{
    model_kernel_t *k = &a->kernels[row_of(a, GPURT_KIND_KERNEL, row->name)];
    const uint64_t launches = gpurt_pair_value(row->launches);
    uint64_t recorded = gpurt_pair_value(row->recorded);

    a->counted = gpurt_model_sum(a->counted, launches);
    k->times.count = gpurt_model_sum(k->times.count, launches);
    k->times.untimed = gpurt_model_sum(k->times.untimed, launches);
    recorded = recorded < k->times.untimed ? recorded : k->times.untimed;
    a->counted = less(a->counted, recorded);
    k->times.count -= recorded;
    k->times.untimed -= recorded;
}

static void window_put(model_activity_t *a, const gpurt_row_t *row,
                       const gpurt_activity_window_t *window)
{
    const uint64_t off = gpurt_pair_value(window->off);

    a->windows = (gpurt_model_windows_t){.rows = a->windows.rows + 1,
                                         .off_ns = gpurt_model_sum(a->windows.off_ns, off),
                                         .on = window->on,
                                         .window_ms = window->window_ms,
                                         .pause_ms = window->pause_ms,
                                         .budget = window->budget,
                                         .cost = window->cost,
                                         .counting = window->counting,
                                         .slowdown = window->slowdown};
    model_busy_off(a, row->program, less(row->time_ns, off), row->time_ns, window->on);
}

static void put_host(model_activity_t *a, const gpurt_row_t *row, const void *words)
{
    switch (row->kind) {
    case GPURT_KIND_WAIT:
        span_add(&a->waits, ((const gpurt_activity_wait_t *)words)->ns);
        break;
    case GPURT_KIND_OVERHEAD:
        span_add(&a->overheads, ((const gpurt_activity_overhead_t *)words)->ns);
        break;
    case GPURT_KIND_CALL:
        span_add(&a->calls, ((const gpurt_activity_call_t *)words)->ns);
        model_call_put(a, words);
        break;
    case GPURT_KIND_MEMORY:
        a->memory++;
        model_memory_put(a, row, words);
        break;
    case GPURT_KIND_MANAGED:
        managed_add(a->managed, words);
        break;
    case GPURT_KIND_POOL:
        a->pools++;
        model_pool_put(a, row, words);
        break;
    case GPURT_KIND_RANGE:
        a->ranges++;
        model_range_put(a, row, words);
        break;
    case GPURT_KIND_LAUNCH:
    case GPURT_KIND_DRIVER_LAUNCH:
        a->launches++;
        break;
    case GPURT_KIND_RUNNING:
        model_running_put(&a->running, row, words);
        break;
    case GPURT_KIND_COUNTED:
        counted_put(a, words);
        break;
    case GPURT_KIND_WINDOW:
        window_put(a, row, words);
        break;
    case GPURT_KIND_LINE:
        model_lines_put(&a->lines, row);
        break;
    case GPURT_KIND_COLLECTOR:
        collector_put(&a->collectors[row->program], row->time_ns, words);
        break;
    default:
        break;
    }
}

/* Returns: its row, where it was a kernel or a graph. */
static const model_kernel_t *put_device(model_activity_t *a, const gpurt_row_t *row,
                                        const void *words)
{
    const gpurt_activity_copy_t *copy = words;
    const gpurt_activity_fill_t *fill = words;
    const gpurt_activity_graph_t *graph = words;
    model_kernel_t *kernel = NULL;

    switch (row->kind) {
    case GPURT_KIND_KERNEL:
    case GPURT_KIND_NODE:
    case GPURT_KIND_DEVICE_NODE:
        kernel = &a->kernels[row_of(a, GPURT_KIND_KERNEL,
                                    ((const gpurt_activity_kernel_t *)words)->name)];
        put_shape(kernel, row, words);
        model_times_put(&kernel->times,
                        gpurt_pair_value(((const gpurt_activity_kernel_t *)words)->ns));
        break;
    case GPURT_KIND_COPY:
        copy_add(&a->copies[copy->direction < GPURT_COPY_KINDS ? copy->direction : 0]
                           [gpurt_copy_memory(copy)],
                 gpurt_pair_value(copy->bytes), gpurt_pair_value(copy->ns));
        break;
    case GPURT_KIND_FILL:
        copy_add(&a->fills, gpurt_pair_value(fill->bytes), gpurt_pair_value(fill->ns));
        break;
    case GPURT_KIND_GRAPH:
    case GPURT_KIND_DEVICE_GRAPH: /* begins as any */
        span_add(&a->graphs, graph->ns);
        kernel = &a->kernels[row_of(a, GPURT_KIND_GRAPH,
                                    (uint64_t)row->program << 32 | graph->graph)];
        put_graph(kernel, graph);
        break;
    case GPURT_KIND_SAMPLE:
    case GPURT_KIND_DEVICE:
    case GPURT_KIND_ENVIRONMENT:
        model_device_put(a, row, words);
        break;
    default:
        put_host(a, row, words);
    }
    return kernel;
}

/* A row that is shorter than its struct ever was (a file that somebody made) is not
 * believed. */
void model_activity_put(model_activity_t *a, gpurt_timeline_run_t *run,
                        const gpurt_row_t *row)
{
    gpurt_activity_any_t room;
    const void *words =
        gpurt_activity_load(row->kind, gpurt_row_words(row), row->words, &room);
    const model_kernel_t *kernel;
    gpurt_span_t span;

    if (!words)
        return;
    a->rows++;
    kernel = put_device(a, row, words);
    if (!gpurt_span_of(row, words, &span))
        return;
    model_busy_span(a, &span);
    gpurt_timeline_add(&a->timeline, run, &span,
                       kernel ? (uint32_t)(kernel - a->kernels) : GPURT_TIMELINE_NAMELESS);
}

/* Whether sums that hold a row may hold the next one with it: kind, level and place lie side by
 * side. */
static inline bool is_alike(const gpurt_row_t *row, const gpurt_row_t *next,
                            uint64_t tick_end_ns)
{
    enum {
        FROM = offsetof(gpurt_row_t, sm),
        BYTES = offsetof(gpurt_row_t, words) - FROM
    };

    return next->time_ns >= row->time_ns && next->time_ns < tick_end_ns &&
           next->site == row->site &&
           memcmp((const uint8_t *)next + FROM, (const uint8_t *)row + FROM, BYTES) == 0;
}

/* What model_activity_put does with a kernel of whom all is there and that lies where the run is,
 * as nearly all do. Returns: false, nothing has changed: it is another. */
static inline bool put_near(model_activity_t *a, gpurt_timeline_run_t *run,
                            const gpurt_row_t *row)
{
    const gpurt_activity_kernel_t *words = (const void *)gpurt_row_words(row);
    gaps_t *gaps;
    uint32_t kernel;

    if (row->kind != GPURT_KIND_KERNEL || row->words < sizeof *words / 4)
        return false;
    kernel = row_of(a, GPURT_KIND_KERNEL, words->name);
    if (!gpurt_timeline_more(&a->timeline, run, row, words, kernel))
        return false;
    a->rows++;
    put_shape(&a->kernels[kernel], row, words);
    model_times_put_known(&a->kernels[kernel].times, gpurt_pair_value(words->ns));
    gaps = model_busy_of(a, row->program, row->block, words->context);
    if (gaps) {
        gaps_kernel(gaps, row->time_ns, row->time_ns + gpurt_pair_value(words->ns));
        gaps->told++;
    }
    return true;
}

const gpurt_row_t *model_activity_put_alike(model_activity_t *a, gpurt_timeline_run_t *run,
                                            model_alike_t *alike, model_rows_t *rows)
{
    const uint64_t tick_end_ns = (alike->first->time_ns / TICK_NS + 1) * TICK_NS;
    /* A row of own lane values has a count of its own. */
    const bool alone = gpurt_row_per_lane(alike->first);
    const gpurt_row_t *next = alike->first, *last;
    model_rows_t left = *rows; /* in registers */

    do {
        last = next;
        if (GPURT_UNLIKELY(!put_near(a, run, last)))
            model_activity_put(a, run, last);
        alike->count++;
        next = model_rows_next(&left);
    } while (!alone && next && is_alike(last, next, tick_end_ns));
    *rows = left;
    alike->last = last;
    return next;
}

/* ---- the view ------------------------------------------------------------------------ */

void model_name(const gpurt_model_t *m, uint32_t id, char *to, size_t room)
{
    gpurt_site_info_t info;

    if (gpurt_dictionary_get(m->dictionary, id, &info) && info.kind == GPURT_DEF_STRING)
        model_text_begin(to, room, info.format, info.format_bytes);
    else
        model_text_begin(to, room, "(no name)", 9);
}

static void graph_view(const model_kernel_t *from, gpurt_model_kernel_t *to)
{
    size_t used;

    to->graph = (uint32_t)from->id.key;
    to->nodes = from->id.nodes;
    gpurt_span_graph_name(to->name, to->graph, from->id.nodes);
    used = strlen(to->name);
    if (to->pid)
        snprintf(to->name + used, sizeof to->name - used, " of %" PRIu32, to->pid);
}

/* Limits may come after the kernels. */
static uint32_t occupancy_of(const model_activity_t *a, const model_places_t *places,
                             const model_kernel_t *k)
{
    const gpurt_activity_device_t *limits =
        model_limits_of(&a->devices, places, k->program, k->device);

    if (k->id.kind != GPURT_KIND_KERNEL || !limits)
        return 0;
    return gpurt_model_occupancy(limits, (uint64_t)k->block[0] * k->block[1] * k->block[2],
                                 k->registers, k->shared_bytes);
}

static bool is_graph(const model_kernel_t *k)
{
    return k->id.kind == GPURT_KIND_GRAPH;
}

/* Whether the table has graphs of several processes: then each says whose it is. */
static bool graphs_mixed(const model_activity_t *a)
{
    const model_kernel_t *first = NULL;

    for (uint32_t i = 0; i < a->kernel_count; i++) {
        const model_kernel_t *k = &a->kernels[i];

        if (!is_graph(k))
            continue;
        if (first && first->id.key >> 32 != k->id.key >> 32)
            return true;
        first = first ? first : k;
    }
    return false;
}

/* mixed: graphs are. */
static void kernel_view(const gpurt_model_t *m, uint32_t index, bool mixed,
                        gpurt_model_kernel_t *to)
{
    const model_kernel_t *from = &m->activity.kernels[index];
    uint32_t pid =
        mixed && is_graph(from) ? model_pid_of(m, (uint32_t)(from->id.key >> 32)) : 0;

    if (from->times.count == to->times.count && from->times.untimed == to->times.untimed &&
        pid == to->pid)
        return;
    to->kind = from->id.kind;
    to->pid = pid;
    if (index == GPURT_MODEL_OTHER_KERNELS) {
        to->kind = GPURT_KIND_KERNEL;
        model_text_begin(to->name, sizeof to->name, "(all others)", 12);
    } else if (index == GPURT_MODEL_OTHER_GRAPHS) {
        to->kind = GPURT_KIND_GRAPH;
        model_text_begin(to->name, sizeof to->name, "(all other graphs)", 18);
    } else if (from->id.kind == GPURT_KIND_GRAPH)
        graph_view(from, to);
    else
        model_name(m, from->id.key, to->name, sizeof to->name);
    model_times_view(&from->times, &to->times);
    if (m->activity.windows.rows)
        model_times_estimate(&from->times, &to->times);
    to->registers = from->registers;
    to->shared_bytes = from->shared_bytes;
    memcpy(to->grid, from->grid, sizeof to->grid);
    memcpy(to->block, from->block, sizeof to->block);
}

/* How often warps were met in which: a function has its kernel's name. */
static void samples_view(const model_activity_t *a, gpurt_model_activity_t *v)
{
    const model_table_t table = {a, offsetof(model_activity_t, kernel_hash),
                                 offsetof(model_activity_t, kernels), sizeof a->kernels[0],
                                 KERNEL_HASH_BITS};
    uint32_t row, place;

    v->counted = a->counted;
    v->windows = a->windows;
    v->warp_samples = a->lines.left_out;
    for (uint32_t i = 0; i < GPURT_MODEL_KERNEL_ROWS; i++)
        v->kernels[i].samples = 0;
    for (uint32_t i = 0; i < a->lines.count; i++) {
        const gpurt_linecell_t *c = &a->lines.cells[i];

        v->warp_samples += c->samples;
        row = model_table_find(table, GPURT_KIND_KERNEL, c->function, &place);
        if (row)
            v->kernels[row - 1].samples =
                gpurt_at_least((uint64_t)v->kernels[row - 1].samples + c->samples);
    }
}

static void kernels_view(const gpurt_model_t *m, const model_places_t *places,
                         gpurt_model_activity_t *v)
{
    const model_activity_t *a = &m->activity;
    bool mixed = graphs_mixed(a);

    v->kernel_count = a->kernel_count;
    for (uint32_t i = 0; i < GPURT_MODEL_KERNEL_ROWS; i++) {
        if (i >= a->kernel_count && i < GPURT_MODEL_KERNELS)
            continue;
        v->kernels[i].occupancy = occupancy_of(a, places, &a->kernels[i]);
        kernel_view(m, i, mixed, &v->kernels[i]);
    }
    samples_view(a, v);
}

bool model_activity_view(const gpurt_model_t *m, gpurt_modelview_t *view)
{
    const model_activity_t *a = &m->activity;
    gpurt_model_activity_t *v = &view->activity;
    uint32_t programs = model_programs(m);
    model_places_t places;

    if (v->rows == a->rows && (v->rows == 0 || v->programs == programs))
        return false;
    if (v->rows > a->rows) /* a replay that stepped back: names stand in other places */
        memset(v, 0, sizeof *v);
    v->rows = a->rows;
    v->programs = programs;
    model_places_find(&a->devices, &places);
    model_gpus_view(m, &places, v);
    model_timeline_view(m, &places, &view->timeline);
    model_busy_view(&m->activity, &places, v, &view->timeline);
    memcpy(v->copies, a->copies, sizeof v->copies);
    memcpy(v->managed, a->managed, sizeof v->managed);
    v->fills = a->fills;
    v->waits = a->waits;
    v->graphs = a->graphs;
    v->calls = a->calls;
    v->overheads = a->overheads;
    v->memory = a->memory;
    v->pools = a->pools;
    v->ranges = a->ranges;
    v->launches = a->launches;
    model_collectors_view(m, v);
    kernels_view(m, &places, v);
    model_host_view(m, v);
    model_memory_view(m, &places, v);
    model_running_view(m, &places, v);
    return true;
}
