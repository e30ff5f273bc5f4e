/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_BENCH_REPORT_H
#define GPURT_TESTS_BENCH_REPORT_H

#include <gpurt/kernel.h>

struct bench_report_args {
    uint32_t number;
};

GPURT_KERNEL_DECLARE(bench_report, struct bench_report_args);

#endif
