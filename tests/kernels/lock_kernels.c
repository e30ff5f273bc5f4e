/* SPDX-License-Identifier: Apache-2.0 */
/* Futexes, locks, semaphores and latches in use: plain words that nothing else orders, every answer,
 * owners that leave, and who waits for ever. */
#define GPURT_DEFER_DEPTH 32
#include "lock_kernels.h"

#include <gpurt/device.h>

GPURT_DEV void lock_count(uint32_t *word)
{
    gpurt_add_relaxed_dev_u32(word, 1); /* read after the kernel's end */
}

/* ---- exclusion --------------------------------------------------------------------------- */
/* What the mutex guards is plain; a second lane in it would lose an addition. */
GPURT_DEV void lock_inside(uint32_t *plain)
{
    uint32_t v = *plain;

    gpurt_pause(); /* under a seed others come now */
    *plain = v + 1;
}

GPURT_DEV void lock_once(lock_desk_t *d, gpurt_mutex_t *m, uint32_t *plain, uint32_t form,
                         uint32_t ns)
{
    gpurt_status_t st = form == LOCK_TRY     ? gpurt_mutex_try_lock(m)
                        : form == LOCK_TIMED ? gpurt_mutex_lock_for(m, ns)
                                             : gpurt_mutex_lock(m);

    if (st == GPURT_E_TIMEOUT) {
        lock_count(&d->xlate);
        return;
    }
    lock_count(st == GPURT_OK ? &d->xtaken : &d->xwrong);
    lock_inside(plain);
    if (gpurt_mutex_unlock(m) != GPURT_OK)
        lock_count(&d->xwrong);
}

GPURT_DEV void lock_once_warp(lock_desk_t *d, gpurt_mutex_t *m, uint32_t *plain)
{
    uint32_t mask = gpurt_ballot(GPURT_FULL_MASK, true);

    if (gpurt_mutex_lock_warp(mask, m) != GPURT_OK)
        lock_count(&d->xwrong);
    /* each in its turn; first and last are not the leader */
    for (uint32_t i = 0; i < GPURT_WARP_SIZE; i++) {
        if (gpurt_lane() == (i + 16) % GPURT_WARP_SIZE) {
            lock_count(&d->xtaken);
            ++*plain;
        }
        if (i + 1 < GPURT_WARP_SIZE)
            gpurt_syncwarp(mask);
    }
    if (gpurt_mutex_unlock_warp(mask, m) != GPURT_OK)
        lock_count(&d->xwrong);
}

/* Each lane for itself, then at once all together: nobody waits for the slow ones in between. */
GPURT_KERNEL(lock_single_then_warp, struct lock_args, p)
{
    lock_desk_t *d = p->desk;

    for (uint32_t r = 0; r < p->rounds; r++) {
        if (gpurt_mutex_lock(&d->mutex) != GPURT_OK)
            lock_count(&d->xwrong);
        lock_count(&d->xtaken);
        ++d->plain; /* and no pause: the lowest lane is through before others ask */
        if (gpurt_mutex_unlock(&d->mutex) != GPURT_OK)
            lock_count(&d->xwrong);
        if (gpurt_mutex_lock_warp(GPURT_FULL_MASK, &d->mutex) != GPURT_OK)
            lock_count(&d->xwrong);
        if (gpurt_lane() == 5) {
            lock_count(&d->xtaken);
            lock_inside(&d->plain);
        }
        if (gpurt_mutex_unlock_warp(GPURT_FULL_MASK, &d->mutex) != GPURT_OK)
            lock_count(&d->xwrong);
    }
}

/* Blocks of whole warps where the form is LOCK_WARP. */
GPURT_KERNEL(lock_storm, struct lock_args, p)
{
    for (uint32_t r = 0; r < p->rounds; r++)
        if (p->form == LOCK_WARP)
            lock_once_warp(p->desk, &p->desk->mutex, &p->desk->plain);
        else
            lock_once(p->desk, &p->desk->mutex, &p->desk->plain,
                      (r + gpurt_lane()) % 4 ? (uint32_t)LOCK_WAIT : p->form, p->ns);
}

GPURT_KERNEL(lock_storm_shared, struct lock_args, p)
{
    GPURT_SHARED(gpurt_mutex_t, mutex, 1);
    GPURT_SHARED(uint32_t, plain, 1);

    if (gpurt_thread_rank() == 0) {
        gpurt_mutex_init(mutex);
        *plain = 0;
    }
    gpurt_block_barrier();
    for (uint32_t r = 0; r < p->rounds; r++)
        lock_once(p->desk, mutex, plain,
                  (r + gpurt_lane()) % 4 ? (uint32_t)LOCK_WAIT : p->form, p->ns);
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0)
        gpurt_add_relaxed_dev_u32(&p->desk->plain, *plain);
}

/* ---- readers and writers --------------------------------------------------------------- */
GPURT_KERNEL(lock_readers, struct lock_args, p)
{
    lock_desk_t *d = p->desk;

    for (uint32_t r = 0; r < p->rounds; r++)
        if ((gpurt_thread_rank() + r) % 5 == 0) {
            if (gpurt_rwlock_write(&d->rwlock) != GPURT_OK)
                lock_count(&d->xwrong);
            lock_inside(&d->left);
            lock_inside(&d->right);
            lock_count(&d->xtaken);
            if (gpurt_rwlock_write_done(&d->rwlock) != GPURT_OK)
                lock_count(&d->xwrong);
        } else {
            uint32_t left;

            if (gpurt_rwlock_read(&d->rwlock) != GPURT_OK)
                lock_count(&d->xwrong);
            left = d->left;
            gpurt_pause();
            if (left != d->right)
                lock_count(&d->xwrong);
            if (gpurt_rwlock_read_done(&d->rwlock) != GPURT_OK)
                lock_count(&d->xwrong);
        }
}

/* ---- units ------------------------------------------------------------------------------- */
/* The host has made the semaphore. Among those inside, the last to leave hands over `plain`. */
GPURT_KERNEL(lock_units, struct lock_args, p)
{
    lock_desk_t *d = p->desk;

    for (uint32_t r = 0; r < p->rounds; r++) {
        uint32_t n = 1 + (gpurt_thread_rank() + r) % LOCK_UNITS;

        if (gpurt_semaphore_acquire(&d->semaphore, n) != GPURT_OK)
            lock_count(&d->xwrong);
        if (gpurt_add_relaxed_dev_u32(&d->xinside, n) + n > LOCK_UNITS)
            lock_count(&d->xtoo_many);
        if (n == LOCK_UNITS) /* alone */
            lock_inside(&d->plain);
        gpurt_pause();
        gpurt_sub_relaxed_dev_u32(&d->xinside, n);
        if (gpurt_semaphore_release(&d->semaphore, n) != GPURT_OK)
            lock_count(&d->xwrong);
    }
}

/* ---- latch and futex ------------------------------------------------------------------- */
/* Each lane counts down by p->rounds. */
GPURT_KERNEL(lock_latch, struct lock_args, p)
{
    uint32_t all = gpurt_grid_blocks() * gpurt_block_threads();
    lock_desk_t *d = p->desk;

    d->before[gpurt_global_id()] = gpurt_global_id() + 1;
    if (gpurt_latch_count_down(&d->latch, p->rounds) != GPURT_OK)
        lock_count(&d->xwrong);
    if (gpurt_latch_wait(&d->latch) != GPURT_OK)
        lock_count(&d->xwrong);
    for (uint32_t i = 0; i < all; i++)
        if (d->before[i] != i + 1)
            lock_count(&d->xwrong);
}

/* Thread 0 of each block has its turn; the word says whose. What it hands over is plain. */
GPURT_KERNEL(lock_turns, struct lock_args, p)
{
    lock_desk_t *d = p->desk;
    uint32_t blocks = gpurt_grid_blocks();

    if (gpurt_thread_rank() != 0)
        return;
    for (uint32_t r = 0; r < p->rounds; r++) {
        uint32_t turn = r * blocks + gpurt_block_rank(), now;

        while ((now = gpurt_load_acquire_dev_u32(&d->xword)) != turn) /* test */
            if (gpurt_futex_wait(&d->xword, now) != GPURT_OK)
                lock_count(&d->xwrong);
        if (d->plain++ != turn)
            lock_count(&d->xwrong);
        gpurt_store_release_dev_u32(&d->xword, turn + 1); /* test */
        gpurt_futex_wake(&d->xword, GPURT_FUTEX_ALL);
    }
}

/* ---- every answer ------------------------------------------------------------------------ */
GPURT_DEV uint32_t lock_answers_mutex(lock_desk_t *d, uint32_t at)
{
    d->answers[at++] = gpurt_mutex_try_lock(&d->mutex);       /* OK */
    d->answers[at++] = gpurt_mutex_lock(&d->mutex);           /* DEADLOCK */
    d->answers[at++] = gpurt_mutex_destroy(&d->mutex);        /* HELD */
    d->answers[at++] = gpurt_mutex_unlock(&d->mutex);         /* OK */
    d->answers[at++] = gpurt_mutex_unlock(&d->mutex);         /* NOT_OWNER */
    d->answers[at++] = gpurt_mutex_lock_for(&d->mutex, 1000); /* OK */
    d->answers[at++] = gpurt_mutex_unlock(&d->mutex);         /* OK */
    d->answers[at++] = gpurt_mutex_destroy(&d->mutex);        /* OK */
    d->answers[at++] = gpurt_mutex_destroy(&d->mutex);        /* HANDLE */
    d->answers[at++] = gpurt_mutex_lock(&d->mutex);           /* HANDLE */
    d->answers[at++] = gpurt_mutex_lock(&d->other);           /* OK; see lock_answers */
    return at;
}

GPURT_DEV uint32_t lock_answers_rest(lock_desk_t *d, uint32_t at)
{
    d->answers[at++] = gpurt_rwlock_read(&d->rwlock);                       /* OK */
    d->answers[at++] = gpurt_rwlock_write_for(&d->rwlock, 0);               /* TIMEOUT */
    d->answers[at++] = gpurt_rwlock_write_done(&d->rwlock);                 /* NOT_OWNER */
    d->answers[at++] = gpurt_rwlock_read_done(&d->rwlock);                  /* OK */
    d->answers[at++] = gpurt_rwlock_read_done(&d->rwlock);                  /* NOT_OWNER */
    d->answers[at++] = gpurt_rwlock_write(&d->rwlock);                      /* OK */
    d->answers[at++] = gpurt_rwlock_read_for(&d->rwlock, 1000);             /* TIMEOUT */
    d->answers[at++] = gpurt_rwlock_write(&d->rwlock);                      /* DEADLOCK */
    d->answers[at++] = gpurt_rwlock_write_done(&d->rwlock);                 /* OK */
    d->answers[at++] = gpurt_semaphore_init(&d->semaphore, 0, 0);           /* INVALID */
    d->answers[at++] = gpurt_semaphore_init(&d->semaphore, 4, 5);           /* INVALID */
    d->answers[at++] = gpurt_semaphore_init(&d->semaphore, 4, 3);           /* OK */
    d->answers[at++] = gpurt_semaphore_acquire(&d->semaphore, 5);           /* INVALID */
    d->answers[at++] = gpurt_semaphore_acquire(&d->semaphore, 0);           /* INVALID */
    d->answers[at++] = gpurt_semaphore_acquire(&d->semaphore, 3);           /* OK */
    d->answers[at++] = gpurt_semaphore_try_acquire(&d->semaphore, 1);       /* TIMEOUT */
    d->answers[at++] = gpurt_semaphore_acquire_for(&d->semaphore, 1, 1000); /* TIMEOUT */
    d->answers[at++] = gpurt_semaphore_release(&d->semaphore, 4); /* OK: another's too */
    d->answers[at++] = gpurt_semaphore_release(&d->semaphore, 1); /* INVALID */
    d->answers[at++] = gpurt_semaphore_destroy(&d->semaphore);    /* OK */
    d->answers[at++] = gpurt_semaphore_destroy(&d->semaphore);    /* HANDLE */
    d->answers[at++] = gpurt_semaphore_release(&d->semaphore, 1); /* HANDLE */
    gpurt_latch_init(&d->latch, 2);
    d->answers[at++] = gpurt_latch_wait_for(&d->latch, 1000); /* TIMEOUT */
    d->answers[at++] = gpurt_latch_count_down(&d->latch, 0);  /* INVALID */
    d->answers[at++] = gpurt_latch_count_down(&d->latch, 1);  /* OK */
    d->answers[at++] = gpurt_latch_count_down(&d->latch, 2);  /* INVALID, and open */
    d->answers[at++] = gpurt_latch_wait(&d->latch);           /* OK */
    gpurt_latch_init(&d->latch, 2);
    gpurt_latch_break(&d->latch);
    d->answers[at++] = gpurt_latch_wait(&d->latch);              /* CANCELLED */
    d->answers[at++] = gpurt_latch_count_down(&d->latch, 1);     /* CANCELLED */
    d->answers[at++] = gpurt_futex_wait_for(&d->xword, 0, 1000); /* TIMEOUT */
    d->answers[at++] = gpurt_futex_wait(&d->xword, 1);           /* OK */
    return at;
}

/* A latch of `count`, counted down four times by n: what the last call and a wait answer. */
GPURT_DEVN uint32_t lock_over(gpurt_latch_t *latch, uint32_t count, uint32_t n, int32_t *to)
{
    gpurt_status_t st = GPURT_OK;

    gpurt_latch_init(latch, count);
    for (uint32_t i = 0; i < 4; i++)
        st = gpurt_latch_count_down(latch, n);
    to[0] = st;
    to[1] = gpurt_latch_wait_for(latch, 0);
    return 2;
}

/* All lanes at once, one of which is in time. Then, thread 0: one after the other. */
GPURT_KERNEL(lock_latch_over, struct lock_args, p)
{
    const uint32_t most = 1u << 30;
    lock_desk_t *d = p->desk;
    uint32_t at = 0;

    for (uint32_t i = 0; i < p->rounds; i++)
        if (gpurt_latch_count_down(&d->latch, p->form ? most : 500) == GPURT_OK)
            lock_count(&d->xtaken);
    if (gpurt_latch_wait_for(&d->latch, 0) != GPURT_OK)
        lock_count(&d->xwrong);
    if (gpurt_global_id() != 0)
        return;
    at += lock_over(&d->gate, 1, most, d->answers + at);        /* INVALID, OK */
    at += lock_over(&d->gate, 3, most, d->answers + at);        /* INVALID, OK */
    at += lock_over(&d->gate, 1, most / 2, d->answers + at);    /* INVALID, OK */
    at += lock_over(&d->gate, most, most / 2, d->answers + at); /* INVALID, OK */
    at += lock_over(&d->gate, most, most / 4, d->answers + at); /* OK, OK */
    at += lock_over(&d->gate, most, most / 8, d->answers + at); /* OK, TIMEOUT */
    at += lock_over(&d->gate, most + 1, 1, d->answers + at);    /* CANCELLED, CANCELLED */
    (void)lock_over(&d->gate, 2u * most + 5, most, d->answers + at); /* likewise */
}

GPURT_DEVN void lock_nothing(uint64_t arg)
{
    (void)arg;
}

/* Of a warp's rows for handlers four are left; thread 1 unlocks what thread 0 holds. */
GPURT_KERNEL(lock_answers, struct lock_args, p)
{
    GPURT_SHARED(gpurt_mutex_t, m, 5);
    lock_desk_t *d = p->desk;
    uint32_t at = 0;

    if (gpurt_thread_rank() < 5)
        gpurt_mutex_init(&m[gpurt_thread_rank()]);
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0) {
        for (uint32_t i = 4; i < GPURT_DEFER_DEPTH; i++)
            (void)GPURT_DEFER(lock_nothing, 0);
        at = lock_answers_mutex(d, at);
        at = lock_answers_rest(d, at);
        d->answers[at++] = gpurt_mutex_lock(&m[0]);   /* OK */
        d->answers[at++] = gpurt_mutex_lock(&m[1]);   /* OK */
        d->answers[at++] = gpurt_mutex_lock(&m[2]);   /* OK: with `other` that makes four */
        d->answers[at++] = gpurt_mutex_lock(&m[3]);   /* NOMEM */
        d->answers[at++] = gpurt_mutex_unlock(&m[0]); /* OK: in another order */
        d->answers[at++] = gpurt_mutex_lock(&m[3]);   /* OK */
    }
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 1)
        p->desk->answers[LOCK_ANSWERS - 1] = gpurt_mutex_unlock(&d->other);
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0)
        for (uint32_t i = 1; i < 4; i++)
            (void)gpurt_mutex_unlock(&m[i]);
    if (gpurt_thread_rank() == 0)
        (void)gpurt_mutex_unlock(&d->other);
}

/* Each of the objects was left by an owner; no row is free at first. */
GPURT_KERNEL(lock_left_full, struct lock_args, p)
{
    bool first = gpurt_thread_rank() == 0;
    lock_desk_t *d = p->desk;
    gpurt_status_t warp;

    for (uint32_t i = 0; first && i < GPURT_DEFER_DEPTH; i++)
        (void)GPURT_DEFER(lock_nothing, 0);
    if (first) {
        d->answers[0] = gpurt_mutex_lock(&d->mutex);   /* NOMEM, as the next three */
        d->answers[1] = gpurt_rwlock_read(&d->rwlock); /* as if by the writer before */
        d->answers[2] = gpurt_rwlock_write(&d->rwlock);
    }
    warp = gpurt_mutex_lock_warp(GPURT_FULL_MASK, &d->mutex);
    if (!first)
        return;
    d->answers[3] = warp;
    gpurt_undefer(1u << gpurt_lane(), false);
    d->answers[4] = gpurt_mutex_lock(&d->mutex); /* OWNER_DIED, and no more */
    (void)gpurt_mutex_unlock(&d->mutex);
    d->answers[5] = gpurt_mutex_lock(&d->mutex); /* OK */
    (void)gpurt_mutex_unlock(&d->mutex);
    d->answers[6] = gpurt_rwlock_read(&d->rwlock); /* OWNER_DIED */
    (void)gpurt_rwlock_read_done(&d->rwlock);
    d->answers[7] = gpurt_rwlock_write(&d->rwlock); /* OK */
    (void)gpurt_rwlock_write_done(&d->rwlock);
}

/* ---- owners that leave ------------------------------------------------------------------- */
/* Lanes of the victim, a block, leave while they hold the mutex, or wait: one panics inside, or
 * cancels them, and all of them leave. Others are told that just once for each owner, and none is let in twice. */
GPURT_KERNEL(lock_victims, struct lock_args, p)
{
    lock_desk_t *d = p->desk;
    bool victim = gpurt_block_rank() == p->victim;

    for (uint32_t r = 0; r < p->rounds; r++) {
        gpurt_status_t st = gpurt_mutex_lock(&d->mutex);

        if (st == GPURT_E_OWNER_DIED)
            lock_count(&d->xdied);
        else if (st != GPURT_OK)
            lock_count(&d->xwrong);
        lock_inside(&d->plain);
        if (victim && r + 1 == p->rounds && gpurt_thread_rank() == 7) {
            if (p->form == LOCK_PANICS)
                GPURT_PANIC("in the middle");
            gpurt_cancel_block();
            gpurt_cancel_point();
        }
        if (gpurt_mutex_unlock(&d->mutex) != GPURT_OK)
            lock_count(&d->xwrong);
        lock_count(&d->xtaken);
    }
}

/* Warp 0 takes the mutex over and over until warp 1 cancels the block. */
GPURT_KERNEL(lock_warp_cancelled, struct lock_args, p)
{
    lock_desk_t *d = p->desk;

    if (gpurt_thread_rank() >= GPURT_WARP_SIZE) {
        for (uint32_t i = 0; i < p->rounds; i++)
            gpurt_pause();
        gpurt_cancel_block();
        return;
    }
    for (;;) {
        if (gpurt_mutex_lock_warp(GPURT_FULL_MASK, &d->mutex) != GPURT_OK)
            lock_count(&d->xwrong);
        if (gpurt_mutex_unlock_warp(GPURT_FULL_MASK, &d->mutex) != GPURT_OK)
            lock_count(&d->xwrong);
        gpurt_relax();
    }
}

/* The last thread holds the mutex until all others gave up: their scope is cancelled. */
GPURT_KERNEL(lock_scopes, struct lock_args, p)
{
    GPURT_SHARED(gpurt_scope_t, scope, 1);
    lock_desk_t *d = p->desk;
    bool last = gpurt_thread_rank() + 1 == gpurt_block_threads();

    if (last) {
        gpurt_scope_begin(scope, 1);
        if (gpurt_mutex_lock(&d->mutex) != GPURT_OK)
            lock_count(&d->xwrong);
    }
    gpurt_block_barrier();
    if (last) {
        while (gpurt_turn_waiting(gpurt_turns_look(&d->mutex.turns)) + 1 <
               gpurt_block_threads())
            gpurt_relax();
        gpurt_scope_cancel(scope, GPURT_E_CANCELLED);
        (void)gpurt_latch_wait(&d->latch);
        if (gpurt_mutex_unlock(&d->mutex) != GPURT_OK)
            lock_count(&d->xwrong);
    } else {
        if (gpurt_mutex_lock_in(&d->mutex, GPURT_FOREVER, scope) == GPURT_E_CANCELLED)
            lock_count(&d->xtaken);
        (void)gpurt_latch_count_down(&d->latch, 1);
    }
}

/* ---- who waits for ever ---------------------------------------------------------------- */
/* Block 0 takes mutex and wants other, block 1 the other way round. */
GPURT_KERNEL(lock_circle, struct lock_args, p)
{
    lock_desk_t *d = p->desk;
    bool first = gpurt_block_rank() == 0;
    gpurt_mutex_t *mine = first ? &d->mutex : &d->other;
    gpurt_mutex_t *theirs = first ? &d->other : &d->mutex;

    if (gpurt_thread_rank() != 0)
        return;
    gpurt_mutex_name(mine, first ? "north" : "south", GPURT_WAITABLE_SINGLE);
    (void)gpurt_mutex_lock(mine);
    (void)gpurt_latch_count_down(&d->latch, 1);
    (void)gpurt_latch_wait(&d->latch);
    (void)gpurt_mutex_lock(theirs);
    lock_count(&d->xwrong);
}

GPURT_KERNEL(lock_never, struct lock_args, p)
{
    gpurt_latch_t *latch = gpurt_block_rank() ? &p->desk->gate : &p->desk->latch;

    if (gpurt_global_id() == 0)
        gpurt_latch_name(latch, "all here");
    gpurt_block_barrier();
    (void)gpurt_latch_wait(latch);
    lock_count(&p->desk->xwrong);
}

GPURT_KERNEL(lock_never_shared, struct lock_args, p)
{
    GPURT_SHARED(gpurt_latch_t, latch, 1);

    if (gpurt_thread_rank() == 0)
        gpurt_latch_init(latch, 1);
    gpurt_block_barrier();
    (void)gpurt_latch_wait(latch);
    lock_count(&p->desk->xwrong);
}
