/* SPDX-License-Identifier: Apache-2.0 */
/* Closing while other threads call: each call runs whole in an open back end or is
 * refused, and close waits for the calls inside. The stand-in ends the test when it is
 * called while it is not open; under ThreadSanitizer it also shows whether its opening
 * and closing is ordered with the calls. */
#include "../check.h"
#include "fake_backend.h"

#include <gpurt/atomic.h>

#include <pthread.h>
#include <sched.h>
#include <time.h>

enum {
    CALLERS = 3,
    RUNTIMES = 500,        /* and more, where the machine is busy and nobody raced yet */
    RUNTIMES_MAX = 500000, /* seconds */
    RIVALS = 4
};

static void half(const void *args)
{
    (void)args;
}
static const gpurt_kernel_t kernel = {"k", 4, 4, half, (const void *const *)&kernel, 0};
static const gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};

static gpurt_t *xrt; /* under rt_lock: the pointer travels between threads */
static pthread_mutex_t rt_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t xstop, xdone, xclosed; /* written by: main; callers; callers */

static gpurt_t *current(void)
{
    gpurt_t *rt;

    pthread_mutex_lock(&rt_lock);
    rt = xrt;
    pthread_mutex_unlock(&rt_lock);
    return rt;
}

static bool count(gpurt_status_t st)
{
    CHECK_MSG(st == GPURT_OK || st == GPURT_E_CLOSED || st == GPURT_E_HANDLE, "%s",
              gpurt_status_name(st));
    /* relaxed: counts */
    gpurt_add_relaxed_sys_u32(st == GPURT_OK ? &xdone : &xclosed, 1);
    return st == GPURT_OK;
}

static void *caller(void *arg)
{
    gpurt_info_t info;
    gpurt_stream_t s;
    uint32_t args = 0;

    (void)arg;
    while (!gpurt_load_acquire_sys_u32(&xstop)) {
        gpurt_t *rt = current();

        count(gpurt_launch_kernel(rt, &launch, &kernel, &args, sizeof args, NULL));
        if (count(gpurt_stream_create(rt, &s, NULL))) {
            count(gpurt_stream_sync(rt, s, NULL));
            count(gpurt_stream_destroy(rt, s)); /* or left to close */
        }
        if (count(gpurt_info(rt, &info)))
            CHECK_STR(info.why, "cuda: NVIDIA Stand-in (device 0)");
        else
            sched_yield(); /* to the thread that opens the next one */
    }
    return NULL;
}

/* relaxed: counts */
static bool both_happened(void)
{
    return gpurt_load_relaxed_sys_u32(&xdone) && gpurt_load_relaxed_sys_u32(&xclosed);
}

static void calls_against_close(void)
{
    pthread_t callers[CALLERS];

    fake_reset();
    for (int i = 0; i < CALLERS; i++)
        CHECK_EQ(pthread_create(&callers[i], NULL, caller, NULL), 0);
    for (int i = 0; i < RUNTIMES || (i < RUNTIMES_MAX && !both_happened()); i++) {
        gpurt_t *rt = fake_gpurt_open(NULL);

        pthread_mutex_lock(&rt_lock);
        xrt = rt;
        pthread_mutex_unlock(&rt_lock);
        for (int j = 0; j < i % 4; j++)
            sched_yield();
        CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
        CHECK_EQ(fake_alive(), 0);
    }
    gpurt_store_release_sys_u32(&xstop, 1);
    for (int i = 0; i < CALLERS; i++)
        CHECK_EQ(pthread_join(callers[i], NULL), 0);
    printf("%u calls done, %u refused\n", xdone, xclosed);
    CHECK(both_happened());
}

/* ---- a call that is inside when close comes ------------------------------------------ */
static uint32_t xinside, xgo, xreturned; /* written by: the call; main; the closer */

static void hold(fake_op_t op)
{
    if (op != FAKE_STREAM_SYNC)
        return;
    gpurt_store_release_sys_u32(&xinside, 1);
    while (!gpurt_load_acquire_sys_u32(&xgo))
        sched_yield();
}

static void *held_call(void *rt)
{
    CHECK_EQ(gpurt_stream_sync((gpurt_t *)rt, GPURT_STREAM_DEFAULT, NULL), GPURT_OK);
    return NULL;
}

static void *closer(void *rt)
{
    CHECK_EQ(gpurt_close((gpurt_t *)rt, NULL), GPURT_OK);
    gpurt_store_release_sys_u32(&xreturned, 1);
    return NULL;
}

static void close_waits(void)
{
    const struct timespec while_ = {.tv_nsec = 20 * 1000 * 1000};
    pthread_t call, close;
    gpurt_t *rt;

    fake_reset();
    fake_cuda.inside = hold;
    rt = fake_gpurt_open(NULL);
    CHECK_EQ(pthread_create(&call, NULL, held_call, rt), 0);
    while (!gpurt_load_acquire_sys_u32(&xinside))
        sched_yield();
    CHECK_EQ(pthread_create(&close, NULL, closer, rt), 0);
    while (gpurt_sync(rt, NULL) != GPURT_E_CLOSED) /* it has begun: nobody new gets in */
        sched_yield();
    nanosleep(&while_, NULL);
    CHECK_EQ(gpurt_load_acquire_sys_u32(&xreturned), 0);
    CHECK_EQ(fake_calls(&fake_cuda, FAKE_CLOSE), 0);
    gpurt_store_release_sys_u32(&xgo, 1);
    CHECK_EQ(pthread_join(call, NULL), 0);
    CHECK_EQ(pthread_join(close, NULL), 0);
    CHECK_EQ(fake_calls(&fake_cuda, FAKE_CLOSE), 1);
}

/* ---- many open, many close: one of them wins ----------------------------------------- */
static uint32_t xopened, xshut; /* written by: rivals */
static pthread_barrier_t start;

static void *open_rival(void *arg)
{
    gpurt_t *rt;
    gpurt_status_t st;

    (void)arg;
    pthread_barrier_wait(&start);
    st = gpurt_open(NULL, &rt, NULL);
    if (st == GPURT_OK) {
        gpurt_add_relaxed_sys_u32(&xopened, 1); /* relaxed: read after the join */
        pthread_mutex_lock(&rt_lock);
        xrt = rt;
        pthread_mutex_unlock(&rt_lock);
    } else {
        CHECK_EQ(st, GPURT_E_OPEN);
        CHECK(!rt);
    }
    pthread_barrier_wait(&start);
    st = gpurt_close(current(), NULL);
    if (st == GPURT_OK)
        gpurt_add_relaxed_sys_u32(&xshut, 1); /* relaxed: read after the join */
    else
        CHECK_EQ(st, GPURT_E_CLOSED);
    return NULL;
}

static void one_wins(void)
{
    pthread_t rivals[RIVALS];

    fake_reset();
    CHECK_EQ(pthread_barrier_init(&start, NULL, RIVALS), 0);
    for (uint32_t round = 1; round <= 100; round++) {
        for (int i = 0; i < RIVALS; i++)
            CHECK_EQ(pthread_create(&rivals[i], NULL, open_rival, NULL), 0);
        for (int i = 0; i < RIVALS; i++)
            CHECK_EQ(pthread_join(rivals[i], NULL), 0);
        CHECK_EQ(xopened, round);
        CHECK_EQ(xshut, round);
    }
}

int main(void)
{
    calls_against_close();
    close_waits();
    one_wins();
    return 0;
}
