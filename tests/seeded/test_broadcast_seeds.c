/* SPDX-License-Identifier: Apache-2.0 */
/* Broadcasts, a schedule a seed: games whose histories could have happened; storms, each with
 * another size, policy, capacity and mode; a report of one that waits for its own reader. */
#include "seeds.h"

#include "broadcast_stage.h"

static void storms_run(uint32_t seed)
{
    static const uint32_t modes[] = {0, BROADCAST_TRIES, BROADCAST_REJOINS,
                                     BROADCAST_CANCELS, BROADCAST_REJOINS};

    broadcast_storm(seed % BROADCAST_SIZES, 1u << seed / 3 % 5,
                    seed / 4 % GPURT_BROADCAST_POLICIES, modes[seed % 5], 2, 2);
}

static void stuck_is_told(void)
{
    broadcast_stage_t s = {.launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}}};
    static char report[16384];

    s.args.broadcast = broadcast_named("slow", 2, 8, GPURT_BROADCAST_BLOCK, 1);
    OK(gpurt_launch(rt, &s.launch, broadcast_stuck, &s.args, &err));
    CHECK_EQ(gpurt_sync(rt, NULL), GPURT_E_LIVELOCK);
    gpurt_report(rt, report, sizeof report);
    CHECK_CONTAINS(report, "block 0 thread 0: waits for channel \"slow\", relaxed ");
    CHECK_CONTAINS(report, "broadcast_kernels.c:");
    OK(gpurt_broadcast_destroy(rt, &s.args.broadcast, &err));
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 200); seeds_next(&s, 3);) {
        if (s.seed == s.first && !CHECK_SANITIZED) /* what tells of it is not watched */
            stuck_is_told();
        broadcast_games(4, s.seed);
        if (s.seed % 4 == 0)
            storms_run(s.seed / 4);
    }
    return 0;
}
