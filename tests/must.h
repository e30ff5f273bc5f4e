/* SPDX-License-Identifier: Apache-2.0 */
/* must.h - a call that a test needs to succeed: if it does not, the test ends with its place, the
 * error, and what the runtime tells of a launch that failed. Where `rt` and `err` are the
 * test's. */
#ifndef GPURT_TESTS_MUST_H
#define GPURT_TESTS_MUST_H

#include "check.h"

#include <gpurt/gpurt.h>

static inline void must_hold(const char *place, gpurt_status_t st, gpurt_t *rt,
                             const gpurt_error_t *err)
{
    static char report[8192];

    if (st == GPURT_OK)
        return;
    gpurt_report(rt, report, sizeof report);
    check_end(CHECK_FAILED, place, "%s: %s\n%s", gpurt_status_name(st), err->text, report);
}

#define must(call) must_hold(CHECK_HERE, call, rt, &err)

#endif
