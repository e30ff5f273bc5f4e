/* SPDX-License-Identifier: Apache-2.0 */
#include "launchcall.h"

#include <string.h>

/* cuLaunchCooperativeKernel's begin with the same fields. */
static void of_kernel(const cuLaunchKernel_params *p, launchcall_t *out)
{
    out->grid[0] = p->gridDimX;
    out->grid[1] = p->gridDimY;
    out->grid[2] = p->gridDimZ;
    out->block[0] = p->blockDimX;
    out->block[1] = p->blockDimY;
    out->block[2] = p->blockDimZ;
    out->shared_bytes = p->sharedMemBytes;
    out->stream = p->hStream;
}
GPURT_STATIC_ASSERT(offsetof(cuLaunchCooperativeKernel_params, hStream) ==
                        offsetof(cuLaunchKernel_params, hStream),
                    "one reads both");

static void of_config(const CUlaunchConfig *c, launchcall_t *out)
{
    out->grid[0] = c->gridDimX;
    out->grid[1] = c->gridDimY;
    out->grid[2] = c->gridDimZ;
    out->block[0] = c->blockDimX;
    out->block[1] = c->blockDimY;
    out->block[2] = c->blockDimZ;
    out->shared_bytes = c->sharedMemBytes;
    out->stream = c->hStream;
}

static void of_graph(const cuGraphLaunch_params *p, launchcall_t *out)
{
    out->graph = p->hGraph;
    out->stream = p->hStream;
}

const CUpti_CallbackId launchcall_ids[LAUNCHCALLS] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

bool launchcall_read(CUpti_CallbackId id, const void *params, launchcall_t *out)
{
    memset(out, 0, sizeof *out);
    out->per_thread = id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz ||
                      id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz ||
                      id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz ||
                      id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
        of_kernel(params, out);
        return true;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
        if (((const cuLaunchKernelEx_params *)params)->config)
            of_config(((const cuLaunchKernelEx_params *)params)->config, out);
        return true;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
        of_graph(params, out);
        return true;
    default:
        return false;
    }
}
