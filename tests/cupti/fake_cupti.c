/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's entry points. */
#include "fake_inside.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

fake_state_t fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int mode_is(const char *word)
{
    const char *mode = getenv("FAKE_CUPTI");

    return mode && strcmp(mode, word) == 0;
}

size_t fake_size_of(CUpti_ActivityKind kind)
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

CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = mode_is("old") ? 22 : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                           void *data)
{
    (void)data;
    if (mode_is("late"))
        usleep(700000);
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

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    (void)subscriber;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED)
        fake.tells_graphs = enable != 0;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && id < 64)
        fake.resources |= (uint64_t)(enable != 0) << id;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && mode_is("no-callbacks"))
        return CUPTI_ERROR_NOT_SUPPORTED;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id < DRIVER_CALLS) {
        pthread_mutex_lock(&fake.lock);
        fake.calls[id] = enable != 0;
        pthread_mutex_unlock(&fake.lock);
    }
    return CUPTI_SUCCESS;
}

/* Contexts are numbers of devices, and one more; 17 is one more of device 0. */
CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *device)
{
    const char *lines = getenv("FAKE_PC");

    if (lines && strcmp(lines, "placeless") == 0)
        return CUPTI_ERROR_INVALID_CONTEXT;
    *device = ((uint32_t)(uintptr_t)context - 1) % 16;
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
    *name =
        domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "cudaLaunchKernel_v7000" : "cuMemAlloc_v2";
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
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && fake_pc_is_armed())
        return CUPTI_ERROR_NOT_COMPATIBLE;
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

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    if (mode_is("stands") && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
        pause();
    if (mode_is("stays"))
        return CUPTI_ERROR_NOT_COMPATIBLE;
    pthread_mutex_lock(&fake.lock);
    fake.kinds &= ~(1ull << kind);
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
    uint8_t *at = *record ? (uint8_t *)*record + fake_size_of((*record)->kind) : buffer;

    if (at >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)at;
    return CUPTI_SUCCESS;
}

void fake_lane_done(lane_t *lane)
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
            fake_lane_done(&fake.lanes[i]);
    if (fake.dropped &&
        fake.done) /* as CUPTI: counts reach us with a buffer, or with none */
        fake.done(NULL, 0, NULL, 0, 0);
    pthread_mutex_unlock(&fake.lock);
    return CUPTI_SUCCESS;
}
