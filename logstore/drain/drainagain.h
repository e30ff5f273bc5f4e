/* SPDX-License-Identifier: Apache-2.0 */
/* drainagain.h - a record of the size of the last one of its site, as most are: its row is that
 * one's with another time, place, block and arguments, which is half the work. Inlined into
 * the loop that reads a ring, and what it shares with drainrow.c. */
#ifndef GPURT_DRAINAGAIN_H
#define GPURT_DRAINAGAIN_H

#include "drainpart.h"

enum {
    DRAIN_MOVED_NS = 1000000 /* times that differ by more are told as they are */
};
#define DRAIN_AGAIN_WHAT (~(31u << 24)) /* of a record's first word all but the warp */

/* Records of a ring were written one after another. When the clock is fitted anew its line moves
 * by a microsecond or so, and must not turn two of them round. */
static inline uint64_t drain_time_after(drain_cursor_t *c, uint64_t time_ns)
{
    if (time_ns < c->last_ns && c->last_ns - time_ns < DRAIN_MOVED_NS)
        return c->last_ns;
    c->last_ns = time_ns;
    return time_ns;
}

/* Strings of one lane, as strings_translate does them. Returns: false, one is not defined yet. */
static inline bool drain_again_strings(gpurt_drain_t *d, uint32_t section,
                                       const drain_section_t *own, const drain_again_t *a,
                                       uint32_t *args)
{
    for (uint32_t left = a->strings; left; left &= left - 1) {
        uint32_t *at = args + __builtin_ctz(left), number = *at, id = 0;

        if (number == 0)
            continue;
        if (GPURT_LIKELY(number <= a->def_count))
            id = own->sites[number - 1].id;
        if (GPURT_UNLIKELY(id == 0))
            id = drain_string_late(d, section, number);
        if (GPURT_UNLIKELY(id == 0))
            return false;
        *at = id;
    }
    return true;
}

/* The last record of its site, if one that may still be waited for is like that; else NULL. */
static inline const drain_again_t *drain_again_find(const drain_section_t *own,
                                                    uint32_t what, uint32_t groups)
{
    const drain_again_t *a = &own->again[what % DRAIN_AGAINS];

    return (what & DRAIN_AGAIN_WHAT) == a->what && groups == a->groups ? a : NULL;
}

/* The row of one that is; drain_record makes the others. Returns: its messages; 0 when a string of
 * it is not defined yet. */
static inline uint32_t drain_again(gpurt_drain_t *d, drain_section_t *own,
                                   const drain_again_t *a, uint32_t section, uint32_t ring,
                                   gpurt_row_t *row)
{
    const uint32_t *words = drain_record_words(row);
    const uint32_t warp = words[0] >> 24 & 31u, block = words[3];
    const uint64_t time48 = words[1] | (uint64_t)(words[2] & 0xffffu) << 32;
    uint64_t time_ns;

    if (!drain_again_strings(d, section, own, a, gpurt_row_words(row)))
        return 0;
    time_ns = drain_time(own, time48);
    if (!a->host)
        time_ns = drain_time_after(&own->cursors[ring], time_ns);
    *row = a->row;
    row->time_ns = time_ns;
    row->block = block;
    row->sm = d->sm;
    row->slot = d->slot;
    row->warp = (uint8_t)warp;
    drain_row_done(d, row, a->row.words);
    d->sum.messages++;
    return 1;
}

#endif
