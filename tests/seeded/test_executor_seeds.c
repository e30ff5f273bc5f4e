/* SPDX-License-Identifier: Apache-2.0 */
/* A storm of tasks, a schedule a seed: priorities, edges, failures, cancellations, panics, fans and
 * children beside each other. No task is lost, runs twice, or before one that it waits for; what
 * the tasks tell each other are plain words. */
#include "seeds.h"

#include <gpurt/executors.h>
#include <gpurt/hostwords.h>

#include <stdlib.h>

#include "task_kernels.h"

enum {
    BLOCKS = 3,
    NODES = 24,  /* of the host's graph */
    FANNED = 40, /* marks of a task that spawns them */
    CHAIN = 12,
    MARKS = NODES + FANNED + 2 * CHAIN,
    SAID = MARKS, /* the mark of the task that fans out, and of who waits for all of that */
    HEARD
};
#define WAIT_NS 120000000000ull
#define SOWN_NS 20000000000ull

static union {
    task_board_t board;
    char room[sizeof(task_board_t) + (HEARD + 1) * sizeof(task_mark_t)];
} u;

static uint64_t state;
static uint32_t random_below(uint32_t n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % n;
}

static uint32_t groups; /* of the executor; with so small a quota that tasks wait for it */
static uint32_t places; /* likewise; more than it has blocks, or fewer, or none */
static uint32_t group_any(void)
{
    const uint32_t group = groups ? GPURT_TASK_GROUP(random_below(groups + 1)) : 0;

    return group | (places && random_below(2) ? GPURT_TASK_AT(random_below(places)) : 0);
}

/* Owner: the storm. */
typedef struct node {
    gpurt_submitted_t task;
    gpurt_status_t status;
    int32_t fails;
    bool panics, cancels, anyway, lane;
} node_t;

/* wide: all are ready at once, so that warps hold several. */
static void node_plan(node_t *n, uint32_t i, uint32_t *panics, bool well, bool wide)
{
    task_mark_t *m = &u.board.marks[i];

    memset(n, 0, sizeof *n);
    n->lane = random_below(2);
    m->before_count = i && !wide ? random_below(TASK_BEFORES + 1) : 0;
    for (uint32_t j = 0; j < m->before_count; j++)
        m->befores[j] = random_below(i);
    if (well)
        return;
    n->anyway = random_below(4) == 0;
    n->fails = random_below(8) == 0 ? -70 - (int32_t)random_below(5) : 0;
    n->cancels = random_below(8) == 0;
    n->panics = *panics && random_below(20) == 0;
    *panics -= n->panics;
}

static void node_submit(gpurt_executor_t x, node_t *n, uint32_t i)
{
    struct task_mark_args a = {&u.board, i, n->fails, n->panics};
    uint32_t how = GPURT_TASK_HELD | GPURT_TASK_PRIORITY(random_below(8)) | group_any() |
                   (n->anyway ? GPURT_TASK_ANYWAY : 0);

    if (n->lane)
        OK(gpurt_executor_submit(rt, x, each, &a, 1, how, &n->task, &err));
    else
        OK(gpurt_executor_submit(rt, x, mark, &a, 1, how, &n->task, &err));
}

/* late: none starts before all edges are there, so that none ends before it is waited for. */
static void graph_submit(gpurt_executor_t x, node_t nodes[NODES], bool late)
{
    for (uint32_t i = 0; i < NODES; i++) {
        const task_mark_t *m = &u.board.marks[i];

        node_submit(x, &nodes[i], i);
        for (uint32_t j = 0; j < m->before_count; j++)
            OK(gpurt_executor_after(rt, x, nodes[m->befores[j]].task, nodes[i].task, &err));
        if (!late && i >= 4) /* while others come */
            OK(gpurt_executor_start(rt, x, nodes[i - 4].task, &err));
        if (nodes[i].cancels)
            OK(gpurt_executor_cancel(rt, x, nodes[i].task, &err));
    }
    for (uint32_t i = late ? 0 : NODES - 4; i < NODES; i++)
        OK(gpurt_executor_start(rt, x, nodes[i].task, &err));
}

/* One that ended well ran; one that was skipped did not, and had a reason. panics: those of its
 * block's tasks that were under way failed, too. */
static void node_check(const node_t nodes[NODES], uint32_t i, bool panics)
{
    const task_mark_t *m = &u.board.marks[i];
    const node_t *n = &nodes[i];
    bool tainted = false;

    for (uint32_t j = 0; j < m->before_count; j++)
        tainted |= nodes[m->befores[j]].status != GPURT_OK;
    CHECK(gpurt_load_relaxed_dev_u32(&m->xruns) <= 1); /* relaxed: a panic orders nothing */
    if (panics && n->status == GPURT_E_PANIC)
        return;
    CHECK_EQ(m->early, 0);
    if (n->status == GPURT_E_CANCELLED) {
        CHECK_EQ(m->xruns, 0);
        CHECK(n->cancels || (tainted && !n->anyway));
        return;
    }
    CHECK_EQ(m->xruns, 1);
    CHECK(!tainted || n->anyway);
    CHECK_EQ(n->status, n->fails);
    CHECK_EQ(m->tainted, tainted);
}

static void many_submit(gpurt_executor_t x, gpurt_submitted_t *fib)
{
    struct task_fan_args fan = {
        .board = &u.board, .first = NODES, .count = FANNED, .mark = SAID};
    struct task_mark_args heard = {.board = &u.board, .mark = HEARD};
    gpurt_submitted_t before, after;
    struct task_graph_args graph = {&u.board, NODES + FANNED, CHAIN, 0, 1};
    struct task_fib_args fibs = {.n = 6};

    fan.how = GPURT_TASK_PRIORITY(random_below(8)) | GPURT_TASK_CHILD | group_any();
    u.board.marks[HEARD].before_count = 1;
    u.board.marks[HEARD].befores[0] = SAID;
    for (uint32_t i = 1; i < CHAIN; i++) {
        task_mark_t *m = &u.board.marks[NODES + FANNED + i];

        m->before_count = 1;
        m->befores[0] = NODES + FANNED + i - 1;
        m[CHAIN].before_count = 1;
        m[CHAIN].befores[0] = NODES + FANNED + CHAIN;
    }
    OK(gpurt_executor_submit(rt, x, fan, &fan, 1, GPURT_TASK_HELD, &before, &err));
    OK(gpurt_executor_submit(rt, x, mark, &heard, 1, GPURT_TASK_HELD, &after, &err));
    OK(gpurt_executor_after(rt, x, before, after, &err));
    OK(gpurt_executor_start(rt, x, before, &err));
    OK(gpurt_executor_start(rt, x, after, &err));
    OK(gpurt_executor_submit(rt, x, graph, &graph, 1, 0, NULL, &err));
    graph.first += CHAIN;
    graph.fans = 1;
    OK(gpurt_executor_submit(rt, x, graph, &graph, 1, 0, NULL, &err));
    if (random_below(2))
        OK(gpurt_executor_submit(rt, x, forks, &fibs, 1, group_any(), fib, &err));
    else
        OK(gpurt_executor_submit(rt, x, fib, &fibs, 1, group_any(), fib, &err));
}

static uint64_t ended_check(gpurt_executor_t x)
{
    gpurt_executor_status_t s;

    OK(gpurt_executor_status(rt, x, &s, &err));
    CHECK_EQ(s.live, 0);
    CHECK_EQ(s.refused, 0);
    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++)
        CHECK_EQ(s.ready[i], 0);
    return s.ended + s.failed + s.cancelled;
}

/* A graph of the host's, and of tasks if none panics: a task that was to spawn and failed would have
 * lost what it did not spawn, rightly. Rows of the pool are used again from the second round on. */
static void round_run(gpurt_executor_t x, bool panics, bool well, uint32_t round)
{
    uint32_t left = panics ? BLOCKS - 1 : 0;
    bool wide = panics && random_below(2);
    gpurt_submitted_t fib = 0;
    node_t nodes[NODES];
    uint64_t value = 0;

    memset(&u, 0, sizeof u);
    for (uint32_t i = 0; i < NODES; i++)
        node_plan(&nodes[i], i, &left, well, wide);
    if (!panics)
        many_submit(x, &fib);
    graph_submit(x, nodes, !well);
    for (uint32_t i = 0; i < NODES; i++)
        nodes[i].status = gpurt_executor_wait(rt, x, nodes[i].task, WAIT_NS, NULL, NULL);
    if (!panics) {
        OK(gpurt_executor_wait(rt, x, fib, WAIT_NS, &value, &err));
        CHECK_EQ(value, 8);
    }
    OK(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    for (uint32_t i = 0; i < NODES; i++)
        node_check(nodes, i, panics);
    for (uint32_t i = NODES; !panics && i < MARKS; i++) {
        CHECK_EQ(u.board.marks[i].xruns, 1);
        CHECK_EQ(u.board.marks[i].early, 0);
    }
    CHECK_EQ(u.board.marks[HEARD].early, 0);
    CHECK_EQ(u.board.marks[HEARD].xruns, !panics);
    /* 33 fans make 40 marks, and one waits for them; 2 graphs, 25 calls of fib(6) */
    CHECK_EQ(ended_check(x), panics ? NODES : round * (MARKS + 33 + 1 + 2 + 25));
}

static void storm(bool panics, bool well)
{
    const gpurt_executor_options_t options = {.blocks = BLOCKS,
                                              .warps = 1 + random_below(2),
                                              .tasks = random_below(2) ? 160 : 640,
                                              .edges = 128,
                                              .fair_pulls = random_below(2) * 3,
                                              .deep = random_below(2),
                                              .groups = groups = random_below(3),
                                              .places = places =
                                                  random_below(2) * random_below(6)};
    gpurt_executor_t x;
    gpurt_status_t st;
    uint64_t dropped;

    OK(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    for (uint32_t i = 1; i <= groups; i++)
        OK(gpurt_executor_quota(rt, x, i, 5 + random_below(50), 1, &err));
    round_run(x, panics, well, 1);
    if (!panics)
        round_run(x, false, well, 2);
    st = gpurt_executor_close(rt, x, &dropped, NULL);
    CHECK(st == GPURT_OK || (panics && st == GPURT_E_PANIC));
    CHECK_EQ(dropped, 0);
}

/* Tasks come while the executor falls asleep: none is left lying. */
static void naps(void)
{
    const gpurt_executor_options_t options = {.blocks = BLOCKS, .warps = 1, .tasks = 64};
    struct task_fan_args fan = {.board = &u.board, .count = 3};
    gpurt_executor_t x;

    memset(&u, 0, sizeof u);
    OK(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    for (uint32_t round = 0; round < 4; round++) {
        fan.first = 3 * round;
        OK(gpurt_executor_submit(rt, x, fan, &fan, 1, 0, NULL, &err));
        if (round % 2)
            OK(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    }
    for (uint32_t i = 0; i < 12; i++)
        CHECK_EQ(u.board.marks[i].xruns, 1);
    OK(gpurt_executor_close(rt, x, NULL, &err));
}

/* Tasks that sleep, of all blocks, for times that come close together: each comes back, and none too soon.
 * With panics what a block held is not lost. */
static void sleepers(bool panics)
{
    enum {
        SLEEPERS = 40
    };
    const gpurt_executor_options_t options = {
        .blocks = BLOCKS, .warps = 1 + random_below(2), .tasks = 160};
    const bool lanes = random_below(2);
    struct task_sleeps_args a = {.board = &u.board};
    struct task_mark_args b = {.board = &u.board, .mark = SLEEPERS, .panics = 1};
    gpurt_executor_t x;
    gpurt_status_t st;
    uint64_t dropped;

    memset(&u, 0, sizeof u);
    OK(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    for (; a.mark < SLEEPERS; a.mark++) {
        a.ns = random_below(4) ? random_below(3000) : random_below(3000000);
        a.left = 1 + random_below(3);
        if (lanes)
            OK(gpurt_executor_submit(rt, x, dozes, &a, 1,
                                     GPURT_TASK_PRIORITY(random_below(8)), NULL, &err));
        else
            OK(gpurt_executor_submit(rt, x, sleeps, &a, 1,
                                     GPURT_TASK_PRIORITY(random_below(8)), NULL, &err));
        if (panics && a.mark == SLEEPERS / 2)
            OK(gpurt_executor_submit(rt, x, mark, &b, 1, 0, NULL, &err));
    }
    OK(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    for (uint32_t i = 0; !panics && i < SLEEPERS; i++) {
        CHECK_EQ(u.board.marks[i].xruns, 1);
        CHECK_EQ(u.board.marks[i].early, 0);
    }
    if (panics) { /* those that the block ran at the time have failed */
        gpurt_executor_status_t s;

        OK(gpurt_executor_status(rt, x, &s, &err));
        CHECK_EQ(s.ended + s.failed, SLEEPERS + 1);
        CHECK(lanes || s.ended >= SLEEPERS - 2); /* a warp runs many of those at once */
    }
    st = gpurt_executor_close(rt, x, &dropped, NULL);
    CHECK(st == GPURT_OK || (panics && st == GPURT_E_PANIC));
    CHECK_EQ(dropped, 0);
}

/* A task panics behind the spawn of another. Where an idle warp of its block is given that, and is
 * cancelled before it takes it up, it is not lost. */
static void hands(void)
{
    const gpurt_executor_options_t options = {.blocks = BLOCKS, .warps = 3, .tasks = 64};
    struct task_mark_args a = {.board = &u.board};
    gpurt_executor_status_t s;
    gpurt_executor_t x;
    gpurt_status_t st;

    memset(&u, 0, sizeof u);
    OK(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    for (a.mark = 0; a.mark < BLOCKS - 1; a.mark++) {
        OK(gpurt_executor_submit(rt, x, leaves, &a, 1, 0, NULL, &err));
        OK(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    }
    OK(gpurt_executor_status(rt, x, &s, &err));
    CHECK_EQ(s.ended + s.failed, 2 * (BLOCKS - 1));
    st = gpurt_executor_close(rt, x, NULL, NULL);
    CHECK(st == GPURT_OK || st == GPURT_E_PANIC); /* as in a storm */
}

/* A lane spawns children, four a run: warps that are idle may run them before it leaves. It goes on all the
 * same. */
static void sown(void)
{
    enum {
        SOWN = 60
    };
    const gpurt_executor_options_t options = {
        .blocks = 1, .warps = 2 + random_below(3), .tasks = 128};
    struct task_fan_args a = {.board = &u.board, .count = 4};
    gpurt_executor_t x;

    memset(&u, 0, sizeof u);
    OK(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    for (; a.first < SOWN; a.first += a.count) {
        a.mark = random_below(
            3); /* those that spawn less leave behind all others of their warp */
        OK(gpurt_executor_submit(rt, x, sows, &a, 1, 0, NULL, &err));
    }
    OK(gpurt_executor_drain(rt, x, SOWN_NS, &err));
    for (uint32_t i = 0; i < SOWN; i++)
        CHECK_EQ(u.board.marks[i].xruns, 1);
    CHECK_EQ(u.board.xrefused, 0);
    OK(gpurt_executor_close(rt, x, NULL, &err));
}

/* Tasks of blocks beside those of warps, some of which panic: none is lost, and none runs in a part of its
 * warps. */
static void crowds(bool panics)
{
    enum {
        CROWDS = 6,
        WARPS = 3
    };
    const gpurt_executor_options_t options = {
        .blocks = BLOCKS, .warps = 1 + random_below(WARPS), .tasks = 160};
    struct task_graph_args a = {.board = &u.board};
    struct task_mark_args b = {.board = &u.board, .mark = CROWDS * WARPS};
    gpurt_submitted_t t[CROWDS];
    gpurt_executor_t x;
    gpurt_status_t st;
    uint64_t threads, dropped;

    memset(&u, 0, sizeof u);
    OK(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    for (uint32_t i = 0; i < CROWDS; i++, b.mark++, a.first += WARPS) {
        a.fans = panics && i == 2;
        b.panics = panics && i == 3;
        OK(gpurt_executor_submit(rt, x, crowd, &a, 1, GPURT_TASK_PRIORITY(random_below(8)),
                                 &t[i], &err));
        OK(gpurt_executor_submit(rt, x, mark, &b, 1, GPURT_TASK_PRIORITY(random_below(8)),
                                 NULL, &err));
    }
    for (uint32_t i = 0; i < CROWDS; i++) {
        st = gpurt_executor_wait(rt, x, t[i], WAIT_NS, &threads, NULL);
        CHECK(panics ? st == GPURT_OK || st == GPURT_E_PANIC : st == GPURT_OK);
        /* Behind a panic a child may have failed, which the result says. */
        CHECK(st != GPURT_OK || threads == 32 * options.warps || (panics && threads == 0));
    }
    OK(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    for (uint32_t i = 0; i < CROWDS * WARPS + CROWDS; i++)
        CHECK(gpurt_load_relaxed_dev_u32(&u.board.marks[i].xruns) <= 1); /* relaxed: so */
    for (uint32_t i = 0; !panics && i < CROWDS; i++)
        CHECK_EQ(u.board.marks[CROWDS * WARPS + i].xruns, 1);
    st = gpurt_executor_close(rt, x, &dropped, NULL);
    CHECK(st == GPURT_OK || (panics && st == GPURT_E_PANIC));
    CHECK_EQ(dropped, 0);
}

/* Urgent tasks run again and again, and one that is not has its turn among them. */
static void fair_pulls(void)
{
    enum {
        YIELDERS = 6,
        RUNS = 20
    };
    const gpurt_executor_options_t options = {
        .blocks = 1, .warps = 1 + random_below(2), .tasks = 64, .fair_pulls = 2};
    struct task_fan_args yielder = {.board = &u.board, .count = RUNS};
    struct task_mark_args gate = {.board = &u.board, .mark = 1}, last = {.board = &u.board};
    gpurt_executor_t x;

    memset(&u, 0, sizeof u);
    OK(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    for (uint32_t i = 0; i < options.warps; i++, gate.mark++)
        OK(gpurt_executor_submit(rt, x, gated, &gate, 1, GPURT_TASK_PRIORITY(3), NULL,
                                 &err));
    /* relaxed: a count */
    for (uint32_t i = 0; i < options.warps; i = gpurt_load_relaxed_sys_u32(&u.board.xhere))
        OK(gpurt_hostword_wait(rt, &u.board.xhere, i, WAIT_NS, NULL, &err));
    for (uint32_t i = 0; i < YIELDERS; i++)
        OK(gpurt_executor_submit(rt, x, yields, &yielder, 1, GPURT_TASK_PRIORITY(2), NULL,
                                 &err));
    OK(gpurt_executor_submit(rt, x, mark, &last, 1, GPURT_TASK_PRIORITY(-4), NULL, &err));
    OK(gpurt_hostword_store(rt, &u.board.xgate, 1, &err));
    OK(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    CHECK_EQ(u.board.xorder, YIELDERS * RUNS + options.warps + 1);
    CHECK_MSG(u.board.marks[0].order < YIELDERS * RUNS / 2, "after %u runs of others",
              u.board.marks[0].order);
    OK(gpurt_executor_close(rt, x, NULL, &err));
}

/* Trees of more tasks than pockets have room for: blocks put the oldest back, get the newest again, and take from each
 * other. With panics what a block had put back is run by the others. */
static void trees(bool panics)
{
    enum {
        TREES = 4,
        DEPTH = 8 /* 67 tasks each, and the eighth of fib's row is 21 */
    };
    const gpurt_executor_options_t options = {.blocks = BLOCKS,
                                              .warps = 1 + random_below(2),
                                              .tasks = 24 * 12 + 2 * TREES,
                                              .deep = 1};
    struct task_fib_args tree = {.n = DEPTH};
    struct task_mark_args panic = {.board = &u.board, .panics = 1};
    gpurt_submitted_t t[TREES];
    gpurt_status_t st;
    uint64_t value, dropped;
    gpurt_executor_t x;

    memset(&u, 0, sizeof u);
    OK(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    for (uint32_t i = 0; i < TREES; i++)
        if (random_below(2))
            OK(gpurt_executor_submit(rt, x, forks, &tree, 1, 0, &t[i], &err));
        else
            OK(gpurt_executor_submit(rt, x, fib, &tree, 1, 0, &t[i], &err));
    if (panics)
        OK(gpurt_executor_submit(rt, x, mark, &panic, 1, GPURT_TASK_PRIORITY(-4), NULL,
                                 &err));
    for (uint32_t i = 0; i < TREES; i++) {
        st = gpurt_executor_wait(rt, x, t[i], WAIT_NS, &value, NULL);
        CHECK(st == GPURT_OK || (panics && (st == GPURT_E_PANIC || st == GPURT_E_NOMEM)));
        CHECK(st != GPURT_OK || value == 21);
    }
    OK(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    if (!panics)
        (void)ended_check(x);
    st = gpurt_executor_close(rt, x, &dropped, NULL);
    CHECK(st == GPURT_OK || (panics && st == GPURT_E_PANIC));
    CHECK_EQ(dropped, 0);
}

/* Who pushes into a slot waits until it was read. */
static void ring(void)
{
    gpurt_launch_t launch = {.grid = {2, 1, 1}, .block = {1, 1, 1}};
    struct taskring_args a = {(uint32_t *)stage_zeros(12), (uint64_t *)stage_zeros(16),
                              (uint32_t *)stage_zeros(4), (uint32_t *)stage_zeros(4)};
    uint32_t words[3] = {0, gpurt_taskring_first(1), gpurt_taskring_first(1)}, wrong;

    OK(gpurt_copy(rt, 0, a.words, words, sizeof words, &err));
    OK(gpurt_launch(rt, &launch, taskring_unread, &a, &err));
    OK(gpurt_copy(rt, 0, &wrong, a.wrong, sizeof wrong, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(wrong, 0);
    gpurt_mem_destroy(rt, a.words);
    gpurt_mem_destroy(rt, a.slots);
    gpurt_mem_destroy(rt, a.xflag);
    gpurt_mem_destroy(rt, a.wrong);
}

/* A task that begins to sleep while a warp goes through the others is in time for none of its looks, and
 * not forgotten. */
static void meanwhile(void)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    gpurt_executor_words_t *words = stage_zeros(sizeof *words);
    struct tasktimed_args a = {words, stage_zeros(32 * 8), stage_zeros(8), stage_zeros(8)};
    uint32_t first = gpurt_taskring_first(1);
    uint64_t left_ns;

    OK(gpurt_copy(rt, 0, &words->tails[GPURT_RING_TIMED].x, &first, sizeof first, &err));
    OK(gpurt_launch(rt, &launch, tasktimed_meanwhile, &a, &err));
    OK(gpurt_copy(rt, 0, &left_ns, a.left_ns, sizeof left_ns, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(left_ns, 0); /* a look is due */
    gpurt_mem_destroy(rt, words);
    gpurt_mem_destroy(rt, a.slots);
    gpurt_mem_destroy(rt, a.due);
    gpurt_mem_destroy(rt, a.left_ns);
}

int main(int argc, char **argv)
{
    seeds_t s;

    setenv("GPURT_PANICS", "off", 0); /* the thread that tells of them is not the subject */
    for (seeds_begin(&s, argc, argv, 60); seeds_next(&s, 3);) {
        state = s.seed * 2654435761u;
        storm(s.seed % 4 == 3, s.seed % 4 == 0);
        naps();
        sleepers(s.seed % 4 == 1);
        hands();
        sown();
        crowds(s.seed % 3 == 1);
        fair_pulls();
        trees(s.seed % 3 == 2);
        ring();
        meanwhile();
    }
    return 0;
}
