/* SPDX-License-Identifier: Apache-2.0 */
#include "ringread.h"

/* Laps between the group found and the one that belongs here: negative for a stale group, 0
 * for ours, positive when the producer has come round. A ring is at most 2^15 groups, so 16
 * bits tell a lap from its neighbours. */
static int32_t tag_ahead(uint32_t tag, uint32_t position)
{
    return (int16_t)(uint16_t)((tag >> 16) - position);
}

uint32_t gpurt_ring_read(const gpurt_group_t *ring, uint32_t group_count, uint32_t position,
                         uint32_t *words, uint32_t *groups)
{
    const uint32_t mask = group_count - 1;
    gpurt_group_t g = gpurt_group_load(&ring[position & mask]); /* B1 */
    const uint32_t first = g.tag;
    uint32_t count, odd = 0;
    int32_t ahead = tag_ahead(first, position);

    *groups = 1;
    if (!(first & 0xffu))
        return GPURT_READ_EMPTY; /* never written: whatever the rest of the tag says */
    if (ahead != 0)
        return ahead > 0 ? GPURT_READ_OVERRUN : GPURT_READ_EMPTY;
    if (!(first & GPURT_SHAPE_FIRST))
        return GPURT_READ_PART;
    count = (first & 0x7fu) + 1;
    if (count > group_count)
        return GPURT_READ_PART;
    *groups = count;
    for (uint32_t i = 0;;) {
        words[3 * i] = g.word[0];
        words[3 * i + 1] = g.word[1];
        words[3 * i + 2] = g.word[2];
        if (++i == count)
            break;
        g = gpurt_group_load(&ring[(position + i) & mask]); /* B1 */
        ahead = tag_ahead(g.tag, position + i);
        if (!(g.tag & 0xffu) || ahead < 0)
            return GPURT_READ_PART;
        if (ahead > 0)
            return GPURT_READ_OVERRUN;
        odd |= (g.tag ^ gpurt_tag_rest(position + i, first >> 8, i)) & 0xffffu;
    }
    return odd ? GPURT_READ_SHARED : GPURT_READ_RECORD;
}

uint32_t gpurt_ring_find(const gpurt_group_t *ring, uint32_t group_count, uint32_t position)
{
    uint32_t words[GPURT_READ_WORDS], groups;

    for (uint32_t i = 1; i < group_count; i++) {
        gpurt_group_t g =
            gpurt_group_load(&ring[(position + i) & (group_count - 1)]); /* B1 */

        if ((g.tag & GPURT_SHAPE_FIRST) && tag_ahead(g.tag, position + i) == 0 &&
            gpurt_ring_read(ring, group_count, position + i, words, &groups) ==
                GPURT_READ_RECORD)
            return position + i;
    }
    return position;
}

/* Walks on from a position that was overwritten until the laps fall back by one: there
 * is the producer's head, and from there the oldest lap stands. */
uint32_t gpurt_ring_oldest(const gpurt_group_t *ring, uint32_t group_count,
                           uint32_t position)
{
    const uint32_t mask = group_count - 1, margin = group_count / 8;
    gpurt_group_t g = gpurt_group_load(&ring[position & mask]); /* B1 */
    uint32_t lap = (uint32_t)tag_ahead(g.tag, position) & ~mask;
    uint32_t i;

    for (i = 1; i < group_count; i++) {
        g = gpurt_group_load(&ring[(position + i) & mask]); /* B1 */
        if ((uint32_t)tag_ahead(g.tag, position + i) != lap)
            break;
    }
    return gpurt_ring_find(ring, group_count, position + i + lap - group_count + margin);
}
