/* SPDX-License-Identifier: Apache-2.0 */
#include "framesum.h"

#include <string.h>

void gplog_frame_sum(const void *rows, uint32_t bytes, uint32_t count, gplog_frame_t *f)
{
    const uint8_t *p = rows, *end = p + bytes;

    memset(f, 0, sizeof *f);
    f->first_ns = UINT64_MAX;
    f->rows = count;
    f->raw_bytes = bytes;
    while (p < end) {
        const gpurt_row_t *row = (const gpurt_row_t *)p;

        if (row->time_ns < f->first_ns)
            f->first_ns = row->time_ns;
        if (row->time_ns > f->last_ns)
            f->last_ns = row->time_ns;
        f->messages += gpurt_row_messages(row);
        f->lost += gpurt_row_lost(row);
        f->panics += gpurt_row_is_panic(row);
        f->levels |= 1u << (row->level & 31u);
        f->sections |= 1u << (row->section & 31u);
        f->sites[row->site >> 6 & 3u] |= 1ull << (row->site & 63u);
        p += gpurt_row_bytes(row->words);
    }
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
