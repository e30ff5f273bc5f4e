/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_collective_cub.h"

#include <cub/device/device_scan.cuh>

/* Owner: bench_collective_cub. */
struct cub_run {
    cudaEvent_t begin, end;
    void *memory;
    size_t bytes;
};

static bool scan_ns(cub_run *r, const uint32_t *in, uint32_t *out, int n, double *ns)
{
    float ms = 0;

    if (cudaEventRecord(r->begin) ||
        cub::DeviceScan::InclusiveSum(r->memory, r->bytes, in, out, n) ||
        cudaEventRecord(r->end) || cudaEventSynchronize(r->end) ||
        cudaEventElapsedTime(&ms, r->begin, r->end))
        return false;
    *ns = ms * 1e6;
    return true;
}

int bench_collective_cub(const uint32_t *in, uint32_t *out, uint64_t n, double *ns,
                         uint32_t repeats)
{
    cub_run r = {};
    double warm;
    bool ok = !cudaEventCreate(&r.begin) && !cudaEventCreate(&r.end) &&
              !cub::DeviceScan::InclusiveSum(nullptr, r.bytes, in, out, (int)n) &&
              !cudaMalloc(&r.memory, r.bytes);

    for (uint32_t i = 0; ok && i < repeats + 2; i++)
        ok = scan_ns(&r, in, out, (int)n, i < 2 ? &warm : &ns[i - 2]);
    cudaFree(r.memory);
    cudaEventDestroy(r.begin);
    cudaEventDestroy(r.end);
    return ok ? 0 : -1;
}
