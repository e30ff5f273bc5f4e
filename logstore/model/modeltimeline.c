/* SPDX-License-Identifier: Apache-2.0 */
#include "modeltimeline.h"

#include <string.h>

#define TIME_MOST (1ull << 62) /* the year 2116; sums of two do not wrap */

static uint32_t lane_add(gpurt_timeline_t *t, const gpurt_timeline_lane_t *lane)
{
    if (t->lane_count == GPURT_TIMELINE_LANES)
        return GPURT_TIMELINE_OTHER;
    t->lanes[t->lane_count] = *lane;
    return (uint32_t)t->lane_count++;
}

/* Waits of a process are in one lane, whatever they are for. */
static uint32_t wait_lane_of(gpurt_timeline_t *t, uint32_t program)
{
    gpurt_timeline_lane_t new = {.kind = GPURT_TIMELINE_WAITS, .program = program};

    for (uint32_t i = 0; i < t->lane_count; i++)
        if (t->lanes[i].kind == GPURT_TIMELINE_WAITS && t->lanes[i].program == program)
            return i;
    return lane_add(t, &new);
}

static uint32_t lane_of(gpurt_timeline_t *t, const gpurt_span_t *s)
{
    gpurt_timeline_lane_t new = {.kind = GPURT_TIMELINE_STREAM};

    if (!gpurt_span_on_stream(s))
        return wait_lane_of(t, s->program);
    for (uint32_t i = 0; i < t->lane_count; i++) {
        const gpurt_timeline_lane_t *l = &t->lanes[i];

        if (l->stream == s->stream && l->program == s->program && l->device == s->device &&
            l->context == s->context && l->kind == GPURT_TIMELINE_STREAM)
            return i;
    }
    new.device = s->device;
    new.context = s->context;
    new.stream = s->stream;
    new.program = s->program;
    return lane_add(t, &new);
}

/* Bins that come into being are empty, whatever stood in their places. */
static void bins_reach(gpurt_timeline_bins_t *b, uint64_t bin)
{
    uint64_t from = b->newest + 1;

    if (bin <= b->newest)
        return;
    if (bin - b->newest > GPURT_TIMELINE_BINS)
        from = bin - GPURT_TIMELINE_BINS + 1;
    for (uint64_t i = from; i <= bin; i++)
        memset(b->cells[i % GPURT_TIMELINE_BINS], 0, sizeof b->cells[0]);
    b->newest = bin;
}

/* What of a lane a span adds to. */
static inline uint32_t *cell_of(gpurt_timeline_bins_t *b, uint64_t bin, uint32_t lane,
                                bool copy)
{
    gpurt_timeline_cell_t *cell = &b->cells[bin % GPURT_TIMELINE_BINS][lane];

    return copy ? &cell->copies : &cell->kernels;
}

static inline void cell_add(uint32_t *sum, uint64_t ns)
{
    ns += *sum;
    *sum = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* A span that may lie in several bins. */
static void bins_put(gpurt_timeline_bins_t *b, uint32_t zoom, const gpurt_span_t *s,
                     uint32_t lane, bool copy)
{
    const uint64_t width = gpurt_timeline_width(zoom), end = s->time_ns + s->ns;
    const uint64_t last = gpurt_timeline_bin(end - 1, zoom);
    uint64_t bin = gpurt_timeline_bin(s->time_ns, zoom);

    bins_reach(b, last);
    if (bin + GPURT_TIMELINE_BINS <= b->newest)
        bin = b->newest - GPURT_TIMELINE_BINS + 1; /* what is older is gone */
    for (; bin <= last; bin++) {
        uint64_t from = s->time_ns > bin * width ? s->time_ns : bin * width;
        uint64_t until = end < (bin + 1) * width ? end : (bin + 1) * width;

        cell_add(cell_of(b, bin, lane, copy), until - from);
    }
}

/* What lies in one bin of each zoom, as nearly all does; late spans have none any more. */
static void bin_put(gpurt_timeline_t *t, uint64_t first, uint32_t lane, bool copy,
                    uint64_t ns)
{
    for (uint32_t zoom = 0; zoom < GPURT_TIMELINE_ZOOMS; zoom++) {
        gpurt_timeline_bins_t *b = &t->bins[zoom];
        uint64_t bin = gpurt_timeline_wider(first, zoom);

        if (bin > b->newest)
            bins_reach(b, bin);
        if (bin + GPURT_TIMELINE_BINS > b->newest)
            cell_add(cell_of(b, bin, lane, copy), ns);
    }
}

static uint16_t what_of(const gpurt_span_t *s)
{
    return s->kind == GPURT_KIND_WAIT ? GPURT_TIMELINE_WAIT
           : s->kind == GPURT_KIND_COPY || s->kind == GPURT_KIND_FILL
               ? GPURT_TIMELINE_COPY
               : GPURT_TIMELINE_KERNEL;
}

void gpurt_timeline_end(gpurt_timeline_t *t, gpurt_timeline_run_t *r)
{
    if (r->count == 0)
        return;
    t->lanes[r->lane].count += r->count;
    t->lanes[r->lane].ns += r->ns;
    bin_put(t, r->bin, r->lane, r->what == GPURT_TIMELINE_COPY, r->ns);
    r->count = 0;
}

/* Whether it adds to the same cells as the run. */
static inline bool run_takes(const gpurt_timeline_run_t *r, const gpurt_span_t *s,
                             uint16_t what, uint64_t bin)
{
    return r->count && r->bin == bin && r->what == what && r->stream == s->stream &&
           r->context == s->context && r->device == s->device && r->program == s->program;
}

void gpurt_timeline_add(gpurt_timeline_t *t, gpurt_timeline_run_t *r, const gpurt_span_t *s,
                        uint32_t kernel)
{
    const uint16_t what = what_of(s);
    uint64_t first, last;

    /* What nobody timed lies nowhere; a file may say any number. */
    if (s->ns > TIME_MOST || s->time_ns > TIME_MOST ||
        (!gpurt_span_on_stream(s) && s->kind != GPURT_KIND_WAIT))
        return;
    first = gpurt_timeline_bin(s->time_ns, 0);
    last = s->ns ? gpurt_timeline_bin(s->time_ns + s->ns - 1, 0) : UINT64_MAX; /* none */
    if (first != last || !run_takes(r, s, what, first)) {
        gpurt_timeline_end(t, r);
        *r = (gpurt_timeline_run_t){.bin = first,
                                    .lane = lane_of(t, s),
                                    .what = what,
                                    .program = s->program,
                                    .device = s->device,
                                    .context = s->context,
                                    .stream = s->stream};
    }
    gpurt_timeline_keep(t, s->time_ns, s->ns, r->lane, s->program, what, kernel);
    if (first == last) {
        r->ns += s->ns;
        r->count++;
        return;
    }
    t->lanes[r->lane].count++;
    t->lanes[r->lane].ns += s->ns;
    for (uint32_t zoom = 0; s->ns && zoom < GPURT_TIMELINE_ZOOMS; zoom++)
        bins_put(&t->bins[zoom], zoom, s, r->lane, what == GPURT_TIMELINE_COPY);
}

void gpurt_timeline_put(gpurt_timeline_t *t, const gpurt_span_t *s, uint32_t kernel)
{
    gpurt_timeline_run_t run = {.count = 0};

    gpurt_timeline_add(t, &run, s, kernel);
    gpurt_timeline_end(t, &run);
}

void gpurt_timeline_put_sample(gpurt_timeline_t *t, uint32_t ring, uint64_t time_ns,
                               const gpurt_activity_sample_t *s)
{
    uint64_t number = time_ns / GPURT_TIMELINE_TENTH_NS;
    gpurt_timeline_tenth_t *tenth;

    if (ring >= GPURT_TIMELINE_RINGS)
        return;
    tenth = &t->samples[ring][number % GPURT_TIMELINE_TENTHS];
    if (number < tenth->number)
        return; /* its place is taken by a later one */
    if (number > tenth->number) {
        memset(tenth, 0, sizeof *tenth);
        tenth->number = number;
    }
    for (uint32_t i = 0; i < GPURT_SAMPLE_MEASURES; i++)
        if (s->percent[i] >= 0 && s->percent[i] <= 10000 && tenth->count[i] < 100000) {
            tenth->count[i]++;
            tenth->sum[i] += (uint32_t)s->percent[i];
        }
}

bool gpurt_timeline_sample(const gpurt_timeline_t *t, uint32_t gpu, uint64_t time_ns,
                           uint32_t measure, uint32_t *mean)
{
    uint64_t number = time_ns / GPURT_TIMELINE_TENTH_NS, count = 0, sum = 0;

    for (uint32_t i = 0; i < GPURT_TIMELINE_RINGS; i++) {
        const gpurt_timeline_tenth_t *tenth =
            &t->samples[i][number % GPURT_TIMELINE_TENTHS];

        if (t->ring_gpu[i] != gpu || tenth->number != number)
            continue;
        count += tenth->count[measure];
        sum += tenth->sum[measure];
    }
    if (count)
        *mean = (uint32_t)(sum / count);
    return count > 0;
}
