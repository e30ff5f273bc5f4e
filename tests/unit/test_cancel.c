/* SPDX-License-Identifier: Apache-2.0 */
/* A panic cancels its block, its cluster, and who meets it at grid barriers: wherever they
 * wait, they end; all others finish, and the next launch knows nothing of it. */
#include "../check.h"
#include "../kernels/cancel_kernels.h"

#include <gpurt/gpurt.h>
#include <string.h>

enum {
    BLOCKS = 8,
    THREADS = 96,
    CLUSTER = 4,
    LANES = BLOCKS * THREADS,
    VICTIM = 2,
    SOUND = 5 /* launches without a panic after each one with */
};

static const char *const names[CANCEL_KINDS] = {"block barrier",
                                                "named barrier",
                                                "named barrier, part of a warp",
                                                "relax",
                                                "loop",
                                                "asked",
                                                "warp vote",
                                                "all of them",
                                                "cluster barrier",
                                                "relax in a cluster",
                                                "grid barrier"};

static gpurt_error_t err;
static gpurt_t *rt;
static uint32_t *out, seen[LANES];

static void run(uint32_t where, uint32_t victim, uint32_t late)
{
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    struct cancel_args args = {out, where, victim, late};
    gpurt_status_t st;

    if (where == CANCEL_AT_GRID_BARRIER) {
        launch.cooperative = true;
        st = gpurt_launch(rt, &launch, cancel_grid, &args, &err);
    } else if (where >= CANCEL_AT_CLUSTER_BARRIER) {
        launch.cluster.x = CLUSTER;
        st = gpurt_launch(rt, &launch, cancel_cluster, &args, &err);
    } else {
        st = gpurt_launch(rt, &launch, cancel_block, &args, &err);
    }
    if (st == GPURT_OK)
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, seen, out, sizeof seen, &err);
    if (st == GPURT_OK)
        st = gpurt_sync(rt, &err);
    if (st != GPURT_OK) {
        static char report[8192];

        gpurt_report(rt, report, sizeof report);
        CHECK_MSG(false, "%s: %s\n%s", names[where], err.text, report);
    }
}

/* What the lane may have written last. */
static bool is_right(uint32_t where, uint32_t victim, uint32_t lane)
{
    uint32_t block = lane / THREADS, word = seen[lane];
    bool gone = block == victim;

    if (where == CANCEL_AT_GRID_BARRIER)
        gone = victim != CANCEL_NOBODY;
    else if (where >= CANCEL_AT_CLUSTER_BARRIER && victim != CANCEL_NOBODY)
        gone = block / CLUSTER == victim / CLUSTER;
    if (!gone)
        return word == CANCEL_PASSED;
    if (where == CANCEL_IN_ASKED)
        return word == (lane % THREADS == 5 ? CANCEL_BEGAN : CANCEL_FAREWELL);
    return word == CANCEL_BEGAN;
}

static void judge(uint32_t where, uint32_t victim, uint32_t late)
{
    run(where, victim, late);
    for (uint32_t i = 0; i < LANES; i++)
        CHECK_MSG(is_right(where, victim, i),
                  "%s, victim %d, late %u: block %u thread %u: %u", names[where],
                  (int)victim, late, i / THREADS, i % THREADS, seen[i]);
}

int main(int argc, char **argv)
{
    void *memory = NULL;
    gpurt_info_t info;

    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK &&
                  gpurt_info(rt, &info) == GPURT_OK &&
                  gpurt_mem_create(rt, sizeof seen, &memory, &err) == GPURT_OK,
              "%s", err.text);
    out = (uint32_t *)memory;
    for (uint32_t where = 0; where < CANCEL_KINDS; where++) {
        bool clusters =
            where == CANCEL_AT_CLUSTER_BARRIER || where == CANCEL_IN_CLUSTER_RELAX;

        if ((clusters && info.max_cluster == 1) ||
            (argc > 1 && strcmp(argv[1], names[where]) != 0))
            continue;
        printf("%s\n", names[where]);
        for (uint32_t late = 0; late < 200; late += 99) {
            judge(where, VICTIM, late);
            /* none of them inherits the mark */
            for (uint32_t i = 0; i < SOUND; i++)
                judge(where, CANCEL_NOBODY, 0);
        }
    }
    CHECK_MSG(gpurt_mem_destroy(rt, memory) == GPURT_OK &&
                  gpurt_close(rt, &err) == GPURT_OK,
              "%s", err.text);
    return 0;
}
