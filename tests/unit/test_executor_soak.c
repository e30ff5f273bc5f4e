/* SPDX-License-Identifier: Apache-2.0 */
/* test_executor_soak [SECONDS]: storms of tasks, one after the other, each on an executor of another
 * shape: fans at all priorities, graphs that grow while they run, children, orders of the host,
 * cancellations, failures, panics, a pool that runs dry, a close in the middle. After each, what ran,
 * failed, was cancelled, refused or dropped adds up, and no task ran twice or too early. The last line
 * says how many storms and tasks there were. */
#include "../executor_stage.h"

#include <stdlib.h>
#include <time.h>

enum {
    SECONDS = 2,
    CPU_MARKS =
        CHECK_SANITIZED ? 300 : 1000, /* of the fan; each graph has a quarter of it */
    GPU_MARKS = 20000,
    HOSTS = 200, /* tasks of the host's */
    FIB = 10,
    FIB_VALUE = 55
};

/* Of a storm. */
typedef struct storm {
    gpurt_executor_t x;
    gpurt_submitted_t host[HOSTS], fib;
    gpurt_status_t ends[HOSTS];       /* as they were waited for */
    uint32_t fan, chain, star, hosts; /* the first mark of each */
    uint32_t marks, quarter, panics;
    bool dry, closes;
} storm_t;

static uint64_t state = 1, xran;
static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % n;
}

static void shape_choose(storm_t *s, const gpurt_info_t *info, uint32_t fan)
{
    const uint32_t blocks[] = {1, 2, 7, info->sm_count / 2, info->sm_count / 8 * 7};
    gpurt_executor_options_t o = {.warps = 1 + random_below(8),
                                  .blocks = blocks[random_below(5)]};

    memset(s, 0, sizeof *s);
    s->quarter = fan / 4;
    s->chain = fan;
    s->star = fan + s->quarter;
    s->hosts = s->star + s->quarter;
    s->marks = s->hosts + HOSTS;
    s->closes = random_below(6) == 0;
    s->dry = !s->closes && random_below(6) == 0;
    /* A panic takes a block, so some are left. */
    s->panics = o.blocks > 4 && !s->dry && random_below(2) ? 1 + random_below(2) : 0;
    o.blocks = o.blocks ? o.blocks : 1;
    o.fair_pulls = random_below(2) * 4;
    o.tasks = s->dry ? HOSTS + fan / 8 : 2 * s->marks;
    must(gpurt_executor_open(rt, task_tests, &o, &s->x, &err));
}

static void hosts_submit(storm_t *s)
{
    for (uint32_t i = 0; i < HOSTS; i++) {
        task_mark_t *m = &board->marks[s->hosts + i];
        struct task_mark_args a = {.board = board,
                                   .mark = s->hosts + i,
                                   .fails = random_below(10) ? 0 : -77,
                                   .panics =
                                       s->panics && i % 60 == 59 && i / 60 < s->panics};
        uint32_t how =
            GPURT_TASK_PRIORITY(random_below(8)) |
            (random_below(3) ? GPURT_TASK_HELD : GPURT_TASK_HELD | GPURT_TASK_ANYWAY);

        m->before_count = i ? random_below(TASK_BEFORES + 1) : 0;
        must(gpurt_executor_submit(rt, s->x, mark, &a, 1, how, &s->host[i], &err));
        for (uint32_t j = 0; j < m->before_count; j++) {
            uint32_t before = random_below(i);

            m->befores[j] = s->hosts + before;
            must(gpurt_executor_after(rt, s->x, s->host[before], s->host[i], &err));
        }
        if (random_below(12) == 0)
            must(gpurt_executor_cancel(rt, s->x, s->host[i], &err));
        must(gpurt_executor_start(rt, s->x, s->host[i], &err));
    }
}

static void storm_submit(storm_t *s)
{
    struct task_fan_args fan = {
        .board = board, .count = s->chain, .how = GPURT_TASK_PRIORITY(random_below(8))};
    struct task_graph_args chain = {.board = board,
                                    .first = s->chain,
                                    .count = s->quarter,
                                    .soon = random_below(2)},
                           star = {.board = board,
                                   .first = s->star,
                                   .count = s->quarter,
                                   .fans = 1};
    struct task_fib_args fib = {.n = FIB};

    for (uint32_t i = 1; i < s->quarter; i++) {
        task_mark_t *c = &board->marks[s->chain + i], *t = &board->marks[s->star + i];

        c->before_count = t->before_count = 1;
        c->befores[0] = s->chain + i - 1;
        t->befores[0] = s->star;
    }
    must(gpurt_executor_submit(rt, s->x, fan, &fan, 1, fan.how, NULL, &err));
    if (!s->dry) { /* with edges missing they would be early */
        must(gpurt_executor_submit(rt, s->x, graph, &chain, 1, 0, NULL, &err));
        must(gpurt_executor_submit(rt, s->x, graph, &star, 1, 0, NULL, &err));
    }
    must(gpurt_executor_submit(rt, s->x, fib, &fib, 1, 0, &s->fib, &err));
    hosts_submit(s);
}

static void host_check(storm_t *s, uint32_t i)
{
    const task_mark_t *m = &board->marks[s->hosts + i];
    gpurt_status_t st = wait_of(s->x, s->host[i], NULL);

    s->ends[i] = st;
    if (st == GPURT_E_PANIC && s->panics)
        return;
    CHECK(st == GPURT_OK || st == -77 || st == GPURT_E_CANCELLED ||
          (st == GPURT_E_NOMEM && s->dry));
    CHECK_EQ(m->xruns, st == GPURT_OK || st == -77);
}

/* One that failed before another was told to wait for it left no word, and is no obstacle. */
static bool before_failed(const storm_t *s, uint32_t i)
{
    const task_mark_t *m = &board->marks[i];

    for (uint32_t j = 0; i >= s->hosts && j < m->before_count; j++)
        if (s->ends[m->befores[j] - s->hosts] != GPURT_OK)
            return true;
    return false;
}

/* relaxed: a task that a panic ended orders nothing. */
static void marks_check(const storm_t *s)
{
    for (uint32_t i = 0; i < s->marks; i++) {
        uint32_t runs = gpurt_load_relaxed_dev_u32(&board->marks[i].xruns);
        bool must_run = i < s->hosts && !s->panics && !s->closes && !s->dry;

        CHECK_MSG(runs <= 1, "mark %u ran %u times", i, runs);
        CHECK_MSG(runs == 1 || !must_run, "mark %u did not run", i);
        CHECK_MSG(!board->marks[i].early || s->panics || s->closes || before_failed(s, i),
                  "mark %u ran too early", i);
        xran += runs;
    }
}

static void storm_end(storm_t *s)
{
    gpurt_executor_status_t x;
    uint64_t value = 0, dropped;
    gpurt_status_t st;

    if (!s->closes) {
        for (uint32_t i = 0; i < HOSTS; i++)
            host_check(s, i);
        st = wait_of(s->x, s->fib, &value);
        CHECK(s->dry || (st == GPURT_OK ? value == FIB_VALUE : s->panics != 0));
        must(gpurt_executor_drain(rt, s->x, WAIT_NS, &err));
        x = status_of(s->x);
        CHECK_EQ(x.live, 0);
        CHECK(s->dry || !x.refused);
    }
    st = gpurt_executor_close(rt, s->x, &dropped, &err);
    CHECK(st == GPURT_OK || (s->panics && st == GPURT_E_PANIC));
    CHECK(s->closes || !dropped);
    marks_check(s);
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    const gpurt_options_t options = {.panics = GPURT_PANICS_QUIET};
    double end = seconds_now() + (argc > 1 ? atof(argv[1]) : SECONDS);
    uint32_t storms = 0, panics = 0, closes = 0, dry = 0;
    gpurt_info_t info;

    must(gpurt_open(&options, &rt, &err));
    must(gpurt_info(rt, &info));
    do {
        storm_t s;

        shape_choose(&s, &info, info.backend == GPURT_BACKEND_CPU ? CPU_MARKS : GPU_MARKS);
        board_make(s.marks);
        storm_submit(&s);
        storm_end(&s);
        board_free();
        storms++;
        panics += s.panics;
        closes += s.closes;
        dry += s.dry;
    } while (seconds_now() < end);
    must(gpurt_close(rt, &err));
    printf("%u storms, %u panics, %u closed, %u ran dry, %llu tasks with marks ran\n",
           storms, panics, closes, dry, (unsigned long long)xran);
    return 0;
}
