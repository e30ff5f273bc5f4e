/* SPDX-License-Identifier: Apache-2.0 */
/* Litmus tests of memory order: no strong form shows a weak outcome. With `rows` each form's
 * outcomes are counted and printed as rows, for docs/MEMORY_ORDER.md. Weak forms are for a GPU:
 * they race. */
#include <gpurt/gpurt.h>

#include "../bench/rows.h"
#include "check.h"
#include "litmus_kernels.h"

static const char *const shapes[LITMUS_SHAPES] = {"MP", "SB", "LB", "IRIW", "CoRR"};
static const char *const scopes[LITMUS_SCOPES] = {"block", "cluster", "device", "system"};
static const char *const forms[LITMUS_FORMS] = {"strong", "weakened", "block scope"};

/* How much: of a GPU, and of the CPU back end. */
typedef struct plan {
    uint32_t blocks, rounds, launches;
} plan_t;

static gpurt_t *rt;
static gpurt_error_t err;
static gpurt_info_t info;
static struct litmus_args args;
static uint32_t *near_cells, *far_cells; /* memory of the device, of the host */
static plan_t plan;

static void need(gpurt_status_t st)
{
    CHECK_MSG(st == GPURT_OK, "%s", err.text);
}

static size_t cell_bytes(uint64_t instances)
{
    return instances * 2 * LITMUS_STRIDE * sizeof(uint32_t);
}

static size_t seen_bytes(uint64_t instances)
{
    return instances * LITMUS_SEEN * sizeof(uint32_t);
}

/* Words in memory of the host are far away: fewer rounds. */
static uint32_t rounds_of(uint32_t scope)
{
    return scope == LITMUS_SYS ? (plan.rounds + 3) / 4 : plan.rounds;
}

static uint64_t instances_of(uint32_t scope)
{
    return (uint64_t)plan.blocks * LITMUS_THREADS * rounds_of(scope);
}

static void setup(void)
{
    uint64_t most = (uint64_t)plan.blocks * LITMUS_THREADS * plan.rounds;

    need(gpurt_mem_create(rt, cell_bytes(most), (void **)&near_cells, &err));
    need(gpurt_host_create(rt, cell_bytes(instances_of(LITMUS_SYS)), (void **)&far_cells,
                           &err));
    need(gpurt_mem_create(rt, seen_bytes(most), (void **)&args.seen, &err));
    need(gpurt_host_create(rt, sizeof *args.weak, (void **)&args.weak, &err));
}

static void judge(void)
{
    gpurt_launch_t launch = {.grid = {plan.blocks, 1, 1}, .block = {LITMUS_THREADS, 1, 1}};

    need(gpurt_launch(rt, &launch, litmus_judge, &args, &err));
}

/* Returns: weak outcomes, of *all. */
static uint64_t count(uint32_t shape, uint32_t scope, uint32_t form, uint64_t *all)
{
    gpurt_launch_t launch = {.grid = {plan.blocks, 1, 1},
                             .block = {LITMUS_THREADS, 1, 1},
                             .cluster = {scope == LITMUS_CLU ? LITMUS_CLUSTER : 1, 1, 1},
                             .cooperative = scope >= LITMUS_DEV};

    args.shape = shape;
    args.scope = scope;
    args.form = form;
    args.rounds = rounds_of(scope);
    args.instances = instances_of(scope);
    args.cells = scope == LITMUS_SYS ? far_cells : near_cells;
    *args.weak = 0;
    *all = 0;
    for (uint32_t i = 0; i < plan.launches; i++) {
        args.seed = i * 0x9e3779b1u;
        args.jitter = i % 4 == 0 ? 0 : 4u << i % 4 * 2; /* 0, 16, 64, 256 */
        need(gpurt_fill(rt, GPURT_STREAM_DEFAULT, args.cells, 0, cell_bytes(args.instances),
                        &err));
        need(gpurt_fill(rt, GPURT_STREAM_DEFAULT, args.seen, 0xff,
                        seen_bytes(args.instances), &err));
        need(gpurt_launch(rt, &launch, litmus_run, &args, &err));
        judge();
        need(gpurt_sync(rt, &err));
        *all += args.instances;
    }
    return *args.weak;
}

static bool applies(uint32_t scope, uint32_t form)
{
    return (scope != LITMUS_CLU || info.max_cluster >= LITMUS_CLUSTER) &&
           (scope != LITMUS_BLK || form != LITMUS_NARROW);
}

/* The judge finds each shape's weak outcome where there is one, and nothing else. */
static void judge_is_awake(void)
{
    static const uint32_t weak[LITMUS_SHAPES][LITMUS_SEEN] = {
        {1, 0, 9, 9}, {0, 0, 9, 9}, {1, 1, 9, 9}, {1, 0, 1, 0}, {1, 0, 9, 9}};
    static const uint32_t fine[LITMUS_SEEN] = {0, 1, 1, 0};
    uint32_t *rows;

    need(gpurt_host_create(rt, 2 * sizeof fine, (void **)&rows, &err));
    for (uint32_t shape = 0; shape < LITMUS_SHAPES; shape++) {
        memcpy(rows, weak[shape], sizeof fine);
        memcpy(rows + LITMUS_SEEN, fine, sizeof fine);
        args.shape = shape;
        args.instances = 2;
        *args.weak = 0;
        need(gpurt_copy(rt, GPURT_STREAM_DEFAULT, args.seen, rows, 2 * sizeof fine, &err));
        judge();
        need(gpurt_sync(rt, &err));
        CHECK_MSG(*args.weak == 1, "%s: %llu weak of one", shapes[shape],
                  (unsigned long long)*args.weak);
    }
    need(gpurt_host_destroy(rt, rows));
}

static void strong_hold(void)
{
    for (uint32_t shape = 0; shape < LITMUS_SHAPES; shape++)
        for (uint32_t scope = 0; scope < LITMUS_SCOPES; scope++) {
            uint64_t all, weak;

            if (!applies(scope, LITMUS_STRONG))
                continue;
            weak = count(shape, scope, LITMUS_STRONG, &all);
            CHECK_MSG(weak == 0, "%s, %s: %llu weak outcomes of %llu", shapes[shape],
                      scopes[scope], (unsigned long long)weak, (unsigned long long)all);
        }
}

static void print_rows(void)
{
    rows_head();
    for (uint32_t shape = 0; shape < LITMUS_SHAPES; shape++)
        for (uint32_t scope = 0; scope < LITMUS_SCOPES; scope++)
            for (uint32_t form = 0; form < LITMUS_FORMS; form++) {
                uint64_t all, weak;
                char name[64];

                if (!applies(scope, form))
                    continue;
                weak = count(shape, scope, form, &all);
                snprintf(name, sizeof name, "%s, %s, %s", shapes[shape], scopes[scope],
                         forms[form]);
                rows_add("litmus", name, (double)weak, "weak", "instances", (double)all);
            }
}

int main(int argc, char **argv)
{
    bool rows = argc > 1 && strcmp(argv[1], "rows") == 0, gpu;

    CHECK_MSG(argc < 2 || rows, "usage: %s [rows]", argv[0]);
    need(gpurt_open(NULL, &rt, &err));
    need(gpurt_info(rt, &info));
    gpu = info.backend == GPURT_BACKEND_CUDA;
    if (rows && !gpu)
        SKIP("weak forms race: rows are for a GPU");
    plan.blocks = gpu ? info.sm_count / LITMUS_CLUSTER * LITMUS_CLUSTER * 4 : 8;
    plan.rounds = gpu ? 32 : 8;
    plan.launches = rows ? 24 : gpu ? 4 : 1;
    setup();
    judge_is_awake();
    if (rows)
        print_rows();
    else
        strong_hold();
    need(gpurt_mem_destroy(rt, near_cells));
    need(gpurt_mem_destroy(rt, args.seen));
    need(gpurt_host_destroy(rt, far_cells));
    need(gpurt_host_destroy(rt, args.weak));
    need(gpurt_close(rt, &err));
    return 0;
}
