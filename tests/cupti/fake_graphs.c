/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the driver that the collector asks about graphs, under the driver's name; found
 * only in a process that has loaded it. Handles are those of fake_cupti.h. */
#include "fake_cupti.h"

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    const fake_graph_t *g = (const void *)graph;

    if (nodes)
        return CUDA_ERROR_NOT_SUPPORTED;
    *count = g->nodes + (g->on_host != 0);
    return CUDA_SUCCESS;
}
