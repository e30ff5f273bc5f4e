/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the host that wait, in a box: told whole or not at all, by many at once; no more than there
 * is room for; in a snapshot with the lanes that they wait for. */
#include "check.h"
#include "hosttime.h"
#include "procfs.h"
#include "threadbox.h"
#include "threadwait.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 4,
    ROUNDS = 1 << 20, /* numbers of a thread's waits */
    LOOKS = 100000,
    SEEN = 1000,
    OLD = 1 /* of a box whose host has a page */
};

static gpurt_threadpage_t page;
static uint32_t xstop; /* written by: main */

/* ---- the page --------------------------------------------------------------------------- */

/* All of it follows from one number. */
static gpurt_threadwait_t wait_of(uint32_t number)
{
    gpurt_threadwait_t w = {.since = {number, ~number},
                            .thread = number,
                            .key = number * 3,
                            .section = (uint8_t)number,
                            .kind = (uint8_t)(number >> 8),
                            .reason = (uint8_t)(number >> 16),
                            .limited = (uint8_t)(number >> 24)};

    snprintf(w.name, sizeof w.name, "%u", number);
    snprintf(w.object, sizeof w.object, "channel %u of many more", number);
    return w;
}

static bool is_whole(const gpurt_threadwait_t *w)
{
    gpurt_threadwait_t want = wait_of(w->thread);

    return memcmp(w, &want, sizeof want) == 0;
}

static void a_wait_is_told_and_over(void)
{
    gpurt_threadwait_t w = wait_of(7), back;
    uint32_t entry = gpurt_threadpage_begin(&page, &w);

    CHECK_EQ(entry, 1);
    CHECK(gpurt_threadpage_wait(&page, 0, &back) && is_whole(&back));
    CHECK(!gpurt_threadpage_wait(&page, 1, &back));
    gpurt_threadpage_end(&page, entry);
    CHECK(!gpurt_threadpage_wait(&page, 0, &back));
    gpurt_threadpage_end(&page, 0); /* one that was not told */
}

/* Its writer, or another one in its place, is in the middle of it. */
static void half_a_wait_is_not_told(void)
{
    gpurt_threadwait_t w = wait_of(8), back;
    uint32_t entry = gpurt_threadpage_begin(&page, &w);

    CHECK_EQ(entry, 1);
    for (uint32_t i = 0; i < GPURT_WAITENTRY_GROUPS; i++) {
        gpurt_group_t group = gpurt_group_load(&page.waits[0].xgroups[i]), older = group;

        older.tag -= 2;
        gpurt_group_store(&page.waits[0].xgroups[i], older);
        CHECK(!gpurt_threadpage_wait(&page, 0, &back));
        gpurt_group_store(&page.waits[0].xgroups[i], group);
    }
    CHECK(gpurt_threadpage_wait(&page, 0, &back) && is_whole(&back));
    gpurt_threadpage_end(&page, entry);
}

static void what_is_full_takes_no_more(void)
{
    gpurt_threadwait_t w = wait_of(9);

    for (uint32_t i = 0; i < GPURT_THREADPAGE_WAITS; i++)
        CHECK_EQ(gpurt_threadpage_begin(&page, &w), i + 1);
    CHECK_EQ(gpurt_threadpage_begin(&page, &w), 0);
    gpurt_threadpage_end(&page, 5);
    CHECK_EQ(gpurt_threadpage_begin(&page, &w), 5);
    for (uint32_t i = 0; i < GPURT_THREADPAGE_WAITS; i++)
        gpurt_threadpage_end(&page, i + 1);
}

static void users_come_and_go(void)
{
    const gpurt_threaduser_t nobody = {0};
    gpurt_threaduser_t user = {11, 12, 3, GPURT_HOLD_SENDER, (uint64_t)77 << 16}, back;

    CHECK(!gpurt_threadpage_user(&page, 1023, &back));
    gpurt_threadpage_use(&page, 1023, &user);
    CHECK(gpurt_threadpage_user(&page, 1023, &back));
    CHECK(memcmp(&back, &user, sizeof user) == 0);
    gpurt_threadpage_use(&page, 1023, &nobody);
    CHECK(!gpurt_threadpage_user(&page, 1023, &back));
}

/* relaxed: a flag alone */
static void *wait_often(void *context)
{
    uint32_t number = *(uint32_t *)context << 20;

    for (uint32_t i = 0; !gpurt_load_relaxed_sys_u32(&xstop); i++) {
        gpurt_threadwait_t w = wait_of(number + i % ROUNDS);
        uint32_t entry = gpurt_threadpage_begin(&page, &w);

        if (i % 64 == 0)
            sched_yield();
        gpurt_threadpage_end(&page, entry);
    }
    return NULL;
}

/* So many looks, and until enough different waits were seen, however few last while somebody looks. */
static void look_often(void)
{
    uint32_t seen = 0, last[THREADS] = {0};
    gpurt_threadwait_t w;

    for (uint32_t looks = 0; looks < LOOKS || seen < SEEN; looks++) {
        for (uint32_t i = 0; i < THREADS; i++)
            if (gpurt_threadpage_wait(&page, i, &w)) {
                CHECK(is_whole(&w));
                seen += w.thread != last[i];
                last[i] = w.thread;
            }
        if (looks % 64 == 0)
            sched_yield(); /* where there is one core */
    }
}

static void waits_are_whole(void)
{
    uint32_t numbers[THREADS];
    pthread_t threads[THREADS];
    gpurt_threadwait_t w;

    for (uint32_t i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        CHECK(pthread_create(&threads[i], NULL, wait_often, &numbers[i]) == 0);
    }
    look_often();
    gpurt_store_relaxed_sys_u32(&xstop, 1); /* relaxed: as above */
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (uint32_t i = 0; i < GPURT_THREADPAGE_WAITS; i++)
        CHECK(!gpurt_threadpage_wait(&page, i, &w));
}

/* ---- a box ------------------------------------------------------------------------------ */

static void expect(const gpurt_boxmap_t *map, uint64_t now_ns, uint32_t count,
                   uint32_t stuck, uint32_t circles)
{
    gpurt_waits_t waits = {0};
    gpurt_waitgraph_t g;

    CHECK(gpurt_waits_look(map, now_ns, AGE_NS / 2, &waits, NULL) == GPURT_OK);
    CHECK(gpurt_waitgraph_make(&waits, &g, NULL) == GPURT_OK);
    CHECK_EQ(waits.count, count);
    CHECK_EQ(g.stuck_count, stuck);
    CHECK_EQ(g.circles, circles);
    gpurt_waitgraph_fini(&g);
    gpurt_waits_fini(&waits);
}

/* A thread that lives, and waits for nothing that is told. */
typedef struct worker {
    pthread_barrier_t steps;
    pthread_t thread;
    uint32_t number;
} worker_t;

static void *work(void *context)
{
    worker_t *w = context;

    w->number = self_number();
    pthread_barrier_wait(&w->steps);
    pthread_barrier_wait(&w->steps);
    return NULL;
}

static void worker_begin(worker_t *w)
{
    CHECK(pthread_barrier_init(&w->steps, NULL, 2) == 0);
    CHECK(pthread_create(&w->thread, NULL, work, w) == 0);
    pthread_barrier_wait(&w->steps);
}

/* Behind it the kernel knows the number no more: a join may come back a little earlier. */
static void worker_end(worker_t *w)
{
    pthread_barrier_wait(&w->steps);
    CHECK(pthread_join(w->thread, NULL) == 0);
    pthread_barrier_destroy(&w->steps);
    while (gpurt_thread_alive((uint32_t)getpid(), w->number))
        sched_yield();
}

/* The lane answers and finds no room; this thread receives answers, and waits until the lane's order is
 * acknowledged. */
static gpurt_threadpage_t *lane_and_thread(gpurt_boxmap_t *map, uint64_t now)
{
    gpurt_threadpage_t *threads;

    box_make(map, 0);
    threads = gpurt_boxmap_threads(map, HOST);
    CHECK(threads && !gpurt_boxmap_threads(map, DEVICE));
    object_put(map, 1, &orders, GPURT_HOLD_RECEIVER);
    object_put(map, 2, &answers, GPURT_HOLD_SENDER);
    lane_waits(map, 2, GPURT_WAIT_ROOM, now);
    return threads;
}

static gpurt_threaduser_t receiver(uint32_t number, uint64_t now)
{
    return (gpurt_threaduser_t){gpurt_waitable_key(&answers), number, DEVICE,
                                GPURT_HOLD_RECEIVER, now};
}

static void a_lane_and_a_thread_stand(void)
{
    uint64_t now = gpurt_real_ns();
    gpurt_threaduser_t user = receiver(self_number(), now), other = user;
    gpurt_threadpage_t *threads;
    gpurt_boxmap_t map;
    worker_t worker;
    uint32_t told;

    worker_begin(&worker);
    threads = lane_and_thread(&map, now);
    told = thread_waits(threads, &orders, GPURT_WAIT_DONE, false, now);
    expect(&map, now, 2, 0, 0); /* another thread may receive the answers */
    other.key = 1;
    other.thread = worker.number;
    gpurt_threadpage_use(threads, 0, &user);
    gpurt_threadpage_use(threads, 1, &other);
    expect(&map, now, 2, 2, 1);
    gpurt_threadpage_end(threads, told);
    expect(&map, now, 1, 0, 0);

    told = thread_waits(threads, &orders, GPURT_WAIT_DONE, true, now); /* it gives up */
    expect(&map, now, 2, 0, 0);
    gpurt_threadpage_end(threads, told);
    told = thread_waits(threads, &orders, GPURT_WAIT_ROOM, false, now);
    expect(&map, now, 2, 2, 1);
    user.thread = worker.number; /* who receives is another, and at work */
    gpurt_threadpage_use(threads, 0, &user);
    expect(&map, now, 2, 0, 0);
    gpurt_threadpage_end(threads, told);
    worker_end(&worker);
    gpurt_boxmap_detach(&map);
}

static void no_lane_knows_the_channel(void)
{
    uint64_t now = gpurt_real_ns();
    gpurt_boxmap_t map;

    box_make(&map, 0);
    (void)thread_waits(gpurt_boxmap_threads(&map, HOST), &orders, GPURT_WAIT_DONE, false,
                       now);
    expect(&map, now, 1, 0, 0);
    gpurt_boxmap_detach(&map);
}

/* It has received once: it does so no more, and who waits with it is stuck. */
static void a_user_that_ended_helps_nobody(void)
{
    uint64_t now = gpurt_real_ns();
    gpurt_threaduser_t user = receiver(self_number(), now), other;
    gpurt_threadpage_t *threads;
    gpurt_boxmap_t map;
    worker_t worker;

    worker_begin(&worker);
    threads = lane_and_thread(&map, now);
    other = receiver(worker.number, now);
    (void)thread_waits(threads, &orders, GPURT_WAIT_DONE, false, now);
    gpurt_threadpage_use(threads, 0, &user);
    gpurt_threadpage_use(threads, 1, &other);
    expect(&map, now, 2, 0, 0); /* it lives, and may receive */
    worker_end(&worker);
    expect(&map, now, 2, 2, 1);
    gpurt_boxmap_detach(&map);
}

static void *wait_and_end(void *context)
{
    return (void *)(uintptr_t)thread_waits(context, &orders, GPURT_WAIT_DONE, false,
                                           gpurt_real_ns());
}

static void a_thread_that_ended_waits_no_more(void)
{
    gpurt_threadwait_t w;
    gpurt_boxmap_t map;
    pthread_t thread;
    void *told;

    box_make(&map, 0);
    CHECK(pthread_create(&thread, NULL, wait_and_end, gpurt_boxmap_threads(&map, HOST)) ==
          0);
    CHECK(pthread_join(thread, &told) == 0);
    CHECK_EQ((uintptr_t)told, 1);
    CHECK(gpurt_threadpage_wait(gpurt_boxmap_threads(&map, HOST), 0, &w));
    while (gpurt_thread_alive((uint32_t)getpid(), w.thread))
        sched_yield();
    expect(&map, gpurt_real_ns(), 0, 0, 0);
    gpurt_boxmap_detach(&map);
}

/* Lanes gave a channel that is gone a name; another lies at its address, and only a thread knows it. */
static void a_new_channel_has_its_own_name(void)
{
    const struct {
        const char *old, *wanted;
        uint32_t number;
    } cases[] = {{"errands", "orders", 0}, {"orders", "orders", 1}, {"", "", 1}};
    uint64_t now = gpurt_real_ns();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gpurt_waits_t waits = {0};
        gpurt_boxmap_t map;

        box_make(&map, 0);
        object_put(&map, 1, &orders, GPURT_HOLD_RECEIVER);
        if (cases[i].old[0])
            object_name(&map, 1, cases[i].old);
        (void)thread_waits(gpurt_boxmap_threads(&map, HOST), &orders, GPURT_WAIT_DONE,
                           false, now);
        CHECK(gpurt_waits_look(&map, now, 0, &waits, NULL) == GPURT_OK);
        CHECK_EQ(waits.count, 1);
        CHECK_EQ(waits.waits[0].number, cases[i].number);
        CHECK(strcmp(waits.objects[waits.waits[0].object].name, cases[i].wanted) == 0);
        gpurt_waits_fini(&waits);
        gpurt_boxmap_detach(&map);
    }
}

static uint32_t key_at(uint64_t address)
{
    return gpurt_waitable_key((const gpurt_waitable_t *)(uintptr_t)address);
}

static void each_bit_of_an_address_counts(void)
{
    const uint64_t at = 0x7f1234567890;

    for (uint32_t bit = 2; bit < 57; bit++)
        CHECK_MSG(key_at(at ^ 1ull << bit) != key_at(at), "bit %u", bit);
}

/* It is told some time after it began. */
static void a_wait_is_as_old_as_it_is(void)
{
    const gpurt_threadwait_at_t at = {&orders, GPURT_WAITABLE_CHANNEL, "orders"};
    const gpurt_opened_t opened = {.index = 0};
    uint64_t before = gpurt_real_ns(), since;
    gpurt_threadwait_t w;
    gpurt_boxmap_t map;
    uint32_t told;

    box_make(&map, 0);
    gpurt_threadwait_connect(&opened, &map, DEVICE, HOST);
    told = gpurt_threadwait_begin(&opened, &at, GPURT_WAIT_DATA, false,
                                  gpurt_steady_ns() - AGE_NS);
    CHECK_EQ(told, 1);
    CHECK(gpurt_threadpage_wait(gpurt_boxmap_threads(&map, HOST), 0, &w));
    CHECK_EQ(w.thread, self_number());
    since = w.since[0] | (uint64_t)w.since[1] << 32;
    CHECK(since < gpurt_real_ns() - AGE_NS / 2 && since > before - AGE_NS - AGE_NS / 2);
    gpurt_threadwait_end(&opened, told);
    CHECK(!gpurt_threadpage_wait(gpurt_boxmap_threads(&map, HOST), 0, &w));
    gpurt_threadwait_disconnect(&opened);
    gpurt_boxmap_detach(&map);
}

static void an_older_box_tells_of_none(void)
{
    gpurt_boxmap_t map;

    box_make(&map, GPURT_BOX_PAGE);
    CHECK(!gpurt_boxmap_threads(&map, OLD));
    expect(&map, gpurt_real_ns(), 0, 0, 0);
    gpurt_boxmap_detach(&map);
}

int main(void)
{
    a_wait_is_told_and_over();
    half_a_wait_is_not_told();
    what_is_full_takes_no_more();
    users_come_and_go();
    waits_are_whole();
    a_lane_and_a_thread_stand();
    no_lane_knows_the_channel();
    a_user_that_ended_helps_nobody();
    a_thread_that_ended_waits_no_more();
    a_new_channel_has_its_own_name();
    each_bit_of_an_address_counts();
    a_wait_is_as_old_as_it_is();
    an_older_box_tells_of_none();
    return 0;
}
