/* SPDX-License-Identifier: Apache-2.0 */
#include "linesums.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROOM = 1024 /* cells; a power of two, as each room is */
};

/* Samples of a function's line, of an instruction of it where none is known, the calls that it stands
 * in, and a reason. */
typedef struct part {
    uint32_t function, file, line, place, calls, reason;
    uint32_t offset;     /* the first */
    uint32_t first_code; /* of its function */
    uint64_t samples, idle;
    uint64_t calls_samples, line_samples,
        function_samples; /* of all alike; for the order */
} part_t;

/* ---- adding -------------------------------------------------------------------------- */

static gpurt_linetable_t table_of(gpurt_linesums_t *s)
{
    return (gpurt_linetable_t){s->cells, s->slots, s->cell_room, &s->cell_count};
}

static bool room_make(gpurt_linesums_t *s)
{
    uint32_t room = s->cell_room ? 2 * s->cell_room : FIRST_ROOM;
    gpurt_linecell_t *cells = realloc(s->cells, room * sizeof *cells);
    uint32_t *slots = calloc(2 * (size_t)room, sizeof *slots);
    gpurt_linetable_t table;

    if (cells)
        s->cells = cells;
    if (!cells || !slots) {
        free(slots);
        return false;
    }
    free(s->slots);
    s->slots = slots;
    s->cell_room = room;
    table = table_of(s);
    gpurt_linetable_fill(&table);
    return true;
}

uint64_t gpurt_linesums_end(const gpurt_row_t *row)
{
    gpurt_linecell_t cell;
    uint64_t end;

    return gpurt_linecell_of(row, &cell, &end) ? end : 0;
}

void gpurt_linesums_add(gpurt_linesums_t *s, const gpurt_row_t *row)
{
    gpurt_linetable_t table;
    gpurt_linecell_t cell;
    uint64_t end;

    if (!gpurt_linecell_of(row, &cell, &end))
        return;
    if (s->cell_count == s->cell_room && !room_make(s)) {
        s->no_memory = true;
        return;
    }
    table = table_of(s);
    gpurt_linetable_add(&table, &cell);
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

static int by_line(const part_t *a, const part_t *b)
{
    int order = by_number(a->function, b->function);

    order = order ? order : by_number(a->file, b->file);
    order = order ? order : by_number(a->line, b->line);
    return order ? order : by_number(a->place, b->place);
}

static int by_calls(const part_t *a, const part_t *b)
{
    int order = by_line(a, b);

    return order ? order : by_number(a->calls, b->calls);
}

static int compare_places(const void *a, const void *b)
{
    const part_t *x = a, *y = b;
    int order = by_calls(x, y);

    return order ? order : by_number(x->reason, y->reason);
}

/* Functions by their samples, their lines by theirs, calls of a line by theirs, reasons of those. */
static int compare_sums(const void *a, const void *b)
{
    const part_t *x = a, *y = b;
    int order = by_number(y->function_samples, x->function_samples);

    order = order ? order : by_number(x->function, y->function);
    order = order ? order : by_number(y->line_samples, x->line_samples);
    order = order ? order : by_line(x, y);
    order = order ? order : by_number(y->calls_samples, x->calls_samples);
    order = order ? order : by_number(x->calls, y->calls);
    order = order ? order : by_number(y->samples, x->samples);
    return order ? order : by_number(x->reason, y->reason);
}

/* Instructions of one line, calls and reason become one part: they lie side by side. Returns: how many
 * there are then. */
static uint32_t parts_join(part_t *parts, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        part_t *last = kept ? &parts[kept - 1] : NULL;

        if (!last || compare_places(last, &parts[i]) != 0) {
            parts[kept++] = parts[i];
            continue;
        }
        last->samples += parts[i].samples;
        last->idle += parts[i].idle;
        if (parts[i].offset < last->offset)
            last->offset = parts[i].offset;
    }
    return kept;
}

static int by_function(const part_t *a, const part_t *b)
{
    return by_number(a->function, b->function);
}

/* Each part learns what all have that are the same to `by`; they lie side by side. */
static void sum_spread(part_t *parts, uint32_t count,
                       int (*by)(const part_t *a, const part_t *b), size_t offset)
{
    for (uint32_t i = 0, end; i < count; i = end) {
        uint64_t sum = 0;

        for (end = i; end < count && by(&parts[end], &parts[i]) == 0; end++)
            sum += parts[end].samples;
        for (uint32_t k = i; k < end; k++)
            memcpy((char *)&parts[k] + offset, &sum, sizeof sum);
    }
}

static void line_put(gpurt_linesums_t *s, const part_t *p)
{
    gpurt_linesum_function_t *f = &s->functions[s->function_count - 1];
    gpurt_linesum_line_t *l = &s->lines[s->line_count++];

    l->function = p->function;
    l->file = p->file;
    l->line = p->line;
    l->offset = p->offset;
    l->first_reason = s->reason_count;
    f->line_count++;
    f->without_lines |= p->line == 0;
}

static void part_put(gpurt_linesums_t *s, const part_t *p, const part_t *last)
{
    gpurt_linesum_function_t *f;
    gpurt_linesum_line_t *l;

    if (!last || last->function != p->function) {
        f = &s->functions[s->function_count++];
        f->function = p->function;
        f->first_line = s->line_count;
        f->first_code = p->first_code;
        while (f->first_code + f->code_count < s->code_count &&
               s->code[f->first_code + f->code_count].function == f->function)
            f->code_count++;
    }
    if (!last || by_line(last, p) != 0)
        line_put(s, p);
    f = &s->functions[s->function_count - 1];
    l = &s->lines[s->line_count - 1];
    f->samples += p->samples;
    f->idle += p->idle;
    l->samples += p->samples;
    l->idle += p->idle;
    if (p->offset < l->offset)
        l->offset = p->offset;
    l->reason_count++;
    s->reasons[s->reason_count++] =
        (gpurt_linesum_reason_t){p->reason, p->samples, p->idle};
}

static int compare_code(const void *a, const void *b)
{
    const gpurt_linecell_t *x = a, *y = b;
    int order = by_number(x->function, y->function);

    order = order ? order : by_number(x->offset, y->offset);
    order = order ? order : by_number(y->samples, x->samples);
    return order ? order : by_number(x->reason, y->reason);
}

/* Cells are in their order, so the first of an instruction has its main reason. */
static void code_put(gpurt_linesums_t *s)
{
    for (uint32_t i = 0; i < s->cell_count; i++) {
        const gpurt_linecell_t *c = &s->cells[i];
        gpurt_linesum_code_t *to;

        if (i == 0 || c[-1].function != c->function || c[-1].offset != c->offset)
            s->code[s->code_count++] = (gpurt_linesum_code_t){.function = c->function,
                                                              .offset = c->offset,
                                                              .file = c->file,
                                                              .line = c->line,
                                                              .calls = c->calls,
                                                              .reason = c->reason,
                                                              .reason_samples = c->samples};
        to = &s->code[s->code_count - 1];
        to->samples += c->samples;
        to->idle += c->idle;
        s->samples += c->samples;
        s->idle += c->idle;
    }
}

/* Behind code_put. calls: apart by them. */
static void parts_make(const gpurt_linesums_t *s, bool calls, part_t *parts)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < s->cell_count; i++) {
        const gpurt_linecell_t *c = &s->cells[i];

        while (s->code[first].function != c->function)
            first++;
        parts[i] = (part_t){.function = c->function,
                            .file = c->file,
                            .line = c->line,
                            .place = c->line ? 0 : c->offset,
                            .calls = calls ? c->calls : 0,
                            .reason = c->reason,
                            .offset = c->offset,
                            .first_code = first,
                            .samples = c->samples,
                            .idle = c->idle};
    }
}

/* Returns: how many, in the order of the tables. */
static uint32_t parts_of(const gpurt_linesums_t *s, bool calls, part_t *parts)
{
    uint32_t count;

    parts_make(s, calls, parts);
    qsort(parts, s->cell_count, sizeof *parts, compare_places);
    count = parts_join(parts, s->cell_count);
    sum_spread(parts, count, by_function, offsetof(part_t, function_samples));
    sum_spread(parts, count, by_line, offsetof(part_t, line_samples));
    sum_spread(parts, count, by_calls, offsetof(part_t, calls_samples));
    qsort(parts, count, sizeof *parts, compare_sums);
    return count;
}

/* Lines are there, in the same order. */
static void calls_put(gpurt_linesums_t *s, const part_t *p, const part_t *last,
                      gpurt_linesum_line_t *l)
{
    gpurt_linesum_calls_t *c;

    if (!last || by_calls(last, p) != 0) {
        c = &s->calls[s->calls_count++];
        c->calls = p->calls;
        c->first_reason = s->reason_count;
        if (l->calls_count++ == 0)
            l->first_calls = s->calls_count - 1;
    }
    c = &s->calls[s->calls_count - 1];
    c->samples += p->samples;
    c->idle += p->idle;
    c->reason_count++;
    s->reasons[s->reason_count++] =
        (gpurt_linesum_reason_t){p->reason, p->samples, p->idle};
}

static void all_put(gpurt_linesums_t *s, part_t *parts)
{
    uint32_t count = parts_of(s, false, parts), line = 0;

    for (uint32_t i = 0; i < count; i++)
        part_put(s, &parts[i], i ? &parts[i - 1] : NULL);
    count = parts_of(s, true, parts);
    for (uint32_t i = 0; i < count; i++) {
        line += i && by_line(&parts[i - 1], &parts[i]) != 0;
        calls_put(s, &parts[i], i ? &parts[i - 1] : NULL, &s->lines[line]);
    }
}

gpurt_status_t gpurt_linesums_finish(gpurt_linesums_t *s)
{
    const uint32_t room = s->cell_count + 1u;
    part_t *parts = calloc(room, sizeof *parts);

    s->functions = calloc(room, sizeof *s->functions);
    s->lines = calloc(room, sizeof *s->lines);
    s->reasons = calloc(2 * (size_t)room, sizeof *s->reasons); /* of lines, and of calls */
    s->calls = calloc(room, sizeof *s->calls);
    s->code = calloc(room, sizeof *s->code);
    if (!s->functions || !s->lines || !s->reasons || !s->calls || !s->code || !parts ||
        s->no_memory) {
        free(parts);
        return GPURT_E_NOMEM;
    }
    if (s->cell_count)
        qsort(s->cells, s->cell_count, sizeof s->cells[0], compare_code);
    code_put(s);
    all_put(s, parts);
    free(parts);
    return GPURT_OK;
}

gpurt_status_t gpurt_linesums_of(gpurt_linesums_t *s, const gpurt_linecell_t *cells,
                                 uint32_t count, uint32_t second)
{
    s->cells = malloc((count + 1u) * sizeof *cells);
    if (!s->cells)
        return GPURT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        gpurt_linecell_t *to = &s->cells[s->cell_count];
        uint32_t idle;

        *to = cells[i];
        if (second) {
            to->samples = gpurt_linecell_recent(&cells[i], second, &idle);
            to->idle = idle;
        }
        s->cell_count += to->samples != 0;
    }
    return gpurt_linesums_finish(s);
}

void gpurt_linesums_fini(gpurt_linesums_t *s)
{
    free(s->functions);
    free(s->lines);
    free(s->reasons);
    free(s->calls);
    free(s->code);
    free(s->cells);
    free(s->slots);
    memset(s, 0, sizeof *s);
}
