/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_cuda.h"

#include "check.h"

fake_cuda_t fake;

const fake_cuda_t fake_healthy = {.driver = 13000,
                                  .toolkit = 13000,
                                  .count = 1,
                                  .major = 9,
                                  .elapsed_ms = 1.5f,
                                  .stack = 1024};

static cudaError_t answer(cudaError_t e)
{
    if (fake.dead != cudaSuccess)
        e = fake.dead;
    if (e != cudaSuccess)
        fake.pending = e;
    return e;
}

static cudaError_t fake_driver_version(int *version)
{
    *version = fake.driver;
    return cudaSuccess;
}
static cudaError_t fake_runtime_version(int *version)
{
    *version = fake.toolkit;
    return cudaSuccess;
}
static cudaError_t fake_count(int *count)
{
    *count = fake.on_count == cudaSuccess ? fake.count : 0;
    return answer(fake.on_count);
}
static cudaError_t fake_attribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    CHECK(device >= 0 && device < fake.count);
    *value = attribute == cudaDevAttrComputeMode              ? fake.mode
             : attribute == cudaDevAttrComputeCapabilityMajor ? fake.major
                                                              : 0;
    return cudaSuccess;
}
static cudaError_t fake_properties(struct cudaDeviceProp *p, int device)
{
    CHECK(device >= 0 && device < fake.count);
    memset(p, 0, sizeof *p);
    strcpy(p->name, "Stand-in GPU");
    p->major = fake.major;
    p->multiProcessorCount = FAKE_SMS;
    p->maxThreadsPerMultiProcessor = 2048;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->sharedMemPerBlockOptin = FAKE_OPTIN;
    p->totalGlobalMem = (size_t)1 << 37;
    return answer(cudaSuccess);
}
static cudaError_t fake_get_device(int *device)
{
    *device = fake.current;
    return cudaSuccess;
}
static cudaError_t fake_set_device(int device)
{
    fake.contexts++;
    if (fake.on_set_device == cudaSuccess && fake.dead == cudaSuccess)
        fake.current = device;
    return answer(fake.on_set_device);
}
static cudaError_t fake_last_error(void)
{
    cudaError_t e = fake.pending;

    fake.pending = cudaSuccess;
    return e;
}
static const char *fake_error_name(cudaError_t e)
{
    return e == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaErrorOther";
}
static const char *fake_error_string(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation ? "out of memory" : "something went wrong";
}
static cudaError_t fake_sync(void)
{
    return answer(fake.on_sync);
}
static cudaError_t fake_get_limit(size_t *value, enum cudaLimit limit)
{
    CHECK_EQ(limit, cudaLimitStackSize);
    *value = fake.stack;
    return answer(cudaSuccess);
}
static cudaError_t fake_set_limit(enum cudaLimit limit, size_t value)
{
    CHECK_EQ(limit, cudaLimitStackSize);
    if (fake.on_limit == cudaSuccess)
        fake.stack = value;
    return answer(fake.on_limit);
}
static cudaError_t fake_can_access(int *can, int device, int peer)
{
    CHECK(device != peer && device < fake.count && peer < fake.count);
    *can = fake.peers;
    return answer(cudaSuccess);
}
static cudaError_t fake_enable_peer(int peer, unsigned flags)
{
    const int bit = 1 << peer;

    CHECK_EQ(flags, 0);
    if (fake.on_peer != cudaSuccess)
        return answer(fake.on_peer);
    if (fake.reached[fake.current] & bit)
        return answer(cudaErrorPeerAccessAlreadyEnabled);
    fake.reached[fake.current] |= bit;
    return answer(cudaSuccess);
}
static cudaError_t fake_malloc(void **memory, size_t bytes)
{
    cudaError_t e = answer(fake.on_malloc);

    for (int i = 0; e == cudaSuccess && i < FAKE_BLOCKS; i++)
        if (!fake.blocks[i]) {
            *memory = fake.blocks[i] = aligned_alloc(128, (bytes + 127) & ~(size_t)127);
            CHECK(*memory != NULL);
            return e;
        }
    CHECK(e != cudaSuccess);
    return e;
}
static cudaError_t fake_free(void *memory)
{
    for (int i = 0; i < FAKE_BLOCKS; i++)
        if (memory && fake.blocks[i] == memory) {
            free(memory);
            fake.blocks[i] = NULL;
            return answer(cudaSuccess);
        }
    return answer(cudaErrorInvalidValue);
}
static cudaError_t fake_entry_point(const char *name, void **function)
{
    *function = fake.entry_point ? fake.entry_point(name) : NULL;
    return answer(cudaSuccess);
}
static cudaError_t fake_register(void *memory, size_t bytes, unsigned flags)
{
    CHECK(fake.registered == NULL);
    fake.register_flags = flags;
    if (fake.on_register == cudaSuccess && fake.dead == cudaSuccess) {
        fake.registered = memory;
        fake.registered_bytes = bytes;
    }
    return answer(fake.on_register);
}
static cudaError_t fake_unregister(void *memory)
{
    CHECK(fake.registered == memory);
    fake.registered = NULL;
    return answer(cudaSuccess);
}
static cudaError_t fake_pointer(void **device, void *memory, unsigned flags)
{
    CHECK_EQ(flags, 0);
    *device = memory;
    return answer(fake.on_pointer);
}
static cudaError_t fake_symbol(const void *symbol, const void *from, size_t bytes,
                               size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CHECK(kind == cudaMemcpyHostToDevice && stream != NULL && offset == 0);
    if (fake.on_symbol == cudaSuccess && fake.dead == cudaSuccess)
        memcpy((void *)(uintptr_t)symbol, from, bytes);
    return answer(fake.on_symbol);
}
static cudaError_t fake_host_alloc(void **memory, size_t bytes, unsigned flags)
{
    fake.host_flags = flags;
    return fake_malloc(memory, bytes);
}
static cudaError_t fake_copy(void *to, const void *from, size_t bytes,
                             enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CHECK(kind == cudaMemcpyDefault && stream != NULL);
    memcpy(to, from, bytes);
    return answer(cudaSuccess);
}
static cudaError_t fake_fill(void *memory, int byte, size_t bytes, cudaStream_t stream)
{
    fake.filled_on = fake.current;
    CHECK(stream != NULL);
    memset(memory, byte, bytes);
    return answer(cudaSuccess);
}
static void launch_seen(const void *stub, dim3 grid, dim3 block, void **args,
                        cudaStream_t stream)
{
    fake.stub = stub;
    fake.grid = grid;
    fake.block = block;
    fake.args = args[0];
    fake.stream = stream;
    fake.launched_on = fake.current;
}
static cudaError_t fake_launch(const void *stub, dim3 grid, dim3 block, void **args,
                               size_t shared_bytes, cudaStream_t stream)
{
    (void)shared_bytes;
    fake.launches++;
    launch_seen(stub, grid, block, args, stream);
    if (fake.played)
        fake.played(args[0]);
    return answer(fake.on_launch);
}
static cudaError_t fake_launch_ex(const cudaLaunchConfig_t *c, const void *stub,
                                  void **args)
{
    fake.ex_launches++;
    fake.clusters = fake.cooperative = 0;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
            fake.clusters = c->attrs[i].val.clusterDim.x;
        if (c->attrs[i].id == cudaLaunchAttributeCooperative)
            fake.cooperative = (unsigned)c->attrs[i].val.cooperative;
    }
    launch_seen(stub, c->gridDim, c->blockDim, args, c->stream);
    return answer(fake.on_launch);
}
static cudaError_t fake_func_get(struct cudaFuncAttributes *out, const void *stub)
{
    (void)stub;
    memset(out, 0, sizeof *out);
    out->sharedSizeBytes = FAKE_STATIC_SHARED;
    out->maxThreadsPerBlock = FAKE_KERNEL_THREADS;
    out->numRegs = 128;
    return answer(cudaSuccess);
}
static cudaError_t fake_func_set(const void *stub, enum cudaFuncAttribute attribute,
                                 int value)
{
    (void)stub;
    CHECK_EQ(attribute, cudaFuncAttributeMaxDynamicSharedMemorySize);
    fake.opt_ins++;
    fake.opt_in_bytes = value;
    return answer(cudaSuccess);
}
static cudaError_t fake_occupancy(int *blocks, const void *stub, int threads, size_t bytes)
{
    (void)stub, (void)threads, (void)bytes;
    *blocks = 4;
    return answer(cudaSuccess);
}
static cudaError_t fake_clusters(int *clusters, const void *stub,
                                 const cudaLaunchConfig_t *c)
{
    (void)stub, (void)c;
    *clusters = 33;
    return answer(cudaSuccess);
}
static cudaError_t fake_stream_create(cudaStream_t *stream, unsigned flags)
{
    cudaError_t e = answer(fake.on_stream);

    fake.stream_flags = flags;
    if (e == cudaSuccess)
        *stream = (cudaStream_t)(uintptr_t)(0x1000 + ++fake.streams);
    return e;
}
static cudaError_t fake_stream_destroy(cudaStream_t stream)
{
    CHECK(stream != NULL);
    fake.streams--;
    return answer(cudaSuccess);
}
static cudaError_t fake_stream_sync(cudaStream_t stream)
{
    CHECK(stream != NULL);
    if (fake.awaited)
        fake.awaited();
    return answer(fake.on_sync);
}
static cudaError_t fake_stream_query(cudaStream_t stream)
{
    CHECK(stream != NULL);
    return answer(fake.on_query);
}
static cudaError_t fake_wait_event(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    CHECK(stream != NULL && event != NULL && flags == 0);
    return answer(cudaSuccess);
}
static cudaError_t fake_event_create(cudaEvent_t *event, unsigned flags)
{
    fake.event_flags = flags;
    fake.events++;
    *event = (cudaEvent_t)(uintptr_t)0x2000;
    return answer(cudaSuccess);
}
static cudaError_t fake_event_destroy(cudaEvent_t event)
{
    CHECK(event != NULL);
    fake.events--;
    return answer(cudaSuccess);
}
static cudaError_t fake_event(cudaEvent_t event)
{
    CHECK(event != NULL);
    return answer(cudaSuccess);
}
static cudaError_t fake_event_record(cudaEvent_t event, cudaStream_t stream)
{
    CHECK(event != NULL && stream != NULL);
    return answer(cudaSuccess);
}
static cudaError_t fake_event_query(cudaEvent_t event)
{
    CHECK(event != NULL);
    return answer(fake.on_query);
}
static cudaError_t fake_elapsed(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    CHECK(from != NULL && to != NULL);
    *ms = fake.elapsed_ms;
    return answer(cudaSuccess);
}

const gpurt_cuda_api_t fake_api = {
    .driver_get_version = fake_driver_version,
    .runtime_get_version = fake_runtime_version,
    .get_device_count = fake_count,
    .device_get_attribute = fake_attribute,
    .get_device_properties = fake_properties,
    .get_device = fake_get_device,
    .set_device = fake_set_device,
    .device_synchronize = fake_sync,
    .device_get_limit = fake_get_limit,
    .device_set_limit = fake_set_limit,
    .device_can_access_peer = fake_can_access,
    .device_enable_peer_access = fake_enable_peer,
    .get_last_error = fake_last_error,
    .get_error_name = fake_error_name,
    .get_error_string = fake_error_string,
    .malloc = fake_malloc,
    .get_entry_point = fake_entry_point,
    .free = fake_free,
    .host_alloc = fake_host_alloc,
    .free_host = fake_free,
    .memcpy_async = fake_copy,
    .memset_async = fake_fill,
    .memcpy_to_symbol_async = fake_symbol,
    .host_register = fake_register,
    .host_unregister = fake_unregister,
    .host_get_device_pointer = fake_pointer,
    .launch_kernel = fake_launch,
    .launch_kernel_ex = fake_launch_ex,
    .func_get_attributes = fake_func_get,
    .func_set_attribute = fake_func_set,
    .occupancy_blocks = fake_occupancy,
    .occupancy_clusters = fake_clusters,
    .stream_create = fake_stream_create,
    .stream_destroy = fake_stream_destroy,
    .stream_synchronize = fake_stream_sync,
    .stream_query = fake_stream_query,
    .stream_wait_event = fake_wait_event,
    .event_create = fake_event_create,
    .event_destroy = fake_event_destroy,
    .event_record = fake_event_record,
    .event_synchronize = fake_event,
    .event_query = fake_event_query,
    .event_elapsed_time = fake_elapsed,
};
