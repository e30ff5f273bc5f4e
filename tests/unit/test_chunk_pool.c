/* SPDX-License-Identifier: Apache-2.0 */
/* A set of chunks that lanes of a block put into and take out of at a time, many blocks each
 * with its own: every history keeps what docs/HEAP_ORDER.md promises. */
#include "kernels/pool_stage.h"

int main(void)
{
    pool_stage_t s;
    uint32_t vain = 0;

    OK(gpurt_open(NULL, &rt, &err));
    pool_stage_open(&s, 32);
    for (uint32_t i = 0; i < 32; i++)
        vain += pool_run(&s, i, 1 + i % POOL_ROUNDS);
    CHECK(vain > 0);
    pool_stage_close(&s);
    OK(gpurt_close(rt, &err));
    return 0;
}
