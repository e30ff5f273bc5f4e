/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "process.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#    define MADV_WIPEONFORK 18
#endif

uint64_t gpurt_process_xword;

enum {
    FIRST = 1
};

static uint32_t xlast = FIRST; /* generation given last; written by: who asks in a child */
static uint32_t unwiped;       /* the word where no memory is wiped */

/* A child alone in its process. It does nothing else: it may be about to exec. */
static void forked(void)
{
    gpurt_store_relaxed_sys_u32(&unwiped, 0); /* relaxed: one thread */
}

static void word_make(void)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page != MAP_FAILED && madvise(page, bytes, MADV_WIPEONFORK) != 0) {
        munmap(page, bytes);
        page = MAP_FAILED;
    }
    if (page == MAP_FAILED) {
        (void)pthread_atfork(NULL, NULL, forked);
        page = &unwiped;
    }
    gpurt_store_relaxed_sys_u32((uint32_t *)page, FIRST); /* relaxed: the next publishes */
    gpurt_store_release_sys_u64(&gpurt_process_xword,
                                (uint64_t)(uintptr_t)page); /* PR1.rel */
}

/* Threads of a child may ask at once: the first number stays. */
uint32_t gpurt_process_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint32_t *word, found = 0, number;

    pthread_once(&once, word_make);
    word = (uint32_t *)(uintptr_t)gpurt_load_acquire_sys_u64(
        &gpurt_process_xword); /* PR1.acq */
    /* relaxed, all three: numbers are all there is */
    found = gpurt_load_relaxed_sys_u32(word);
    if (found)
        return found;
    number = gpurt_add_relaxed_sys_u32(&xlast, 1) + 1;
    return gpurt_cas_relaxed_sys_u32(word, &found, number) ? number : found;
}

bool gpurt_process_is_forked(void)
{
    return gpurt_process_generation() != FIRST;
}

/* ---- once a process ------------------------------------------------------------------ */

/* The word: the generation that it was done in, and above it whether it is being done. */
#define BUSY 0x80000000u

bool gpurt_process_first(uint32_t *xword)
{
    uint32_t mine = gpurt_process_generation();
    uint32_t found = gpurt_load_acquire_sys_u32(xword); /* PR2.acq */

    while (found != mine) {
        if (found == (mine | BUSY)) {
            sched_yield();
            found = gpurt_load_acquire_sys_u32(xword);                      /* PR2.acq */
        } else if (gpurt_cas_acquire_sys_u32(xword, &found, mine | BUSY)) { /* PR2.acq */
            return true;
        }
    }
    return false;
}

void gpurt_process_ready(uint32_t *xword)
{
    gpurt_store_release_sys_u32(xword, gpurt_process_generation()); /* PR2.rel */
}

/* ---- locks --------------------------------------------------------------------------- */

void gpurt_lock_take(gpurt_lock_t *lock)
{
    if (GPURT_UNLIKELY(gpurt_process_first(&lock->xword))) {
        if (gpurt_process_is_forked()) /* else it is as it was made */
            pthread_mutex_init(&lock->mutex, NULL);
        gpurt_process_ready(&lock->xword);
    }
    pthread_mutex_lock(&lock->mutex);
}

void gpurt_lock_give(gpurt_lock_t *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

bool gpurt_lock_was_held(gpurt_lock_t *lock)
{
    if (pthread_mutex_trylock(&lock->mutex) != 0)
        return true;
    pthread_mutex_unlock(&lock->mutex);
    return false;
}
