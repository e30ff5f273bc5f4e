/* SPDX-License-Identifier: Apache-2.0 */
#include "log_filter.h"

#include <stdlib.h>
#include <string.h>

bool log_filter_begin(const gpurt_option_program_t *program, const char *command,
                      const char *text, filter_run_t *run)
{
    filter_error_t err;

    if (strcmp(command, "verify") == 0) {
        gpurt_option_refuse(program, "verify reads all of a log: it takes no --filter");
        return false;
    }
    if (filter_parse(&run->filter, text, &err))
        return true;
    gpurt_option_refuse(program, "--filter: %s", err.why);
    filter_point(stderr, text, &err);
    return false;
}

bool log_filter_fits(const gpurt_log_t *log, const filter_run_t *run,
                     const gpurt_row_t *row)
{
    gpurt_log_summary_t sum;
    filter_run_t one;

    if (!run)
        return true;
    gpurt_log_summary(log, &sum);
    one.filter = run->filter;
    memset(&one.tally, 0, sizeof one.tally);
    return filter_run_row(&one, gpurt_log_dictionary(log), &sum.about, row) > 0;
}

static void row_sum(const gpurt_row_t *row, uint32_t fit, uint8_t *seen, uint32_t last_id,
                    gpurt_log_summary_t *sum)
{
    bool loss = row->kind == GPURT_KIND_LOSS;

    sum->messages += loss ? 0 : fit;
    sum->lost += gpurt_row_lost(row);
    sum->panics += gpurt_row_is_panic(row);
    if (sum->first_ns == 0 || row->time_ns < sum->first_ns)
        sum->first_ns = row->time_ns;
    if (row->time_ns > sum->last_ns)
        sum->last_ns = row->time_ns;
    if (row->site && row->site <= last_id && seen && !seen[row->site]) {
        seen[row->site] = 1;
        sum->sites++;
    }
}

void log_filter_sum(gpurt_log_t *log, filter_run_t *run, gpurt_log_summary_t *sum)
{
    const gpurt_dictionary_t *d = gpurt_log_dictionary(log);
    uint8_t *seen = calloc(d->last_id + 1u, 1);

    sum->messages = sum->lost = sum->panics = sum->first_ns = sum->last_ns = 0;
    sum->sites = 0;
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        gpurt_log_rows_t frame;
        const gpurt_row_t *row;
        uint32_t at = 0, fit;

        if (gpurt_log_read(log, i, &frame, NULL) != GPURT_OK)
            continue;
        while ((row = gpurt_log_row(&frame, at, &at)) != NULL) {
            fit = filter_run_row(run, d, &sum->about, row);
            if (fit)
                row_sum(row, fit, seen, d->last_id, sum);
        }
    }
    free(seen);
}
