/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_cupti.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Records lie one behind another; each begins with its kind, its size is the kind's. */
typedef struct lane {
    uint8_t *buffer;
    size_t size, used;
    int held;
} lane_t;

enum {
    DRIVER_CALLS = 1024
};

static struct {
    pthread_mutex_t lock;
    CUpti_BuffersCallbackRequestFunc asked;
    CUpti_BuffersCallbackCompleteFunc done;
    CUpti_BuffersCallbackRequestFunc first_asked;
    CUpti_BuffersCallbackCompleteFunc first_done;
    CUpti_TimestampCallbackFunc time;
    CUpti_CallbackFunc told;
    uint64_t kinds, taken, dropped, dropped_sum;
    int tells_graphs, times, kinds_before_time, forced, patient, system_threads,
        polls_hidden, device_graphs, slept;
    uint32_t correlation, managed, asked_managed;
    uint8_t calls[DRIVER_CALLS]; /* of the driver that are told of; under the lock */
    lane_t lanes[FAKE_LANES];
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int mode_is(const char *word)
{
    const char *mode = getenv("FAKE_CUPTI");

    return mode && strcmp(mode, word) == 0;
}

static size_t size_of(CUpti_ActivityKind kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return sizeof(CUpti_ActivityOverhead3);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
        return sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
        return sizeof(CUpti_ActivityMemoryPool3);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
        return sizeof(CUpti_ActivityUnifiedMemoryCounter3);
    case CUPTI_ACTIVITY_KIND_MARKER:
        return sizeof(CUpti_ActivityMarker2);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return sizeof(CUpti_ActivityGraphTrace2);
    case CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE:
        return sizeof(CUpti_ActivityDeviceGraphTrace);
    default:
        return 64;
    }
}

/* A child of the program goes on with a lock that nobody holds. */
static void lock_take(void)
{
    pthread_mutex_lock(&fake.lock);
}

static void lock_give(void)
{
    pthread_mutex_unlock(&fake.lock);
}

static __attribute__((constructor)) void lock_forks(void)
{
    pthread_atfork(lock_take, lock_give, lock_give);
}

/* ---- CUPTI's entry points ------------------------------------------------------------ */

CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = mode_is("old") ? 22 : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                           void *data)
{
    (void)data;
    fake.told = callback;
    memset(subscriber, 0, sizeof *subscriber);
    return mode_is("clash") ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
                            : CUPTI_SUCCESS;
}

/* Of who holds it, a clash tells the name. */
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber,
                              CUpti_CallbackFunc callback, void *data,
                              CUpti_SubscriberParams *params)
{
    if (mode_is("nameless") || params->structSize < sizeof *params ||
        strcmp(params->subscriberName, "gpurt") != 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (mode_is("clash"))
        strncpy(params->oldSubscriberName, "CUPTI for Kineto", params->oldSubscriberSize);
    return cuptiSubscribe(subscriber, callback, data);
}

static int is_told_of(CUpti_CallbackId id)
{
    int told;

    pthread_mutex_lock(&fake.lock);
    told = fake.calls[id];
    pthread_mutex_unlock(&fake.lock);
    return told;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    (void)subscriber;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED)
        fake.tells_graphs = enable != 0;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && mode_is("no-callbacks"))
        return CUPTI_ERROR_NOT_SUPPORTED;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id < DRIVER_CALLS) {
        pthread_mutex_lock(&fake.lock);
        fake.calls[id] = enable != 0;
        pthread_mutex_unlock(&fake.lock);
    }
    return CUPTI_SUCCESS;
}

/* Contexts are numbers of devices, and one more. */
CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *device)
{
    *device = (uint32_t)(uintptr_t)context - 1;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphExecId(CUgraphExec graph, uint32_t *id)
{
    *id = ((const fake_graph_t *)(const void *)graph)->id;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "CUPTI_ERROR_OF_THE_STAND_IN";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id,
                                 const char **name)
{
    (void)id;
    *name = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "cudaLaunchKernel" : "cuLaunchKernel";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
    fake.system_threads = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
    fake.polls_hidden = !enable;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDeviceGraph(uint8_t enable)
{
    if (mode_is("begun"))
        return CUPTI_ERROR_INVALID_OPERATION;
    fake.device_graphs = enable;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *config,
                                           uint32_t count)
{
    (void)count;
    if (mode_is("unmanaged"))
        return CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED;
    if (mode_is("early") && fake.asked_managed++ < 3 * 8)
        return CUPTI_ERROR_NOT_INITIALIZED;
    if (mode_is("never"))
        return CUPTI_ERROR_NOT_READY;
    /* One that this platform does not have. */
    if (config->kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD &&
        mode_is("half"))
        return CUPTI_ERROR_INVALID_PARAMETER;
    fake.managed |= config->enable;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    if (kind == CUPTI_ACTIVITY_KIND_OVERHEAD && mode_is("refuse"))
        return CUPTI_ERROR_NOT_SUPPORTED;
    if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER && !fake.managed)
        return CUPTI_ERROR_INVALID_PARAMETER; /* as CUPTI's words have it: configured first */
    if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER && mode_is("early") &&
        fake.asked_managed++ < 5 * 8)
        return CUPTI_ERROR_NOT_READY; /* it is just starting */
    pthread_mutex_lock(&fake.lock);
    fake.kinds_before_time += fake.times == 0;
    fake.kinds |= 1ull << kind;
    if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && fake.device_graphs)
        fake.kinds |= 1ull << CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE;
    pthread_mutex_unlock(&fake.lock);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc asked,
                                           CUpti_BuffersCallbackCompleteFunc done)
{
    pthread_mutex_lock(&fake.lock);
    if (!fake.asked) {
        fake.first_asked = asked;
        fake.first_done = done;
    }
    fake.asked = asked;
    fake.done = done;
    pthread_mutex_unlock(&fake.lock);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc time)
{
    fake.time = time;
    fake.times++;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
                                              size_t *dropped)
{
    (void)context;
    (void)stream;
    *dropped = fake.dropped;
    fake.dropped = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
                                       CUpti_Activity **record)
{
    uint8_t *at = *record ? (uint8_t *)*record + size_of((*record)->kind) : buffer;

    if (at >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)at;
    return CUPTI_SUCCESS;
}

/* Under the lock, as all below. */
static void lane_done(lane_t *lane)
{
    uint8_t *buffer = lane->buffer;

    if (!buffer)
        return;
    lane->buffer = NULL;
    fake.taken--;
    fake.done(NULL, 0, buffer, lane->size, lane->used);
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    if (mode_is("hang"))
        pause();
    if (mode_is("slow") && !fake.slept++)
        sleep(5);
    pthread_mutex_lock(&fake.lock);
    fake.forced += flag != 0;
    for (int i = 0; i < FAKE_LANES; i++)
        if (flag || !fake.lanes[i].held)
            lane_done(&fake.lanes[i]);
    if (fake.dropped &&
        fake.done) /* as CUPTI: counts reach us with a buffer, or with none */
        fake.done(NULL, 0, NULL, 0, 0);
    pthread_mutex_unlock(&fake.lock);
    return CUPTI_SUCCESS;
}

/* ---- the test's side ----------------------------------------------------------------- */

/* Room for one record. Returns: NULL when the kind is off or it is dropped. */
static void *record_take(int index, CUpti_ActivityKind kind)
{
    lane_t *lane = &fake.lanes[index];
    size_t bytes = size_of(kind), most = 0;
    CUpti_Activity *record;

    if (!(fake.kinds >> kind & 1))
        return NULL;
    if (lane->buffer && lane->used + bytes > lane->size)
        lane_done(lane);
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
        k->correlationId = ++fake.correlation;
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
        g->endDeviceId = g->endContextId = 1;
        g->correlationId = ++fake.correlation;
    }
    pthread_mutex_unlock(&fake.lock);
}

/* As CUPTI does it: the record of the whole takes the place of its nodes'. */
static void fake_graph_run(int lane, const fake_graph_t *graph, uint64_t start, uint64_t ns)
{
    fake_where_t where = {.device = 1, .context = 1, .stream = 7, .graph = graph->id};

    if (fake.kinds >> CUPTI_ACTIVITY_KIND_GRAPH_TRACE & 1) {
        graph_whole(lane, graph, start, start + graph->nodes * ns);
        return;
    }
    for (uint32_t i = 0; i < graph->nodes; i++) {
        where.node = (uint64_t)graph->id << 32 | (i + 1);
        fake_kernel_of(lane, &where, "node", start + i * ns, start + (i + 1) * ns);
    }
}

/* Both ends of the call are told, as CUPTI does it. */
static uint32_t fake_launch(uint32_t id, const void *params, const char *name, int ends)
{
    uint64_t now, data = 0;
    fake_where_t where = {.context = 1, .stream = 7, .device = 1};
    CUpti_CallbackData call = {.callbackSite = CUPTI_API_ENTER,
                               .functionName = "cuLaunch",
                               .functionParams = params,
                               .symbolName = name,
                               .context = (CUcontext)(uintptr_t)2,
                               .correlationData = &data};

    pthread_mutex_lock(&fake.lock);
    call.correlationId = fake.correlation + 1;
    fake.correlation += !ends;
    pthread_mutex_unlock(&fake.lock);
    if (is_told_of(id))
        fake.told(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
    now = fake.time();
    if (ends)
        fake_kernel_of(0, &where, name ? name : "node", ends == 1 ? now : 0,
                       ends == 1 ? now + 1000 : 0);
    call.callbackSite = CUPTI_API_EXIT;
    if (is_told_of(id))
        fake.told(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &call);
    return call.correlationId;
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
        memcpy(room, record, size_of(kind));
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
    lane_done(&fake.lanes[lane]);
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
};
