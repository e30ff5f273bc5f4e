/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_LOCK_KERNELS_H
#define GPURT_TESTS_LOCK_KERNELS_H

#include <gpurt/kernel.h>
#include <gpurt/latch.h>
#include <gpurt/mutex.h>
#include <gpurt/rwlock.h>
#include <gpurt/semaphore.h>

enum {
    LOCK_BLOCKS = 3,
    LOCK_THREADS = 48,
    LOCK_UNITS = 5,    /* of the semaphore */
    LOCK_ANSWERS = 48, /* of lock_answers */
    LOCK_NOBODY = 0xffffffffu
};

/* How a lane takes a mutex, in lock_storm. */
enum {
    LOCK_WAIT,
    LOCK_TRY,
    LOCK_TIMED,
    LOCK_WARP,
    LOCK_FORMS
};

/* How the owner leaves, in lock_victims. */
enum {
    LOCK_CANCELS,
    LOCK_PANICS
};

/* In memory that all blocks reach; zeroed before each launch. */
typedef struct lock_desk {
    gpurt_mutex_t mutex, other;
    gpurt_rwlock_t rwlock;
    gpurt_semaphore_t semaphore;
    gpurt_latch_t latch, gate;
    uint32_t xword;
    uint32_t plain;              /* guarded by mutex */
    uint32_t left, right;        /* guarded by rwlock: always the same */
    uint32_t xinside, xtoo_many; /* of the semaphore */
    uint32_t xtaken, xlate, xdied, xwrong, xhere;
    uint32_t before[LOCK_BLOCKS * LOCK_THREADS]; /* each written before counting down */
    int32_t answers[LOCK_ANSWERS];
} lock_desk_t;

struct lock_args {
    lock_desk_t *desk;
    uint32_t rounds, form, victim, ns;
};

GPURT_KERNEL_DECLARE(lock_storm, struct lock_args);
GPURT_KERNEL_DECLARE(lock_storm_shared, struct lock_args);
GPURT_KERNEL_DECLARE(lock_single_then_warp, struct lock_args);
GPURT_KERNEL_DECLARE(lock_readers, struct lock_args);
GPURT_KERNEL_DECLARE(lock_units, struct lock_args);
GPURT_KERNEL_DECLARE(lock_latch, struct lock_args);
GPURT_KERNEL_DECLARE(lock_latch_over, struct lock_args);
GPURT_KERNEL_DECLARE(lock_turns, struct lock_args);
GPURT_KERNEL_DECLARE(lock_answers, struct lock_args);
GPURT_KERNEL_DECLARE(lock_left_full, struct lock_args);
GPURT_KERNEL_DECLARE(lock_victims, struct lock_args);
GPURT_KERNEL_DECLARE(lock_warp_cancelled, struct lock_args);
GPURT_KERNEL_DECLARE(lock_scopes, struct lock_args);
GPURT_KERNEL_DECLARE(lock_circle, struct lock_args);
GPURT_KERNEL_DECLARE(lock_never, struct lock_args);
GPURT_KERNEL_DECLARE(lock_never_shared, struct lock_args);

#endif
