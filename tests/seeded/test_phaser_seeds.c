/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that meet, a schedule a seed: what each wrote is a plain word, which the phaser or the
 * butterfly alone orders before the others read it. Members leave and come meanwhile. */
#include "seeds.h"

#include "phaser_kernels.h"

enum {
    BLOCKS = 3
};

static void meet(uint32_t what, uint32_t members)
{
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {3, 1, 1}};
    gpurt_phaser_t p;
    struct phaser_args a = {.what = what};
    uint32_t wrong;

    gpurt_phaser_init(&p, members);
    a.phaser = (gpurt_phaser_t *)stage_zeros(sizeof p);
    a.words = (uint32_t *)stage_zeros(gpurt_butterfly_words(BLOCKS) * 4);
    a.cells = (uint32_t *)stage_zeros(BLOCKS * 4);
    a.status = (int32_t *)stage_zeros(PHASER_BLOCKS * PHASER_ROUNDS * 4);
    a.wrong = (uint32_t *)stage_zeros(4);
    OK(gpurt_copy(rt, 0, a.phaser, &p, sizeof p, &err));
    OK(gpurt_launch(rt, &launch, phaser_meet, &a, &err));
    OK(gpurt_copy(rt, 0, &wrong, a.wrong, sizeof wrong, &err));
    OK(gpurt_copy(rt, 0, &p, a.phaser, sizeof p, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(wrong, 0);
    CHECK_EQ(gpurt_phaser_members(p.xword), what == PHASER_BUTTERFLY ? members : 0);
    gpurt_mem_destroy(rt, a.phaser);
    gpurt_mem_destroy(rt, a.words);
    gpurt_mem_destroy(rt, a.cells);
    gpurt_mem_destroy(rt, a.status);
    gpurt_mem_destroy(rt, a.wrong);
}

int main(int argc, char **argv)
{
    static const uint32_t kinds[] = {PHASER_ALL, PHASER_DROP, PHASER_BUTTERFLY,
                                     PHASER_JOIN};
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 60); seeds_next(&s, 3);) {
        uint32_t what = kinds[s.seed % 4];

        meet(what, what == PHASER_JOIN ? BLOCKS - 1 : BLOCKS);
    }
    return 0;
}
