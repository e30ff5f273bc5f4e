/* SPDX-License-Identifier: Apache-2.0 */
#include "windows_text.h"

#include <inttypes.h>

enum {
    SMALL = 100 /* kernels below one part in so many of the time are not looked at */
};

/* Millionths as percent. */
static double percent(uint32_t parts)
{
    return (double)parts / 10000;
}

bool windows_line(const gpurt_model_activity_t *a, char line[WINDOWS_LINE])
{
    const gpurt_model_windows_t *w = &a->windows;

    if (w->rows == 0)
        return false;
    if (w->window_ms == 0) {
        snprintf(line, WINDOWS_LINE,
                 "none now: to count launches takes ~%.1f%% of the time, and the budget is "
                 "%.1f%%",
                 percent(w->counting), percent(w->budget));
        return true;
    }
    snprintf(line, WINDOWS_LINE,
             "%" PRIu32
             " ms of records in each %.2f s, %s now; that and counting take ~%.1f%% "
             "of the time, budget %.1f%%",
             w->window_ms, ((double)w->window_ms + w->pause_ms) / 1000,
             w->on ? "on" : "off", percent(w->cost), percent(w->budget));
    return true;
}

void windows_plain(FILE *out, const gpurt_model_activity_t *a)
{
    char line[WINDOWS_LINE];

    if (windows_line(a, line))
        fprintf(out, "windows    %s\n", line);
}

/* Of kernels whose share is not small, the one that is least certain. */
static double worst_error(const gpurt_model_activity_t *a, uint64_t whole)
{
    double worst = -1;

    for (uint32_t i = 0; i < GPURT_MODEL_KERNEL_ROWS; i++) {
        const gpurt_model_times_t *t = &a->kernels[i].times;
        double error =
            t->about_ns ? 100 * (double)t->about_error_ns / (double)t->about_ns : -1;

        if (t->about_ns >= whole / SMALL && error > worst)
            worst = error;
    }
    return worst;
}

void windows_plain_error(FILE *out, const gpurt_model_activity_t *a, uint64_t timed,
                         uint64_t whole)
{
    const double error = worst_error(a, whole);

    if (error >= 0)
        fprintf(out,
                "  ~ by the %" PRIu64 " launches with records; totals of kernels with 1%% "
                "and more are true to %.2g%%\n",
                timed, error);
}

void windows_json(gpurt_json_t *j, const gpurt_model_activity_t *a)
{
    const gpurt_model_windows_t *w = &a->windows;

    if (w->rows == 0) {
        gpurt_json_null(j, "windows");
        return;
    }
    gpurt_json_object(j, "windows");
    gpurt_json_bool(j, "on", w->on != 0);
    gpurt_json_number(j, "window_ms", w->window_ms);
    gpurt_json_number(j, "pause_ms", w->pause_ms);
    gpurt_json_number(j, "off_ns", w->off_ns);
    gpurt_json_decimal(j, "budget_percent", percent(w->budget), 2);
    gpurt_json_decimal(j, "cost_percent", percent(w->cost), 2);
    gpurt_json_decimal(j, "counting_percent", percent(w->counting), 2);
    gpurt_json_decimal(j, "slowdown_percent", percent(w->slowdown), 2);
    gpurt_json_object_end(j);
}
