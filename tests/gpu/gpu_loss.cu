/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_loss MODE FILE SEED: a kernel of 264 blocks logs numbers until it, or the process, is
 * ended in one of the ways below. FILE outlives it: how far each warp says it came, said only
 * when a fence had put the records before it into the black box; and which warps went back, by a
 * count that lies in memory: who finds it ahead of its own has been here before, so that what is
 * twice in the log was logged twice. loss_check compares.
 * Plain CUDA C++: what any program with gpurt's header gets. */
#include <gpurt/device.h>
#include <gpurt/gpurt.h>

#include <assert.h>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCKS = 264,
    THREADS = 64,
    WARPS = BLOCKS * THREADS / 32,
    FILE_BYTES = 2 * WARPS * 4, /* of each warp what it said, then what it went back from */
    SAID_EVERY = 8,
    BEGIN_MS = 10000,
    NOT_BEGUN = 3, /* exit status */
    LIMIT_NS = 2000000000
};
enum mode {
    MODE_END,
    MODE_TRAP,
    MODE_ILLEGAL,
    MODE_ASSERT,
    MODE_KILL,
    MODES
};
static const struct {
    const char *name;
    cudaError_t end;
} modes[MODES] = {{"end", cudaSuccess},
                  {"trap", cudaErrorLaunchFailure},
                  {"illegal", cudaErrorIllegalAddress},
                  {"assert", cudaErrorAssert},
                  {"kill", cudaSuccess}};

/* Numbers that each warp has begun. Not in registers, which may be those of before. */
static __device__ volatile uint32_t begun[WARPS];

__global__ void writer(volatile uint32_t *said, int mode, uint32_t last)
{
    uint32_t warp = (blockIdx.x * THREADS + threadIdx.x) / 32;
    uint64_t start = gpurt_globaltimer();

    for (uint32_t i = 0; gpurt_globaltimer() - start < LIMIT_NS; i++) {
        if (threadIdx.x % 32 == 0) {
            if (begun[warp] != i)
                said[WARPS + warp] = begun[warp];
            begun[warp] = i + 1;
        }
        GPURT_LOG_WARP(GPURT_LEVEL_INFO, "%u %u", warp, i);
        if (i % SAID_EVERY == 0) {
            __threadfence_system();
            if (threadIdx.x % 32 == 0)
                said[warp] = i + 1;
        }
        if (i < last || mode == MODE_KILL)
            continue;
        if (mode == MODE_END)
            break;
        if (warp != WARPS / 2)
            continue; /* until the fault of another stops it */
        if (mode == MODE_TRAP)
            __trap();
        if (mode == MODE_ILLEGAL)
            *(volatile int *)(uintptr_t)(64 + warp) = 1;
        assert(mode != MODE_ASSERT);
    }
}

static uint32_t *said_map(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *memory;

    if (fd < 0 || ftruncate(fd, FILE_BYTES) != 0)
        return NULL;
    memory = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return memory == MAP_FAILED ? NULL : (uint32_t *)memory;
}

/* A GPU that others use as well may take its time to begin. */
static void kill_in_midst(const volatile uint32_t *said)
{
    for (int ms = 0; ms < BEGIN_MS && said[0] == 0; ms++)
        usleep(1000);
    usleep((useconds_t)rand() % 4000);
    kill(getpid(), SIGKILL);
}

static int write_numbers(enum mode mode, uint32_t *said, unsigned seed)
{
    gpurt_error_t err = {};
    uint32_t last, *device;
    gpurt_t *rt;
    cudaError_t e;

    if (cudaHostRegister(said, FILE_BYTES, cudaHostRegisterMapped) != cudaSuccess ||
        cudaHostGetDevicePointer((void **)&device, said, 0) != cudaSuccess)
        return 77;
    if (gpurt_open(NULL, &rt, &err) != GPURT_OK) {
        fprintf(stderr, "gpu_loss: %s\n", err.text);
        return 77;
    }
    srand(seed);
    last = 50 + (uint32_t)rand() % 400;
    writer<<<BLOCKS, THREADS>>>(device, mode, last);
    e = cudaGetLastError();
    if (e == cudaSuccess && mode == MODE_KILL)
        kill_in_midst(said);
    if (e == cudaSuccess)
        e = cudaDeviceSynchronize();
    if (mode != MODE_END && said[WARPS / 2] == 0) {
        /* whoever fails has said something before: this was the failure of another program */
        fprintf(stderr, "gpu_loss: %s before its kernel began\n", cudaGetErrorName(e));
        return NOT_BEGUN;
    }
    if (e != modes[mode].end) {
        fprintf(stderr, "gpu_loss: %s ended in %s\n", modes[mode].name,
                cudaGetErrorName(e));
        return 1;
    }
    gpurt_close(rt, NULL);
    return 0;
}

int main(int argc, char **argv)
{
    uint32_t *said = argc > 2 ? said_map(argv[2]) : NULL;

    if (!said) {
        fprintf(stderr, "usage: gpu_loss end|trap|illegal|assert|kill FILE [SEED]\n");
        return 2;
    }
    for (int m = 0; m < MODES; m++)
        if (strcmp(argv[1], modes[m].name) == 0)
            return write_numbers((enum mode)m, said,
                                 argc > 3 ? (unsigned)atoi(argv[3]) : 1);
    return 2;
}
