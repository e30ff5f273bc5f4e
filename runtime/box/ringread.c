/* SPDX-License-Identifier: Apache-2.0 */
#include "ringread.h"

/* Laps between the group found and the one that belongs here: negative for a stale group, 0
 * for ours, positive when the producer has come round. A ring is at most 2^15 groups, so 16
 * bits tell a lap from its neighbours. */
static int32_t tag_ahead(uint32_t tag, uint32_t position)
{
    return (int16_t)(uint16_t)((tag >> 16) - position);
}

/* A group as it came: its tag, and its words stored somewhere with one store, the tag behind
 * them, where the next group's words will lie. */
#if GPURT_GROUP_MOVE
typedef long long loose_group_t __attribute__((vector_size(16), aligned(4), may_alias));

static inline uint32_t group_take(const gpurt_group_t *from, uint32_t *to)
{
    gpurt_group_raw_t raw, turned;
    uint32_t tag;

    __asm__ __volatile__("movdqa %3, %0\n\t" /* B1 */
                         "pshufd $0x39, %0, %1\n\t"
                         "movd %0, %2"
                         : "=&x"(raw), "=x"(turned), "=r"(tag)
                         : "m"(*(const gpurt_group_raw_t *)from));
    *(loose_group_t *)to = (loose_group_t)turned;
    return tag;
}
#else
static inline uint32_t group_take(const gpurt_group_t *from, uint32_t *to)
{
    gpurt_group_t g = gpurt_group_load(from); /* B1 */

    to[0] = g.word[0];
    to[1] = g.word[1];
    to[2] = g.word[2];
    return g.tag;
}
#endif

/* What the record is, of which not all groups were what their positions demand. They are read
 * again, and may be by now. */
static GPURT_NOINLINE uint32_t rest_judge(const gpurt_group_t *ring, uint32_t mask,
                                          uint32_t position, uint32_t *words,
                                          uint32_t first)
{
    bool odd = false;

    for (uint32_t i = 1; i <= (first & 0x7fu); i++) {
        uint32_t tag =
            group_take(&ring[(position + i) & mask], words + GPURT_GROUP_WORDS * i);
        int32_t ahead = tag_ahead(tag, position + i);

        if (tag == gpurt_tag_rest(position + i, first >> 8, i))
            continue;
        if (!(tag & 0xffu) || ahead < 0)
            return GPURT_READ_PART;
        if (ahead > 0)
            return GPURT_READ_OVERRUN;
        odd = true;
    }
    return odd ? GPURT_READ_SHARED : GPURT_READ_RECORD;
}

/* What a first group means that does not begin a record of this lap. */
static GPURT_NOINLINE uint32_t first_judge(uint32_t first, uint32_t position)
{
    int32_t ahead = tag_ahead(first, position);

    if (!(first & 0xffu))
        return GPURT_READ_EMPTY; /* never written: whatever the rest of the tag says */
    if (ahead != 0)
        return ahead > 0 ? GPURT_READ_OVERRUN : GPURT_READ_EMPTY;
    return GPURT_READ_PART;
}

uint32_t gpurt_ring_read(const gpurt_group_t *ring, uint32_t group_count, uint32_t position,
                         uint32_t *words, uint32_t *groups)
{
    const uint32_t mask = group_count - 1;
    const uint32_t first = group_take(&ring[position & mask], words);
    const uint32_t want = gpurt_tag_first(position, 0, 1);
    uint32_t count, tag;
    size_t at = (position & mask) * (size_t)GPURT_GROUP_BYTES; /* in bytes */

    *groups = 1;
    if (GPURT_UNLIKELY((first ^ want) & (0xffffu << 16 | GPURT_SHAPE_FIRST)))
        return first_judge(first, position);
    count = (first & 0x7fu) + 1;
    if (GPURT_UNLIKELY(count > group_count))
        return GPURT_READ_PART;
    *groups = count;
    tag = gpurt_tag_rest(position, first >> 8, 0);
    for (uint32_t *to = words; to != words + GPURT_GROUP_WORDS * (count - 1);) {
        to += GPURT_GROUP_WORDS;
        tag += GPURT_TAG_STEP;
        at = (at + GPURT_GROUP_BYTES) & (mask * (size_t)GPURT_GROUP_BYTES);
        if (GPURT_UNLIKELY(
                group_take((const gpurt_group_t *)((const char *)ring + at), to) != tag))
            return rest_judge(ring, mask, position, words, first);
    }
    return GPURT_READ_RECORD;
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
 * is the producer's head, and from there the oldest lap stands. Where only later groups of a
 * record were overwritten so far, the head is at the first of these: never back from there. */
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
    lap = lap ? lap : group_count;
    return gpurt_ring_find(ring, group_count, position + i + lap - group_count + margin);
}
