/* SPDX-License-Identifier: Apache-2.0 */
/* What a GPU refuses, and what kills its context, as a caller of gpurt meets it. A dead
 * context ends the use of CUDA in a process, so each case runs in a process of its own:
 * this program, started again with the name of the case. */
#include "check.h"
#include "gpu_faults.h"

#include <gpurt/block.h>
#include <gpurt/gpurt.h>

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

GPURT_KERNEL_DECLARE(faults_one, struct faults_args);
GPURT_KERNEL_DECLARE(faults_static_shared, struct faults_args);
GPURT_KERNEL_DECLARE(faults_dyn_shared, struct faults_args);
GPURT_KERNEL_DECLARE(faults_wide, struct faults_args);
GPURT_KERNEL_DECLARE(faults_grid, struct faults_args);

enum {
    CASE_SECONDS = 30
};

static gpurt_t *rt;
static gpurt_info_t info;
static gpurt_error_t err;
static struct faults_args args;
static gpurt_launch_t shape = {.grid = {4, 1, 1}, .block = {64, 1, 1}};

#define OK(call) CHECK_MSG((call) == GPURT_OK, "%s: %s", #call, err.text)

static void set_up(void)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};
    void *memory;

    if (gpurt_open(&options, &rt, &err) != GPURT_OK)
        SKIP("%s", err.text);
    OK(gpurt_info(rt, &info));
    if (info.backend != GPURT_BACKEND_CUDA)
        SKIP("%s", info.why);
    OK(gpurt_mem_create(rt, 1 << 16, &memory, &err));
    OK(gpurt_fill(rt, GPURT_STREAM_DEFAULT, memory, 0, 1 << 16, &err));
    args.out = (uint64_t *)memory;
}

/* The context is healthy: a kernel runs, and its result comes back. */
static void check_healthy(void)
{
    uint64_t word = 0;
    gpurt_launch_t one = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 1024};

    OK(gpurt_launch(rt, &one, faults_dyn_shared, &args, &err));
    OK(gpurt_copy(rt, GPURT_STREAM_DEFAULT, &word, args.out + 31, sizeof word, &err));
    OK(gpurt_stream_sync(rt, GPURT_STREAM_DEFAULT, &err));
    CHECK_EQ(word, 31);
    OK(gpurt_close(rt, &err));
}

/* ---- contexts that die --------------------------------------------------------------- */

static void dies(uint32_t fault, gpurt_status_t expected)
{
    gpurt_status_t st;
    char report[4096];

    args.fault = FAULT_NONE;
    OK(gpurt_launch(rt, &shape, faults_one, &args, &err));
    OK(gpurt_stream_sync(rt, GPURT_STREAM_DEFAULT, &err));
    CHECK_EQ(gpurt_report(rt, report, sizeof report), 0);

    args.fault = fault;
    OK(gpurt_launch(rt, &shape, faults_one, &args, &err));
    st = gpurt_stream_sync(rt, GPURT_STREAM_DEFAULT, &err);
    printf("%s: %s\n", gpurt_status_name(st), err.text);
    CHECK_EQ(st, expected);
    CHECK_EQ(err.origin, GPURT_FROM_CUDA);
    CHECK(gpurt_report(rt, report, sizeof report) > 0);
    printf("%s", report);
    CHECK_CONTAINS(report, "faults_one");
    CHECK_CONTAINS(report, info.name);

    CHECK_EQ(gpurt_launch(rt, &shape, faults_one, &args, &err), GPURT_E_DEVICE_LOST);
    CHECK_CONTAINS(err.text, "restart the process");
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_DEVICE_LOST);
    CHECK_EQ(gpurt_mem_destroy(rt, args.out), GPURT_E_DEVICE_LOST);
    st = gpurt_close(rt, &err);
    CHECK(st == GPURT_OK || st == GPURT_E_DEVICE_LOST);

    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};
    CHECK_EQ(gpurt_open(&options, &rt, &err), GPURT_E_DEVICE_LOST);
    CHECK_CONTAINS(err.text, "restart the process");
}

static void case_trap(void)
{
    dies(FAULT_TRAP, GPURT_E_TRAP);
}
static void case_address(void)
{
    dies(FAULT_ADDRESS, GPURT_E_FAULT);
}
static void case_misaligned(void)
{
    dies(FAULT_MISALIGNED, GPURT_E_FAULT);
}

/* ---- launches that are refused ------------------------------------------------------- */

static void case_shared(void)
{
    gpurt_launch_t l = {.grid = {1, 1, 1}, .block = {32, 1, 1}};

    l.shared_bytes = (uint32_t)info.max_shared - GPURT_BLOCK_SHARED_BYTES;
    OK(gpurt_launch(rt, &l, faults_dyn_shared, &args, &err));
    l.shared_bytes -= FAULTS_STATIC_BYTES;
    OK(gpurt_launch(rt, &l, faults_static_shared, &args, &err));
    OK(gpurt_sync(rt, &err));
    /* within the device's limit, not beside the kernel's own array */
    l.shared_bytes = (uint32_t)info.max_shared - FAULTS_STATIC_BYTES + 16;
    CHECK_EQ(gpurt_launch(rt, &l, faults_static_shared, &args, &err), GPURT_E_SHARED);
    CHECK_CONTAINS(err.text, "faults_static_shared");
    printf("%s\n", err.text);
    check_healthy();
}

static void case_registers(void)
{
    gpurt_launch_t l = {.grid = {1, 1, 1}, .block = {1024, 1, 1}};

    CHECK_EQ(gpurt_launch(rt, &l, faults_wide, &args, &err), GPURT_E_BLOCK);
    CHECK_CONTAINS(err.text, "registers");
    printf("%s\n", err.text);
    check_healthy();
}

static void case_cooperative(void)
{
    gpurt_launch_t l = {.block = {256, 1, 1}, .cooperative = true};
    uint32_t fit = 0;
    uint64_t blocks = 0;

    OK(gpurt_occupancy(rt, &l, &gpurt_kernel_faults_grid, &fit, &err));
    CHECK(fit >= info.sm_count);
    l.grid.x = fit;
    OK(gpurt_launch(rt, &l, faults_grid, &args, &err));
    OK(gpurt_copy(rt, GPURT_STREAM_DEFAULT, &blocks, args.out, sizeof blocks, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(blocks, fit);
    l.grid.x = fit + 1;
    CHECK_EQ(gpurt_launch(rt, &l, faults_grid, &args, &err), GPURT_E_COOPERATIVE);
    CHECK_CONTAINS(err.text, "gpurt_occupancy");
    printf("%s\n", err.text);
    check_healthy();
}

static void case_memory(void)
{
    void *memory = NULL;

    CHECK_EQ(gpurt_mem_create(rt, (size_t)1 << 50, &memory, &err), GPURT_E_NOMEM);
    CHECK(memory == NULL);
    printf("%s\n", err.text);
    CHECK(gpurt_mem_destroy(rt, &memory) != GPURT_OK); /* a pointer that CUDA never gave */
    check_healthy();
}

static const struct fault_case {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"trap", case_trap},
    {"address", case_address},
    {"misaligned", case_misaligned},
    {"shared", case_shared},
    {"registers", case_registers},
    {"cooperative", case_cooperative},
    {"memory", case_memory},
};
enum {
    CASES = sizeof cases / sizeof cases[0]
};

/* ---- one process a case -------------------------------------------------------------- */

static int run_child(const char *name)
{
    for (size_t i = 0; i < CASES; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            set_up();
            cases[i].run();
            return 0;
        }
    }
    fprintf(stderr, "no case %s\n", name);
    return 2;
}

static int child_wait(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_in_child(const char *name)
{
    pid_t pid;

    fflush(stdout);
    pid = fork(); /* CUDA is not used before it: a forked context would be unusable */
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(CASE_SECONDS);
        execl("/proc/self/exe", "test_gpu_faults", name, (char *)NULL);
        _exit(126);
    }
    return child_wait(pid);
}

int main(int argc, char **argv)
{
    int failed = 0, skipped = 0;

    if (argc > 1)
        return run_child(argv[1]);
    for (size_t i = 0; i < CASES; i++) {
        int code = run_in_child(cases[i].name);

        printf("%-12s %s (%d)\n", cases[i].name,
               code == 0               ? "ok"
               : code == CHECK_SKIPPED ? "skipped"
                                       : "FAILED",
               code);
        failed += code != 0 && code != CHECK_SKIPPED;
        skipped += code == CHECK_SKIPPED;
    }
    if (failed)
        return CHECK_FAILED;
    return skipped ? CHECK_SKIPPED : 0;
}
