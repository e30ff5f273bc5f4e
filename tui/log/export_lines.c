/* SPDX-License-Identifier: Apache-2.0 */
#include "export_lines.h"

#include "recordline.h"

void export_csv_head(export_out_t *o)
{
    recordline_csv_head(o->file);
}

static void row_put(export_out_t *o, const gpurt_row_t *row,
                    void (*put)(FILE *out, const recordline_t *l))
{
    uint32_t messages = row->kind == GPURT_KIND_LOSS ? 1 : gpurt_row_messages(row);
    recordline_t l;

    recordline_begin(&l, o->dictionary, &o->sum.about, row);
    for (uint32_t lane = 0; lane < messages; lane++) {
        if (!filter_run_message(o->run, o->dictionary, &o->sum.about, row, lane))
            continue;
        recordline_message(&l, lane);
        put(o->file, &l);
    }
}

void export_csv_row(export_out_t *o, const gpurt_row_t *row)
{
    row_put(o, row, recordline_csv);
}

void export_jsonl_row(export_out_t *o, const gpurt_row_t *row)
{
    row_put(o, row, recordline_json);
}
