/* SPDX-License-Identifier: Apache-2.0 */
/* Locks, semaphores, latches and futexes, a schedule a seed: what they guard is plain, and nothing else
 * orders it. */
#include "../lock_stage.h"
#include "seeds.h"

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 60); seeds_next(&s, 3);) {
        stage_begin();
        switch (s.seed % 4) {
        case 0:
            storms(2);
            single_then_warp(2);
            break;
        case 1:
            readers(3);
            units(3);
            break;
        case 2:
            latch(1);
            latch(GPURT_LATCH_FEW + 1);
            latch_over(2);
            turns(4);
            scopes();
            break;
        default:
            victims(2, LOCK_CANCELS);
            warp_cancelled(12);
            break;
        }
        stage_end();
    }
    return 0;
}
