/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "graphs.h"

#include "dormant.h"
#include "trouble.h"

#include <dlfcn.h>
#include <gpurt/atomic.h>
#include <string.h>

/* Numbers go up by three a graph, which meets each place of a power of two. */
enum {
    PLACES = 4096
};

static struct {
    __typeof__(cuptiGetGraphExecId) *number_of;
    __typeof__(cuGraphGetNodes) *nodes_of;
    __typeof__(cuGraphExecGetFlags) *flags_of; /* NULL: an old driver */
    bool by_device_wanted;                     /* before there are threads */
    bool missed;                               /* graphs_by_device_missed has said it */
    uint32_t xby_device;                       /* written by: any thread */
    uint64_t
        xplaces[PLACES]; /* number of the graph << 32 | nodes; written by: any thread */
} graphs;

static void flags_look(CUgraphExec graph)
{
    cuuint64_t flags = 0;

    if (graphs.flags_of && graphs.flags_of(graph, &flags) == CUDA_SUCCESS &&
        (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH))
        gpurt_store_relaxed_dev_u32(&graphs.xby_device, 1); /* relaxed: a hint */
}

void graphs_told(CUpti_CallbackId id, const CUpti_ResourceData *resource)
{
    const CUpti_GraphData *graph;
    uint32_t number = 0;
    size_t nodes = 0;

    if (id != CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED)
        return;
    graph = resource->resourceDescriptor;
    flags_look(graph->graphExec);
    if (graph->graph && graphs.number_of(graph->graphExec, &number) == CUPTI_SUCCESS &&
        graphs.nodes_of(graph->graph, NULL, &nodes) == CUDA_SUCCESS)
        gpurt_store_relaxed_sys_u64(
            &graphs.xplaces[number % PLACES], /* relaxed: all of it */
            (uint64_t)number << 32 | (uint32_t)nodes);
}

void graphs_watch(const cupti_api_t *api, CUpti_SubscriberHandle subscriber)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    void *entry = cuda ? dlsym(cuda, "cuGraphGetNodes") : NULL;
    void *flags = cuda ? dlsym(cuda, "cuGraphExecGetFlags") : NULL;

    if (!entry)
        return;
    memcpy(&graphs.nodes_of, &entry, sizeof entry);
    memcpy(&graphs.flags_of, &flags, sizeof flags);
    graphs.number_of = api->cuptiGetGraphExecId;
    api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                             CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
}

void graphs_by_device_want(const cupti_api_t *api)
{
    graphs.by_device_wanted = true;
    if (api->cuptiActivityEnableDeviceGraph(1) != CUPTI_SUCCESS)
        trouble_say(TROUBLE_PART, "CUPTI tells of no graphs that kernels launch%s",
                    dormant_sleeps() ? ": the program had begun" : "");
}

bool graphs_by_device_missed(void)
{
    if (graphs.by_device_wanted || graphs.missed)
        return false;
    graphs.missed =
        gpurt_load_relaxed_dev_u32(&graphs.xby_device) != 0; /* relaxed: a hint */
    return graphs.missed;
}

uint32_t graphs_nodes(uint32_t graph)
{
    uint64_t place =
        gpurt_load_relaxed_sys_u64(&graphs.xplaces[graph % PLACES]); /* relaxed: likewise */

    return place >> 32 == graph ? (uint32_t)place : 0;
}
