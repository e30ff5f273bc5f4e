/* SPDX-License-Identifier: Apache-2.0 */
#include "gpulist.h"

#include "activity_text.h"
#include "times_text.h"

#include <stdio.h>
#include <string.h>

enum {
    BAR = 20,  /* columns of time taken apart */
    CURVE = 16 /* tenths of a second */
};
#define STALE_NS 3000000000ull /* figures come once a second */

static bool is_known(const gpurt_model_gpu_t *g)
{
    return g->busy.ns || g->environment_ns || g->samples;
}

uint32_t gpulist_count(const gpurt_model_activity_t *a)
{
    uint32_t count = 0;

    for (int i = 0; i < GPURT_MODEL_DEVICES; i++)
        count += is_known(&a->gpus[i]);
    return count + (a->gpus_left_out > 0);
}

/* ---- GPUs ---------------------------------------------------------------------------- */

static int percent(uint64_t part, uint64_t whole)
{
    if (part >= whole)
        return whole ? 100 : 0;
    return (int)((double)part * 100.0 / (double)whole + 0.5);
}

/* The last stretch of time, a piece for each thing that it was spent on. */
static int bar_draw(canvas_t *c, rect_t area, int row, int column,
                    const gpurt_model_busy_t *b)
{
    const struct {
        uint64_t ns;
        style_t style;
        uint32_t code;
        char ascii;
    } parts[] = {{b->kernels, STYLE_GOOD, 0x2588, '#'},
                 {b->copying, STYLE_INFO, 0x2593, '+'},
                 {b->waiting, STYLE_WARN, 0x2592, 'w'},
                 {b->launching, STYLE_ERROR, 0x2592, 'l'},
                 {b->idle, STYLE_RULE, 0xb7, '.'}};
    uint64_t sum = 0;
    int at = 0;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        int end;

        sum += parts[i].ns < b->ns ? parts[i].ns : b->ns;
        end = percent(sum < b->ns ? sum : b->ns, b->ns) * BAR / 100;
        for (; at < end; at++)
            canvas_glyph(c, area, row, column + at, parts[i].style, parts[i].code,
                         parts[i].ascii);
    }
    return column + BAR + 1;
}

static void busy_draw(canvas_t *c, rect_t area, int row, int at,
                      const gpurt_model_busy_t *b)
{
    if (b->ns == 0)
        return;
    at = bar_draw(c, area, row, at, b);
    at = canvas_printf(c, area, row, at, STYLE_GOOD, "kernels %d%% ",
                       percent(b->kernels, b->ns));
    if (b->copying)
        at = canvas_printf(c, area, row, at, STYLE_INFO, "copies %d%% ",
                           percent(b->copying, b->ns));
    if (b->waiting)
        at = canvas_printf(c, area, row, at, STYLE_WARN, "told of end %d%% ",
                           percent(b->waiting, b->ns));
    if (b->launching)
        at = canvas_printf(c, area, row, at, STYLE_ERROR, "launching %d%% ",
                           percent(b->launching, b->ns));
    canvas_printf(c, area, row, at, STYLE_DIM, "idle %d%%", percent(b->idle, b->ns));
}

static void gpu_draw(canvas_t *c, rect_t area, int row, int device,
                     const gpurt_model_gpu_t *g, uint64_t now_ns)
{
    const gpurt_activity_environment_t *e = &g->environment;
    char used[24], all[24], name[ACTIVITY_GPU];
    int at = canvas_printf(c, area, row, 1, STYLE_BOLD, "%s ",
                           activity_gpu((uint32_t)device, g, name));

    if (g->environment_ns) {
        at = canvas_printf(c, area, row, at,
                           now_ns > g->environment_ns + STALE_NS ? STYLE_DIM : STYLE_NORMAL,
                           "%3u%%  %s of %s  %u W  %u C  %u MHz  ", e->gpu_percent,
                           activity_bytes(gpurt_pair_value(e->memory_used), used),
                           activity_bytes(gpurt_pair_value(e->memory_total), all),
                           e->milliwatts / 1000, e->celsius, e->sm_mhz);
    }
    if (g->recent_ns && now_ns > g->recent_ns + STALE_NS) /* idle, or one long kernel */
        canvas_printf(c, area, row, at, STYLE_DIM, "nothing has ended for %llu s",
                      (unsigned long long)((now_ns - g->recent_ns) / 1000000000));
    else
        busy_draw(c, area, row, at, &g->recent);
}

/* The last tenths of a second of each measure, and what the newest says. */
static void samples_draw(canvas_t *c, rect_t area, int row, int device,
                         const gpurt_timeline_t *t, uint64_t now_ns)
{
    int at = 7;

    for (uint32_t m = 0; m < GPURT_SAMPLE_MEASURES; m++) {
        uint64_t curve[CURVE] = {0};
        uint32_t mean, last = 0;
        bool any = false;

        for (uint64_t i = 0; i < CURVE; i++)
            if (gpurt_timeline_sample(t, (uint32_t)device,
                                      now_ns - (CURVE - 1 - i) * GPURT_TIMELINE_TENTH_NS, m,
                                      &mean)) {
                curve[i] = last = mean;
                any = true;
            }
        if (!any)
            continue;
        at = canvas_printf(c, area, row, at, STYLE_DIM, "%s ", activity_measure(m));
        at = canvas_printf(c, area, row, at, STYLE_NORMAL, "%u%% ", (last + 50) / 100);
        canvas_spark(c, area, row, at, CURVE, STYLE_GOOD, curve, CURVE, 10000);
        at += CURVE + 1;
    }
}

int gpulist_gpus(const picture_t *p, canvas_t *c, rect_t area, int row)
{
    const gpurt_model_activity_t *a = &p->view->activity;

    for (int i = 0; i < GPURT_MODEL_DEVICES && row < area.rows; i++)
        if (is_known(&a->gpus[i])) {
            gpu_draw(c, area, row++, i, &a->gpus[i], p->view->numbers.time_ns);
            if (a->gpus[i].samples && p->shown == VIEW_GPU && row < area.rows)
                samples_draw(c, area, row++, i, &p->view->timeline,
                             p->view->numbers.time_ns);
        }
    if (a->gpus_left_out && row < area.rows)
        canvas_printf(c, area, row++, 1, STYLE_WARN,
                      "%llu records of other GPUs, for which there is no room",
                      (unsigned long long)a->gpus_left_out);
    return row;
}

/* ---- kernels ------------------------------------------------------------------------- */

/* Right ends of columns; 0: not shown. */
typedef struct columns {
    int share, count, total, mean, least, p50, p99, most, registers, shared, filled, name;
} columns_t;

static columns_t columns_of(int width)
{
    columns_t at = {.share = 8};

    at.count = at.share + 9;
    at.total = at.count + 11;
    at.mean = width >= 60 ? at.total + 11 : 0;
    at.least = width >= 141 ? at.mean + 11 : 0;
    at.p50 = width >= 100 ? (at.least ? at.least : at.mean) + 11 : 0;
    at.p99 = width >= 80 ? (at.p50 ? at.p50 : at.mean) + 11 : 0;
    at.most = width >= 120 ? at.p99 + 11 : 0;
    at.registers = width >= 110 ? (at.most ? at.most : at.p99) + 5 : 0;
    at.shared = width >= 130 ? at.registers + 8 : 0;
    at.filled = width >= 116 ? (at.shared ? at.shared : at.registers) + 5 : 0;
    at.name = (at.filled      ? at.filled
               : at.shared    ? at.shared
               : at.registers ? at.registers
               : at.p99       ? at.p99
               : at.mean      ? at.mean
                              : at.total) +
              2;
    return at;
}

static void cell(canvas_t *c, rect_t area, int row, int end, style_t style,
                 const char *text)
{
    if (end)
        canvas_right(c, area, row, end, style, text);
}

static void heading(canvas_t *c, rect_t area, int row, const columns_t *at)
{
    cell(c, area, row, at->share, STYLE_DIM, "share");
    cell(c, area, row, at->count, STYLE_DIM, "count");
    cell(c, area, row, at->total, STYLE_DIM, "total");
    cell(c, area, row, at->mean, STYLE_DIM, "mean");
    cell(c, area, row, at->least, STYLE_DIM, "min");
    cell(c, area, row, at->p50, STYLE_DIM, "p50");
    cell(c, area, row, at->p99, STYLE_DIM, "p99");
    cell(c, area, row, at->most, STYLE_DIM, "max");
    cell(c, area, row, at->registers, STYLE_DIM, "regs");
    cell(c, area, row, at->shared, STYLE_DIM, "shared");
    cell(c, area, row, at->filled, STYLE_DIM, "occ");
    canvas_put(c, area, row, at->name, STYLE_DIM, "kernel");
}

static void kernel_draw(canvas_t *c, rect_t area, int row, const columns_t *at,
                        const gpurt_model_kernel_t *k, uint64_t whole)
{
    char text[24];

    snprintf(text, sizeof text, "%.1f%%", times_percent(k->times.total_ns, whole));
    cell(c, area, row, at->share, STYLE_BOLD, text);
    cell(c, area, row, at->count, STYLE_NORMAL, canvas_short(k->times.count, text));
    cell(c, area, row, at->total, STYLE_NORMAL,
         times_known(&k->times, k->times.total_ns, text));
    cell(c, area, row, at->mean, STYLE_NORMAL,
         times_known(&k->times, times_mean(&k->times), text));
    cell(c, area, row, at->least, STYLE_NORMAL,
         times_known(&k->times, k->times.min_ns, text));
    cell(c, area, row, at->p50, STYLE_NORMAL,
         times_known(&k->times, k->times.p50_ns, text));
    cell(c, area, row, at->p99, STYLE_NORMAL,
         times_known(&k->times, k->times.p99_ns, text));
    cell(c, area, row, at->most, STYLE_NORMAL,
         times_known(&k->times, k->times.max_ns, text));
    canvas_text(c, area, row, at->name, STYLE_NORMAL, k->name,
                strnlen(k->name, sizeof k->name));
    if (k->kind == GPURT_KIND_GRAPH)
        return; /* its kernels have registers */
    snprintf(text, sizeof text, "%u", k->registers);
    cell(c, area, row, at->registers, STYLE_DIM, text);
    snprintf(text, sizeof text, "%u", k->shared_bytes);
    cell(c, area, row, at->shared, STYLE_DIM, text);
    cell(c, area, row, at->filled, STYLE_DIM, activity_occupancy(k->occupancy, text));
}

void gpulist_kernels(const picture_t *p, canvas_t *c, rect_t area, int row, int selected)
{
    const gpurt_model_activity_t *a = &p->view->activity;
    uint16_t order[GPURT_MODEL_KERNEL_ROWS];
    int count = (int)activity_order(a, order), shown = area.rows - row - 1, first = 0;
    activity_sum_t sum = activity_sum(a);
    columns_t at = columns_of(area.columns);

    if (shown < 1)
        return;
    if (selected >= shown)
        first = selected - shown + 1;
    heading(c, area, row, &at);
    for (int i = first; i < count && i - first < shown; i++) {
        kernel_draw(c, area, row + 1 + i - first, &at, &a->kernels[order[i]], sum.whole_ns);
        if (i == selected)
            canvas_row_style(c, area, row + 1 + i - first, STYLE_SELECT);
    }
}
