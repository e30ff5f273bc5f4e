/* SPDX-License-Identifier: Apache-2.0 */
/* holding_stage.h - what kernels say of the bytes they held. */
#ifndef GPURT_TESTS_HOLDING_STAGE_H
#define GPURT_TESTS_HOLDING_STAGE_H

#include "holding.h"
#include "stage.h"

/* Reads a verdict and clears it: no byte was wrong, and nothing else than was asked for. */
static inline holding_verdict_t holding_take(holding_verdict_t *verdict)
{
    holding_verdict_t v;

    stage_read(&v, verdict, sizeof v);
    CHECK_MSG(v.xwrong == 0, "%u pieces of memory were overwritten, first 0x%llx", v.xwrong,
              (unsigned long long)v.xfirst);
    CHECK_EQ(v.xmisplaced, 0);
    OK(gpurt_fill(rt, 0, verdict, 0, sizeof v, &err));
    return v;
}

#endif
