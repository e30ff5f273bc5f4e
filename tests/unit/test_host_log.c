/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt_log of host code: every type, strings that change, many threads at once with each
 * message counted, levels, and calls around connect, disconnect and fork. */
#include "../check.h"
#include "drain.h"
#include "hostlink.h"
#include "levelset.h"
#include "render.h"

#include "../kernels/log_kernels.h"

#include <gpurt/hostlog.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 8,
    EACH = 4000
};

/* What came out. */
typedef struct tally {
    uint64_t messages, lost, last_time;
    uint64_t siteless; /* of lost: because a definition found no room */
    uint32_t seen[THREADS][EACH], next[THREADS];
    uint32_t numbers, texts, longs, quiet, forked;
    uint32_t threads; /* of messages whose thread was this one */
} tally_t;

static gpurt_error_t err;
static gpurt_dictionary_t dictionary;
static gpurt_boxmap_t map;
static tally_t tally;
static uint32_t xdone;

static void count_one(const gpurt_row_t *row, const char *text)
{
    unsigned a, b;

    if (sscanf(text, "thread %u says %u", &a, &b) == 2) {
        CHECK(a < THREADS && b < EACH);
        tally.seen[a][b]++;
        CHECK_MSG(b >= tally.next[a], "thread %u: %u after %u", a, b, tally.next[a]);
        tally.next[a] = b + 1;
    }
    tally.numbers += strcmp(text, "-5 60000 -1099511627776 1.5 x beef 100% 0x10") == 0;
    tally.texts += strcmp(text, "name: one, 7") == 0 || strcmp(text, "name: two, 8") == 0;
    tally.longs += strlen(text) > 1000 && strspn(text, "y") == strlen(text);
    tally.quiet += strcmp(text, "quiet") == 0;
    tally.forked += strcmp(text, "from a child") == 0;
    tally.threads += row->block == (uint32_t)gettid();
}

static gpurt_status_t put(void *context, const gpurt_row_t *row, gpurt_error_t *e)
{
    char text[4096];
    gpurt_text_t out;

    (void)context;
    (void)e;
    tally.messages += gpurt_row_messages(row);
    tally.lost += gpurt_row_lost(row);
    if (gpurt_row_lost(row) && gpurt_row_words(row)[0] == GPURT_LOSS_SITES)
        tally.siteless += gpurt_row_lost(row);
    if (gpurt_row_messages(row) == 0)
        return GPURT_OK;
    CHECK_MSG(row->form == GPURT_FORM_THREAD, "form %u", row->form);
    gpurt_text_init(&out, text, sizeof text);
    gpurt_render_message(&dictionary, row, 0, &out);
    count_one(row, text);
    return GPURT_OK;
}

static gpurt_drain_t *open_all(uint32_t ring_bytes, uint32_t policy)
{
    gpurt_section_plan_t s = {
        .kind = GPURT_SECTION_HOST, .ring_bytes = ring_bytes, .policy = policy};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    gpurt_drain_options_t o = {.struct_size = sizeof o,
                               .sink_count = 1,
                               .sinks = {{.context = &tally, .put = put}},
                               .dictionary = &dictionary};
    gpurt_drain_t *d;

    memset(&tally, 0, sizeof tally);
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    gpurt_hostlink_connect(&map, 0);
    return d;
}

static void close_all(gpurt_drain_t *d)
{
    gpurt_hostlink_disconnect();
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
}

static void say_name(const char *name, int number)
{
    gpurt_log(GPURT_LEVEL_INFO, "name: %s, %d", name, number);
}

static void types(void)
{
    gpurt_drain_t *d = open_all(0, GPURT_POLICY_DROP_NEWEST);
    char name[8] = "one", endless[3000];
    int8_t small = -5;
    uint16_t shorter = 60000;

    gpurt_log(GPURT_LEVEL_INFO, "%d %u %lld %g %c %x 100%% %p", small, shorter,
              -(1ll << 40), 1.5f, 'x', 0xbeefu, (void *)16);
    say_name(name, 7);
    strcpy(name, "two"); /* the same address, another text */
    say_name(name, 8);
    memset(endless, 'y', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    gpurt_log(GPURT_LEVEL_INFO, "%s", endless);
    gpurt_log(GPURT_LEVEL_DEBUG, "quiet");
    close_all(d);
    CHECK_MSG(tally.messages == 4 && tally.lost == 0, "%d", (int)tally.messages);
    CHECK_MSG(tally.numbers == 1 && tally.texts == 2 && tally.longs == 1 &&
                  tally.quiet == 0 && tally.threads == 4,
              "%u %u %u %u %u", tally.numbers, tally.texts, tally.longs, tally.quiet,
              tally.threads);
}

static void *talk(void *number)
{
    uint32_t me = (uint32_t)(uintptr_t)number;

    for (uint32_t i = 0; i < EACH; i++)
        gpurt_log(GPURT_LEVEL_INFO, "thread %u says %u", me, i);
    gpurt_add_release_sys_u32(&xdone, 1);
    return NULL;
}

/* All threads at one new site, into a ring that is full again and again. */
static void storm(uint32_t policy)
{
    gpurt_drain_t *d = open_all(GPURT_RING_MIN_BYTES, policy);
    pthread_t threads[THREADS];
    uint32_t rows;

    gpurt_store_relaxed_sys_u32(&xdone, 0);
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, talk, (void *)(uintptr_t)i) == 0);
    while (gpurt_load_acquire_sys_u32(&xdone) < THREADS) {
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
        CHECK_MSG(gpurt_drain_flush(d, &err) == GPURT_OK, "%s", err.text);
        if (policy != GPURT_POLICY_BLOCK)
            usleep(1000);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    close_all(d);
    CHECK_MSG(tally.messages + tally.lost == THREADS * EACH, "%d and %d",
              (int)tally.messages, (int)tally.lost);
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < EACH; i++)
            CHECK_MSG(tally.seen[t][i] <= 1, "thread %u: %u came %u times", t, i,
                      tally.seen[t][i]);
    if (policy == GPURT_POLICY_BLOCK)
        CHECK_MSG(tally.lost == 0, "%d lost", (int)tally.lost);
    else
        CHECK_MSG(tally.lost > 0, "a storm");
}

static void *go_on(void *stop)
{
    uint64_t n = 0;

    while (!gpurt_load_relaxed_sys_u32((uint32_t *)stop)) {
        gpurt_log(GPURT_LEVEL_INFO, "going on %llu", (unsigned long long)n);
        n++;
    }
    return NULL;
}

/* Boxes come and go under a thread that does not know of it; it waits for none of them. */
static void connect_and_disconnect(void)
{
    pthread_t thread;
    uint32_t stop = 0;

    CHECK(pthread_create(&thread, NULL, go_on, &stop) == 0);
    for (int i = 0; i < 200; i++)
        close_all(open_all(GPURT_RING_MIN_BYTES,
                           i % 2 ? GPURT_POLICY_BLOCK : GPURT_POLICY_DROP_NEWEST));
    gpurt_store_relaxed_sys_u32(&stop, 1);
    pthread_join(thread, NULL);
}

/* raw: of which no handler in the child is told. */
static void forked(bool raw)
{
    gpurt_drain_t *d = open_all(0, GPURT_POLICY_DROP_NEWEST);
    int status;
    pid_t pid = raw ? (pid_t)syscall(SYS_fork) : fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        gpurt_log(GPURT_LEVEL_INFO, "from a child");
        gpurt_log(GPURT_LEVEL_INFO, "name: %s, %d", "one", 7);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    say_name("one", 7);
    close_all(d);
    CHECK_MSG(tally.forked == 0 && tally.texts == 1, "%u %u", tally.forked, tally.texts);
}

/* A thread was about to number a site when another forked: nobody does it in the child. */
static void cut_off(void)
{
    static gpurt_site_t site = {
        .xgate = {GPURT_GATE_CLAIMED}, .format = "x", .file = "y", .level = 2};
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        gpurt_drain_t *d;

        alarm(10);
        d = open_all(0, GPURT_POLICY_DROP_NEWEST);
        CHECK((gpurt_hostlog_define(&site) & GPURT_GATE_CLAIMED) == 0);
        close_all(d);
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK_MSG(status == 0, "%x", (unsigned)status);
}

/* A plugin's site: unloaded, or its memory someone else's by now. */
static void unloaded(void)
{
    gpurt_drain_t *d = open_all(0, GPURT_POLICY_DROP_NEWEST);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    gpurt_site_t site = {.format = "gone",
                         .file = "gone.c",
                         .format_bytes = 4,
                         .file_bytes = 6,
                         .level = GPURT_LEVEL_INFO,
                         .kind = GPURT_KIND_LOG};
    gpurt_site_t *first, *second;

    CHECK(memory != MAP_FAILED);
    first = (gpurt_site_t *)(void *)memory;
    second = (gpurt_site_t *)(void *)(memory + page);
    *first = *second = site;
    CHECK(gpurt_hostlog_define(first) == 1 && gpurt_hostlog_define(second) == 2);
    CHECK(munmap(memory, page) == 0);
    second->xgate[0] = 0x12345678; /* of another */
    close_all(d);
    CHECK_MSG(second->xgate[0] == 0x12345678, "%x", second->xgate[0]);
    CHECK(munmap(second, page) == 0);
}

static void by_rule(void)
{
    gpurt_drain_t *d = open_all(0, GPURT_POLICY_DROP_NEWEST);
    gpurt_levelset_t levels;

    CHECK(gpurt_levelset_parse("off,test_host_*.c=debug", &levels, &err) == GPURT_OK);
    gpurt_levelset_write(&map, &levels);
    gpurt_log(GPURT_LEVEL_DEBUG, "quiet");
    gpurt_log(GPURT_LEVEL_TRACE, "quiet");
    close_all(d);
    CHECK_MSG(tally.quiet == 1, "%u", tally.quiet);
}

/* A line whose definition has no room logs nothing: the log says so once, if its level is on. */
static void too_long(void)
{
    gpurt_drain_t *d = open_all(0, GPURT_POLICY_DROP_NEWEST);

    for (uint32_t i = 0; i < 3; i++) {
        gpurt_log(GPURT_LEVEL_INFO, LOG_TOO_LONG);
        gpurt_log(GPURT_LEVEL_TRACE, LOG_TOO_LONG);
    }
    say_name("one", 7);
    close_all(d);
    CHECK_MSG(tally.siteless == 1 && tally.lost == 1, "%llu of %llu lost",
              (unsigned long long)tally.siteless, (unsigned long long)tally.lost);
    CHECK_EQ(tally.messages, 1);
}

int main(void)
{
    say_name("nobody listens", 0);
    types();
    storm(GPURT_POLICY_BLOCK);
    storm(GPURT_POLICY_DROP_NEWEST);
    connect_and_disconnect();
    forked(false);
    forked(true);
    cut_off();
    unloaded();
    by_rule();
    too_long();
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
