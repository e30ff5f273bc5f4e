/* SPDX-License-Identifier: Apache-2.0 */
/* bench_launch: what gpurt's host calls cost over the bare CUDA calls under them.
 *
 * Each case runs both by turns in one process, in batches that stay well below the depth
 * of the launch queue, so that the time is the caller's and not the GPU's. Rows hold the
 * median and the 99th of a hundred of the batches; `over` is the median difference of
 * neighbours, the figure that the promise of 300 ns is about. Every launch counts itself
 * on the GPU, and the counts are compared before any time is believed. */
#include "bench_launch.h"

#include "rows.h"

#include <gpurt/gpurt.h>

#include <cuda_runtime_api.h>
#include <string.h>

enum {
    REPEATS = 101,
    WARM_UPS = 5,
    BATCH = 200,
    SHARED_BYTES = 100 << 10,
    PROMISED_NS = 300
};

GPURT_KERNEL_DECLARE(bench_tick, struct bench_launch_args);
GPURT_KERNEL_DECLARE(bench_tick_shared, struct bench_launch_args);

typedef struct bench {
    gpurt_t *rt;
    gpurt_stream_t stream;
    gpurt_event_t event;
    cudaStream_t bare_stream;
    cudaEvent_t bare_event;
    struct bench_launch_args args;
    gpurt_launch_t plain, shared, cluster;
} bench_t;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_launch: %s: %s\n", what, why);
    exit(1);
}

static void need(gpurt_status_t st, const char *what)
{
    if (st != GPURT_OK)
        fail(what, gpurt_status_text(st));
}

static void need_cuda(cudaError_t e, const char *what)
{
    if (e != cudaSuccess)
        fail(what, cudaGetErrorString(e));
}

/* ---- the two sides of each case ------------------------------------------------------ */

static void ours_launch(bench_t *b)
{
    need(gpurt_launch(b->rt, &b->plain, bench_tick, &b->args, NULL), "launch");
}
static void bare_launch(bench_t *b)
{
    void *params[] = {&b->args};
    dim3 grid = {1, 1, 1}, block = {32, 1, 1};

    need_cuda(cudaLaunchKernel(*gpurt_kernel_bench_tick.cuda, grid, block, params, 0,
                               b->bare_stream),
              "cudaLaunchKernel");
}

static void ours_shared(bench_t *b)
{
    need(gpurt_launch(b->rt, &b->shared, bench_tick_shared, &b->args, NULL), "launch");
}
static void bare_shared(bench_t *b)
{
    void *params[] = {&b->args};
    dim3 grid = {1, 1, 1}, block = {32, 1, 1};

    need_cuda(cudaLaunchKernel(*gpurt_kernel_bench_tick_shared.cuda, grid, block, params,
                               SHARED_BYTES, b->bare_stream),
              "cudaLaunchKernel");
}

static void ours_cluster(bench_t *b)
{
    need(gpurt_launch(b->rt, &b->cluster, bench_tick, &b->args, NULL), "launch");
}
static void bare_cluster(bench_t *b)
{
    void *params[] = {&b->args};
    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeClusterDimension};
    cudaLaunchConfig_t config = {.gridDim = {2, 1, 1},
                                 .blockDim = {32, 1, 1},
                                 .stream = b->bare_stream,
                                 .attrs = &attribute,
                                 .numAttrs = 1};

    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    need_cuda(cudaLaunchKernelExC(&config, *gpurt_kernel_bench_tick.cuda, params),
              "cudaLaunchKernelExC");
}

static void ours_launch_sync(bench_t *b)
{
    ours_launch(b);
    need(gpurt_stream_sync(b->rt, b->stream, NULL), "sync");
}
static void bare_launch_sync(bench_t *b)
{
    bare_launch(b);
    need_cuda(cudaStreamSynchronize(b->bare_stream), "cudaStreamSynchronize");
}

static void ours_record(bench_t *b)
{
    need(gpurt_event_record(b->rt, b->event, b->stream), "event record");
}
static void bare_record(bench_t *b)
{
    need_cuda(cudaEventRecord(b->bare_event, b->bare_stream), "cudaEventRecord");
}

static void ours_query(bench_t *b)
{
    need(gpurt_stream_query(b->rt, b->stream, NULL), "query");
}
static void bare_query(bench_t *b)
{
    need_cuda(cudaStreamQuery(b->bare_stream), "cudaStreamQuery");
}

typedef void (*step_t)(bench_t *b);

static const struct bench_case {
    const char *name, *peer;
    step_t ours, bare;
    uint32_t batch;
    uint32_t launches; /* of one step, for the count */
    bool clusters;     /* needs them */
} cases[] = {
    {"launch", "cudaLaunchKernel", ours_launch, bare_launch, BATCH, 1, false},
    {"launch_shared_100k", "cudaLaunchKernel", ours_shared, bare_shared, BATCH, 1, false},
    {"launch_cluster_2", "cudaLaunchKernelExC", ours_cluster, bare_cluster, BATCH, 1, true},
    {"launch_sync", "cudaLaunchKernel+Sync", ours_launch_sync, bare_launch_sync, 20, 1,
     false},
    {"event_record", "cudaEventRecord", ours_record, bare_record, BATCH, 0, false},
    {"stream_query_idle", "cudaStreamQuery", ours_query, bare_query, BATCH, 0, false},
};

/* ---- measuring ----------------------------------------------------------------------- */

static void quiet(bench_t *b)
{
    need_cuda(cudaStreamSynchronize(b->bare_stream), "cudaStreamSynchronize");
    need(gpurt_sync(b->rt, NULL), "sync");
}

static double batch_ns(bench_t *b, step_t step, uint32_t batch)
{
    double begin, end;

    quiet(b);
    begin = rows_now_ns();
    for (uint32_t i = 0; i < batch; i++)
        step(b);
    end = rows_now_ns();
    return (end - begin) / batch;
}

static uint32_t ticks_read(bench_t *b)
{
    uint32_t ticks = 0;

    quiet(b);
    need_cuda(cudaMemcpy(&ticks, b->args.ticks, sizeof ticks, cudaMemcpyDeviceToHost),
              "cudaMemcpy");
    return ticks;
}

/* Before a time is taken: a batch of each side runs exactly as often as it was launched. */
static void check_case(bench_t *b, const struct bench_case *c)
{
    uint32_t before = ticks_read(b), seen;

    for (uint32_t i = 0; i < WARM_UPS; i++) {
        batch_ns(b, c->ours, c->batch);
        batch_ns(b, c->bare, c->batch);
    }
    seen = ticks_read(b) - before;
    if (seen != 2 * WARM_UPS * c->batch * c->launches)
        fail(c->name, "not every launch ran once");
}

static void run_case(bench_t *b, const struct bench_case *c)
{
    static double ours[REPEATS], bare[REPEATS], over[REPEATS];
    char name[64];
    double middle_ours, middle_bare;

    check_case(b, c);
    for (uint32_t i = 0; i < REPEATS; i++) {
        if (i & 1)
            bare[i] = batch_ns(b, c->bare, c->batch);
        ours[i] = batch_ns(b, c->ours, c->batch);
        if (!(i & 1))
            bare[i] = batch_ns(b, c->bare, c->batch);
        over[i] = ours[i] - bare[i];
    }
    middle_ours = rows_median(ours, REPEATS); /* sorts */
    middle_bare = rows_median(bare, REPEATS);
    rows_add("launch", c->name, middle_ours, "ns", c->peer, middle_bare);
    snprintf(name, sizeof name, "%s.p99", c->name);
    rows_add("launch", name, ours[REPEATS * 99 / 100], "ns", c->peer,
             bare[REPEATS * 99 / 100]);
    snprintf(name, sizeof name, "%s.over", c->name);
    rows_add("launch", name, rows_median(over, REPEATS), "ns", "promised", PROMISED_NS);
}

/* ---- set-up -------------------------------------------------------------------------- */

static void set_up(bench_t *b)
{
    void *memory;

    need(gpurt_stream_create(b->rt, &b->stream, NULL), "stream");
    need(gpurt_event_create(b->rt, &b->event, NULL), "event");
    need(gpurt_mem_create(b->rt, sizeof(uint32_t), &memory, NULL), "memory");
    need_cuda(cudaStreamCreateWithFlags(&b->bare_stream, cudaStreamNonBlocking), "stream");
    need_cuda(cudaEventCreate(&b->bare_event), "event");
    b->args.ticks = (uint32_t *)memory;
    need(gpurt_fill(b->rt, b->stream, memory, 0, sizeof(uint32_t), NULL), "fill");
    need_cuda(cudaFuncSetAttribute(*gpurt_kernel_bench_tick_shared.cuda,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   SHARED_BYTES),
              "cudaFuncSetAttribute");
    b->plain =
        (gpurt_launch_t){.grid = {1, 1, 1}, .block = {32, 1, 1}, .stream = b->stream};
    b->shared = b->cluster = b->plain;
    b->shared.shared_bytes = SHARED_BYTES;
    b->cluster.grid.x = b->cluster.cluster.x = 2;
}

int main(void)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};
    gpurt_error_t err = {0};
    gpurt_info_t info;
    bench_t b = {0};

    if (gpurt_open(&options, &b.rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_launch: skipped: %s\n", err.text);
        return 77;
    }
    need(gpurt_info(b.rt, &info), "info");
    if (info.backend != GPURT_BACKEND_CUDA) {
        fprintf(stderr, "bench_launch: skipped: %s\n", info.why);
        return 77;
    }
    set_up(&b);
    rows_head();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (!cases[i].clusters || info.max_cluster > 1)
            run_case(&b, &cases[i]);
    need(gpurt_mem_destroy(b.rt, b.args.ticks), "memory");
    need_cuda(cudaStreamDestroy(b.bare_stream), "stream");
    need_cuda(cudaEventDestroy(b.bare_event), "event");
    need(gpurt_close(b.rt, NULL), "close");
    return 0;
}
