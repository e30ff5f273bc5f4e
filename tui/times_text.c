/* SPDX-License-Identifier: Apache-2.0 */
#include "times_text.h"

#include "activity_text.h"
#include "render.h"

#include <inttypes.h>
#include <string.h>

const char *times_known(const gpurt_model_times_t *t, uint64_t ns, char buffer[24])
{
    return t->count > t->untimed ? activity_time(ns, buffer) : "-";
}

uint64_t times_mean(const gpurt_model_times_t *t)
{
    return t->count > t->untimed ? t->total_ns / (t->count - t->untimed) : 0;
}

double times_percent(uint64_t part, uint64_t whole)
{
    return whole ? (double)part * 100.0 / (double)whole : 0;
}

void times_plain(FILE *out, const gpurt_model_times_t *t, uint64_t whole)
{
    char total[24], mean[24], minimum[24], p50[24], p99[24], most[24];

    fprintf(out, "%6.2f%% %9" PRIu64 " %10s %10s %10s %10s %10s %10s",
            times_percent(t->total_ns, whole), t->count, times_known(t, t->total_ns, total),
            times_known(t, times_mean(t), mean), times_known(t, t->min_ns, minimum),
            times_known(t, t->p50_ns, p50), times_known(t, t->p99_ns, p99),
            times_known(t, t->max_ns, most));
}

void times_json(FILE *out, const gpurt_model_times_t *t, uint64_t whole)
{
    fprintf(out,
            "\"count\":%" PRIu64 ",\"untimed\":%" PRIu64 ",\"total_ns\":%" PRIu64
            ",\"share_percent\":%.2f,",
            t->count, t->untimed, t->total_ns, times_percent(t->total_ns, whole));
    if (t->count > t->untimed)
        fprintf(out,
                "\"mean_ns\":%" PRIu64 ",\"min_ns\":%" PRIu64 ",\"p50_ns\":%" PRIu64
                ",\"p99_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64,
                times_mean(t), t->min_ns, t->p50_ns, t->p99_ns, t->max_ns);
    else
        fputs("\"mean_ns\":null,\"min_ns\":null,\"p50_ns\":null,\"p99_ns\":null,"
              "\"max_ns\":null",
              out);
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

void times_json_name(FILE *out, const char *name, size_t room)
{
    char escaped[6 * GPURT_MODEL_KERNEL_NAME + 1];
    gpurt_text_t to;

    gpurt_text_init(&to, escaped, sizeof escaped);
    gpurt_render_json(&to, name, strnlen(name, room));
    fputs(escaped, out);
}

int times_compare(const gpurt_model_times_t *a, const char *a_name,
                  const gpurt_model_times_t *b, const char *b_name)
{
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return strncmp(a_name, b_name, GPURT_MODEL_KERNEL_NAME);
}
