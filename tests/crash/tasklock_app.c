/* SPDX-License-Identifier: Apache-2.0 */
/* tasklock_app - a task holds a lock that three others wait for, until SIGUSR1. Then it ends with
 * the lock, and the others take it. The log is told of the lock. */
#include "../kernels/tasklock_stage.h"

#include <gpurt/locks.h>
#include <signal.h>

enum {
    OTHERS = 3
};

static void signal_wait(void)
{
    sigset_t enough;
    int which;

    sigemptyset(&enough);
    sigaddset(&enough, SIGUSR1);
    CHECK_EQ(sigwait(&enough, &which), 0);
}

static void signal_block(void)
{
    sigset_t enough;

    sigemptyset(&enough);
    sigaddset(&enough, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &enough, NULL), 0);
}

static void play(void)
{
    tasklock_stage_t s = tasklock_open(2, 2);
    gpurt_lock_watch_t watch;
    struct tasklock_args keeper = {.board = s.board};
    void *gate;

    OK(gpurt_host_create(rt, sizeof(uint32_t), &gate, &err));
    gpurt_store_relaxed_sys_u32((uint32_t *)gate, 0);
    keeper.at = (uint64_t)(uintptr_t)gate;
    OK(gpurt_lock_watch(rt, GPURT_LOCK_TASK, &s.board->lock, "sums", &watch, &err));
    OK(gpurt_executor_submit(rt, s.x, keeps, &keeper, 1, GPURT_TASK_PRIORITY(3), NULL,
                             &err));
    for (uint32_t i = 0; i < OTHERS; i++)
        TASKLOCK_SUBMIT(&s, adds, 0, 1, GPURT_TASK_PRIORITY(0));
    signal_wait();
    gpurt_store_relaxed_sys_u32((uint32_t *)gate, 1); /* relaxed: a flag alone */
    OK(gpurt_executor_drain(rt, s.x, TASKLOCK_WAIT_NS, &err));
    signal_wait();
    OK(gpurt_lock_unwatch(rt, &watch, &err));
    CHECK_EQ(tasklock_close(&s).sum, OTHERS);
    CHECK_EQ(gpurt_host_destroy(rt, gate), GPURT_OK);
}

int main(void)
{
    signal_block();
    OK(gpurt_open(NULL, &rt, &err));
    play();
    OK(gpurt_close(rt, &err));
    return 0;
}
