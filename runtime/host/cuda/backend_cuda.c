/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA back end behind the host API: each call checked already, each one call of
 * CUDA. */
#include "backend.h"
#include "channel_close_kernels.h"

#include "cuda_box.h"
#include "cuda_device.h"
#include "cuda_error.h"
#include "cuda_hang.h"
#include "cuda_later.h"
#include "cuda_launch.h"
#include "cuda_peer.h"
#include "cuda_probe.h"
#include "cuda_range.h"
#include "gc_kernels.h"
#include "sweep_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLUSTER_CAPABILITY = 90
};

#define REFUSE(err, status, ...) gpurt_fail(err, status, GPURT_FROM_GPURT, 0, __VA_ARGS__)

static gpurt_status_t cuda_probe(const gpurt_options_t *options, gpurt_error_t *err)
{
    int count = 0;

    return gpurt_cuda_probe(options, &count, err);
}

/* ---- open, close --------------------------------------------------------------------- */

static gpurt_status_t info_fill(gpurt_cuda_device_t *d, gpurt_info_t *info,
                                gpurt_error_t *err)
{
    const gpurt_cuda_api_t *api = gpurt_cuda_api;
    struct cudaDeviceProp p;
    int driver = 0, toolkit = 0;
    cudaError_t e = api->get_device_properties(&p, d->number);

    if (e == cudaSuccess)
        e = api->driver_get_version(&driver);
    if (e == cudaSuccess)
        e = api->runtime_get_version(&toolkit);
    if (e != cudaSuccess)
        return gpurt_cuda_fail(err, e, "ask for the GPU's properties");

    d->sm_count = p.multiProcessorCount;
    d->capability = p.major * 10 + p.minor;
    d->max_shared = (int)p.sharedMemPerBlockOptin;
    snprintf(d->name, sizeof d->name, "%.*s", (int)sizeof d->name - 1, p.name);

    info->backend = GPURT_BACKEND_CUDA;
    info->device = d->number;
    memcpy(info->name, d->name, sizeof info->name);
    info->sm_count = (uint32_t)p.multiProcessorCount;
    info->warp_slots = (uint32_t)p.maxThreadsPerMultiProcessor / GPURT_WARP_SIZE;
    info->compute_major = (uint32_t)p.major;
    info->compute_minor = (uint32_t)p.minor;
    info->driver_version = (uint32_t)driver;
    info->runtime_version = (uint32_t)toolkit;
    info->max_block_threads = (uint32_t)p.maxThreadsPerBlock;
    info->max_block =
        (gpurt_dim3_t){(uint32_t)p.maxThreadsDim[0], (uint32_t)p.maxThreadsDim[1],
                       (uint32_t)p.maxThreadsDim[2]};
    info->max_grid = (gpurt_dim3_t){(uint32_t)p.maxGridSize[0], (uint32_t)p.maxGridSize[1],
                                    (uint32_t)p.maxGridSize[2]};
    info->max_cluster = d->capability >= CLUSTER_CAPABILITY ? GPURT_MAX_CLUSTER_BLOCKS : 1;
    info->max_shared = (uint64_t)d->max_shared;
    info->memory_bytes = p.totalGlobalMem;
    return GPURT_OK;
}

/* An error that would kill a context means, when it is met at open, that it is dead
 * already. */
static gpurt_status_t open_failed(cudaError_t e, const char *doing, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_cuda_fail(err, e, doing);

    if (!gpurt_cuda_error_find(e)->kills)
        return st;
    return gpurt_fail(
        err, GPURT_E_DEVICE_LOST, GPURT_FROM_CUDA, e,
        "the GPU's context died before gpurt_open (%s): restart the process, no "
        "GPU can be used in this one any more",
        gpurt_cuda_api->get_error_name(e));
}

/* Selecting the device makes its context, the first call that meets a busy GPU. */
static gpurt_status_t context_make(gpurt_cuda_device_t *d, gpurt_error_t *err)
{
    cudaError_t e = gpurt_cuda_api->set_device(d->number);

    if (e != cudaSuccess)
        return open_failed(e, "make a context on the GPU", err);
    e = gpurt_cuda_api->stream_create(&d->stream, cudaStreamNonBlocking);
    if (e != cudaSuccess)
        return open_failed(e, "create the default stream", err);
    gpurt_cuda_context_prepare(d);
    gpurt_cuda_hang_init(d);
    return GPURT_OK;
}

static void device_free(gpurt_cuda_device_t *d)
{
    gpurt_cuda_hang_fini(d);
    if (d->stream && !gpurt_cuda_is_lost(d) &&
        gpurt_cuda_api->stream_destroy(d->stream) != cudaSuccess)
        (void)gpurt_cuda_api->get_last_error();
    gpurt_cuda_later_fini(d);
    pthread_mutex_destroy(&d->report_lock);
    free(d);
}

static gpurt_status_t cuda_open(const gpurt_options_t *options, uint32_t index,
                                gpurt_info_t *info, void **out, gpurt_error_t *err)
{
    int count = 0, before = -1;
    gpurt_cuda_device_t *d;
    gpurt_status_t st;

    (void)index; /* each GPU has its own copies of what kernels share */
    *out = NULL;
    gpurt_cuda_later_watch();
    st = gpurt_cuda_probe(options, &count, err);
    if (st != GPURT_OK)
        return st;
    d = (gpurt_cuda_device_t *)calloc(1, sizeof *d);
    if (!d)
        return REFUSE(err, GPURT_E_NOMEM, "CUDA back end: no host memory for its state");
    pthread_mutex_init(&d->report_lock, NULL);
    pthread_mutex_init(&d->later.lock, NULL);
    d->number = options ? options->device : 0;
    d->many = count > 1;
    if (d->many && gpurt_cuda_api->get_device(&before) != cudaSuccess)
        (void)gpurt_cuda_api->get_last_error();
    st = context_make(d, err);
    if (st == GPURT_OK)
        st = info_fill(d, info, err);
    if (before >= 0 && before != d->number)
        (void)gpurt_cuda_api->set_device(before); /* the caller's choice stays his own */
    if (st != GPURT_OK) {
        device_free(d);
        return st;
    }
    *out = d;
    return GPURT_OK;
}

/* The end of a call that waited. */
static gpurt_status_t wait_leave(gpurt_cuda_device_t *d, gpurt_cuda_visit_t visit,
                                 cudaError_t result, gpurt_error_t *err, const char *doing)
{
    if (d->box && result == cudaSuccess)
        gpurt_cuda_box_tick(d);
    return gpurt_cuda_leave(d, visit, result, err, doing);
}

static gpurt_status_t cuda_sync(void *self, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    if (st != GPURT_OK)
        return st;
    return wait_leave(d, visit, gpurt_cuda_api->device_synchronize(), err,
                      "wait for the GPU");
}

/* The context stays: other libraries of the process may share it. */
static gpurt_status_t cuda_close(void *self, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_status_t st = gpurt_cuda_is_lost(d) ? GPURT_OK : cuda_sync(d, err);

    device_free(d);
    return st;
}

/* Without a call of CUDA: the driver knows this process not, and may hang. */
static void cuda_forked(void *self, const struct gpurt_boxmap *map, uint32_t section)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;

    (void)map;
    (void)section;
    gpurt_cuda_box_forked(d);
    free(d);
}

static void cuda_counters(void *self, gpurt_counters_t *out)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;

    memset(out, 0, sizeof *out);
    out->launches = gpurt_load_relaxed_sys_u64(&d->xlaunches); /* relaxed: a snapshot */
}

static size_t cuda_report(void *self, char *text, size_t bytes)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    size_t length;

    pthread_mutex_lock(&d->report_lock);
    length = strlen(d->report);
    if (bytes > 0)
        snprintf(text, bytes, "%s", d->report);
    pthread_mutex_unlock(&d->report_lock);
    return length;
}

/* ---- memory -------------------------------------------------------------------------- */

static gpurt_status_t cuda_mem_create(void *self, size_t bytes, void **out,
                                      gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);
    char doing[64];

    if (st != GPURT_OK)
        return st;
    snprintf(doing, sizeof doing, "allocate %zu bytes of GPU memory", bytes);
    return gpurt_cuda_leave(d, visit, gpurt_cuda_api->malloc(out, bytes), err, doing);
}

static gpurt_status_t cuda_mem_destroy(void *self, void *memory)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, NULL);

    if (st != GPURT_OK)
        return st;
    if (gpurt_cuda_later_free(d, memory, false))
        return gpurt_cuda_leave(d, visit, cudaSuccess, NULL, NULL);
    return gpurt_cuda_leave(d, visit, gpurt_cuda_api->free(memory), NULL,
                            "free GPU memory");
}

/* Mapped and portable: any GPU of the process reaches it at the address the host uses. */
static gpurt_status_t cuda_host_create(void *self, size_t bytes, void **out,
                                       gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);
    char doing[64];

    if (st != GPURT_OK)
        return st;
    snprintf(doing, sizeof doing, "allocate %zu bytes of pinned host memory", bytes);
    return gpurt_cuda_leave(
        d, visit,
        gpurt_cuda_api->host_alloc(out, bytes, cudaHostAllocMapped | cudaHostAllocPortable),
        err, doing);
}

static gpurt_status_t cuda_host_destroy(void *self, void *memory)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, NULL);

    if (st != GPURT_OK)
        return st;
    if (gpurt_cuda_later_free(d, memory, true))
        return gpurt_cuda_leave(d, visit, cudaSuccess, NULL, NULL);
    return gpurt_cuda_leave(d, visit, gpurt_cuda_api->free_host(memory), NULL,
                            "free pinned host memory");
}

static gpurt_status_t cuda_copy(void *self, void *stream, void *to, const void *from,
                                size_t bytes, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    if (st != GPURT_OK)
        return st;
    return gpurt_cuda_leave(d, visit,
                            gpurt_cuda_api->memcpy_async(to, from, bytes, cudaMemcpyDefault,
                                                         gpurt_cuda_stream(d, stream)),
                            err, "copy memory");
}

static gpurt_status_t cuda_fill(void *self, void *stream, void *memory, uint8_t byte,
                                size_t bytes, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    if (st != GPURT_OK)
        return st;
    return gpurt_cuda_leave(
        d, visit,
        gpurt_cuda_api->memset_async(memory, byte, bytes, gpurt_cuda_stream(d, stream)),
        err, "fill memory");
}

static gpurt_status_t cuda_constant_write(void *self, const void *symbol, const void *from,
                                          size_t bytes, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);
    cudaError_t e;

    if (st != GPURT_OK)
        return st;
    e = gpurt_cuda_api->memcpy_to_symbol_async(symbol, from, bytes, 0,
                                               cudaMemcpyHostToDevice, d->stream);
    if (e == cudaSuccess)
        e = gpurt_cuda_api->stream_synchronize(d->stream);
    return gpurt_cuda_leave(d, visit, e, err, "write a constant of device code");
}

/* ---- streams ------------------------------------------------------------------------- */

static gpurt_status_t cuda_stream_create(void *self, void **out, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    cudaStream_t stream = NULL;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    *out = NULL;
    if (st != GPURT_OK)
        return st;
    st = gpurt_cuda_leave(d, visit,
                          gpurt_cuda_api->stream_create(&stream, cudaStreamNonBlocking),
                          err, "create a stream");
    if (st == GPURT_OK)
        *out = stream;
    return st;
}

static gpurt_status_t cuda_stream_destroy(void *self, void *stream)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, NULL);

    if (st != GPURT_OK)
        return st;
    return gpurt_cuda_leave(d, visit, gpurt_cuda_api->stream_destroy((cudaStream_t)stream),
                            NULL, "destroy a stream");
}

static gpurt_status_t cuda_stream_sync(void *self, void *stream, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    if (st != GPURT_OK)
        return st;
    return wait_leave(d, visit,
                      gpurt_cuda_api->stream_synchronize(gpurt_cuda_stream(d, stream)), err,
                      "wait for a stream");
}

/* What `<<<>>>` launched without a stream. Services are in streams that do not block with it. */
static gpurt_status_t cuda_strays_sync(void *self, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);
    cudaError_t e;

    if (st != GPURT_OK)
        return st;
    e = gpurt_cuda_api->stream_synchronize(cudaStreamLegacy);
    if (e == cudaSuccess)
        e = gpurt_cuda_api->stream_synchronize(cudaStreamPerThread);
    return wait_leave(d, visit, e, err, "wait for CUDA's default streams");
}

static gpurt_status_t cuda_stream_query(void *self, void *stream, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    if (st != GPURT_OK)
        return st;
    return gpurt_cuda_leave(d, visit,
                            gpurt_cuda_api->stream_query(gpurt_cuda_stream(d, stream)), err,
                            "ask whether a stream is done");
}

/* ---- events -------------------------------------------------------------------------- */

static gpurt_status_t cuda_event_create(void *self, void **out, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    cudaEvent_t event = NULL;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    *out = NULL;
    if (st != GPURT_OK)
        return st;
    st = gpurt_cuda_leave(d, visit, gpurt_cuda_api->event_create(&event, cudaEventDefault),
                          err, "create an event");
    if (st == GPURT_OK)
        *out = event;
    return st;
}

static gpurt_status_t cuda_event_destroy(void *self, void *event)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, NULL);

    if (st != GPURT_OK)
        return st;
    return gpurt_cuda_leave(d, visit, gpurt_cuda_api->event_destroy((cudaEvent_t)event),
                            NULL, "destroy an event");
}

static gpurt_status_t cuda_event_record(void *self, void *event, void *stream)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, NULL);

    if (st != GPURT_OK)
        return st;
    return gpurt_cuda_leave(
        d, visit,
        gpurt_cuda_api->event_record((cudaEvent_t)event, gpurt_cuda_stream(d, stream)),
        NULL, "record an event");
}

static gpurt_status_t cuda_event_wait(void *self, void *event, void *stream)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, NULL);

    if (st != GPURT_OK)
        return st;
    return gpurt_cuda_leave(d, visit,
                            gpurt_cuda_api->stream_wait_event(gpurt_cuda_stream(d, stream),
                                                              (cudaEvent_t)event, 0),
                            NULL, "make a stream wait for an event");
}

static gpurt_status_t cuda_event_sync(void *self, void *event, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    if (st != GPURT_OK)
        return st;
    return wait_leave(d, visit, gpurt_cuda_api->event_synchronize((cudaEvent_t)event), err,
                      "wait for an event");
}

static gpurt_status_t cuda_event_query(void *self, void *event, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    if (st != GPURT_OK)
        return st;
    return gpurt_cuda_leave(d, visit, gpurt_cuda_api->event_query((cudaEvent_t)event), err,
                            "ask whether an event has come");
}

/* CUDA tells milliseconds as a float: about half a microsecond exact for short spans. */
static gpurt_status_t cuda_event_elapsed_ns(void *self, void *from, void *to, uint64_t *ns,
                                            gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    gpurt_cuda_visit_t visit;
    float ms = 0;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    if (st != GPURT_OK)
        return st;
    st = gpurt_cuda_leave(
        d, visit,
        gpurt_cuda_api->event_elapsed_time(&ms, (cudaEvent_t)from, (cudaEvent_t)to), err,
        "ask for the time between two events");
    if (st == GPURT_OK && ms < 0)
        return REFUSE(
            err, GPURT_E_INVALID,
            "the second event came before the first: pass them in the other order");
    if (st == GPURT_OK)
        *ns = (uint64_t)((double)ms * 1e6 + 0.5);
    return st;
}

/* Kernels of the runtime's own: nothing else pulls their CUDA halves out of the archive. */
__attribute__((used)) static const void *const *const service_kernels[] = {
    &gpurt_cuda_gpurt_broadcast_close_one,  &gpurt_cuda_gpurt_channel_close_one,
    &gpurt_cuda_gpurt_hostchannel_shut_one, &gpurt_cuda_gpurt_segring_close_one,
    &gpurt_cuda_gpurt_unbounded_close_one,  &gpurt_cuda_gpurt_unbounded_free_all,
    &gpurt_cuda_gpurt_epochs_sweep_all,     &gpurt_cuda_gpurt_gc_reset};

const gpurt_backend_ops_t gpurt_backend_cuda = {
    .kind = GPURT_BACKEND_CUDA,
    .probe = cuda_probe,
    .open = cuda_open,
    .close = cuda_close,
    .forked = cuda_forked,
    .counters = cuda_counters,
    .report = cuda_report,
    .box_connect = gpurt_cuda_box_connect,
    .box_disconnect = gpurt_cuda_box_disconnect,
    .gate_store = gpurt_cuda_box_gate_store,
    .span_store = gpurt_cuda_box_span_store,
    .hang_prepare = gpurt_cuda_hang_prepare,
    .hang_mark = gpurt_cuda_hang_mark,
    .hang_busy = gpurt_cuda_hang_busy,
    .hang_end = gpurt_cuda_hang_end,
    .mem_create = cuda_mem_create,
    .mem_destroy = cuda_mem_destroy,
    .range_create = gpurt_cuda_range_create,
    .range_back = gpurt_cuda_range_back,
    .range_tell = gpurt_cuda_range_tell,
    .range_destroy = gpurt_cuda_range_destroy,
    .host_create = cuda_host_create,
    .host_destroy = cuda_host_destroy,
    .peer_reach = gpurt_cuda_peer_reach,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .constant_write = cuda_constant_write,
    .launch = gpurt_cuda_launch,
    .occupancy = gpurt_cuda_occupancy,
    .stream_create = cuda_stream_create,
    .stream_destroy = cuda_stream_destroy,
    .stream_sync = cuda_stream_sync,
    .stream_query = cuda_stream_query,
    .sync = cuda_sync,
    .strays_sync = cuda_strays_sync,
    .service_begin = gpurt_cuda_later_begin,
    .service_end = gpurt_cuda_later_end,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_wait = cuda_event_wait,
    .event_sync = cuda_event_sync,
    .event_query = cuda_event_query,
    .event_elapsed_ns = cuda_event_elapsed_ns,
};
