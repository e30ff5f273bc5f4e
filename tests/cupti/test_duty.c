/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of the collector that is asked for a round: the one that is under way does not count. */
#include "check.h"
#include "duty.h"

#include <gpurt/atomic.h>
#include <time.h>

enum {
    LONG_MS = 60000,
    A_WHILE_NS = 30000000
};

static sem_t entered, leaves;
static duty_t duty;
static uint32_t xover; /* the ask is */
static bool asked[3];  /* whether each round was asked for */

static void rounds_run(duty_t *w)
{
    for (int i = 0; duty_wait(w, LONG_MS); i++) {
        asked[i] = duty_is_asked(w);
        sem_post(&entered);
        sem_wait(&leaves);
    }
}

static void *ask(void *context)
{
    CHECK(duty_ask(&duty, LONG_MS));
    gpurt_store_release_sys_u32(&xover, 1); /* test */
    return context;
}

static bool is_over(void)
{
    const struct timespec a_while = {.tv_nsec = A_WHILE_NS};

    nanosleep(&a_while, NULL);
    return gpurt_load_acquire_sys_u32(&xover); /* test */
}

int main(void)
{
    pthread_t asker;

    CHECK_EQ(sem_init(&entered, 0, 0), 0);
    CHECK_EQ(sem_init(&leaves, 0, 0), 0);
    CHECK(
        duty_ask(&duty, LONG_MS)); /* of one that was not started: there is nothing to do */
    CHECK(duty_start(&duty, "duty", rounds_run, NULL));
    duty_ring(&duty);
    CHECK_EQ(sem_wait(&entered), 0);
    CHECK(!duty_ask(&duty, 1)); /* the round that is under way goes on */
    CHECK_EQ(pthread_create(&asker, NULL, ask, NULL), 0);
    while (gpurt_load_relaxed_dev_u32(&duty.xasked) < 2) { /* test */
    }
    CHECK_EQ(sem_post(&leaves), 0);
    CHECK_EQ(sem_wait(&entered), 0);
    CHECK(!is_over());
    CHECK_EQ(sem_post(&leaves), 0);
    CHECK_EQ(pthread_join(asker, NULL), 0);
    CHECK(!asked[0] && asked[1]);
    CHECK_EQ(sem_wait(&entered), 0); /* of the ask that was given up */
    CHECK_EQ(sem_post(&leaves), 0);
    CHECK(duty_stop(&duty, LONG_MS));
    CHECK(duty_ask(&duty, LONG_MS));
    return 0;
}
