/* SPDX-License-Identifier: Apache-2.0 */
/* What rows of kind LINE add up to, in whatever order they come. */
#include "linesums.h"

#include "check.h"

#include <gpurt/impl/activity.h>
#include <string.h>

enum {
    SPIN = 11, /* names */
    COPY,
    SPIN_CU,
    OTHER_CU,
    BARRIER,
    SLEEPS,
    LEAF, /* calls */
    OUTER
};

static struct {
    gpurt_row_t row;
    gpurt_activity_line_t line;
} put;

static uint32_t calls; /* of what is added */

static void add(gpurt_linesums_t *s, uint32_t function, uint32_t file, uint32_t line,
                uint32_t offset, uint32_t reason, uint32_t samples)
{
    memset(&put, 0, sizeof put);
    put.row.kind = GPURT_KIND_LINE;
    put.row.words = sizeof put.line / 4;
    put.row.time_ns = 1000 + samples;
    put.line = (gpurt_activity_line_t){.function = function,
                                       .file = file,
                                       .line = line,
                                       .reason = reason,
                                       .ns = gpurt_pair(500),
                                       .offset = offset,
                                       .samples = samples,
                                       .idle = samples / 2,
                                       .calls = calls};
    gpurt_linesums_add(s, &put.row);
}

static void check_order(void)
{
    gpurt_linesums_t s = {0};

    add(&s, COPY, SPIN_CU, 0, 0x100, SLEEPS, 30); /* without a line: by instruction */
    add(&s, COPY, OTHER_CU, 0, 0x110, SLEEPS, 20);
    add(&s, SPIN, SPIN_CU, 12, 0x30, BARRIER, 10);
    add(&s, SPIN, SPIN_CU, 13, 0x50, BARRIER, 60);
    add(&s, SPIN, SPIN_CU, 12, 0x20, SLEEPS, 40);
    add(&s, SPIN, OTHER_CU, 12, 0x40, SLEEPS, 4);
    add(&s, SPIN, SPIN_CU, 12, 0x20, SLEEPS, 20); /* a second later */
    CHECK_EQ(gpurt_linesums_finish(&s), GPURT_OK);
    CHECK_EQ(s.samples, 184);
    CHECK_EQ(s.idle, 92);
    CHECK_EQ(s.first_ns, 1004);
    CHECK_EQ(s.last_ns, 1560);
    CHECK_EQ(s.function_count, 2);
    CHECK_EQ(s.functions[0].function, SPIN);
    CHECK_EQ(s.functions[0].samples, 134);
    CHECK_EQ(s.functions[0].line_count, 3);
    CHECK(!s.functions[0].without_lines && s.functions[1].without_lines);
    CHECK_EQ(s.functions[1].samples, 50);
    CHECK_EQ(s.functions[1].line_count, 2);
    CHECK_EQ(s.lines[0].line, 12);
    CHECK_EQ(s.lines[0].file, SPIN_CU);
    CHECK_EQ(s.lines[0].samples, 70);
    CHECK_EQ(s.lines[0].offset, 0x20); /* the first instruction of them */
    CHECK_EQ(s.lines[0].reason_count, 2);
    CHECK_EQ(s.reasons[s.lines[0].first_reason].reason, SLEEPS);
    CHECK_EQ(s.reasons[s.lines[0].first_reason].samples, 60);
    CHECK_EQ(s.reasons[s.lines[0].first_reason + 1].samples, 10);
    CHECK_EQ(s.lines[1].line, 13);
    CHECK_EQ(s.lines[2].file, OTHER_CU);
    CHECK_EQ(s.lines[3].offset, 0x100);
    CHECK_EQ(s.lines[3].line, 0);
    CHECK_EQ(s.lines[4].samples, 20);
    gpurt_linesums_fini(&s);
}

/* A line that is inlined twice is one line, with its samples by calls and by reason. */
static void check_calls(void)
{
    gpurt_linesums_t s = {0};
    const gpurt_linesum_calls_t *c;

    calls = LEAF;
    add(&s, SPIN, SPIN_CU, 12, 0x20, BARRIER, 10);
    add(&s, SPIN, SPIN_CU, 12, 0x20, SLEEPS, 20);
    add(&s, SPIN, SPIN_CU, 13, 0x28, SLEEPS, 2);
    calls = OUTER;
    add(&s, SPIN, SPIN_CU, 12, 0x80, BARRIER, 40);
    add(&s, SPIN, SPIN_CU, 12, 0x90, BARRIER, 8);
    calls = 0;
    add(&s, COPY, SPIN_CU, 12, 0x20, BARRIER, 7);
    CHECK_EQ(gpurt_linesums_finish(&s), GPURT_OK);
    CHECK_EQ(s.samples, 87);
    CHECK_EQ(s.line_count, 3);
    CHECK_EQ(s.lines[0].samples, 78);
    CHECK_EQ(s.lines[0].reason_count, 2);
    CHECK_EQ(s.reasons[s.lines[0].first_reason].samples, 58);
    CHECK_EQ(s.lines[0].calls_count, 2);
    CHECK_EQ(s.lines[1].calls_count, 1);
    CHECK_EQ(s.lines[2].calls_count, 1);
    c = &s.calls[s.lines[0].first_calls];
    CHECK_EQ(c[0].calls, OUTER);
    CHECK_EQ(c[0].samples, 48);
    CHECK_EQ(c[0].idle, 24);
    CHECK_EQ(c[0].reason_count, 1);
    CHECK_EQ(s.reasons[c[0].first_reason].samples, 48);
    CHECK_EQ(c[1].calls, LEAF);
    CHECK_EQ(c[1].reason_count, 2);
    CHECK_EQ(s.reasons[c[1].first_reason].reason, SLEEPS);
    CHECK_EQ(s.calls[s.lines[1].first_calls].calls, LEAF);
    CHECK_EQ(s.calls[s.lines[2].first_calls].samples, 7);
    CHECK_EQ(s.calls_count, 4);
    CHECK_EQ(s.code[0].calls, LEAF);
    gpurt_linesums_fini(&s);
}

/* More of them than the tables begin with. */
static void check_many(void)
{
    gpurt_linesums_t s = {0};
    uint64_t sum = 0;

    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 1; i <= 5000; i++)
            add(&s, SPIN + i % 7, SPIN_CU, i, 16 * i, BARRIER, i);
    CHECK_EQ(gpurt_linesums_finish(&s), GPURT_OK);
    CHECK_EQ(s.function_count, 7);
    CHECK_EQ(s.line_count, 5000);
    for (uint32_t i = 0; i < s.function_count; i++) {
        const gpurt_linesum_function_t *f = &s.functions[i];

        for (uint32_t k = 0; k < f->line_count; k++) {
            CHECK_EQ(s.lines[f->first_line + k].function, f->function);
            CHECK(k == 0 || s.lines[f->first_line + k].samples <=
                                s.lines[f->first_line + k - 1].samples);
            sum += s.lines[f->first_line + k].samples;
        }
    }
    CHECK_EQ(sum, 5000ull * 5001);
    CHECK_EQ(s.samples, sum);
    gpurt_linesums_fini(&s);
}

/* Rows of other kinds, rows that are too short, rows of older files, and none at all. */
static void check_others(void)
{
    gpurt_linesums_t s = {0};

    add(&s, SPIN, SPIN_CU, 12, 0x20, BARRIER, 7);
    put.row.words -= 2;
    gpurt_linesums_add(&s, &put.row);
    CHECK_EQ(gpurt_linesums_end(&put.row), 0);
    put.row.words++; /* as older files have it: without calls */
    CHECK_EQ(gpurt_linesums_end(&put.row), 1507);
    put.row.kind = GPURT_KIND_KERNEL;
    gpurt_linesums_add(&s, &put.row);
    CHECK_EQ(gpurt_linesums_finish(&s), GPURT_OK);
    CHECK_EQ(s.samples, 7);
    CHECK_EQ(s.rows, 1);
    gpurt_linesums_fini(&s);
    CHECK_EQ(gpurt_linesums_finish(&s), GPURT_OK);
    CHECK_EQ(s.function_count, 0);
    gpurt_linesums_fini(&s);
}

int main(void)
{
    check_order();
    check_calls();
    check_many();
    check_others();
    return 0;
}
