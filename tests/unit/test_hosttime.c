/* SPDX-License-Identifier: Apache-2.0 */
/* The host's clocks: one runs on and on, and waits last as long by it as they were asked to. */
#include "check.h"
#include "hosttime.h"

#include <unistd.h>

#define SECOND_NS 1000000000ull
#define WAIT_NS   20000000ull

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;

static void test_clocks(void)
{
    uint64_t last = gpurt_steady_ns(), real = (uint64_t)time(NULL) * SECOND_NS;

    CHECK(gpurt_real_ns() >= real && gpurt_real_ns() - real < 60 * SECOND_NS);
    for (int i = 0; i < 100000; i++) {
        uint64_t now = gpurt_steady_ns();

        CHECK(now >= last);
        last = now;
    }
}

static void test_moments(void)
{
    static const uint64_t spans[] = {
        0, 1, SECOND_NS - 1, SECOND_NS, 3 * SECOND_NS + SECOND_NS / 2, 86400 * SECOND_NS};

    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        uint64_t before = gpurt_steady_ns(), at;
        struct timespec t = gpurt_steady_in(spans[i]);

        CHECK(t.tv_nsec >= 0 && t.tv_nsec < (long)SECOND_NS);
        at = (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
        CHECK(at >= before + spans[i] && at <= gpurt_steady_ns() + spans[i]);
    }
}

static void *turn_give(void *context)
{
    (void)context;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&turn);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void test_waits(void)
{
    uint64_t begin = gpurt_steady_ns();
    pthread_t other;

    pthread_mutex_lock(&lock);
    while (gpurt_steady_wait(&turn, &lock, WAIT_NS)) /* woken for nothing */
        ;
    CHECK(gpurt_steady_ns() - begin >= WAIT_NS);
    CHECK_EQ(pthread_create(&other, NULL, turn_give, NULL), 0); /* it needs the mutex */
    CHECK(gpurt_steady_wait(&turn, &lock, 3600 * SECOND_NS));
    pthread_mutex_unlock(&lock);
    CHECK_EQ(pthread_join(other, NULL), 0);
}

int main(void)
{
    alarm(20);
    test_clocks();
    test_moments();
    test_waits();
    return 0;
}
