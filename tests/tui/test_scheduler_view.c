/* SPDX-License-Identifier: Apache-2.0 */
/* Executors on the screen: none, one that is idle, busy, starved, stuck by a task that runs on, by one
 * that nobody starts and by two that wait for each other; several, and what a log may say that no
 * executor does. */
#include "view_stage.h"

#define SECOND 1000000000ull

static const char EXECUTOR[] = "executor executors\n"
                               "name text\n"
                               "state state words=idle,busy,starved,stuck,dead\n"
                               "blocks limit\n"
                               "asleep gauge\n"
                               "warps limit\n"
                               "running gauge\n"
                               "tasks limit\n"
                               "live gauge of=tasks\n"
                               "ready gauge\n"
                               "stuck gauge trouble\n"
                               "ended counter\n"
                               "failed fault\n"
                               "cancelled counter\n"
                               "refused fault\n"
                               "at_once counter\n"
                               "useful_cycles counter\n"
                               "scheduling_cycles counter\n"
                               "waiting_cycles counter\n"
                               "ready_by_level matrix words=level,ready count=16\n"
                               "ready_to_begun histogram unit=ns count=32\n"
                               "useful_by_sm cells count=16\n"
                               "moved counter\n"
                               "moved_by_pair matrix words=tasks,from_sm,to_sm count=6\n"
                               "timed gauge\n"
                               "sliced counter\n";
static const char KIND[] = "task_kind task_kinds\n"
                           "executor reference words=executor parent\n"
                           "name text\n"
                           "running gauge\n"
                           "runs counter\n"
                           "useful_cycles counter\n"
                           "longest_cycles peak\n";
static const char GROUP[] = "task_group task_groups\n"
                            "executor reference words=executor parent\n"
                            "name text\n"
                            "quota limit unit=%\n"
                            "share gauge unit=% of=quota\n"
                            "waiting gauge\n"
                            "used counter unit=ns\n"
                            "held counter\n";
static const char STUCK[] = "stuck_task stuck_tasks\n"
                            "executor reference words=executor parent\n"
                            "name text\n"
                            "why state words=runs,held,awaits_children,awaits_task,sleeps\n"
                            "level gauge\n"
                            "row gauge\n"
                            "sm gauge\n"
                            "block gauge\n"
                            "warp gauge\n"
                            "since time\n"
                            "waits_for reference words=stuck_task\n"
                            "awaited_by gauge\n";

enum {
    LEVELS = 18,
    WAITS = LEVELS + 16,
    MAP = WAITS + 32,
    MOVED = MAP + 2,
    PAIRS,
    TIMED = PAIRS + 6,
    SLICED,
    VALUES
};
enum {
    IDLE,
    BUSY,
    STARVED,
    STUCK_,
    DEAD
};
enum {
    RUNS,
    HELD,
    CHILDREN,
    AFTER,
    SLEEPS
};

static uint32_t executor, kind, group, stuck;

static void draw_at(int rows, int columns)
{
    view_draw(VIEW_SCHEDULER, rows, columns);
}

static void begin(void)
{
    memset(&p, 0, sizeof p);
    stage_program = process(100, "one");
    executor = object_class(EXECUTOR);
    kind = object_class(KIND);
    group = object_class(GROUP);
    stuck = object_class(STUCK);
}

/* turn: counters grow with it. */
static void put_executor(uint32_t id, const char *name, uint64_t state, uint64_t turn,
                         uint64_t running, uint64_t ready, bool ended)
{
    uint64_t v[VALUES] = {
        string(name), state,           4,           1, 8, running, 8192, running + ready,
        ready,        state == STUCK_, 1000 * turn, 0, 3, 0,       0,    700 * turn,
        200 * turn,   100 * turn};

    if (ready) {
        v[LEVELS] = 1;
        v[LEVELS + 1] = 5;
        v[LEVELS + 2] = 4;
        v[LEVELS + 3] = ready - 5;
    }
    v[WAITS + 10] = 60 * turn;
    v[WAITS + 15] = 5 * turn;
    v[MAP] = 0xffffffff00407ffeull;
    v[MAP + 1] = UINT64_MAX;
    v[MOVED] = 48 * turn;
    v[PAIRS] = 32 * turn;
    v[PAIRS + 1] = 7;
    v[PAIRS + 2] = 12;
    v[TIMED] = state == STARVED;
    v[SLICED] = 20 * turn;
    object_put(0, executor, T0 + turn * SECOND, id, ended, v, VALUES);
}

static void put_kind(uint32_t id, uint32_t of, const char *name, uint64_t runs,
                     uint64_t cycles)
{
    uint64_t v[] = {of, string(name), 2, runs, cycles, 900};

    object_put(0, kind, T0 + SECOND, id, false, v, 6);
}

static void put_group(uint32_t id, const char *name, uint64_t quota, uint64_t share,
                      uint64_t waiting)
{
    uint64_t v[] = {1, string(name), quota, share, waiting, 1000, 7};

    object_put(0, group, T0 + SECOND, id, false, v, 7);
}

static void put_stuck(uint32_t id, const char *name, uint64_t why, uint64_t row,
                      uint64_t waits_for, uint64_t awaited)
{
    bool runs = why == RUNS;
    uint64_t no = GPURT_VALUE_UNKNOWN;
    uint64_t v[] = {1,
                    string(name),
                    why,
                    3,
                    row,
                    runs ? 7 : no,
                    runs ? 2 : no,
                    runs ? 1 : no,
                    T0 - SECOND / 2,
                    waits_for,
                    awaited};

    object_put(0, stuck, T0 + 2 * SECOND, id, false, v, 11);
}

/* ---- the screens --------------------------------------------------------------------- */

static void check_load(void)
{
    begin();
    draw_at(8, 80);
    CHECK(seen("No executor was recorded."));
    put_executor(1, "tiles", BUSY, 1, 6, 120, false);
    put_executor(1, "tiles", BUSY, 2, 6, 120, false);
    put_kind(1, 1, "sum", 50, 100);
    put_kind(2, 1, "tile", 950, 9900);
    draw_at(24, 100);
    golden("-- Scheduler  executor 1 of 1 ----------------------------------------"
           "------------------------------\n"
           "\n"
           "  tiles (executor 1)  busy\n"
           "  120 tasks are ready, 6 of 8 warps run one\n"
           "\n"
           "  warps       #########... 6 of 8 in a task; 4 blocks, 1 asleep\n"
           "  time        useful 70%   scheduling 20%   waiting 10%\n"
           "  tasks       126 live of 8192   2000 ended (1000/s)   0 failed   0 re"
           "fused   3 cancelled\n"
           "  ready       120   level 1: 5   level 4: 115\n"
           "  to begin    p50 below 2.05 us   p99 below 65.54 us   ..........#...."
           "................. 1 ns to 2 s\n"
           "  moved       96 between SMs   7 to 12: 64\n"
           "  slices      40 bodies have records, of 1000\n"
           "  SMs useful  #++.\n"
           "\n"
           "       running      runs  a second    time mean cycles     longest  ki"
           "nd\n"
           "             2       950         0     99%          10         900  ti"
           "le\n"
           "             2        50         0      1%           2         900  su"
           "m\n");
    put_executor(1, "tiles", STARVED, 3, 2, 0, false);
    draw_at(24, 100);
    CHECK(seen("starved") &&
          seen("no task is ready: 2 of 8 warps run one, 2 live, 1 sleep"));
    put_executor(1, "tiles", IDLE, 4, 0, 0, true);
    draw_at(24, 100);
    CHECK(seen("(executor 1, ended)  closed") && seen("all its tasks have ended"));
}

static void check_stuck(void)
{
    begin();
    put_executor(1, "tiles", STUCK_, 2, 1, 0, false);
    put_stuck(8, "sum", AFTER, 34, 9, 0);
    put_stuck(9, "tile", RUNS, 5, 0, 1);
    draw_at(24, 100);
    golden("-- Scheduler  executor 1 of 1 ----------------------------------------"
           "------------------------------\n"
           "\n"
           "  tiles (executor 1)  stuck\n"
           "  tile runs for 2.5 s and comes to no end: SM 7, block 2, warp 1; awai"
           "ted by 1\n"
           "\n"
           "  Tasks that do not come on\n"
           "  sum #34  awaits task, 2.5 s, level 4, waits for tile #5, awaited by "
           "0\n"
           "  tile #5  runs, 2.5 s, SM 7 block 2 warp 1, level 4, awaited by 1\n"
           "\n"
           "  warps       ##.......... 1 of 8 in a task; 4 blocks, 1 asleep\n"
           "  time        useful 70%   scheduling 20%   waiting 10%\n"
           "  tasks       1 live of 8192   2000 ended (0/s)   0 failed   0 refused"
           "   3 cancelled\n"
           "  ready       0\n"
           "  to begin    p50 below 2.05 us   p99 below 65.54 us   ..........#...."
           "................. 1 ns to 2 s\n"
           "  moved       96 between SMs   7 to 12: 64\n"
           "  slices      40 bodies have records\n"
           "  SMs useful  #++.\n");
    draw_at(14, 100);
    CHECK(seen("tile #5  runs") && seen("  4 more lines: a taller terminal shows them"));
}

static void check_groups(void)
{
    begin();
    put_executor(1, "tiles", BUSY, 2, 6, 120, false);
    put_group(1, "group 1", 25, 24, 130);
    put_group(2, "group 2", 0, 70, 0);
    put_group(3, "group 3", 5, 1, 0);
    put_group(4, "group 4", 5, 6, 1);
    draw_at(24, 100);
    CHECK(seen("  groups      group 1   24% of 25%, 130 tasks wait for it"));
    CHECK(seen("              group 2   70% of the time, no quota"));
    CHECK(seen("              group 3   1% of 5%"));
    CHECK(seen("              group 4   6% of 5%, 1 task waits for it"));
}

static void check_held(void)
{
    begin();
    put_executor(1, "tiles", STUCK_, 2, 0, 0, false);
    put_stuck(1, "sum", AFTER, 4, 2, 0);
    put_stuck(2, "tile", HELD, 5, 0, 1);
    draw_at(24, 100);
    CHECK(seen("nothing runs for 2.5 s: tile is held, and nobody starts it; awaited by 1"));
    CHECK(seen("sum #4  awaits task, 2.5 s, level 4, waits for tile #5, awaited by 0"));
}

static void check_sleeps(void)
{
    begin();
    put_executor(1, "tiles", STUCK_, 2, 0, 0, false);
    put_stuck(1, "sum", CHILDREN, 4, 2, 0);
    put_stuck(2, "tile", SLEEPS, 5, 0, 1);
    draw_at(24, 100);
    CHECK(seen("nothing runs for 2.5 s: tile sleeps, and looks for what does not come; "
               "awaited by 1"));
}

/* Panics have ended all blocks. */
static void check_dead(void)
{
    begin();
    put_executor(1, "tiles", DEAD, 1, 0, 120, false);
    draw_at(24, 100);
    CHECK(seen("(executor 1)  dead") &&
          seen("panics have ended all its 4 blocks; 120 tasks never run"));
}

static void check_deadlock(void)
{
    begin();
    put_executor(1, "tiles", STUCK_, 2, 0, 0, false);
    put_stuck(1, "sum", AFTER, 4, 2, 1);
    put_stuck(2, "tile", AFTER, 5, 1, 1);
    draw_at(24, 100);
    CHECK(seen("tasks wait for each other, sum is one of them"));
}

static void check_several(void)
{
    begin();
    put_executor(1, "tiles", BUSY, 1, 6, 120, false);
    put_executor(2, "sorts", IDLE, 1, 0, 0, false);
    put_kind(1, 1, "tile", 5, 10);
    draw_at(24, 100);
    CHECK(seen("executor 1 of 2") && seen("tiles (executor 1)") && seen("mean cycles"));
    CHECK(picture_view(VIEW_SCHEDULER)->act(&p, ACTION_DOWN, 5));
    draw_at(24, 100);
    CHECK(seen("executor 2 of 2") && seen("sorts (executor 2)") && !seen("mean cycles"));
    CHECK(picture_view(VIEW_SCHEDULER)->act(&p, ACTION_DOWN, 5));
    draw_at(24, 100);
    CHECK(seen("tiles (executor 1)"));
    CHECK(!picture_view(VIEW_SCHEDULER)->act(&p, ACTION_OPEN, 5));
}

/* A class of that name whose fields are others. */
static void check_strange(void)
{
    uint64_t v[] = {7, 1};

    begin();
    executor = object_class("executor executors\nlive text\nstate gauge\n");
    object_put(0, executor, T0, 1, false, v, 2);
    draw_at(24, 100);
    CHECK(seen("- (executor 1)"));
}

int main(void)
{
    in_model(check_load);
    in_model(check_stuck);
    in_model(check_groups);
    in_model(check_held);
    in_model(check_deadlock);
    in_model(check_sleeps);
    in_model(check_dead);
    in_model(check_several);
    in_model(check_strange);
    canvas_fini(&c);
    return 0;
}
