/* SPDX-License-Identifier: Apache-2.0 */
/* warptally.h - counters that many lanes add to at once: those that call together share one
 * atomic, since one word takes but one at a time.
 *
 * Order: none. Context: device code, any lanes; the word lies in memory of the device. */
#ifndef GPURT_WARPTALLY_H
#define GPURT_WARPTALLY_H

#include <gpurt/atomic.h>
#include <gpurt/ids.h>
#include <gpurt/warp.h>

/* What a lane is about to do with its word. */
enum {
    GPURT_TALLY_ADD,
    GPURT_TALLY_RED,
    GPURT_TALLY_TICKET
};

/* Lanes that stand here with the same word to do the same: those that branches brought here for
 * another purpose take other steps after this one. */
GPURT_DEV uint32_t gpurt_tally_lanes(const uint64_t *word, uint32_t what)
{
    uint32_t here = gpurt_activemask();

    return gpurt_match_any_u64(here, (uint64_t)(uintptr_t)word | what);
}

/* Returns: the counter with what these lanes have added. */
GPURT_DEV uint64_t gpurt_tally_add(uint64_t *word, uint64_t n)
{
    uint32_t lanes = gpurt_tally_lanes(word, GPURT_TALLY_ADD);
    uint64_t sum = gpurt_reduce_add_u64(lanes, n), old = 0;

    if (gpurt_is_leader(lanes)) /* relaxed: a counter */
        old = gpurt_add_relaxed_dev_u64(word, sum);
    return gpurt_shfl_u64(lanes, old, gpurt_leader(lanes)) + sum;
}

/* The same for who does not look at it; nothing when all add 0. */
GPURT_DEV void gpurt_tally_red(uint64_t *word, uint64_t n)
{
    uint32_t lanes = gpurt_tally_lanes(word, GPURT_TALLY_RED);
    uint64_t sum = gpurt_reduce_add_u64(lanes, n);

    if (sum && gpurt_is_leader(lanes)) /* relaxed: a counter */
        gpurt_red_add_relaxed_dev_u64(word, sum);
}

/* Returns: a number that no other call gets. */
GPURT_DEV uint64_t gpurt_tally_ticket(uint64_t *word)
{
    uint32_t lanes = gpurt_tally_lanes(word, GPURT_TALLY_TICKET);
    uint64_t first = 0;

    if (gpurt_is_leader(lanes)) /* relaxed: a ticket */
        first = gpurt_add_relaxed_dev_u64(word, gpurt_popc(lanes));
    first = gpurt_shfl_u64(lanes, first, gpurt_leader(lanes));
    return first + gpurt_popc(lanes & gpurt_lanes_below());
}

#endif
