/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of panics from other versions and from damaged files: one of before parts were there, one
 * that ends anywhere, and parts that nobody knows or that lie about their size. */
#include "../check.h"
#include "panicrow.h"

#include <string.h>

enum {
    FIXED = 10 /* block, thread, lane, failed, clock */
};
#define TYPES (GPURT_TYPE_U32 | GPURT_TYPE_F64 << 4)

static struct {
    gpurt_row_t row;
    uint32_t words[GPLOG_ROW_WORDS];
} r;

static void put(uint32_t word)
{
    r.words[r.row.words++] = word;
}

/* A row as the first version wrote it: two operands, two lanes that failed. */
static void old_row(void)
{
    memset(&r, 0, sizeof r);
    r.row.kind = GPURT_KIND_PANIC;
    for (uint32_t i = 0; i < 3 + FIXED; i++)
        put(100 + i);
    r.words[3 + 7] = 3u << 4; /* failed */
    for (uint32_t i = 0; i < 4; i++)
        put(200 + i);
}

static void about(uint32_t words)
{
    put(GPLOG_PART_ABOUT << 24 | words);
    for (uint32_t i = 0; i < words; i++)
        put(i == 0 ? GPURT_CATEGORY_COMPARE | 1u << 16 : 300 + i);
}

static void check_old(void)
{
    gpurt_panicrow_t p;

    old_row();
    gpurt_panicrow_read(&r.row, TYPES, &p);
    CHECK_MSG(p.arg_count == 2 && p.args[0] == 100 && p.args[1] == (101 | 102ull << 32),
              "operands");
    CHECK_MSG(p.block.x == 103 && p.thread.z == 108 && p.lane == 109, "place");
    CHECK_MSG(p.known[0] == p.failed && p.lanes[0][4] == (200 | 201ull << 32) &&
                  p.lanes[0][5] == (202 | 203ull << 32),
              "lanes");
    CHECK_MSG(!p.about && p.category == GPURT_CATEGORY_PANIC && p.own == 0 &&
                  p.condition == 0 && p.known[1] == 0 && p.context_count == 0,
              "what it did not have");
}

static void check_parts(void)
{
    gpurt_panicrow_t p;

    old_row();
    put(99u << 24 | 2); /* of a later version */
    put(1);
    put(2);
    about(40); /* longer than ours */
    put(GPLOG_PART_LANES << 24 | 4);
    put(1);
    put(1u << 31);
    put(7);
    put(8);
    put(GPLOG_PART_LANES << 24 | 3);
    put(2); /* an operand that has no place */
    put(GPURT_FULL_MASK);
    put(9);
    put(GPLOG_PART_WINDOW << 24 | 12);
    for (uint32_t i = 0; i < 9; i++)
        put(400 + i);
    put(5000); /* bytes, of which there are eight */
    put(0x11223344);
    put(0x55667788);
    gpurt_panicrow_read(&r.row, TYPES, &p);
    CHECK_MSG(p.about && p.category == GPURT_CATEGORY_COMPARE && p.own == 1 &&
                  p.number == 301 && p.held_left_out == 300 + 23,
              "about");
    CHECK_MSG(p.known[1] == 1u << 31 && p.lanes[1][31] == (7 | 8ull << 32), "lanes");
    CHECK_MSG(p.window_count == 1 && p.windows[0].bytes == 8 &&
                  p.windows[0].data[0] == 0x44 && p.windows[0].data[7] == 0x55,
              "a window");
    /* Its size is that of the rest. */
    r.words[3 + FIXED + 4 + 3] |= 0xffffffu;
    gpurt_panicrow_read(&r.row, TYPES, &p);
    CHECK_MSG(p.about && p.window_count == 0, "all is its own");
}

/* Wherever it ends, nothing behind that is read: it would be a word of ones. */
static void check_cut(void)
{
    gpurt_panicrow_t p;
    uint32_t whole;

    old_row();
    about(24);
    for (uint32_t kind = GPLOG_PART_CONTEXT; kind <= GPLOG_PART_REPORT; kind++) {
        put(kind << 24 | 60);
        for (uint32_t i = 0; i < 60; i++)
            put(i);
    }
    whole = r.row.words;
    for (uint32_t words = 0; words < whole; words++) {
        const char *end = (const char *)&r.words[words];
        uint32_t behind = r.words[words];

        r.words[words] = UINT32_MAX;
        r.row.words = (uint16_t)words;
        gpurt_panicrow_read(&r.row, TYPES, &p);
        CHECK_MSG(p.context_count <= GPURT_PANIC_CONTEXTS &&
                      p.frame_count <= GPURT_PANIC_FRAMES &&
                      p.held_count <= GPURT_PANIC_HELD &&
                      p.window_count <= GPURT_PANIC_WINDOWS,
                  "%u words", words);
        CHECK_MSG(p.clock >> 32 != UINT32_MAX && p.number != UINT32_MAX &&
                      p.held_left_out != UINT32_MAX,
                  "%u words: one behind the end", words);
        CHECK_MSG(!p.report || p.report + p.report_bytes <= end, "%u words: report", words);
        if (words <= 3 + FIXED + 4)
            CHECK_MSG(!p.about, "%u words", words);
        r.words[words] = behind;
    }
}

int main(void)
{
    check_old();
    check_parts();
    check_cut();
    return 0;
}
