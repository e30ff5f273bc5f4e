/* SPDX-License-Identifier: Apache-2.0 */
/* A plain CUDA program that dies of a chosen cause, and says before that where: what a
 * report of its core dump must say too. It knows nothing of gpurt.
 *
 *   fault_plain CAUSE    trap address misaligned shared stack assert inlined cluster hang none
 *
 * The thread that fails writes its place to host memory first. All other warps wait, so
 * that the dump shows them. */
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What follows down to `doomed` is what the dumps of tests/postmortem/dumps show: whoever
 * moves a line makes them anew (dumps.sh there). */
enum cause {
    TRAP,
    ADDRESS,
    MISALIGNED,
    SHARED,
    STACK,
    ASSERT,
    INLINED,
    CLUSTER,
    HANG,
    NONE
};
static const char *const names[] = {"trap",   "address", "misaligned", "shared", "stack",
                                    "assert", "inlined", "cluster",    "hang",   "none"};
static const unsigned BLOCK_X = 1, BLOCK_Y = 1, THREAD_X = 7, THREAD_Y = 1;
static const uint64_t WAIT_NS = 4000000000u, KEY = 0x5ca1ab1e0ddba11u;

struct place {
    uint32_t block[3], thread[3], warp, lane, sm, slot, line, ready;
    uint64_t address;
};

static __device__ uint32_t special(int which)
{
    uint32_t v;

    if (which == 0)
        asm volatile("mov.u32 %0, %%smid;" : "=r"(v));
    else if (which == 1)
        asm volatile("mov.u32 %0, %%warpid;" : "=r"(v));
    else
        asm volatile("mov.u32 %0, %%laneid;" : "=r"(v));
    return v;
}

static __device__ uint64_t now_ns(void)
{
    uint64_t t;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

static __device__ void tell(place *p, uint32_t line, uint64_t address)
{
    p->block[0] = blockIdx.x, p->block[1] = blockIdx.y, p->block[2] = blockIdx.z;
    p->thread[0] = threadIdx.x, p->thread[1] = threadIdx.y, p->thread[2] = threadIdx.z;
    p->warp = (threadIdx.x + threadIdx.y * blockDim.x) / 32;
    p->lane = special(2), p->sm = special(0), p->slot = special(1);
    p->line = line, p->address = address;
    __threadfence_system();
    p->ready = 1;
    __threadfence_system();
}

static __device__ __forceinline__ void store_inlined(uint64_t *at, uint64_t value)
{
    *(volatile uint64_t *)at = value; /* line of `inlined` */
}
static const uint32_t INLINED_LINE = __LINE__ - 2;

static __device__ __noinline__ uint32_t eat_stack(volatile uint32_t *before, uint32_t depth)
{
    volatile uint32_t room[512];

    room[depth & 511] = before ? before[depth & 511] + depth : depth;
    return depth == 0 ? room[0] : eat_stack(room, depth - 1) + room[depth & 511];
}
static const uint32_t STACK_LINE = __LINE__ - 4; /* of its first store; two more follow */

static __device__ __noinline__ uint32_t fail(place *p, int cause, uint64_t *at,
                                             uint64_t key)
{
    extern __shared__ uint64_t shared[];

    switch (cause) {
    case TRAP:
        tell(p, __LINE__ + 1, 0);
        __trap();
        break;
    case ADDRESS:
        tell(p, __LINE__ + 1, (uint64_t)(at + 2));
        ((volatile uint64_t *)at)[2] = key;
        break;
    case MISALIGNED:
        tell(p, __LINE__ + 1, (uint64_t)at + 4);
        *(volatile uint64_t *)((char *)at + 4) = key;
        break;
    case SHARED:
        tell(p, __LINE__ + 1, (uint64_t)at);
        ((volatile uint64_t *)shared)[(uint64_t)at / 8] = key;
        break;
    case STACK:
        tell(p, STACK_LINE, 0);
        return eat_stack(nullptr, (uint32_t)key);
    case ASSERT:
        tell(p, __LINE__ + 1, 0);
        assert(key == 0 && "the key");
        break;
    case INLINED:
        tell(p, INLINED_LINE, (uint64_t)at);
        store_inlined(at, key);
        break;
    default:
        break;
    }
    return p->line;
}

static __device__ __noinline__ uint32_t go_deeper(place *p, int cause, uint64_t *at,
                                                  uint64_t key)
{
    return fail(p, cause, at, key) + 1;
}

static __device__ bool is_victim(void)
{
    return blockIdx.x == BLOCK_X && blockIdx.y == BLOCK_Y && threadIdx.x == THREAD_X &&
           threadIdx.y == THREAD_Y;
}

__global__ void doomed(place *p, int cause, uint64_t *at, uint64_t key, uint32_t *out)
{
    uint64_t start = now_ns();

    if (cause == HANG || (!is_victim() && threadIdx.x < 32))
        while (*(volatile uint32_t *)&p->ready != 2 && now_ns() - start < WAIT_NS &&
               cause != NONE)
            __nanosleep(1000);
    if (is_victim()) {
        while (now_ns() - start < 200000000u && cause != NONE)
            ; /* until every block runs */
        *out = go_deeper(p, cause, at, key);
    }
}

__global__ void __cluster_dims__(2, 1, 1)
    doomed_cluster(place *p, uint64_t *at, uint64_t key)
{
    if (is_victim()) {
        tell(p, __LINE__ + 1, (uint64_t)at);
        key += *(volatile uint64_t *)at;
        p->address = key; /* a kernel that ends first would end well */
    }
}

static void print_place(const char *kernel, const place *p)
{
    printf("kernel %s block %u,%u,%u thread %u,%u,%u warp %u lane %u sm %u slot %u line %u "
           "address 0x%llx told %u\n",
           kernel, p->block[0], p->block[1], p->block[2], p->thread[0], p->thread[1],
           p->thread[2], p->warp, p->lane, p->sm, p->slot, p->line,
           (unsigned long long)p->address, p->ready);
}

/* In the child. Returns: its exit status, where it is left to end by itself. */
static int die(int cause, place *shared)
{
    uint64_t *good, *at;
    uint32_t *out;
    place *p;
    cudaError_t e;

    if (cudaHostRegister(shared, sizeof *shared, cudaHostRegisterMapped) != cudaSuccess ||
        cudaHostGetDevicePointer((void **)&p, shared, 0) != cudaSuccess ||
        cudaMalloc((void **)&good, 4096) != cudaSuccess ||
        cudaMalloc((void **)&out, 4) != cudaSuccess)
        return 3;
    at = cause == MISALIGNED || cause == NONE ? good
         : cause == SHARED                    ? (uint64_t *)(uintptr_t)0x60000
                                              : (uint64_t *)(uintptr_t)0x123456780000u;
    if (cause == CLUSTER)
        doomed_cluster<<<dim3(4, 2), dim3(40, 2)>>>(p, at, KEY);
    else
        doomed<<<dim3(3, 2), dim3(40, 2), 64>>>(p, cause, at, cause == STACK ? 100000 : KEY,
                                                out);
    e = cudaDeviceSynchronize();
    fprintf(stderr, "status %s\n", cudaGetErrorName(e));
    return e == cudaSuccess ? 0 : 1;
}

/* A core dump may end the process that made it, so another one tells the truth. Exits as the
 * child did, with 128 and the signal that ended it. */
int main(int argc, char **argv)
{
    int cause = 0, status;
    place *shared = (place *)mmap(nullptr, sizeof *shared, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    while (cause <= NONE && (argc < 2 || strcmp(argv[1], names[cause]) != 0))
        cause++;
    if (cause > NONE || shared == MAP_FAILED)
        return 2;
    child = fork();
    if (child == 0)
        _exit(die(cause, shared));
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 3;
    print_place(cause == CLUSTER ? "doomed_cluster" : "doomed", shared);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
