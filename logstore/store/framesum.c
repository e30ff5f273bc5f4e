/* SPDX-License-Identifier: Apache-2.0 */
#include "framesum.h"

#include <gpurt/impl/activity.h>
#include <string.h>

/* What a row adds beside its time. */
static void row_sum(const gpurt_row_t *row, gplog_frame_t *f, gplog_collected_t *c)
{
    f->messages += gpurt_row_messages(row);
    f->lost += gpurt_row_lost(row);
    f->panics += gpurt_row_is_panic(row);
    f->levels |= 1u << (row->level & 31u);
    f->sections |= 1u << (row->section & 31u);
    f->sites[row->site >> 6 & 3u] |= 1ull << (row->site & 63u);
    if (gpurt_kind_is_activity(row->kind))
        gplog_collected_add(c, row, 1);
}

/* What `count` rows add that are alike to one that was added. */
static void alike_sum(const gpurt_row_t *row, uint32_t count, gplog_frame_t *f,
                      gplog_collected_t *c)
{
    f->messages += count;
    if (gpurt_kind_is_activity(row->kind))
        gplog_collected_add(c, row, count);
}

/* Whether a row adds what the one before it did: a message of the same site and length, of the
 * same process, and so on. */
static inline bool is_alike(const gpurt_row_t *row, const gpurt_row_t *before)
{
    enum {
        FROM = offsetof(gpurt_row_t, warp),
        BYTES = sizeof *row - FROM
    };

    return row->site == before->site &&
           memcmp((const uint8_t *)row + FROM, (const uint8_t *)before + FROM, BYTES) == 0;
}

void gplog_frame_begin(gplog_frame_t *f)
{
    memset(f, 0, sizeof *f);
    f->first_ns = UINT64_MAX;
}

const uint8_t *gplog_frame_add(gplog_frame_t *f, gplog_collected_t *c, const uint8_t *rows,
                               const uint8_t *until)
{
    const gpurt_row_t *before = NULL; /* a row that counts as one message and no more */
    uint64_t first = f->first_ns, last = f->last_ns;
    const uint8_t *const begin = rows;
    uint32_t count = 0, alike = 0;

    for (; rows < until; count++) {
        const gpurt_row_t *row = (const gpurt_row_t *)rows;

        first = row->time_ns < first ? row->time_ns : first;
        last = row->time_ns > last ? row->time_ns : last;
        rows += gpurt_row_bytes(row->words);
        if (GPURT_LIKELY(before && is_alike(row, before))) {
            alike++;
            continue;
        }
        if (alike)
            alike_sum(before, alike, f, c);
        alike = 0;
        row_sum(row, f, c);
        before = row->kind == GPURT_KIND_LOSS || row->kind == GPURT_KIND_COLLECTOR ||
                         gpurt_row_is_panic(row) || gpurt_row_per_lane(row)
                     ? NULL
                     : row;
    }
    if (alike)
        alike_sum(before, alike, f, c);
    f->first_ns = first;
    f->last_ns = last;
    f->rows += count;
    f->raw_bytes += (uint32_t)(rows - begin);
    return rows;
}

void gplog_end_add(gplog_end_t *end, const gplog_frame_t *f)
{
    if (end->frames++ == 0 || f->first_ns < end->first_ns)
        end->first_ns = f->first_ns;
    if (f->last_ns > end->last_ns)
        end->last_ns = f->last_ns;
    end->messages += f->messages;
    end->lost += f->lost;
    end->panics += f->panics;
}

gplog_index_entry_t gplog_frame_entry(const gplog_frame_t *f, uint64_t offset)
{
    return (gplog_index_entry_t){.offset = offset,
                                 .first_ns = f->first_ns,
                                 .last_ns = f->last_ns,
                                 .messages = f->messages,
                                 .lost = f->lost,
                                 .rows = f->rows,
                                 .panics = f->panics,
                                 .levels = f->levels,
                                 .sections = f->sections,
                                 .sites =
                                     f->sites[0] | f->sites[1] | f->sites[2] | f->sites[3]};
}
