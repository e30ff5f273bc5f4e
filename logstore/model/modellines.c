/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of warps, as far as a model has room for them: the sums of linesums.h are made of its cells
 * when somebody looks. */
#include "modelpart.h"

#include <string.h>

void model_lines_put(model_lines_t *l, const gpurt_row_t *row)
{
    const gpurt_linetable_t table = {l->cells, l->slots, GPURT_MODEL_LINE_CELLS, &l->count};
    gpurt_linecell_t cell;
    uint64_t end;

    if (!gpurt_linecell_of(row, &cell, &end))
        return;
    l->rows++;
    if (l->first_ns == 0 || row->time_ns < l->first_ns)
        l->first_ns = row->time_ns;
    if (end > l->last_ns)
        l->last_ns = end;
    if (!gpurt_linetable_add(&table, &cell)) {
        l->left_out += cell.samples;
        l->left_out_idle += cell.idle;
    }
}

bool gpurt_model_is_sampled(const gpurt_model_t *m)
{
    return m->activity.lines.rows != 0;
}

/* Names are few and repeat; those that are there already stay where they are. */
static void name_view(const gpurt_model_t *m, uint32_t id, gpurt_model_warps_t *v)
{
    gpurt_model_warp_name_t *to;

    for (uint32_t i = 0; i < v->name_count; i++)
        if (v->names[i].id == id)
            return;
    if (v->name_count == GPURT_MODEL_LINE_NAMES)
        return;
    to = &v->names[v->name_count++];
    to->id = id;
    model_name(m, id, to->text, sizeof to->text);
}

/* Likewise. */
static void calls_view(const gpurt_model_t *m, uint32_t id, gpurt_model_warps_t *v)
{
    gpurt_model_warp_calls_t *to;

    for (uint32_t i = 0; i < v->calls_count; i++)
        if (v->calls[i].id == id)
            return;
    if (v->calls_count == GPURT_MODEL_LINE_CALLS)
        return;
    to = &v->calls[v->calls_count++];
    to->id = id;
    model_name(m, id, to->text, sizeof to->text);
}

static void names_view(const gpurt_model_t *m, const gpurt_linecell_t *c,
                       const gpurt_linecell_t *before, gpurt_model_warps_t *v)
{
    if (!before || before->function != c->function)
        name_view(m, c->function, v);
    if (c->line && (!before || before->file != c->file))
        name_view(m, c->file, v);
    if (!before || before->reason != c->reason)
        name_view(m, c->reason, v);
    if (c->calls && (!before || before->calls != c->calls))
        calls_view(m, c->calls, v);
}

bool model_lines_view(const gpurt_model_t *m, gpurt_model_warps_t *v)
{
    const model_lines_t *l = &m->activity.lines;

    if (v->rows == l->rows && v->last_ns == l->last_ns)
        return false;
    if (v->rows > l->rows) /* a replay that stepped back */
        memset(v, 0, offsetof(gpurt_model_warps_t, cells));
    for (uint32_t i = v->count; i < l->count; i++)
        names_view(m, &l->cells[i], i ? &l->cells[i - 1] : NULL, v);
    v->rows = l->rows;
    v->first_ns = l->first_ns;
    v->last_ns = l->last_ns;
    v->left_out = l->left_out;
    v->left_out_idle = l->left_out_idle;
    v->count = l->count;
    memcpy(v->cells, l->cells, l->count * sizeof l->cells[0]);
    return true;
}
