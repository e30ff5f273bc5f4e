/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of segments, a schedule a seed: games whose histories could have happened; storms, each
 * with another size, policy and mode. */
#include "seeds.h"

#include "segring_stage.h"

static void storms_run(uint32_t seed)
{
    static const uint32_t modes[] = {0, SEGRING_PIECES | SEGRING_ABORTS, SEGRING_TRIES,
                                     SEGRING_PIECES | SEGRING_FORGETS,
                                     SEGRING_PIECES | SEGRING_CANCELS};

    segring_storm_run(512u << seed % 3, seed / 3 % GPURT_SEGRING_POLICIES, modes[seed % 5],
                      2, 2);
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 200); seeds_next(&s, 3);) {
        segring_games(4, s.seed);
        if (s.seed % 4 == 0)
            storms_run(s.seed / 4);
        if (s.seed % 8 == 1)
            segring_room_run();
    }
    return 0;
}
