/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA program that knows nothing of gpurt, for the collector to be held against: each mode
 * does a number of things that is known, and says so. */
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#define NEED(call_)                                                       \
    do {                                                                  \
        cudaError_t e_ = (call_);                                         \
        if (e_ != cudaSuccess) {                                          \
            fprintf(stderr, "cupti_plain:%d: %s: %s\n", __LINE__, #call_, \
                    cudaGetErrorString(e_));                              \
            exit(3);                                                      \
        }                                                                 \
    } while (0)

static __global__ void tick(unsigned *out)
{
    if (threadIdx.x == 0)
        atomicAdd(out, 1u);
}
template <typename T> __global__ void add(T *v, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < n)
        v[i] += T(1);
}
static __global__ void spin(unsigned long long ns)
{
    unsigned long long begin, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < ns);
}
static __global__ void fault(unsigned *out)
{
    *out = 1;
    asm volatile("trap;");
}

static double now_ns()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) * 1e9 + double(t.tv_nsec);
}

static void processor_choose(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu < 0 ? 0 : cpu, &one);
    if (cpu >= 0 && sched_setaffinity(0, sizeof one, &one) != 0) /* this thread alone */
        exit(6);
}

/* A fixed piece of work of the host. Returns: what it took. */
static double host_works()
{
    static unsigned table[8192];
    const double begin = now_ns();
    unsigned at = 1;

    for (int i = 0; i < 8000; i++) {
        at = at * 1664525u + 1013904223u + table[at >> 19];
        table[at >> 19] ^= at;
    }
    asm volatile("" ::"r"(at)); /* it is needed */
    return now_ns() - begin;
}

/* Batches of launches and waits for so long, of which a third warms up. Prints the mean time of a launch,
 * and the mean of that over a fixed piece of work beside each batch: a host that others use, too, is
 * slower by a third for seconds. */
static void steady(unsigned *counter, int ms, int cpu)
{
    const int batch = 200;
    const double begin = now_ns(), warm = begin + ms * 1e6 / 3, end = begin + ms * 1e6;
    double now = begin, launches = 0, ratios = 0;
    long batches = 0;

    processor_choose(cpu);
    while (now < end) {
        for (int i = 0; i < batch; i++)
            tick<<<1, 32>>>(counter);
        NEED(cudaDeviceSynchronize());
        const double took = (now_ns() - now) / batch, beside = host_works();
        if (now >= warm) {
            launches += took;
            ratios += took / beside;
            batches++;
        }
        now = now_ns();
    }
    printf("%.1f %.6f\n", batches ? launches / double(batches) : 0.0,
           batches ? ratios / double(batches) : 0.0);
    fflush(stdout);
}

/* Prints the median time of a launch call, of batches that stay below the queue's depth; the
 * first fifth warms up. cpu: the processor to launch from, -1: any. */
static void launches(unsigned *counter, int count, int cpu)
{
    const int batch = 200;
    std::vector<double> times;
    unsigned before, after;

    processor_choose(cpu);
    NEED(cudaMemcpy(&before, counter, sizeof before, cudaMemcpyDeviceToHost));
    for (int done = 0; done < count; done += batch) {
        const int now = std::min(batch, count - done);
        double begin = now_ns();

        for (int i = 0; i < now; i++)
            tick<<<1, 32>>>(counter);
        if (done >= count / 5 || done + batch >= count)
            times.push_back((now_ns() - begin) / now);
        NEED(cudaDeviceSynchronize());
    }
    std::sort(times.begin(), times.end());
    NEED(cudaMemcpy(&after, counter, sizeof after, cudaMemcpyDeviceToHost));
    if (after - before != unsigned(count))
        exit(4);
    printf("%.1f\n", times[times.size() / 2]);
    fflush(stdout);
}

/* 60 kernels (10 of them in a graph that runs twice, 40 plain), 3 copies, 2 fills, 3 waits. */
static void mix()
{
    const int n = 1 << 18;
    float *d, *h = static_cast<float *>(malloc(n * sizeof(float)));
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    NEED(cudaMalloc(&d, n * sizeof(float)));
    NEED(cudaStreamCreate(&s));
    NEED(cudaMemsetAsync(d, 0, n * sizeof(float), s));
    NEED(cudaMemsetAsync(d, 0, n * sizeof(float), s));
    for (int i = 0; i < 40; i++)
        add<float><<<n / 256, 256, 0, s>>>(d, n);
    NEED(cudaMemcpyAsync(h, d, n * sizeof(float), cudaMemcpyDeviceToHost, s));
    NEED(cudaStreamSynchronize(s));
    NEED(cudaMemcpyAsync(d, h, n * sizeof(float), cudaMemcpyHostToDevice, s));
    NEED(cudaMemcpyAsync(d, d, n / 2 * sizeof(float), cudaMemcpyDeviceToDevice, s));
    NEED(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 10; i++)
        add<float><<<n / 256, 256, 0, s>>>(d, n);
    NEED(cudaStreamEndCapture(s, &graph));
    NEED(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++)
        NEED(cudaGraphLaunch(exec, s));
    NEED(cudaStreamSynchronize(s));
    NEED(cudaDeviceSynchronize());
    if (h[0] != 40.0f)
        exit(4);
}

static void persistent(int ms)
{
    spin<<<1, 32>>>(ms * 1000000ull);
    NEED(cudaDeviceSynchronize());
}

/* Memory that moves to the device and back `rounds` times, for a second or so. */
static void managed(int rounds)
{
    const int n = 1 << 20;
    float *shared;

    NEED(cudaMallocManaged(&shared, n * sizeof *shared));
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            shared[i] = float(r);
        add<float><<<n / 256, 256>>>(shared, n);
        NEED(cudaDeviceSynchronize());
        if (shared[n - 1] != float(r + 1))
            exit(4);
        usleep(50000);
    }
    NEED(cudaFree(shared));
}

static void threads(unsigned *counter, int count)
{
    std::vector<std::thread> all;

    for (int t = 0; t < 4; t++)
        all.emplace_back([=] {
            cudaStream_t s;

            NEED(cudaStreamCreate(&s));
            for (int i = 0; i < count; i++)
                tick<<<1, 32, 0, s>>>(counter);
            NEED(cudaStreamSynchronize(s));
        });
    for (auto &t : all)
        t.join();
}

static bool is(const char *mode, const char *name)
{
    return strcmp(mode, name) == 0;
}

static unsigned *counter_make()
{
    unsigned *counter;

    NEED(cudaMalloc(&counter, sizeof *counter));
    NEED(cudaMemset(counter, 0, sizeof *counter));
    return counter;
}

/* How long CUDA takes to be there, in ns. */
static int start()
{
    double begin = now_ns();

    NEED(cudaFree(nullptr));
    printf("%.1f\n", now_ns() - begin);
    return 0;
}

/* While CUDA runs: one that never touches it again, or one that is another program. */
static void child_start(const char *mode, const char *program)
{
    if (is(mode, "fork_late") && fork() == 0) {
        usleep(200000);
        _exit(0);
    }
    if (is(mode, "spawn") && fork() == 0) {
        execl("/proc/self/exe", program, "launch", "100", nullptr);
        _exit(6);
    }
}

static int child_wait()
{
    int status = 1;

    return wait(&status) < 0 || status;
}

/* cpu: as launches has it. */
static void work(const char *mode, unsigned *counter, int count, int cpu)
{
    if (is(mode, "mix"))
        mix();
    else if (is(mode, "persistent"))
        persistent(count);
    else if (is(mode, "threads"))
        threads(counter, count);
    else if (is(mode, "managed"))
        managed(count);
    else if (is(mode, "steady"))
        steady(counter, count, cpu);
    else
        launches(counter, count, cpu);
}

/* Returns: what the program ends with, where its mode lets it. */
static int end(const char *mode, unsigned *counter, int count)
{
    if (is(mode, "fork_late") || is(mode, "spawn"))
        return child_wait();
    if (is(mode, "reset")) {
        NEED(cudaDeviceReset());
        launches(counter_make(), count, -1);
    } else if (is(mode, "kill")) {
        usleep(500000);
        kill(getpid(), SIGKILL);
    } else if (is(mode, "_exit")) {
        usleep(500000);
        _exit(0);
    } else if (is(mode, "trap")) {
        fault<<<1, 1>>>(counter);
        if (cudaDeviceSynchronize() == cudaSuccess)
            return 5;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "mix";
    int count = argc > 2 ? atoi(argv[2]) : is(mode, "persistent") ? 700 : 1000;
    unsigned *counter;

    if (is(mode, "fork")) { /* before CUDA starts */
        if (fork() != 0)
            return child_wait();
        mode = "launch";
    }
    if (is(mode, "start"))
        return start();
    counter = counter_make();
    child_start(mode, argv[0]);
    work(mode, counter, count, argc > 3 ? atoi(argv[3]) : -1);
    return end(mode, counter, count);
}
