/* SPDX-License-Identifier: Apache-2.0 */
/* A lane that parked once goes on soon, though others of its warp park again and again: on
 * the CPU back end parked lanes are released in turn, and not from the lowest. */
#include "check.h"

#include <gpurt/gpurt.h>

#include "../kernels/turn_kernels.h"

int main(void)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    uint32_t rounds = 0, seen = TURN_ROUNDS;
    struct turn_args args = {&rounds, &seen};
    gpurt_error_t err;
    gpurt_t *rt;

    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_launch(rt, &launch, turn_ask, &args, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_sync(rt, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_close(rt, &err) == GPURT_OK, "%s", err.text);
    CHECK_EQ(rounds, TURN_ROUNDS);
    CHECK_MSG(seen <= 32, "lane 0 went on %u times before it", seen);
    return 0;
}
