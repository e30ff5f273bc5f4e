/* SPDX-License-Identifier: Apache-2.0 */
/* A line table written by hand: sequences, inlined calls in inlined calls, units of other
 * versions beside it, callers that point nowhere or in a circle. */
#include "check.h"
#include "linetable.h"

static const uint8_t texts[] = "\0outer\0inner";
static uint8_t table[1024];
static size_t used;

static void put(uint64_t v, size_t size)
{
    memcpy(table + used, &v, size);
    used += size;
}

static void put_text(const char *text)
{
    memcpy(table + used, text, strlen(text) + 1);
    used += strlen(text) + 1;
}

/* Returns: where its length is written. */
static size_t unit_begin(uint32_t version)
{
    static const uint8_t lengths[9] = {0, 1, 1, 1, 1, 0, 0, 0, 1};
    size_t unit = used, header;

    put(0, 4);
    put(version, 2);
    put(0, 4);
    header = used;
    put(1, 1); /* least step */
    if (version == 4)
        put(1, 1);
    put(1, 1);
    put((uint8_t)-5, 1); /* line base */
    put(14, 1);          /* line range */
    put(10, 1);          /* opcode base */
    for (int i = 0; i < 9; i++)
        put(lengths[i], 1);
    put_text("/src");
    put(0, 1);
    put_text("one.cu");
    put(1, 1), put(0, 2);
    put_text("two.h");
    put(0, 1), put(0, 2);
    put(0, 1);
    put(0x0900, 4); /* as nvcc leaves it: the header ends later than its tables */
    table[unit + 6] = (uint8_t)(used - header);
    return unit;
}

static void unit_end(size_t unit)
{
    uint32_t size = (uint32_t)(used - unit - 4);

    memcpy(table + unit, &size, 4);
}

static void put_address(uint64_t address)
{
    put(0, 1), put(9, 1), put(2, 1), put(address, 8);
}

static void put_inlined(uint8_t caller, uint8_t function)
{
    put(0, 1), put(3, 1), put(0x90, 1), put(caller, 1), put(function, 1);
}

static void put_row(uint8_t step, int8_t line, uint8_t file)
{
    put(4, 1), put(file, 1);
    put(3, 1), put((uint8_t)line & 0x7f, 1);
    put(2, 1), put(step, 1);
    put(1, 1);
}

static void put_end(uint8_t step)
{
    put(2, 1), put(step, 1);
    put(0, 1), put(1, 1), put(1, 1);
}

static uint32_t find(uint64_t pc, line_frame_t out[LINETABLE_FRAMES])
{
    bytes_t lines = {table, used}, strings = {texts, sizeof texts};

    return linetable_find(lines, strings, pc, out);
}

static void check_frame(const line_frame_t *f, const char *file, uint32_t line,
                        const char *function)
{
    CHECK_MSG(strcmp(f->file, file) == 0 && f->line == line &&
                  strcmp(f->function, function) == 0,
              "%s:%u in %s", f->file, f->line, f->function);
}

static void check_inlined(void)
{
    line_frame_t f[LINETABLE_FRAMES];
    size_t unit;

    used = 0;
    unit = unit_begin(5); /* a version nobody here writes */
    unit_end(unit);
    unit = unit_begin(2);
    put_address(0x1000);
    put_row(0, 9, 1); /* row 1: line 10 */
    put_inlined(1, 1);
    put_row(16, 20, 2); /* row 2: line 30 of outer, called in row 1 */
    put_inlined(2, 7);
    put_row(16, 30, 2); /* row 3: line 60 of inner, called in row 2 */
    put_inlined(0, 0);
    put_row(16, -49, 1); /* row 4: line 11 */
    put_end(16);
    put_address(0x2000);
    put_row(0, 3, 2);         /* line 4 */
    put(10 + 14 + 6, 1);      /* a step of 1, line 5 */
    put(10 + 14 * 15 + 5, 1); /* a step of 15, the same line */
    put_end(16);
    unit_end(unit);

    CHECK_EQ(find(0xfff, f), 0);
    CHECK_EQ(find(0x1000, f), 1);
    check_frame(&f[0], "one.cu", 10, "");
    CHECK(strcmp(f[0].folder, "/src") == 0);
    CHECK_EQ(find(0x1011, f), 2);
    check_frame(&f[0], "two.h", 30, "outer");
    CHECK(f[0].folder[0] == '\0');
    check_frame(&f[1], "one.cu", 10, "");
    CHECK_EQ(find(0x102f, f), 3);
    check_frame(&f[0], "two.h", 60, "inner");
    check_frame(&f[1], "two.h", 30, "outer");
    check_frame(&f[2], "one.cu", 10, "");
    CHECK_EQ(find(0x1030, f), 1);
    check_frame(&f[0], "one.cu", 11, "");
    CHECK_EQ(find(0x1040, f), 0); /* behind the end of its sequence */
    CHECK_EQ(find(0x2000, f), 1);
    check_frame(&f[0], "two.h", 4, "");
    CHECK_EQ(find(0x2001, f), 1);
    check_frame(&f[0], "two.h", 5, "");
    CHECK_EQ(find(0x201f, f), 1);
    CHECK_EQ(find(0x2020, f), 0);
}

/* A row that is there twice has one number. */
static void check_repeated(void)
{
    line_frame_t f[LINETABLE_FRAMES];
    size_t unit;

    used = 0;
    unit = unit_begin(2);
    put_address(0x1000);
    put_row(0, 4, 2);  /* row 1: line 5 */
    put_row(0, 0, 2);  /* and again */
    put_row(16, 0, 2); /* row 2: the same line further on */
    put_row(16, 4, 1); /* row 3: line 9 */
    put_inlined(3, 1);
    put_row(0, 20, 2); /* row 4: line 29 of outer, called in row 3 */
    put_row(0, 0, 2);  /* and again */
    put_inlined(4, 7);
    put_row(0, 1, 2); /* row 5: line 30 of inner, called in row 4 */
    put_end(16);
    unit_end(unit);
    CHECK_EQ(find(0x1020, f), 3);
    check_frame(&f[0], "two.h", 30, "inner");
    check_frame(&f[1], "two.h", 29, "outer");
    check_frame(&f[2], "one.cu", 9, "");
}

/* A caller that lies ahead, or is the row itself, ends the chain. */
static void check_circles(void)
{
    line_frame_t f[LINETABLE_FRAMES];
    size_t unit;

    used = 0;
    unit = unit_begin(4);
    put_address(0x1000);
    put_inlined(2, 1);
    put_row(0, 9, 1); /* row 1, called in row 2 */
    put_inlined(1, 1);
    put_row(16, 1, 1); /* row 2, called in row 1 */
    put_inlined(99, 1);
    put_row(16, 1, 9); /* row 3, called nowhere, in no file */
    put_end(16);
    unit_end(unit);
    CHECK(find(0x1000, f) <= 3);
    CHECK(find(0x1010, f) <= 3);
    CHECK_EQ(find(0x1020, f), 1);
    check_frame(&f[0], "", 12, "outer");
}

/* Cut anywhere, nothing is read behind the end, and what is whole is still found. */
static void check_cut(void)
{
    line_frame_t f[LINETABLE_FRAMES];
    size_t whole;

    check_inlined();
    for (whole = used; used > 0; used--) {
        uint8_t *copy = malloc(used);
        bytes_t lines = {copy, used}, strings = {(const uint8_t *)"", 1};

        CHECK(copy);
        memcpy(copy, table, used);
        linetable_find(lines, strings, 0x102f, f);
        free(copy);
    }
    used = whole;
}

enum {
    SEEN = 16
};

/* Rows so far, and how many bytes of instructions they have. */
typedef struct seen {
    line_span_t of[SEEN];
    uint32_t count;
    uint64_t bytes;
} seen_t;

static const line_span_t *caller_of(const line_span_t *span)
{
    return span->caller ? span - (span->number - span->caller) : NULL;
}

static void span_check(void *context, const line_span_t *span)
{
    bytes_t lines = {table, used}, strings = {texts, sizeof texts};
    line_frame_t f[LINETABLE_FRAMES], of_span;
    seen_t *seen = context;
    uint32_t count = 0;

    CHECK(span->from <= span->to && span->caller < span->number && seen->count < SEEN);
    seen->of[seen->count] = *span;
    span = &seen->of[seen->count++];
    for (uint64_t pc = span->from; pc < span->to; pc++) {
        const line_span_t *at = span;

        for (count = 0; at; count++, at = caller_of(at)) {
            CHECK(count < find(pc, f));
            linetable_frame(lines, strings, at, &of_span);
            check_frame(&of_span, f[count].file, f[count].line, f[count].function);
            CHECK(strcmp(of_span.folder, f[count].folder) == 0);
        }
        CHECK_EQ(count, find(pc, f));
    }
    seen->bytes += span->to - span->from;
}

static void row_count(void *context, const line_span_t *span)
{
    uint32_t *count = context;

    CHECK(span->caller < span->number);
    CHECK_EQ(span->number, ++*count);
}

/* All rows together say what looks say, callers as well. */
static void check_spans(void)
{
    seen_t seen = {.count = 0};

    check_inlined();
    linetable_visit((bytes_t){table, used}, span_check, &seen);
    CHECK_EQ(seen.bytes, 0x40 + 0x20);
    memset(&seen, 0, sizeof seen);
    check_repeated();
    linetable_visit((bytes_t){table, used}, span_check, &seen);
    CHECK_EQ(seen.count, 5);
    CHECK_EQ(seen.of[4].caller, 4);
    memset(&seen, 0, sizeof seen);
    check_circles();
    linetable_visit((bytes_t){table, used}, row_count, &seen.count);
    CHECK_EQ(seen.count, 3);
}

int main(void)
{
    check_inlined();
    check_spans();
    check_repeated();
    check_circles();
    check_cut();
    return 0;
}
