/* SPDX-License-Identifier: Apache-2.0 */
/* What the CPU back end says when a kernel fails: what happened, who stands where, and on
 * which line. After each failure the process lives on and the next launch works. */
#include "check.h"

#include <gpurt/gpurt.h>

#include "../kernels/planted_kernels.h"
#include "message.h"

#include <gpurt/impl/box.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WORDS = 512,
    PARTS = 8
};

/* One failure and what its report must say. */
typedef struct report_row {
    const char *name;
    const gpurt_kernel_t *kernel;
    gpurt_status_t status;
    uint32_t blocks;
    gpurt_cpu_options_t cpu;
    bool by_signal; /* a sanitizer would take it first */
    const char *parts[PARTS];
} report_row_t;

static const report_row_t rows[] = {
    {.name = "a lane at a barrier, the others in a ballot that names it",
     .kernel = &gpurt_kernel_planted_divergent_barrier,
     .status = GPURT_E_DEADLOCK,
     .blocks = 1,
     .parts = {"deadlock in kernel planted_divergent_barrier",
               "block 0 threads 0..4:", "ballot, mask ffffffff, for lanes 00000020",
               "block 0 thread 5:", "block barrier: 2 of 64 threads came",
               "block 0 threads 6..31:", "planted_kernels.c:",
               "planted_divergent_barrier (planted_kernels.c:"}},
    {.name = "a named barrier that one of two warps reaches",
     .kernel = &gpurt_kernel_planted_named_barrier,
     .status = GPURT_E_DEADLOCK,
     .blocks = 1,
     .parts = {"deadlock in kernel planted_named_barrier",
               "block 0 threads 0..31:", "named barrier 3: 32 of 64 threads came",
               "threads 32..63: ended", "planted_kernels.c:"}},
    {.name = "masks that differ",
     .kernel = &gpurt_kernel_planted_mismatched_masks,
     .status = GPURT_E_SYNC,
     .blocks = 1,
     .parts = {"different masks in kernel planted_mismatched_masks", "mask fffffffe",
               "mask ffffffff", "planted_kernels.c:"}},
    {.name = "a stack that overflows",
     .kernel = &gpurt_kernel_planted_stack_overflow,
     .status = GPURT_E_STACK,
     .blocks = 1,
     .by_signal = true,
     .parts = {"stack overflow in kernel planted_stack_overflow",
               "block 0 thread 37 (warp 1 lane 5)",
               "planted_deep (planted_kernels.c:", "64 KiB", "GPURT_STACK_BYTES"}},
    {.name = "a larger stack that overflows",
     .kernel = &gpurt_kernel_planted_stack_overflow,
     .status = GPURT_E_STACK,
     .blocks = 1,
     .cpu = {.stack_bytes = 256 * 1024},
     .by_signal = true,
     .parts = {"thread 37", "256 KiB"}},
    {.name = "a null pointer",
     .kernel = &gpurt_kernel_planted_null,
     .status = GPURT_E_FAULT,
     .blocks = 1,
     .by_signal = true,
     .parts = {"illegal address in kernel planted_null",
               "block 0 thread 37 (warp 1 lane 5)", "address (nil)",
               "planted_null (planted_kernels.c:"}},
#if defined(__x86_64__) /* other machines divide by zero without a word */
    {.name = "a division by zero",
     .kernel = &gpurt_kernel_planted_divide,
     .status = GPURT_E_FAULT,
     .blocks = 1,
     .by_signal = true,
     .parts = {"arithmetic fault", "kernel planted_divide", "thread 37",
               "planted_kernels.c:"}},
#endif
    {.name = "a trap",
     .kernel = &gpurt_kernel_planted_trap,
     .status = GPURT_E_TRAP,
     .blocks = 1,
     .parts = {"trap in kernel planted_trap", "block 0 thread 37 (warp 1 lane 5)",
               "planted_kernels.c:"}},
    {.name = "a livelock",
     .kernel = &gpurt_kernel_planted_livelock,
     .status = GPURT_E_LIVELOCK,
     .blocks = 1,
     .cpu = {.spin_limit_ms = 200},
     .parts = {"livelock in kernel planted_livelock", "block 0 thread 0: spin",
               "block barrier: 63 of 64 threads came",
               "planted_kernels.c:", "GPURT_SPIN_LIMIT_MS"}},
    {.name = "blocks that wait for blocks that do not fit",
     .kernel = &gpurt_kernel_planted_occupancy,
     .status = GPURT_E_OCCUPANCY,
     .blocks = 8,
     .cpu = {.max_resident = 2, .spin_limit_ms = 200},
     .parts = {"occupancy deadlock in kernel planted_occupancy",
               "6 of 8 blocks have not begun", "at most 2 resident", "thread 0: spin",
               "planted_kernels.c:", "gpurt_occupancy"}},
    {.name = "strict: barriers on different lines",
     .kernel = &gpurt_kernel_planted_barrier_sites,
     .status = GPURT_E_SYNC,
     .blocks = 1,
     .cpu = {.strict = true},
     .parts = {"barriers on different lines in kernel planted_barrier_sites",
               "block 0 thread ", "planted_kernels.c:"}},
    {.name = "strict: a lane ends while others wait for it",
     .kernel = &gpurt_kernel_planted_exit_named,
     .status = GPURT_E_SYNC,
     .blocks = 1,
     .cpu = {.strict = true},
     .parts = {"ended while others wait for it", "thread 31 (warp 0 lane 31)",
               "mask ffffffff", "planted_kernels.c:"}},
    {.name = "a block-scope atomic across blocks",
     .kernel = &gpurt_kernel_planted_block_scope,
     .status = GPURT_E_SCOPE,
     .blocks = 2,
     .cpu = {.check_scope = true},
     .parts = {"block-scope atomic", "block 0", "block 1", "planted_block_scope",
               "planted_kernels.c:"}},
};

static gpurt_error_t err;

#define OK(call) CHECK_MSG((call) == GPURT_OK, "%s: %s: %s", row->name, #call, err.text)

static gpurt_status_t run(gpurt_t *rt, const report_row_t *row, bool good)
{
    gpurt_launch_t shape = {.grid = {row->blocks, 1, 1}, .block = {PLANTED_THREADS, 1, 1}};
    struct planted_args args = {.count = WORDS, .good = good, .eight = 8, .bits33 = 33};
    void *words = NULL, *head = NULL;
    gpurt_status_t st;

    OK(gpurt_mem_create(rt, WORDS * sizeof(uint32_t), &words, &err));
    OK(gpurt_mem_create(rt, sizeof(uint64_t), &head, &err));
    OK(gpurt_fill(rt, 0, words, 0, WORDS * sizeof(uint32_t), &err));
    OK(gpurt_fill(rt, 0, head, 0, sizeof(uint64_t), &err));
    args.words = (uint32_t *)words;
    args.head = (uint64_t *)head;
    OK(gpurt_launch_kernel(rt, &shape, row->kernel, &args, sizeof args, &err));
    st = gpurt_sync(rt, &err);
    OK(gpurt_mem_destroy(rt, words));
    OK(gpurt_mem_destroy(rt, head));
    return st;
}

/* Twice, the twin in between: the first failure leaves nothing behind that the next one, or
 * a launch that is right, could stumble over. */
static void check_row(const report_row_t *row)
{
    gpurt_options_t options = {
        .struct_size = sizeof options, .backend = GPURT_BACKEND_CPU, .cpu = row->cpu};
    static char report[32 * 1024];
    gpurt_t *rt;

    OK(gpurt_open(&options, &rt, &err));
    for (uint32_t round = 0; round < 2; round++) {
        gpurt_status_t st = run(rt, row, false);
        size_t length = gpurt_report(rt, report, sizeof report);

        CHECK_MSG(st == row->status, "%s: %s, expected %s: %s", row->name,
                  gpurt_status_name(st), gpurt_status_name(row->status), err.text);
        CHECK_MSG(length == strlen(report), "%s: a report of %zu bytes", row->name, length);
        for (uint32_t i = 0; i < PARTS && row->parts[i]; i++)
            CHECK_MSG(strstr(report, row->parts[i]), "%s: the report lacks \"%s\":\n%s",
                      row->name, row->parts[i], report);
        CHECK_MSG(strncmp(report, err.text, strlen(err.text)) == 0,
                  "%s: the error is not the report's first line: %s", row->name, err.text);
        st = run(rt, row, true);
        CHECK_MSG(st == GPURT_OK, "%s: the corrected twin: %s", row->name, err.text);
    }
    OK(gpurt_close(rt, &err));
}

/* Which device it was is said as long as there is another one. */
static void check_device(const report_row_t *row)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CPU,
                               .device = 3,
                               .cpu = row->cpu},
                    none = {.struct_size = sizeof none, .backend = GPURT_BACKEND_CPU};
    static char report[32 * 1024];
    gpurt_t *rt, *other;

    OK(gpurt_open(&none, &other, &err));
    OK(gpurt_open(&options, &rt, &err));
    for (uint32_t alone = 0; alone < 2; alone++) {
        CHECK_EQ(run(rt, row, false), row->status);
        gpurt_report(rt, report, sizeof report);
        CHECK_MSG((strstr(report, " on device 3: ") == NULL) == (alone > 0), "%s: %s",
                  row->name, report);
        CHECK_MSG(strncmp(report, err.text, strlen(err.text)) == 0, "%s: %s", row->name,
                  err.text);
        if (!alone)
            OK(gpurt_close(other, &err));
    }
    OK(gpurt_close(rt, &err));
}

/* ---- what a panic says --------------------------------------------------------------- */
static const struct {
    const char *format, *condition, *said;
    uint32_t category, own, arg_count;
    uint64_t types, args[3];
} messages[] = {
    {.format = "no values, 100 %% of %d", .said = "no values, 100 % of <missing>"},
    {.format = "%d %u %x",
     .said = "-1 4294967295 ffffffff",
     .arg_count = 3,
     .types = GPURT_TYPE_I32 | GPURT_TYPE_U32 << 4 | GPURT_TYPE_I32 << 8,
     .args = {UINT64_MAX, UINT64_MAX, UINT64_MAX}},
    {.format = "%5lld|%-4llu|%+.2f",
     .said = "   -3|18  |+0.50",
     .arg_count = 3,
     .types = GPURT_TYPE_I64 | GPURT_TYPE_U64 << 4 | GPURT_TYPE_F64 << 8,
     .args = {(uint64_t)-3, 18, 0x3fe0000000000000}},
    {.format = "%c %p %g",
     .said = "x 0x1000 1.5",
     .arg_count = 3,
     .types = GPURT_TYPE_CHAR | GPURT_TYPE_PTR << 4 | GPURT_TYPE_F32 << 8,
     .args = {'x', 0x1000, 0x3fc00000}},
    {.format = "in %s",
     .said = "in <string>",
     .arg_count = 1,
     .types = GPURT_TYPE_STRING,
     .args = {7}},
    {.format = "the message's own: %u",
     .condition = "i < n",
     .category = GPURT_CATEGORY_COMPARE,
     .said = "the message's own: 3",
     .own = 2,
     .arg_count = 3,
     .types = GPURT_TYPE_U32 | GPURT_TYPE_U32 << 4 | GPURT_TYPE_U32 << 8,
     .args = {1, 2, 3}},
    {.format = "", .said = "panic", .category = GPURT_CATEGORY_PANIC},
    {.format = "",
     .condition = "0 <= i < n",
     .said = "index -1 out of bounds of 8: 0 <= i < n",
     .category = GPURT_CATEGORY_BOUNDS,
     .own = 2,
     .arg_count = 2,
     .types = GPURT_TYPE_I32 | GPURT_TYPE_U64 << 4,
     .args = {UINT64_MAX, 8}},
    {.format = "",
     .condition = "a == b",
     .said = "a == b does not hold: 0.5 and 2",
     .category = GPURT_CATEGORY_COMPARE,
     .own = 2,
     .arg_count = 2,
     .types = GPURT_TYPE_F64 | GPURT_TYPE_I32 << 4,
     .args = {0x3fe0000000000000, 2}},
};

static void check_messages(void)
{
    char text[64];

    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        gpurt_simt_panic_t p = {.format = messages[i].format,
                                .condition = messages[i].condition,
                                .args = messages[i].args,
                                .types = messages[i].types,
                                .arg_count = messages[i].arg_count,
                                .own = messages[i].own,
                                .category = messages[i].category};

        simt_message(&p, 0, text, sizeof text);
        CHECK_MSG(strcmp(text, messages[i].said) == 0, "%s: %s", messages[i].said, text);
        simt_message(&p, 0, text, 10);
        CHECK_MSG(strlen(text) < 10 &&
                      (strlen(messages[i].said) < 10 || strcmp(text + 6, "...") == 0),
                  "cut: %s", text);
    }
}

static void mine(int number)
{
    (void)number;
}

/* Handlers of the program's that came while a device was open are not taken away. */
static void check_handlers(void)
{
    static const int numbers[] = {SIGSEGV, SIGABRT};
    struct sigaction now, own = {.sa_handler = mine};
    gpurt_options_t options = {.struct_size = sizeof options, .backend = GPURT_BACKEND_CPU};
    gpurt_t *rt;

    for (size_t i = 0; i < 2 && !CHECK_SANITIZED; i++) {
        CHECK(gpurt_open(&options, &rt, &err) == GPURT_OK);
        sigaction(numbers[i], &own, NULL);
        CHECK(gpurt_close(rt, &err) == GPURT_OK);
        sigaction(numbers[i], NULL, &now);
        CHECK(now.sa_handler == mine);
        signal(numbers[i], SIG_DFL);
    }
}

/* A signal that somebody sends ends the process, as without gpurt; one that is ignored does not. */
static int end_by_sent(int number, bool ignored)
{
    gpurt_options_t options = {.struct_size = sizeof options, .backend = GPURT_BACKEND_CPU};
    const struct rlimit no_core = {0, 0};
    gpurt_t *rt;
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &no_core);
        signal(number, ignored ? SIG_IGN : SIG_DFL);
        if (gpurt_open(&options, &rt, &err) == GPURT_OK)
            kill(getpid(), number);
        _exit(3);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    return status;
}

static void check_sent(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && !CHECK_SANITIZED; i++) {
        int sent = end_by_sent(numbers[i], false), ignored = end_by_sent(numbers[i], true);

        CHECK_MSG(WIFSIGNALED(sent) && WTERMSIG(sent) == numbers[i], "signal %d: %x",
                  numbers[i], (unsigned)sent);
        CHECK_MSG(WIFEXITED(ignored) && WEXITSTATUS(ignored) == 3, "signal %d: %x",
                  numbers[i], (unsigned)ignored);
    }
}

int main(void)
{
    check_messages();
    check_handlers();
    check_sent();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].by_signal && CHECK_SANITIZED)
            continue;
        check_row(&rows[i]);
        check_device(&rows[i]);
        printf("ok: %s\n", rows[i].name);
    }
    return 0;
}
