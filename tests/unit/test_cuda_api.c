/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the CUDA back end against a stand-in for the CUDA runtime: what is asked
 * of CUDA, and what the caller is told when CUDA refuses or the context dies. */
#include "backend.h"

#include "check.h"
#include "fake_cuda.h"

/* ---- helpers ------------------------------------------------------------------------- */

static const gpurt_backend_ops_t *const ops = &gpurt_backend_cuda;

static const char stub_word; /* only its address is used, as a kernel's stub */
static const void *const stub = &stub_word;
static const gpurt_kernel_t kernel = {"saxpy", 8, 8, NULL, &stub, 0};
static const gpurt_kernel_t kernel_two = {"reduce", 8, 8, NULL, &stub, 0};
static uint64_t kernel_args = 42;

static void *open_fake(void)
{
    gpurt_options_t options = {.struct_size = sizeof options};
    gpurt_info_t info = {0};
    gpurt_error_t err = {0};
    void *self = NULL;
    gpurt_status_t st = ops->open(&options, 0, &info, &self, &err);

    CHECK_MSG(st == GPURT_OK, "open: %s", err.text);
    CHECK(self != NULL);
    return self;
}

static void *open_healthy(void)
{
    fake = fake_healthy;
    return open_fake();
}

static void close_clean(void *self)
{
    CHECK_EQ(ops->close(self, NULL), GPURT_OK);
    CHECK_EQ(fake.streams, 0);
    CHECK_EQ(fake.pending, cudaSuccess);
}

static gpurt_launch_t one_block(uint32_t threads)
{
    return (gpurt_launch_t){
        .grid = {1, 1, 1}, .block = {threads, 1, 1}, .cluster = {1, 1, 1}};
}

static gpurt_status_t launch(void *self, gpurt_launch_t l, const gpurt_kernel_t *k,
                             gpurt_error_t *err)
{
    return ops->launch(self, NULL, &l, k, &kernel_args, sizeof kernel_args, err);
}

/* A thread's current device is its own business: it is the same after each call. */
static void test_other_current_device(void)
{
    gpurt_options_t options = {.struct_size = sizeof options, .device = 1};
    gpurt_info_t info = {0};
    void *self = NULL, *memory = NULL;

    fake = fake_healthy;
    fake.count = 2;
    CHECK_EQ(ops->open(&options, 0, &info, &self, NULL), GPURT_OK);
    CHECK_EQ(info.device, 1);
    CHECK_EQ(fake.current, 0);
    fake.contexts = 0;
    CHECK_EQ(launch(self, one_block(32), &kernel, NULL), GPURT_OK);
    CHECK_EQ(ops->mem_create(self, 16, &memory, NULL), GPURT_OK);
    fake.on_malloc = cudaErrorMemoryAllocation;
    CHECK_EQ(ops->mem_create(self, 16, &memory, NULL), GPURT_E_NOMEM);
    CHECK_EQ(fake.current, 0);
    CHECK_EQ(fake.contexts, 6); /* there and back, three times */
    fake.current = 1;
    CHECK_EQ(launch(self, one_block(32), &kernel, NULL), GPURT_OK);
    CHECK_EQ(fake.contexts, 6);
    close_clean(self);
}

/* Each way once, also where the program did it before; and two that cannot are told what to do. */
static void test_peers(void)
{
    gpurt_options_t options = {.struct_size = sizeof options, .device = 1};
    gpurt_info_t info = {0};
    gpurt_error_t err = {0};
    void *one, *two = NULL;

    fake = fake_healthy;
    fake.count = 2;
    one = open_fake();
    CHECK_EQ(ops->open(&options, 1, &info, &two, NULL), GPURT_OK);
    CHECK_EQ(ops->peer_reach(one, two, &err), GPURT_E_UNSUPPORTED);
    CHECK_CONTAINS(err.text, "GPU 0 cannot reach the memory of GPU 1: take two that");
    CHECK_EQ(fake.reached[0], 0);
    fake.peers = 1;
    CHECK_EQ(ops->peer_reach(one, two, &err), GPURT_OK);
    CHECK_EQ(fake.reached[0], 2);
    CHECK_EQ(fake.reached[1], 0);
    CHECK_EQ(ops->peer_reach(two, one, &err), GPURT_OK);
    CHECK_EQ(fake.reached[1], 1);
    CHECK_EQ(ops->peer_reach(one, two, &err), GPURT_OK);
    CHECK_EQ(fake.pending, cudaSuccess);
    fake.on_peer = cudaErrorMemoryAllocation;
    CHECK_EQ(ops->peer_reach(one, two, &err), GPURT_E_NOMEM);
    CHECK_EQ(fake.current, 0);
    CHECK_EQ(ops->close(two, NULL), GPURT_OK);
    close_clean(one);
}

/* Two open at once: each call goes to its own, whichever the thread had before. */
static void test_two_open(void)
{
    gpurt_options_t options = {.struct_size = sizeof options};
    gpurt_info_t info = {0};
    void *self[2];
    char word[4];

    fake = fake_healthy;
    fake.count = 2;
    for (int i = 0; i < 2; i++) {
        options.device = i;
        CHECK_EQ(ops->open(&options, (uint32_t)i, &info, &self[i], NULL), GPURT_OK);
        CHECK_EQ(info.device, i);
    }
    for (int i = 0; i < 8; i++) {
        fake.launched_on = fake.filled_on = -1;
        CHECK_EQ(launch(self[i % 2], one_block(32), &kernel, NULL), GPURT_OK);
        CHECK_EQ(fake.launched_on, i % 2);
        CHECK_EQ(ops->fill(self[i % 2], NULL, word, 0, sizeof word, NULL), GPURT_OK);
        CHECK_EQ(fake.filled_on, i % 2);
        CHECK_EQ(fake.current, 0);
    }
    CHECK_EQ(ops->close(self[0], NULL), GPURT_OK);
    CHECK_EQ(launch(self[1], one_block(32), &kernel, NULL), GPURT_OK);
    CHECK_EQ(fake.launched_on, 1);
    close_clean(self[1]);
}

/* ---- launches ------------------------------------------------------------------------ */

static void test_launch_plain(void)
{
    void *self = open_healthy();
    gpurt_launch_t l = one_block(64);
    gpurt_counters_t counters;

    l.grid = (gpurt_dim3_t){3, 4, 5};
    CHECK_EQ(launch(self, l, &kernel, NULL), GPURT_OK);
    CHECK(fake.stub == stub);
    CHECK(fake.args == &kernel_args);
    CHECK(fake.stream != NULL);
    CHECK_EQ(fake.grid.x * 100 + fake.grid.y * 10 + fake.grid.z, 345);
    CHECK_EQ(fake.block.x, 64);
    CHECK_EQ(fake.launches, 1);
    CHECK_EQ(fake.ex_launches + fake.opt_ins, 0);
    ops->counters(self, &counters);
    CHECK_EQ(counters.launches, 1);
    close_clean(self);
}

static void test_launch_shared(void)
{
    void *self = open_healthy();
    gpurt_launch_t l = one_block(64);

    l.shared_bytes = 100 << 10;
    for (int i = 0; i < 3; i++)
        CHECK_EQ(launch(self, l, &kernel, NULL), GPURT_OK);
    CHECK_EQ(fake.launches, 3);
    CHECK_EQ(fake.opt_ins, 1); /* once a kernel */
    CHECK_EQ(fake.opt_in_bytes, FAKE_OPTIN - FAKE_STATIC_SHARED);
    close_clean(self);
}

static void test_launch_special(void)
{
    void *self = open_healthy();
    gpurt_launch_t l = one_block(64);

    l.grid.x = 8;
    l.cluster.x = 4;
    CHECK_EQ(launch(self, l, &kernel, NULL), GPURT_OK);
    CHECK_EQ(fake.clusters, 4);
    CHECK_EQ(fake.cooperative, 0);
    l.cooperative = true;
    CHECK_EQ(launch(self, l, &kernel, NULL), GPURT_OK);
    CHECK_EQ(fake.clusters, 4);
    CHECK_EQ(fake.cooperative, 1);
    l.cluster.x = 1;
    CHECK_EQ(launch(self, l, &kernel, NULL), GPURT_OK);
    CHECK_EQ(fake.clusters, 0);
    CHECK_EQ(fake.ex_launches, 3);
    CHECK_EQ(fake.launches, 0);
    CHECK(fake.args == &kernel_args);
    close_clean(self);
}

static const struct refusal {
    cudaError_t error;
    uint32_t threads, shared_bytes;
    bool cooperative;
    gpurt_status_t status;
    const char *says[2];
} refusals[] = {
    {cudaErrorInvalidDeviceFunction, 32, 0, false, GPURT_E_KERNEL, {"saxpy", "sm_90"}},
    {cudaErrorNoKernelImageForDevice, 32, 0, false, GPURT_E_KERNEL, {"Stand-in", "sm_90"}},
    {cudaErrorUnsupportedPtxVersion, 32, 0, false, GPURT_E_KERNEL, {"saxpy"}},
    {cudaErrorLaunchOutOfResources,
     1024,
     0,
     false,
     GPURT_E_BLOCK,
     {"128 registers", "allow 512"}},
    {cudaErrorInvalidValue,
     32,
     FAKE_OPTIN,
     false,
     GPURT_E_SHARED,
     {"4096 bytes", "232448"}},
    {cudaErrorInvalidValue, 32, 0, false, GPURT_E_INVALID, {"launch kernel saxpy"}},
    {cudaErrorCooperativeLaunchTooLarge,
     32,
     0,
     true,
     GPURT_E_COOPERATIVE,
     {"528 fit", "gpurt_occupancy"}},
    {cudaErrorInvalidClusterSize, 32, 0, false, GPURT_E_CLUSTER, {"cluster"}},
    {cudaErrorMemoryAllocation, 32, 0, false, GPURT_E_NOMEM, {"saxpy", "out of memory"}},
    {cudaErrorUnknown, 32, 0, false, GPURT_E_CUDA, {"nvidia-smi"}},
};

/* A refused launch leaves nothing behind: the next one runs. */
static void test_launch_refused(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        void *self = open_healthy();
        gpurt_launch_t l = one_block(r->threads);
        gpurt_error_t err = {0};
        gpurt_counters_t counters;
        gpurt_status_t st;

        l.shared_bytes = r->shared_bytes;
        l.cooperative = r->cooperative;
        fake.on_launch = r->error;
        st = launch(self, l, &kernel, &err);
        CHECK_MSG(st == r->status && err.status == st, "error %d: %s, expected %s",
                  r->error, gpurt_status_name(st), gpurt_status_name(r->status));
        CHECK_EQ(err.origin, GPURT_FROM_CUDA);
        CHECK_EQ(err.code, r->error);
        for (size_t k = 0; k < 2 && r->says[k]; k++)
            CHECK_CONTAINS(err.text, r->says[k]);
        CHECK_EQ(fake.pending, cudaSuccess);

        fake.on_launch = cudaSuccess;
        CHECK_EQ(launch(self, one_block(32), &kernel, NULL), GPURT_OK);
        ops->counters(self, &counters);
        CHECK_EQ(counters.launches, 1);
        close_clean(self);
    }
}

static void test_occupancy(void)
{
    void *self = open_healthy();
    gpurt_launch_t l = one_block(256);
    uint32_t blocks = 0;

    CHECK_EQ(ops->occupancy(self, &l, &kernel, &blocks, NULL), GPURT_OK);
    CHECK_EQ(blocks, 4 * FAKE_SMS);
    l.grid.x = l.cluster.x = 8;
    CHECK_EQ(ops->occupancy(self, &l, &kernel, &blocks, NULL), GPURT_OK);
    CHECK_EQ(blocks, 33 * 8);
    close_clean(self);
}

/* ---- the other calls ----------------------------------------------------------------- */

static void test_memory(void)
{
    void *self = open_healthy(), *memory = NULL;
    gpurt_error_t err = {0};
    char from[4] = "abc", to[4] = "";

    fake.on_malloc = cudaErrorMemoryAllocation;
    CHECK_EQ(ops->mem_create(self, 1000, &memory, &err), GPURT_E_NOMEM);
    CHECK(memory == NULL);
    CHECK_CONTAINS(err.text, "1000 bytes");
    CHECK_EQ(ops->host_create(self, 1000, &memory, &err), GPURT_E_NOMEM);
    CHECK_EQ(fake.pending, cudaSuccess);
    fake.on_malloc = cudaSuccess;
    CHECK_EQ(ops->mem_create(self, 1000, &memory, &err), GPURT_OK);
    CHECK_EQ(ops->mem_destroy(self, memory), GPURT_OK);
    CHECK_EQ(ops->mem_destroy(self, to), GPURT_E_INVALID);
    CHECK_EQ(ops->host_create(self, 1000, &memory, &err), GPURT_OK);
    CHECK_EQ(fake.host_flags, cudaHostAllocMapped | cudaHostAllocPortable);
    CHECK_EQ(ops->host_destroy(self, memory), GPURT_OK);
    CHECK_EQ(ops->copy(self, NULL, to, from, 4, NULL), GPURT_OK);
    CHECK_STR(to, "abc");
    CHECK_EQ(ops->fill(self, NULL, to, 'x', 2, NULL), GPURT_OK);
    CHECK_STR(to, "xxc");
    close_clean(self);
}

static void test_streams_events(void)
{
    void *self = open_healthy(), *stream = NULL, *from = NULL, *to = NULL;
    gpurt_error_t err = {0};
    uint64_t ns = 0;

    CHECK_EQ(ops->stream_create(self, &stream, &err), GPURT_OK);
    CHECK_EQ(fake.stream_flags, cudaStreamNonBlocking);
    CHECK_EQ(ops->event_create(self, &from, &err), GPURT_OK);
    CHECK_EQ(fake.event_flags & cudaEventDisableTiming, 0);
    CHECK_EQ(ops->event_create(self, &to, &err), GPURT_OK);
    CHECK_EQ(ops->event_record(self, from, NULL), GPURT_OK);
    CHECK_EQ(ops->event_wait(self, from, stream), GPURT_OK);
    CHECK_EQ(ops->event_record(self, to, stream), GPURT_OK);

    fake.on_query = cudaErrorNotReady;
    CHECK_EQ(ops->stream_query(self, stream, &err), GPURT_E_NOT_READY);
    CHECK_EQ(ops->event_query(self, to, &err), GPURT_E_NOT_READY);
    CHECK_STR(err.text, ""); /* an answer, not a failure */
    CHECK_EQ(fake.pending, cudaSuccess);
    fake.on_query = cudaSuccess;
    CHECK_EQ(ops->stream_query(self, stream, &err), GPURT_OK);
    CHECK_EQ(ops->event_query(self, to, &err), GPURT_OK);
    CHECK_EQ(ops->event_sync(self, to, &err), GPURT_OK);

    CHECK_EQ(ops->event_elapsed_ns(self, from, to, &ns, &err), GPURT_OK);
    CHECK_EQ(ns, 1500000);
    fake.elapsed_ms = -1;
    CHECK_EQ(ops->event_elapsed_ns(self, from, to, &ns, &err), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "other order");

    CHECK_EQ(ops->event_destroy(self, from), GPURT_OK);
    CHECK_EQ(ops->event_destroy(self, to), GPURT_OK);
    CHECK_EQ(ops->stream_destroy(self, stream), GPURT_OK);
    close_clean(self);
}

/* ---- a context that dies ------------------------------------------------------------- */

static const struct death {
    cudaError_t error;
    gpurt_status_t status;
} deaths[] = {
    {cudaErrorIllegalAddress, GPURT_E_FAULT},
    {cudaErrorMisalignedAddress, GPURT_E_FAULT},
    {cudaErrorIllegalInstruction, GPURT_E_FAULT},
    {cudaErrorInvalidPc, GPURT_E_FAULT},
    {cudaErrorAssert, GPURT_E_TRAP},
    {cudaErrorLaunchFailure, GPURT_E_TRAP},
    {cudaErrorHardwareStackError, GPURT_E_STACK},
    {cudaErrorECCUncorrectable, GPURT_E_DEVICE_LOST},
};

/* Everything that can be asked of a runtime, after its context died. */
static void check_all_lost(void *self)
{
    gpurt_launch_t l = one_block(32);
    void *out = NULL, *some = &fake;
    gpurt_error_t err;
    uint64_t ns;
    uint32_t blocks;
    char byte = 0;
    int launches = fake.launches;

#define LOST(call)                                                                         \
    do {                                                                                   \
        err =                                                                              \
            (gpurt_error_t){.status = GPURT_E_DEVICE_LOST, .text = "restart the process"}; \
        CHECK_EQ(call, GPURT_E_DEVICE_LOST);                                               \
        CHECK_EQ(err.status, GPURT_E_DEVICE_LOST);                                         \
        CHECK_CONTAINS(err.text, "restart the process");                                   \
    } while (0)
    LOST(launch(self, l, &kernel, &err));
    LOST(ops->occupancy(self, &l, &kernel, &blocks, &err));
    LOST(ops->mem_create(self, 1, &out, &err));
    LOST(ops->mem_destroy(self, some));
    LOST(ops->host_create(self, 1, &out, &err));
    LOST(ops->host_destroy(self, some));
    LOST(ops->copy(self, NULL, &byte, &byte, 1, &err));
    LOST(ops->fill(self, NULL, &byte, 0, 1, &err));
    LOST(ops->stream_create(self, &out, &err));
    LOST(ops->stream_destroy(self, some));
    LOST(ops->stream_sync(self, NULL, &err));
    LOST(ops->stream_query(self, NULL, &err));
    LOST(ops->sync(self, &err));
    LOST(ops->event_create(self, &out, &err));
    LOST(ops->event_destroy(self, some));
    LOST(ops->event_record(self, some, NULL));
    LOST(ops->event_wait(self, some, NULL));
    LOST(ops->event_sync(self, some, &err));
    LOST(ops->event_query(self, some, &err));
    LOST(ops->event_elapsed_ns(self, some, some, &ns, &err));
#undef LOST
    CHECK_EQ(fake.launches, launches); /* CUDA was not asked again */
    CHECK_EQ(fake.pending, cudaSuccess);
}

/* ---- the driver's own log -------------------------------------------------------------- */

static const char *driver_log;

static int logs_dump(void **iterator, char *buffer, size_t *size, unsigned flags)
{
    size_t length = strlen(driver_log);

    CHECK(iterator == NULL && flags == 0);
    length = length < *size ? length : *size;
    memcpy(buffer, driver_log, length);
    *size = length;
    return 0;
}

static void *logs_entry(const char *name)
{
    int (*function)(void **, char *, size_t *, unsigned) = logs_dump;
    void *found = NULL;

    if (strcmp(name, "cuLogsDumpToMemory") == 0)
        memcpy(&found, &function, sizeof found);
    return found;
}

/* A long one is cut, an empty one is not told of. */
static void test_driver_log(void)
{
    static char longest[1 << 15];
    const char *const logs[] = {"[now][ERROR] first\n[now][ERROR] second\n", "", longest};

    memset(longest, 'x', sizeof longest - 1);
    for (int i = 0; i < 3; i++) {
        char report[8192];
        void *self;

        fake = fake_healthy;
        fake.entry_point = logs_entry;
        driver_log = logs[i];
        self = open_fake();
        fake.dead = cudaErrorIllegalAddress;
        CHECK_EQ(ops->stream_sync(self, NULL, NULL), GPURT_E_FAULT);
        CHECK_EQ(ops->report(self, report, sizeof report), strlen(report));
        if (i == 0)
            CHECK_CONTAINS(report,
                           "own log:\n    [now][ERROR] first\n    [now][ERROR] second\n");
        CHECK_EQ(strstr(report, "own log") != NULL, i != 1);
        CHECK_EQ(ops->close(self, NULL), GPURT_OK);
    }
}

static void test_context_dies(void)
{
    for (size_t i = 0; i < sizeof deaths / sizeof deaths[0]; i++) {
        void *self = open_healthy();
        gpurt_error_t err = {0};
        char report[4096];

        CHECK_EQ(ops->report(self, report, sizeof report), 0);
        CHECK_EQ(launch(self, one_block(32), &kernel, NULL), GPURT_OK);
        CHECK_EQ(launch(self, one_block(32), &kernel_two, NULL), GPURT_OK);
        fake.dead = deaths[i].error;
        CHECK_EQ(ops->stream_sync(self, NULL, &err), deaths[i].status);
        CHECK_EQ(err.code, deaths[i].error);
        CHECK_EQ(fake.pending, cudaSuccess);

        CHECK_EQ(ops->report(self, report, sizeof report), strlen(report));
        CHECK_CONTAINS(report, "wait for a stream");
        CHECK_CONTAINS(report, "reduce, saxpy");
        CHECK_CONTAINS(report, "Stand-in GPU");
        CHECK_EQ(ops->report(self, report, 5), ops->report(self, NULL, 0));
        CHECK_EQ(strlen(report), 4);

        check_all_lost(self);
        CHECK_EQ(ops->close(self, &err), GPURT_OK); /* it has been told */
    }
}

/* Nobody asked: closing tells. Also a launch can be the one that notices. */
static void test_death_noticed_late(void)
{
    void *self = open_healthy();
    gpurt_error_t err = {0};

    CHECK_EQ(launch(self, one_block(32), &kernel, NULL), GPURT_OK);
    fake.dead = cudaErrorIllegalAddress;
    CHECK_EQ(ops->close(self, &err), GPURT_E_FAULT);
    CHECK_CONTAINS(err.text, "cudaErrorIllegalAddress");

    self = open_healthy();
    fake.dead = cudaErrorIllegalAddress;
    CHECK_EQ(launch(self, one_block(32), &kernel, &err), GPURT_E_FAULT);
    CHECK_EQ(launch(self, one_block(32), &kernel, &err), GPURT_E_DEVICE_LOST);
    CHECK_EQ(ops->close(self, NULL), GPURT_OK);
}

int main(void)
{
    gpurt_cuda_api = &fake_api;
    test_other_current_device();
    test_peers();
    test_two_open();
    test_launch_plain();
    test_launch_shared();
    test_launch_special();
    test_launch_refused();
    test_occupancy();
    test_memory();
    test_streams_events();
    test_context_dies();
    test_driver_log();
    test_death_noticed_late();
    return 0;
}
