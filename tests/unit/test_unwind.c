/* SPDX-License-Identifier: Apache-2.0 */
/* Work that fails: what it deferred runs once and in order; a panic goes as far as it was told; the
 * blocks that failed, and no others, run again; the host stops what runs; and whatever happened,
 * the next launch knows nothing of it. */
#include "../check.h"
#include "../kernels/unwind_kernels.h"
#include "../must.h"

#include <gpurt/atomic.h>
#include <gpurt/recover.h>
#include <sched.h>
#include <time.h>

enum {
    LOGS = UNWIND_BLOCKS * UNWIND_WARPS,
    VICTIM = 2,
    AGAIN = 1000 /* launches in test_unwind again */
};

static gpurt_error_t err;
static gpurt_t *rt;
static gpurt_info_t info;
static gpurt_launch_t launch = {.grid = {UNWIND_BLOCKS, 1, 1},
                                .block = {UNWIND_THREADS, 1, 1}};
static struct unwind_args args;
static struct {
    uint64_t log[LOGS];
    uint32_t runs[UNWIND_BLOCKS], begun[UNWIND_BLOCKS];
} seen;

static void reset(void)
{
    must(gpurt_fill(rt, 0, args.log, 0, sizeof seen.log, &err));
    must(gpurt_fill(rt, 0, args.runs, 0, sizeof seen.runs, &err));
    must(gpurt_fill(rt, 0, args.begun, 0, sizeof seen.begun, &err));
    must(gpurt_sync(rt, &err));
    gpurt_store_relaxed_sys_u32(args.started, 0);
}

static void look(void)
{
    must(gpurt_copy(rt, 0, seen.log, args.log, sizeof seen.log, &err));
    must(gpurt_copy(rt, 0, seen.runs, args.runs, sizeof seen.runs, &err));
    must(gpurt_copy(rt, 0, seen.begun, args.begun, sizeof seen.begun, &err));
    must(gpurt_sync(rt, &err));
}

static gpurt_outcome_t settle(gpurt_guard_handle_t guard, gpurt_status_t expected)
{
    gpurt_outcome_t out;
    gpurt_status_t st = gpurt_guard_wait(rt, guard, &out, &err);

    CHECK_MSG(st == expected, "%s instead of %s: %s", gpurt_status_name(st),
              gpurt_status_name(expected), err.text);
    CHECK_EQ(out.status, expected);
    return out;
}

static gpurt_outcome_t run_guarded(const gpurt_kernel_t *kernel,
                                   const gpurt_recovery_t *policy, gpurt_status_t expected)
{
    gpurt_guard_handle_t guard;
    gpurt_outcome_t out;

    reset();
    must(gpurt_launch_guarded_kernel(rt, &launch, kernel, &args, sizeof args, policy,
                                     &guard, &err));
    out = settle(guard, expected);
    must(gpurt_guard_destroy(rt, guard));
    look();
    return out;
}

/* ---- deferred handlers --------------------------------------------------------------- */
static const struct {
    const char *name;
    uint64_t first,
        others;     /* what warp 0 of the victim's block logs, and its other warps */
    uint64_t sound; /* warps of the other blocks */
    uint32_t nested;
    uint32_t level;
} defers[DEFER_KINDS] = {
    [DEFER_ORDER] = {"order", 321, 321, 0, 0, 0},
    [DEFER_PART] = {"halves", 0, 0, 0, 0, 0}, /* 21 and 31 in either order: see below */
    [DEFER_TAKEN] = {"taken back", 21, 21, 2, 0, 0},
    [DEFER_PANIC] = {"a handler panics", 321, 321, 0, UNWIND_WARPS, 0},
    [DEFER_RETURN] = {"return", 0, 0, 0, 0, 0},
    [DEFER_FULL] = {"no room", 4321, 4321, 0, 0, 0},
    [DEFER_SAFE] = {"safe points in a handler", 321, 321, 0, 0, 0},
    [DEFER_THREAD] = {"one thread", 2, 0, 0, 0, GPURT_ON_PANIC_THREAD},
    [DEFER_LANES] = {"each lane its own", 11, 11, 0, 0, 0},
};

static bool log_is_right(uint32_t kind, uint32_t block, uint32_t warp)
{
    uint64_t log = seen.log[block * UNWIND_WARPS + warp];

    if (block != VICTIM)
        return log == defers[kind].sound;
    if (kind == DEFER_PART) /* who is last of all runs 1, right after its own */
        return log == 231 || log == 321;
    return log == (warp == 0 ? defers[kind].first : defers[kind].others);
}

static void test_defer(void)
{
    for (uint32_t kind = 0; kind < DEFER_KINDS; kind++)
        for (uint32_t lane = 0; lane < 32; lane += 31) {
            gpurt_recovery_t policy = {.on_panic = defers[kind].level};
            bool panics = kind != DEFER_RETURN;
            bool fails = panics && kind != DEFER_THREAD;
            gpurt_outcome_t out;

            printf("defer: %s\n", defers[kind].name);
            args.kind = kind;
            args.victims = 1u << VICTIM;
            args.lane = lane;
            out = run_guarded(&gpurt_kernel_unwind_defer, &policy,
                              fails ? GPURT_E_PANIC : GPURT_OK);
            CHECK_EQ(out.panics, panics);
            CHECK_EQ(out.nested, defers[kind].nested);
            CHECK_EQ(out.failed, fails);
            for (uint32_t i = 0; i < LOGS; i++)
                CHECK_MSG(log_is_right(kind, i / UNWIND_WARPS, i % UNWIND_WARPS),
                          "%s, lane %u: block %u warp %u logged %llu", defers[kind].name,
                          lane, i / UNWIND_WARPS, i % UNWIND_WARPS,
                          (unsigned long long)seen.log[i]);
            for (uint32_t b = 0; b < UNWIND_BLOCKS; b++)
                CHECK_EQ(seen.runs[b], panics && (b != VICTIM || !fails));
        }
}

/* ---- retries, fallbacks -------------------------------------------------------------- */
static void test_retry(void)
{
    gpurt_recovery_t policy = {.struct_size = sizeof policy, .retries = 3};
    gpurt_outcome_t out;

    printf("retry\n");
    args.kind = WORK_ONCE;
    args.how = WORK_HOW_PANIC;
    args.victims = 1u << 1 | 1u << 6;
    args.failures = 2;
    out = run_guarded(&gpurt_kernel_unwind_work, &policy, GPURT_OK);
    CHECK_EQ(out.launches, 3);
    CHECK_EQ(out.panics, 4);
    CHECK_EQ(out.failed_first, 2);
    CHECK_EQ(out.failed, 0);
    for (uint32_t b = 0; b < UNWIND_BLOCKS; b++) {
        CHECK_EQ(seen.begun[b], args.victims >> b & 1 ? 3 : 1);
        CHECK_EQ(seen.runs[b], 1);
    }

    printf("retry, in vain\n");
    args.failures = 99;
    policy.backoff_us = 10;
    out = run_guarded(&gpurt_kernel_unwind_work, &policy, GPURT_E_PANIC);
    CHECK_CONTAINS(err.text, "unwind_work: 2 of 8 blocks failed, 8 panics in 4 launches");
    CHECK_EQ(out.launches, 4);
    CHECK_EQ(out.failed, 2);

    printf("retry at level kernel\n");
    args.failures = 1;
    policy.on_panic = GPURT_ON_PANIC_KERNEL;
    args.kind = WORK_ONCE;
    out = run_guarded(&gpurt_kernel_unwind_work, &policy, GPURT_OK);
    for (uint32_t b = 0; b < UNWIND_BLOCKS; b++) /* stopped at its last safe point: again */
        CHECK_MSG(seen.runs[b] >= 1 && seen.runs[b] <= out.launches,
                  "block %u ran %u times in %u launches", b, seen.runs[b], out.launches);
    CHECK(out.failed_first >= 1 && out.failed == 0);
}

static gpurt_status_t fallback(void *context, gpurt_dim3_t block)
{
    CHECK(block.y == 0 && block.z == 0);
    *(uint32_t *)context |= 1u << block.x;
    return block.x == 6 ? GPURT_E_UNSUPPORTED : GPURT_OK;
}

static void test_fallback(void)
{
    uint32_t done = 0;
    gpurt_recovery_t policy = {.fallback = fallback, .context = &done};
    gpurt_guard_handle_t guard;
    gpurt_outcome_t out;
    uint32_t failed[2] = {77, 77};

    printf("fallback function\n");
    args.kind = WORK_ONCE;
    args.victims = 1u << 1 | 1u << 6;
    args.failures = 99;
    reset();
    must(gpurt_launch_guarded(rt, &launch, unwind_work, &args, &policy, &guard, &err));
    CHECK_EQ(gpurt_guard_failed(rt, guard, failed, 2), 0);
    out = settle(guard, GPURT_E_PANIC);
    CHECK_EQ(done, args.victims);
    CHECK_EQ(out.fallbacks, 1);
    CHECK_EQ(out.failed, 1);
    CHECK_EQ(gpurt_guard_failed(rt, guard, failed, 2), 1);
    CHECK_EQ(failed[0], 6);
    CHECK_EQ(failed[1], 77);
    settle(guard, GPURT_E_PANIC); /* the same answer */
    must(gpurt_guard_destroy(rt, guard));
    CHECK_EQ(gpurt_guard_destroy(rt, guard), GPURT_E_HANDLE);

    printf("fallback kernel\n");
    policy.fallback_kernel = &gpurt_kernel_unwind_fallback;
    done = 0;
    out = run_guarded(&gpurt_kernel_unwind_work, &policy, GPURT_OK);
    CHECK_EQ(done, 0);
    CHECK_EQ(out.launches, 2);
    for (uint32_t b = 0; b < UNWIND_BLOCKS; b++)
        CHECK_EQ(seen.runs[b], args.victims >> b & 1 ? 100 : 1);
}

/* Blocks that meet run again together. */
static void test_together(void)
{
    gpurt_recovery_t policy = {.retries = 1};

    args.kind = WORK_ONCE;
    args.victims = 1u << 5;
    args.failures = 1;
    if (info.max_cluster > 1) {
        printf("retry of a cluster\n");
        launch.cluster.x = 2;
        run_guarded(&gpurt_kernel_unwind_cluster, &policy, GPURT_OK);
        for (uint32_t b = 0; b < UNWIND_BLOCKS; b++) {
            CHECK_EQ(seen.begun[b], b / 2 == 2 ? 2 : 1);
            CHECK_EQ(seen.runs[b], 1);
        }
        launch.cluster.x = 0;
    }
    printf("retry of a cooperative grid\n");
    launch.cooperative = true;
    run_guarded(&gpurt_kernel_unwind_work, &policy, GPURT_OK);
    for (uint32_t b = 0; b < UNWIND_BLOCKS; b++)
        CHECK_EQ(seen.begun[b], 2);
    launch.cooperative = false;
}

/* ---- levels -------------------------------------------------------------------------- */
static void test_levels(void)
{
    gpurt_recovery_t policy = {.on_panic = GPURT_ON_PANIC_THREAD};
    gpurt_outcome_t out;

    printf("level thread\n");
    args.kind = WORK_ONCE;
    args.how = WORK_HOW_PANIC;
    args.victims = 1u << VICTIM;
    args.failures = 99;
    out = run_guarded(&gpurt_kernel_unwind_work, &policy, GPURT_OK);
    CHECK_EQ(out.panics, 1);
    for (uint32_t b = 0; b < UNWIND_BLOCKS; b++)
        CHECK_EQ(seen.runs[b], 1); /* the others of the block went on */

    printf("escalation\n");
    args.victims = 0xff;
    policy.escalate_after = 3;
    policy.highest = GPURT_ON_PANIC_BLOCK;
    out = run_guarded(&gpurt_kernel_unwind_work, &policy, GPURT_E_PANIC);
    CHECK_EQ(out.panics, 8);
    CHECK_EQ(out.escalated, 6);
    CHECK_EQ(out.failed, 6);

    printf("degraded\n");
    policy = (gpurt_recovery_t){.degrade_after = 4, .retries = 1};
    args.degraded_passes = 1;
    out = run_guarded(&gpurt_kernel_unwind_work, &policy, GPURT_OK);
    CHECK(out.degraded && out.panics >= 4 && out.panics <= 8);
    args.degraded_passes = 0;

    if (info.backend == GPURT_BACKEND_CPU) { /* a GPU's context would die of it */
        printf("level trap\n");
        policy = (gpurt_recovery_t){.on_panic = GPURT_ON_PANIC_TRAP, .retries = 5};
        out = run_guarded(&gpurt_kernel_unwind_work, &policy, GPURT_E_TRAP);
        CHECK_EQ(out.launches, 1);
    }
}

/* ---- kernels that are stopped -------------------------------------------------------- */
static void check_nobody_ended(uint32_t kind)
{
    for (uint32_t b = 0; b < UNWIND_BLOCKS; b++)
        CHECK_MSG(seen.runs[b] == 0, "kind %u: block %u came to its end", kind, b);
}

static void test_stop(void)
{
    args.victims = 1u << VICTIM;
    args.failures = 99;
    for (uint32_t kind = WORK_AT_BARRIER; kind < WORK_ONCE; kind++) {
        gpurt_recovery_t policy = {.on_panic = GPURT_ON_PANIC_KERNEL};
        gpurt_outcome_t out;

        printf("stop the kernel, %u\n", kind);
        args.kind = kind;
        launch.cooperative = kind == WORK_AT_GRID;
        args.how = WORK_HOW_KERNEL;
        out = run_guarded(&gpurt_kernel_unwind_work, &policy, GPURT_E_CANCELLED);
        CHECK_EQ(out.panics, 0);
        CHECK_EQ(out.failed, UNWIND_BLOCKS);
        check_nobody_ended(kind);
        args.how = WORK_HOW_PANIC;
        out = run_guarded(&gpurt_kernel_unwind_work, &policy, GPURT_E_PANIC);
        CHECK_EQ(out.panics, 1);
        CHECK_EQ(out.failed, UNWIND_BLOCKS);
        check_nobody_ended(kind);
        if (kind != WORK_IN_RELAX && info.backend == GPURT_BACKEND_CUDA)
            continue; /* without a guard it is heard of in waits */
        args.how = WORK_HOW_KERNEL;
        reset();
        must(gpurt_launch(rt, &launch, unwind_plain, &args, &err));
        look();
        check_nobody_ended(kind);
    }
    launch.cooperative = false;
}

static void nap(void)
{
    struct timespec t = {0, 200000};

    nanosleep(&t, NULL);
}

/* All blocks are in their loops, in time that suffices anywhere. */
static void wait_started(void)
{
    for (uint32_t i = 0; i < 150000; i++) {
        if (gpurt_load_relaxed_sys_u32(args.started) == UNWIND_BLOCKS)
            return;
        nap();
    }
    CHECK_MSG(false, "%u blocks began", gpurt_load_relaxed_sys_u32(args.started));
}

static void test_host_stop(void)
{
    gpurt_recovery_t policy = {.retries = 5};

    args.victims = 0;
    for (uint32_t kind = WORK_AT_BARRIER; kind < WORK_ONCE; kind++) {
        gpurt_guard_handle_t guard;
        gpurt_outcome_t out;

        printf("stopped by the host, %u\n", kind);
        args.kind = kind;
        launch.cooperative = kind == WORK_AT_GRID;
        reset();
        must(gpurt_launch_guarded(rt, &launch, unwind_work, &args, &policy, &guard, &err));
        wait_started();
        must(gpurt_guard_cancel(rt, guard));
        out = settle(guard, GPURT_E_CANCELLED);
        CHECK_CONTAINS(err.text, "was cancelled: 8 of its 8 blocks");
        CHECK_EQ(out.launches, 1);
        look();
        check_nobody_ended(kind);
        must(gpurt_guard_destroy(rt, guard));
    }
    launch.cooperative = false;

    printf("gpurt_sync tells\n");
    args.how = WORK_HOW_PANIC;
    args.kind = WORK_ONCE;
    args.victims = 1u << VICTIM;
    args.failures = 1;
    for (policy.retries = 0; policy.retries < 2; policy.retries++) {
        gpurt_status_t expected = policy.retries ? GPURT_OK : GPURT_E_PANIC;
        gpurt_guard_handle_t guard;

        reset();
        must(gpurt_launch_guarded(rt, &launch, unwind_work, &args, &policy, &guard, &err));
        CHECK_EQ(gpurt_sync(rt, &err), expected);
        CHECK_EQ(gpurt_sync(rt, &err), GPURT_OK); /* told once */
        settle(guard, expected);
        must(gpurt_guard_destroy(rt, guard));
    }
}

/* ---- news of a panic ----------------------------------------------------------------- */
static struct {
    uint32_t xcalls; /* written by: the function that is told */
} news;

/* The blocks that did not panic go on until this stops them. */
static void told(void *context, const gpurt_panic_news_t *what)
{
    CHECK(context == &news);
    if (!what->guard)
        return;
    CHECK_EQ(what->panics, 1);
    gpurt_add_relaxed_sys_u32(&news.xcalls, 1);
    CHECK_EQ(gpurt_on_panic(rt, NULL, NULL, NULL), GPURT_E_INVALID);
    must(gpurt_guard_cancel(rt, what->guard));
}

static void test_news(void)
{
    gpurt_guard_handle_t guard;
    gpurt_outcome_t out;

    printf("news\n");
    must(gpurt_on_panic(rt, told, &news, &err));
    args.kind = WORK_IN_RELAX;
    args.how = WORK_HOW_PANIC;
    args.victims = 1u << VICTIM;
    args.failures = 1;
    reset();
    must(gpurt_launch_guarded(rt, &launch, unwind_work, &args, NULL, &guard, &err));
    out = settle(guard, GPURT_E_CANCELLED); /* would wait for ever */
    CHECK_EQ(out.panics, 1);
    CHECK_EQ(out.failed, UNWIND_BLOCKS);
    must(gpurt_on_panic(rt, NULL, NULL, &err));
    CHECK_EQ(gpurt_load_relaxed_sys_u32(&news.xcalls), 1);
    must(gpurt_guard_destroy(rt, guard));
    must(gpurt_on_panic(rt, told, &news, &err)); /* and gpurt_close ends it */
}

/* ---- what is refused ----------------------------------------------------------------- */
static void test_refused(void)
{
    gpurt_recovery_t policy = {.struct_size = sizeof policy};
    gpurt_guard_handle_t guard = 5;

    printf("refused\n");
    CHECK_EQ(gpurt_launch_guarded(rt, &launch, unwind_plain, &args, &policy, &guard, &err),
             GPURT_E_KERNEL);
    CHECK_CONTAINS(err.text, "GPURT_KERNEL_GUARDED");
    CHECK_EQ(guard, 0);
    policy.fallback_kernel = &gpurt_kernel_unwind_plain;
    CHECK_EQ(gpurt_launch_guarded(rt, &launch, unwind_work, &args, &policy, &guard, &err),
             GPURT_E_KERNEL);
    policy.fallback_kernel = NULL;
    policy.on_panic = 5;
    CHECK_EQ(gpurt_launch_guarded(rt, &launch, unwind_work, &args, &policy, &guard, &err),
             GPURT_E_INVALID);
    policy.on_panic = 0;
    policy.struct_size += 8;
    CHECK_EQ(gpurt_launch_guarded(rt, &launch, unwind_work, &args, &policy, &guard, &err),
             GPURT_E_INVALID);
    CHECK_EQ(gpurt_guard_wait(rt, 12345, NULL, &err), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_guard_destroy(rt, 0), GPURT_OK);
}

/* ---- over and over ------------------------------------------------------------------- */
/* After each launch that fails in one of the ways, one that must be right in all. */
static void test_again(void)
{
    uint32_t small = launch.block.x;

    printf("%d times\n", AGAIN);
    for (uint32_t i = 0; i < AGAIN; i++) {
        gpurt_recovery_t policy = {.on_panic = 1 + i % 3};

        args.kind = WORK_ONCE;
        args.how = i % 7 ? WORK_HOW_PANIC : WORK_HOW_KERNEL;
        args.victims = i * 2654435761u >> 24;
        args.lane = i % 32;
        args.failures = 1;
        reset();
        if (i % 2) {
            gpurt_guard_handle_t guard;

            must(gpurt_launch_guarded(rt, &launch, unwind_work, &args, &policy, &guard,
                                      &err));
            (void)gpurt_guard_wait(rt, guard, NULL, NULL);
            must(gpurt_guard_destroy(rt, guard));
        } else {
            must(gpurt_launch(rt, &launch, unwind_plain, &args, &err));
            CHECK_EQ(gpurt_sync(rt, &err),
                     i % 7 && args.victims ? GPURT_E_PANIC : GPURT_OK);
        }
        args.victims = 0;
        reset();
        must(gpurt_launch(rt, &launch, unwind_plain, &args, &err));
        look();
        for (uint32_t b = 0; b < UNWIND_BLOCKS; b++)
            CHECK_MSG(seen.runs[b] == 1, "after launch %u: block %u", i, b);
    }
    launch.block.x = small;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(void);
    } all[] = {{"defer", test_defer},       {"retry", test_retry},
               {"fallback", test_fallback}, {"together", test_together},
               {"levels", test_levels},     {"stop", test_stop},
               {"host", test_host_stop},    {"news", test_news},
               {"refused", test_refused},   {"again", test_again}};
    void *memory[3], *word;

    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK && gpurt_info(rt, &info) == GPURT_OK,
              "%s", err.text);
    must(gpurt_mem_create(rt, sizeof seen.log, &memory[0], &err));
    must(gpurt_mem_create(rt, sizeof seen.runs, &memory[1], &err));
    must(gpurt_mem_create(rt, sizeof seen.begun, &memory[2], &err));
    must(gpurt_host_create(rt, sizeof *args.started, &word, &err));
    args = (struct unwind_args){
        .log = memory[0], .runs = memory[1], .begun = memory[2], .started = word};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (argc < 2 ? i + 1 < sizeof all / sizeof all[0]
                     : strcmp(argv[1], all[i].name) == 0)
            all[i].test();
    for (size_t i = 0; i < 3; i++)
        gpurt_mem_destroy(rt, memory[i]);
    gpurt_host_destroy(rt, word);
    must(gpurt_close(rt, &err));
    return 0;
}
