/* SPDX-License-Identifier: Apache-2.0 */
/* hang_tasks WAY - an executor whose tasks hang in one way, or do not. Prints its number first. */
#include "hang_tasks.h"

#include <gpurt/channels.h>
#include <gpurt/executors.h>
#include <gpurt/gpurt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gpurt_t *rt;
static gpurt_error_t err;
static gpurt_executor_t x;
static hang_board_t *board;

static void must(gpurt_status_t st)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "hang_tasks: %s\n", err.text);
    exit(1);
}

#define SUBMIT(name, way_, left_, how, task)                                               \
    do {                                                                                   \
        const struct hang_task_args a_ = {.board = board, .way = (way_), .left = (left_)}; \
        must(gpurt_executor_submit(rt, x, name, &a_, 1, (how), (task), &err));             \
    } while (0)

static void awaits(void)
{
    SUBMIT(outer, 0, 0, 0, NULL);
}

/* The child has what it needs without the lock. */
static void quit(void)
{
    SUBMIT(outer, 1, 0, 0, NULL);
}

/* Some behind those that wait, and many that want the same lock. */
static void crowd(void)
{
    gpurt_submitted_t last;

    SUBMIT(outer, 0, 0, 0, &last);
    for (uint32_t i = 0; i < HANG_TASK_CROWD; i++)
        SUBMIT(inner, 0, 0, 0, NULL);
    for (uint32_t i = 0; i < HANG_TASK_CROWD; i++) {
        gpurt_submitted_t next;

        SUBMIT(plain, 0, 0, GPURT_TASK_HELD, &next);
        must(gpurt_executor_after(rt, x, last, next, &err));
        must(gpurt_executor_start(rt, x, next, &err));
        last = next;
    }
}

static void locks(void)
{
    SUBMIT(crosses, 0, 0, 0, NULL);
    SUBMIT(crosses, 1, 0, 0, NULL);
}

static void sleeps(void)
{
    SUBMIT(owner, 0, 0, 0, NULL);
}

static void body(void)
{
    SUBMIT(owner, 1, 0, 0, NULL);
}

/* Silence begins behind the record of one that ends. */
static void alone(void)
{
    SUBMIT(plain, 0, 0, 0, NULL);
    SUBMIT(idles, 0, 0, 0, NULL);
}

/* Beside one that sleeps, so that the executor is not quiet. */
static void after(void)
{
    gpurt_submitted_t a, b;

    SUBMIT(idles, 0, 0, 0, NULL);
    SUBMIT(plain, 0, 0, GPURT_TASK_HELD, &a);
    SUBMIT(plain, 0, 0, GPURT_TASK_HELD, &b);
    must(gpurt_executor_after(rt, x, a, b, &err));
    must(gpurt_executor_after(rt, x, b, a, &err));
    must(gpurt_executor_start(rt, x, a, &err));
    must(gpurt_executor_start(rt, x, b, &err));
}

/* Locks that are fought over. */
static void fight(void)
{
    for (uint32_t i = 0; i < 8; i++)
        SUBMIT(turns, 0, HANG_TASK_ROUNDS, 0, NULL);
}

static const struct {
    const char *name;
    void (*play)(void);
    bool ends;
} ways[] = {{"awaits", awaits, false}, {"crowd", crowd, false}, {"locks", locks, false},
            {"sleeps", sleeps, false}, {"body", body, false},   {"alone", alone, false},
            {"after", after, false},   {"quit", quit, false},   {"fight", fight, true}};

static void board_make(void)
{
    hang_board_t b = {.xholds = 0};
    void *memory;

    must(gpurt_make_channel(rt, &b.jobs, NULL, &err));
    must(gpurt_mem_create(rt, sizeof b, &memory, &err));
    must(gpurt_copy(rt, GPURT_STREAM_DEFAULT, memory, &b, sizeof b, &err));
    must(gpurt_sync(rt, &err));
    board = (hang_board_t *)memory;
}

int main(int argc, char **argv)
{
    const gpurt_executor_options_t options = {.blocks = 2, .warps = 2, .tasks = 4096};
    size_t way = 0, count = sizeof ways / sizeof ways[0];

    while (way < count && (argc < 2 || strcmp(argv[1], ways[way].name) != 0))
        way++;
    if (way == count)
        return fputs("hang_tasks: which way?\n", stderr), 2;
    must(gpurt_open(NULL, &rt, &err));
    board_make();
    must(gpurt_executor_open(rt, hang_tasks, &options, &x, &err));
    printf("%d\n", (int)getpid());
    fflush(stdout);
    ways[way].play();
    must(gpurt_executor_drain(rt, x, UINT64_MAX, &err));
    must(gpurt_executor_close(rt, x, NULL, &err));
    must(gpurt_close(rt, &err));
    return !ways[way].ends;
}
