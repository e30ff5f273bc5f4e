/* SPDX-License-Identifier: Apache-2.0 */
/* Samples added up: sums stay exact, whatever finds no room, and code that comes for ever finds
 * some for ever. */
#include "linecount.h"

#include "check.h"

static linecount_row_t rows[LINECOUNT_WRITTEN];
static linecount_rest_t rest[LINECOUNT_DEVICES];

static void add(linecount_t *c, uint32_t device, const char *function, uint64_t offset,
                const char *reason, uint32_t samples, uint32_t idle)
{
    const pcsample_t s = {.cubin = 5,
                          .function = function,
                          .offset = offset,
                          .reason = reason,
                          .samples = samples,
                          .idle = idle};

    linecount_add(c, device, &s);
}

/* Samples of all rows and of the rest. */
static uint64_t sum_of(uint32_t count, uint64_t *idle)
{
    uint64_t sum = 0;

    *idle = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += rows[i].samples;
        *idle += rows[i].idle;
    }
    for (uint32_t i = 0; i < LINECOUNT_DEVICES; i++) {
        sum += rest[i].samples;
        *idle += rest[i].idle;
    }
    return sum;
}

static void check_keys(void)
{
    linecount_t *c = linecount_create();
    uint32_t count;

    CHECK(c && !linecount_any(c));
    for (int i = 0; i < 3; i++) {
        add(c, 0, "a", 16, "barrier", 2, 1);
        add(c, 1, "a", 16, "barrier", 3, 0);  /* another GPU */
        add(c, 0, "a", 32, "barrier", 4, 0);  /* instruction */
        add(c, 0, "a", 16, "sleeping", 5, 0); /* reason */
        add(c, 0, "b", 16, "barrier", 6, 0);  /* function */
    }
    add(c, LINECOUNT_DEVICES, "a", 16, "barrier", 1, 0); /* of no GPU that is known */
    CHECK(linecount_any(c));
    count = linecount_take(c, rows, rest);
    CHECK_EQ(count, 5);
    for (uint32_t i = 0; i < count; i++)
        CHECK_EQ(rows[i].samples, 18 - 3 * i);
    CHECK_EQ(rows[4].idle, 3);
    CHECK_EQ(rows[3].device, 1);
    CHECK_STR(linecount_reason(c, &rows[1]), "sleeping");
    CHECK_STR(linecount_place(c, &rows[0])->function, "b");
    CHECK_EQ(linecount_place(c, &rows[2])->offset, 32);
    CHECK(!linecount_any(c));
    CHECK_EQ(linecount_take(c, rows, rest), 0); /* the next second begins at nothing */
    linecount_destroy(c);
}

/* More rows than are written: those with most samples, the others together. */
static void check_crowd(void)
{
    linecount_t *c = linecount_create();
    uint64_t idle, want = 0;
    uint32_t count;

    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t samples = (i * 7919 + 13) % 10000 + 1;

        add(c, 2, "f", 16 * (uint64_t)i, "wait", samples, 1);
        want += samples;
    }
    count = linecount_take(c, rows, rest);
    CHECK_EQ(count, LINECOUNT_WRITTEN);
    CHECK_EQ(sum_of(count, &idle), want);
    CHECK_EQ(idle, 10000);
    for (uint32_t i = 0; i < count; i++)
        CHECK_EQ(rows[i].samples, 10000 - i);
    CHECK(rest[2].samples > 0 && rest[0].samples == 0);
    linecount_destroy(c);
}

/* As many instructions in one second as find no room. */
static void check_full(void)
{
    linecount_t *c = linecount_create();
    const uint32_t many = LINECOUNT_PLACES + 5000;
    uint64_t idle;

    for (uint32_t i = 0; i < many; i++)
        add(c, 0, "f", i, "wait", 1, 0);
    CHECK_EQ(sum_of(linecount_take(c, rows, rest), &idle), many);
    linecount_trim(c); /* and in the next they do */
    add(c, 0, "g", 1, "wait", 9, 0);
    CHECK_EQ(linecount_take(c, rows, rest), 1);
    CHECK_EQ(rest[0].samples, 0);
    CHECK_EQ(linecount_place(c, &rows[0])->offset, 1);
    linecount_destroy(c);
}

/* Names come and go, more than there is room for; each second's are known. */
static void check_names(void)
{
    linecount_t *c = linecount_create();
    char name[32];

    for (uint32_t second = 0; second < 40; second++) {
        for (uint32_t i = 0; i < 1000; i++) {
            snprintf(name, sizeof name, "jit_%u_%u", second, i);
            add(c, 0, name, 16, "wait", 1, 0);
        }
        CHECK_EQ(linecount_take(c, rows, rest), 1000);
        CHECK_EQ(rest[0].samples, 0);
        snprintf(name, sizeof name, "jit_%u_", second);
        CHECK(strncmp(linecount_place(c, &rows[7])->function, name, strlen(name)) == 0);
        linecount_trim(c);
    }
    linecount_destroy(c);
}

/* What is counted meanwhile keeps its places. */
static void check_trim(void)
{
    linecount_t *c = linecount_create();
    uint64_t idle;

    for (uint32_t i = 0; i < LINECOUNT_PLACES / 2 + 1; i++)
        add(c, 0, "f", i, "wait", 1, 0);
    linecount_take(c, rows, rest);
    add(c, 0, "f", 7, "wait", 3, 0);
    linecount_trim(c);
    CHECK_EQ(linecount_take(c, rows, rest), 1);
    CHECK_STR(linecount_place(c, &rows[0])->function, "f");
    CHECK_EQ(linecount_place(c, &rows[0])->offset, 7);
    CHECK_EQ(sum_of(1, &idle), 3);
    linecount_destroy(c);
}

/* More reasons than anybody knows, and sums that do not wrap. */
static void check_bounds(void)
{
    linecount_t *c = linecount_create();
    char reason[16];
    uint64_t idle;

    for (uint32_t i = 0; i < PCSAMPLER_REASONS + 6; i++) {
        snprintf(reason, sizeof reason, "r%u", i);
        add(c, 0, "f", 16, reason, 1, 1);
    }
    CHECK_EQ(linecount_take(c, rows, rest), PCSAMPLER_REASONS);
    CHECK_EQ(rest[0].samples, 6);
    add(c, 0, "f", 16, "r0", UINT32_MAX - 1, 0);
    add(c, 0, "f", 16, "r0", 5, 0);
    CHECK_EQ(sum_of(linecount_take(c, rows, rest), &idle), UINT32_MAX);
    linecount_destroy(c);
    linecount_destroy(NULL);
}

int main(void)
{
    check_keys();
    check_crowd();
    check_full();
    check_names();
    check_trim();
    check_bounds();
    return 0;
}
