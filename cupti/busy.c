/* SPDX-License-Identifier: Apache-2.0 */
#include "busy.h"

#include <string.h>

/* ---- gaps ---------------------------------------------------------------------------- */

/* What copies cover of [start, end). */
static uint64_t copies_cover(const busy_device_t *d, uint64_t start, uint64_t end)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < d->copy_count; i++) {
        busy_span_t c = d->copies[i];
        uint64_t from = c.start > start ? c.start : start;
        uint64_t to = c.end < end ? c.end : end;

        if (to > from)
            sum += to - from;
    }
    return sum;
}

static void copies_forget(busy_device_t *d, uint64_t end)
{
    uint32_t keep = 0;

    for (uint32_t i = 0; i < d->copy_count; i++)
        if (d->copies[i].end > end)
            d->copies[keep++] = d->copies[i];
    d->copy_count = keep;
}

/* ---- contexts ------------------------------------------------------------------------ */

void busy_context(busy_t *b, uint32_t context, uint32_t device)
{
    busy_context_t *place = &b->contexts[context & (BUSY_CONTEXTS - 1)];

    if (GPURT_LIKELY(place->number == context && place->device == device + 1))
        return;
    place->number = context;
    place->device = device + 1;
}

/* Returns: the only device that did anything, else BUSY_UNKNOWN. */
static uint32_t only_device(const busy_t *b)
{
    uint32_t found = BUSY_UNKNOWN;

    for (uint32_t i = 0; i < BUSY_DEVICES; i++)
        if (b->devices[i].told) {
            if (found != BUSY_UNKNOWN)
                return BUSY_UNKNOWN;
            found = i;
        }
    return found;
}

uint32_t busy_device_of(const busy_t *b, uint32_t context)
{
    const busy_context_t *place = &b->contexts[context & (BUSY_CONTEXTS - 1)];

    return place->device && place->number == context ? place->device - 1 : only_device(b);
}

/* ---- why nothing ran ----------------------------------------------------------------- */

/* Until when behind `start` the host slept in a wait for this device that had begun before. */
static uint64_t woke_behind(const busy_t *b, uint32_t device, uint64_t start, uint64_t end)
{
    uint32_t count = b->wait_count < BUSY_WAITS ? b->wait_count : BUSY_WAITS;
    uint64_t latest = start;

    for (uint32_t i = 0; i < count; i++) {
        const busy_wait_t *w = &b->waits[i];
        uint64_t to = w->span.end < end ? w->span.end : end;

        if (w->span.start <= start && to > latest &&
            busy_device_of(b, w->context) == device)
            latest = to;
    }
    return latest;
}

/* A copy while the host sleeps is a copy, and no more. */
static void gap_split(const busy_t *b, busy_device_t *d, uint64_t end)
{
    uint64_t gap = end - d->until, part = copies_cover(d, d->until, end);
    uint64_t woke = woke_behind(b, (uint32_t)(d - b->devices), d->until, end);

    d->copying += part;
    gap -= part;
    part = woke - d->until - copies_cover(d, d->until, woke);
    d->waiting += part;
    gap -= part;
    if (gap < BUSY_GAP_LAUNCH_NS)
        d->launching += gap;
    else
        d->idle += gap;
    copies_forget(d, end);
    d->until = end;
}

/* No kernel ran from d->until to end, where that is later. */
static inline void gap_account(const busy_t *b, busy_device_t *d, uint64_t end)
{
    if (end > d->until)
        gap_split(b, d, end);
}

/* ---- events in order of start -------------------------------------------------------- */

/* Disjoint: what overlaps the last one lengthens it. With no room for another, the last two
 * become one. */
static void copy_note(busy_device_t *d, busy_span_t span)
{
    busy_span_t *last = d->copy_count ? &d->copies[d->copy_count - 1] : NULL;

    if (last && (span.start <= last->end || d->copy_count == BUSY_COPIES)) {
        if (span.end > last->end)
            last->end = span.end;
        return;
    }
    d->copies[d->copy_count++] = span;
}

static void event_account(const busy_t *b, busy_device_t *d, const busy_event_t *e)
{
    uint64_t from;

    if (e->copy) {
        copy_note(d, e->span);
        return;
    }
    gap_account(b, d, e->span.start);
    from = e->span.start > d->until ? e->span.start : d->until;
    if (e->span.end > from) {
        d->kernels += e->span.end - from;
        d->until = e->span.end;
    }
}

static void events_account(const busy_t *b, busy_device_t *d, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        event_account(b, d, &d->events[i]);
    d->count -= count;
    memmove(d->events, d->events + count, d->count * sizeof d->events[0]);
}

/* The place behind the last event that does not start later. Events come nearly in order:
 * the search begins at the end. */
static uint32_t place_of(const busy_device_t *d, uint64_t start)
{
    uint32_t low = 0, high = d->count;

    if (high == 0 || d->events[high - 1].span.start <= start)
        return high;
    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (d->events[middle].span.start <= start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline void event_set(busy_event_t *e, bool copy, uint64_t start, uint64_t end)
{
    e->span.start = start;
    e->span.end = end;
    e->copy = copy;
}

/* The first one, one that is late, or for which room must be made. */
static GPURT_NOINLINE void event_insert(const busy_t *b, busy_device_t *d, bool copy,
                                        uint64_t start, uint64_t end)
{
    uint32_t at;

    if (d->told == 0)
        d->told = d->until = start;
    if (d->count == BUSY_EVENTS)
        events_account(b, d, BUSY_EVENTS / 2);
    at = place_of(d, start);
    if (at < d->count)
        memmove(d->events + at + 1, d->events + at, (d->count - at) * sizeof d->events[0]);
    event_set(&d->events[at], copy, start, end);
    d->count++;
}

void busy_add(busy_t *b, uint32_t device, bool copy, uint64_t start, uint64_t end)
{
    busy_device_t *d;
    uint32_t count;

    if (device >= BUSY_DEVICES || end <= start)
        return;
    d = &b->devices[device];
    count = d->count;
    d->latest = end > d->latest ? end : d->latest;
    if (GPURT_LIKELY(count > 0 && count < BUSY_EVENTS &&
                     start >= d->events[count - 1].span.start)) {
        event_set(&d->events[count], copy, start, end);
        d->count = count + 1;
    } else
        event_insert(b, d, copy, start, end);
}

void busy_wait(busy_t *b, uint32_t context, uint64_t start, uint64_t end)
{
    busy_wait_t wait = {{start, end}, context};

    b->waits[b->wait_count++ % BUSY_WAITS] = wait;
}

/* ---- what is told -------------------------------------------------------------------- */

bool busy_take(busy_t *b, uint32_t device, uint64_t until, uint64_t *start,
               gpurt_activity_busy_t *out)
{
    busy_device_t *d = &b->devices[device];

    until = until < d->latest ? until : d->latest;
    if (d->told == 0 || until <= d->told)
        return false;
    events_account(b, d, place_of(d, until));
    gap_account(b, d, until);
    *start = d->told;
    out->ns = gpurt_pair(d->until - d->told); /* a kernel may reach further */
    out->kernels = gpurt_pair(d->kernels);
    out->copying = gpurt_pair(d->copying);
    out->waiting = gpurt_pair(d->waiting);
    out->launching = gpurt_pair(d->launching);
    out->idle = gpurt_pair(d->idle);
    d->told = d->until;
    d->kernels = d->copying = d->waiting = d->launching = d->idle = 0;
    return true;
}
