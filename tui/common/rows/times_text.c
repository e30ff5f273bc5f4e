/* SPDX-License-Identifier: Apache-2.0 */
#include "times_text.h"

#include "activity_text.h"
#include "plural.h"
#include "render.h"

#include <inttypes.h>
#include <string.h>

/* Where others share a row nobody knows how many they are. */
#define MORE_THAN(others) ((others) ? "more than " : "")

const char *const times_heads[TIMES_COLUMNS] = {"total", "mean", "min",
                                                "p50",   "p99",  "max"};

const char *times_cell(const gpurt_model_times_t *t, times_column_t column, char buffer[24])
{
    const uint64_t ns[TIMES_COLUMNS] = {times_total(t), times_mean(t), t->min_ns,
                                        t->p50_ns,      t->p99_ns,     t->max_ns};
    const bool about = column == TIMES_TOTAL && t->about_ns;
    char text[24];

    if (t->count <= t->untimed)
        return "-";
    if (!about)
        return activity_time(ns[column], buffer);
    snprintf(buffer, 24, "~%.22s", activity_time(ns[column], text));
    return buffer;
}

uint64_t times_total(const gpurt_model_times_t *t)
{
    return t->about_ns ? t->about_ns : t->total_ns;
}

uint64_t times_mean(const gpurt_model_times_t *t)
{
    return t->count > t->untimed ? t->total_ns / (t->count - t->untimed) : 0;
}

double times_percent(uint64_t part, uint64_t whole)
{
    return whole ? (double)part * 100.0 / (double)whole : 0;
}

const char *times_names(uint64_t names, bool others, char buffer[40])
{
    snprintf(buffer, 40, "%s%" PRIu64 " name%s", MORE_THAN(others), names,
             gpurt_plural(names, "s"));
    return buffer;
}

void times_plain_rest(FILE *out, uint32_t count, uint32_t most, uint32_t others)
{
    uint32_t left = count > most ? count - most : 0;
    uint64_t known = left > others ? left - others : 0;

    if (left)
        fprintf(out, "and %s%" PRIu64 " more name%s\n", MORE_THAN(others > 0), known,
                gpurt_plural(known, "s"));
}

void times_plain_head(FILE *out)
{
    fprintf(out, "%7s %9s", "share", "count");
    for (int i = 0; i < TIMES_COLUMNS; i++)
        fprintf(out, " %10s", times_heads[i]);
}

void times_plain(FILE *out, const gpurt_model_times_t *t, double share, bool about)
{
    char text[24] = "-";

    if (share >= 0)
        snprintf(text, sizeof text, "%s%.2f%%", about ? "~" : "", share);
    fprintf(out, "%7s %9" PRIu64, text, t->count);
    for (int i = 0; i < TIMES_COLUMNS; i++)
        fprintf(out, " %10s", times_cell(t, (times_column_t)i, text));
}

void times_json(gpurt_json_t *j, const gpurt_model_times_t *t, uint64_t whole)
{
    const bool known = t->count > t->untimed;

    gpurt_json_number(j, "count", t->count);
    gpurt_json_number(j, "untimed", t->untimed);
    gpurt_json_number(j, "total_ns", t->total_ns);
    gpurt_json_decimal(j, "share_percent", times_percent(times_total(t), whole), 2);
    gpurt_json_known(j, "mean_ns", known, times_mean(t));
    gpurt_json_known(j, "min_ns", known, t->min_ns);
    gpurt_json_known(j, "p50_ns", known, t->p50_ns);
    gpurt_json_known(j, "p99_ns", known, t->p99_ns);
    gpurt_json_known(j, "max_ns", known, t->max_ns);
}

void times_plain_name(FILE *out, const char *name, size_t room, size_t width)
{
    char escaped[4 * GPURT_MODEL_KERNEL_NAME + 1];
    gpurt_text_t text;

    gpurt_text_init(&text, escaped,
                    width + 1 < sizeof escaped ? width + 1 : sizeof escaped);
    gpurt_render_plain(&text, name, strnlen(name, room));
    fputs(escaped, out);
}
