/* SPDX-License-Identifier: Apache-2.0 */
#include "pylines.h"

enum {
    UNIT = 2, /* bytes of an instruction since 3.6 */
    NO_LINE = -128
};

/* Kinds of locations that change the line. */
enum {
    LOCATION_ONE_LINE = 10, /* and 11, 12: so many lines more than the last one */
    LOCATION_NO_COLUMNS = 13,
    LOCATION_LONG = 14,
    LOCATION_NONE = 15
};

typedef struct table {
    peek_t *p;
    uint64_t at, end;
} table_t;

static bool table_byte(table_t *t, uint8_t *to)
{
    return t->at < t->end && peek_bytes(t->p, t->at++, to, 1);
}

/* A pair for each step: of bytes, and of lines. */
static uint32_t by_deltas(table_t *t, int64_t line, int64_t byte)
{
    uint8_t bytes, lines;

    for (int64_t at = 0; table_byte(t, &bytes) && table_byte(t, &lines);) {
        at += bytes;
        if (at > byte)
            break;
        line += (int8_t)lines;
    }
    return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

static uint32_t by_ranges(table_t *t, int64_t line, int64_t byte)
{
    uint8_t bytes, lines;

    for (int64_t end = 0; table_byte(t, &bytes) && table_byte(t, &lines);) {
        end += bytes;
        if ((int8_t)lines != NO_LINE)
            line += (int8_t)lines;
        if (end > byte)
            return (int8_t)lines != NO_LINE && line > 0 && line <= INT32_MAX
                       ? (uint32_t)line
                       : 0;
    }
    return 0;
}

/* Six bits a byte, the lowest ones first; the lowest of all is the sign. */
static int64_t signed_read(table_t *t)
{
    uint64_t value = 0;
    uint8_t byte = 0x40;

    for (uint32_t shift = 0; byte & 0x40 && shift < 36; shift += 6) {
        if (!table_byte(t, &byte))
            return 0;
        value |= (uint64_t)(byte & 0x3f) << shift;
    }
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static int64_t location_lines(table_t *t, uint32_t code)
{
    if (code == LOCATION_NO_COLUMNS || code == LOCATION_LONG)
        return signed_read(t);
    return code >= LOCATION_ONE_LINE && code < LOCATION_NO_COLUMNS
               ? (int64_t)code - LOCATION_ONE_LINE
               : 0;
}

/* Each entry begins with a byte whose highest bit is set: what follows is skipped by that. */
static uint32_t by_locations(table_t *t, int64_t line, int64_t byte)
{
    int64_t end = 0;
    uint8_t head;

    while (table_byte(t, &head)) {
        const uint32_t code = head >> 3 & 15;

        if (!(head & 0x80))
            continue;
        line += location_lines(t, code);
        end += ((head & 7) + 1) * UNIT;
        if (end > byte)
            return code != LOCATION_NONE && line > 0 && line <= INT32_MAX ? (uint32_t)line
                                                                          : 0;
    }
    return 0;
}

uint32_t pylines_find(peek_t *p, pylines_t kind, uint64_t table, uint64_t bytes,
                      uint32_t first_line, int32_t byte)
{
    table_t t = {p, table,
                 table + (bytes < PYLINES_TABLE ? bytes : (uint64_t)PYLINES_TABLE)};

    if (byte < 0)
        return first_line;
    switch (kind) {
    case PYLINES_DELTAS:
        return by_deltas(&t, first_line, byte);
    case PYLINES_RANGES:
        return by_ranges(&t, first_line, byte);
    default:
        return by_locations(&t, first_line, byte);
    }
}
