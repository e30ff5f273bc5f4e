/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from who waits for whom: circles, what stands behind them, what any of
 * several can end, and snapshots as bytes. */
#include "check.h"
#include "waitgraph.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROOM = 16
};

static gpurt_wait_t waits[ROOM];
static gpurt_wait_object_t objects[ROOM];
static gpurt_wait_site_t sites[ROOM];
static gpurt_wait_thread_t threads[ROOM];
static gpurt_waits_t w = {
    .waits = waits, .objects = objects, .sites = sites, .threads = threads};

static void reset(void)
{
    memset(waits, 0, sizeof waits);
    memset(objects, 0, sizeof objects);
    memset(threads, 0, sizeof threads);
    w.count = w.thread_count = 0;
    w.object_count = ROOM;
    w.site_count = 1;
    for (uint32_t i = 0; i < ROOM; i++)
        objects[i].number = i + 1;
}

/* Block and ring are one: lane 0 of a block waits for an object. */
static void waits_for(uint32_t block, uint32_t object, uint32_t reason)
{
    waits[w.count++] = (gpurt_wait_t){.ring = block,
                                      .block = block,
                                      .mask = 1,
                                      .reason = reason,
                                      .number = object + 1,
                                      .object = object,
                                      .site = GPURT_WAIT_NOBODY};
}

static void at_barrier(uint32_t block, uint32_t number)
{
    waits_for(block, 0, GPURT_WAIT_ALL);
    waits[w.count - 1].number = number;
    waits[w.count - 1].object = GPURT_WAIT_NOBODY;
}

static void held_by(uint32_t object, uint32_t at, uint32_t block)
{
    objects[object].owners[at] = (gpurt_wait_owner_t){.place = block * 32 + 1,
                                                      .block = block,
                                                      .site = GPURT_WAIT_NOBODY,
                                                      .at_site = GPURT_WAIT_NOBODY};
}

/* Checks how many are stuck, and in how many circles. Returns: the hash. */
static uint64_t expect(uint32_t stuck, uint32_t circles)
{
    gpurt_waitgraph_t g;
    uint64_t hash;

    CHECK(gpurt_waitgraph_make(&w, &g, NULL) == GPURT_OK);
    CHECK(g.stuck_count == stuck);
    CHECK(g.circles == circles);
    for (uint32_t i = 0; i < w.count; i++) {
        CHECK(g.circle[i] <= g.circles);
        if (g.circle[i])
            CHECK(g.stuck[i] && g.circle[g.next[i]] == g.circle[i]);
    }
    hash = g.hash;
    gpurt_waitgraph_fini(&g);
    return hash;
}

static void check_locks(void)
{
    uint64_t hash;

    reset();
    for (uint32_t i = 0; i < 3; i++) {
        held_by(i, 0, i);
        waits_for(i, (i + 1) % 3, GPURT_WAIT_OWNER);
    }
    hash = expect(3, 1);
    waits[1].since_ns = 77;
    CHECK(expect(3, 1) == hash); /* ages are no part of it */
    waits_for(5, 1, GPURT_WAIT_OWNER);
    CHECK(expect(4, 1) == hash);    /* nor who came later */
    objects[2].owners[0].place = 0; /* let go */
    expect(0, 0);

    reset(); /* a holder that runs */
    held_by(0, 0, 9);
    waits_for(1, 0, GPURT_WAIT_OWNER);
    expect(0, 0);

    reset(); /* its own */
    held_by(0, 0, 1);
    waits_for(1, 0, GPURT_WAIT_OWNER);
    expect(1, 1);

    reset(); /* another lane of the same warp holds it, and runs */
    held_by(0, 0, 1);
    objects[0].owners[0].place += 5;
    waits_for(1, 0, GPURT_WAIT_OWNER);
    expect(0, 0);

    reset(); /* the holder's place belongs to another block by now */
    held_by(0, 0, 1);
    objects[0].owners[0].block = 3;
    waits_for(1, 0, GPURT_WAIT_OWNER);
    expect(0, 0);

    reset(); /* two circles */
    for (uint32_t i = 0; i < 4; i++) {
        held_by(i, 0, i);
        waits_for(i, i ^ 1, GPURT_WAIT_OWNER);
    }
    expect(4, 2);
}

static void check_any_of_several(void)
{
    reset(); /* a writer that runs may still come */
    waits_for(0, 0, GPURT_WAIT_DATA);
    held_by(0, 1, 1);
    held_by(0, 2, 2);
    held_by(1, 0, 0);
    waits_for(1, 1, GPURT_WAIT_OWNER);
    expect(0, 0);
    waits_for(2, 1, GPURT_WAIT_OWNER); /* both writers want what the reader holds */
    expect(3, 1);
    waits[0].reason = GPURT_WAIT_ROOM; /* writers do not make room */
    expect(0, 0);
    waits[0].reason = GPURT_WAIT_CREDIT; /* nor do they grant */
    expect(0, 0);
    held_by(0, 4, 1); /* a reader does, which is stuck */
    expect(3, 1);

    reset(); /* readers of a lock: each must let go, so one that is stuck is enough */
    waits_for(0, 0, GPURT_WAIT_OWNER);
    held_by(0, 3, 1);
    held_by(0, 4, 2);
    held_by(1, 0, 0);
    waits_for(1, 1, GPURT_WAIT_OWNER);
    expect(2, 1);
}

static void check_barriers(void)
{
    reset(); /* nobody is missed who waits for something else */
    at_barrier(0, GPURT_WAITABLE_GRID);
    at_barrier(1, GPURT_WAITABLE_GRID);
    expect(0, 0);
    held_by(0, 0, 0);
    waits_for(2, 0, GPURT_WAIT_OWNER);
    expect(3, 1);        /* 0 and 2 in the circle, 1 behind */
    waits[2].launch = 1; /* of another launch */
    expect(0, 0);

    reset(); /* the barrier of another block */
    at_barrier(0, GPURT_WAITABLE_BLOCK);
    held_by(0, 0, 0);
    waits_for(2, 0, GPURT_WAIT_OWNER);
    expect(0, 0);
    waits[1].block = 0; /* of this one */
    expect(2, 1);

    reset(); /* a barrier with members: who has arrived is not missed */
    waits_for(0, 0, GPURT_WAIT_ALL);
    waits_for(1, 0, GPURT_WAIT_ALL);
    for (uint32_t i = 0; i < 3; i++)
        held_by(0, 1 + i, i);
    expect(0, 0);
    held_by(1, 0, 0);
    waits_for(2, 1, GPURT_WAIT_OWNER);
    expect(3, 1);
}

/* A thread of the host waits, by its number. */
static void thread_waits_for(uint32_t number, uint32_t object, uint32_t reason)
{
    waits_for(number, object, reason);
    waits[w.count - 1].ring = GPURT_WAIT_THREADS + w.thread_count;
    threads[w.thread_count++].number = number;
}

static void used_by(uint32_t object, uint32_t at, uint32_t number)
{
    held_by(object, at, number);
    objects[object].owners[at].place = (uint32_t)GPURT_WAIT_THREADS * 32 + 1;
}

static void check_threads(void)
{
    uint64_t hash;

    reset(); /* the thread awaits what the lane does not do before its answer is received */
    waits_for(0, 0, GPURT_WAIT_ROOM);
    used_by(0, 4, 71);
    held_by(1, 4, 0);
    thread_waits_for(70, 5, GPURT_WAIT_DATA);
    expect(0, 0);
    thread_waits_for(71, 1, GPURT_WAIT_DONE);
    hash = expect(2, 1);
    threads[1].limited = 1; /* it gives up */
    expect(0, 0);
    threads[1].limited = 0;
    held_by(1, 5, 3); /* another lane may acknowledge */
    expect(0, 0);
    objects[1].owners[5].place = 0;
    held_by(1, 1, 3); /* not one that sends */
    expect(2, 1);

    waits[1] = waits[2]; /* the other thread has gone on: it is the same deadlock */
    waits[1].ring--;
    threads[0] = threads[1];
    w.count--;
    w.thread_count--;
    CHECK(expect(2, 1) == hash);
    used_by(0, 5, 72); /* one more that receives, and runs */
    expect(0, 0);
}

/* One block is at a barrier, and another computes: a thread that waits for the first is not the one that
 * the barrier misses. */
static void check_barriers_miss_no_threads(void)
{
    const uint32_t barriers[] = {GPURT_WAITABLE_GRID, GPURT_WAITABLE_BLOCK};

    for (uint32_t i = 0; i < 2; i++) {
        reset();
        at_barrier(0, barriers[i]);
        held_by(1, 4, 0);
        thread_waits_for(0, 1, GPURT_WAIT_DONE);
        expect(0, 0);
    }
}

static void check_thread_bytes(void)
{
    gpurt_waits_t back;
    void *bytes;
    size_t size;

    reset();
    thread_waits_for(71, 1, GPURT_WAIT_DONE);
    strcpy(threads[0].name, "clerk");
    CHECK(gpurt_waits_pack(&w, &bytes, &size, NULL) == GPURT_OK);
    CHECK(gpurt_waits_unpack(bytes, size, &back, NULL) == GPURT_OK);
    CHECK(back.thread_count == 1 && gpurt_wait_thread(&back, &back.waits[0]));
    CHECK(memcmp(back.threads, threads, sizeof threads[0]) == 0);
    gpurt_waits_fini(&back);
    for (size_t cut = 0; cut < size; cut++)
        CHECK(gpurt_waits_unpack(bytes, cut, &back, NULL) == GPURT_E_INVALID);
    ((gpurt_wait_t *)(void *)((char *)bytes + 40))->ring++; /* a thread that is none */
    CHECK(gpurt_waits_unpack(bytes, size, &back, NULL) == GPURT_OK);
    CHECK(!gpurt_wait_thread(&back, &back.waits[0]));
    gpurt_waits_fini(&back);
    free(bytes);
}

static void check_bytes(void)
{
    gpurt_waits_t back;
    void *bytes;
    size_t size;

    reset();
    strcpy(sites[0].file, "forks.c");
    held_by(0, 0, 0);
    objects[0].owners[0].site = 0;
    waits_for(0, 0, GPURT_WAIT_OWNER);
    w.time_ns = 12;
    w.left_out = 3;
    CHECK(gpurt_waits_pack(&w, &bytes, &size, NULL) == GPURT_OK);
    CHECK(memcmp(bytes, "GPRWITS1", 8) == 0); /* older programs read it */
    CHECK(gpurt_waits_unpack(bytes, size, &back, NULL) == GPURT_OK);
    CHECK(back.count == 1 && back.object_count == ROOM && back.site_count == 1);
    CHECK(back.time_ns == 12 && back.left_out == 3);
    CHECK(memcmp(back.waits, waits, sizeof waits[0]) == 0);
    CHECK(memcmp(back.objects, objects, ROOM * sizeof objects[0]) == 0);
    CHECK(memcmp(back.sites, sites, sizeof sites[0]) == 0);
    gpurt_waits_fini(&back);

    for (size_t cut = 0; cut < size; cut += 7)
        CHECK(gpurt_waits_unpack(bytes, cut, &back, NULL) == GPURT_E_INVALID);
    CHECK(size > 0);
    srand(1);
    for (uint32_t i = 0; i < 5000; i++) { /* whatever it says, nobody reads outside */
        char *damaged = malloc(size);
        gpurt_waitgraph_t g;

        memcpy(damaged, bytes, size);
        for (int k = 0; k < 8; k++)
            damaged[(size_t)rand() % size] = (char)rand();
        if (gpurt_waits_unpack(damaged, size, &back, NULL) == GPURT_OK) {
            CHECK(gpurt_waitgraph_make(&back, &g, NULL) == GPURT_OK);
            gpurt_waitgraph_fini(&g);
            gpurt_waits_fini(&back);
        }
        free(damaged);
    }
    free(bytes);
}

int main(void)
{
    check_locks();
    check_any_of_several();
    check_barriers();
    check_threads();
    check_barriers_miss_no_threads();
    check_bytes();
    check_thread_bytes();
    return 0;
}
