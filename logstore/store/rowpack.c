/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's row is 88 bytes, of which eight or so are new: when it began, how long it took,
 * the number of its launch. The rest is that kernel's, and stood in its row before. Ops,
 * times and other differences lie apart, so that what is alike lies together. */
#include "rowpack.h"

#include "framesum.h"

#include <gpurt/impl/activity.h>
#include <string.h>
#ifdef __SSE2__
#    include <emmintrin.h>
#endif

enum {
    HEAD_WORDS = sizeof(gpurt_row_t) / 4,
    TIME_WORDS = 2,
    OP_MOST = 2 + sizeof(uint64_t), /* bytes of a row's ops */
    PIECE = 4096                    /* of rows: they stay in the first cache */
};
GPURT_STATIC_ASSERT(offsetof(gpurt_row_t, time_ns) == 0, "the first two words");
GPURT_STATIC_ASSERT(offsetof(gpurt_row_t, words) == 4 * HEAD_WORDS - 2, "in the last one");
GPURT_STATIC_ASSERT(2 * GPLOG_PACK_WORDS == 64, "two bits a word");

static inline uint32_t width_bytes(uint32_t width)
{
    return 1u << width >> 1;
}

/* Of a row, with the one of padding. */
static inline uint32_t words_of(const gpurt_row_t *row)
{
    return gpurt_row_bytes(row->words) / 4;
}

/* ---- packing ------------------------------------------------------------------------- */

/* Rows of a site are alike; records of what a GPU did begin with a name, and those of a name
 * are. */
static uint32_t slot_choose(const gpurt_row_t *row)
{
    uint32_t key = row->site;

    if (gpurt_kind_is_activity(row->kind) && row->words)
        key += gpurt_row_words(row)[0] * 0x85ebca6bu;
    return (key * 0x9e3779b1u >> 16) * GPLOG_PACK_SLOTS >> 16;
}

/* Of a difference: how many bytes it takes, with its sign. */
static inline uint32_t width_of(uint32_t difference)
{
    int32_t d = (int32_t)difference;

    return (uint32_t)(d != 0) + (uint32_t)(d != (int8_t)d) + (uint32_t)(d != (int16_t)d);
}

/* The slot's words become the row's, and `differences` what was added to each. Returns: a bit a
 * word from the third on in which they differed. `count` is even; the pieces are those in which
 * words will be read. */
static inline uint32_t words_follow(uint32_t *words, const void *row, uint32_t count,
                                    uint32_t *differences)
{
    const uint8_t *from = row;
    uint32_t differ = 0, i = TIME_WORDS;

#ifdef __SSE2__
    for (; i + 4 <= count; i += 4) {
        __m128i now = _mm_loadu_si128((const __m128i_u *)(from + 4 * i));
        __m128i before = _mm_loadu_si128((const __m128i_u *)(words + i));
        __m128i equal = _mm_cmpeq_epi32(now, before);

        _mm_storeu_si128((__m128i_u *)(words + i), now);
        _mm_storeu_si128((__m128i_u *)(differences + i), _mm_sub_epi32(now, before));
        differ |= ((uint32_t)_mm_movemask_ps(_mm_castsi128_ps(equal)) ^ 15u) << i;
    }
#endif
    for (; i < count; i++) {
        uint32_t now;

        memcpy(&now, from + 4 * i, sizeof now);
        differences[i] = now - words[i];
        differ |= (uint32_t)(now != words[i]) << i;
        words[i] = now;
    }
    return differ;
}

/* The time is two words whose sum it is; each has a sign. */
static inline uint32_t time_low(uint64_t step)
{
    return (uint32_t)step;
}

static inline uint32_t time_high(uint64_t step)
{
    return (uint32_t)(step >> 32) + (time_low(step) >> 31);
}

/* Wide enough for this row. A word that has a width keeps it as long as it changes: widths that
 * come and go are an op each time, which is more than the byte that a narrow one saves. The
 * first row differs from nothing at all, so the second says what is usual. */
static GPURT_NOINLINE void widths_choose(gplog_pack_slot_t *slot, const gpurt_row_t *row,
                                         const uint32_t *differences, uint32_t differ)
{
    uint64_t before = slot->settled ? slot->widths : 0, widths = 0, narrow = 0;
    uint32_t shift = 0;

    slot->settled = slot->count == words_of(row);
    slot->used = differ;
    slot->count = (uint16_t)words_of(row);
    for (uint32_t left = differ | 3; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left), old = before >> 2 * at & 3;
        uint32_t width = width_of(differences[at]);

        width = width > old ? width : width ? old : 0;
        widths |= (uint64_t)width << 2 * at;
        if (at >= TIME_WORDS) {
            narrow |= (uint64_t)width << shift;
            shift += 2;
        }
    }
    slot->widths = widths;
    slot->narrow = narrow;
}

/* Of a width: what to add to a difference, so that bits are left above where it does not fit. */
static const struct {
    uint32_t bias, above, bytes;
} fits[4] = {{0, ~0u, 0}, {0x80, ~0xffu, 1}, {0x8000, ~0xffffu, 2}, {0, 0, 4}};

/* All four bytes are stored, and those that count are stepped over. *odd gets a bit where they
 * are not all. */
static inline uint8_t *difference_put(uint8_t *to, uint32_t difference, uint32_t width,
                                      uint32_t *odd)
{
    *odd |= (difference + fits[width].bias) & fits[width].above;
    memcpy(to, &difference, sizeof difference);
    return to + fits[width].bytes;
}

/* What is packed grows in three places, which are pushed together at the end. */
typedef struct streams {
    uint8_t *ops, *times, *values;
} streams_t;

/* Nearly all rows go by their slot's widths, in a step for each word that has one, however many
 * words there are. Returns: false, and nothing has changed: this one does not. */
static inline bool differences_put(streams_t *s, const gplog_pack_slot_t *slot,
                                   const uint32_t *differences, uint32_t differ)
{
    const uint32_t low = (uint32_t)slot->widths & 3, high = (uint32_t)slot->widths >> 2 & 3;
    uint64_t narrow = slot->narrow;
    uint32_t odd = differ & ~slot->used;
    uint8_t *times = difference_put(s->times, differences[0], low, &odd),
            *values = s->values;

    if (GPURT_LIKELY(high == 0)) /* times of a ring are less than 4 s apart */
        odd |= differences[1];
    else
        times = difference_put(times, differences[1], high, &odd);
    for (uint32_t left = slot->used; left; left &= left - 1, narrow >>= 2)
        values = difference_put(values, differences[__builtin_ctz(left)],
                                (uint32_t)narrow & 3, &odd);
    if (GPURT_UNLIKELY(odd != 0))
        return false;
    s->times = times;
    s->values = values;
    return true;
}

static inline void row_pack(gplog_pack_table_t *t, const gpurt_row_t *row, uint32_t count,
                            streams_t *s)
{
    uint32_t at = slot_choose(row);
    gplog_pack_slot_t *slot = &t->slots[at];
    uint64_t step = row->time_ns - t->time_ns;
    uint32_t differences[GPLOG_PACK_WORDS], differ;
    bool fit = slot->settled && slot->count == count;

    differences[0] = time_low(step);
    differences[1] = time_high(step);
    differ = words_follow(slot->words, row, count, differences);
    while (GPURT_UNLIKELY(!(fit && differences_put(s, slot, differences, differ)))) {
        widths_choose(slot, row, differences, differ);
        fit = true;
        *s->ops++ = GPLOG_PACK_WIDTHS;
        memcpy(s->ops, &slot->widths, sizeof slot->widths);
        s->ops += sizeof slot->widths;
    }
    *s->ops++ = (uint8_t)at;
}

static void row_copy(const gpurt_row_t *row, streams_t *s)
{
    uint32_t bytes = gpurt_row_bytes(row->words);

    *s->ops++ = GPLOG_PACK_WHOLE;
    memcpy(s->values, row, bytes);
    s->values += bytes;
}

static void rows_pack(gplog_pack_table_t *t, const uint8_t *at, const uint8_t *end,
                      streams_t *s)
{
    while (at < end) {
        const gpurt_row_t *row = (const gpurt_row_t *)at;
        uint32_t count = words_of(row);

        if (count <= GPLOG_PACK_WORDS)
            row_pack(t, row, count, s);
        else
            row_copy(row, s);
        t->time_ns = row->time_ns;
        at += 4 * count;
    }
}

size_t gplog_pack(gplog_pack_table_t *t, const gpurt_row_t *rows, uint32_t bytes,
                  uint8_t *to, gplog_frame_t *sum, gplog_collected_t *seen)
{
    const uint8_t *at = (const uint8_t *)rows, *end = at + bytes;
    uint8_t *ops = to + sizeof(gplog_pack_t), *times = ops + bytes / sizeof *rows * OP_MOST,
            *values = times + bytes / sizeof *rows * 4 * TIME_WORDS;
    streams_t s = {ops, times, values};
    gplog_pack_t head;

    memset(t, 0, sizeof *t);
    while (at < end) {
        const uint8_t *next =
            gplog_frame_add(sum, seen, at, end - at > PIECE ? at + PIECE : end);

        rows_pack(t, at, next, &s);
        at = next;
    }
    head.op_bytes = (uint32_t)(s.ops - ops);
    head.time_bytes = (uint32_t)(s.times - times);
    memcpy(to, &head, sizeof head);
    memmove(s.ops, times, head.time_bytes);
    memmove(s.ops + head.time_bytes, values, (size_t)(s.values - values));
    return sizeof head + head.op_bytes + head.time_bytes + (size_t)(s.values - values);
}

/* ---- unpacking ----------------------------------------------------------------------- */

/* What is left of each stream, and of the room for rows. Differences are loaded four bytes at a
 * time: what lies behind them is there (GPLOG_PACK_SLACK), and `take` says afterwards
 * whether it was theirs. */
typedef struct source {
    const uint8_t *ops, *ops_end, *times, *times_end, *values, *values_end;
    uint8_t *rows, *rows_end;
} source_t;

static inline int32_t difference_take(const uint8_t **from, uint32_t width)
{
    uint32_t bytes = width_bytes(width), d;

    memcpy(&d, *from, sizeof d);
    *from += bytes;
    return bytes == 0 ? 0 : (int32_t)(d << (32 - 8 * bytes)) >> (32 - 8 * bytes);
}

/* Words from `first` on, but not `end`, by the slot's widths. */
static void words_take(gplog_pack_slot_t *slot, const uint8_t **from, uint32_t first,
                       uint32_t end)
{
    uint64_t left = slot->widths >> 2 * first << 2 * first;

    if (end < GPLOG_PACK_WORDS)
        left &= (1ull << 2 * end) - 1;
    while (left) {
        uint32_t at = (uint32_t)__builtin_ctzll(left) / 2;

        slot->words[at] += (uint32_t)difference_take(from, (uint32_t)(left >> 2 * at & 3));
        left &= ~(3ull << 2 * at);
    }
}

static bool row_place(source_t *s, const void *row, uint32_t bytes)
{
    if (bytes > (size_t)(s->rows_end - s->rows))
        return false;
    memcpy(s->rows, row, bytes);
    s->rows += bytes;
    return true;
}

static bool row_unpack(gplog_pack_table_t *t, gplog_pack_slot_t *slot, source_t *s)
{
    int64_t low = difference_take(&s->times, (uint32_t)slot->widths & 3);
    int64_t high = difference_take(&s->times, (uint32_t)slot->widths >> 2 & 3);
    uint32_t count;

    t->time_ns += (uint64_t)low + ((uint64_t)high << 32);
    slot->row.time_ns = t->time_ns;
    words_take(slot, &s->values, TIME_WORDS, HEAD_WORDS);
    count = words_of(&slot->row);
    if (count > GPLOG_PACK_WORDS)
        return false;
    words_take(slot, &s->values, HEAD_WORDS, count);
    return s->times <= s->times_end && s->values <= s->values_end &&
           row_place(s, slot->words, 4 * count);
}

static bool row_take(gplog_pack_table_t *t, source_t *s)
{
    gpurt_row_t row;
    uint32_t bytes;

    if ((size_t)(s->values_end - s->values) < sizeof row)
        return false;
    memcpy(&row, s->values, sizeof row);
    bytes = gpurt_row_bytes(row.words);
    if (bytes > (size_t)(s->values_end - s->values) || !row_place(s, s->values, bytes))
        return false;
    t->time_ns = row.time_ns;
    s->values += bytes;
    return true;
}

/* Returns: the slot of the next row; GPLOG_PACK_WHOLE: none; GPLOG_PACK_WIDTHS: it makes no
 * sense. */
static uint32_t op_take(gplog_pack_table_t *t, source_t *s)
{
    uint32_t op = *s->ops++;
    uint64_t widths;

    if (op != GPLOG_PACK_WIDTHS)
        return op;
    if ((size_t)(s->ops_end - s->ops) <= sizeof widths)
        return GPLOG_PACK_WIDTHS;
    memcpy(&widths, s->ops, sizeof widths);
    s->ops += sizeof widths;
    op = *s->ops++;
    if (op >= GPLOG_PACK_SLOTS)
        return GPLOG_PACK_WIDTHS;
    t->slots[op].widths = widths;
    return op;
}

static bool source_open(source_t *s, const uint8_t *packed, size_t size)
{
    gplog_pack_t head;

    if (size < sizeof head)
        return false;
    memcpy(&head, packed, sizeof head);
    size -= sizeof head;
    if (head.op_bytes > size || head.time_bytes > size - head.op_bytes)
        return false;
    s->ops = packed + sizeof head;
    s->times = s->ops_end = s->ops + head.op_bytes;
    s->values = s->times_end = s->times + head.time_bytes;
    s->values_end = packed + sizeof head + size;
    return true;
}

bool gplog_unpack(gplog_pack_table_t *t, const uint8_t *packed, size_t size, uint8_t *rows,
                  uint32_t bytes)
{
    source_t s = {.rows = rows, .rows_end = rows + bytes};

    if (!source_open(&s, packed, size))
        return false;
    memset(t, 0, sizeof *t);
    while (s.ops < s.ops_end) {
        uint32_t op = op_take(t, &s);

        if (op == GPLOG_PACK_WIDTHS ||
            !(op == GPLOG_PACK_WHOLE ? row_take(t, &s) : row_unpack(t, &t->slots[op], &s)))
            return false;
    }
    return s.rows == s.rows_end && s.times == s.times_end && s.values == s.values_end;
}
