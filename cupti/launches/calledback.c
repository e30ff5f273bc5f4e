/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "calledback.h"

#include "counted.h"
#include "inflight.h"
#include "launchcall.h"

/* One process; fixed before the first callback. */
static struct {
    const cupti_api_t *api;
    bool on, running, graphs;
} calledback;

static const CUpti_CallbackId waits[] = {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
                                         CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz,
                                         CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize};

static bool is_wait(CUpti_CallbackId id)
{
    return id == waits[0] || id == waits[1] || id == waits[2];
}

static bool has_failed(const CUpti_CallbackData *call)
{
    return call->functionReturnValue &&
           *(const CUresult *)call->functionReturnValue != CUDA_SUCCESS;
}

/* The host waits for all that was launched before. CUPTI keeps a word from the one site to the
 * other. */
static void wait_told(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const cuStreamSynchronize_params *p = call->functionParams;
    const bool whole = id == CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize;

    if (call->callbackSite == CUPTI_API_ENTER)
        *call->correlationData = inflight_now();
    else if (!has_failed(call))
        inflight_waited(call->context, whole ? NULL : p->hStream,
                        id == CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz, whole,
                        (uint32_t)*call->correlationData);
}

static uint32_t device_of(CUcontext context)
{
    uint32_t device = 0;

    return calledback.api->cuptiGetDeviceId(context, &device) == CUPTI_SUCCESS ? device : 0;
}

static void runs(const launchcall_t *told, const CUpti_CallbackData *call)
{
    inflight_launch_t launch = {.call = told,
                                .number = call->correlationId,
                                .context = call->context,
                                .device_of = device_of,
                                .symbol = call->symbolName};

    if (told->graph && !calledback.graphs)
        return;
    if (told->graph)
        calledback.api->cuptiGetGraphExecId(told->graph, &launch.graph);
    inflight_begins(&launch);
}

static launchname_t *name_of(const launchcall_t *told, const CUpti_CallbackData *call)
{
    return told->graph ? launchnames_graphs()
                       : launchnames_find(call->symbolName ? call->symbolName : "?");
}

static void launch_told(const launchcall_t *told, const CUpti_CallbackData *call)
{
    const bool enters = call->callbackSite == CUPTI_API_ENTER,
               fails = !enters && has_failed(call);

    if (counted_is_on() && (enters || fails))
        counted_add(name_of(told, call), enters ? 1 : -1);
    if (!calledback.running)
        return;
    if (enters)
        runs(told, call);
    else if (fails)
        inflight_fails(call->correlationId);
    else
        inflight_made(call->correlationId);
}

void calledback_told(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    launchcall_t told;

    if (call->correlationId == 0)
        return;
    if (launchcall_read(id, call->functionParams, &told))
        launch_told(&told, call);
    else if (is_wait(id) && calledback.running)
        wait_told(id, call);
}

bool calledback_watch(const cupti_api_t *api, CUpti_SubscriberHandle subscriber,
                      bool running, bool graphs)
{
    calledback.api = api;
    calledback.running = running;
    calledback.graphs = graphs;
    for (size_t i = 0; i < LAUNCHCALLS; i++)
        calledback.on |= api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                                  launchcall_ids[i]) == CUPTI_SUCCESS;
    for (size_t i = 0; running && i < sizeof waits / sizeof waits[0]; i++)
        api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, waits[i]);
    return calledback.on;
}

bool calledback_is_on(void)
{
    return calledback.on;
}
