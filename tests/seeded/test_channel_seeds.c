/* SPDX-License-Identifier: Apache-2.0 */
/* Channels, a schedule a seed: games whose histories are those of a queue; storms, each with
 * another size, policy, capacity and mode; blocks that are cancelled. */
#include "seeds.h"

#include "channel_stage.h"

static const gpurt_launch_t shape = {.grid = {2, 1, 1}, .block = {66, 1, 1}};

static void storms_run(uint32_t seed)
{
    static const uint32_t modes[] = {0, CHANNEL_TRIES, CHANNEL_MANY, CHANNEL_PART,
                                     CHANNEL_CANCELS};
    uint32_t size = seed % CHANNEL_SIZES, policy = seed / 4 % GPURT_CHANNEL_POLICIES;
    uint32_t capacity = 1u << seed / 16 % 4;

    channel_storm(size, capacity, policy, seed / 7 % 2, modes[seed % 5], shape, 2);
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 200); seeds_next(&s, 3);) {
        channel_games(4, s.seed);
        if (s.seed % 4 == 0)
            storms_run(s.seed / 4);
    }
    return 0;
}
