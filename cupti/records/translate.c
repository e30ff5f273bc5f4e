/* SPDX-License-Identifier: Apache-2.0 */
#include "translate.h"

#include "graphs.h"
#include "outlet.h"

#include <stdio.h>
#include <string.h>

enum {
    CALL_NAME = 128 /* the longest is 60 */
};

/* What we read of a kernel lies where it lies since CUDA 12, so that an older CUPTI of the
 * same major version would not be misread. */
GPURT_STATIC_ASSERT(offsetof(CUpti_ActivityKernel10, name) ==
                        offsetof(CUpti_ActivityKernel9, name),
                    "fields that are read");

#define SLACK_NS 1000000000ull /* two clocks were fitted to each other */

/* ---- times --------------------------------------------------------------------------- */

static bool is_plausible(const translate_t *t, uint64_t time_ns, uint64_t now_ns)
{
    return time_ns >= t->begin_ns && time_ns <= now_ns + SLACK_NS;
}

/* A time to show for what cannot have been as it says. */
static uint64_t bad_start(translate_t *t, uint64_t start, uint64_t end, uint64_t now_ns)
{
    t->bad++;
    return is_plausible(t, start, now_ns) ? start
           : is_plausible(t, end, now_ns) ? end
                                          : now_ns;
}

/* *start becomes a time to show. Returns: the duration, or GPURT_ACTIVITY_NO_TIME: it has no
 * times, ends before it begins, or lies outside of the program's life. */
static inline gpurt_pair_t span(translate_t *t, uint64_t *start, uint64_t end,
                                uint64_t now_ns)
{
    if (GPURT_LIKELY(*start >= t->begin_ns && end >= *start && end <= now_ns + SLACK_NS))
        return gpurt_pair(end - *start);
    *start = bad_start(t, *start, end, now_ns);
    return gpurt_pair(GPURT_ACTIVITY_NO_TIME);
}

/* When something happened that takes no time. */
static uint64_t moment(translate_t *t, uint64_t time_ns, uint64_t now_ns)
{
    return is_plausible(t, time_ns, now_ns) ? time_ns : bad_start(t, 0, 0, now_ns);
}

/* CUPTI says cudaMalloc_v3020 where a program says cudaMalloc; the "_v2" of a function of the driver is its
 * own. */
static const char *call_text(const char *name, char plain[CALL_NAME])
{
    const char *version = name ? strrchr(name, '_') : NULL;
    size_t digits;

    if (!version || version[1] != 'v' || version - name >= CALL_NAME)
        return name;
    digits = strspn(version + 2, "0123456789");
    if (digits < 4 || version[2 + digits] != '\0')
        return name;
    snprintf(plain, CALL_NAME, "%.*s", (int)(version - name), name);
    return plain;
}

/* Most records of a buffer name what others of it do: the text is looked at once. */
static uint32_t name_of(translate_t *t, const char *text, translate_text_t what)
{
    uint64_t key = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15ull;
    translate_name_t *seen = &t->names[key >> 32 & (TRANSLATE_NAMES - 1)];
    char plain[CALL_NAME];

    if (seen->buffer != t->buffer || seen->text != text || seen->what != what)
        *seen = (translate_name_t){
            text, t->buffer,
            outlet_name(what == TRANSLATE_CALL ? call_text(text, plain) : text,
                        what == TRANSLATE_KERNEL),
            what};
    return seen->number;
}

static void put(translate_t *t, uint32_t kind, uint32_t device, uint64_t time_ns,
                const void *payload)
{
    outlet_put(kind, device, time_ns, payload);
    t->records++;
}

/* ---- on the device ------------------------------------------------------------------- */

static void kernel_fill(gpurt_activity_kernel_t *out, const CUpti_ActivityKernel10 *k,
                        uint32_t name, gpurt_pair_t ns)
{
    out->name = name;
    out->ns = ns;
    out->grid[0] = (uint32_t)k->gridX;
    out->grid[1] = (uint32_t)k->gridY;
    out->grid[2] = (uint32_t)k->gridZ;
    out->block[0] = (uint32_t)k->blockX;
    out->block[1] = (uint32_t)k->blockY;
    out->block[2] = (uint32_t)k->blockZ;
    out->registers = k->registersPerThread;
    out->shared_bytes = (uint32_t)(k->staticSharedMemory + k->dynamicSharedMemory);
    out->stream = k->streamId;
    out->correlation = k->correlationId;
    out->context = k->contextId;
}

/* The most frequent of all, so it is made where it will lie. A node begins as any kernel. */
static void put_kernel(translate_t *t, const CUpti_ActivityKernel10 *k, uint64_t now_ns)
{
    uint64_t start = k->start;
    gpurt_pair_t ns = span(t, &start, k->end, now_ns);
    uint32_t name = name_of(t, k->name, TRANSLATE_KERNEL);
    gpurt_activity_node_t *node;

    contexts_show(&t->contexts, k->contextId, k->deviceId);
    t->records++;
    if (GPURT_LIKELY(!k->graphNodeId && !k->isDeviceLaunched)) {
        kernel_fill(outlet_room(GPURT_KIND_KERNEL, k->deviceId, start), k, name, ns);
        return;
    }
    node = outlet_room(k->isDeviceLaunched ? GPURT_KIND_DEVICE_NODE : GPURT_KIND_NODE,
                       k->deviceId, start);
    kernel_fill(&node->kernel, k, name, ns);
    node->graph = k->graphId;
    node->node = gpurt_pair(k->graphNodeId);
}

static uint32_t direction_of(uint32_t kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
        return GPURT_COPY_TO_DEVICE;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
        return GPURT_COPY_TO_HOST;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
        return GPURT_COPY_ON_DEVICE;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return GPURT_COPY_PEER;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
        return GPURT_COPY_ON_HOST;
    default:
        return GPURT_COPY_OTHER;
    }
}

GPURT_STATIC_ASSERT((int)CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE == GPURT_MEMORY_PAGEABLE &&
                        (int)CUPTI_ACTIVITY_MEMORY_KIND_PINNED == GPURT_MEMORY_PINNED &&
                        (int)CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC ==
                            GPURT_MEMORY_MANAGED_STATIC,
                    "the same numbers");

static const char *copy_text(const gpurt_activity_copy_t *copy)
{
    static const char *const names[GPURT_COPY_KINDS][GPURT_MEMORY_KINDS] = {
        [GPURT_COPY_OTHER] = {"of an unknown kind"},
        [GPURT_COPY_TO_DEVICE] =
            {"host to device", [GPURT_MEMORY_PAGEABLE] = "host to device, pageable",
             [GPURT_MEMORY_PINNED] = "host to device, pinned",
             [GPURT_MEMORY_MANAGED] = "host to device, managed"},
        [GPURT_COPY_TO_HOST] =
            {"device to host", [GPURT_MEMORY_PAGEABLE] = "device to host, pageable",
             [GPURT_MEMORY_PINNED] = "device to host, pinned",
             [GPURT_MEMORY_MANAGED] = "device to host, managed"},
        [GPURT_COPY_ON_DEVICE] = {"on the device"},
        [GPURT_COPY_PEER] = {"device to device"},
        [GPURT_COPY_ON_HOST] = {"on the host"}};

    return names[copy->direction][gpurt_copy_memory(copy)];
}

static void put_copy(translate_t *t, const CUpti_ActivityMemcpy6 *m, uint64_t now_ns)
{
    uint64_t start = m->start;
    gpurt_activity_copy_t out = {.bytes = gpurt_pair(m->bytes),
                                 .ns = span(t, &start, m->end, now_ns),
                                 .stream = m->streamId,
                                 .correlation = m->correlationId,
                                 .direction = direction_of(m->copyKind),
                                 .context = m->contextId,
                                 .memory = m->srcKind | (uint32_t)m->dstKind << 8};

    contexts_show(&t->contexts, m->contextId, m->deviceId);
    out.name = name_of(t, copy_text(&out), TRANSLATE_AS_IT_IS);
    put(t, GPURT_KIND_COPY, m->deviceId, start, &out);
}

/* Between two devices: a kind of its own, with fields like those of a copy. */
static void put_peer(translate_t *t, const CUpti_ActivityMemcpyPtoP4 *m, uint64_t now_ns)
{
    uint64_t start = m->start;
    gpurt_activity_copy_t out = {.bytes = gpurt_pair(m->bytes),
                                 .ns = span(t, &start, m->end, now_ns),
                                 .stream = m->streamId,
                                 .correlation = m->correlationId,
                                 .direction = GPURT_COPY_PEER,
                                 .context = m->contextId,
                                 .memory = m->srcKind | (uint32_t)m->dstKind << 8,
                                 .devices = ((m->srcDeviceId + 1) & 0xffff) |
                                            (m->dstDeviceId + 1) << 16};
    char text[64];

    contexts_show(&t->contexts, m->contextId, m->deviceId);
    snprintf(text, sizeof text, "device %u to device %u", m->srcDeviceId, m->dstDeviceId);
    out.name =
        outlet_name(text, false); /* not by its address: the next one's is the same */
    put(t, GPURT_KIND_COPY, m->deviceId, start, &out);
}

static void put_fill(translate_t *t, const CUpti_ActivityMemset4 *m, uint64_t now_ns)
{
    uint64_t start = m->start;
    gpurt_activity_fill_t out = {.bytes = gpurt_pair(m->bytes),
                                 .ns = span(t, &start, m->end, now_ns),
                                 .value = m->value,
                                 .stream = m->streamId,
                                 .correlation = m->correlationId,
                                 .context = m->contextId};

    contexts_show(&t->contexts, m->contextId, m->deviceId);
    put(t, GPURT_KIND_FILL, m->deviceId, start, &out);
}

/* Where a graph ran that began with a node of the host: where it ended. Returns: nowhere, where that
 * was on the host, too. */
static uint32_t place_of(uint32_t first, uint32_t last, uint32_t nowhere)
{
    const uint32_t host = INT32_MAX; /* CUPTI's word for it */

    return first != host ? first : last != host ? last : nowhere;
}

static void put_graph(translate_t *t, const CUpti_ActivityGraphTrace2 *g, uint64_t now_ns)
{
    uint32_t device = place_of(g->deviceId, g->endDeviceId, GPURT_ACTIVITY_NO_DEVICE);
    uint64_t start = g->start;
    gpurt_activity_graph_t out = {.graph = g->graphId,
                                  .ns = span(t, &start, g->end, now_ns),
                                  .stream = g->streamId,
                                  .correlation = g->correlationId,
                                  .context = place_of(g->contextId, g->endContextId, 0),
                                  .nodes = graphs_nodes(g->graphId)};

    if (device != GPURT_ACTIVITY_NO_DEVICE)
        contexts_show(&t->contexts, out.context, device);
    put(t, GPURT_KIND_GRAPH, device, start, &out);
}

static void put_device_graph(translate_t *t, const CUpti_ActivityDeviceGraphTrace *g,
                             uint64_t now_ns)
{
    static const char *const ways[] = {"in some way", "beside it", "after it",
                                       "beside it, as of its stream"};
    uint32_t mode = g->deviceLaunchMode;
    uint64_t start = g->start;
    gpurt_activity_device_graph_t out = {
        .graph = {.graph = g->graphId,
                  .ns = span(t, &start, g->end, now_ns),
                  .stream = (uint32_t)g->streamId,
                  .context = g->contextId,
                  .nodes = graphs_nodes(g->graphId)},
        .launcher = g->launcherGraphId,
        .how = name_of(t, ways[mode < sizeof ways / sizeof ways[0] ? mode : 0],
                       TRANSLATE_AS_IT_IS)};

    contexts_show(&t->contexts, g->contextId, g->deviceId);
    put(t, GPURT_KIND_DEVICE_GRAPH, g->deviceId, start, &out);
}

/* ---- on the host --------------------------------------------------------------------- */

/* The device that a wait was for, in words. Returns: its number, 0 where nobody knows. */
static uint32_t where_of(const translate_t *t, uint32_t context, uint32_t *words)
{
    uint32_t device = contexts_device(&t->contexts, context);
    char text[32];

    snprintf(text, sizeof text, "device %u", device);
    *words = outlet_name(device == CONTEXTS_UNKNOWN ? "an unknown device" : text, false);
    return device == CONTEXTS_UNKNOWN ? 0 : device;
}

static void put_wait(translate_t *t, const CUpti_ActivitySynchronization2 *s,
                     uint64_t now_ns)
{
    static const char *const names[] = {"something", "an event", "an event, on a stream",
                                        "a stream", "the context"};
    uint32_t type = (uint32_t)s->type;
    uint64_t start = s->start;
    gpurt_activity_wait_t out = {.ns = span(t, &start, s->end, now_ns),
                                 .stream = s->streamId,
                                 .correlation = s->correlationId,
                                 .context = s->contextId};
    uint32_t device = where_of(t, s->contextId, &out.where);

    out.name = name_of(t, names[type < sizeof names / sizeof names[0] ? type : 0],
                       TRANSLATE_AS_IT_IS);
    put(t, GPURT_KIND_WAIT, device, start, &out);
}

static void put_memory(translate_t *t, const CUpti_ActivityMemory4 *m, uint64_t now_ns)
{
    static const char *const kinds[] = {"unknown memory", "pageable",       "pinned",
                                        "device",         "array",          "managed",
                                        "device, static", "managed, static"};
    uint32_t kind = (uint32_t)m->memoryKind;
    gpurt_activity_memory_t out = {.bytes = gpurt_pair(m->bytes),
                                   .address = gpurt_pair(m->address)};

    out.name =
        name_of(t,
                m->memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
                    ? "take"
                    : "give back",
                TRANSLATE_AS_IT_IS);
    out.memory = name_of(t, kinds[kind < sizeof kinds / sizeof kinds[0] ? kind : 0],
                         TRANSLATE_AS_IT_IS);
    put(t, GPURT_KIND_MEMORY, m->deviceId, moment(t, m->timestamp, now_ns), &out);
}

/* What the pool of another process holds is not ours to know. */
static gpurt_pair_t pool_bytes(const CUpti_ActivityMemoryPool3 *p, uint64_t bytes)
{
    const bool local = p->memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;

    return gpurt_pair(local ? bytes : UINT64_MAX);
}

static void put_pool(translate_t *t, const CUpti_ActivityMemoryPool3 *p, uint64_t now_ns)
{
    static const char *const names[] = {"pool", "pool made", "pool destroyed",
                                        "pool trimmed"};
    uint32_t did = (uint32_t)p->memoryPoolOperationType;
    bool trim = did == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
    uint64_t most =
        INT64_MAX; /* a program that wants it never to give back says 2^64 - 1 */
    gpurt_activity_pool_t out = {
        .address = gpurt_pair(p->address),
        .bytes = pool_bytes(p, p->size),
        .used = pool_bytes(p, p->utilizedSize),
        .keep = gpurt_pair(trim ? p->minBytesToKeep : 0),
        .threshold = pool_bytes(p, p->releaseThreshold < most ? p->releaseThreshold : most),
        .correlation = p->correlationId};

    out.name = name_of(t, names[did < sizeof names / sizeof names[0] ? did : 0],
                       TRANSLATE_AS_IT_IS);
    out.memory = name_of(t,
                         p->memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED
                             ? "of another process"
                         : p->isManagedPool ? "managed"
                                            : "not managed",
                         TRANSLATE_AS_IT_IS);
    put(t, GPURT_KIND_POOL, p->deviceId, moment(t, p->timestamp, now_ns), &out);
}

GPURT_STATIC_ASSERT(
    (int)CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING ==
            GPURT_MANAGED_THROTTLING &&
        (int)CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD ==
            GPURT_MANAGED_PEER,
    "the same numbers");

/* Kinds of unified memory's records: which fields CUPTI fills of each. */
typedef struct managed_kind {
    const char *name;
    bool ends, bytes;    /* bytes: its value are some */
    bool at_from, at_to; /* the device that it is about */
} managed_kind_t;
static const managed_kind_t managed_kinds[GPURT_MANAGED_KINDS] = {
    [GPURT_MANAGED_OTHER] = {.name = "something"},
    [GPURT_MANAGED_TO_DEVICE] = {"host to device", true, true, .at_to = true},
    [GPURT_MANAGED_TO_HOST] = {"device to host", true, true, .at_from = true},
    [GPURT_MANAGED_HOST_FAULT] = {.name = "fault of the host"},
    [GPURT_MANAGED_DEVICE_FAULT] = {"fault of a device", true, .at_from = true},
    [GPURT_MANAGED_THRASHING] = {"thrashing", .bytes = true},
    [GPURT_MANAGED_THROTTLING] = {"throttling", true, .at_from = true},
    [GPURT_MANAGED_REMOTE] = {"mapped from afar", .bytes = true},
    [GPURT_MANAGED_PEER] = {"device to device", true, true, .at_to = true}};

/* A fault of the host has the instruction for its value. */
static uint32_t faults_of(uint32_t what, uint64_t value)
{
    return what == GPURT_MANAGED_HOST_FAULT     ? 1
           : what == GPURT_MANAGED_DEVICE_FAULT ? (uint32_t)value
                                                : 0;
}

static void put_managed(translate_t *t, const CUpti_ActivityUnifiedMemoryCounter3 *u,
                        uint64_t now_ns)
{
    uint32_t what = (uint32_t)u->counterKind < GPURT_MANAGED_KINDS
                        ? (uint32_t)u->counterKind
                        : (uint32_t)GPURT_MANAGED_OTHER;
    const managed_kind_t *kind = &managed_kinds[what];
    uint64_t start = u->start;
    gpurt_activity_managed_t out = {.bytes = gpurt_pair(kind->bytes ? u->value : 0),
                                    .address = gpurt_pair(u->address),
                                    .faults = faults_of(what, u->value),
                                    .what = what,
                                    .from = u->srcId,
                                    .to = u->dstId};

    if (kind->ends)
        out.ns = span(t, &start, u->end, now_ns);
    else {
        start = moment(t, start, now_ns);
        out.ns = gpurt_pair(GPURT_ACTIVITY_NO_TIME);
    }
    out.name = name_of(t, kind->name, TRANSLATE_AS_IT_IS);
    put(t, GPURT_KIND_MANAGED,
        kind->at_from ? u->srcId
        : kind->at_to ? u->dstId
                      : 0,
        start, &out);
}

static void put_call(translate_t *t, const CUpti_ActivityAPI *a, uint64_t now_ns)
{
    CUpti_CallbackDomain domain = a->kind == CUPTI_ACTIVITY_KIND_RUNTIME
                                      ? CUPTI_CB_DOMAIN_RUNTIME_API
                                      : CUPTI_CB_DOMAIN_DRIVER_API;
    const char *name = NULL;
    uint64_t start = a->start;
    gpurt_activity_call_t out = {.ns = span(t, &start, a->end, now_ns),
                                 .result = a->returnValue,
                                 .thread = a->threadId,
                                 .correlation = a->correlationId};

    if (t->api->cuptiGetCallbackName(domain, a->cbid, &name) != CUPTI_SUCCESS)
        name = NULL;
    out.name = name_of(t, name, TRANSLATE_CALL);
    put(t, GPURT_KIND_CALL, 0, start, &out);
}

static void put_range(translate_t *t, const CUpti_ActivityMarker2 *m, uint64_t now_ns)
{
    gpurt_activity_range_t out = {.id = m->id};

    if (m->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD)
        out.thread = m->objectId.pt.threadId;
    out.what = name_of(t,
                       (m->flags & CUPTI_ACTIVITY_FLAG_MARKER_START) ? "begin"
                       : (m->flags & CUPTI_ACTIVITY_FLAG_MARKER_END) ? "end"
                                                                     : "mark",
                       false);
    out.name =
        name_of(t, m->name ? m->name : "", TRANSLATE_AS_IT_IS); /* ends carry an id alone */
    out.domain = name_of(t, m->domain ? m->domain : "default", TRANSLATE_AS_IT_IS);
    put(t, GPURT_KIND_RANGE, 0, moment(t, m->timestamp, now_ns), &out);
}

static void put_overhead(translate_t *t, const CUpti_ActivityOverhead3 *o, uint64_t now_ns)
{
    static const char *const names[] = {"unknown",
                                        "flush of buffers",
                                        "instrumentation",
                                        "resources",
                                        "loading a module",
                                        "loading a function",
                                        "command buffer full",
                                        "asking for a buffer",
                                        "start of managed memory"};
    uint32_t kind = (uint32_t)o->overheadKind >> 16;
    uint64_t start = o->start;
    gpurt_activity_overhead_t out = {.ns = span(t, &start, o->end, now_ns)};

    out.name = name_of(t,
                       o->overheadKind == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER
                           ? "compiling"
                           : names[kind < sizeof names / sizeof names[0] ? kind : 0],
                       false);
    put(t, GPURT_KIND_OVERHEAD, 0, start, &out);
}

void translate_buffer(translate_t *t)
{
    t->buffer++;
}

void translate_record(translate_t *t, const CUpti_Activity *record, uint64_t now_ns)
{
    const void *any = record;

    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        put_kernel(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        put_copy(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        put_peer(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        put_fill(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        put_graph(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE:
        put_device_graph(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        put_wait(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_MEMORY2:
        put_memory(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
        put_pool(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
        put_managed(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        put_call(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_MARKER:
        put_range(t, any, now_ns);
        break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        put_overhead(t, any, now_ns);
        break;
    default:
        t->unknown = gpurt_at_least(t->unknown + 1ull);
    }
}
