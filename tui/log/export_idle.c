/* SPDX-License-Identifier: Apache-2.0 */
#include "export_idle.h"

const char *export_idle_word(export_idle_why_t why)
{
    return why == EXPORT_IDLE_TOLD        ? "completion latency"
           : why == EXPORT_IDLE_LAUNCHING ? "launch latency"
           : why == EXPORT_IDLE_NOTHING   ? "idle"
                                          : "no records";
}

void export_idle_off(export_idle_t *idle, uint64_t now_ns, uint64_t ns)
{
    if (ns && ns < now_ns)
        idle->offs[idle->off_count++ % EXPORT_IDLE_OFFS] =
            (export_idle_stretch_t){now_ns - ns, now_ns};
}

static bool is_off(const export_idle_t *idle, uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < EXPORT_IDLE_OFFS; i++)
        if (idle->offs[i].start < end && idle->offs[i].end > start)
            return true;
    return false;
}

/* Disjoint: what overlaps the last one lengthens it. With no room for another, the last two
 * become one. */
static void copy_note(export_idle_device_t *d, export_idle_stretch_t copy)
{
    export_idle_stretch_t *last = d->copy_count ? &d->copies[d->copy_count - 1] : NULL;

    if (last && (copy.start <= last->end || d->copy_count == EXPORT_IDLE_COPIES)) {
        if (copy.end > last->end)
            last->end = copy.end;
        return;
    }
    d->copies[d->copy_count++] = copy;
}

static void copies_forget(export_idle_device_t *d)
{
    uint32_t keep = 0;

    for (uint32_t i = 0; i < d->copy_count; i++)
        if (d->copies[i].end > d->until)
            d->copies[keep++] = d->copies[i];
    d->copy_count = keep;
}

static bool is_for(const export_idle_t *idle, const export_idle_wait_t *w,
                   const export_idle_device_t *d)
{
    const export_idle_context_t *c = &idle->contexts[w->context % EXPORT_IDLE_CONTEXTS];

    return c->device && c->number == w->context && &idle->devices[c->device - 1] == d;
}

/* When the host woke up from the waits for a device that it slept in as nothing ran there any
 * more. */
static uint64_t woke(const export_idle_t *idle, const export_idle_device_t *d)
{
    uint32_t count =
        idle->wait_count < EXPORT_IDLE_WAITS ? idle->wait_count : EXPORT_IDLE_WAITS;
    uint64_t latest = d->until;

    for (uint32_t i = 0; i < count; i++) {
        const export_idle_wait_t *w = &idle->waits[i];

        if (w->time.start <= d->until && w->time.end > latest && is_for(idle, w, d))
            latest = w->time.end;
    }
    return latest;
}

/* [start, end) as one piece, or as two where the host woke up in it. */
static uint32_t cut(export_idle_piece_t *pieces, uint32_t count, uint64_t start,
                    uint64_t end, uint64_t awake)
{
    uint64_t middle = awake < start ? start : awake < end ? awake : end;

    if (middle > start)
        pieces[count++] = (export_idle_piece_t){{start, middle}, EXPORT_IDLE_TOLD};
    if (end > middle)
        pieces[count++] = (export_idle_piece_t){{middle, end}, EXPORT_IDLE_NOTHING};
    return count;
}

/* What nobody slept through is a launch's, where there is little of it in the whole gap. */
static void launches_find(export_idle_piece_t *pieces, uint32_t count)
{
    uint64_t rest = 0;

    for (uint32_t i = 0; i < count; i++)
        if (pieces[i].why == EXPORT_IDLE_NOTHING)
            rest += pieces[i].time.end - pieces[i].time.start;
    for (uint32_t i = 0; i < count && rest < GPURT_ACTIVITY_LAUNCH_NS; i++)
        if (pieces[i].why == EXPORT_IDLE_NOTHING)
            pieces[i].why = EXPORT_IDLE_LAUNCHING;
}

static uint32_t gap(const export_idle_t *idle, const export_idle_device_t *d, uint64_t end,
                    export_idle_piece_t *pieces)
{
    uint64_t at = d->until, awake = woke(idle, d);
    uint32_t count = 0;

    if (is_off(idle, at, end)) {
        pieces[0] = (export_idle_piece_t){{at, end}, EXPORT_IDLE_UNRECORDED};
        return 1;
    }
    for (uint32_t i = 0; i < d->copy_count && d->copies[i].start < end; i++) {
        if (d->copies[i].start > at)
            count = cut(pieces, count, at, d->copies[i].start, awake);
        if (d->copies[i].end > at)
            at = d->copies[i].end;
    }
    if (at < end)
        count = cut(pieces, count, at, end, awake);
    launches_find(pieces, count);
    return count;
}

uint32_t export_idle_span(export_idle_t *idle, const gpurt_span_t *s,
                          export_idle_piece_t pieces[EXPORT_IDLE_PIECES])
{
    export_idle_stretch_t span = {s->time_ns, s->time_ns + s->ns};
    export_idle_device_t *d;
    uint32_t count = 0;

    if (s->ns == GPURT_ACTIVITY_NO_TIME || span.end <= span.start)
        return 0;
    if (s->kind == GPURT_KIND_WAIT)
        idle->waits[idle->wait_count++ % EXPORT_IDLE_WAITS] =
            (export_idle_wait_t){span, s->context};
    if (!gpurt_span_on_stream(s) || s->device >= EXPORT_IDLE_DEVICES)
        return 0;
    d = &idle->devices[s->device];
    idle->contexts[s->context % EXPORT_IDLE_CONTEXTS] =
        (export_idle_context_t){s->context, s->device + 1};
    if (d->until == 0)
        d->until = span.start;
    if (s->kind == GPURT_KIND_COPY || s->kind == GPURT_KIND_FILL) {
        if (span.end > d->until)
            copy_note(d, span);
        return 0;
    }
    if (span.start > d->until)
        count = gap(idle, d, span.start, pieces);
    if (span.end > d->until) {
        d->until = span.end;
        copies_forget(d);
    }
    return count;
}
