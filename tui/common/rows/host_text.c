/* SPDX-License-Identifier: Apache-2.0 */
#include "host_text.h"

#include "activity_text.h"
#include "plural.h"
#include "times_text.h"

#include <inttypes.h>

enum {
    NAME = 144 /* columns: 80 of a name, and a domain whole */
};

/* ---- sums ---------------------------------------------------------------------------- */

typedef struct host_sum {
    uint64_t count, untimed, more;
    uint32_t rows;
    char names[40];
} host_sum_t;

static host_sum_t sum_of(const gpurt_model_activity_t *a, gpurows_t table)
{
    const gpurt_model_host_rows_t *rows = gpurows_host(a, table);
    uint32_t others = gpurows_others(a, table);
    host_sum_t sum = {.rows = gpurows_count(a, table)};

    for (uint32_t i = 0; i <= GPURT_MODEL_HOST_ROWS; i++) {
        const gpurt_model_host_row_t *r = &rows->list[i];

        sum.count += r->times.count;
        sum.untimed += r->times.untimed;
        sum.more += r->more;
    }
    times_names(sum.rows - others, others > 0, sum.names);
    return sum;
}

static void calls_sums(const gpurt_model_activity_t *a, const host_sum_t *s,
                       char buffer[HOST_SUMS])
{
    char total[24];

    if (s->count)
        snprintf(
            buffer, HOST_SUMS,
            "%" PRIu64 " of %s, %s, %" PRIu64 " without times, %" PRIu64 " with errors",
            s->count, s->names, activity_time(gpurows_whole_ns(a, GPUROWS_CALLS), total),
            s->untimed, s->more);
}

static void ranges_sums(const gpurt_model_activity_t *a, const host_sum_t *s,
                        char buffer[HOST_SUMS])
{
    if (s->rows || a->range_ends_alone)
        snprintf(buffer, HOST_SUMS,
                 "%" PRIu64 " of %s, %" PRIu64 " without an end, %" PRIu64
                 " end%s without a beginning, %" PRIu64 " mark%s",
                 s->count, s->names, s->untimed, a->range_ends_alone,
                 gpurt_plural(a->range_ends_alone, "s"), s->more,
                 gpurt_plural(s->more, "s"));
}

const char *host_sums(const gpurt_model_activity_t *a, gpurows_t table,
                      char buffer[HOST_SUMS])
{
    host_sum_t sum = sum_of(a, table);

    buffer[0] = '\0';
    if (table == GPUROWS_CALLS)
        calls_sums(a, &sum, buffer);
    else
        ranges_sums(a, &sum, buffer);
    return buffer;
}

/* ---- plain --------------------------------------------------------------------------- */

void host_plain_sums(FILE *out, const gpurt_model_activity_t *a)
{
    char text[HOST_SUMS];

    if (*host_sums(a, GPUROWS_CALLS, text))
        fprintf(out, "calls      %s\n", text);
    if (*host_sums(a, GPUROWS_RANGES, text))
        fprintf(out, "ranges     %s\n", text);
}

/* more, what: the head of the last two columns. */
static void plain_rows(FILE *out, const gpurt_model_activity_t *a, gpurows_t table,
                       const char *more, const char *what, uint32_t most)
{
    uint16_t order[GPUROWS_MOST];
    uint32_t count = gpurows_order(a, table, 0, order);
    uint64_t whole = gpurows_whole_ns(a, table);
    char name[GPUROWS_NAME];

    if (count) {
        times_plain_head(out);
        fprintf(out, " %7s  %s\n", more, what);
    }
    for (uint32_t i = 0; i < count && i < most; i++) {
        const gpurt_model_host_row_t *r = &gpurows_host(a, table)->list[order[i]];

        times_plain(out, &r->times, times_percent(times_total(&r->times), whole), false);
        fprintf(out, " %7" PRIu64 "  ", r->more);
        times_plain_name(out, gpurows_name(a, table, order[i], name), sizeof name, NAME);
        fputc('\n', out);
    }
    times_plain_rest(out, count, most, gpurows_others(a, table));
}

void host_plain(FILE *out, const gpurt_model_activity_t *a, uint32_t most)
{
    plain_rows(out, a, GPUROWS_CALLS, "errors", "call", most);
    plain_rows(out, a, GPUROWS_RANGES, "marks", "range", most);
}

/* ---- JSON ---------------------------------------------------------------------------- */

/* Ranges have a domain; that of the others is null. */
static void json_rows(gpurt_json_t *j, const char *key, const gpurt_model_activity_t *a,
                      gpurows_t table, const char *more)
{
    uint16_t order[GPUROWS_MOST];
    uint32_t count = gpurows_order(a, table, 0, order);
    uint64_t whole = gpurows_whole_ns(a, table);

    gpurt_json_array(j, key);
    for (uint32_t i = 0; i < count; i++) {
        const gpurt_model_host_row_t *r = &gpurows_host(a, table)->list[order[i]];

        gpurt_json_object(j, NULL);
        gpurt_json_field(j, "name", r->name);
        if (table == GPUROWS_RANGES && r->domain[0])
            gpurt_json_field(j, "domain", r->domain);
        else if (table == GPUROWS_RANGES)
            gpurt_json_null(j, "domain");
        times_json(j, &r->times, whole);
        gpurt_json_number(j, more, r->more);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

void host_json(gpurt_json_t *j, const gpurt_model_activity_t *a)
{
    json_rows(j, "call_list", a, GPUROWS_CALLS, "errors");
    json_rows(j, "range_list", a, GPUROWS_RANGES, "marks");
    gpurt_json_number(j, "ranges_open", sum_of(a, GPUROWS_RANGES).untimed);
    gpurt_json_number(j, "range_ends_alone", a->range_ends_alone);
}
