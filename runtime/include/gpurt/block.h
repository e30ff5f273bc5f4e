/* SPDX-License-Identifier: Apache-2.0 */
/* block.h - what the threads of a block, a cluster or a grid do together.
 *
 * Context: device code.
 * Order: each barrier makes what its threads wrote before it visible to them after it.
 *
 *   void     gpurt_block_barrier()               every thread of the block that has not exited
 *   uint32_t gpurt_block_barrier_count(pred)     ... and how many passed a true predicate
 *   bool     gpurt_block_barrier_and(pred)       gpurt_block_barrier_or(pred)
 *
 *   void gpurt_named_barrier(id, threads)        waits until `threads` threads arrived; id 1..15,
 *                                                threads a multiple of 32, whole warps
 *   void gpurt_named_arrive(id, threads)         arrives without waiting
 *       `#define GPURT_NAMED_BARRIER 1` before the first include of a file that has these. On a
 *       GPU each block of its kernels then has all sixteen barriers set aside, and a
 *       multiprocessor has enough for half as many blocks of them. With -rdc=true: in all files.
 *
 *   void gpurt_cluster_barrier()                 every thread of the cluster
 *   void *gpurt_cluster_shared(p, rank)          the same shared-memory object in another block
 *                                                of the cluster
 *   void gpurt_grid_barrier()                    every thread of a cooperative launch (needs
 *                                                gpurt_launch_t.cooperative); no thread may have
 *                                                exited
 *
 *   GPURT_SHARED(type, name, count)              declares `type *const name`: count elements,
 *                                                one copy a block; count is a constant
 *   GPURT_SHARED_DYN(type, name)                 declares `type *const name`: the launch's
 *                                                dynamic bytes, 16-byte aligned
 *       At most 64 objects and 48 KiB of static shared memory a kernel. It is not initialised;
 *       on the CPU it is filled with 0xa5 at block start so that a read before a write shows.
 *
 *   GPURT_TABLE const type name[] = {...};       at file scope: a small table of constants
 *
 *   void gpurt_relax()                           in every loop that waits: lets others run
 *   void gpurt_pause()                           the same, but never ends a lane (see below):
 *                                                while others wait for what the caller holds
 *   void gpurt_soon(p)                           what lies there is read soon: the cache may fetch
 *                                                it meanwhile
 *   void gpurt_thread_exit()                     ends this lane
 *   void gpurt_cancel_block()                    cancels the caller's block; the caller goes on
 *   bool gpurt_cancelled()                       whether this block was cancelled
 *   void gpurt_cancel_point()                    ends this lane if so; for long loops
 *   GPURT_LOOP(type, i, from, to, step) {...}    for (type i = from; i < to; i += step) with a
 *                                                safe point at each 16th pass; an unsigned type
 *       A lane of a cancelled block ends at its next safe point: a barrier, gpurt_relax,
 *       gpurt_cancel_point, GPURT_LOOP, a log call at the end of a lap of its ring. Of a diverged warp
 *       one lane a lap ends so; with own values of lanes, or more than two words, all at each call.
 *       One that waits in a barrier is woken for it. With the block goes its cluster, and,
 *       when the launch has grid barriers, every block that waits at one or comes to one.
 *       Other blocks go on. On a GPU a look costs three instructions; docs/UNWINDING.md
 *       tells how.
 *   void gpurt_trap()                            ends the kernel with GPURT_E_TRAP; on a GPU the
 *                                                context dies with it, so prefer a status
 * (defined in dialect_cuda.h and dialect_simt.h, on the CPU as macros: no address, and commas
 * of an argument in parentheses) */
#ifndef GPURT_BLOCK_H
#define GPURT_BLOCK_H

#include <gpurt/impl/dialect.h>

enum {
    GPURT_BACKOFF_MOST = 64, /* pauses: 2 us on a GPU */
    /* What a kernel with barriers, log calls or panics keeps of a block's shared memory on a
     * GPU, at most; the rest of gpurt_info's max_shared is the program's. */
    GPURT_BLOCK_SHARED_BYTES = 560
};

enum {
    GPURT_LOOP_PASSES = 16 /* of a loop between two looks */
};

/* Two loops, so that the inner one is what the plain loop would be: a look costs three
 * instructions and a jump, and in a short loop that shows. The inner one left by `break`, the outer
 * one ends as well. */
#define GPURT_LOOP(type, i, from, to, step)                                               \
    for (type i = (from), gpurt_to_of_##i = (to), gpurt_by_of_##i = (step),               \
              gpurt_look_of_##i = i;                                                      \
         i >= gpurt_look_of_##i && i < gpurt_to_of_##i &&                                 \
         (gpurt_loop_look(),                                                              \
          gpurt_look_of_##i = (gpurt_to_of_##i - i) / GPURT_LOOP_PASSES > gpurt_by_of_##i \
                                  ? (type)(i + gpurt_by_of_##i * GPURT_LOOP_PASSES)       \
                                  : gpurt_to_of_##i,                                      \
          true);)                                                                         \
        for (; i < gpurt_look_of_##i; i += gpurt_by_of_##i)

/* Lets others run, twice as long each time, where many lanes want one word: those that lost
 * do not hinder the one that gets on. turns: 1 at first. Ends no lane. */
GPURT_DEV void gpurt_backoff(uint32_t *turns)
{
    for (uint32_t i = 0; i < *turns; i++)
        gpurt_pause();
    *turns = *turns < GPURT_BACKOFF_MOST ? *turns * 2 : *turns;
}

/* A safe point as an expression: gpurt_cancel_point is a statement on the CPU. */
GPURT_DEV void gpurt_loop_look(void)
{
    gpurt_cancel_point();
}

#endif
