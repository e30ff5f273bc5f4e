/* SPDX-License-Identifier: Apache-2.0 */
/* What breaks a silence of device code: its records, and work that ended. Gauges that come each
 * second did, so that a hang was never told, or told each second. */
#include "check.h"
#include "stall.h"

#include <gpurt/impl/activity.h>

#define SECOND 1000000000ull

static stall_t stall;
static uint64_t now = 100 * SECOND;

static void record(uint16_t kind, uint8_t form)
{
    gpurt_drain_sink_t sink = stall_sink(&stall);
    gpurt_row_t row = {.time_ns = now, .mask = 1, .section = 1};

    row.kind = (uint8_t)kind;
    row.form = form;
    CHECK_EQ(sink.put(sink.context, &row, NULL), GPURT_OK);
}

/* Returns: how often it is told in that many half seconds, each of which brings such a record. */
static uint32_t told_among(uint16_t kind, uint8_t form, uint32_t halves)
{
    uint32_t told = 0;

    while (halves--) {
        now += SECOND / 2;
        record(kind, form);
        told += stall_check(&stall, now);
    }
    return told;
}

int main(void)
{
    stall_init(&stall, 2 * SECOND, NULL);
    CHECK_EQ(told_among(GPURT_KIND_ENVIRONMENT, GPURT_FORM_THREAD, 20),
             0);                        /* it never began */
    CHECK_EQ(stall_silence(&stall), 1); /* who waits is asked for all the same */
    record(GPURT_KIND_LOG, GPURT_FORM_LANE);
    CHECK(!stall_check(&stall, now));
    CHECK_EQ(told_among(GPURT_KIND_ENVIRONMENT, GPURT_FORM_THREAD, 20), 1);
    CHECK_EQ(told_among(GPURT_KIND_LOG, GPURT_FORM_THREAD, 20), 0); /* it is told */
    CHECK_EQ(stall_silence(&stall), 2);
    CHECK_EQ(told_among(GPURT_KIND_LOG, GPURT_FORM_LANE, 20), 0);
    CHECK_EQ(stall_silence(&stall), 0);
    CHECK_EQ(told_among(GPURT_KIND_KERNEL, GPURT_FORM_THREAD, 20), 0);
    CHECK_EQ(told_among(GPURT_KIND_CALL, GPURT_FORM_THREAD, 20), 1);
    stall_fini(&stall);
    return 0;
}
