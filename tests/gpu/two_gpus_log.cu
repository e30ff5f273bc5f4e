/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt on the GPU of one's choice, where there are two. `on DEVICE MESSAGES`: opened on that
 * one while the other is the caller's current device: what kernels say and allocate is that
 * device's, the caller's device stays his, and code on the other GPU has neither box nor heap.
 * `both MESSAGES`: on one after the other, in one process. */
#include "plain_check.cuh"

#include <gpurt/alloc.h>
#include <gpurt/device.h>
#include <gpurt/gpurt.h>
#include <gpurt/heap.h>
#include <gpurt/log.h>

#include <cstring>

static constexpr unsigned kBlocks = 4, kThreads = 64, kObjects = kBlocks * kThreads;
static constexpr unsigned kObjectBytes = 256;

#define OK(call)                                                                  \
    do {                                                                          \
        if ((call) != GPURT_OK) {                                                 \
            fprintf(stderr, "%s:%d: FAILED: %s: %s\n", __FILE__, __LINE__, #call, \
                    err.text);                                                    \
            exit(PLAIN_FAILED);                                                   \
        }                                                                         \
    } while (0)

struct speak_args {
    unsigned device, first, count;
};
GPURT_KERNEL(speak, struct speak_args, p)
{
    for (unsigned i = gpurt_global_id(); i < p->count; i += kObjects)
        GPURT_INFO("device %u says %u", p->device, p->first + i);
}

struct take_args {
    gpurt_heap_t heap;
    unsigned **objects;
    unsigned value;
};
GPURT_KERNEL(take, struct take_args, p)
{
    unsigned id = gpurt_global_id();
    unsigned *object = static_cast<unsigned *>(gpurt_heap_alloc(&p->heap, kObjectBytes));

    if (object)
        object[kObjectBytes / sizeof *object - 1] = p->value + id;
    p->objects[id] = object;
}

struct drop_args {
    gpurt_heap_t heap;
    unsigned **objects;
    unsigned value;
    unsigned *wrong;
};
GPURT_KERNEL(drop, struct drop_args, p)
{
    unsigned id = gpurt_global_id(), *object = p->objects[id];

    if (!object || object[kObjectBytes / sizeof *object - 1] != p->value + id)
        gpurt_add_relaxed_dev_u32(p->wrong, 1);
    gpurt_heap_free(&p->heap, object);
}

/* On a GPU that gpurt has not opened. */
static __global__ void stray(unsigned *taken)
{
    void *object = gpurt_alloc(64);

    GPURT_ERROR("said where nobody listens");
    if (object)
        atomicAdd(taken, 1u);
}

static int current_device()
{
    int device = -1;

    PLAIN_CUDA(cudaGetDevice(&device));
    return device;
}

static gpurt_launch_t shape()
{
    gpurt_launch_t launch = {};

    launch.grid.x = kBlocks;
    launch.block.x = kThreads;
    return launch;
}

static void speak_on(gpurt_t *rt, unsigned device, unsigned messages)
{
    gpurt_launch_t launch = shape();
    gpurt_error_t err = {};

    for (unsigned first = 0; first < messages; first += messages / 2) {
        speak_args args = {device, first, messages / 2};

        OK(gpurt_launch(rt, &launch, speak, &args, &err));
    }
    OK(gpurt_sync(rt, &err));
}

/* Objects lie on the device, hold what was written, and are counted. */
static void heap_on(gpurt_t *rt, int device, const gpurt_heap_t &heap)
{
    gpurt_launch_t launch = shape();
    gpurt_heap_stats_t stats = {};
    gpurt_error_t err = {};
    cudaPointerAttributes about = {};
    void *objects = nullptr, *wrong = nullptr;
    unsigned *host[kObjects], count = 1;
    unsigned value = 1000u * unsigned(device + 1);

    OK(gpurt_mem_create(rt, sizeof host, &objects, &err));
    OK(gpurt_mem_create(rt, sizeof count, &wrong, &err));
    OK(gpurt_fill(rt, GPURT_STREAM_DEFAULT, wrong, 0, sizeof count, &err));
    take_args taken = {heap, static_cast<unsigned **>(objects), value};
    OK(gpurt_launch(rt, &launch, take, &taken, &err));
    OK(gpurt_copy(rt, GPURT_STREAM_DEFAULT, host, objects, sizeof host, &err));
    OK(gpurt_sync(rt, &err));
    OK(gpurt_heap_stats(rt, &heap, &stats, &err));
    PLAIN_EQUAL(stats.live, kObjects);
    for (unsigned i = 0; i < kObjects; i += 37) {
        PLAIN_CUDA(cudaPointerGetAttributes(&about, host[i]));
        PLAIN_EQUAL(about.device, device);
    }
    drop_args dropped = {heap, static_cast<unsigned **>(objects), value,
                         static_cast<unsigned *>(wrong)};
    OK(gpurt_launch(rt, &launch, drop, &dropped, &err));
    OK(gpurt_copy(rt, GPURT_STREAM_DEFAULT, &count, wrong, sizeof count, &err));
    OK(gpurt_sync(rt, &err));
    PLAIN_EQUAL(count, 0);
    OK(gpurt_heap_stats(rt, &heap, &stats, &err));
    PLAIN_EQUAL(stats.live, 0);
    OK(gpurt_heap_check(rt, &heap, &err));
    OK(gpurt_mem_destroy(rt, objects));
    OK(gpurt_mem_destroy(rt, wrong));
}

/* Plain launches go to the current device, as ever. */
static void stray_on(int device)
{
    unsigned *taken = nullptr, count = 1;

    PLAIN_CUDA(cudaSetDevice(device));
    PLAIN_CUDA(cudaMalloc(&taken, sizeof *taken));
    PLAIN_CUDA(cudaMemset(taken, 0, sizeof *taken));
    stray<<<2, 64>>>(taken);
    PLAIN_CUDA(cudaGetLastError());
    PLAIN_CUDA(cudaMemcpy(&count, taken, sizeof count, cudaMemcpyDeviceToHost));
    PLAIN_CUDA(cudaFree(taken));
    PLAIN_EQUAL(count, 0);
}

static void open_on(int device, unsigned messages)
{
    const int other = 1 - device;
    gpurt_options_t options = {};
    gpurt_heap_options_t heap_options = {}, growing = {};
    gpurt_heap_t heap = {}, second = {};
    gpurt_error_t err = {};
    gpurt_info_t info = {};
    gpurt_t *rt = nullptr, *again = nullptr;

    PLAIN_CUDA(cudaSetDevice(other));
    options.struct_size = sizeof options;
    options.backend = GPURT_BACKEND_CUDA;
    options.device = device;
    OK(gpurt_open(&options, &rt, &err));
    OK(gpurt_info(rt, &info));
    PLAIN_EQUAL(info.device, device);
    PLAIN_EQUAL(current_device(), other);
    PLAIN_EQUAL(gpurt_open(&options, &again, &err), GPURT_E_OPEN); /* each once */

    heap_options.bytes = 64 << 20;
    heap_options.make_default = true;
    growing.bytes = 8 << 20;
    growing.reserve_bytes = 64 << 20; /* of addresses, backed by hand: cuMemMap */
    OK(gpurt_heap_create(rt, &heap_options, &heap, &err));
    OK(gpurt_heap_create(rt, &growing, &second, &err));
    OK(gpurt_heap_grow(rt, &second, 8 << 20, &err));
    speak_on(rt, unsigned(device), messages);
    heap_on(rt, device, heap);
    heap_on(rt, device, second);
    PLAIN_EQUAL(current_device(), other);
    stray_on(other);
    speak_on(rt, unsigned(device), messages); /* with the other's kernels loaded and run */

    OK(gpurt_heap_destroy(rt, &second, &err));
    OK(gpurt_heap_destroy(rt, &heap, &err));
    OK(gpurt_close(rt, &err));
    PLAIN_EQUAL(current_device(), other);
    printf("device %d: %u messages\n", device, 2 * messages);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "both";
    int count = 0;

    plain_need_gpu();
    PLAIN_CUDA(cudaGetDeviceCount(&count));
    if (count < 2) {
        fprintf(stderr, "two_gpus_log: %d GPU here, two are needed: skipped\n", count);
        return PLAIN_SKIPPED;
    }
    if (strcmp(mode, "on") == 0 && argc > 3) {
        open_on(atoi(argv[2]), unsigned(atoi(argv[3])));
        return 0;
    }
    open_on(0, argc > 2 ? unsigned(atoi(argv[2])) : 1000);
    open_on(1, argc > 2 ? unsigned(atoi(argv[2])) : 1000);
    return 0;
}
