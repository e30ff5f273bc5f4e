/* SPDX-License-Identifier: Apache-2.0 */
/* holding_stage.h - what tests of memory have in common: the runtime, calls that must not
 * fail, and what kernels say of the bytes they held. */
#ifndef GPURT_TESTS_HOLDING_STAGE_H
#define GPURT_TESTS_HOLDING_STAGE_H

#include "check.h"
#include "holding.h"

#include <gpurt/gpurt.h>

static gpurt_t *rt;

static inline void ok_at(const char *where, gpurt_status_t st, const gpurt_error_t *err)
{
    if (st != GPURT_OK)
        check_end(CHECK_FAILED, where, "%s: %s", gpurt_status_name(st), err->text);
}
#define OK(call)                      \
    do {                              \
        gpurt_error_t err = {0};      \
        gpurt_status_t st_ = call;    \
        ok_at(CHECK_HERE, st_, &err); \
    } while (0)
#define RUN(s, kernel)                                                \
    do {                                                              \
        OK(gpurt_launch(rt, &(s)->launch, kernel, &(s)->args, &err)); \
        OK(gpurt_stream_sync(rt, 0, &err));                           \
    } while (0)

static inline void *stage_zeros(size_t bytes)
{
    void *memory = NULL;

    OK(gpurt_mem_create(rt, bytes, &memory, &err));
    OK(gpurt_fill(rt, 0, memory, 0, bytes, &err));
    return memory;
}

/* Reads a verdict and clears it: no byte was wrong, and nothing else than was asked for. */
static inline holding_verdict_t holding_take(holding_verdict_t *verdict)
{
    holding_verdict_t v;

    OK(gpurt_copy(rt, 0, &v, verdict, sizeof v, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    CHECK_MSG(v.xwrong == 0, "%u pieces of memory were overwritten, first 0x%llx", v.xwrong,
              (unsigned long long)v.xfirst);
    CHECK_EQ(v.xmisplaced, 0);
    OK(gpurt_fill(rt, 0, verdict, 0, sizeof v, &err));
    return v;
}

#endif
