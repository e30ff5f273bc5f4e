/* SPDX-License-Identifier: Apache-2.0 */
#include "gputable.h"

#include "gpusheet.h"
#include "host_text.h"
#include "memory_text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    LEAST = 7,   /* rows that it keeps of a high view: its line, a heading, five more */
    ABOVE = 3,   /* what stands above its rows: that line, a note, a heading */
    NOTED = 7,   /* so many, and there is room for notes, too */
    COUNTS = 60, /* columns from which the line has a count for each table, */
    NAMES = 40   /* and a name for each */
};

typedef struct table_class {
    const char *name; /* of the table, in its line, */
    const char *why;  /* there is none */
} table_class_t;

static const table_class_t classes[GPUROWS_TABLES] = {
    {"kernels",
     "No kernel was recorded. A kernel is recorded when it ends, unless GPURT_CUPTI is off "
     "or leaves kernels out."},
    {"calls",
     "No call of the CUDA API was recorded. To record calls, start the program with "
     "GPURT_CUPTI=all, or default,calls."},
    {"ranges",
     "No range (NVTX) was recorded. To record ranges, start the program with "
     "GPURT_CUPTI=all, or default,ranges. Those from before CUDA starts are not seen."},
    {"memory", "No allocation was recorded. To record memory, start the program with "
               "GPURT_CUPTI=all, or default,memory."},
    {"pools", "No pool of memory was recorded. Pools come with memory: start the program "
              "with GPURT_CUPTI=all, or default,memory."},
};

static gpurows_t table_of(const picture_t *p)
{
    return p->table < GPUROWS_TABLES ? p->table : GPUROWS_KERNELS;
}

bool gputable_named(const char *name, gpurows_t *table)
{
    for (int i = 0; i < GPUROWS_TABLES; i++)
        if (strcasecmp(name, classes[i].name) == 0) {
            *table = (gpurows_t)i;
            return true;
        }
    return false;
}

/* Of a few rows the title has one, and the first GPU. */
int gputable_least(int rows)
{
    int most = rows > 3 ? rows * 2 / 3 : 1;

    return most < LEAST ? most : LEAST;
}

int gputable_wish(const picture_t *p, int rows)
{
    int least = gputable_least(rows), wish = 0;

    for (int i = 0; i < GPUROWS_TABLES; i++) {
        int count = (int)gpurows_count(&p->view->activity, (gpurows_t)i) + ABOVE;

        wish = count > wish ? count : wish;
    }
    wish = wish < rows / 2 ? wish : rows / 2;
    return wish > least ? wish : least;
}

/* ---- rows ---------------------------------------------------------------------------- */

/* Of kernels, calls and ranges all processes and GPUs are in one row. */
static bool fits(const picture_t *p, gpurows_t table, uint32_t index)
{
    const gpurt_model_activity_t *a = &p->view->activity;
    const gpurt_model_memory_t *m = &a->memories;
    char name[GPUROWS_NAME];

    gpurows_name(a, table, index, name);
    if (table == GPUROWS_MEMORY)
        return filter_name(&p->filter, name, &m->list[index].gpu, m->list[index].pid);
    if (table == GPUROWS_POOLS)
        return filter_name(&p->filter, name, &m->pools[index].gpu, m->pools[index].pid);
    return filter_name(&p->filter, name, NULL, 0);
}

static int collect(const picture_t *p, uint16_t order[GPUROWS_MOST])
{
    gpurows_t table = table_of(p);
    uint32_t count = gpurows_order(&p->view->activity, table, p->table_sort[table], order);
    int kept = 0;

    for (uint32_t i = 0; i < count; i++)
        if (fits(p, table, order[i]))
            order[kept++] = order[i];
    return kept;
}

/* ---- words --------------------------------------------------------------------------- */

/* Words in lines. Returns: the row behind. */
static int words_draw(canvas_t *c, rect_t area, int row, style_t style, const char *text)
{
    size_t room = area.columns > 2 ? (size_t)area.columns - 2 : 1;

    while (*text) {
        size_t bytes = strlen(text), next;

        for (next = bytes; next > room;) {
            do
                next--;
            while (next > 0 && text[next] != ' ');
            if (next == 0)
                next = room;
        }
        canvas_text(c, area, row++, 1, style, text, next);
        text += next + (text[next] == ' ');
    }
    return row;
}

/* What the whole table has to say, and what it lacks. Returns: the row behind. */
static int notes_draw(const gpusheet_t *s, canvas_t *c, rect_t area, int row, int last)
{
    uint32_t note = s->table == GPUROWS_POOLS ? MEMORY_NOTES_OF_POOLS : 0;
    uint32_t end = s->table == GPUROWS_POOLS ? MEMORY_NOTES : MEMORY_NOTES_OF_POOLS;
    char text[HOST_SUMS];

    if (s->table == GPUROWS_KERNELS) /* the view's title has theirs */
        return row;
    if (s->table < GPUROWS_MEMORY) {
        canvas_put(c, area, row, 1, STYLE_INFO, host_sums(s->a, s->table, text));
        return row + (*text != '\0');
    }
    for (; note < end && row < last; note++)
        if (*memory_note(&s->a->memories.about, note, text))
            canvas_put(c, area, row++, 1, STYLE_WARN, text);
    return row;
}

/* "kernels 12", and where a filter leaves some out "kernels 3/12". */
static int name_draw(const picture_t *p, canvas_t *c, rect_t area, int row, int at,
                     gpurows_t table, int fitting)
{
    uint32_t count = gpurows_count(&p->view->activity, table);
    bool shown = table == table_of(p);
    style_t style = shown ? STYLE_SELECT : count ? STYLE_NORMAL : STYLE_DIM;

    if (shown)
        canvas_glyph(c, area, row, at - 1, STYLE_KEY, 0x25b8, '>');
    at = canvas_put(c, area, row, at, style, classes[table].name);
    if (!shown && area.columns < COUNTS)
        return at + 1;
    at = canvas_put(c, area, row, at, style, " ");
    if (shown && fitting != (int)count)
        at = canvas_printf(c, area, row, at, style, "%d/", fitting);
    at = canvas_printf(c, area, row, at, style, "%u", count);
    return at + (area.columns < COUNTS ? 1 : 2);
}

/* fitting: rows that the filter leaves; below: those of them that are further down. */
static void tables_draw(const picture_t *p, canvas_t *c, rect_t area, int row, int fitting,
                        int below)
{
    static const char hint[] = "(t table, s sort)";
    gpurows_t table = table_of(p);
    const char *sort = gpurows_sort(table, p->table_sort[table]);
    int at = 1;

    for (int i = 0; i < GPUROWS_TABLES; i++)
        if (area.columns >= NAMES || i == (int)table)
            at = name_draw(p, c, area, row, at, (gpurows_t)i, fitting);
    if (area.columns < NAMES)
        canvas_printf(c, area, row, at, STYLE_DIM, "(%d of %d)", (int)table + 1,
                      GPUROWS_TABLES);
    if (area.columns < COUNTS)
        return;
    if (fitting && sort && at + 12 < area.columns)
        at = canvas_printf(c, area, row, at, STYLE_DIM, "by %s ", sort);
    if (below > 0)
        at = canvas_printf(c, area, row, at, STYLE_NORMAL, "%d below ", below);
    if (at + (int)sizeof hint <= area.columns)
        canvas_put(c, area, row, at, STYLE_DIM, hint);
}

/* Why there is nothing to see. */
static void empty_draw(const picture_t *p, canvas_t *c, rect_t area, int row)
{
    const gpurt_model_activity_t *a = &p->view->activity;
    gpurows_t table = table_of(p);
    char text[64];

    if (gpurows_count(a, table)) {
        snprintf(text, sizeof text, "No %s fits the filter (Esc clears it).",
                 gpusheet_texts[table]);
        words_draw(c, area, row, STYLE_DIM, text);
    } else if (table == GPUROWS_POOLS && a->memory) {
        words_draw(c, area, row, STYLE_DIM,
                   "No pool of memory was made, trimmed or destroyed while memory was "
                   "recorded.");
    } else {
        words_draw(c, area, row, STYLE_DIM, classes[table].why);
    }
}

/* Returns: how many are further down. */
static int rows_draw(const gpusheet_t *s, canvas_t *c, rect_t area, int row, int selected,
                     const uint16_t *order, int count)
{
    int shown = area.rows > row ? area.rows - row : 0, first;

    selected = selected < count ? selected : count - 1;
    first = selected >= shown ? selected - shown + 1 : 0;
    for (int i = first; i < count && i - first < shown; i++, row++) {
        gpusheet_row(s, c, area, row, order[i]);
        if (i == selected)
            canvas_row_style(c, area, row, STYLE_SELECT);
    }
    return count - first - shown;
}

void gputable_draw(const picture_t *p, canvas_t *c, rect_t area, int row)
{
    uint16_t order[GPUROWS_MOST];
    gpusheet_t s = gpusheet_make(&p->view->activity, table_of(p), area.columns);
    const char *sort = gpurows_sort(s.table, p->table_sort[s.table]);
    int count = collect(p, order), line = row++, below = 0;

    if (area.rows - line >= NOTED)
        row = notes_draw(&s, c, area, row, area.rows - 3);
    if (count && area.rows - row > 1)
        gpusheet_heading(&s, c, area, row++, sort ? sort : "");
    if (count)
        below = rows_draw(&s, c, area, row, (int)p->table_row[s.table], order, count);
    else
        empty_draw(p, c, area, row);
    tables_draw(p, c, area, line, count, below);
}

/* ---- keys ---------------------------------------------------------------------------- */

/* From the streams, which have the whole screen, to the table that was there. */
static void other_table(picture_t *p, int step)
{
    int next = (int)table_of(p) + step;

    if (p->streams_open)
        p->streams_open = false;
    else
        p->table = (gpurows_t)((next + GPUROWS_TABLES) % GPUROWS_TABLES);
}

static bool select_row(picture_t *p, action_t action, int page)
{
    uint16_t order[GPUROWS_MOST];
    int count = collect(p, order), at = (int)p->table_row[table_of(p)];
    int step = action == ACTION_UP          ? -1
               : action == ACTION_DOWN      ? 1
               : action == ACTION_PAGE_UP   ? -page
               : action == ACTION_PAGE_DOWN ? page
               : action == ACTION_FIRST     ? -at
               : action == ACTION_LAST      ? GPUROWS_MOST
                                            : 0;

    if (step == 0 && action != ACTION_FIRST)
        return false;
    at = at < count ? at + step : count - 1 + step;
    at = at > count - 1 ? count - 1 : at;
    p->table_row[table_of(p)] = at < 0 ? 0 : (uint32_t)at;
    return true;
}

bool gputable_act(picture_t *p, action_t action, int page)
{
    gpurows_t table = table_of(p);

    switch (action) {
    case ACTION_TABLE:
    case ACTION_TABLE_BEFORE:
        other_table(p, action == ACTION_TABLE ? 1 : -1);
        return true;
    case ACTION_SORT:
        p->table_sort[table]++;
        if (!gpurows_sort(table, p->table_sort[table]))
            p->table_sort[table] = 0;
        return true;
    case ACTION_BACK: /* first what is filtered comes back, as everywhere */
        if (table == GPUROWS_KERNELS || p->filter.text[0] || p->filter.level)
            return false;
        p->table = GPUROWS_KERNELS;
        return true;
    default:
        return select_row(p, action, page);
    }
}
