/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h - reading little-endian numbers and texts out of bytes that nobody vouches for.
 *
 * What lies beyond the end reads as 0 or as an empty text, so that a reader of a table
 * whose rows are shorter than it knows them (an older driver's) needs no second path. */
#ifndef GPURT_POSTMORTEM_BYTES_H
#define GPURT_POSTMORTEM_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed. */
typedef struct bytes {
    const uint8_t *at;
    uint64_t size;
} bytes_t;

/* A part, cut at the end of the whole. */
static inline bytes_t bytes_part(bytes_t b, uint64_t from, uint64_t size)
{
    bytes_t part = {NULL, 0};

    if (from < b.size) {
        part.at = b.at + from;
        part.size = size < b.size - from ? size : b.size - from;
    }
    return part;
}

static inline bool bytes_has(bytes_t b, uint64_t from, uint64_t size)
{
    return from <= b.size && size <= b.size - from;
}

static inline uint64_t bytes_number(bytes_t b, uint64_t from, uint32_t size)
{
    uint64_t v = 0;

    if (b.at && bytes_has(b, from, size))
        memcpy(&v, b.at + from, size);
    return v;
}

static inline uint32_t bytes_u8(bytes_t b, uint64_t from)
{
    return (uint32_t)bytes_number(b, from, 1);
}

static inline uint32_t bytes_u16(bytes_t b, uint64_t from)
{
    return (uint32_t)bytes_number(b, from, 2);
}

static inline uint32_t bytes_u32(bytes_t b, uint64_t from)
{
    return (uint32_t)bytes_number(b, from, 4);
}

static inline uint64_t bytes_u64(bytes_t b, uint64_t from)
{
    return bytes_number(b, from, 8);
}

/* A text that ends with a zero inside of b; else an empty one. */
static inline const char *bytes_text(bytes_t b, uint64_t from)
{
    if (from >= b.size || !memchr(b.at + from, 0, (size_t)(b.size - from)))
        return "";
    return (const char *)b.at + from;
}

/* Takes a LEB128 number off the front. */
static inline uint64_t bytes_take_leb(bytes_t *b, bool is_signed)
{
    uint64_t v = 0;
    uint32_t shift = 0;
    uint8_t byte = 0x80;

    while (b->size > 0 && (byte & 0x80)) {
        byte = *b->at;
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        b->at++;
        b->size--;
    }
    if (is_signed && shift < 64 && (byte & 0x40))
        v |= ~(uint64_t)0 << shift;
    return v;
}

/* Takes `size` bytes off the front, as a number: 1, 2, 4 or 8. */
static inline uint64_t bytes_take(bytes_t *b, uint32_t size)
{
    uint64_t v = bytes_number(*b, 0, size);

    *b = bytes_part(*b, size, b->size);
    return v;
}

#endif
