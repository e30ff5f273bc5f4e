/* SPDX-License-Identifier: Apache-2.0 */
/* One thread makes and destroys streams and events, the others use whatever handle they
 * find lying about: each use gets a whole object or is refused, and each object is
 * destroyed once. The stand-in checks its objects before and after; under
 * ThreadSanitizer it also shows whether uses are ordered with creation and destruction. */
#include "../check.h"
#include "fake_backend.h"

#include <gpurt/atomic.h>

#include <pthread.h>
#include <sched.h>

enum {
    USERS = 3,
    PLACES = 4,
    ROUNDS = 10000
};

static gpurt_t *rt;
static uint64_t xstream[PLACES], xevent[PLACES]; /* written by: the maker */
static uint32_t xstop;                           /* written by: main */
static uint32_t xused, xrefused;                 /* written by: users */

static void count(gpurt_status_t st)
{
    CHECK_MSG(st == GPURT_OK || st == GPURT_E_HANDLE, "%s", gpurt_status_name(st));
    /* relaxed: counts */
    gpurt_add_relaxed_sys_u32(st == GPURT_OK ? &xused : &xrefused, 1);
}

/* Handles are read relaxed, so that nothing but the table itself orders the objects. */
static void *user(void *arg)
{
    uint32_t i = (uint32_t)(uintptr_t)arg;
    uint64_t s, e, t, ns;

    while (!gpurt_load_acquire_sys_u32(&xstop)) {
        s = gpurt_load_relaxed_sys_u64(&xstream[i % PLACES]);
        e = gpurt_load_relaxed_sys_u64(&xevent[i % PLACES]);
        t = gpurt_load_relaxed_sys_u64(&xevent[(i + 1) % PLACES]);
        if (s && e && t) {
            count(gpurt_stream_query(rt, s, NULL));
            count(gpurt_event_record(rt, e, s));
            count(gpurt_event_elapsed_ns(rt, e, t, &ns, NULL));
        }
        if (i++ % 64 == 0) /* a competing destruction: one of the two is refused */
            count(gpurt_event_destroy(rt, t));
    }
    return NULL;
}

static void *maker(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t *s = &xstream[i % PLACES], *e = &xevent[i % PLACES], made;

        count(gpurt_stream_destroy(rt, *s));
        count(gpurt_event_destroy(rt, *e));
        CHECK_EQ(gpurt_stream_create(rt, &made, NULL), GPURT_OK);
        gpurt_store_relaxed_sys_u64(s, made);
        CHECK_EQ(gpurt_event_create(rt, &made, NULL), GPURT_OK);
        gpurt_store_relaxed_sys_u64(e, made);
        if (i % 32 == 0)
            sched_yield(); /* on few cores the users would otherwise wait for long */
    }
    return NULL;
}

int main(void)
{
    pthread_t users[USERS], one;

    fake_reset();
    rt = fake_gpurt_open(NULL);
    for (uintptr_t i = 0; i < USERS; i++)
        CHECK_EQ(pthread_create(&users[i], NULL, user, (void *)i), 0);
    CHECK_EQ(pthread_create(&one, NULL, maker, NULL), 0);
    CHECK_EQ(pthread_join(one, NULL), 0);
    gpurt_store_release_sys_u32(&xstop, 1);
    for (int i = 0; i < USERS; i++)
        CHECK_EQ(pthread_join(users[i], NULL), 0);
    CHECK(xused > 0);
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
    CHECK_EQ(fake_alive(), 0);
    CHECK_EQ(fake_calls(&fake_cuda, FAKE_STREAM_DESTROY), ROUNDS);
    CHECK_EQ(fake_calls(&fake_cuda, FAKE_EVENT_DESTROY), ROUNDS);
    printf("%u uses, %u refused\n", xused, xrefused);
    return 0;
}
