/* SPDX-License-Identifier: Apache-2.0 */
/* What GPUs did: each device's time, copies, streams, and the tables of kernels and of what the
 * host did for them. */
#include "activity_text.h"
#include "collector_text.h"
#include "gpulist.h"
#include "gputable.h"
#include "gputime.h"
#include "plural.h"
#include "windows_text.h"

#include <stdio.h>
#include <string.h>

enum {
    RUNNING = 4, /* streams */
    STATES = 3   /* of collectors: the tables below want the room */
};

static int copies_draw(const gpurt_model_activity_t *a, canvas_t *c, rect_t area, int row)
{
    char bytes[24], rate[24], name[40];
    int at = 1;

    for (uint32_t i = 0; i < GPURT_COPY_KINDS * GPURT_MEMORY_KINDS; i++) {
        const gpurt_model_copy_t *copy = activity_copies(a, i);

        if (copy->count)
            at = canvas_printf(
                c, area, row, at, STYLE_INFO, "%s %llu, %s, %s   ",
                activity_copy(i / GPURT_MEMORY_KINDS, i % GPURT_MEMORY_KINDS, name),
                (unsigned long long)copy->count, activity_bytes(copy->bytes, bytes),
                activity_rate(copy, rate));
    }
    for (uint32_t i = 0; i < GPURT_MANAGED_KINDS; i++)
        if (a->managed[i].count)
            at = canvas_printf(c, area, row, at, STYLE_INFO, "managed, %s %llu, %s   ",
                               activity_managed(i), (unsigned long long)a->managed[i].count,
                               activity_bytes(a->managed[i].bytes, bytes));
    if (a->fills.count)
        at = canvas_printf(c, area, row, at, STYLE_INFO, "fills %llu, %s   ",
                           (unsigned long long)a->fills.count,
                           activity_bytes(a->fills.bytes, bytes));
    if (a->waits.count)
        at = canvas_printf(c, area, row, at, STYLE_DIM, "waits %llu, %s",
                           (unsigned long long)a->waits.count,
                           activity_time(a->waits.ns, rate));
    return at > 1 ? row + 1 : row;
}

static void title(const gpurt_model_activity_t *a, canvas_t *c, rect_t area)
{
    activity_sum_t sum = activity_sum(a);
    char text[192], time[24];
    int used = snprintf(text, sizeof text, "GPU  %llu kernel%s, %s%s",
                        (unsigned long long)sum.count, gpurt_plural(sum.count, "s"),
                        sum.about ? "~" : "", activity_time(sum.ns, time));

    if (a->graphs.count)
        used += snprintf(
            text + used, sizeof text - (size_t)used, ", %llu launch%s of graphs, %s",
            (unsigned long long)a->graphs.count, gpurt_plural(a->graphs.count, "es"),
            activity_time(a->graphs.ns, time));
    if (sum.untimed)
        used += snprintf(text + used, sizeof text - (size_t)used, ", %llu without times",
                         (unsigned long long)sum.untimed);
    if (a->dropped)
        snprintf(text + used, sizeof text - (size_t)used, ", %llu dropped by CUPTI",
                 (unsigned long long)a->dropped);
    canvas_rule(c, area, text);
}

/* Those that lack most; nothing where all are plainly on. */
static int states_draw(const gpurt_model_activity_t *a, canvas_t *c, rect_t area, int row)
{
    uint32_t rows = collector_rows(a);
    char who[COLLECTOR_WHO];

    rows = rows < STATES ? rows : STATES;
    for (uint32_t i = 0; i < rows; i++) {
        const gpurt_model_collector_t *one = &a->collectors[i];
        int at = 1;

        if (*collector_who(a, one, who))
            at = canvas_printf(c, area, row, at, STYLE_WARN, "%s: ", who);
        canvas_text(c, area, row++, at, STYLE_WARN, one->state,
                    strnlen(one->state, sizeof one->state));
    }
    if (a->collectors_troubled > rows)
        canvas_printf(c, area, row++, 1, STYLE_WARN, "nor %s %llu more plainly on",
                      a->collectors_troubled - rows == 1 ? "is" : "are",
                      (unsigned long long)a->collectors_troubled - rows);
    return row;
}

/* What the collector would rather not say; nothing where all is well. */
static int collector_draw(const gpurt_model_activity_t *a, canvas_t *c, rect_t area,
                          int row)
{
    const struct {
        uint64_t count;
        const char *before, *what, *after;
    } parts[] = {{a->bad, "", " record", " without times   "},
                 {a->starved, "no buffer ", " time", "   "},
                 {a->unknown, "", " record", " of unknown kinds   "},
                 {a->samples_left_out, "", " sample", " left out   "}};
    int at = 1;

    row = states_draw(a, c, area, row);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].count)
            at =
                canvas_printf(c, area, row, at, STYLE_WARN, "%s%llu%s%s%s", parts[i].before,
                              (unsigned long long)parts[i].count, parts[i].what,
                              gpurt_plural(parts[i].count, "s"), parts[i].after);
    return at > 1 ? row + 1 : row;
}

static int windows_draw(const gpurt_model_activity_t *a, canvas_t *c, rect_t area, int row)
{
    char line[WINDOWS_LINE];

    if (!windows_line(a, line))
        return row;
    canvas_printf(c, area, row, 1, a->windows.window_ms ? STYLE_DIM : STYLE_WARN,
                  "windows: %s", line);
    return row + 1;
}

/* Where launches were counted and nothing else is known of them: how to know more. */
static int counted_draw(const gpurt_model_activity_t *a, canvas_t *c, rect_t area, int row)
{
    const activity_sum_t sum = activity_sum(a);

    if (sum.count == 0 || sum.untimed < sum.count || a->counted == 0)
        return row;
    canvas_put(c, area, row, 1, STYLE_DIM,
               "launches are counted, ~ is by samples: --cupti full has times, copies and "
               "streams");
    return row + 1;
}

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_model_activity_t *a = &p->view->activity;
    rect_t above = area; /* what leaves a table its room */
    int row = 1;

    if (a->rows == 0) {
        canvas_rule(c, area, "GPU");
        canvas_put(c, area, 2, 1, STYLE_DIM, "Nothing is known of a GPU.");
        canvas_put(c, area, 3, 1, STYLE_DIM,
                   "CUDA programs that gpurt-top or gpurt-record starts are watched,");
        canvas_put(c, area, 4, 1, STYLE_DIM,
                   "unless GPURT_CUPTI=off, or another profiler has them.");
        return;
    }
    if (!p->streams_open)
        above.rows -= gputable_least(area.rows);
    title(a, c, area);
    row = gpulist_gpus(p, c, above, row);
    row = gpulist_running(p, c, above, row, RUNNING);
    row = copies_draw(a, c, above, row);
    row = windows_draw(a, c, above, row);
    row = collector_draw(a, c, above, row);
    row = counted_draw(a, c, above, row);
    row = gputime_draw(p, c, area, row < above.rows ? row : above.rows);
    if (!p->streams_open)
        gputable_draw(p, c, area, row);
}

static bool act(picture_t *p, action_t action, int page)
{
    return gputime_act(p, action) || gputable_act(p, action, page);
}

const view_class_t view_gpu = {"GPU", draw, act};
