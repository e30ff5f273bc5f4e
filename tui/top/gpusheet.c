/* SPDX-License-Identifier: Apache-2.0 */
#include "gpusheet.h"

#include "activity_text.h"
#include "times_text.h"

#include <stdio.h>
#include <string.h>

enum {
    BAR = 12
};

typedef enum cell {
    CELL_NONE, /* ends a table's */
    CELL_SHARE,
    CELL_COUNT,
    CELL_TIMES, /* those of times_text.h from here on */
    CELL_MEAN,
    CELL_MIN,
    CELL_P50,
    CELL_P99,
    CELL_MAX,
    CELL_REGISTERS,
    CELL_SHARED,
    CELL_OCCUPANCY,
    CELL_MORE,
    CELL_OPEN,
    CELL_NOW,
    CELL_PEAK,
    CELL_BAR,
    CELL_TAKEN,
    CELL_GIVEN,
    CELL_SIZE,
    CELL_USED,
    CELL_LAST
} cell_t;

typedef struct column {
    cell_t cell;
    const char *head;
    int width; /* with the blanks before it */
    int from;  /* columns of the view from which it is there */
} column_t;

static const column_t columns_of[GPUROWS_TABLES][GPUSHEET_COLUMNS] = {
    {{CELL_SHARE, "share", 8, 0},
     {CELL_COUNT, "count", 9, 50},
     {CELL_TIMES, "total", 11, 0},
     {CELL_MEAN, "mean", 11, 60},
     {CELL_MIN, "min", 11, 141},
     {CELL_P50, "p50", 11, 100},
     {CELL_P99, "p99", 11, 80},
     {CELL_MAX, "max", 11, 120},
     {CELL_REGISTERS, "regs", 5, 110},
     {CELL_SHARED, "shared", 8, 130},
     {CELL_OCCUPANCY, "occ", 5, 116}},
    {{CELL_SHARE, "share", 8, 0},
     {CELL_COUNT, "count", 9, 50},
     {CELL_TIMES, "total", 11, 0},
     {CELL_MEAN, "mean", 11, 66},
     {CELL_MIN, "min", 11, 141},
     {CELL_P50, "p50", 11, 110},
     {CELL_P99, "p99", 11, 90},
     {CELL_MAX, "max", 11, 120},
     {CELL_MORE, "errors", 8, 56}},
    {{CELL_SHARE, "share", 8, 0},
     {CELL_COUNT, "count", 9, 50},
     {CELL_TIMES, "total", 11, 0},
     {CELL_MEAN, "mean", 11, 66},
     {CELL_MIN, "min", 11, 141},
     {CELL_P50, "p50", 11, 110},
     {CELL_P99, "p99", 11, 96},
     {CELL_MAX, "max", 11, 120},
     {CELL_OPEN, "open", 7, 56},
     {CELL_MORE, "marks", 7, 74}},
    {{CELL_NOW, "now", 11, 0},
     {CELL_PEAK, "peak", 11, 0},
     {CELL_BAR, "of the most", BAR + 2, 88},
     {CELL_TAKEN, "taken", 8, 50},
     {CELL_GIVEN, "given", 8, 58}},
    {{CELL_SIZE, "size", 11, 0},
     {CELL_USED, "used", 11, 0},
     {CELL_BAR, "of the most", BAR + 2, 90},
     {CELL_LAST, "at last", 16, 60}},
};

const char *const gpusheet_texts[GPUROWS_TABLES] = {"kernel", "call", "range", "memory",
                                                    "pool"};

/* ---- cells --------------------------------------------------------------------------- */

/* The largest of the table: bars are parts of it. */
static uint64_t most_bytes(const gpurt_model_activity_t *a, gpurows_t table)
{
    uint32_t count = gpurows_count(a, table);
    uint64_t most = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = table == GPUROWS_MEMORY
                             ? a->memories.list[i].sums.peak_bytes
                             : gpurows_known(a->memories.pools[i].bytes);

        most = bytes > most ? bytes : most;
    }
    return most;
}

gpusheet_t gpusheet_make(const gpurt_model_activity_t *a, gpurows_t table, int columns)
{
    gpusheet_t s = {.a = a, .table = table};
    const column_t *of = columns_of[s.table];
    int end = 0;

    s.whole = s.table < GPUROWS_MEMORY ? gpurows_whole_ns(s.a, s.table)
                                       : most_bytes(s.a, s.table);
    for (int i = 0; i < GPUSHEET_COLUMNS && of[i].cell; i++)
        if (columns >= of[i].from)
            s.ends[i] = end += of[i].width;
    s.text = end + 2;
    return s;
}

static const char *number(uint64_t value, char buffer[24])
{
    snprintf(buffer, 24, "%llu", (unsigned long long)value);
    return buffer;
}

static const char *text_of_times(const gpusheet_t *s, uint32_t index, cell_t cell,
                                 char buffer[24], style_t *style)
{
    const gpurt_model_times_t *t = gpurows_times(s->a, s->table, index);
    double share;
    bool about;

    if (cell == CELL_COUNT)
        return canvas_short(t->count, buffer);
    if (cell >= CELL_TIMES)
        return times_cell(t, (times_column_t)(cell - CELL_TIMES), buffer);
    *style = STYLE_BOLD;
    share = gpurows_share(s->a, s->table, index, s->whole, &about);
    snprintf(buffer, 24, "%s%.1f%%", about ? "~" : "", share);
    return share < 0 ? "-" : buffer;
}

static const char *text_of_kernel(const gpurt_model_kernel_t *k, cell_t cell,
                                  char buffer[24], style_t *style)
{
    *style = STYLE_DIM;
    if (k->kind == GPURT_KIND_GRAPH)
        return ""; /* its kernels have registers */
    if (k->registers == 0)
        return "-"; /* it was counted, and nothing else is known */
    return cell == CELL_OCCUPANCY ? activity_occupancy(k->occupancy, buffer)
           : cell == CELL_SHARED  ? number(k->shared_bytes, buffer)
                                  : number(k->registers, buffer);
}

static const char *text_of_host(const gpusheet_t *s, uint32_t index, cell_t cell,
                                char buffer[24], style_t *style)
{
    const gpurt_model_host_row_t *r = &gpurows_host(s->a, s->table)->list[index];
    uint64_t count = cell == CELL_OPEN ? r->times.untimed : r->more;

    *style = count == 0                  ? STYLE_DIM
             : cell == CELL_OPEN         ? STYLE_WARN
             : s->table == GPUROWS_CALLS ? STYLE_ERROR
                                         : STYLE_NORMAL;
    return canvas_short(count, buffer);
}

static const char *text_of_memory(const gpurt_model_memory_sums_t *m, cell_t cell,
                                  char buffer[24], style_t *style)
{
    *style = cell == CELL_NOW ? STYLE_BOLD : STYLE_NORMAL;
    return cell == CELL_NOW     ? activity_bytes(m->bytes, buffer)
           : cell == CELL_PEAK  ? activity_bytes(m->peak_bytes, buffer)
           : cell == CELL_TAKEN ? canvas_short(m->takes, buffer)
                                : canvas_short(m->gives, buffer);
}

static const char *text_of_pool(const gpurt_model_pool_t *p, cell_t cell, char buffer[24],
                                style_t *style)
{
    uint64_t bytes = cell == CELL_SIZE ? p->bytes : p->used;

    *style = cell == CELL_SIZE ? STYLE_BOLD : STYLE_NORMAL;
    return bytes == UINT64_MAX ? "-" : activity_bytes(bytes, buffer);
}

static const char *text_of(const gpusheet_t *s, uint32_t index, cell_t cell,
                           char buffer[24], style_t *style)
{
    *style = STYLE_NORMAL;
    if (cell <= CELL_MAX)
        return text_of_times(s, index, cell, buffer, style);
    if (cell <= CELL_OCCUPANCY)
        return text_of_kernel(&s->a->kernels[index], cell, buffer, style);
    if (cell <= CELL_OPEN)
        return text_of_host(s, index, cell, buffer, style);
    if (cell <= CELL_GIVEN)
        return text_of_memory(&s->a->memories.list[index].sums, cell, buffer, style);
    return text_of_pool(&s->a->memories.pools[index], cell, buffer, style);
}

/* ---- drawing ------------------------------------------------------------------------- */

static int bar_columns(uint64_t part, uint64_t whole)
{
    if (part == 0 || whole == 0)
        return 0;
    if (part >= whole)
        return BAR;
    part = (uint64_t)((double)part / (double)whole * BAR + 0.5);
    return part ? (int)part : 1;
}

/* What is taken now, or used, and behind it what was at most, or is there. */
static void bar_draw(const gpusheet_t *s, canvas_t *c, rect_t area, int row, int end,
                     uint32_t index)
{
    const gpurt_model_memory_t *m = &s->a->memories;
    bool pool = s->table == GPUROWS_POOLS;
    uint64_t part = pool ? gpurows_known(m->pools[index].used) : m->list[index].sums.bytes;
    uint64_t all =
        pool ? gpurows_known(m->pools[index].bytes) : m->list[index].sums.peak_bytes;
    int full = bar_columns(part, s->whole), most = bar_columns(all, s->whole);

    for (int i = 0; i < BAR; i++)
        if (i < full)
            canvas_glyph(c, area, row, end - BAR + i, STYLE_GOOD, 0x2588, '#');
        else if (i < most)
            canvas_glyph(c, area, row, end - BAR + i, STYLE_INFO, 0x2592, '+');
        else
            canvas_glyph(c, area, row, end - BAR + i, STYLE_RULE, 0xb7, '.');
}

static void last_draw(const gpusheet_t *s, canvas_t *c, rect_t area, int row, int end,
                      int width, uint32_t index)
{
    const char *what = s->a->memories.pools[index].what;
    rect_t room = {area.row + row, area.column, 1, end < area.columns ? end : area.columns};

    bool gone = strncmp(what, "pool destroyed", GPURT_MODEL_WORDS) == 0;

    canvas_text(c, room, 0, end - width + 2, gone ? STYLE_DIM : STYLE_NORMAL, what,
                strnlen(what, GPURT_MODEL_WORDS));
}

void gpusheet_row(const gpusheet_t *s, canvas_t *c, rect_t area, int row, uint32_t index)
{
    const column_t *of = columns_of[s->table];
    char text[24], name[GPUROWS_NAME];

    for (int i = 0; i < GPUSHEET_COLUMNS; i++) {
        style_t style;

        if (s->ends[i] && of[i].cell == CELL_BAR)
            bar_draw(s, c, area, row, s->ends[i], index);
        else if (s->ends[i] && of[i].cell == CELL_LAST)
            last_draw(s, c, area, row, s->ends[i], of[i].width, index);
        else if (s->ends[i]) {
            const char *shown = text_of(s, index, of[i].cell, text, &style);

            canvas_right(c, area, row, s->ends[i], style, shown);
        }
    }
    canvas_put(c, area, row, s->text, STYLE_NORMAL,
               gpurows_name(s->a, s->table, index, name));
}

/* Where no column has its name, that is the text. */
void gpusheet_heading(const gpusheet_t *s, canvas_t *c, rect_t area, int row,
                      const char *sort)
{
    const column_t *of = columns_of[s->table];
    bool by_text = true;

    for (int i = 0; i < GPUSHEET_COLUMNS && of[i].cell; i++) {
        bool sorted = strcmp(of[i].head, sort) == 0;

        by_text &= !sorted;
        if (s->ends[i] && of[i].cell == CELL_LAST)
            canvas_put(c, area, row, s->ends[i] - of[i].width + 2, STYLE_DIM, of[i].head);
        else if (s->ends[i])
            canvas_right(c, area, row, s->ends[i], sorted ? STYLE_KEY : STYLE_DIM,
                         of[i].head);
    }
    canvas_put(c, area, row, s->text, by_text ? STYLE_KEY : STYLE_DIM,
               gpusheet_texts[s->table]);
}
