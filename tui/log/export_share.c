/* SPDX-License-Identifier: Apache-2.0 */
#include "export_share.h"

/* Not before the first kernel: that is where the trace may begin. */
static uint32_t point(const export_share_device_t *d, export_share_point_t *points,
                      uint32_t count, uint64_t tenth, uint64_t ns)
{
    uint64_t time_ns = tenth * EXPORT_SHARE_NS;

    points[count] =
        (export_share_point_t){.time_ns = time_ns > d->first ? time_ns : d->first,
                               .percent = (double)ns * 100.0 / EXPORT_SHARE_NS};
    return count + 1;
}

/* The tenth at hand is over, and perhaps some in which nothing ran. */
static uint32_t tenth_end(export_share_device_t *d, uint64_t next,
                          export_share_point_t *points)
{
    uint32_t count = point(d, points, 0, d->tenth, d->ns);

    if (next > d->tenth + 1)
        count = point(d, points, count, d->tenth + 1, 0);
    d->tenth = next;
    d->ns = 0;
    return count;
}

uint32_t export_share_kernel(export_share_t *s, uint32_t device, uint64_t start,
                             uint64_t end, export_share_point_t points[EXPORT_SHARE_POINTS])
{
    export_share_device_t *d;
    uint64_t first, last;
    uint32_t count = 0;

    if (device >= EXPORT_SHARE_DEVICES)
        return 0;
    d = &s->devices[device];
    start = start > d->until ? start : d->until;
    if (end <= start)
        return 0;
    first = start / EXPORT_SHARE_NS;
    last = (end - 1) / EXPORT_SHARE_NS;
    if (d->until == 0) {
        d->first = start;
        d->tenth = first;
    }
    d->until = end;
    if (first > d->tenth)
        count = tenth_end(d, first, points);
    if (last == first) {
        d->ns += end - start;
        return count;
    }
    d->ns += (first + 1) * EXPORT_SHARE_NS - start;
    count = point(d, points, count, first, d->ns);
    if (last > first + 1)
        count = point(d, points, count, first + 1, EXPORT_SHARE_NS);
    d->tenth = last;
    d->ns = end - last * EXPORT_SHARE_NS;
    return count;
}

uint32_t export_share_end(export_share_t *s, uint32_t device,
                          export_share_point_t points[EXPORT_SHARE_POINTS])
{
    export_share_device_t *d = &s->devices[device];

    return d->until ? tenth_end(d, d->tenth + 2, points) : 0;
}
