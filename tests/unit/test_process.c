/* SPDX-License-Identifier: Apache-2.0 */
/* A process knows itself from those that are forked from it, and a child gets the locks that
 * another thread of its parent's held. */
#include "process.h"

#include "../check.h"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 4,
    ROUNDS = 50
};

static gpurt_lock_t lock = GPURT_LOCK_INIT;
static uint32_t xheld, xgive;         /* written by: the holder, the first thread */
static uint32_t xonce, xdone, xbegun; /* xdone: written by: whoever was first */

static void *holder(void *unused)
{
    gpurt_lock_take(&lock);
    gpurt_store_release_sys_u32(&xheld, 1);     /* TP1.rel */
    while (!gpurt_load_acquire_sys_u32(&xgive)) /* TP2.acq */
        sched_yield();
    gpurt_lock_give(&lock);
    return unused;
}

/* All of them at once, in a process where nobody was first yet. */
static void *one_of_many(void *unused)
{
    gpurt_add_relaxed_sys_u32(&xbegun, 1); /* relaxed, here and below: counts */
    while (gpurt_load_relaxed_sys_u32(&xbegun) < THREADS)
        sched_yield();
    if (gpurt_process_first(&xonce)) {
        usleep(100); /* the others come meanwhile */
        gpurt_add_relaxed_sys_u32(&xdone, 1);
        gpurt_process_ready(&xonce);
    }
    CHECK_EQ(gpurt_load_relaxed_sys_u32(&xdone), 1);
    return unused;
}

static void once(void)
{
    pthread_t ids[THREADS];

    for (int i = 0; i < ROUNDS; i++) {
        xonce = xdone = xbegun = 0;
        for (int t = 0; t < THREADS; t++)
            CHECK_EQ(pthread_create(&ids[t], NULL, one_of_many, NULL), 0);
        for (int t = 0; t < THREADS; t++)
            pthread_join(ids[t], NULL);
    }
}

static void in_child(uint32_t parent, bool raw)
{
    uint32_t own = gpurt_process_generation();

    alarm(10);
    CHECK(own > parent && gpurt_process_is_forked());
    CHECK_EQ(gpurt_process_generation(), own);
    if (raw && CHECK_SANITIZED)
        _exit(0); /* the race detector takes the lock for the parent's */
    CHECK(gpurt_lock_was_held(&lock));
    gpurt_lock_take(&lock);
    gpurt_lock_give(&lock);
    CHECK(!gpurt_lock_was_held(&lock));
    CHECK(gpurt_process_first(&xonce)); /* again, in this one */
    gpurt_process_ready(&xonce);
    CHECK(!gpurt_process_first(&xonce));
    _exit(0);
}

static void child(bool raw)
{
    uint32_t own = gpurt_process_generation();
    pid_t pid = raw ? (pid_t)syscall(SYS_fork) : fork();
    int status;

    if (pid == 0)
        in_child(own, raw);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK_MSG(status == 0, "%s: %x", raw ? "raw" : "fork", (unsigned)status);
    CHECK_EQ(gpurt_process_generation(), own);
}

int main(void)
{
    pthread_t thread;

    CHECK(!gpurt_process_is_forked());
    once();
    CHECK_EQ(pthread_create(&thread, NULL, holder, NULL), 0);
    while (!gpurt_load_acquire_sys_u32(&xheld)) /* TP1.acq */
        sched_yield();
    child(false);
    child(true);
    CHECK(!gpurt_process_is_forked());
    gpurt_store_release_sys_u32(&xgive, 1); /* TP2.rel */
    pthread_join(thread, NULL);
    return 0;
}
