/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks in a box: what follows from their page, from owners and from lanes, which are of different times. */
#include "hosttime.h"
#include "threadbox.h"

#include <stdlib.h>

enum {
    OUTER = 3, /* rows */
    INNER = 5,
    GENERATION = 0x70001,
    LOCK = 1 /* number of an object */
};

static gpurt_boxmap_t map;
static gpurt_taskpage_t *page;
static uint64_t now;

static void begin(void)
{
    box_make(&map, 0);
    page = gpurt_boxmap_tasks(&map, HOST);
    now = gpurt_real_ns();
    gpurt_taskpage_looked(page, 1, now);
    object_put(&map, LOCK, &orders, GPURT_HOLD_ALONE);
}

static void end(void)
{
    gpurt_boxmap_detach(&map);
}

static gpurt_taskwait_t task_of(uint32_t row, uint32_t why, uint32_t for_row)
{
    uint64_t since = now - AGE_NS;

    return (gpurt_taskwait_t){.since = {(uint32_t)since, (uint32_t)(since >> 32)},
                              .executor = 1,
                              .row = row,
                              .generation = GENERATION,
                              .section = DEVICE,
                              .why = (uint8_t)why,
                              .reason = GPURT_WAIT_ALL,
                              .for_row = {for_row},
                              .name = "a task"};
}

static void outer_awaits(void)
{
    gpurt_taskwait_t w = task_of(OUTER, GPURT_TASKWAIT_CHILDREN, INNER + 1);

    CHECK(gpurt_taskpage_begin(page, &w));
}

static void inner_asks(uint32_t reason)
{
    gpurt_taskwait_t w = task_of(INNER, GPURT_TASKWAIT_OBJECT, 0);

    w.reason = (uint8_t)reason;
    w.number = LOCK;
    CHECK(gpurt_taskpage_begin(page, &w));
}

static void outer_holds(uint32_t role, uint32_t executor, uint32_t generation,
                        uint64_t since_ns)
{
    const gpurt_state_task_t t = {executor, OUTER, generation, 0,
                                  since_ns & GPURT_TIME_MASK};
    uint32_t count;
    gpurt_state_head_t *head = gpurt_boxmap_state(&map, DEVICE, &count);
    gpurt_waitable_entry_t *e = gpurt_state_entries(head, 1) + LOCK - 1;

    for (uint32_t i = 0; i < GPURT_STATE_OWNERS; i++)
        gpurt_group_store(&e->xowners[i], (gpurt_group_t){0});
    gpurt_group_store(&e->xowners[gpurt_state_owner_at(role, OUTER)],
                      gpurt_state_task_pack(&t));
}

static void expect(uint32_t count, uint32_t stuck)
{
    gpurt_waits_t waits = {0};
    gpurt_waitgraph_t g;

    CHECK(gpurt_waits_look(&map, now, 0, &waits, NULL) == GPURT_OK);
    CHECK(gpurt_waitgraph_make(&waits, &g, NULL) == GPURT_OK);
    CHECK_EQ(waits.count, count);
    CHECK_EQ(g.stuck_count, stuck);
    CHECK_EQ(g.circles, stuck != 0);
    gpurt_waitgraph_fini(&g);
    gpurt_waits_fini(&waits);
}

static void a_child_wants_the_lock_of_its_parent(void)
{
    begin();
    outer_awaits();
    inner_asks(GPURT_WAIT_OWNER);
    outer_holds(GPURT_HOLD_ALONE, 1, GENERATION, now - AGE_NS);
    expect(2, 2);
    outer_holds(GPURT_HOLD_ALONE, 1, GENERATION + 1, now - AGE_NS); /* one before it */
    expect(2, 0);
    outer_holds(GPURT_HOLD_ALONE, 2, GENERATION, now - AGE_NS); /* of another executor */
    expect(2, 0);
    outer_holds(GPURT_HOLD_SENDER, 1, GENERATION, now - AGE_NS);
    expect(2, 2);
    end();
}

/* The page is as old as the look. The owner may have waited then, and taken the lock behind it. */
static void what_came_behind_the_look_stands_apart(void)
{
    begin();
    outer_awaits();
    inner_asks(GPURT_WAIT_OWNER);
    outer_holds(GPURT_HOLD_ALONE, 1, GENERATION, now - AGE_NS);
    gpurt_taskpage_looked(page, 1, now - AGE_NS);
    expect(2, 0);
    gpurt_taskpage_looked(page, 1, now - AGE_NS / 2);
    expect(2, 2);
    end();
}

/* The child's body waits in a lane. */
static void a_body_waits_in_its_lanes(void)
{
    gpurt_taskwait_t w;

    begin();
    w = task_of(INNER, GPURT_TASKWAIT_RUNS, 0);
    CHECK(gpurt_taskpage_begin(page, &w));
    outer_awaits();
    outer_holds(GPURT_HOLD_SENDER, 1, GENERATION, now - 2 * AGE_NS);
    expect(2, 0);
    lane_waits(&map, LOCK, GPURT_WAIT_DATA, now);
    expect(3, 3);
    lane_waits(&map, LOCK, GPURT_WAIT_DATA, now + AGE_NS + 1); /* since then */
    expect(3, 0);
    end();

    begin();
    w = task_of(INNER, GPURT_TASKWAIT_RUNS, 0);
    w.block = 1; /* another one's lanes */
    CHECK(gpurt_taskpage_begin(page, &w));
    outer_awaits();
    outer_holds(GPURT_HOLD_SENDER, 1, GENERATION, now - 2 * AGE_NS);
    lane_waits(&map, LOCK, GPURT_WAIT_DATA, now);
    expect(3, 0);
    end();
}

/* It awaits an order that the task acknowledges, and is who fills the channel that the child waits at. */
static void a_thread_and_tasks_stand(void)
{
    gpurt_threaduser_t user = {gpurt_waitable_key(&orders), self_number(), DEVICE,
                               GPURT_HOLD_SENDER, 0};
    gpurt_threadpage_t *threads;

    begin();
    threads = gpurt_boxmap_threads(&map, HOST);
    user.since_ns = now - AGE_NS;
    outer_awaits();
    inner_asks(GPURT_WAIT_DATA);
    outer_holds(GPURT_HOLD_RECEIVER, 1, GENERATION, now - 2 * AGE_NS);
    (void)thread_waits(threads, &orders, GPURT_WAIT_DONE, false, now);
    expect(3, 0);
    gpurt_threadpage_use(threads, 0, &user);
    expect(3, 3);
    end();
}

static void what_found_no_room_is_counted(void)
{
    gpurt_waits_t waits = {0};

    begin();
    for (uint32_t i = 0; i < GPURT_TASKPAGE_WAITS; i++)
        outer_awaits();
    gpurt_taskpage_left(page, 9);
    gpurt_taskpage_left(page, 0u - 2);
    CHECK(gpurt_waits_look(&map, now, 0, &waits, NULL) == GPURT_OK);
    CHECK_EQ(waits.task_count, GPURT_TASKPAGE_WAITS);
    CHECK_EQ(waits.left_out, 7);
    CHECK(gpurt_waits_look(&map, now, 2 * AGE_NS, &waits, NULL) == GPURT_OK);
    CHECK_EQ(waits.count, 0);
    CHECK_EQ(waits.young, GPURT_TASKPAGE_WAITS);
    gpurt_waits_fini(&waits);
    end();
}

static void an_older_box_tells_of_none(void)
{
    box_make(&map, sizeof(gpurt_threadpage_t));
    CHECK(gpurt_boxmap_threads(&map, HOST));
    CHECK(!gpurt_boxmap_tasks(&map, HOST));
    CHECK(!gpurt_boxmap_tasks(&map, DEVICE));
    expect(0, 0);
    end();
}

static void they_are_kept_as_bytes(void)
{
    gpurt_waits_t waits = {0}, back;
    gpurt_wait_t *first;
    void *bytes;
    size_t size;

    begin();
    outer_awaits();
    CHECK(gpurt_waits_look(&map, now, 0, &waits, NULL) == GPURT_OK);
    CHECK(gpurt_waits_pack(&waits, &bytes, &size, NULL) == GPURT_OK);
    CHECK(gpurt_waits_unpack(bytes, size, &back, NULL) == GPURT_OK);
    CHECK(back.task_count == 1 && gpurt_wait_task(&back, &back.waits[0]));
    CHECK(memcmp(back.tasks, waits.tasks, sizeof back.tasks[0]) == 0);
    gpurt_waits_fini(&back);
    for (size_t cut = 0; cut < size; cut++)
        CHECK(gpurt_waits_unpack(bytes, cut, &back, NULL) == GPURT_E_INVALID);
    first = (gpurt_wait_t *)(void *)((char *)bytes + 40); /* behind both heads */
    first->ring++;                                        /* a task that is none */
    CHECK(gpurt_waits_unpack(bytes, size, &back, NULL) == GPURT_OK);
    CHECK(!gpurt_wait_task(&back, &back.waits[0]) &&
          !gpurt_wait_thread(&back, &back.waits[0]));
    gpurt_waits_fini(&back);
    free(bytes);
    gpurt_waits_fini(&waits);
    end();
}

int main(void)
{
    a_child_wants_the_lock_of_its_parent();
    what_came_behind_the_look_stands_apart();
    a_body_waits_in_its_lanes();
    a_thread_and_tasks_stand();
    what_found_no_room_is_counted();
    an_older_box_tells_of_none();
    they_are_kept_as_bytes();
    return 0;
}
