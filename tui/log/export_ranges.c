/* SPDX-License-Identifier: Apache-2.0 */
#include "export_ranges.h"

#include <string.h>

static void take(export_ranges_t *r, uint32_t at, export_range_t *out)
{
    *out = r->list[at];
    r->count--;
    memmove(&r->list[at], &r->list[at + 1], (r->count - at) * sizeof r->list[0]);
}

bool export_ranges_begin(export_ranges_t *r, const gpurt_activity_range_t *row,
                         uint64_t time_ns, export_range_t *out)
{
    bool full = r->count == EXPORT_RANGES_OPEN;

    if (full)
        take(r, 0, out);
    r->list[r->count++] = (export_range_t){.row = *row, .time_ns = time_ns};
    return full;
}

bool export_ranges_end(export_ranges_t *r, uint32_t id, export_range_t *out, bool *inner)
{
    uint32_t at = r->count;

    while (at > 0 && r->list[at - 1].row.id != id)
        at--;
    if (at == 0)
        return false;
    take(r, at - 1, out);
    *inner = true;
    for (at--; at < r->count; at++)
        *inner &= r->list[at].row.thread != out->row.thread;
    return true;
}

export_range_t *export_ranges_same(export_ranges_t *r, uint32_t thread, uint64_t time_ns)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->list[i].row.thread == thread && r->list[i].time_ns == time_ns &&
            !r->list[i].opened)
            return &r->list[i];
    return NULL;
}
