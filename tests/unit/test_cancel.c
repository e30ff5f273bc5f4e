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
                                                "passes of a loop",
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
    if (st != (victim == CANCEL_NOBODY ? GPURT_OK : GPURT_E_PANIC)) {
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

/* GPURT_LOOP makes the passes of a plain loop, however often it looks. */
static void loop_judge(uint32_t from, uint32_t to, uint32_t step, uint32_t leave)
{
    const gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct cancel_loop_args args = {out, from, to, step, leave};
    uint32_t passes = 0, hash = 0, last = 0;

    for (uint64_t i = from; i < to && i != leave; i += step) {
        last = (uint32_t)i;
        passes++;
        hash = i % 3 == 0 ? hash : hash * 31 + (uint32_t)i;
    }
    CHECK_MSG(gpurt_launch(rt, &launch, cancel_loop, &args, &err) == GPURT_OK &&
                  gpurt_copy(rt, GPURT_STREAM_DEFAULT, seen, out, 12, &err) == GPURT_OK &&
                  gpurt_sync(rt, &err) == GPURT_OK,
              "%s", err.text);
    CHECK_MSG(seen[0] == passes && seen[1] == hash && seen[2] == last,
              "%u to %u by %u, left at %u: %u passes, expected %u", from, to, step, leave,
              seen[0], passes);
}

static void loops(void)
{
    static const uint32_t counts[] = {0, 1, 15, 16, 17, 31, 32, 33, 100};
    const uint32_t never = UINT32_MAX;

    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (uint32_t step = 1; step < 6; step += 2) {
            uint32_t bytes = counts[i] * step;

            loop_judge(7, 7 + bytes, step, never);
            loop_judge(7, 7 + bytes, step, 7 + bytes / 2 / step * step); /* in the midst */
            loop_judge(never - 5 - bytes, never - 5, step, never);       /* up to the end */
        }
    loop_judge(9, 3, 1, never);
    loop_judge(0, 40, 1u << 30, never); /* 16 steps are more than there is */
    loop_judge(0, 64, 1, 16);           /* left where it looks */
    loop_judge(0, 64, 1, 15);
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
    loops();
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
