/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: which task runs when, and where. Something urgent cuts a batch, a block gives to others
 * what it keeps, rows come back to the pool, a ring's tasks have their turn, and a task that was taken
 * up and given back can be cancelled. */
#include "../executor_stage.h"

#include <stdlib.h>

static gpurt_executor_t workers_open(uint32_t blocks, uint32_t tasks)
{
    return executor_of(blocks, 1, tasks);
}

/* A batch of a task that spawns an urgent one, and of others. */
static void the_urgent_cut_a_batch(void)
{
    enum {
        OTHERS = 7
    };
    struct task_fan_args fan = {.count = 1, .how = GPURT_TASK_PRIORITY(3)};
    gpurt_executor_t x = workers_open(1, 64);

    board_make(OTHERS + 2);
    gate_shut(x, OTHERS + 1, 1);
    fan.board = board;
    must(gpurt_executor_submit(rt, x, fan, &fan, 1, 0, NULL, &err));
    for (uint32_t i = 1; i <= OTHERS; i++)
        (void)submit_mark(x, i, 0);
    gate_open();
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, OTHERS + 2);
    CHECK_EQ(board->marks[0].order, 2); /* behind the gate */
    executor_end(x);
    board_free();
}

/* One block spawns while the other is busy, so it keeps the tasks, which run again and again. The
 * other comes free, and is given one: nothing overflows, and nobody spawns any more. On the CPU back
 * end, where bodies take long, more than one would overflow. On a GPU who gives the only one takes
 * it back before a sleeper wakes. */
static void a_block_gives_what_it_keeps(void)
{
    struct task_left_args a = {.left = 200};
    gpurt_executor_t x = workers_open(2, 512);
    gpurt_submitted_t gate, hoard;
    gpurt_info_t info;

    must(gpurt_info(rt, &info));
    a.state = info.backend == GPURT_BACKEND_CPU ? 1 : 8;
    board_make(1);
    gate = gate_shut(x, 0, 1);
    a.board = board;
    must(gpurt_executor_submit(rt, x, hoard, &a, 1, 0, &hoard, &err));
    CHECK_EQ(wait_of(x, hoard, NULL), GPURT_OK);
    gate_open();
    CHECK_EQ(wait_of(x, gate, NULL), GPURT_OK);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    CHECK_EQ(board->xblocks, 3);
    executor_end(x);
    board_free();
}

/* A pool whose rows all live, and end, and live again: the block's pocket of free ones overflows each
 * time. */
static void free_rows_come_back(void)
{
    enum {
        MANY = 256, /* so that the block keeps 64 */
        ROUNDS = 4
    };
    gpurt_executor_t x = workers_open(1, MANY);
    gpurt_submitted_t t[MANY];

    for (uint32_t round = 0; round < ROUNDS; round++) {
        board_make(MANY);
        for (uint32_t i = 0; i < MANY; i++)
            t[i] = submit_mark(x, i, GPURT_TASK_HELD);
        for (uint32_t i = 0; i < MANY; i++)
            must(gpurt_executor_start(rt, x, t[i], &err));
        for (uint32_t i = 0; i < MANY; i++)
            CHECK_EQ(wait_of(x, t[i], NULL), GPURT_OK);
        each_ran_once(0, MANY);
        board_free();
    }
    CHECK_EQ(status_of(x).refused, 0);
    executor_end(x);
}

/* Tasks that run again and again fill the pocket of the only block; behind those that found no room in
 * it, one waits in the ring. */
static void a_ring_has_its_turn(void)
{
    enum {
        YIELDERS = 200,
        RUNS = 100
    };
    struct task_fan_args a[YIELDERS];
    gpurt_executor_t x = workers_open(1, 2 * YIELDERS);

    board_make(2);
    gate_shut(x, 1, 1);
    for (uint32_t i = 0; i < YIELDERS; i++)
        a[i] = (struct task_fan_args){.board = board, .count = RUNS};
    must(gpurt_executor_submit(rt, x, yields, a, YIELDERS, 0, NULL, &err));
    (void)submit_mark(x, 0, 0);
    gate_open();
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, 2);
    CHECK_EQ(board->xorder, YIELDERS * RUNS + 2);
    CHECK_MSG(board->marks[0].order < YIELDERS * RUNS / 4, "after %u runs of others",
              board->marks[0].order);
    executor_end(x);
    board_free();
}

/* Tasks that spawn others in their place are the newest of the only block each time; the mark, which is
 * the oldest, has its turn all the same. */
static void the_oldest_has_a_turn(void)
{
    enum {
        RENEWERS = 60,
        RUNS = 100
    };
    struct task_fan_args a[RENEWERS];
    gpurt_executor_t x = workers_open(1, 4 * RENEWERS);

    board_make(2);
    gate_shut(x, 1, 1);
    for (uint32_t i = 0; i < RENEWERS; i++)
        a[i] = (struct task_fan_args){.board = board, .count = RUNS};
    (void)submit_mark(x, 0, 0);
    must(gpurt_executor_submit(rt, x, renews, a, RENEWERS, 0, NULL, &err));
    gate_open();
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, 2);
    CHECK_EQ(board->xorder, RENEWERS * RUNS + 2);
    CHECK_MSG(board->marks[0].order < RENEWERS * RUNS / 4, "after %u runs of others",
              board->marks[0].order);
    executor_end(x);
    board_free();
}

/* Urgent tasks run again and again, and one that is not waits: for all of them, or for its turn. */
static void the_least_urgent_have_a_turn(uint32_t fair_pulls)
{
    enum {
        YIELDERS = 20,
        RUNS = 200
    };
    const gpurt_executor_options_t options = {
        .blocks = 1, .warps = 1, .tasks = 2 * YIELDERS, .fair_pulls = fair_pulls};
    struct task_fan_args a[YIELDERS];
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    board_make(2);
    gate_shut(x, 1, 1);
    for (uint32_t i = 0; i < YIELDERS; i++)
        a[i] = (struct task_fan_args){.board = board, .count = RUNS};
    must(gpurt_executor_submit(rt, x, yields, a, YIELDERS, GPURT_TASK_PRIORITY(2), NULL,
                               &err));
    (void)submit_mark(x, 0, GPURT_TASK_PRIORITY(-4));
    gate_open();
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, 2);
    CHECK_EQ(board->xorder, YIELDERS * RUNS + 2);
    if (fair_pulls)
        CHECK_MSG(board->marks[0].order < YIELDERS * RUNS / 2, "after %u runs of others",
                  board->marks[0].order);
    else
        CHECK_EQ(board->marks[0].order, YIELDERS * RUNS + 2);
    executor_end(x);
    board_free();
}

static void one_given_back_can_be_cancelled(void)
{
    struct task_left_args a = {.left = 200};
    gpurt_executor_t x = workers_open(1, 256);

    board_make(1);
    a.board = board;
    must(gpurt_executor_submit(rt, x, regret, &a, 1, 0, NULL, &err));
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    CHECK_EQ(board->cancelled, 1);
    CHECK_EQ(board->marks[0].xruns, 0);
    CHECK_EQ(status_of(x).cancelled, 1);
    executor_end(x);
    board_free();
}

/* The only warp is in a long body: something urgent of the host's runs before that ends. */
static void the_urgent_interrupt_a_body(void)
{
    struct task_patient_args a = {.until = 1, .yields = 1};
    gpurt_executor_t x = workers_open(1, 64);
    gpurt_submitted_t patient, urgent;
    uint64_t ran = 0;

    board_make(1);
    a.board = board;
    must(gpurt_executor_submit(rt, x, patient, &a, 1, 0, &patient, &err));
    must(gpurt_hostword_wait(rt, &board->xhere, 0, WAIT_NS, NULL, &err));
    urgent = submit_mark(x, 0, GPURT_TASK_PRIORITY(3));
    CHECK_EQ(wait_of(x, urgent, NULL), GPURT_OK);
    CHECK_EQ(wait_of(x, patient, &ran), GPURT_OK);
    CHECK_EQ(ran, 1);
    executor_end(x);
    board_free();
}

/* One block spawns while the other is busy, so it keeps the tasks, and its warp stays in that body. The
 * other comes free, and gets them all. */
static void a_long_body_gives_what_its_block_keeps(void)
{
    enum {
        KEPT = 20
    };
    struct task_patient_args a = {.spawns = KEPT, .until = KEPT + 1};
    gpurt_executor_t x = workers_open(2, 512);
    gpurt_submitted_t patient;
    uint64_t ran = 0;

    board_make(KEPT + 1);
    (void)gate_shut(x, 0, 1);
    a.board = board;
    must(gpurt_executor_submit(rt, x, patient, &a, 1, 0, &patient, &err));
    must(gpurt_hostword_wait(rt, &board->xhere, 1, WAIT_NS, NULL, &err));
    gate_open();
    CHECK_EQ(wait_of(x, patient, &ran), GPURT_OK);
    CHECK_EQ(ran, KEPT + 1);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, KEPT + 1);
    executor_end(x);
    board_free();
}

/* A warp takes up a long body and others with it. Another block, which is idle, gets those. */
static void a_long_body_gives_its_batch(void)
{
    enum {
        OTHERS = 7
    };
    struct task_patient_args a = {.until = OTHERS + 2};
    gpurt_executor_t x = workers_open(2, 512);
    gpurt_submitted_t patient;
    uint64_t ran = 0;

    board_make(OTHERS + 2);
    (void)gate_shut(x, 0, 1);
    (void)gate_shut(x, OTHERS + 1, 2);
    a.board = board;
    must(gpurt_executor_submit(rt, x, patient, &a, 1, 0, &patient, &err));
    for (uint32_t i = 1; i <= OTHERS; i++)
        (void)submit_mark(x, i, 0);
    gate_open();
    CHECK_EQ(wait_of(x, patient, &ran), GPURT_OK);
    CHECK_EQ(ran, OTHERS + 2);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, OTHERS + 2);
    executor_end(x);
    board_free();
}

/* A body spawns something urgent, and goes on. The warp of another block asks what is due, and runs
 * it. */
static void the_urgent_go_to_all_blocks(void)
{
    struct task_patient_args asks = {.until = 1, .yields = 1};
    struct task_patient_args stays = {
        .spawns = 1, .until = 1, .how = GPURT_TASK_PRIORITY(3)};
    gpurt_executor_t x = workers_open(2, 64);
    gpurt_submitted_t patient, asking;
    uint64_t ran = 0;

    board_make(2);
    asks.board = stays.board = board;
    must(gpurt_executor_submit(rt, x, patient, &asks, 1, 0, &asking, &err));
    must(gpurt_hostword_wait(rt, &board->xhere, 0, WAIT_NS, NULL, &err));
    must(gpurt_executor_submit(rt, x, patient, &stays, 1, 0, &patient, &err));
    CHECK_EQ(wait_of(x, patient, &ran), GPURT_OK);
    CHECK_EQ(ran, 1);
    CHECK_EQ(wait_of(x, asking, &ran), GPURT_OK);
    CHECK_EQ(ran, 1); /* else it gave up, and its block came free for what the other kept */
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(1, 1);
    executor_end(x);
    board_free();
}

/* A tree of short tasks, spread over blocks: the counts by pair add up, and none is of one pair. */
static void moves_are_counted(uint32_t count)
{
    const gpurt_executor_options_t options = {.blocks = 4, .warps = 1, .tasks = 2 * count};
    struct task_fan_args a;
    uint64_t sum = 0, waited = 0;
    gpurt_executor_t x;
    gpurt_info_t info;
    uint32_t *cells;

    must(gpurt_info(rt, &info));
    cells = (uint32_t *)calloc((size_t)info.sm_count * info.sm_count, sizeof *cells);
    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    board_make(count);
    a = (struct task_fan_args){.board = board, .count = count};
    must(gpurt_executor_submit(rt, x, fan, &a, 1, 0, NULL, &err));
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, count);
    CHECK_EQ(gpurt_executor_moves(rt, x, cells, info.sm_count + 1, &err), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "multiprocessors");
    must(gpurt_executor_moves(rt, x, cells, info.sm_count, &err));
    for (uint32_t i = 0; i < info.sm_count * info.sm_count; i++)
        sum += cells[i];
    for (uint32_t i = 0; i < info.sm_count; i++)
        CHECK_EQ(cells[i * info.sm_count + i], 0);
    CHECK_EQ(sum, status_of(x).moved);
    sum /= GPURT_TASK_SAMPLED;
    for (uint32_t i = 0; i < GPURT_TASK_WAITS; i++)
        waited += status_of(x).waits[i];
    CHECK(waited >= sum && waited <= status_of(x).ended + 1);
    CHECK(waited > 0);
    CHECK(sum > 0 || info.sm_count == 1);
    executor_end(x);
    board_free();
    free(cells);
}

int main(void)
{
    must(gpurt_open(NULL, &rt, &err));
    the_urgent_cut_a_batch();
    a_block_gives_what_it_keeps();
    free_rows_come_back();
    the_oldest_has_a_turn();
    a_ring_has_its_turn();
    the_least_urgent_have_a_turn(0);
    the_least_urgent_have_a_turn(16);
    one_given_back_can_be_cancelled();
    the_urgent_interrupt_a_body();
    a_long_body_gives_what_its_block_keeps();
    a_long_body_gives_its_batch();
    the_urgent_go_to_all_blocks();
    moves_are_counted(CHECK_SANITIZED ? 4000 : 20000);
    must(gpurt_close(rt, &err));
    return 0;
}
