/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - kernels that run until the host stops them: the device's side (services.h has the
 * host's).
 *
 *     struct echo_args { gpurt_service_port_t service; uint32_t *words; };
 *
 *     GPURT_KERNEL(echo, struct echo_args, p)
 *     {
 *         gpurt_service_turn_t turn = gpurt_service_begin(&p->service);
 *
 *         while (gpurt_service_go(&turn)) {
 *             if (!work(p->words))
 *                 gpurt_service_idle(&turn);
 *         }
 *     }
 *
 *   gpurt_service_begin(port)   first. The launch fills the port (gpurt_service_launch)
 *   gpurt_service_go(&turn)     a safe point: whether to go on. Here the block stands still
 *                               while the host needs memory at rest
 *   gpurt_service_idle(&turn)   nothing to do: sleeps until the host rings or tells something.
 *                               A ring since the last return of this returns at once, so look
 *                               for work after it, never before the first
 *   gpurt_service_leave(&turn)  before a block returns that was not told to stop
 *
 * A block that panics has left, if its file defines GPURT_DEFER_DEPTH before any include: thread 0
 * notes a handler in begin and takes it back at the end. Handlers of its own in between are taken
 * back before the next go. Without, such a block counts as running until the kernel ends, and the
 * service does not come to rest.
 *
 * Context: device code, all threads of the block together. Between two calls of go a block holds
 * no lock that another block's go depends on.
 *
 * Cost: go is one block barrier; thread 0 reads the host's words once in 16 microseconds or so, in a
 * service of many blocks once in twice as many microseconds: reads of one word come one after the other. */
#ifndef GPURT_SERVICE_H
#define GPURT_SERVICE_H

#include <gpurt/block.h>
#include <gpurt/clock.h>
#include <gpurt/defer.h>
#include <gpurt/hostword.h>
#include <gpurt/ids.h>

enum {
    GPURT_SERVICE_LOOK_CYCLES = 30000,
    GPURT_SERVICE_BLOCKS = 8192 /* of one service at most */
};

/* The host's command: bits, and above them the number of the rest. */
enum {
    GPURT_SERVICE_STOP = 1,
    GPURT_SERVICE_REST = 2,
    GPURT_SERVICE_REST_ONE = 4
};
/* A block's answer; at rest it is the command that it obeys, without STOP. */
enum {
    GPURT_SERVICE_COMING = 0,
    GPURT_SERVICE_RUNNING = 1,
    GPURT_SERVICE_LEFT = 3
};

/* Owner: the host, which keeps it until the service has ended. In memory that both reach; the
 * host's words and the blocks' lie on lines of their own. */
typedef struct gpurt_service_words {
    uint32_t xbell;    /* grows with each ring and each command; written by: the host */
    uint32_t xcommand; /* written by: the host */
    uint32_t unused[30];
    uint32_t xblocks[GPURT_SERVICE_BLOCKS]; /* written by: thread 0 of that block */
} gpurt_service_words_t;

typedef struct gpurt_service_port {
    gpurt_service_words_t *words;
} gpurt_service_port_t;

/* Owner: a thread of the block. */
typedef struct gpurt_service_turn {
    gpurt_service_words_t *words;
    uint64_t looked; /* clock of the last look; thread 0 */
    uint32_t bell;   /* as of the last return of idle; thread 0 */
    bool due;        /* thread 0: look at once */
    bool stop;       /* told so; the same in all threads */
} gpurt_service_turn_t;

/* A block that a panic ends has left, in a file with room for handlers (defer.h). */
#if defined(GPURT_DEFER_DEPTH) && GPURT_DEFER_DEPTH > 0
GPURT_DEV void gpurt_service_gone(uint64_t answer)
{
    gpurt_store_release_sys_u32((uint32_t *)(uintptr_t)answer,
                                GPURT_SERVICE_LEFT); /* SV2.rel */
}

GPURT_DEV void gpurt_service_note(uint32_t *answer)
{
    (void)GPURT_DEFER(gpurt_service_gone, (uint64_t)(uintptr_t)answer);
}

GPURT_DEV void gpurt_service_unnote(void)
{
    (void)gpurt_undefer(1u << gpurt_lane(), false);
}
#else
GPURT_DEV void gpurt_service_note(uint32_t *answer)
{
    (void)answer;
}

GPURT_DEV void gpurt_service_unnote(void) {}
#endif

GPURT_DEV gpurt_service_turn_t gpurt_service_begin(const gpurt_service_port_t *port)
{
    gpurt_service_turn_t turn = {port->words, 0, 0, true, false};

    if (gpurt_thread_rank() == 0) {
        uint32_t *answer = &turn.words->xblocks[gpurt_block_rank()];

        gpurt_store_relaxed_sys_u32(answer,
                                    GPURT_SERVICE_RUNNING); /* relaxed: it wrote nothing */
        gpurt_service_note(answer);
    }
    return turn;
}

/* Thread 0, behind a barrier of its block, whose writes the answer brings along. Returns: whether
 * to stop. */
GPURT_DEVN bool gpurt_service_obey(gpurt_service_words_t *words)
{
    uint32_t *answer = &words->xblocks[gpurt_block_rank()];
    uint32_t command = gpurt_load_acquire_sys_u32(&words->xcommand); /* SV1.acq */

    while (command & GPURT_SERVICE_REST) {
        gpurt_store_release_sys_u32(answer, command & ~GPURT_SERVICE_STOP); /* SV2.rel */
        command = gpurt_hostword_await(&words->xcommand, command);
    }
    command &= GPURT_SERVICE_STOP;
    gpurt_store_release_sys_u32(answer, command ? GPURT_SERVICE_LEFT
                                                : GPURT_SERVICE_RUNNING); /* SV2.rel */
    return command != 0;
}

/* Between two looks of a block. They are reads of one word, of which a GPU makes 0.94 million a second
 * (docs/measured/h200_bench_hostreads.tsv): all blocks together take half of them. */
GPURT_DEV uint64_t gpurt_service_cycles(void)
{
    return GPURT_SERVICE_LOOK_CYCLES * (1u + gpurt_grid_blocks() / 8);
}

GPURT_DEV bool gpurt_service_go(gpurt_service_turn_t *turn)
{
    bool stop = false, due = false;

    if (turn->stop) /* an outer loop asks again */
        return false;
    if (gpurt_thread_rank() == 0)
        due = turn->due || gpurt_clock() - turn->looked > gpurt_service_cycles();
    if (!gpurt_block_barrier_or(due))
        return true;
    if (gpurt_thread_rank() == 0) {
        stop = gpurt_service_obey(turn->words);
        if (stop)
            gpurt_service_unnote();
        turn->looked = gpurt_clock();
        turn->due = false;
    }
    turn->stop = gpurt_block_barrier_or(stop);
    return !turn->stop;
}

GPURT_DEV void gpurt_service_idle(gpurt_service_turn_t *turn)
{
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0) {
        turn->bell = gpurt_hostword_await(&turn->words->xbell, turn->bell);
        turn->due = true;
    }
    gpurt_block_barrier();
}

/* Thread 0 alone, which knows by other means that the host has a command: go looks at once. */
GPURT_DEV void gpurt_service_expect(gpurt_service_turn_t *turn)
{
    turn->due = true;
}

GPURT_DEV void gpurt_service_leave(const gpurt_service_turn_t *turn)
{
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0) {
        gpurt_store_release_sys_u32(&turn->words->xblocks[gpurt_block_rank()],
                                    GPURT_SERVICE_LEFT); /* SV2.rel */
        gpurt_service_unnote();
    }
}

#endif
