/* SPDX-License-Identifier: Apache-2.0 */
/* What host code did, by name: calls of the CUDA API, and ranges (NVTX). A log tells of a range
 * twice, of its beginning and of its end, which carries the number alone; so a range whose thread
 * pushes and pops and one that is started and ended anywhere are the same here. Records of two
 * threads may come in either order. */
#include "modelpart.h"

#include <string.h>

/* ---- rows ---------------------------------------------------------------------------- */

static model_host_row_t *row_of(model_host_rows_t *t, uint32_t kind, uint64_t key)
{
    const model_table_t table = {t, offsetof(model_host_rows_t, hash),
                                 offsetof(model_host_rows_t, list), sizeof t->list[0],
                                 HOST_HASH_BITS};
    uint32_t place, row = model_table_find(table, kind, key, &place);

    if (row)
        return &t->list[row - 1];
    if (t->count == GPURT_MODEL_HOST_ROWS)
        return &t->list[GPURT_MODEL_HOST_ROWS]; /* all others */
    t->list[t->count].id = (model_key_t){.key = key, .kind = kind};
    t->hash[place] = (uint16_t)++t->count;
    return &t->list[t->count - 1];
}

void model_call_put(model_activity_t *a, const gpurt_activity_call_t *call)
{
    model_host_row_t *row = row_of(&a->call_rows, GPURT_KIND_CALL, call->name);

    model_times_put(&row->times, gpurt_pair_value(call->ns));
    row->more += call->result != 0;
}

/* ---- ranges -------------------------------------------------------------------------- */

/* A range counts when it begins, and has no time until it ends. */
static void range_time(model_host_row_t *row, uint64_t ns)
{
    row->times.count--;
    row->times.untimed--;
    model_times_put_known(&row->times, ns);
}

static void range_begin(model_activity_t *a, model_host_row_t *row, const gpurt_row_t *r,
                        uint32_t id)
{
    model_opens_t *o = &a->opens;
    model_open_t *early = model_open_find(o, MODEL_OPEN_RANGE_END, r->program, id);
    model_open_t *same = model_open_find(o, MODEL_OPEN_RANGE, r->program, id);

    model_times_put(&row->times, GPURT_ACTIVITY_NO_TIME);
    if (early && early->time_ns >= r->time_ns) {
        range_time(row, early->time_ns - r->time_ns);
        a->range_ends_alone--;
        model_open_remove(o, early);
        return;
    }
    if (same) /* the number is used again: the end of that one is not in the log */
        model_open_remove(o, same);
    else if (o->count[MODEL_OPEN_RANGE] == MODEL_OPEN_RANGES)
        model_open_remove(o, model_open_oldest(o, MODEL_OPEN_RANGE));
    same = model_open_add(o, MODEL_OPEN_RANGE, r->program, id);
    same->time_ns = r->time_ns;
    same->row = (uint16_t)(row - a->range_rows.list);
}

static void range_end(model_activity_t *a, const gpurt_row_t *r, uint32_t id)
{
    model_opens_t *o = &a->opens;
    model_open_t *begun = model_open_find(o, MODEL_OPEN_RANGE, r->program, id);
    model_open_t *early;

    if (begun && begun->time_ns <= r->time_ns) {
        range_time(&a->range_rows.list[begun->row], r->time_ns - begun->time_ns);
        model_open_remove(o, begun);
        return;
    }
    a->range_ends_alone++;
    if (o->count[MODEL_OPEN_RANGE_END] == MODEL_OPEN_EARLY)
        model_open_remove(o, model_open_oldest(o, MODEL_OPEN_RANGE_END));
    early = model_open_add(o, MODEL_OPEN_RANGE_END, r->program, id);
    early->time_ns = r->time_ns;
}

bool model_is_word(const model_activity_t *a, uint32_t id, const char *word)
{
    gpurt_site_info_t info;

    return gpurt_dictionary_get(a->dictionary, id, &info) &&
           info.format_bytes == strlen(word) &&
           memcmp(info.format, word, info.format_bytes) == 0;
}

void model_range_put(model_activity_t *a, const gpurt_row_t *r,
                     const gpurt_activity_range_t *range)
{
    model_host_row_t *row;

    if (model_is_word(a, range->what, "end")) {
        range_end(a, r, range->id);
        return;
    }
    row = row_of(&a->range_rows, GPURT_KIND_RANGE,
                 (uint64_t)range->domain << 32 | range->name);
    if (model_is_word(a, range->what, "begin"))
        range_begin(a, row, r, range->id);
    else
        row->more++;
}

/* ---- the view ------------------------------------------------------------------------ */

static bool is_same(const model_host_row_t *from, const gpurt_model_host_row_t *to)
{
    return from->times.count == to->times.count &&
           from->times.untimed == to->times.untimed && from->more == to->more;
}

static void row_view(const gpurt_model_t *m, const model_host_row_t *from, bool other,
                     gpurt_model_host_row_t *to)
{
    if (is_same(from, to))
        return;
    model_times_view(&from->times, &to->times);
    to->more = from->more;
    if (other) {
        model_text_begin(to->name, sizeof to->name, "(all others)", 12);
        return;
    }
    model_name(m, (uint32_t)from->id.key, to->name, sizeof to->name);
    if (from->id.kind == GPURT_KIND_RANGE)
        model_name(m, (uint32_t)(from->id.key >> 32), to->domain, sizeof to->domain);
}

static void rows_view(const gpurt_model_t *m, const model_host_rows_t *from,
                      gpurt_model_host_rows_t *to)
{
    to->count = from->count;
    for (uint32_t i = 0; i < from->count; i++)
        row_view(m, &from->list[i], false, &to->list[i]);
    row_view(m, &from->list[GPURT_MODEL_HOST_ROWS], true, &to->list[GPURT_MODEL_HOST_ROWS]);
}

void model_host_view(const gpurt_model_t *m, gpurt_model_activity_t *v)
{
    rows_view(m, &m->activity.call_rows, &v->call_rows);
    rows_view(m, &m->activity.range_rows, &v->range_rows);
    v->range_ends_alone = m->activity.range_ends_alone;
}
