/* SPDX-License-Identifier: Apache-2.0 */
#include "sequence.h"

#include <stdlib.h>
#include <string.h>

void gplog_sequence_fini(gplog_sequence_t *s)
{
    free(s->gaps);
    memset(s, 0, sizeof *s);
}

static bool gap_insert(gplog_sequence_t *s, size_t at, gplog_gap_t gap)
{
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        gplog_gap_t *more = realloc(s->gaps, room * sizeof *more);

        if (!more)
            return false;
        s->gaps = more;
        s->room = room;
    }
    memmove(s->gaps + at + 1, s->gaps + at, (s->count - at) * sizeof *s->gaps);
    s->gaps[at] = gap;
    s->count++;
    return true;
}

bool gplog_sequence_expect(gplog_sequence_t *s, uint64_t next)
{
    if (next <= s->next)
        return true;
    if (!gap_insert(s, s->count, (gplog_gap_t){s->next, next}))
        return false;
    s->missing += next - s->next;
    s->next = next;
    return true;
}

/* Returns: the gap that the number is in, `count` where it came before. */
static size_t gap_of(const gplog_sequence_t *s, uint64_t number)
{
    size_t low = 0, high = s->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (s->gaps[mid].to <= number)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->count && s->gaps[low].from <= number ? low : s->count;
}

static bool gap_fill(gplog_sequence_t *s, size_t at, uint64_t number)
{
    const gplog_gap_t gap = s->gaps[at];

    if (gap.from < number && number + 1 < gap.to) {
        if (!gap_insert(s, at + 1, (gplog_gap_t){number + 1, gap.to}))
            return false;
        s->gaps[at].to = number;
    } else if (gap.from < number) {
        s->gaps[at].to = number;
    } else if (number + 1 < gap.to) {
        s->gaps[at].from = number + 1;
    } else {
        memmove(s->gaps + at, s->gaps + at + 1, (--s->count - at) * sizeof *s->gaps);
    }
    s->missing--;
    return true;
}

bool gplog_sequence_take(gplog_sequence_t *s, uint64_t number, gplog_place_t *place)
{
    size_t at;

    if (number == UINT64_MAX) /* nobody wrote so many: it must not wrap */
        number--;
    if (number >= s->next) {
        if (!gplog_sequence_expect(s, number))
            return false;
        s->next = number + 1;
        *place = GPLOG_PLACE_NEXT;
        return true;
    }
    at = gap_of(s, number);
    *place = at < s->count ? GPLOG_PLACE_LATE : GPLOG_PLACE_DOUBLE;
    return at == s->count || gap_fill(s, at, number);
}
