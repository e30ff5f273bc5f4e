/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA program that knows nothing of gpurt, and loads its kernels as programs with a compiler in
 * them do: cupti_modules FATBIN MODE.
 *
 *   modules N   N modules that come and go, each launched once, each of other bytes
 *   first       how long its first steps take, and those of modules: a row of microseconds each
 *   contexts N  two contexts by turns, N launches each */
#include "plain_check.cuh"

#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <ctime>
#include <vector>

#define ROUNDS 20000

/* The driver's calls, by the runtime's way to find them: nothing is linked to libcuda. */
static struct {
    decltype(&cuModuleLoadData) load;
    decltype(&cuModuleUnload) unload;
    decltype(&cuModuleGetFunction) function;
    decltype(&cuLaunchKernel) launch;
    decltype(&cuCtxCreate) create;
    decltype(&cuCtxDestroy) destroy;
    decltype(&cuCtxSetCurrent) current;
    decltype(&cuStreamSynchronize) wait;
} driver;

template <class T> static void find(const char *name, T *to)
{
    cudaDriverEntryPointQueryResult how;
    void *at = nullptr;

    PLAIN_CUDA(
        cudaGetDriverEntryPointByVersion(name, &at, CUDA_VERSION, cudaEnableDefault, &how));
    PLAIN_EQUAL(how == cudaDriverEntryPointSuccess, true);
    *to = reinterpret_cast<T>(at);
}

static void driver_find()
{
    find("cuModuleLoadData", &driver.load);
    find("cuModuleUnload", &driver.unload);
    find("cuModuleGetFunction", &driver.function);
    find("cuLaunchKernel", &driver.launch);
    find("cuCtxCreate", &driver.create);
    find("cuCtxDestroy", &driver.destroy);
    find("cuCtxSetCurrent", &driver.current);
    find("cuStreamSynchronize", &driver.wait);
}

#define NEED(call_) PLAIN_EQUAL(int(call_), int(CUDA_SUCCESS))

static double now_us()
{
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) * 1e6 + double(t.tv_nsec) / 1e3;
}

/* ---- code ------------------------------------------------------------------------------ */

static std::vector<char> code;
static std::vector<size_t> places; /* of the number, once for each architecture */

static void code_read(const char *path)
{
    static const uint64_t mark[2] = {0x6770757274636f64ull, 0x656e756d62657221ull};
    FILE *in = fopen(path, "rb");
    char piece[4096];
    size_t got;

    PLAIN_EQUAL(in != nullptr, true);
    while ((got = fread(piece, 1, sizeof piece, in)) > 0)
        code.insert(code.end(), piece, piece + got);
    fclose(in);
    for (size_t i = 0; i + sizeof mark <= code.size(); i++)
        if (memcmp(&code[i], mark, sizeof mark) == 0)
            places.push_back(i + sizeof mark[0]);
    PLAIN_EQUAL(places.empty(), false);
}

static void code_number(uint64_t number)
{
    for (size_t at : places)
        memcpy(&code[at], &number, sizeof number);
}

/* ---- what it does ------------------------------------------------------------------------ */

static unsigned long long *out; /* the host sees it, too */

static void launch(CUfunction f, int rounds, unsigned long long *to)
{
    void *arguments[] = {&to, &rounds};

    NEED(driver.launch(f, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
}

static void modules(int count)
{
    const double begin = now_us();

    for (int i = 0; i < count; i++) {
        CUmodule module;
        CUfunction f;

        code_number(uint64_t(i));
        NEED(driver.load(&module, code.data()));
        NEED(driver.function(&f, module, "module_work"));
        launch(f, ROUNDS, out);
        NEED(driver.wait(nullptr));
        PLAIN_EQUAL(*out, (unsigned long long)i);
        NEED(driver.unload(module));
    }
    printf("%d modules, us each: %.1f\n", count, (now_us() - begin) / count);
}

template <int N> static __global__ void lazy(unsigned long long *to)
{
    *to = N;
}

/* A kernel of the program's own, whose code is loaded by its first launch. */
template <int N> static void lazy_row()
{
    double at[5];

    at[0] = now_us();
    lazy<N><<<1, 32>>>(out);
    at[1] = now_us();
    PLAIN_CUDA(cudaDeviceSynchronize());
    at[2] = now_us();
    lazy<N><<<1, 32>>>(out);
    at[3] = now_us();
    PLAIN_CUDA(cudaDeviceSynchronize());
    at[4] = now_us();
    printf("lazy\t-\t-\t%.1f\t%.1f\t%.1f\t%.1f\n", at[1] - at[0], at[2] - at[1],
           at[3] - at[2], at[4] - at[3]);
}

static void module_row(uint64_t number)
{
    CUmodule module;
    CUfunction f;
    double at[7];

    code_number(number);
    at[0] = now_us();
    NEED(driver.load(&module, code.data()));
    at[1] = now_us();
    NEED(driver.function(&f, module, "module_work"));
    at[2] = now_us();
    launch(f, 1, out);
    at[3] = now_us();
    NEED(driver.wait(nullptr));
    at[4] = now_us();
    launch(f, 1, out);
    at[5] = now_us();
    NEED(driver.wait(nullptr));
    at[6] = now_us();
    printf("module\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\n", at[1] - at[0], at[2] - at[1],
           at[3] - at[2], at[4] - at[3], at[5] - at[4], at[6] - at[5]);
}

static void first(double began)
{
    printf("start\t%.1f\n", now_us() - began);
    printf("what\tload\tfunction\tlaunch\twait\tagain\twait\n");
    lazy_row<1>();
    lazy_row<2>();
    lazy_row<3>();
    for (uint64_t i = 0; i < 6; i++)
        module_row(i);
}

/* Each has its module; both run at once where the GPU lets them. */
static void contexts(int count)
{
    CUcontext context[2];
    CUmodule module[2];
    CUfunction f[2];
    unsigned long long *at[2];

    for (int k = 0; k < 2; k++) {
        CUctxCreateParams plain = {};

        NEED(driver.create(&context[k], &plain, 0, 0));
        code_number(uint64_t(k));
        NEED(driver.load(&module[k], code.data()));
        NEED(driver.function(&f[k], module[k], "module_work"));
        PLAIN_CUDA(cudaMallocManaged(&at[k], sizeof *at[k]));
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            NEED(driver.current(context[k]));
            launch(f[k], ROUNDS, at[k]);
        }
    for (int k = 0; k < 2; k++) {
        NEED(driver.current(context[k]));
        NEED(driver.wait(nullptr));
        PLAIN_EQUAL(*at[k], (unsigned long long)k);
        NEED(driver.unload(module[k]));
        NEED(driver.destroy(context[k]));
    }
    printf("2 contexts, %d launches each\n", count);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[2] : "";
    const int count = argc > 3 ? atoi(argv[3]) : 1000;
    const double began = now_us();

    if (argc < 3)
        return 2;
    plain_need_gpu();
    if (strcmp(mode, "contexts") != 0)
        PLAIN_CUDA(cudaMallocManaged(&out, sizeof *out)); /* CUDA starts */
    code_read(argv[1]);
    driver_find();
    if (strcmp(mode, "modules") == 0)
        modules(count);
    else if (strcmp(mode, "first") == 0)
        first(began);
    else if (strcmp(mode, "contexts") == 0)
        contexts(count);
    else
        return 2;
    return 0;
}
