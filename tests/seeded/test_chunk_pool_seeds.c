/* SPDX-License-Identifier: Apache-2.0 */
/* A set of chunks under schedules that no machine would choose: each seed is another order of
 * lanes that put, take, pull and find. What they were told must keep what docs/HEAP_ORDER.md
 * promises, with all orders tried in which it can have happened.
 * An argument is the number of seeds, a second one the first of them. */
#include "pool_stage.h"
#include "seeds.h"

enum {
    GAMES = 16 /* a seed */
};

int main(int argc, char **argv)
{
    seeds_t seeds;
    uint64_t vain = 0;

    for (seeds_begin(&seeds, argc, argv, 300); seeds_next(&seeds, 3);) {
        pool_stage_t s;

        pool_stage_open(&s, 1);
        for (uint32_t i = 0; i < GAMES;
             i++) /* short ones end right after what goes wrong */
            vain += pool_run(&s, seeds.seed * GAMES + i, 3 + (seeds.seed + i) % 6);
        pool_stage_close(&s);
    }
    CHECK(vain > 0 || seeds.count < 10);
    return 0;
}
