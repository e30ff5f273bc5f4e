/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's row is 88 bytes, of which eight or so are new: when it began, how long it took,
 * the number of its launch. The rest is that kernel's, and stood in its row before. Ops,
 * times and other differences lie apart, so that what is alike lies together. */
#include "rowpack.h"

#include <gpurt/activity.h>
#include <string.h>

enum {
    HEAD_WORDS = sizeof(gpurt_row_t) / 4,
    TIME_WORDS = 2,
    OP_MOST = 2 + sizeof(uint64_t) /* bytes of a row's ops */
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

/* Appends word `at`. All four bytes are stored, and those that count are stepped over. */
static inline uint8_t *difference_put(uint8_t *to, uint32_t difference, uint32_t at,
                                      uint64_t *widths)
{
    int32_t d = (int32_t)difference;
    uint32_t width =
        (uint32_t)(d != 0) + (uint32_t)(d != (int8_t)d) + (uint32_t)(d != (int16_t)d);

    memcpy(to, &d, sizeof d);
    *widths |= (uint64_t)width << 2 * at;
    return to + width_bytes(width);
}

/* Two words whose sum it is; each has a sign. */
static inline uint8_t *time_put(uint8_t *to, uint64_t step, uint64_t *widths)
{
    uint32_t low = (uint32_t)step;

    to = difference_put(to, low, 0, widths);
    return difference_put(to, (uint32_t)(step >> 32) + (low >> 31), 1, widths);
}

/* The slot's words become the row's. Most pairs are as they were. */
static uint8_t *words_put(uint8_t *to, gplog_pack_slot_t *slot, const gpurt_row_t *row,
                          uint64_t *widths)
{
    const uint32_t count = words_of(row);

    for (uint32_t i = TIME_WORDS; i < count; i += 2) {
        uint64_t now, before;

        memcpy(&now, (const uint8_t *)row + 4 * i, sizeof now);
        memcpy(&before, slot->words + i, sizeof before);
        if (GPURT_LIKELY(now == before))
            continue;
        to = difference_put(to, (uint32_t)now - (uint32_t)before, i, widths);
        to = difference_put(to, (uint32_t)(now >> 32) - (uint32_t)(before >> 32), i + 1,
                            widths);
        memcpy(slot->words + i, &now, sizeof now);
    }
    return to;
}

/* What is packed grows in three places, which are pushed together at the end. */
typedef struct streams {
    uint8_t *ops, *times, *values;
} streams_t;

static void row_pack(gplog_pack_table_t *t, const gpurt_row_t *row, streams_t *s)
{
    uint32_t at = slot_choose(row);
    gplog_pack_slot_t *slot = &t->slots[at];
    uint64_t widths = 0;

    s->times = time_put(s->times, row->time_ns - t->time_ns, &widths);
    s->values = words_put(s->values, slot, row, &widths);
    if (widths != slot->widths) {
        slot->widths = widths;
        *s->ops++ = GPLOG_PACK_WIDTHS;
        memcpy(s->ops, &widths, sizeof widths);
        s->ops += sizeof widths;
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

size_t gplog_pack(gplog_pack_table_t *t, const gpurt_row_t *rows, uint32_t bytes,
                  uint8_t *to)
{
    const uint8_t *at = (const uint8_t *)rows, *end = at + bytes;
    uint8_t *ops = to + sizeof(gplog_pack_t), *times = ops + bytes / sizeof *rows * OP_MOST,
            *values = times + bytes / sizeof *rows * 4 * TIME_WORDS;
    streams_t s = {ops, times, values};
    gplog_pack_t head;

    memset(t, 0, sizeof *t);
    for (; at < end; at += gpurt_row_bytes(((const gpurt_row_t *)at)->words)) {
        const gpurt_row_t *row = (const gpurt_row_t *)at;

        if (words_of(row) <= GPLOG_PACK_WORDS)
            row_pack(t, row, &s);
        else
            row_copy(row, &s);
        t->time_ns = row->time_ns;
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
