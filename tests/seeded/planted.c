/* SPDX-License-Identifier: Apache-2.0 */
/* planted BUG|all [--good] [--hash] [--list] - runs a planted bug, or its corrected twin,
 * once.
 *
 * Ends with 0 when the launch succeeded and every word is right, with 1 and a line that
 * says what is wrong when not, with 2 when it was called wrongly. What may find the bug
 * beside the result (a sanitizer, gpurt-check) ends the program in its own way. CPU back
 * end only: on a GPU half of these would take the context with them. */
#include "../kernels/planted_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpurt/gpurt.h>

enum {
    NOT_HEAP_ROUND = 300,
    REPORT_BYTES = 16 * 1024
};

/* words[i] must be expect(i) for i < checked, after a launch of blocks x
 * PLANTED_THREADS. */
typedef struct planted_row {
    const char *name;
    const gpurt_kernel_t *kernel;
    uint32_t blocks, checked;
    uint32_t (*expect)(uint32_t i);
    void (*fill)(uint32_t *words, uint64_t *head); /* else 0 */
} planted_row_t;

/* ---- what the words must be ---------------------------------------------------------- */
static uint32_t zero(uint32_t i)
{
    (void)i;
    return 0;
}
static uint32_t one(uint32_t i)
{
    (void)i;
    return 1;
}
static uint32_t a_warp(uint32_t i)
{
    (void)i;
    return 32;
}
static uint32_t a_warp_but_one(uint32_t i)
{
    (void)i;
    return 31;
}
static uint32_t self(uint32_t i)
{
    return i;
}
static uint32_t thread_before(uint32_t i)
{
    uint32_t t = i % PLANTED_THREADS;

    return t ? t : 1;
}
static uint32_t thread_beside(uint32_t i)
{
    return (i % PLANTED_THREADS ^ 1u) + 1;
}
/* Data, flags, and what the other block read. */
static uint32_t published(uint32_t i)
{
    return i / PLANTED_THREADS == 1 ? 1 : i % PLANTED_THREADS + 1;
}
/* PLANTED_ROUNDS values of the thread after, which the last of a warp, or of a block,
 * lacks. */
static uint32_t sum_of_rounds(uint32_t t)
{
    return PLANTED_ROUNDS * t + PLANTED_ROUNDS * (PLANTED_ROUNDS - 1) / 2;
}
static uint32_t next_in_block(uint32_t i)
{
    uint32_t t = i % PLANTED_THREADS;

    return sum_of_rounds(t < PLANTED_THREADS - 1 ? t + 1 : t);
}
static uint32_t next_in_warp(uint32_t i)
{
    uint32_t t = i % PLANTED_THREADS;

    return sum_of_rounds(t % 32 < 31 ? t + 1 : t);
}
static uint32_t block_size(uint32_t i)
{
    (void)i;
    return PLANTED_THREADS;
}
static uint32_t all_updates(uint32_t i)
{
    (void)i;
    return 2 * PLANTED_THREADS * PLANTED_ROUNDS;
}
static uint32_t all_threads(uint32_t i)
{
    (void)i;
    return 2 * PLANTED_THREADS;
}

static void link_nodes(uint32_t *words, uint64_t *head)
{
    for (uint32_t node = 1; node <= PLANTED_NODES; node++)
        words[1 + node * PLANTED_NODE_WORDS] = node < PLANTED_NODES ? node + 1 : 0;
    *head = 1;
}

#define ROW(bug, blocks, checked, expect)                                \
    {                                                                    \
#        bug, &gpurt_kernel_planted_##bug, blocks, checked, expect, NULL \
    }
static const planted_row_t rows[] = {
    ROW(missing_barrier, 2, 2 * PLANTED_THREADS, thread_before),
    ROW(second_barrier, 2, 2 * PLANTED_THREADS, next_in_block),
    ROW(second_syncwarp, 2, 2 * PLANTED_THREADS, next_in_warp),
    ROW(ballot_barrier, 2, 2 * PLANTED_THREADS, thread_beside),
    ROW(relaxed_publish, 2, 3 * PLANTED_THREADS, published),
    ROW(lost_update, 2, 1, all_updates),
    ROW(plain_update, 2, 1, all_updates),
    {"aba", &gpurt_kernel_planted_aba, 2, 1, zero, link_nodes},
    ROW(block_scope, 2, 1, all_threads),
    ROW(shared_unset, 2, 2 * PLANTED_THREADS, block_size),
    ROW(outsider_mask, 1, PLANTED_THREADS, a_warp),
    ROW(mismatched_masks, 1, PLANTED_THREADS, a_warp),
    ROW(divergent_barrier, 1, PLANTED_THREADS, a_warp),
    ROW(named_barrier, 1, PLANTED_THREADS, a_warp),
    ROW(barrier_sites, 1, PLANTED_THREADS, a_warp),
    ROW(exit_named, 1, PLANTED_THREADS, a_warp_but_one),
    ROW(names_ended, 1, PLANTED_THREADS, a_warp_but_one),
    ROW(heap_overflow, 1, PLANTED_THREADS, zero),
    ROW(lane_overflow, 1, PLANTED_THREADS, self),
    ROW(shift, 1, 1, one),
    ROW(stack_overflow, 1, 1, one),
    ROW(null, 1, 1, one),
    ROW(divide, 1, 1, one),
    ROW(trap, 1, 1, one),
    ROW(occupancy, 8, 8, one),
    ROW(livelock, 1, PLANTED_THREADS, one),
    ROW(endless_spin, 1, PLANTED_THREADS, one),
    ROW(missing_relax, 1, PLANTED_THREADS, one),
    ROW(broken_promise, 1, 1, one),
    ROW(abort, 1, 1, one),
};
enum {
    ROWS = sizeof rows / sizeof rows[0]
};

/* ---- one run ------------------------------------------------------------------------- */
/* Owner: run_row. */
struct planted_memory {
    void *words, *head;
    uint32_t host_words[NOT_HEAP_ROUND];
    uint64_t host_head;
};

static gpurt_status_t memory_create(gpurt_t *rt, const planted_row_t *row,
                                    struct planted_memory *m, gpurt_error_t *err)
{
    gpurt_status_t st;

    memset(m, 0, sizeof *m);
    if (row->fill)
        row->fill(m->host_words, &m->host_head);
    st = gpurt_mem_create(rt, sizeof m->host_words, &m->words, err);
    if (!st)
        st = gpurt_mem_create(rt, sizeof m->host_head, &m->head, err);
    if (!st)
        st = gpurt_copy(rt, 0, m->words, m->host_words, sizeof m->host_words, err);
    if (!st)
        st = gpurt_copy(rt, 0, m->head, &m->host_head, sizeof m->host_head, err);
    return st;
}

static gpurt_status_t launch(gpurt_t *rt, const planted_row_t *row,
                             struct planted_memory *m, bool good, gpurt_error_t *err)
{
    gpurt_launch_t shape = {.grid = {row->blocks, 1, 1}, .block = {PLANTED_THREADS, 1, 1}};
    struct planted_args args = {
        .words = (uint32_t *)m->words,
        .head = (uint64_t *)m->head,
        .count = NOT_HEAP_ROUND,
        .good = good,
        .eight = 8,
        .bits33 = 33,
    };
    gpurt_status_t st =
        gpurt_launch_kernel(rt, &shape, row->kernel, &args, sizeof args, err);

    if (!st)
        st = gpurt_copy(rt, 0, m->host_words, m->words, sizeof m->host_words, err);
    return st ? st : gpurt_sync(rt, err);
}

static bool words_are_right(const planted_row_t *row, const struct planted_memory *m)
{
    for (uint32_t i = 0; i < row->checked; i++)
        if (m->host_words[i] != row->expect(i)) {
            printf("planted: %s: word %u is %u, expected %u\n", row->name, i,
                   m->host_words[i], row->expect(i));
            return false;
        }
    return true;
}

static bool run_row(gpurt_t *rt, const planted_row_t *row, bool good)
{
    static char report[REPORT_BYTES];
    struct planted_memory m;
    gpurt_error_t err = {GPURT_OK, 0, 0, ""};
    gpurt_status_t st = memory_create(rt, row, &m, &err);

    if (!st)
        st = launch(rt, row, &m, good, &err);
    gpurt_mem_destroy(rt, m.words);
    gpurt_mem_destroy(rt, m.head);
    if (!st)
        return words_are_right(row, &m);
    gpurt_report(rt, report, sizeof report);
    printf("planted: %s: %s: %s\n%s", row->name, gpurt_status_name(st), err.text, report);
    return false;
}

static void print_hash(gpurt_t *rt)
{
    gpurt_counters_t c;

    if (gpurt_counters(rt, &c) == GPURT_OK)
        printf("hash %016llx switches %llu preemptions %llu\n", (unsigned long long)c.hash,
               (unsigned long long)c.switches, (unsigned long long)c.preemptions);
}

static const planted_row_t *find_row(const char *name)
{
    for (uint32_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* ---- command line -------------------------------------------------------------------- */
struct planted_words {
    const char *bug;
    bool good, hash, list;
};

static bool parse(int argc, char **argv, struct planted_words *out)
{
    memset(out, 0, sizeof *out);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--good") == 0)
            out->good = true;
        else if (strcmp(argv[i], "--hash") == 0)
            out->hash = true;
        else if (strcmp(argv[i], "--list") == 0)
            out->list = true;
        else if (argv[i][0] != '-' && !out->bug)
            out->bug = argv[i];
        else
            return false;
    }
    return out->list || (out->bug && (strcmp(out->bug, "all") == 0 || find_row(out->bug)));
}

int main(int argc, char **argv)
{
    gpurt_options_t options = {.struct_size = sizeof options, .backend = GPURT_BACKEND_CPU};
    gpurt_error_t err = {GPURT_OK, 0, 0, ""};
    struct planted_words words;
    bool right = true;
    gpurt_t *rt;

    if (!parse(argc, argv, &words)) {
        fprintf(stderr, "usage: planted BUG|all [--good] [--hash], or planted --list\n");
        return 2;
    }
    for (uint32_t i = 0; words.list && i < ROWS; i++)
        puts(rows[i].name);
    if (words.list)
        return 0;
    if (gpurt_open(&options, &rt, &err)) {
        fprintf(stderr, "planted: %s\n", err.text);
        return 2;
    }
    for (uint32_t i = 0; i < ROWS; i++)
        if (strcmp(words.bug, "all") == 0 || strcmp(words.bug, rows[i].name) == 0)
            right = run_row(rt, &rows[i], words.good) && right;
    if (words.hash)
        print_hash(rt);
    gpurt_close(rt, NULL);
    return right ? 0 : 1;
}
