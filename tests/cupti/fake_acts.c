/* SPDX-License-Identifier: Apache-2.0 */
/* What a test makes happen: records in buffers, callbacks, and questions about both. */
#include "fake_inside.h"

#include <time.h>

#include <string.h>
#include <unistd.h>

static int is_told_of(CUpti_CallbackId id)
{
    int told;

    pthread_mutex_lock(&fake.lock);
    told = fake.calls[id];
    pthread_mutex_unlock(&fake.lock);
    return told;
}

/* Room for one record. Returns: NULL when the kind is off or it is dropped. */
static void *record_take(int index, CUpti_ActivityKind kind)
{
    lane_t *lane = &fake.lanes[index];
    size_t bytes = fake_size_of(kind), most = 0;
    CUpti_Activity *record;

    if (!(fake.kinds >> kind & 1))
        return NULL;
    if (lane->buffer && lane->used + bytes > lane->size)
        fake_lane_done(lane);
    if (!lane->buffer) {
        do {
            fake.asked(&lane->buffer, &lane->size, &most);
        } while (!lane->buffer && fake.patient && usleep(2000) == 0);
        lane->used = 0;
        fake.taken += lane->buffer != NULL;
    }
    if (!lane->buffer) {
        fake.dropped++;
        fake.dropped_sum++;
        return NULL;
    }
    record = (CUpti_Activity *)(lane->buffer + lane->used);
    memset(record, 0, bytes);
    record->kind = kind;
    lane->used += bytes;
    return record;
}

static void fake_kernel_of(int lane, const fake_where_t *where, const char *name,
                           uint64_t start, uint64_t end)
{
    CUpti_ActivityKernel10 *k;

    if (where->by_device && !fake.device_graphs)
        return; /* nobody wants to know */
    pthread_mutex_lock(&fake.lock);
    k = record_take(lane, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    if (k) {
        k->name = name;
        k->start = start;
        k->end = end;
        k->gridX = where->grid ? where->grid : 132;
        k->gridY = k->gridZ = k->blockY = k->blockZ = 1;
        k->blockX = where->block ? where->block : 256;
        k->registersPerThread = where->registers ? where->registers : 40;
        k->staticSharedMemory = 1024;
        k->dynamicSharedMemory = where->shared ? where->shared : 512;
        k->streamId = where->stream;
        k->deviceId = where->device;
        k->contextId = where->context;
        k->graphId = where->graph;
        k->graphNodeId = where->node;
        k->isDeviceLaunched = where->by_device;
        k->correlationId = where->call ? where->call : ++fake.correlation;
    }
    pthread_mutex_unlock(&fake.lock);
}

static void fake_kernel(int lane, const char *name, uint64_t start, uint64_t end)
{
    fake_where_t where = {.context = 1, .stream = 7 + (uint32_t)lane};

    fake_kernel_of(lane, &where, name, start, end);
}

static void fake_graph_made(fake_graph_t *graph)
{
    CUpti_GraphData made = {.graph = (CUgraph)(void *)graph,
                            .graphExec = (CUgraphExec)(void *)graph};
    CUpti_ResourceData about = {.resourceDescriptor = &made};

    if (fake.tells_graphs)
        fake.told(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
                  &about);
}

static void graph_whole(int lane, const fake_graph_t *graph, uint64_t start, uint64_t end)
{
    CUpti_ActivityGraphTrace2 *g;

    pthread_mutex_lock(&fake.lock);
    g = record_take(lane, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    if (g) {
        g->graphId = graph->id;
        g->start = start;
        g->end = end;
        g->streamId = 7;
        g->deviceId = graph->on_host ? INT32_MAX : 1;
        g->contextId = graph->on_host ? INT32_MAX : 1;
        g->endDeviceId = g->endContextId = graph->host_ends ? INT32_MAX : 1;
        g->correlationId = ++fake.correlation;
    }
    pthread_mutex_unlock(&fake.lock);
}

/* As CUPTI does it: the record of the whole takes the place of its nodes'. */
/* call: the launch's number. */
static void nodes_run(int lane, const fake_graph_t *graph, uint32_t call, uint64_t start,
                      uint64_t ns)
{
    fake_where_t where = {.device = 1, .context = 1, .stream = 7, .graph = graph->id};

    where.call = call;
    for (uint32_t i = 0; i < graph->nodes; i++) {
        where.node = (uint64_t)graph->id << 32 | (i + 1);
        fake_kernel_of(lane, &where, "node", start + i * ns, start + (i + 1) * ns);
    }
}

static void fake_graph_run(int lane, const fake_graph_t *graph, uint64_t start, uint64_t ns)
{
    uint32_t call;
    int whole;

    pthread_mutex_lock(&fake.lock);
    whole = (int)(fake.kinds >> CUPTI_ACTIVITY_KIND_GRAPH_TRACE & 1);
    call = fake.correlation + 1;
    fake.correlation += !whole;
    pthread_mutex_unlock(&fake.lock);
    if (whole)
        graph_whole(lane, graph, start, start + graph->nodes * ns);
    else
        nodes_run(lane, graph, call, start, ns);
}

/* Both ends of the call are told, as CUPTI does it. */
static uint32_t fake_launch(uint32_t id, const void *params, const char *name, int ends)
{
    const CUresult failed = CUDA_ERROR_LAUNCH_FAILED;
    uint64_t now, data = 0;
    fake_where_t where = {.context = 1, .stream = 7, .device = 1};
    const fake_graph_t graph = {.id = 3, .nodes = 2};
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER,
                               .functionName = "cuLaunch",
                               .functionParams = params,
                               .symbolName = name,
                               .context = (CUcontext)(uintptr_t)2,
                               .correlationData = &data};

    pthread_mutex_lock(&fake.lock);
    call.correlationId = fake.correlation + 1;
    fake.correlation += ends == 0 || ends == 3;
    pthread_mutex_unlock(&fake.lock);
    if (is_told_of(id))
        fake.told(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
    now = fake.time();
    if (ends == 3)
        call.functionReturnValue = (void *)(uintptr_t)&failed;
    else if (ends && id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch)
        fake_graph_run(0, &graph, now, 1000);
    else if (ends)
        fake_kernel_of(0, &where, name ? name : "node", ends == 1 ? now : 0,
                       ends == 1 ? now + 1000 : 0);
    call.callbackSite = CUPTI_API_EXIT;
    if (is_told_of(id))
        fake.told(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
    return call.correlationId;
}

static void fake_call(uint32_t id, uint32_t context, uint32_t ms)
{
    const struct timespec inside = {ms / 1000, ms % 1000 * 1000000};
    uint64_t data = 0;
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER,
                               .functionName = "cuCall",
                               .context = (CUcontext)(uintptr_t)context,
                               .correlationData = &data};

    if (is_told_of(id))
        fake.told(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
    nanosleep(&inside, NULL);
    call.callbackSite = CUPTI_API_EXIT;
    if (is_told_of(id))
        fake.told(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
}

static int fake_told_of(void)
{
    int count = 0;

    for (int i = 0; i < DRIVER_CALLS; i++)
        count += is_told_of((CUpti_CallbackId)i);
    return count;
}

static void fake_give_back(void)
{
    cuptiActivityRegisterCallbacks(fake.first_asked, fake.first_done);
}

static void fake_put(int lane, const void *record)
{
    CUpti_ActivityKind kind = ((const CUpti_Activity *)record)->kind;
    void *room;

    pthread_mutex_lock(&fake.lock);
    room = record_take(lane, kind);
    if (room)
        memcpy(room, record, fake_size_of(kind));
    pthread_mutex_unlock(&fake.lock);
}

static void fake_copy(int lane, uint8_t kind, uint64_t bytes, uint64_t start, uint64_t end)
{
    CUpti_ActivityMemcpy6 what = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                  .copyKind = kind,
                                  .bytes = bytes,
                                  .start = start,
                                  .end = end};

    fake_put(lane, &what);
}

static void fake_fill(int lane, uint64_t bytes, uint64_t start, uint64_t end)
{
    CUpti_ActivityMemset4 *m;

    pthread_mutex_lock(&fake.lock);
    m = record_take(lane, CUPTI_ACTIVITY_KIND_MEMSET);
    if (m) {
        m->bytes = bytes;
        m->value = 0xff;
        m->start = start;
        m->end = end;
    }
    pthread_mutex_unlock(&fake.lock);
}

static void fake_wait(int lane, CUpti_ActivitySynchronizationType type, uint64_t start,
                      uint64_t end)
{
    CUpti_ActivitySynchronization2 *s;

    pthread_mutex_lock(&fake.lock);
    s = record_take(lane, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
    if (s) {
        s->type = type;
        s->start = start;
        s->end = end;
        s->streamId = 7;
    }
    pthread_mutex_unlock(&fake.lock);
}

static void fake_poll(int lane, uint64_t start)
{
    if (!fake.polls_hidden)
        fake_wait(lane, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, start,
                  start + 1);
}

static void fake_other(int lane)
{
    static const CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_MEMORY2,
        CUPTI_ACTIVITY_KIND_MARKER,   CUPTI_ACTIVITY_KIND_RUNTIME,
        CUPTI_ACTIVITY_KIND_DRIVER,   CUPTI_ACTIVITY_KIND_MEMCPY2};
    uint64_t now = fake.time();

    pthread_mutex_lock(&fake.lock);
    fake.kinds |= 1ull << CUPTI_ACTIVITY_KIND_DEVICE;
    record_take(lane, CUPTI_ACTIVITY_KIND_DEVICE);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        void *any = record_take(lane, kinds[i]);

        if (!any)
            continue;
        if (kinds[i] == CUPTI_ACTIVITY_KIND_MEMORY2) {
            CUpti_ActivityMemory4 *m = any;

            m->memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
            m->memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
            m->bytes = 4096;
            m->address = 0x7f0000001000;
            m->timestamp = now;
        } else if (kinds[i] == CUPTI_ACTIVITY_KIND_MARKER) {
            CUpti_ActivityMarker2 *m = any;

            m->flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
            m->name = "forward";
            m->timestamp = now;
            m->id = 5;
        } else if (kinds[i] == CUPTI_ACTIVITY_KIND_OVERHEAD) {
            CUpti_ActivityOverhead3 *o = any;

            o->overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
            o->start = now;
            o->end = now + 100;
        } else if (kinds[i] == CUPTI_ACTIVITY_KIND_RUNTIME ||
                   kinds[i] == CUPTI_ACTIVITY_KIND_DRIVER) {
            CUpti_ActivityAPI *a = any;

            a->start = now;
            a->end = now + 200;
            a->threadId = 77;
        } else {
            CUpti_ActivityMemcpyPtoP4 *m = any;

            m->bytes = 1 << 20;
            m->srcDeviceId = 3;
            m->dstDeviceId = 1;
            m->start = now;
            m->end = now + 300;
        }
    }
    pthread_mutex_unlock(&fake.lock);
}

static void fake_hold(int lane, int on)
{
    pthread_mutex_lock(&fake.lock);
    fake.lanes[lane].held = on;
    pthread_mutex_unlock(&fake.lock);
}

static void fake_done(int lane)
{
    pthread_mutex_lock(&fake.lock);
    fake_lane_done(&fake.lanes[lane]);
    pthread_mutex_unlock(&fake.lock);
}

static int fake_use_all(void)
{
    enum {
        MANY = 4096
    };
    uint8_t *buffers[MANY];
    size_t size = 0, most = 0, sum = 0;
    int count = 0;

    pthread_mutex_lock(&fake.lock);
    for (; count < MANY; count++) {
        fake.asked(&buffers[count], &size, &most);
        if (!buffers[count])
            break;
        memset(buffers[count], 0xff, size);
        sum += size;
    }
    for (int i = 0; i < count; i++)
        fake.done(NULL, 0, buffers[i], 0, 0);
    pthread_mutex_unlock(&fake.lock);
    return (int)(sum >> 10);
}

static void fake_patient(int on)
{
    fake.patient = on;
}

static uint64_t locked(const uint64_t *value)
{
    uint64_t copy;

    pthread_mutex_lock(&fake.lock);
    copy = *value;
    pthread_mutex_unlock(&fake.lock);
    return copy;
}

static uint64_t fake_taken(void)
{
    return locked(&fake.taken);
}

static uint64_t fake_kinds(void)
{
    return locked(&fake.kinds);
}

static uint64_t fake_dropped(void)
{
    return locked(&fake.dropped_sum);
}

static uint64_t fake_time(void)
{
    return fake.time();
}

static int fake_times(void)
{
    return fake.times;
}

static int fake_kinds_early(void)
{
    return fake.kinds_before_time;
}

static int fake_forced(void)
{
    int forced;

    pthread_mutex_lock(&fake.lock);
    forced = fake.forced;
    pthread_mutex_unlock(&fake.lock);
    return forced;
}

const fake_cupti_t fake_cupti = {
    .kernel = fake_kernel,
    .kernel_of = fake_kernel_of,
    .graph_made = fake_graph_made,
    .graph_run = fake_graph_run,
    .launch = fake_launch,
    .call = fake_call,
    .told_of = fake_told_of,
    .give_back = fake_give_back,
    .copy = fake_copy,
    .put = fake_put,
    .fill = fake_fill,
    .wait = fake_wait,
    .poll = fake_poll,
    .other = fake_other,
    .hold = fake_hold,
    .done = fake_done,
    .patient = fake_patient,
    .use_all = fake_use_all,
    .taken = fake_taken,
    .kinds = fake_kinds,
    .dropped_sum = fake_dropped,
    .time = fake_time,
    .times_registered = fake_times,
    .kinds_before_time = fake_kinds_early,
    .forced = fake_forced,
    .context = fake_context,
    .module = fake_module,
    .lines = fake_lines,
    .pc_count = fake_pc_count,
};
