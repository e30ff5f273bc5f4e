/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_report.h"

#include <gpurt/context.h>
#include <gpurt/device.h>
#include <gpurt/panic.h>

/* Some records, and a panic that has notes and operands. */
GPURT_KERNEL(bench_report, struct bench_report_args, p)
{
    GPURT_CONTEXT("number", p->number);
    for (uint32_t i = 0; i < 8; i++)
        GPURT_LOG_WARP(GPURT_LEVEL_INFO, "step %u of %u", i, p->number);
    GPURT_ASSERT_EQ(p->number, ~p->number, "at number %u", p->number);
}
