/* SPDX-License-Identifier: Apache-2.0 */
/* The host section's ring: several threads, more than it holds, all arrive once and in
 * order; what a killed writer had written arrives; every kind reads as its words; a string
 * that comes late is waited for; a full ring counts nothing by itself. */
#include "check.h"
#include "drain.h"
#include "hostring.h"
#include "hosttime.h"
#include "render.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 6,
    EACH = 30000,
    SMALL = 4096,
    EARLIER_NS = 700
};

/* Owner: the test. */
typedef struct seen {
    uint32_t next[THREADS]; /* per device number, by correlation */
    uint64_t rows, lost, waits;
    char text[GPURT_ACTIVITY_SITES][GPURT_MESSAGE_MAX];
    uint32_t texts;
} seen_t;

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_hostring_t ring;
static gpurt_dictionary_t dictionary;
static uint64_t kind_time;

static gpurt_status_t sink_put(void *context, const gpurt_row_t *row, gpurt_error_t *e)
{
    seen_t *s = context;

    (void)e;
    s->rows++;
    s->lost += gpurt_row_lost(row);
    if (row->kind == GPURT_KIND_FILL) {
        gpurt_activity_fill_t fill;

        CHECK_EQ(row->words, sizeof fill / 4);
        memcpy(&fill, gpurt_row_words(row), sizeof fill);
        CHECK(row->block < THREADS);
        CHECK_EQ(fill.correlation, s->next[row->block]);
        CHECK_EQ(gpurt_pair_value(fill.bytes), (uint64_t)fill.correlation << 8);
        s->next[row->block]++;
    }
    if (row->kind == GPURT_KIND_KERNEL)
        CHECK_EQ(row->time_ns, kind_time);
    if (row->kind == GPURT_KIND_COPY)
        CHECK_EQ(row->time_ns, kind_time - EARLIER_NS);
    if (row->kind != GPURT_KIND_FILL && s->texts < GPURT_ACTIVITY_SITES &&
        row->kind != GPURT_KIND_LOSS) {
        gpurt_text_t text;

        gpurt_text_init(&text, s->text[s->texts++], GPURT_MESSAGE_MAX);
        gpurt_render_message(&dictionary, row, 0, &text);
        CHECK_EQ(row->form, GPURT_FORM_THREAD);
    }
    return GPURT_OK;
}

static void box_open(uint32_t ring_bytes)
{
    gpurt_section_plan_t s;
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};

    gpurt_hostring_plan(&s);
    s.ring_bytes = ring_bytes;
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    gpurt_hostring_clock(&map, 0);
    CHECK_EQ(gpurt_hostring_find(&map), 0);
    CHECK_MSG(gpurt_hostring_init(&ring, &map, 0, &err) == GPURT_OK, "%s", err.text);
}

static gpurt_drain_t *drain_open(seen_t *seen)
{
    gpurt_drain_options_t o = {.struct_size = sizeof o,
                               .sink_count = 1,
                               .sinks = {{.context = seen, .put = sink_put}},
                               .dictionary = &dictionary};
    gpurt_drain_t *d;

    memset(seen, 0, sizeof *seen);
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    return d;
}

static void fill_put(uint32_t device, uint32_t number)
{
    gpurt_activity_fill_t fill = {.bytes = gpurt_pair((uint64_t)number << 8),
                                  .correlation = number};

    while (!gpurt_hostring_put(&ring, GPURT_KIND_FILL, device, gpurt_real_ns(), &fill))
        usleep(50);
}

static void *writer(void *context)
{
    for (uint32_t i = 0; i < EACH; i++)
        fill_put((uint32_t)(uintptr_t)context, i);
    return NULL;
}

static void check_threads(void)
{
    static seen_t seen;
    pthread_t threads[THREADS];
    gpurt_drain_t *d;
    uint32_t rows;

    box_open(SMALL);
    d = drain_open(&seen);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, writer, (void *)i), 0);
    while (seen.rows < (uint64_t)THREADS * EACH) {
        CHECK_EQ(gpurt_drain_round(d, &rows, &err), GPURT_OK);
        gpurt_drain_rest(d);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_EQ(seen.next[i], EACH);
    }
    CHECK_EQ(gpurt_drain_finish(d, &err), GPURT_OK);
    CHECK_EQ(seen.rows, (uint64_t)THREADS * EACH);
    CHECK_EQ(seen.lost, 0);
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
    gpurt_dictionary_fini(&dictionary);
    memset(&dictionary, 0, sizeof dictionary);
}

/* It is killed behind record 100: all of them are there, and nothing else. */
static void check_killed(void)
{
    static seen_t seen;
    gpurt_drain_t *d;
    int status;
    pid_t pid;

    box_open(65536);
    pid = fork();
    if (pid == 0) {
        for (uint32_t i = 0; i < 100; i++)
            fill_put(0, i);
        kill(getpid(), SIGKILL);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status));
    d = drain_open(&seen);
    CHECK_EQ(gpurt_drain_finish(d, &err), GPURT_OK);
    CHECK_EQ(seen.next[0], 100);
    CHECK_EQ(seen.rows, 100);
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
    gpurt_dictionary_fini(&dictionary);
    memset(&dictionary, 0, sizeof dictionary);
}

static void kinds_put(void)
{
    uint32_t name = gpurt_hostring_string(&ring, "saxpy(float*)", 13);
    gpurt_activity_kernel_t kernel = {
        name, gpurt_pair(1234567890123), {1, 2, 3}, {4, 5, 6}, 32, 1024, 7, 42, 2};
    gpurt_activity_node_t node = {kernel, 3, gpurt_pair(1ull << 33)};
    gpurt_activity_copy_t copy = {
        name, gpurt_pair(1ull << 40), gpurt_pair(77), 1, 2, 3, 4, 5, 6};
    gpurt_activity_collector_t collector = {
        name, gpurt_pair(5), gpurt_pair(6), gpurt_pair(1ull << 33), 8, 9, 10};
    gpurt_activity_environment_t e = {50, 60, gpurt_pair(1), gpurt_pair(2), 3, 4, 5, 6, 7};

    CHECK(name > 0);
    kind_time = gpurt_real_ns();
    CHECK(gpurt_hostring_put(&ring, GPURT_KIND_KERNEL, 1, kind_time, &kernel));
    /* It began earlier, and is told later. */
    CHECK(gpurt_hostring_put(&ring, GPURT_KIND_COPY, 1, kind_time - EARLIER_NS, &copy));
    CHECK(gpurt_hostring_put(&ring, GPURT_KIND_COLLECTOR, 0, gpurt_real_ns(), &collector));
    CHECK(gpurt_hostring_put(&ring, GPURT_KIND_ENVIRONMENT, 0, gpurt_real_ns(), &e));
    CHECK(gpurt_hostring_put(&ring, GPURT_KIND_NODE, 1, gpurt_real_ns(), &node));
    CHECK(gpurt_hostring_put(&ring, GPURT_KIND_TEXT, 0, gpurt_real_ns(),
                             "taken by another profiler"));
    CHECK(!gpurt_hostring_put(&ring, 200, 0, gpurt_real_ns(), &e)); /* no such kind */
}

static void check_kinds(void)
{
    static seen_t seen;
    gpurt_drain_t *d;

    box_open(65536);
    kinds_put();
    d = drain_open(&seen);
    CHECK_EQ(gpurt_drain_finish(d, &err), GPURT_OK);
    CHECK_EQ(seen.texts, 6);
    CHECK_STR(seen.text[0],
              "kernel saxpy(float*): 1234567890123 ns, grid 1,2,3 block 4,5,6, "
              "32 registers, 1024 B shared, stream 7, call 42");
    CHECK_STR(seen.text[1],
              "copy saxpy(float*): 1099511627776 B in 77 ns, stream 1, call 2");
    CHECK_CONTAINS(
        seen.text[2],
        "records 5, without times 6, dropped 8589934592, no buffer 8, of unknown kinds 9, "
        "samples left out 10");
    CHECK_CONTAINS(seen.text[3], "GPU 50%, memory 60%, 1 of 2 B used, 3 of 4 mW, 5 C");
    CHECK_CONTAINS(seen.text[4], "stream 7, call 42, context 2, graph 3, node 8589934592");
    CHECK_STR(seen.text[5], "taken by another profiler");
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
    gpurt_dictionary_fini(&dictionary);
    memset(&dictionary, 0, sizeof dictionary);
}

/* Nobody drains: the ring takes what it holds and refuses the rest, uncounted; what its
 * writer gives up is counted once. Names that find no room are number 0. */
/* A record that names a string before that is written waits for it, and comes whole. */
static void check_late_string(void)
{
    static seen_t seen;
    gpurt_activity_memory_t memory = {.bytes = gpurt_pair(8), .address = gpurt_pair(16)};
    gpurt_drain_t *d;
    gpurt_def_t *late;
    uint32_t rows;

    box_open(SMALL);
    d = drain_open(&seen);
    memory.name = gpurt_hostring_string(&ring, "take", 4);
    memory.memory = gpurt_hostring_string(&ring, "late", 4);
    late = gpurt_boxmap_def(&map, 0, memory.memory - 1);
    gpurt_store_release_sys_u32(&late->xstate, 0);
    CHECK(gpurt_hostring_put(&ring, GPURT_KIND_MEMORY, 0, gpurt_real_ns(), &memory));
    CHECK_EQ(gpurt_drain_round(d, &rows, &err), GPURT_OK);
    CHECK_EQ(rows, 0);
    gpurt_store_release_sys_u32(&late->xstate, GPURT_DEF_STRING);
    while (seen.rows == 0)
        CHECK_EQ(gpurt_drain_round(d, &rows, &err), GPURT_OK);
    CHECK_MSG(strcmp(seen.text[0], "take 8 B at 0x10, late") == 0, "%s", seen.text[0]);
    CHECK_EQ(gpurt_drain_finish(d, &err), GPURT_OK);
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
    gpurt_dictionary_fini(&dictionary);
    memset(&dictionary, 0, sizeof dictionary);
}

static void check_full(void)
{
    static seen_t seen;
    gpurt_activity_fill_t fill = {.stream = 1};
    char name[GPURT_DEF_TEXT_BYTES] = "long";
    uint32_t took = 0, names = 0;
    gpurt_drain_t *d;

    box_open(SMALL);
    while (gpurt_hostring_put(&ring, GPURT_KIND_FILL, 0, gpurt_real_ns(), &fill)) {
        fill.correlation = ++took;
        fill.bytes = gpurt_pair((uint64_t)took << 8);
    }
    CHECK_EQ(took, SMALL / 16 / gpurt_record_groups(sizeof fill / 4));
    gpurt_hostring_lose(&ring, 5, GPURT_LOSS_BUFFERS, gpurt_real_ns());
    while (gpurt_hostring_string(&ring, name, sizeof name))
        names++;
    CHECK(names > 100);
    CHECK_EQ(gpurt_hostring_string(&ring, name, sizeof name), 0);
    d = drain_open(&seen);
    CHECK_EQ(gpurt_drain_finish(d, &err), GPURT_OK);
    CHECK_EQ(seen.next[0], took);
    CHECK_EQ(seen.lost, 5);
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
    gpurt_dictionary_fini(&dictionary);
}

int main(void)
{
    alarm(50);
    check_threads();
    check_killed();
    check_kinds();
    check_late_string();
    check_full();
    return 0;
}
