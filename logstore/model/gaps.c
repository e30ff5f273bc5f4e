/* SPDX-License-Identifier: Apache-2.0 */
#include "gaps.h"

#include <string.h>

enum {
    HALF = GAPS_MOST / 2,
    PAUSE_NS = 3000000000u /* figures of the driver come once a second */
};

/* ---- why ----------------------------------------------------------------------------- */

/* Of a list by time, the first whose field lies above a time, mostly the last. field: of the
 * first; stride: in words. */
static uint32_t first_above(const uint64_t *field, size_t stride, uint32_t count,
                            uint64_t time)
{
    uint32_t low = 0, high = count;

    if (count == 0 || field[(count - 1) * stride] <= time)
        return count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (field[middle * stride] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
#define FIRST_ABOVE(list_, count_, field_, time_) \
    first_above(&(list_)->field_, sizeof *(list_) / sizeof(uint64_t), count_, time_)

/* The first copy that ends behind a time. */
static uint32_t copy_behind(const gaps_t *g, uint64_t time)
{
    return FIRST_ABOVE(g->copies, g->copy_count, end, time);
}
/* The first gap that does. */
static uint32_t gap_behind(const gaps_t *g, uint64_t time)
{
    return FIRST_ABOVE(g->list, g->count, end, time);
}
/* Waits that begin up to a time. */
static uint32_t waits_up_to(const gaps_t *g, uint64_t time)
{
    return FIRST_ABOVE(g->waits, g->wait_count, start, time);
}

static uint64_t overlap(uint64_t start, uint64_t end, uint64_t from, uint64_t to)
{
    start = start > from ? start : from;
    end = end < to ? end : to;
    return end > start ? end - start : 0;
}

static uint64_t copies_cover(const gaps_t *g, uint64_t start, uint64_t end)
{
    uint64_t sum = 0;

    for (uint32_t i = copy_behind(g, start); i < g->copy_count && g->copies[i].start < end;
         i++)
        sum += overlap(g->copies[i].start, g->copies[i].end, start, end);
    return sum;
}

static bool is_off(const gaps_t *g, uint64_t start, uint64_t end)
{
    uint32_t i = FIRST_ABOVE(g->offs, g->off_count, end, start);

    return i < g->off_count && g->offs[i].start < end;
}

/* Until when behind `start` the host slept in a wait that had begun before. */
static uint64_t woke_behind(const gaps_t *g, uint64_t start, uint64_t end)
{
    uint32_t count = waits_up_to(g, start);
    uint64_t reach = count ? g->waits[count - 1].reach : 0;

    return reach <= start ? start : reach < end ? reach : end;
}

/* A copy while the host sleeps is a copy, and no more. */
static void gap_settle(const gaps_t *g, gap_t *gap)
{
    uint64_t woke, rest;

    if (gap->launching != GAP_OPEN)
        return;
    if (is_off(g, gap->start, gap->end)) {
        gap->copying = gap->waiting = gap->launching = 0;
        gap->unknown = gap->ns;
        return;
    }
    woke = woke_behind(g, gap->start, gap->end);
    gap->copying = copies_cover(g, gap->start, gap->end);
    gap->waiting = woke - gap->start - copies_cover(g, gap->start, woke);
    rest = gap->ns - gap->copying - gap->waiting;
    gap->launching = rest < GPURT_ACTIVITY_LAUNCH_NS ? rest : 0;
}

static void gaps_settle(gaps_t *g, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        gap_settle(g, &g->list[i]);
}

/* ---- the list ------------------------------------------------------------------------ */

/* The older half becomes a quarter. */
static void gaps_coarsen(gaps_t *g)
{
    gaps_settle(g, HALF);
    for (uint32_t i = 0; i < HALF / 2; i++) {
        const gap_t *a = &g->list[2 * i], *b = a + 1;

        g->list[i] = (gap_t){.start = a->start,
                             .end = b->end,
                             .ns = a->ns + b->ns,
                             .copying = a->copying + b->copying,
                             .waiting = a->waiting + b->waiting,
                             .launching = a->launching + b->launching,
                             .unknown = a->unknown + b->unknown};
    }
    memmove(g->list + HALF / 2, g->list + HALF, (g->count - HALF) * sizeof g->list[0]);
    g->count -= HALF / 2;
}

static void gap_insert(gaps_t *g, uint32_t at, gap_t gap)
{
    memmove(g->list + at + 1, g->list + at, (g->count - at) * sizeof g->list[0]);
    g->list[at] = gap;
    g->count++;
}

static gap_t gap_open(uint64_t start, uint64_t end)
{
    return (gap_t){.start = start, .end = end, .ns = end - start, .launching = GAP_OPEN};
}

/* Of so much as large a part as `part` is of `whole`, and no more than is left: what is long is
 * rounded. */
static uint64_t share(uint64_t of, uint64_t part, uint64_t whole, uint64_t *left)
{
    uint64_t ns =
        part == whole ? of : (uint64_t)((double)of * (double)part / (double)whole);

    ns = ns < *left ? ns : *left;
    *left -= ns;
    return ns;
}

static uint64_t gap_idle(const gap_t *gap)
{
    return gap->ns - gap->copying - gap->waiting - gap->launching - gap->unknown;
}

/* What is left of a gap in [start, end), which lies in it: all of it there, or as large a part
 * of its sums as of its time. */
static gap_t gap_piece(const gap_t *gap, uint64_t start, uint64_t end)
{
    uint64_t whole = gap->end - gap->start, part = end - start, left = part;
    gap_t piece = gap_open(start, end);

    if (gap->launching == GAP_OPEN)
        return piece;
    piece.copying = share(gap->copying, part, whole, &left);
    piece.waiting = share(gap->waiting, part, whole, &left);
    piece.launching = share(gap->launching, part, whole, &left);
    piece.unknown = share(gap->unknown, part, whole, &left);
    piece.ns = piece.copying + piece.waiting + piece.launching + piece.unknown +
               share(gap_idle(gap), part, whole, &left); /* so that they add up */
    return piece;
}

/* A kernel ran there, after all. */
static void gaps_cut(gaps_t *g, uint64_t start, uint64_t end)
{
    uint32_t at = gap_behind(g, start), to = at;

    while (to < g->count && g->list[to].start < end)
        to++;
    if (to == at)
        return;
    if (g->list[to - 1].end > end) { /* its rest stays */
        gap_t rest = gap_piece(&g->list[to - 1], end, g->list[to - 1].end);

        if (g->list[to - 1].start < start) /* cut in two */
            gap_insert(g, to, rest);
        else
            g->list[--to] = rest;
    }
    if (at < to && g->list[at].start < start) {
        g->list[at] = gap_piece(&g->list[at], g->list[at].start, start);
        at++;
    }
    memmove(g->list + at, g->list + to, (g->count - to) * sizeof g->list[0]);
    g->count -= to - at;
}

/* What is known begins there, or earlier: nothing is known to have run in between. */
static void gaps_reach(gaps_t *g, uint64_t start)
{
    if (g->first == 0)
        g->first = g->until = start;
    if (start >= g->first)
        return;
    if (g->until == g->first) /* no kernel yet */
        g->until = start;
    else if (g->count && g->list[0].start == g->first && g->list[0].launching == GAP_OPEN)
        g->list[0] = gap_open(start, g->list[0].end);
    else
        gap_insert(g, 0, gap_open(start, g->first));
    g->first = start;
}

/* Room for two more: what one late record needs. */
static void gaps_room(gaps_t *g)
{
    if (g->count > GAPS_MOST - 2)
        gaps_coarsen(g);
}

/* ---- what is told -------------------------------------------------------------------- */

GPURT_NOINLINE void gaps_kernel_late(gaps_t *g, uint64_t start, uint64_t end)
{
    if (end <= start || start == 0)
        return;
    gaps_room(g);
    gaps_reach(g, start);
    g->latest = end > g->latest ? end : g->latest;
    if (start > g->until)
        g->list[g->count++] = gap_open(g->until, start);
    else
        gaps_cut(g, start, end);
    g->until = end > g->until ? end : g->until;
}

/* The older half of copies or waits is forgotten: what they explain is found first, also
 * behind the last kernel. */
static void gaps_fix(gaps_t *g, uint64_t time)
{
    gaps_room(g);
    if (time > g->until) {
        g->list[g->count++] = gap_open(g->until, time);
        g->until = time;
    }
    gaps_settle(g, g->count);
}

static void copies_forget(gaps_t *g)
{
    enum {
        OLD = GAPS_COPIES / 2
    };

    gaps_fix(g, g->copies[OLD - 1].end);
    memmove(g->copies, g->copies + OLD, (GAPS_COPIES - OLD) * sizeof g->copies[0]);
    g->copy_count -= OLD;
}

void gaps_copy(gaps_t *g, uint64_t start, uint64_t end)
{
    uint32_t at, to;

    if (end <= start || start == 0)
        return;
    gaps_room(g);
    gaps_reach(g, start);
    g->latest = end > g->latest ? end : g->latest;
    if (g->copy_count == GAPS_COPIES)
        copies_forget(g);
    at = to = copy_behind(g, start);
    while (to < g->copy_count && g->copies[to].start <= end) { /* with those it overlaps */
        start = g->copies[to].start < start ? g->copies[to].start : start;
        end = g->copies[to].end > end ? g->copies[to].end : end;
        to++;
    }
    memmove(g->copies + at + 1, g->copies + to, (g->copy_count - to) * sizeof g->copies[0]);
    g->copies[at] = (gaps_span_t){start, end};
    g->copy_count += 1 - (to - at);
}

static void waits_forget(gaps_t *g)
{
    enum {
        OLD = GAPS_WAITS / 2
    };

    if (g->first)
        gaps_fix(g, g->until);
    memmove(g->waits, g->waits + OLD, (GAPS_WAITS - OLD) * sizeof g->waits[0]);
    g->wait_count -= OLD;
}

void gaps_wait(gaps_t *g, uint64_t start, uint64_t end)
{
    uint32_t at;

    if (end <= start)
        return;
    if (g->wait_count == GAPS_WAITS)
        waits_forget(g);
    at = waits_up_to(g, start);
    memmove(g->waits + at + 1, g->waits + at, (g->wait_count - at) * sizeof g->waits[0]);
    g->waits[at] = (gaps_wait_t){start, end};
    g->wait_count++;
    if (at > 0 && g->waits[at - 1].reach > end)
        g->waits[at].reach = g->waits[at - 1].reach;
    for (uint32_t i = at + 1; i < g->wait_count && g->waits[i].reach < end; i++)
        g->waits[i].reach = end;
}

void gaps_off(gaps_t *g, uint64_t start, uint64_t end)
{
    enum {
        OLD = GAPS_OFFS / 2
    };

    g->off = 0;
    if (end <= start)
        return;
    if (g->off_count && start <= g->offs[g->off_count - 1].end) {
        gaps_span_t *last = &g->offs[g->off_count - 1];

        last->end = end > last->end ? end : last->end;
        return;
    }
    if (g->off_count == GAPS_OFFS) { /* what they explain is found first */
        if (g->first)
            gaps_fix(g, g->until);
        memmove(g->offs, g->offs + OLD, (GAPS_OFFS - OLD) * sizeof g->offs[0]);
        g->off_count -= OLD;
    }
    g->offs[g->off_count++] = (gaps_span_t){start, end};
}

void gaps_off_begins(gaps_t *g, uint64_t time_ns)
{
    g->off = time_ns;
}

void gaps_begin(gaps_t *g, uint64_t time_ns)
{
    uint64_t from = g->latest > g->seen ? g->latest : g->seen;

    g->off = 0; /* that was said by another one */
    if (g->first && time_ns > from && time_ns - from > PAUSE_NS) {
        gaps_fix(g, from);
        gaps_room(g);
        g->list[g->count++] = (gap_t){
            .start = from, .end = time_ns, .ns = time_ns - from, .unknown = time_ns - from};
        g->until = g->latest = time_ns;
    }
    gaps_watched(g, time_ns);
}

void gaps_join(gaps_t *to, const gaps_t *from)
{
    uint64_t at = from->first, wait = 0;

    for (uint32_t i = 0; i < from->count; i++) {
        const gap_t *gap = &from->list[i];

        gaps_kernel(to, at, gap->start);
        gaps_kernel(to, gap->start, gap->end - gap->ns);
        at = gap->end;
    }
    gaps_kernel(to, at, from->until);
    for (uint32_t i = 0; i < from->copy_count; i++)
        gaps_copy(to, from->copies[i].start, from->copies[i].end);
    for (uint32_t i = 0; i < from->wait_count; i++) {
        if (from->waits[i].reach > wait) /* others end within */
            gaps_wait(to, from->waits[i].start, from->waits[i].reach);
        wait = from->waits[i].reach;
    }
    for (uint32_t i = 0; i < from->off_count; i++)
        gaps_off(to, from->offs[i].start, from->offs[i].end);
    gaps_watched(to, from->seen);
    to->told += from->told;
}

/* ---- sums ---------------------------------------------------------------------------- */

static void gap_add(const gaps_t *g, const gap_t *gap, uint64_t from, uint64_t to,
                    gpurt_model_busy_t *out)
{
    gap_t part = *gap;
    uint64_t start = part.start > from ? part.start : from;
    uint64_t end = part.end < to ? part.end : to;

    if (end <= start)
        return;
    gap_settle(g, &part);
    part = gap_piece(&part, start, end);
    out->ns -= part.unknown;
    out->kernels -= part.ns;
    out->copying += part.copying;
    out->waiting += part.waiting;
    out->launching += part.launching;
    out->idle += gap_idle(&part);
}

void gaps_sums(const gaps_t *g, uint64_t from, uint64_t to, gpurt_model_busy_t *out)
{
    gap_t last = gap_open(g->until, g->latest);

    memset(out, 0, sizeof *out);
    from = from > g->first ? from : g->first;
    to = to < g->latest ? to : g->latest;
    if (g->first == 0 || to <= from)
        return;
    out->ns = out->kernels = to - from;
    for (uint32_t i = gap_behind(g, from); i < g->count && g->list[i].start < to; i++)
        gap_add(g, &g->list[i], from, to, out);
    if (g->latest > g->until)
        gap_add(g, &last, from, to, out);
}
