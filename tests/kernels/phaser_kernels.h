/* SPDX-License-Identifier: Apache-2.0 */
/* phaser_kernels.h - blocks that meet at a phaser, for test_phaser and its seeds. */
#ifndef GPURT_TESTS_PHASER_KERNELS_H
#define GPURT_TESTS_PHASER_KERNELS_H

#include <gpurt/kernel.h>
#include <gpurt/phaser.h>

enum {
    PHASER_BLOCKS = 6, /* at most */
    PHASER_ROUNDS = 4,
    PHASER_LOOKS = 1000, /* of one that would see another change the word too early */
    PHASER_LEFT = 77     /* a block's word when it has left */
};

/* What blocks do in phaser_meet. */
enum {
    PHASER_ALL,     /* all of them, all rounds */
    PHASER_CLUSTER, /* likewise, by clusters */
    PHASER_DROP,    /* block b leaves after b + 1 rounds */
    PHASER_JOIN,    /* the last one is no member at first */
    PHASER_CANCEL,  /* block 1 is cancelled in round 2 */
    PHASER_BUTTERFLY
};

/* Owner: the test. */
struct phaser_args {
    gpurt_phaser_t *phaser;
    uint32_t *words; /* of a butterfly */
    uint32_t *cells; /* one a block: plain words */
    int32_t *status; /* [block * PHASER_ROUNDS + round]; GPURT_E_NOT_READY at first */
    uint32_t *wrong; /* reads that found another value, all in all */
    uint32_t *xflag;
    uint32_t what;
};

GPURT_KERNEL_DECLARE(phaser_meet, struct phaser_args);
/* Two blocks: 0 waits in short turns, until 1, which hears of that, arrives. status[0] is the
 * first turn's, status[1] the last one's. */
GPURT_KERNEL_DECLARE(phaser_late, struct phaser_args);
/* Block 0, the one member, arrives in two steps: 1 joins between them, and waits for the second. */
GPURT_KERNEL_DECLARE(phaser_low, struct phaser_args);
/* Block 0 waits, 1 breaks the phaser. */
GPURT_KERNEL_DECLARE(phaser_broken, struct phaser_args);

#endif
