/* SPDX-License-Identifier: Apache-2.0 */
/* How a device's time is taken apart: by hand for each reason, whole for any crowd of
 * events, and the same whatever the order in which they come. */
#include "busy.h"
#include "check.h"

enum {
    CROWD = 100000
};
#define T0 1000000000000ull

static busy_t busy;

static void sums(uint32_t device, uint64_t until, uint64_t kernels, uint64_t copying,
                 uint64_t waiting, uint64_t launching, uint64_t idle)
{
    gpurt_activity_busy_t out;
    uint64_t start;

    CHECK(busy_take(&busy, device, until, &start, &out));
    CHECK_EQ(gpurt_pair_value(out.kernels), kernels);
    CHECK_EQ(gpurt_pair_value(out.copying), copying);
    CHECK_EQ(gpurt_pair_value(out.waiting), waiting);
    CHECK_EQ(gpurt_pair_value(out.launching), launching);
    CHECK_EQ(gpurt_pair_value(out.idle), idle);
    CHECK_EQ(gpurt_pair_value(out.ns), kernels + copying + waiting + launching + idle);
}

static void kernel(uint64_t from, uint64_t to)
{
    busy_add(&busy, 0, false, T0 + from, T0 + to);
}
static void copy(uint64_t from, uint64_t to)
{
    busy_add(&busy, 0, true, T0 + from, T0 + to);
}

static void begin(void)
{
    memset(&busy, 0, sizeof busy);
}

static void check_reasons(void)
{
    begin();
    kernel(0, 1000);
    kernel(500, 2000); /* two at once count once */
    kernel(5000, 6000);
    sums(0, T0 + 6000, 3000, 0, 0, 3000, 0);

    begin(); /* a copy in the gap, and one beside a kernel */
    kernel(0, 1000);
    copy(500, 1500);
    copy(1400, 2000);
    kernel(3000, 4000);
    copy(3500, 5000);
    sums(0, T0 + 6000, 2000, 2000, 0, 1000, 0);

    begin(); /* the host sleeps until 2000, then does something else for long */
    kernel(0, 1000);
    busy_wait(&busy, 1, T0 + 100, T0 + 2000);
    kernel(1000000, 1001000);
    sums(0, T0 + 1001000, 2000, 0, 1000, 0, 998000);

    begin(); /* a wait that began after the GPU fell idle explains nothing */
    kernel(0, 1000);
    busy_wait(&busy, 1, T0 + 1500, T0 + 2000);
    kernel(100000, 101000);
    sums(0, T0 + 101000, 2000, 0, 0, 0, 99000);

    begin(); /* a copy of 10 us while the host sleeps, and one that it outlasts */
    kernel(0, 1000);
    busy_wait(&busy, 1, T0 + 100, T0 + 20000);
    copy(5000, 15000);
    copy(19000, 22000);
    kernel(100000, 101000);
    sums(0, T0 + 101000, 2000, 13000, 8000, 0, 78000);

    begin(); /* what nothing is known of yet is not idle; each stretch begins where one ended */
    kernel(0, 1000);
    sums(0, T0 + 1000000, 1000, 0, 0, 0, 0);
    kernel(1000000, 1500000);
    sums(0, T0 + 1200000, 500000, 0, 0, 0, 999000);
    kernel(1600000, 1700000);
    sums(0, T0 + 1700000, 100000, 0, 0, 0, 100000);
}

/* A wait explains the gaps of the device that it was for. */
static void check_devices(void)
{
    gpurt_activity_busy_t out;
    uint64_t start;

    begin();
    kernel(0, 1000);
    CHECK_EQ(busy_device_of(&busy, 2), 0); /* there is no other */
    busy_add(&busy, 1, false, T0, T0 + 90000);
    CHECK_EQ(busy_device_of(&busy, 2), BUSY_UNKNOWN);
    busy_wait(&busy, 2, T0 + 100, T0 + 90000);
    busy_context(&busy, 2, 1); /* it shows later than the wait */
    busy_context(&busy, 1, 0);
    busy_context(&busy, 1 + BUSY_CONTEXTS, 0); /* has the place of 1 */
    CHECK_EQ(busy_device_of(&busy, 2), 1);
    CHECK_EQ(busy_device_of(&busy, 1), BUSY_UNKNOWN);
    kernel(91000, 92000);
    busy_add(&busy, 1, false, T0 + 91000, T0 + 92000);
    sums(0, T0 + 92000, 2000, 0, 0, 0, 90000);
    CHECK(busy_take(&busy, 1, T0 + 92000, &start, &out));
    CHECK_EQ(gpurt_pair_value(out.waiting), 0); /* its gap begins as the host wakes up */
    CHECK_EQ(gpurt_pair_value(out.launching), 1000);

    begin();
    kernel(0, 1000);
    busy_add(&busy, 1, false, T0, T0 + 1000);
    busy_context(&busy, 1, 0);
    busy_wait(&busy, 1, T0 + 100, T0 + 2000);
    busy_wait(&busy, 7, T0 + 100, T0 + 9000); /* nobody knows for what */
    kernel(100000, 101000);
    sums(0, T0 + 101000, 2000, 0, 1000, 0, 98000);
}

static uint32_t rng = 1;
static uint32_t draw(uint32_t below)
{
    rng = rng * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)rng * below >> 32);
}

/* More than it holds, of two streams whose buffers come by turns. */
static void check_crowd(void)
{
    uint64_t at = 0;

    begin();
    for (uint32_t buffer = 0; buffer < CROWD / 1000; buffer++) {
        uint64_t start = at;

        for (uint32_t i = 0; i < 500; i++, at += 3000)
            kernel(at, at + 1000);
        for (uint32_t i = 0; i < 500; i++)
            kernel(start + i * 3000 + 500, start + i * 3000 + 1500);
    }
    sums(0, T0 + at - 1500, CROWD / 2 * 1500ull, 0, 0, (CROWD / 2 - 1) * 1500ull, 0);
}

/* The same events in any order give the same sums, as long as they find room. */
static void check_order(void)
{
    enum {
        COUNT = 2000
    };
    static busy_span_t events[COUNT];
    gpurt_activity_busy_t first, out;
    uint64_t at = 0, start;

    for (uint32_t i = 0; i < COUNT; i++) {
        at += draw(100000);
        events[i].start = at;
        events[i].end = at + 1 + draw(60000);
    }
    for (int round = 0; round < 5; round++) {
        begin();
        kernel(0, 1); /* where time begins */
        for (uint32_t i = 0; i < COUNT; i++)
            busy_add(&busy, 0, i % 3 == 0, T0 + events[i].start, T0 + events[i].end);
        CHECK(busy_take(&busy, 0, T0 + at + 100000, &start, &out));
        if (round == 0)
            first = out;
        CHECK_MSG(memcmp(&first, &out, sizeof out) == 0, "round %d", round);
        for (uint32_t i = 0; i + 3 < COUNT; i += 3) { /* kinds stay with their places */
            uint32_t j = draw(COUNT / 3 - 1) * 3;

            for (uint32_t k = 0; k < 3; k++) {
                busy_span_t t = events[i + k];

                events[i + k] = events[j + k];
                events[j + k] = t;
            }
        }
    }
}

int main(void)
{
    gpurt_activity_busy_t out;
    uint64_t start;

    CHECK(!busy_take(&busy, 3, T0, &start, &out)); /* a device that did nothing */
    busy_add(&busy, BUSY_DEVICES, false, T0, T0 + 1);
    check_reasons();
    check_devices();
    check_crowd();
    check_order();
    return 0;
}
