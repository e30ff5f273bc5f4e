/* SPDX-License-Identifier: Apache-2.0 */
/* What a watch tells of threads of the host and of tasks: nothing while they wait alone, and lanes before them. What is said
 * of each reason, and of a page that somebody damaged. */
#include "hang_text.h"
#include "hang_watch.h"
#include "hosttime.h"
#include "threadbox.h"

#include <stdlib.h>

static gpurt_boxmap_t map;
static gpurt_threadpage_t *threads;

static void begin(void)
{
    box_make(&map, 0);
    threads = gpurt_boxmap_threads(&map, HOST);
}

static hang_found_t silence(uint32_t number, hang_watch_t *w, gpurt_waitgraph_t *g)
{
    w->silence.looked_ns = 0; /* it is time to look */
    return hang_watch_silence(w, &map, number, g);
}

static void a_thread_alone_is_no_hang(void)
{
    uint64_t now = gpurt_real_ns();
    gpurt_waitgraph_t g;
    hang_watch_t w = {0};

    begin();
    (void)thread_waits(threads, &orders, GPURT_WAIT_DATA, false, now);
    CHECK_EQ(silence(1, &w, &g), HANG_NOTHING);
    CHECK_EQ(w.waits.count, 1);
    (void)thread_waits(threads, &answers, GPURT_WAIT_DATA, false, now + AGE_NS); /* young */
    CHECK_EQ(silence(2, &w, &g), HANG_NOTHING);
    lane_waits(&map, 0, GPURT_WAIT_DATA, now);
    CHECK_EQ(silence(3, &w, &g), HANG_FOUND);
    CHECK_EQ(g.waits->count, 2);
    gpurt_waitgraph_fini(&g);
    hang_watch_fini(&w);
    gpurt_boxmap_detach(&map);
}

static char said[1 << 20];

static void json_take(const gpurt_waitgraph_t *g)
{
    gpurt_json_t j;

    gpurt_json_memory(&j, said, sizeof said);
    hang_json(&j, NULL, g);
}

static void task_put(uint32_t why, uint64_t now)
{
    uint64_t since = now - AGE_NS;
    gpurt_taskwait_t w = {.since = {(uint32_t)since, (uint32_t)(since >> 32)},
                          .section = DEVICE,
                          .why = (uint8_t)why,
                          .name = "a task"};

    CHECK(gpurt_taskpage_begin(gpurt_boxmap_tasks(&map, HOST), &w));
}

static void a_task_that_runs_is_no_hang(void)
{
    uint64_t now = gpurt_real_ns();
    gpurt_waitgraph_t g;
    hang_watch_t w = {0};

    begin();
    task_put(GPURT_TASKWAIT_RUNS, now);
    CHECK_EQ(silence(1, &w, &g), HANG_NOTHING);
    CHECK_EQ(w.waits.count, 1);
    task_put(GPURT_TASKWAIT_CHILDREN, now);
    CHECK_EQ(silence(2, &w, &g), HANG_FOUND);
    json_take(&g);
    CHECK_MSG(strstr(said, "\"why\":\"awaits_children\""), "%s", said);
    gpurt_waitgraph_fini(&g);
    hang_watch_fini(&w);
    gpurt_boxmap_detach(&map);
}

/* The thread's wait is older. */
static void a_row_names_lanes(void)
{
    uint64_t now = gpurt_real_ns();
    gpurt_dictionary_t d = {0};
    gpurt_waitgraph_t g;
    hang_watch_t w = {0};
    gpurt_row_t *row;

    begin();
    (void)thread_waits(threads, &orders, GPURT_WAIT_DATA, false, now - AGE_NS);
    lane_waits(&map, 0, GPURT_WAIT_DATA, now);
    CHECK_EQ(silence(1, &w, &g), HANG_FOUND);
    CHECK(!gpurt_wait_thread(g.waits, &g.waits->waits[hang_first(&g)]));
    row = hang_row_make(&d, &g, 0);
    CHECK(row);
    CHECK_EQ(row->block, 0); /* the lane's; a thread has its number there */
    free(row);
    gpurt_waitgraph_fini(&g);
    hang_watch_fini(&w);
    gpurt_dictionary_fini(&d);
    gpurt_boxmap_detach(&map);
}

static void each_reason_has_a_word(void)
{
    const char *const words[] = {"owner", "all", "data", "room", "word", "done", "credit"};
    uint64_t now = gpurt_real_ns();

    for (uint32_t reason = GPURT_WAIT_OWNER; reason <= GPURT_WAIT_CREDIT; reason++) {
        hang_watch_t w = {0};
        gpurt_waitgraph_t g;
        char wanted[32];

        begin();
        lane_waits(&map, 0, reason, now);
        CHECK_EQ(silence(1, &w, &g), HANG_FOUND);
        json_take(&g);
        snprintf(wanted, sizeof wanted, "\"reason\":\"%s\"", words[reason - 1]);
        CHECK_MSG(strstr(said, wanted), "%s: %s", wanted, said);
        gpurt_waitgraph_fini(&g);
        hang_watch_fini(&w);
        gpurt_boxmap_detach(&map);
    }
}

/* ---- a page that somebody damaged ------------------------------------------------------- */
static void fill(void *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)to)[i] = (uint8_t)(rand() >> 7);
}

/* Of the device, and of a thread that lives: what else is said of it is not looked at. */
static void garbage_wait(void)
{
    gpurt_threadwait_t w;

    fill(&w, sizeof w);
    w.section = DEVICE;
    w.thread = self_number();
    if (rand() % 2)
        w.key = gpurt_waitable_key(rand() % 2 ? &orders : &answers);
    if (rand() % 2)
        w.kind = GPURT_WAITABLE_CHANNEL;
    (void)gpurt_threadpage_begin(threads, &w);
}

static void garbage_user(void)
{
    gpurt_threaduser_t user = {gpurt_waitable_key(rand() % 2 ? &orders : &answers),
                               self_number(), DEVICE, (uint32_t)rand() & 0xffffffu,
                               (uint64_t)rand() << 16};

    if (rand() % 2)
        user.role = (uint32_t)rand() % (GPURT_HOLD_RECEIVER + 2);
    gpurt_threadpage_use(threads, (uint32_t)rand() % GPURT_THREADPAGE_USERS, &user);
}

/* Rows are few, so that some wait for others. */
static void garbage_task(gpurt_taskpage_t *tasks)
{
    gpurt_taskwait_t w;

    fill(&w, sizeof w);
    w.section = DEVICE;
    w.executor = 1;
    w.row %= 8;
    w.why %= GPURT_TASKWAIT_WHYS + 1;
    for (uint32_t i = 0; i < GPURT_TASKWAIT_FOR; i++)
        w.for_row[i] = rand() % 2 ? w.for_row[i] % 9 : w.for_row[i];
    (void)gpurt_taskpage_begin(tasks, &w);
}

/* Texts of the page are no commands to a terminal. */
static void check_plain(const char *text)
{
    for (; *text; text++)
        CHECK_MSG((unsigned char)*text >= ' ' || *text == '\n', "%u", (unsigned char)*text);
}

static void garbage_tell(const gpurt_waits_t *waits)
{
    panic_style_t style = {.out = tmpfile()};
    gpurt_waitgraph_t g;
    size_t bytes;

    CHECK(style.out && gpurt_waitgraph_make(waits, &g, NULL) == GPURT_OK);
    json_take(&g);
    check_plain(said);
    hang_print(&g, &style);
    rewind(style.out);
    bytes = fread(said, 1, sizeof said - 1, style.out);
    CHECK(bytes > 0);
    said[bytes] = '\0';
    check_plain(said);
    fclose(style.out);
    gpurt_waitgraph_fini(&g);
}

static void a_damaged_page_is_told_of_in_bounds(void)
{
    gpurt_waits_t waits = {0};
    uint32_t most = 0, tasks_most = 0;
    gpurt_taskpage_t *tasks;

    srand(1);
    for (uint32_t round = 0; round < 300; round++) {
        begin();
        tasks = gpurt_boxmap_tasks(&map, HOST);
        object_put(&map, 1, &orders, GPURT_HOLD_RECEIVER);
        lane_waits(&map, 1, GPURT_WAIT_DATA, gpurt_real_ns());
        if (round % 2) {
            fill(threads, sizeof *threads);
            fill(tasks, sizeof *tasks);
        }
        for (uint32_t i = 0; i < 20; i++) {
            garbage_task(tasks);
            garbage_wait();
            garbage_user();
        }
        CHECK(gpurt_waits_look(&map, gpurt_real_ns(), 0, &waits, NULL) == GPURT_OK);
        CHECK(waits.count >= 1 && waits.thread_count < waits.count);
        for (uint32_t i = 0; i < waits.count; i++)
            CHECK(waits.waits[i].object == GPURT_WAIT_NOBODY ||
                  waits.waits[i].object < waits.object_count);
        garbage_tell(&waits);
        most = waits.thread_count > most ? waits.thread_count : most;
        tasks_most = waits.task_count > tasks_most ? waits.task_count : tasks_most;
        gpurt_boxmap_detach(&map);
    }
    CHECK(most >= 20 && tasks_most >= 10);
    gpurt_waits_fini(&waits);
}

int main(void)
{
    a_thread_alone_is_no_hang();
    a_task_that_runs_is_no_hang();
    a_row_names_lanes();
    each_reason_has_a_word();
    a_damaged_page_is_told_of_in_bounds();
    return 0;
}
