/* SPDX-License-Identifier: Apache-2.0 */
/* Unbounded channels, a schedule a seed: games whose histories could have happened; storms, each
 * with another policy, mode and number of segments. */
#include "seeds.h"

#include "unbounded_stage.h"

static void storms_run(uint32_t seed)
{
    static const uint32_t modes[] = {0, UNBOUNDED_PAGES, UNBOUNDED_TRIES,
                                     UNBOUNDED_PAGES | UNBOUNDED_TRIES, UNBOUNDED_CANCELS};

    unbounded_storm_run(seed / 5 % 3, seed % 2 ? 2 : 16, modes[seed % 5], 2, 3);
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 200); seeds_next(&s, 3);) {
        unbounded_games(4, s.seed);
        if (s.seed % 4 == 0)
            storms_run(s.seed / 4);
        OK(gpurt_heap_destroy(rt, unbounded_heap(), &err));
    }
    return 0;
}
