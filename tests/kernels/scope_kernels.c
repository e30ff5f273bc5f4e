/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that fail while their warps live on; and a lock, a barrier and a queue, each twenty lines
 * on gpurt_word_wait and gpurt_defer, whose users outlive one another. */
#define GPURT_DEFER_DEPTH 4
#include "scope_kernels.h"

#include <gpurt/device.h>

/* ---- tasks --------------------------------------------------------------------------- */
GPURT_DEVN void scope_note(uint64_t arg)
{
    uint64_t *log = (uint64_t *)(uintptr_t)(arg & ~7ull);

    gpurt_store_relaxed_dev_u64(log, gpurt_load_relaxed_dev_u64(log) * 10 + (arg & 7));
}

GPURT_DEVN gpurt_status_t scope_deeper(uint32_t mask, gpurt_scope_t *s, bool fails)
{
    GPURT_SCOPE_ASSERT(mask, s, !(fails && gpurt_lane() % 16 == 7), "lane %u of task %u",
                       gpurt_lane(), s->number);
    return gpurt_scope_look(mask, s);
}

GPURT_DEVN gpurt_status_t scope_task(uint32_t mask, gpurt_scope_t *s, uint64_t log,
                                     bool fails)
{
    GPURT_TRY(gpurt_scope_defer(mask, s, scope_note, log + 1));
    GPURT_TRY(gpurt_scope_defer(mask, s, scope_note, log + 2));
    GPURT_TRY(scope_deeper(mask, s, fails));
    return GPURT_OK;
}

/* Each warp does its tasks one after the other, failing ones again. */
GPURT_KERNEL_GUARDED(scope_tasks, struct scope_args, p)
{
    GPURT_SHARED(gpurt_scope_t, scopes, GPURT_WARP_SIZE);
    gpurt_scope_t *s = &scopes[gpurt_warp()];
    uint32_t full = GPURT_FULL_MASK;

    for (uint32_t t = 0; t < SCOPE_TASKS; t++) {
        uint32_t task =
            (gpurt_block_rank() * gpurt_warps() + gpurt_warp()) * SCOPE_TASKS + t;
        uint64_t log = (uint64_t)(uintptr_t)&p->log[task];
        uint32_t tries = 0;
        gpurt_status_t st, said;

        do {
            bool fails = t == p->victim && tries < p->failures;

            if (gpurt_lane() == 0) {
                gpurt_scope_begin(s, task + 1);
                gpurt_add_relaxed_dev_u32(&p->count[task], 1);
            }
            gpurt_syncwarp(full);
            said = scope_task(full, s, log, fails);
            st = gpurt_scope_end(full, s);
            if (st != said)
                st = GPURT_E_INTERNAL;
        } while (st == GPURT_E_PANIC && gpurt_scope_again(&tries, SCOPE_TRIES - 1));
        if (gpurt_lane() == 0)
            p->status[task] = st;
    }
}

/* Warp 0 waits for what never comes; warp 1 tells it to leave that; both meet behind. With
 * rounds: it has a limit of its own, in ns. */
GPURT_KERNEL(scope_told, struct scope_args, p)
{
    GPURT_SHARED(gpurt_scope_t, s, 1);
    gpurt_status_t st = GPURT_OK;
    uint32_t now;

    if (gpurt_thread_rank() == 0)
        gpurt_scope_begin(s, 1);
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0)
        st = gpurt_word_wait(p->word, 0, s, p->rounds, &now);
    if (gpurt_thread_rank() == GPURT_WARP_SIZE && !p->rounds)
        gpurt_scope_cancel(s, GPURT_E_CANCELLED);
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0)
        p->status[gpurt_block_rank()] = st;
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0)
        p->count[gpurt_block_rank()]++;
}

/* ---- objects, each for one lane a block ---------------------------------------------- */
#define ME (1u << gpurt_lane())

GPURT_DEV uint64_t word_of(const struct scope_args *p)
{
    return (uint64_t)(uintptr_t)p->word;
}

/* A lock: 0 free, 1 held. */
GPURT_DEV gpurt_status_t lock_take(const struct scope_args *p)
{
    for (;;) {
        uint32_t found = 0;

        if (gpurt_cas_acquire_dev_u32(p->word, &found, 1)) /* UW1.acq */
            return gpurt_defer(ME, gpurt_word_break, word_of(p));
        if (found & GPURT_WORD_BROKEN)
            return GPURT_E_CANCELLED;
        GPURT_TRY(gpurt_word_wait(p->word, 1, NULL, 0, &found));
    }
}
GPURT_DEV void lock_give(const struct scope_args *p)
{
    (void)gpurt_undefer(ME, false);
    gpurt_store_release_dev_u32(p->word, 0); /* UW1.rel */
}

/* A barrier of all blocks: the number of arrivals. */
GPURT_DEV gpurt_status_t barrier_meet(const struct scope_args *p)
{
    uint32_t now = gpurt_add_acq_rel_dev_u32(p->word, 1) + 1; /* UW1.acq UW1.rel */
    uint32_t full = (now + SCOPE_BLOCKS - 1) / SCOPE_BLOCKS * SCOPE_BLOCKS;

    while (now < full)
        GPURT_TRY(gpurt_word_wait(p->word, now, NULL, 0, &now));
    return now & GPURT_WORD_BROKEN ? GPURT_E_CANCELLED : GPURT_OK;
}

/* A queue of one sender: word counts what was sent, count[0] what was taken. */
GPURT_DEV gpurt_status_t queue_send(const struct scope_args *p, uint32_t i)
{
    while (i - gpurt_load_acquire_dev_u32(&p->count[0]) >= SCOPE_ROOM) /* UW1.acq */
        gpurt_relax();
    gpurt_store_relaxed_dev_u32(&p->data[i % SCOPE_ROOM], i * 3);
    gpurt_red_add_release_dev_u32(p->word, 1); /* UW1.rel */
    return GPURT_OK;
}
/* Returns: CANCELLED when the sender is gone and all is taken. */
GPURT_DEV gpurt_status_t queue_take(const struct scope_args *p, uint32_t *item)
{
    uint32_t taken = gpurt_load_relaxed_dev_u32(&p->count[0]), sent;

    for (;;) {
        sent = gpurt_load_acquire_dev_u32(p->word); /* UW1.acq */
        if (sent == (taken | GPURT_WORD_BROKEN))
            return GPURT_E_CANCELLED;
        if (sent == taken) { /* cancelled meanwhile: there may be some left all the same */
            (void)gpurt_word_wait(p->word, taken, NULL, 0, &sent);
            taken = gpurt_load_relaxed_dev_u32(&p->count[0]);
            continue;
        }
        *item = gpurt_load_relaxed_dev_u32(&p->data[taken % SCOPE_ROOM]);
        /* read before the place is given back */
        if (gpurt_cas_acq_rel_dev_u32(&p->count[0], &taken,
                                      taken + 1)) /* UW1.acq UW1.rel */
            return GPURT_OK;
        gpurt_relax();
    }
}

GPURT_DEV void objects_fail(const struct scope_args *p, uint32_t round)
{
    if (gpurt_block_rank() == p->victim && round == p->at)
        GPURT_PANIC("block %u, round %u, on purpose", gpurt_block_rank(), round);
}

GPURT_DEV gpurt_status_t objects_lock(const struct scope_args *p)
{
    for (uint32_t i = 0; i < p->rounds; i++) {
        GPURT_TRY(lock_take(p));
        objects_fail(p, i);
        p->count[1]++; /* the lock guards it */
        lock_give(p);
    }
    return GPURT_OK;
}

GPURT_DEV gpurt_status_t objects_barrier(const struct scope_args *p)
{
    gpurt_status_t st = gpurt_defer(ME, gpurt_word_break, word_of(p));

    for (uint32_t i = 0; st == GPURT_OK && i < p->rounds; i++) {
        objects_fail(p, i);
        st = barrier_meet(p);
    }
    (void)gpurt_undefer(ME, false);
    return st;
}

GPURT_DEV gpurt_status_t objects_queue(const struct scope_args *p)
{
    uint32_t item;

    if (gpurt_block_rank() == 0) {
        GPURT_TRY(gpurt_defer(ME, gpurt_word_break, word_of(p)));
        for (uint32_t i = 0; i < SCOPE_ITEMS; i++) {
            objects_fail(p, i);
            GPURT_TRY(queue_send(p, i));
        }
        (void)gpurt_undefer(ME, true); /* no more comes */
        return GPURT_OK;
    }
    for (;;) {
        GPURT_TRY(queue_take(p, &item));
        gpurt_add_relaxed_dev_u32(&p->count[1], item);
    }
}

GPURT_KERNEL(scope_objects, struct scope_args, p)
{
    gpurt_status_t st = GPURT_OK;

    if (gpurt_thread_rank() == 0) {
        st = p->kind == OBJECT_LOCK      ? objects_lock(p)
             : p->kind == OBJECT_BARRIER ? objects_barrier(p)
                                         : objects_queue(p);
        p->status[gpurt_block_rank()] = st;
    }
    gpurt_block_barrier();
}
