/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - which process this is, of one and those that were forked from it.
 *
 * A forked child has all memory of its parent and one of its threads: what tables name is the
 * parent's, and a lock that another thread held stays locked for ever. Who keeps such state
 * compares generations and takes locks by the calls below.
 * A fork is noticed by memory that the kernel wipes in the child (Linux 4.14), so a raw clone is,
 * too; elsewhere by pthread_atfork. A child of vfork has its parent's memory and threads until it
 * execs: here it is its parent. Context of all: host, any thread. */
#ifndef GPURT_PROCESS_H
#define GPURT_PROCESS_H

#include <gpurt/atomic.h>

#include <pthread.h>
#include <stdbool.h>

/* Address of the generation; 0 there: nobody has asked in this process yet. */
extern uint64_t gpurt_process_xword; /* written by: who asks first */
uint32_t gpurt_process_begin(void);

/* From 1 on; greater in a child than in its parent. */
static inline uint32_t gpurt_process_generation(void)
{
    const uint32_t *word = (const uint32_t *)(uintptr_t)gpurt_load_acquire_sys_u64(
        &gpurt_process_xword); /* PR1.acq */
    /* relaxed: the number is all there is */
    uint32_t generation = word ? gpurt_load_relaxed_sys_u32(word) : 0;

    return GPURT_LIKELY(generation) ? generation : gpurt_process_begin();
}

/* Whether something was here before a fork made this process. */
bool gpurt_process_is_forked(void);

/* Something to be done once in each process. Returns: true for one caller, who does it and says
 * ready; all others wait until it has. xword: zeroed, of its own. */
bool gpurt_process_first(uint32_t *xword);
void gpurt_process_ready(uint32_t *xword);

/* A lock that is free in a forked child, whoever held it. Owner: static storage. What it guards
 * may be half changed there, if gpurt_lock_was_held says so. */
typedef struct gpurt_lock {
    pthread_mutex_t mutex;
    uint32_t xword;
} gpurt_lock_t;
#define GPURT_LOCK_INIT                    \
    {                                      \
        .mutex = PTHREAD_MUTEX_INITIALIZER \
    }

void gpurt_lock_take(gpurt_lock_t *lock);
void gpurt_lock_give(gpurt_lock_t *lock);
/* Whether another thread held it at the fork. Context: a child in which nobody has taken it. */
bool gpurt_lock_was_held(gpurt_lock_t *lock);

#endif
