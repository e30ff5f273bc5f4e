/* SPDX-License-Identifier: Apache-2.0 */
#include "host_text.h"

#include "activity_text.h"
#include "times_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums ---------------------------------------------------------------------------- */

typedef struct host_sum {
    uint64_t names, count, untimed, ns, more;
} host_sum_t;

static host_sum_t sum_of(const gpurt_model_host_rows_t *rows)
{
    host_sum_t sum = {0};

    for (uint32_t i = 0; i <= GPURT_MODEL_HOST_ROWS; i++) {
        const gpurt_model_host_row_t *r = &rows->list[i];

        sum.names += r->times.count || r->more;
        sum.count += r->times.count;
        sum.untimed += r->times.untimed;
        sum.ns += r->times.total_ns;
        sum.more += r->more;
    }
    return sum;
}

static int compare(const void *x, const void *y)
{
    const gpurt_model_host_row_t *a = *(const gpurt_model_host_row_t *const *)x;
    const gpurt_model_host_row_t *b = *(const gpurt_model_host_row_t *const *)y;
    int order = times_compare(&a->times, a->name, &b->times, b->name);

    return order ? order : strncmp(a->domain, b->domain, sizeof a->domain);
}

/* Most time first, the others last. Returns: how many. */
static uint32_t order_of(const gpurt_model_host_rows_t *rows,
                         const gpurt_model_host_row_t *order[GPURT_MODEL_HOST_ROWS + 1])
{
    const gpurt_model_host_row_t *others = &rows->list[GPURT_MODEL_HOST_ROWS];
    uint32_t count =
        rows->count < GPURT_MODEL_HOST_ROWS ? (uint32_t)rows->count : GPURT_MODEL_HOST_ROWS;

    for (uint32_t i = 0; i < count; i++)
        order[i] = &rows->list[i];
    qsort(order, count, sizeof order[0], compare);
    if (others->times.count || others->more)
        order[count++] = others;
    return count;
}

/* ---- plain --------------------------------------------------------------------------- */

void host_plain_sums(FILE *out, const gpurt_model_activity_t *a)
{
    host_sum_t calls = sum_of(&a->call_rows), ranges = sum_of(&a->range_rows);
    char total[24];

    if (calls.count)
        fprintf(out,
                "calls      %" PRIu64 " of %" PRIu64 " names, %s, %" PRIu64
                " without times, %" PRIu64 " with errors\n",
                calls.count, calls.names, activity_time(calls.ns, total), calls.untimed,
                calls.more);
    if (ranges.names || a->range_ends_alone)
        fprintf(
            out,
            "ranges     %" PRIu64 " of %" PRIu64 " names, %" PRIu64
            " without an end, %" PRIu64 " ends without a beginning, %" PRIu64 " marks\n",
            ranges.count, ranges.names, ranges.untimed, a->range_ends_alone, ranges.more);
}

static void plain_row(FILE *out, const gpurt_model_host_row_t *r, uint64_t whole)
{
    times_plain(out, &r->times, whole);
    fprintf(out, " %7" PRIu64 "  ", r->more);
    times_plain_name(out, r->name, sizeof r->name, 80);
    if (r->domain[0] && strcmp(r->domain, "default") != 0) {
        fputs(" (", out);
        times_plain_name(out, r->domain, sizeof r->domain, sizeof r->domain);
        fputc(')', out);
    }
    fputc('\n', out);
}

/* more, what: the head of the last two columns. */
static void plain_rows(FILE *out, const gpurt_model_host_rows_t *rows, const char *more,
                       const char *what, uint32_t most)
{
    const gpurt_model_host_row_t *order[GPURT_MODEL_HOST_ROWS + 1];
    uint32_t count = order_of(rows, order);
    uint64_t whole = sum_of(rows).ns;

    if (count)
        fprintf(out, TIMES_HEAD " %7s  %s\n", more, what);
    for (uint32_t i = 0; i < count && i < most; i++)
        plain_row(out, order[i], whole);
    if (count > most)
        fprintf(out, "and %" PRIu32 " more names\n", count - most);
}

void host_plain(FILE *out, const gpurt_model_activity_t *a, uint32_t most)
{
    plain_rows(out, &a->call_rows, "errors", "call", most);
    plain_rows(out, &a->range_rows, "marks", "range", most);
}

/* ---- JSON ---------------------------------------------------------------------------- */

/* domains: rows have them; but that of the others is null. */
static void json_rows(FILE *out, const gpurt_model_host_rows_t *rows, bool domains,
                      const char *more)
{
    const gpurt_model_host_row_t *order[GPURT_MODEL_HOST_ROWS + 1];
    uint32_t count = order_of(rows, order);
    uint64_t whole = sum_of(rows).ns;

    for (uint32_t i = 0; i < count; i++) {
        const gpurt_model_host_row_t *r = order[i];

        fputs(i ? ",{\"name\":\"" : "{\"name\":\"", out);
        times_json_name(out, r->name, sizeof r->name);
        fputs("\",", out);
        if (domains && r->domain[0]) {
            fputs("\"domain\":\"", out);
            times_json_name(out, r->domain, sizeof r->domain);
            fputs("\",", out);
        } else if (domains)
            fputs("\"domain\":null,", out);
        times_json(out, &r->times, whole);
        fprintf(out, ",\"%s\":%" PRIu64 "}", more, r->more);
    }
}

void host_json(FILE *out, const gpurt_model_activity_t *a)
{
    fputs(",\"call_list\":[", out);
    json_rows(out, &a->call_rows, false, "errors");
    fputs("],\"range_list\":[", out);
    json_rows(out, &a->range_rows, true, "marks");
    fprintf(out, "],\"ranges_open\":%" PRIu64 ",\"range_ends_alone\":%" PRIu64,
            sum_of(&a->range_rows).untimed, a->range_ends_alone);
}
