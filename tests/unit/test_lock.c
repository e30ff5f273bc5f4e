/* SPDX-License-Identifier: Apache-2.0 */
/* Locks, semaphores, latches and futexes: one at a time, every answer, owners that leave, and
 * deadlocks that are told with names and lines. */
#include "../lock_stage.h"

static void answers(void)
{
    static const int32_t expected[] = {
        GPURT_OK, GPURT_E_DEADLOCK, GPURT_E_HELD, GPURT_OK, GPURT_E_NOT_OWNER, GPURT_OK,
        GPURT_OK, GPURT_OK, GPURT_E_HANDLE, GPURT_E_HANDLE, GPURT_OK,
        /* rwlock */
        GPURT_OK, GPURT_E_TIMEOUT, GPURT_E_NOT_OWNER, GPURT_OK, GPURT_E_NOT_OWNER, GPURT_OK,
        GPURT_E_TIMEOUT, GPURT_E_DEADLOCK, GPURT_OK,
        /* semaphore */
        GPURT_E_INVALID, GPURT_E_INVALID, GPURT_OK, GPURT_E_INVALID, GPURT_E_INVALID,
        GPURT_OK, GPURT_E_TIMEOUT, GPURT_E_TIMEOUT, GPURT_OK, GPURT_E_INVALID, GPURT_OK,
        GPURT_E_HANDLE, GPURT_E_HANDLE,
        /* latch, futex */
        GPURT_E_TIMEOUT, GPURT_E_INVALID, GPURT_OK, GPURT_E_INVALID, GPURT_OK,
        GPURT_E_CANCELLED, GPURT_E_CANCELLED, GPURT_E_TIMEOUT, GPURT_OK,
        /* handlers */
        GPURT_OK, GPURT_OK, GPURT_OK, GPURT_E_NOMEM, GPURT_OK, GPURT_OK};
    const uint32_t count = sizeof expected / sizeof expected[0];
    lock_desk_t *d = desk_make();

    CHECK(count < LOCK_ANSWERS + 1);
    desk_run(&gpurt_kernel_lock_answers, 1, 32, (struct lock_args){0}, GPURT_OK);
    desk_look(d);
    for (uint32_t i = 0; i < count - (count == LOCK_ANSWERS); i++)
        CHECK_MSG(d->answers[i] == expected[i], "answer %u is %s, not %s", i,
                  gpurt_status_name(d->answers[i]), gpurt_status_name(expected[i]));
    CHECK_EQ(d->answers[LOCK_ANSWERS - 1], GPURT_E_NOT_OWNER);
}

/* Who gets in and has no row for its handler keeps nobody from hearing of the owner before. */
static void owner_that_left_stays_told(void)
{
    static const int32_t expected[] = {
        GPURT_E_NOMEM,      GPURT_E_NOMEM, GPURT_E_NOMEM,      GPURT_E_NOMEM,
        GPURT_E_OWNER_DIED, GPURT_OK,      GPURT_E_OWNER_DIED, GPURT_OK};
    lock_desk_t *d = desk_make();

    d->mutex.turns.xword = d->rwlock.turns.xword = GPURT_TURN_DIED;
    desk_run(&gpurt_kernel_lock_left_full, 1, 32, (struct lock_args){0}, GPURT_OK);
    desk_look(d);
    for (uint32_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        CHECK_MSG(d->answers[i] == expected[i], "answer %u is %s, not %s", i,
                  gpurt_status_name(d->answers[i]), gpurt_status_name(expected[i]));
    CHECK_EQ(d->mutex.turns.xword, 0);
    CHECK_EQ(d->rwlock.turns.xword, 0);
}

static bool told(const char *const *words)
{
    static char report[16384];

    gpurt_report(rt, report, sizeof report);
    for (; *words; words++)
        CHECK_MSG(strstr(report, *words), "\"%s\" is not in the report:\n%s", *words,
                  report);
    return true;
}

/* On a GPU these hang. */
static void deadlocks(void)
{
    static const char *const circle[] = {"lanes wait for each other",
                                         "mutex \"north\"",
                                         "mutex \"south\"",
                                         "held by block 0 thread 0 since",
                                         "held by block 1 thread 0 since",
                                         "lock_kernels.c:",
                                         NULL};
    static const char *const never[] = {"no lane is left that could wake them",
                                        "waits for latch", NULL};
    static const char *const shared[] = {"can ever run again", "waits for latch", NULL};
    const struct lock_args none = {0};
    lock_desk_t *d = desk_make();

    d->latch.xleft = 2;
    desk_run(&gpurt_kernel_lock_circle, 2, 32, none, GPURT_E_DEADLOCK);
    told(circle);
    d = desk_make();
    d->latch.xleft = 1;
    desk_run(&gpurt_kernel_lock_never_shared, 2, 40, none, GPURT_E_DEADLOCK);
    told(shared);
    d = desk_make();
    d->latch.xleft = d->gate.xleft = 1;
    desk_run(&gpurt_kernel_lock_never, 2, 40, none, GPURT_E_DEADLOCK);
    told(never);
    desk_look(d);
    CHECK_EQ(d->xwrong, 0);
}

int main(void)
{
    OK(gpurt_open(NULL, &rt, &err));
    stage_begin();
    answers();
    owner_that_left_stays_told();
    storms(6);
    single_then_warp(4);
    readers(8);
    units(8);
    latch(1);
    latch(GPURT_LATCH_FEW + 1);
    latch_over(5);
    turns(12);
    victims(4, LOCK_CANCELS);
    victims(4, LOCK_PANICS);
    warp_cancelled(8);
    scopes();
    if (info.backend == GPURT_BACKEND_CPU)
        deadlocks();
    storms(2); /* nothing is left behind */
    stage_end();
    OK(gpurt_close(rt, &err));
    return 0;
}
