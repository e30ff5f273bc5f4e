/* SPDX-License-Identifier: Apache-2.0 */
/* framesum.h - what the head of a frame says of its rows, and an index of the frame. */
#ifndef GPURT_LOG_FRAMESUM_H
#define GPURT_LOG_FRAMESUM_H

#include "collected.h"
#include "format.h"

/* Of a frame without rows: all else of the head is 0. */
void gplog_frame_begin(gplog_frame_t *f);
/* Rows that begin before `until`; they lie one after another. c: what the collector saw of
 * them is added to. Returns: behind the last one. */
const uint8_t *gplog_frame_add(gplog_frame_t *f, gplog_collected_t *c, const uint8_t *rows,
                               const uint8_t *until);

/* A frame more in what an END says. */
void gplog_end_add(gplog_end_t *end, const gplog_frame_t *f);

/* Its line in an index. */
gplog_index_entry_t gplog_frame_entry(const gplog_frame_t *f, uint64_t offset);

/* Whether the frame may hold rows of that section: a damaged row may name any, and shares its bit with
 * another. */
static inline bool gplog_entry_has(const gplog_index_entry_t *entry, uint32_t section)
{
    return entry->sections >> (section & 31u) & 1u;
}

#endif
