/* SPDX-License-Identifier: Apache-2.0 */
#include "linecells.h"

#include <gpurt/impl/activity.h>
#include <string.h>

#define SECOND_NS 1000000000ull

/* ---- the table ----------------------------------------------------------------------- */

static uint32_t cell_hash(const gpurt_linecell_t *c)
{
    const uint32_t key[] = {c->function, c->file, c->line, c->offset, c->reason, c->calls};
    uint64_t h = 0x9e3779b97f4a7c15ull;

    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++) {
        h = (h ^ key[i]) * 0xff51afd7ed558ccdull;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

static bool cell_same(const gpurt_linecell_t *a, const gpurt_linecell_t *b)
{
    return a->function == b->function && a->file == b->file && a->line == b->line &&
           a->offset == b->offset && a->reason == b->reason && a->calls == b->calls;
}

/* The slot of such a cell: its own, or the free one that it would have. */
static uint32_t slot_of(const gpurt_linetable_t *t, const gpurt_linecell_t *c)
{
    const uint32_t mask = 2 * t->room - 1;
    uint32_t at = cell_hash(c) & mask;

    while (t->slots[at] && !cell_same(&t->cells[t->slots[at] - 1], c))
        at = (at + 1) & mask;
    return at;
}

void gpurt_linetable_fill(const gpurt_linetable_t *t)
{
    for (uint32_t i = 0; i < *t->count; i++)
        t->slots[slot_of(t, &t->cells[i])] = i + 1;
}

/* ---- a cell -------------------------------------------------------------------------- */

static void count_add(uint32_t *to, uint32_t more)
{
    *to = more < UINT32_MAX - *to ? *to + more : UINT32_MAX;
}

/* Seconds move on; what comes late counts where its second is still known. */
static void recent_add(gpurt_linecell_t *c, const gpurt_linecell_t *more)
{
    uint32_t back;

    if (more->second > c->second) {
        bool next = more->second - c->second == 1;

        c->recent[1] = next ? c->recent[0] : 0;
        c->recent_idle[1] = next ? c->recent_idle[0] : 0;
        c->recent[0] = c->recent_idle[0] = 0;
        c->second = more->second;
    }
    back = c->second - more->second;
    if (back >= GPURT_LINECELL_SECONDS)
        return;
    count_add(&c->recent[back], more->recent[0]);
    count_add(&c->recent_idle[back], more->recent_idle[0]);
}

uint32_t gpurt_linecell_recent(const gpurt_linecell_t *c, uint32_t second, uint32_t *idle)
{
    uint32_t samples = 0;

    *idle = 0;
    for (uint32_t i = 0; i < GPURT_LINECELL_SECONDS; i++) {
        if (c->second < i || second < c->second - i ||
            second - (c->second - i) >= GPURT_LINECELL_SECONDS)
            continue;
        count_add(&samples, c->recent[i]);
        count_add(idle, c->recent_idle[i]);
    }
    return samples;
}

bool gpurt_linetable_add(const gpurt_linetable_t *t, const gpurt_linecell_t *cell)
{
    uint32_t slot = slot_of(t, cell);
    gpurt_linecell_t *to;

    if (!t->slots[slot]) {
        if (*t->count == t->room)
            return false;
        t->cells[*t->count] = *cell;
        t->slots[slot] = ++*t->count;
        return true;
    }
    to = &t->cells[t->slots[slot] - 1];
    to->samples += cell->samples;
    to->idle += cell->idle;
    recent_add(to, cell);
    return true;
}

/* ---- rows ---------------------------------------------------------------------------- */

bool gpurt_linecell_of(const gpurt_row_t *row, gpurt_linecell_t *out, uint64_t *end_ns)
{
    const gpurt_activity_line_t *l;
    gpurt_activity_any_t room;

    if (row->kind != GPURT_KIND_LINE)
        return false;
    l = gpurt_activity_load(row->kind, gpurt_row_words(row), row->words, &room);
    if (!l)
        return false;
    *end_ns = row->time_ns + gpurt_pair_value(l->ns);
    *out = (gpurt_linecell_t){.function = l->function,
                              .file = l->line ? l->file : 0,
                              .line = l->line,
                              .offset = l->offset,
                              .reason = l->reason,
                              .calls = l->calls,
                              .second = (uint32_t)(*end_ns / SECOND_NS),
                              .samples = l->samples,
                              .idle = l->idle,
                              .recent = {l->samples},
                              .recent_idle = {l->idle}};
    return true;
}
