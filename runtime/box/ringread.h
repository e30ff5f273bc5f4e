/* SPDX-License-Identifier: Apache-2.0 */
/* ringread.h - the drainer's end of a ring: one record at a time, nothing believed
 * unseen.
 *
 * A record counts only when every group of it carries the tag that its position demands.
 * The reader keeps its place itself; telling the producer (xtail) is the drainer's
 * business, after the records are safe elsewhere. */
#ifndef GPURT_RINGREAD_H
#define GPURT_RINGREAD_H

#include <gpurt/impl/box.h>

enum {
    GPURT_READ_EMPTY = 0, /* no record here yet */
    GPURT_READ_RECORD = 1,
    GPURT_READ_PART = 2,    /* its first group is here, another is not */
    GPURT_READ_OVERRUN = 3, /* the producer has overwritten this position */
    GPURT_READ_SHARED = 4   /* whole, but groups of two producers: shown to nobody */
};

enum {
    GPURT_READ_WORDS = GPURT_RECORD_MAX_GROUPS * GPURT_GROUP_WORDS + 1 /* and a spare one */
};

/* Reads the record at position. words: room for GPURT_READ_WORDS; receives 3 words a group,
 * and behind them one that means nothing. *groups: size of the record, also for PART and SHARED. */
uint32_t gpurt_ring_read(const gpurt_group_t *ring, uint32_t group_count, uint32_t position,
                         uint32_t *words, uint32_t *groups);

/* The next position after `position` at which a whole record of this lap starts,
 * searching at most one lap; `position` itself when there is none. */
uint32_t gpurt_ring_find(const gpurt_group_t *ring, uint32_t group_count,
                         uint32_t position);

/* After OVERRUN: the oldest position that still holds what the producer wrote, with a
 * margin, because it goes on writing. */
uint32_t gpurt_ring_oldest(const gpurt_group_t *ring, uint32_t group_count,
                           uint32_t position);

#endif
