/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's records as ours, one by one: those of no kind that was asked for are counted, and their
 * count does not begin anew; a graph is where one of its ends is, or nowhere. */
#include "translate.h"

#include "check.h"
#include "graphs.h"
#include "outlet.h"

/* ---- what translate.c writes to ------------------------------------------------------- */

/* The last record. */
static struct {
    uint32_t kind, device, count;
    gpurt_activity_any_t words;
} out;

void outlet_put(uint32_t kind, uint32_t device, uint64_t time_ns, const void *payload)
{
    (void)time_ns;
    out.kind = kind;
    out.device = device;
    out.count++;
    for (size_t i = 0; i < GPURT_ACTIVITY_SITES; i++)
        if (gpurt_activity_sites[i].kind == kind)
            memcpy(&out.words, payload, 4 * (size_t)gpurt_activity_sites[i].words);
}

void *outlet_room(uint32_t kind, uint32_t device, uint64_t time_ns)
{
    (void)time_ns;
    out.kind = kind;
    out.device = device;
    out.count++;
    return &out.words;
}

uint32_t outlet_name(const char *text, bool is_kernel)
{
    (void)is_kernel;
    return text ? (uint32_t)strlen(text) : 0;
}

uint32_t graphs_nodes(uint32_t graph)
{
    return graph + 1;
}

/* ---- cases ---------------------------------------------------------------------------- */

static translate_t translate;

static void check_unknown(void)
{
    const CUpti_Activity record = {.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT};

    translate_record(&translate, &record, 1);
    CHECK_EQ(translate.unknown, 1);
    translate.unknown = UINT32_MAX - 1;
    for (int more = 0; more < 3; more++) {
        translate_record(&translate, &record, 1);
        CHECK_EQ(translate.unknown, UINT32_MAX);
    }
    CHECK_EQ(out.count, 0);
}

static uint32_t graph_device(uint32_t begin, uint32_t end)
{
    const CUpti_ActivityGraphTrace2 graph = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                                             .start = 1,
                                             .end = 2,
                                             .deviceId = begin,
                                             .contextId = begin,
                                             .endDeviceId = end,
                                             .endContextId = end};

    translate_record(&translate, (const void *)&graph, 3);
    CHECK_EQ(out.kind, GPURT_KIND_GRAPH);
    return out.device;
}

/* INT32_MAX is the host. What is nowhere shows of no device that it is there. */
static void check_graphs(void)
{
    const gpurt_activity_graph_t *graph = (const void *)&out.words;

    CHECK_EQ(graph_device(INT32_MAX, INT32_MAX), GPURT_ACTIVITY_NO_DEVICE);
    CHECK_EQ(graph->context, 0);
    CHECK_EQ(contexts_device(&translate.contexts, 5), CONTEXTS_UNKNOWN);
    CHECK_EQ(graph_device(INT32_MAX, 3), 3);
    CHECK_EQ(graph->context, 3);
    CHECK_EQ(graph_device(3, INT32_MAX), 3);
    CHECK_EQ(graph_device(INT32_MAX, INT32_MAX), GPURT_ACTIVITY_NO_DEVICE);
    CHECK_EQ(contexts_device(&translate.contexts, 5), 3); /* there is no other */
    CHECK_EQ(graph_device(0, INT32_MAX), 0);
    CHECK_EQ(contexts_device(&translate.contexts, 5), CONTEXTS_UNKNOWN);
    memset(&translate.contexts, 0, sizeof translate.contexts);
    CHECK_EQ(graph_device(CONTEXTS_MOST, INT32_MAX),
             CONTEXTS_MOST); /* has the place of 0 */
    CHECK_EQ(graph_device(INT32_MAX, INT32_MAX), GPURT_ACTIVITY_NO_DEVICE);
    CHECK_EQ(contexts_device(&translate.contexts, 5), CONTEXTS_MOST);
}

int main(void)
{
    check_graphs();
    out.count = 0;
    check_unknown();
    return 0;
}
