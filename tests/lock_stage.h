/* SPDX-License-Identifier: Apache-2.0 */
/* lock_stage.h - what tests of locks have in common: a desk that host and kernels reach, and games on
 * it. */
#ifndef GPURT_TESTS_LOCK_STAGE_H
#define GPURT_TESTS_LOCK_STAGE_H

#include "check.h"

#include <string.h>

#include "kernels/lock_kernels.h"
#include "kernels/stage.h"

static gpurt_info_t info;
static void *memory; /* of the device */
static lock_desk_t desk;

/* The runtime is open. */
static inline void stage_begin(void)
{
    CHECK_EQ(gpurt_info(rt, &info), GPURT_OK);
    OK(gpurt_mem_create(rt, sizeof desk, &memory, &err));
}
static inline void stage_end(void)
{
    OK(gpurt_mem_destroy(rt, memory));
}

/* Zeros, for the caller to fill in before desk_run. */
static inline lock_desk_t *desk_make(void)
{
    memset(&desk, 0, sizeof desk);
    return &desk;
}

static inline void desk_look(lock_desk_t *d)
{
    OK(gpurt_copy(rt, 0, d, memory, sizeof *d, &err));
    OK(gpurt_sync(rt, &err));
}

static inline void desk_run(const gpurt_kernel_t *kernel, uint32_t blocks, uint32_t threads,
                            struct lock_args args, gpurt_status_t ends)
{
    gpurt_launch_t launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    gpurt_error_t fault = {0};
    gpurt_status_t st;

    args.desk = (lock_desk_t *)memory;
    OK(gpurt_copy(rt, 0, memory, &desk, sizeof desk, &err));
    OK(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
    st = gpurt_sync(rt, &fault);
    if (st != ends)
        ok_at(CHECK_HERE, st, &fault);
    CHECK_EQ(st, ends);
}

static inline void storms(uint32_t rounds)
{
    lock_desk_t *d;

    for (uint32_t form = 0; form < 2 * LOCK_FORMS; form++) {
        bool shared = form >= LOCK_FORMS;
        struct lock_args args = {.rounds = rounds, .form = form % LOCK_FORMS, .ns = 3000};
        uint32_t threads = args.form == LOCK_WARP ? 64 : LOCK_THREADS;

        if (shared && args.form == LOCK_WARP)
            continue;
        d = desk_make();
        desk_run(shared ? &gpurt_kernel_lock_storm_shared : &gpurt_kernel_lock_storm,
                 LOCK_BLOCKS, threads, args, GPURT_OK);
        desk_look(d);
        CHECK_EQ(d->xwrong, 0);
        CHECK_EQ(d->plain, d->xtaken);
        CHECK_EQ(d->xtaken + d->xlate, LOCK_BLOCKS * threads * rounds);
        if (args.form == LOCK_WAIT)
            CHECK_EQ(d->xlate, 0);
        CHECK_EQ(d->mutex.turns.xword, 0); /* nobody waits, and no number is left */
        CHECK_EQ(d->mutex.turns.xholder, 0);
    }
}

static inline void single_then_warp(uint32_t rounds)
{
    const uint32_t warps = 2 * LOCK_BLOCKS;
    lock_desk_t *d = desk_make();

    desk_run(&gpurt_kernel_lock_single_then_warp, LOCK_BLOCKS, 64,
             (struct lock_args){.rounds = rounds}, GPURT_OK);
    desk_look(d);
    CHECK_EQ(d->xwrong, 0);
    CHECK_EQ(d->xtaken, warps * (GPURT_WARP_SIZE + 1) * rounds);
    CHECK_EQ(d->plain, d->xtaken);
    CHECK_EQ(d->mutex.turns.xword, 0);
}

static inline void readers(uint32_t rounds)
{
    lock_desk_t *d = desk_make();

    desk_run(&gpurt_kernel_lock_readers, LOCK_BLOCKS, LOCK_THREADS,
             (struct lock_args){.rounds = rounds}, GPURT_OK);
    desk_look(d);
    CHECK_EQ(d->xwrong, 0);
    CHECK(d->xtaken > 0);
    CHECK_EQ(d->left, d->xtaken);
    CHECK_EQ(d->right, d->xtaken);
    CHECK_EQ(d->rwlock.turns.xword, 0);
}

static inline void units(uint32_t rounds)
{
    lock_desk_t *d = desk_make();
    uint32_t alone = 0;

    d->semaphore.bound = LOCK_UNITS;
    for (uint32_t t = 0; t < LOCK_THREADS; t++)
        for (uint32_t r = 0; r < rounds; r++)
            alone += (t + r) % LOCK_UNITS + 1 == LOCK_UNITS;
    desk_run(&gpurt_kernel_lock_units, LOCK_BLOCKS, LOCK_THREADS,
             (struct lock_args){.rounds = rounds}, GPURT_OK);
    desk_look(d);
    CHECK_EQ(d->xwrong, 0);
    CHECK_EQ(d->xtoo_many, 0);
    CHECK_EQ(d->xinside, 0);
    CHECK_EQ(d->plain, alone * LOCK_BLOCKS);
    CHECK_EQ(d->semaphore.turns.xword, 0);
}

static inline void latch(uint32_t each)
{
    lock_desk_t *d = desk_make();

    d->latch.xleft = LOCK_BLOCKS * LOCK_THREADS * each;
    desk_run(&gpurt_kernel_lock_latch, LOCK_BLOCKS, LOCK_THREADS,
             (struct lock_args){.rounds = each}, GPURT_OK);
    desk_look(d);
    CHECK_EQ(d->xwrong, 0);
}

/* Too large a count opens a latch, and it stays open: it neither breaks nor wraps. */
static inline void latch_over(uint32_t rounds)
{
    static const int32_t expected[] = {
        GPURT_E_INVALID,   GPURT_OK,          GPURT_E_INVALID,   GPURT_OK,
        GPURT_E_INVALID,   GPURT_OK,          GPURT_E_INVALID,   GPURT_OK,
        GPURT_OK,          GPURT_OK,          GPURT_OK,          GPURT_E_TIMEOUT,
        GPURT_E_CANCELLED, GPURT_E_CANCELLED, GPURT_E_CANCELLED, GPURT_E_CANCELLED};

    for (uint32_t many = 0; many < 2; many++) {
        lock_desk_t *d = desk_make();

        d->latch.xleft = many ? 1u << 30 : 500;
        desk_run(&gpurt_kernel_lock_latch_over, LOCK_BLOCKS, LOCK_THREADS,
                 (struct lock_args){.rounds = rounds, .form = many}, GPURT_OK);
        desk_look(d);
        CHECK_EQ(d->xwrong, 0);
        CHECK_EQ(d->xtaken, 1);
        CHECK_EQ(d->latch.xleft, 0);
        for (uint32_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
            CHECK_MSG(d->answers[i] == expected[i], "answer %u is %s, not %s", i,
                      gpurt_status_name(d->answers[i]), gpurt_status_name(expected[i]));
    }
}

static inline void turns(uint32_t rounds)
{
    lock_desk_t *d = desk_make();

    desk_run(&gpurt_kernel_lock_turns, LOCK_BLOCKS, 32,
             (struct lock_args){.rounds = rounds}, GPURT_OK);
    desk_look(d);
    CHECK_EQ(d->xwrong, 0);
    CHECK_EQ(d->plain, LOCK_BLOCKS * rounds);
}

/* Each owner that left is told to the next one, and stands in the word when none came after it. */
static inline void victims(uint32_t rounds, uint32_t form)
{
    struct lock_args args = {.rounds = rounds, .victim = 1, .form = form};
    lock_desk_t *d = desk_make();

    desk_run(&gpurt_kernel_lock_victims, LOCK_BLOCKS, LOCK_THREADS, args,
             form == LOCK_PANICS ? GPURT_E_PANIC : GPURT_OK);
    desk_look(d);
    CHECK_EQ(d->xwrong, 0);
    CHECK(d->mutex.turns.xdied >= 1);
    CHECK_EQ(d->xdied + ((d->mutex.turns.xword & GPURT_TURN_DIED) != 0),
             d->mutex.turns.xdied);
    CHECK(d->xtaken >= (LOCK_BLOCKS - 1) * LOCK_THREADS * rounds);
    CHECK_EQ(gpurt_turn_count(d->mutex.turns.xword), 0);
    CHECK_EQ(d->mutex.turns.xholder, 0);
}

/* Wherever the cancel meets the warp, the mutex is given back. */
static inline void warp_cancelled(uint32_t most)
{
    for (uint32_t after = 0; after < most; after++) {
        lock_desk_t *d = desk_make();

        desk_run(&gpurt_kernel_lock_warp_cancelled, 1, 2 * GPURT_WARP_SIZE,
                 (struct lock_args){.rounds = after}, GPURT_OK);
        desk_look(d);
        CHECK_EQ(d->xwrong, 0);
        CHECK_EQ(gpurt_turn_count(d->mutex.turns.xword), 0);
        CHECK_EQ(d->mutex.turns.xholder, 0);
    }
}

static inline void scopes(void)
{
    lock_desk_t *d = desk_make();

    d->latch.xleft = LOCK_THREADS - 1;
    desk_run(&gpurt_kernel_lock_scopes, 1, LOCK_THREADS, (struct lock_args){0}, GPURT_OK);
    desk_look(d);
    CHECK_EQ(d->xwrong, 0);
    CHECK_EQ(d->xtaken, LOCK_THREADS - 1);
    CHECK_EQ(d->mutex.turns.xstopped, LOCK_THREADS - 1);
    CHECK_EQ(gpurt_turn_count(d->mutex.turns.xword), 0);
}

#endif
