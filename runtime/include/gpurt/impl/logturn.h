/* SPDX-License-Identifier: Apache-2.0 */
/* logturn.h - which group of a diverged warp's lanes moves the head of the warp's ring.
 *
 * A whole warp is its ring's only producer. Groups of lanes that came apart may meet half way
 * through, so each takes the warp's turn first: a word in the block's shared memory, some 36
 * cycles away on a GPU, where an atomic on the ring's head in the second cache takes 600. Whoever
 * has the turn uses plain accesses, as a whole warp does. It holds the turn while it reserves,
 * waits for nobody meanwhile and cannot leave, so the others may wait for it.
 *
 * Nobody fills the word at a block's start: taken means that it holds the key of this very block,
 * as with the mark of a cancelled one (dialect_cuda_cancel.h). A context that is killed inside a
 * turn leaves a word that a later block could take for its own, by one chance in 2^31; so the wait
 * is bounded, and whoever waited in vain frees the word. Included by logroom.h; not for users. */
#ifndef GPURT_LOGTURN_H
#define GPURT_LOGTURN_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/ids.h>

/* Looks for the turn, until nobody has it, are counted and not timed: a debugger does not stop the
 * clock. GPURT_TURN_PASSES of each back end is far more than whoever has the turn needs. */

/* Returns: whether the caller has it now. */
GPURT_DEV bool gpurt_turn_try(void)
{
    uint32_t key = gpurt_turn_key(gpurt_block_rank());

    return gpurt_turn_xchg(gpurt_turn_of(gpurt_warp()), key) != key;
}

GPURT_DEV void gpurt_turn_give(void)
{
    gpurt_turn_store(gpurt_turn_of(gpurt_warp()), 0);
}

#endif
