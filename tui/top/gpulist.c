/* SPDX-License-Identifier: Apache-2.0 */
#include "gpulist.h"

#include "activity_text.h"
#include "plural.h"
#include "running_text.h"

#include <stdio.h>
#include <string.h>

enum {
    RUNNING_TEXT = 512,
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

/* waits: there are records of them. Returns: the column behind it. */
static int busy_draw(canvas_t *c, rect_t area, int row, int at, const gpurt_model_busy_t *b,
                     bool waits)
{
    if (b->ns == 0)
        return at;
    at = bar_draw(c, area, row, at, b);
    at = canvas_printf(c, area, row, at, STYLE_GOOD, "kernels %d%% ",
                       percent(b->kernels, b->ns));
    if (b->copying)
        at = canvas_printf(c, area, row, at, STYLE_INFO, "copies %d%% ",
                           percent(b->copying, b->ns));
    if (b->waiting)
        at = canvas_printf(c, area, row, at, STYLE_WARN, "completion latency %d%% ",
                           percent(b->waiting, b->ns));
    if (b->launching)
        at = canvas_printf(c, area, row, at, STYLE_ERROR, "launch latency %d%% ",
                           percent(b->launching, b->ns));
    return canvas_printf(
        c, area, row, at, STYLE_DIM, "idle %d%%%s", percent(b->idle, b->ns),
        waits ? "" : ", completion latency among these: add host-waits to --cupti");
}

/* At the right edge, where nothing else is. */
static void model_draw(canvas_t *c, rect_t area, int row, int at,
                       const gpurt_model_gpu_t *g)
{
    int begin = area.columns - (int)strlen(g->name) - 1;

    if (g->name[0] && begin > at + 1)
        canvas_printf(c, area, row, begin, STYLE_DIM, "%s", g->name);
}

static void gpu_draw(canvas_t *c, rect_t area, int row, int device,
                     const gpurt_model_activity_t *a, uint64_t now_ns)
{
    const gpurt_model_gpu_t *g = &a->gpus[device];
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
        at = canvas_printf(c, area, row, at, STYLE_DIM, "nothing has ended for %llu s",
                           (unsigned long long)((now_ns - g->recent_ns) / 1000000000));
    else
        at = busy_draw(c, area, row, at, &g->recent, a->waits.count != 0);
    model_draw(c, area, row, at, g);
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
            gpu_draw(c, area, row++, i, a, p->view->numbers.time_ns);
            if (a->gpus[i].samples && p->shown == VIEW_GPU && row < area.rows)
                samples_draw(c, area, row++, i, &p->view->timeline,
                             p->view->numbers.time_ns);
        }
    if (a->gpus_left_out && row < area.rows)
        canvas_printf(c, area, row++, 1, STYLE_WARN,
                      "%llu record%s of other GPUs, for which there is no room",
                      (unsigned long long)a->gpus_left_out,
                      gpurt_plural(a->gpus_left_out, "s"));
    return row;
}

/* ---- what runs ----------------------------------------------------------------------- */

int gpulist_running(const picture_t *p, canvas_t *c, rect_t area, int row, uint32_t most)
{
    const gpurt_model_activity_t *a = &p->view->activity;
    const gpurt_model_running_t *streams[GPURT_MODEL_RUNNING];
    const uint32_t count = running_streams(a, streams);
    const uint64_t now = p->view->numbers.time_ns;

    for (uint32_t i = 0; i < count && i < most && row < area.rows; i++) {
        const bool is_long = running_age(streams[i], now) >= RUNNING_LONG_NS;
        char room[RUNNING_TEXT];
        gpurt_text_t text;
        int at = canvas_put(c, area, row, 1, is_long ? STYLE_WARN : STYLE_GOOD, "running ");

        gpurt_text_init(&text, room, sizeof room);
        running_line(a, streams[i], now, &text);
        canvas_text(c, area, row++, at, is_long ? STYLE_WARN : STYLE_NORMAL, text.at,
                    text.used);
    }
    if (count > most && row < area.rows)
        canvas_printf(c, area, row++, 1, STYLE_DIM, "and what runs on %u more stream%s",
                      count - most, gpurt_plural(count - most, "s"));
    return row;
}

const gpurt_model_running_t *gpulist_longest(const picture_t *p)
{
    const gpurt_model_activity_t *a = &p->view->activity;
    const gpurt_model_running_t *streams[GPURT_MODEL_RUNNING], *longest = NULL;
    const uint32_t count = running_streams(a, streams);

    for (uint32_t i = 0; i < count; i++)
        if (running_age(streams[i], p->view->numbers.time_ns) >= RUNNING_LONG_NS &&
            (!longest || streams[i]->since_ns < longest->since_ns))
            longest = streams[i];
    return longest;
}
