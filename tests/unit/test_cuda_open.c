/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs the CUDA back end takes, and what it says of those it does not: a stand-in
 * plays machines without a driver, without a GPU, with a busy one, and so on. */
#include "backend.h"

#include "check.h"
#include "cuda_end_kernel.h"
#include "fake_cuda.h"
#include "forked.h"

#include <gpurt/panic.h>

#include <sys/wait.h>
#include <unistd.h>

static const gpurt_backend_ops_t *const ops = &gpurt_backend_cuda;

static void close_clean(void *self)
{
    CHECK_EQ(ops->close(self, NULL), GPURT_OK);
    CHECK_EQ(fake.streams, 0);
    CHECK_EQ(fake.pending, cudaSuccess);
}

/* Each row changes one thing of a healthy machine. */
static const struct probe_case {
    const char *name;
    int driver, count, device, mode, major;
    cudaError_t on_count, on_set_device, on_stream;
    gpurt_status_t probe, open;
    const char *says[2];
} probe_cases[] = {
    {"healthy", 13000, 1, 0, 0, 9, 0, 0, 0, GPURT_OK, GPURT_OK, {0}},
    {"no driver",
     0,
     1,
     0,
     0,
     9,
     cudaErrorInsufficientDriver,
     0,
     0,
     GPURT_E_DRIVER,
     GPURT_E_DRIVER,
     {"no NVIDIA driver", "GPURT_BACKEND=cpu"}},
    {"older driver",
     12040,
     1,
     0,
     0,
     9,
     cudaErrorInsufficientDriver,
     0,
     0,
     GPURT_E_DRIVER,
     GPURT_E_DRIVER,
     {"serves CUDA 12.4", "built with 13.0"}},
    {"driver refuses",
     13000,
     1,
     0,
     0,
     9,
     cudaErrorInsufficientDriver,
     0,
     0,
     GPURT_E_DRIVER,
     GPURT_E_DRIVER,
     {"update the NVIDIA driver"}},
    {"reboot due",
     13000,
     1,
     0,
     0,
     9,
     cudaErrorSystemDriverMismatch,
     0,
     0,
     GPURT_E_DRIVER,
     GPURT_E_DRIVER,
     {"reboot"}},
    {"no device",
     13000,
     1,
     0,
     0,
     9,
     cudaErrorNoDevice,
     0,
     0,
     GPURT_E_NO_DEVICE,
     GPURT_E_NO_DEVICE,
     {"CUDA_VISIBLE_DEVICES"}},
    {"zero devices",
     13000,
     0,
     0,
     0,
     9,
     0,
     0,
     0,
     GPURT_E_NO_DEVICE,
     GPURT_E_NO_DEVICE,
     {"CUDA_VISIBLE_DEVICES"}},
    {"bad number",
     13000,
     2,
     2,
     0,
     9,
     0,
     0,
     0,
     GPURT_E_NO_DEVICE,
     GPURT_E_NO_DEVICE,
     {"no GPU 2", "shows 2"}},
    {"prohibited",
     13000,
     1,
     0,
     cudaComputeModeProhibited,
     9,
     0,
     0,
     0,
     GPURT_E_PROHIBITED,
     GPURT_E_PROHIBITED,
     {"Prohibited", "nvidia-smi -c"}},
    {"too old a GPU",
     13000,
     1,
     0,
     0,
     6,
     0,
     0,
     0,
     GPURT_E_UNSUPPORTED,
     GPURT_E_UNSUPPORTED,
     {"6.0", "7.5"}},
    /* who holds an exclusive device shows when a context is made, not before */
    {"exclusive, free",
     13000,
     1,
     0,
     cudaComputeModeExclusiveProcess,
     9,
     0,
     0,
     0,
     GPURT_OK,
     GPURT_OK,
     {0}},
    {"exclusive, held",
     13000,
     1,
     0,
     cudaComputeModeExclusiveProcess,
     9,
     0,
     cudaErrorDevicesUnavailable,
     0,
     GPURT_OK,
     GPURT_E_BUSY,
     {"nvidia-smi", "another device"}},
    {"no memory for a context",
     13000,
     1,
     0,
     0,
     9,
     0,
     0,
     cudaErrorMemoryAllocation,
     GPURT_OK,
     GPURT_E_NOMEM,
     {"out of memory"}},
    {"context died before",
     13000,
     1,
     0,
     0,
     9,
     0,
     0,
     cudaErrorIllegalAddress,
     GPURT_OK,
     GPURT_E_DEVICE_LOST,
     {"cudaErrorIllegalAddress", "restart the process"}},
};

static void test_probe(void)
{
    for (size_t i = 0; i < sizeof probe_cases / sizeof probe_cases[0]; i++) {
        const struct probe_case *c = &probe_cases[i];
        gpurt_options_t options = {.struct_size = sizeof options, .device = c->device};
        gpurt_error_t err = {0};
        gpurt_info_t info = {0};
        void *self = NULL;
        gpurt_status_t st;

        fake = fake_healthy;
        fake.driver = c->driver, fake.count = c->count, fake.mode = c->mode;
        fake.major = c->major, fake.on_count = c->on_count;
        fake.on_set_device = c->on_set_device, fake.on_stream = c->on_stream;

        st = ops->probe(&options, &err);
        CHECK_MSG(st == c->probe, "%s: probe says %s", c->name, gpurt_status_name(st));
        CHECK_MSG(fake.contexts == 0, "%s: probe made a context", c->name);
        st = ops->open(&options, 0, &info, &self, &err);
        CHECK_MSG(st == c->open, "%s: open says %s", c->name, gpurt_status_name(st));
        CHECK_MSG((st == GPURT_OK) == (self != NULL), "%s: open gave %p", c->name, self);
        CHECK_MSG(fake.pending == cudaSuccess, "%s: an error was left in CUDA", c->name);
        for (size_t k = 0; k < 2 && c->says[k]; k++)
            CHECK_MSG(strstr(err.text, c->says[k]), "%s: \"%s\" lacks \"%s\"", c->name,
                      err.text, c->says[k]);
        if (st == GPURT_OK)
            CHECK_EQ(ops->close(self, NULL), GPURT_OK);
        else
            CHECK_EQ(err.status, c->open);
        CHECK_MSG(fake.streams == 0, "%s: a stream was left", c->name);
    }
}

static void test_info(void)
{
    gpurt_options_t options = {.struct_size = sizeof options};
    gpurt_info_t info = {0};
    void *self = NULL;

    fake = fake_healthy;
    CHECK_EQ(ops->open(&options, 0, &info, &self, NULL), GPURT_OK);
    CHECK_EQ(info.backend, GPURT_BACKEND_CUDA);
    CHECK_STR(info.name, "Stand-in GPU");
    CHECK_EQ(info.sm_count, FAKE_SMS);
    CHECK_EQ(info.warp_slots, 64);
    CHECK_EQ(info.compute_major, 9);
    CHECK_EQ(info.max_cluster, 8);
    CHECK_EQ(info.max_shared, FAKE_OPTIN);
    CHECK_EQ(info.max_block.z, 64);
    CHECK_EQ(info.max_grid.x, 0x7fffffff);
    CHECK_EQ(info.driver_version, 13000);
    CHECK_EQ(fake.stream_flags, cudaStreamNonBlocking);
    close_clean(self);

    fake = fake_healthy;
    fake.major = 8;
    CHECK_EQ(ops->open(&options, 0, &info, &self, NULL), GPURT_OK);
    CHECK_EQ(info.max_cluster, 1);
    close_clean(self);
}

/* A panic has room on the stack of a lane that has used all that CUDA gives; a limit that the
 * program has set higher stays; one that cannot be set is no reason to fail. */
static void test_stack_room(void)
{
    static const struct {
        size_t before, after;
        cudaError_t answer;
    } cases[] = {
        {1024, 1024 + GPURT_PANIC_STACK_BYTES, cudaSuccess},
        {256, 1024 + GPURT_PANIC_STACK_BYTES, cudaSuccess},
        {1 << 16, 1 << 16, cudaSuccess},
        {1024, 1024, cudaErrorMemoryAllocation},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gpurt_options_t options = {.struct_size = sizeof options};
        gpurt_info_t info = {0};
        void *self = NULL;

        fake = fake_healthy;
        fake.stack = cases[i].before;
        fake.on_limit = cases[i].answer;
        CHECK_EQ(ops->open(&options, 0, &info, &self, NULL), GPURT_OK);
        CHECK_EQ(fake.stack, cases[i].after);
        CHECK_EQ(fake.pending, cudaSuccess);
        close_clean(self);
    }
}

/* ---- work that goes on behind a panic -------------------------------------------------- */

static uint32_t recorded, kernel_ends;
static int on_record;

static int context_get(void **context)
{
    *context = &recorded;
    return 0;
}
static int record_event(void *context, cudaEvent_t event)
{
    CHECK(context == &recorded && event != NULL);
    recorded++;
    return on_record;
}
static void *hang_entry(const char *name)
{
    int (*get)(void **) = context_get;
    int (*record)(void *, cudaEvent_t) = record_event;
    void *found = NULL;

    if (strcmp(name, "cuCtxGetCurrent") == 0)
        memcpy(&found, &get, sizeof found);
    if (strcmp(name, "cuCtxRecordEvent") == 0)
        memcpy(&found, &record, sizeof found);
    return found;
}
static void end_played(void *args)
{
    kernel_ends = ((const struct gpurt_end_args *)args)->ends;
}

static void *hang_open(void *(*entry)(const char *))
{
    gpurt_info_t info = {0};
    void *self = NULL;

    fake = fake_healthy;
    fake.entry_point = entry;
    CHECK_EQ(ops->open(NULL, 0, &info, &self, NULL), GPURT_OK);
    return self;
}

static void test_hangs(void)
{
    void *self = hang_open(hang_entry);

    fake.played = end_played;
    kernel_ends = 7;
    CHECK(ops->hang_prepare(self) && fake.launches == 1 && kernel_ends == 0);
    CHECK_EQ(fake.stream_flags, cudaStreamNonBlocking);
    CHECK(ops->hang_mark(self) && recorded == 1);
    fake.on_query = cudaErrorNotReady;
    CHECK(ops->hang_busy(self));
    CHECK_EQ(fake.pending, cudaSuccess);
    fake.on_query = cudaSuccess;
    CHECK(!ops->hang_busy(self));
    ops->hang_end(self);
    CHECK(fake.launches == 2 && kernel_ends == 1);
    on_record = 900; /* a stream of the context is being captured */
    CHECK(!ops->hang_mark(self));
    on_record = 0;
    CHECK_EQ(fake.events, 1);
    close_clean(self);
    CHECK_EQ(fake.events, 0);

    self = hang_open(NULL); /* a driver before CUDA 12.5 */
    CHECK(!ops->hang_mark(self) && fake.events == 0);
    fake.on_stream = cudaErrorMemoryAllocation;
    CHECK(!ops->hang_prepare(self));
    ops->hang_end(self);
    CHECK_EQ(fake.launches, 0);
    fake.on_stream = cudaSuccess;
    close_clean(self);
}

static void test_module_loading(void)
{
    fake = fake_healthy;
    unsetenv("CUDA_MODULE_LOADING");
    CHECK_EQ(ops->probe(NULL, NULL), GPURT_OK);
    CHECK_STR(getenv("CUDA_MODULE_LOADING"), "EAGER");
    setenv("CUDA_MODULE_LOADING", "LAZY", 1);
    CHECK_EQ(ops->probe(NULL, NULL), GPURT_OK);
    CHECK_STR(getenv("CUDA_MODULE_LOADING"), "LAZY");
    unsetenv("CUDA_MODULE_LOADING");
}

/* CUDA serves no forked child, and may hang there: the stand-in is not even asked. */
static void in_child(gpurt_t *rt)
{
    static const char *const words[] = {"cuda", "auto"};
    int streams = fake.streams;
    gpurt_error_t err;
    gpurt_t *own;

    fake.on_count = cudaErrorNoDevice; /* what it would say */
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_FORKED);
    for (int i = 0; i < 2; i++) {
        setenv("GPURT_BACKEND", words[i], 1);
        CHECK_EQ(gpurt_open(NULL, &own, &err), GPURT_E_FORKED);
        CHECK_CONTAINS(err.text, "fork before gpurt_open, or exec");
    }
    CHECK_EQ(gpurt_close(rt, &err), GPURT_OK);
    CHECK_EQ(fake.streams, streams);
    /* Where CUDA was in use without us, its own answer says so. */
    fake.on_count = cudaErrorInitializationError;
    CHECK_EQ(ops->probe(NULL, &err), GPURT_E_FORKED);
    CHECK_EQ(fake.pending, cudaSuccess);
    setenv("GPURT_BACKEND", "cpu", 1);
    CHECK_MSG(gpurt_open(NULL, &own, &err) == GPURT_OK, "%s", err.text);
    CHECK_EQ(gpurt_close(own, &err), GPURT_OK);
}

static void test_forked(void)
{
    gpurt_error_t err;
    gpurt_t *rt;
    int status;
    pid_t pid;

    fake = fake_healthy;
    fake.on_count = cudaErrorInitializationError;
    CHECK_EQ(ops->probe(NULL, &err), GPURT_E_DRIVER); /* of whoever was not forked */
    fake = fake_healthy;
    setenv("GPURT_BACKEND", "cuda", 1);
    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
    pid = fork();
    if (pid == 0) {
        in_child(rt);
        forked_exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK_EQ(gpurt_close(rt, &err), GPURT_OK);
    CHECK_EQ(fake.streams, 0);
}

/* Where the parent could not use CUDA either, a child gets the CPU as the parent did. */
static void test_forked_without_gpu(void)
{
    gpurt_error_t err;
    gpurt_t *rt;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        fake = fake_healthy;
        fake.count = 0;
        setenv("GPURT_BACKEND", "auto", 1);
        CHECK_EQ(gpurt_open(NULL, &rt, &err), GPURT_OK);
        pid = fork();
        if (pid == 0) {
            CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
            forked_exit(0);
        }
        _exit(waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* The real functions on the machine at hand: usable, or a status with a reason. */
static void test_this_machine(void)
{
    gpurt_error_t err = {0};
    gpurt_status_t st;

    gpurt_cuda_api = &gpurt_cuda_api_real;
    st = ops->probe(NULL, &err);
    if (st == GPURT_OK)
        printf("this machine: a usable GPU\n");
    else
        printf("this machine: %s: %s\n", gpurt_status_name(st), err.text);
    CHECK(st == GPURT_OK || err.text[0] != '\0');
    CHECK(st != GPURT_E_INTERNAL && st != GPURT_E_INVALID);
}

int main(void)
{
    gpurt_cuda_api = &fake_api;
    test_probe();
    test_info();
    test_stack_room();
    test_hangs();
    test_module_loading();
    test_forked_without_gpu();
    test_forked();
    test_this_machine();
    return 0;
}
