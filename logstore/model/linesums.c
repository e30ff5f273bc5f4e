/* SPDX-License-Identifier: Apache-2.0 */
#include "linesums.h"

#include <gpurt/impl/activity.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROOM = 1024 /* cells; a power of two, as each room is */
};

/* Samples of one function, line and reason. `place` is the instruction where no line is known. */
typedef struct linesum_cell {
    uint32_t function, file, line, place, reason;
    uint32_t offset; /* the first that was met */
    uint64_t samples, idle;
    uint64_t line_samples, function_samples; /* of all cells alike; for the order */
} linesum_cell_t;

/* ---- adding -------------------------------------------------------------------------- */

static uint32_t cell_hash(const linesum_cell_t *c)
{
    const uint32_t key[] = {c->function, c->file, c->line, c->place, c->reason};
    uint64_t h = 0x9e3779b97f4a7c15ull;

    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++) {
        h = (h ^ key[i]) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

static bool cell_same(const linesum_cell_t *a, const linesum_cell_t *b)
{
    return a->function == b->function && a->file == b->file && a->line == b->line &&
           a->place == b->place && a->reason == b->reason;
}

/* The slot of such a cell: its own, or the free one that it would have. There are twice as many
 * slots as cells. */
static uint32_t slot_of(const gpurt_linesums_t *s, const linesum_cell_t *c)
{
    const uint32_t mask = 2 * s->cell_room - 1;
    uint32_t at = cell_hash(c) & mask;

    while (s->slots[at] && !cell_same(&s->cells[s->slots[at] - 1], c))
        at = (at + 1) & mask;
    return at;
}

static bool room_make(gpurt_linesums_t *s)
{
    uint32_t room = s->cell_room ? 2 * s->cell_room : FIRST_ROOM;
    linesum_cell_t *cells = realloc(s->cells, room * sizeof *cells);
    uint32_t *slots = calloc(2 * (size_t)room, sizeof *slots);

    if (cells)
        s->cells = cells;
    if (!cells || !slots) {
        free(slots);
        return false;
    }
    free(s->slots);
    s->slots = slots;
    s->cell_room = room;
    for (uint32_t i = 0; i < s->cell_count; i++)
        s->slots[slot_of(s, &s->cells[i])] = i + 1;
    return true;
}

static linesum_cell_t *cell_of(gpurt_linesums_t *s, const linesum_cell_t *like)
{
    uint32_t slot;

    if (s->cell_count == s->cell_room && !room_make(s)) {
        s->no_memory = true;
        return NULL;
    }
    slot = slot_of(s, like);
    if (!s->slots[slot]) {
        s->cells[s->cell_count++] = *like;
        s->slots[slot] = s->cell_count;
    }
    return &s->cells[s->slots[slot] - 1];
}

/* Returns: NULL for a row of another kind, and for one that is too short. */
static const gpurt_activity_line_t *line_of(const gpurt_row_t *row,
                                            gpurt_activity_any_t *room)
{
    return row->kind == GPURT_KIND_LINE
               ? gpurt_activity_load(row->kind, gpurt_row_words(row), row->words, room)
               : NULL;
}

uint64_t gpurt_linesums_end(const gpurt_row_t *row)
{
    gpurt_activity_any_t room;
    const gpurt_activity_line_t *l = line_of(row, &room);

    return l ? row->time_ns + gpurt_pair_value(l->ns) : 0;
}

void gpurt_linesums_add(gpurt_linesums_t *s, const gpurt_row_t *row)
{
    gpurt_activity_any_t room;
    const gpurt_activity_line_t *l = line_of(row, &room);
    linesum_cell_t like = {0}, *cell;
    uint64_t end;

    if (!l)
        return;
    like.function = l->function;
    like.file = l->line ? l->file : 0;
    like.line = l->line;
    like.place = l->line ? 0 : l->offset;
    like.reason = l->reason;
    like.offset = l->offset;
    cell = cell_of(s, &like);
    if (!cell)
        return;
    if (l->offset < cell->offset)
        cell->offset = l->offset;
    cell->samples += l->samples;
    cell->idle += l->idle;
    s->samples += l->samples;
    s->idle += l->idle;
    end = row->time_ns + gpurt_pair_value(l->ns);
    if (s->rows == 0 || row->time_ns < s->first_ns)
        s->first_ns = row->time_ns;
    if (end > s->last_ns)
        s->last_ns = end;
    s->rows += s->rows != UINT32_MAX;
}

/* ---- finishing ----------------------------------------------------------------------- */

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_line(const linesum_cell_t *a, const linesum_cell_t *b)
{
    int order = by_number(a->function, b->function);

    order = order ? order : by_number(a->file, b->file);
    order = order ? order : by_number(a->line, b->line);
    return order ? order : by_number(a->place, b->place);
}

static int compare_places(const void *a, const void *b)
{
    return by_line(a, b);
}

/* Functions by their samples, their lines by theirs, reasons of a line by theirs. */
static int compare_sums(const void *a, const void *b)
{
    const linesum_cell_t *x = a, *y = b;
    int order = by_number(y->function_samples, x->function_samples);

    order = order ? order : by_number(x->function, y->function);
    order = order ? order : by_number(y->line_samples, x->line_samples);
    order = order ? order : by_line(x, y);
    order = order ? order : by_number(y->samples, x->samples);
    return order ? order : by_number(x->reason, y->reason);
}

/* Each cell learns what its line and its function have: they lie side by side. */
static void sums_spread(linesum_cell_t *cells, uint32_t count)
{
    for (uint32_t i = 0, end; i < count; i = end) {
        uint64_t sum = 0;

        for (end = i; end < count && cells[end].function == cells[i].function; end++)
            sum += cells[end].samples;
        for (uint32_t k = i; k < end; k++)
            cells[k].function_samples = sum;
    }
    for (uint32_t i = 0, end; i < count; i = end) {
        uint64_t sum = 0;

        for (end = i; end < count && by_line(&cells[end], &cells[i]) == 0; end++)
            sum += cells[end].samples;
        for (uint32_t k = i; k < end; k++)
            cells[k].line_samples = sum;
    }
}

static void line_put(gpurt_linesums_t *s, const linesum_cell_t *c)
{
    gpurt_linesum_function_t *f = &s->functions[s->function_count - 1];
    gpurt_linesum_line_t *l = &s->lines[s->line_count++];

    l->function = c->function;
    l->file = c->file;
    l->line = c->line;
    l->offset = c->offset;
    l->first_reason = s->reason_count;
    f->line_count++;
    f->without_lines |= c->line == 0;
}

static void cell_put(gpurt_linesums_t *s, const linesum_cell_t *c,
                     const linesum_cell_t *last)
{
    gpurt_linesum_function_t *f;
    gpurt_linesum_line_t *l;

    if (!last || last->function != c->function) {
        f = &s->functions[s->function_count++];
        f->function = c->function;
        f->first_line = s->line_count;
    }
    if (!last || by_line(last, c) != 0)
        line_put(s, c);
    f = &s->functions[s->function_count - 1];
    l = &s->lines[s->line_count - 1];
    f->samples += c->samples;
    f->idle += c->idle;
    l->samples += c->samples;
    l->idle += c->idle;
    if (c->offset < l->offset)
        l->offset = c->offset;
    l->reason_count++;
    s->reasons[s->reason_count++] =
        (gpurt_linesum_reason_t){c->reason, c->samples, c->idle};
}

gpurt_status_t gpurt_linesums_finish(gpurt_linesums_t *s)
{
    const uint32_t count = s->cell_count;

    s->functions = calloc(count + 1u, sizeof *s->functions);
    s->lines = calloc(count + 1u, sizeof *s->lines);
    s->reasons = calloc(count + 1u, sizeof *s->reasons);
    if (!s->functions || !s->lines || !s->reasons || s->no_memory)
        return GPURT_E_NOMEM;
    if (count == 0)
        return GPURT_OK;
    qsort(s->cells, count, sizeof s->cells[0], compare_places);
    sums_spread(s->cells, count);
    qsort(s->cells, count, sizeof s->cells[0], compare_sums);
    for (uint32_t i = 0; i < count; i++)
        cell_put(s, &s->cells[i], i ? &s->cells[i - 1] : NULL);
    return GPURT_OK;
}

void gpurt_linesums_fini(gpurt_linesums_t *s)
{
    free(s->functions);
    free(s->lines);
    free(s->reasons);
    free(s->cells);
    free(s->slots);
    memset(s, 0, sizeof *s);
}
