/* SPDX-License-Identifier: Apache-2.0 */
/* The handle table by itself, raced: through the host API the entry of each call orders
 * much more than the table does, and would hide it if the table ordered too little.
 * Objects are plain memory, written when they are made and when they are destroyed and
 * read in between. */
#include "../check.h"
#include "handle.h"

#include <gpurt/atomic.h>

#include <pthread.h>
#include <sched.h>

enum {
    USERS = 3,
    PLACES = 2,
    ROUNDS = 20000,
    OBJECT_COUNT = ROUNDS,
    WHOLE = 0x600d
};

static gpurt_handles_t table = {.lock = GPURT_LOCK_INIT};
static struct {
    uint32_t body, xdestroyed;
} objects[OBJECT_COUNT];        /* each is used once */
static uint64_t xplace[PLACES]; /* written by: the maker */
static uint32_t xstop;          /* written by: main */
static uint32_t xleft;          /* written by: users: destroyed by the last of them */

static uint32_t *body_of(void *object)
{
    uint32_t *body = (uint32_t *)object;

    CHECK_EQ(*body, WHOLE);
    return body;
}

static void destroy(gpurt_orphan_t orphan)
{
    if (!orphan.object)
        return;
    CHECK_EQ(orphan.kind, GPURT_HANDLE_EVENT);
    *body_of(orphan.object) = 0;
    CHECK_EQ(gpurt_add_relaxed_sys_u32((uint32_t *)orphan.object + 1, 1), 0);
}

static void *user(void *arg)
{
    uint32_t i = (uint32_t)(uintptr_t)arg;
    gpurt_orphan_t orphan;
    void *object;

    while (!gpurt_load_relaxed_sys_u32(&xstop)) { /* relaxed: nothing follows from it */
        uint64_t handle = gpurt_load_relaxed_sys_u64(&xplace[i % PLACES]);

        if (!gpurt_handle_take(&table, GPURT_HANDLE_EVENT, handle, &object))
            continue;
        body_of(object);
        if (i++ % 4 == 0)
            sched_yield(); /* so that others come and go while it is in use */
        body_of(object);
        orphan = gpurt_handle_drop(&table, handle);
        gpurt_add_relaxed_sys_u32(&xleft, orphan.object != NULL);
        destroy(orphan);
    }
    return NULL;
}

static void *maker(void *arg)
{
    gpurt_orphan_t orphan;

    (void)arg;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t handle, *place = &xplace[i % PLACES];

        objects[i].body = WHOLE;
        handle = gpurt_handle_create(&table, GPURT_HANDLE_EVENT, &objects[i]);
        CHECK(handle != 0);
        if (*place != 0) {
            CHECK(gpurt_handle_release(&table, GPURT_HANDLE_EVENT, *place, &orphan));
            destroy(orphan);
        }
        gpurt_store_relaxed_sys_u64(place, handle);
        if (i % 8 == 0)
            sched_yield();
    }
    return NULL;
}

int main(void)
{
    pthread_t users[USERS], one;
    uint32_t alive = 0;

    for (uintptr_t i = 0; i < USERS; i++)
        CHECK_EQ(pthread_create(&users[i], NULL, user, (void *)i), 0);
    CHECK_EQ(pthread_create(&one, NULL, maker, NULL), 0);
    CHECK_EQ(pthread_join(one, NULL), 0);
    gpurt_store_relaxed_sys_u32(&xstop, 1);
    for (int i = 0; i < USERS; i++)
        CHECK_EQ(pthread_join(users[i], NULL), 0);
    for (uint32_t i = 0; i < OBJECT_COUNT; i++)
        alive += objects[i].xdestroyed == 0;
    CHECK_EQ(alive, PLACES); /* the last ones, which nobody released */
    printf("%u of %d objects destroyed by a user\n", xleft, ROUNDS);
    CHECK(xleft > 0);
    return 0;
}
