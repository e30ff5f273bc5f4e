/* SPDX-License-Identifier: Apache-2.0 */
#include "device_app.h"

#include "check.h"
#include "cupti_app.h"

/* ---- kernels and copies ------------------------------------------------------------- */

void device_mixed(void)
{
    uint64_t now = fake->time() - 1000000;

    fake->kernel(0, "first", now, now + 10000);
    fake->wait(0, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, now + 1000,
               now + 11000);
    fake->poll(0, now + 12000);
    fake->kernel(0, "second", now + 20000, now + 30000);
    fake->copy(0, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1 << 20, now + 30000, now + 70000);
    fake->copy(0, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 1 << 10, now + 71000, now + 72000);
    fake->fill(0, 4096, now + 73000, now + 74000);
    fake->kernel(0, "third", now + 80000, now + 90000);
    fake->kernel(0, "fourth", now + 93000, now + 100000);
    fake->other(0);
}

/* Each direction from and to memory of three kinds, 1 MB in as many us as its number says. */
void device_copies(void)
{
    static const struct {
        uint8_t kind, from, to;
    } of[] = {
        {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE,
         CUPTI_ACTIVITY_MEMORY_KIND_DEVICE},
        {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
         CUPTI_ACTIVITY_MEMORY_KIND_DEVICE},
        {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
         CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE},
        {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
         CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC},
        {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 200, 200}, /* of a later version */
        {CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
         CUPTI_ACTIVITY_MEMORY_KIND_PINNED},
    };
    uint64_t now = fake->time() - 1000000;

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        CUpti_ActivityMemcpy6 what = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                      .copyKind = of[i].kind,
                                      .srcKind = of[i].from,
                                      .dstKind = of[i].to,
                                      .bytes = 1000000,
                                      .start = now + 10000 * i,
                                      .end = now + 10000 * i + 1000 * (i + 1)};

        fake->put(0, &what);
    }
}

/* A kernel that launches others: they have its call's number, run while it runs, and come
 * before it. */
void device_nested(void)
{
    uint64_t now = fake->time() - 1000000;
    CUpti_ActivityKernel10 k = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                .contextId = 1,
                                .streamId = 7,
                                .correlationId = 1234,
                                .name = "_Z5childi"};

    fake->kernel(0, "before", now - 20000, now - 19000);
    for (int i = 0; i < 3; i++) {
        k.start = now + 1000 + 2000 * (uint64_t)i;
        k.end = k.start + 3000; /* beside one another */
        k.gridId = -2 - i;
        fake->put(0, &k);
    }
    k.name = "_Z6parenti";
    k.start = now;
    k.end = now + 10000;
    k.gridId = 1;
    fake->put(0, &k);
}

/* Static kernels that nvcc linked on the device; the last is named like that by its author. */
void device_static_names(void)
{
    static const char *const of[] = {
        "__nv_static_43__cf6b7fb8_15_cupti_nested_cu_78b74570_11935__Z6parentPj",
        "__nv_static_4__a_b_plain", "__nv_static_400__a_b_plain",
        "__nv_static_18446744073709551614__a"};
    uint64_t now = fake->time() - 1000000;

    for (uint64_t i = 0; i < sizeof of / sizeof of[0]; i++)
        fake->kernel(0, of[i], now + 2000 * i, now + 2000 * i + 1000);
}

/* ---- several devices ---------------------------------------------------------------- */

/* Two devices, a second context on one of them, the same number of a stream in all, and a
 * node of a graph: kernel i of each runs i + 1 us. */
void device_several(void)
{
    static const fake_where_t where[] = {
        {.device = 0, .context = 1, .stream = 7},
        {.device = 0, .context = 2, .stream = 7},
        {.device = 1, .context = 3, .stream = 7},
        {.device = 1, .context = 3, .stream = 7, .graph = 5, .node = 0x100000002}};
    uint64_t now = fake->time() - 1000000;

    for (uint64_t i = 0; i < 40; i++)
        fake->kernel_of((int)(i % 4), &where[i % 4], names[i % 3], now + 20000 * i,
                        now + 20000 * i + 1000 * (i % 4 + 1));
}

/* The host waits for device 1 all the time, and once for what nobody knows; nobody asks device 0
 * for anything meanwhile. */
void device_two_waits(void)
{
    static const fake_where_t first = {.device = 0, .context = 1, .stream = 7},
                              second = {.device = 1, .context = 2, .stream = 7};
    CUpti_ActivitySynchronization2 wait = {
        .kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
        .type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
        .contextId = 2,
        .streamId = 7};
    uint64_t now = fake->time() - 100000000;

    fake->kernel_of(0, &first, "first", now, now + 1000000);
    fake->kernel_of(0, &second, "second", now, now + 80000000);
    wait.start = now;
    wait.end = now + 80000000;
    fake->put(0, &wait);
    wait.contextId = 9;
    fake->put(0, &wait);
    fake->kernel_of(0, &first, "first", now + 81000000, now + 82000000);
}

/* ---- graphs ------------------------------------------------------------------------- */

/* Three graphs are launched by turns, one is launched that was there before. */
void device_graphs(void)
{
    static fake_graph_t made[] = {{.id = 2, .nodes = 35},
                                  {.id = 5, .nodes = 1},
                                  {.id = 4098, .nodes = 6, .on_host = 1}},
                        before = {.id = 9, .nodes = 3};
    uint64_t now = fake->time() - 100000000;

    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        fake->graph_made(&made[i]);
    for (uint64_t i = 0; i < 30; i++)
        fake->graph_run(0, &made[i % 3], now + i * 1000000, 1000);
    fake->graph_run(0, &before, now + 30000000, 1000);
    fake->kernel(0, "beside", now + 31000000, now + 31001000);
}

/* Beside a kernel, on the only device: the graph has no device, and shows of none that it is there. */
void device_host_graph(void)
{
    static fake_graph_t made = {.id = 3, .nodes = 2, .on_host = 1, .host_ends = 1};
    static const fake_where_t where = {.device = 1, .context = 1, .stream = 7};
    const uint64_t now = fake->time() - 100000000;
    CUpti_ActivitySynchronization2 wait = {
        .kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
        .type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
        .contextId = 9,
        .streamId = 7,
        .start = now,
        .end = now + 1000};

    fake->graph_made(&made);
    fake->kernel_of(0, &where, "beside", now, now + 1000);
    fake->graph_run(0, &made, now + 50000, 1000);
    fake->put(0, &wait);
}

/* A node of a graph that the host launched, then one of a graph that device code did. */
void device_nodes(void)
{
    fake_where_t where = {.context = 1, .stream = 7, .graph = 5, .node = 0x500000001};
    uint64_t now = fake->time() - 1000000;

    fake->kernel_of(0, &where, "node", now, now + 1000);
    where.by_device = 1;
    where.node++;
    fake->kernel_of(0, &where, "node", now + 2000, now + 3000);
    where.node = where.graph = 0; /* whatever it was of */
    fake->kernel_of(0, &where, "node", now + 4000, now + 5000);
}

/* A graph whose kernel launches another in each way that there is, and in one of a later version. */
void device_graphs_of_graphs(void)
{
    static fake_graph_t launched = {.id = 5, .nodes = 3, .by_device = 1},
                        launcher = {.id = 4098, .nodes = 1};
    CUpti_ActivityDeviceGraphTrace g = {.kind = CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE,
                                        .deviceId = 1,
                                        .graphId = launched.id,
                                        .launcherGraphId = launcher.id,
                                        .contextId = 3,
                                        .streamId = 14};
    uint64_t now = fake->time() - 1000000;

    fake->graph_made(&launched);
    fake->graph_made(&launcher);
    fake->graph_run(0, &launcher, now, 1000);
    for (uint32_t mode = 1; mode <= 4; mode++) {
        g.deviceLaunchMode = mode;
        g.start = now + 10000 * mode;
        g.end = mode == 4 ? g.start - 1 : g.start + 2000;
        fake->put(0, &g);
    }
    rest(350); /* the collector looks, and looks again */
}

/* ---- memory ------------------------------------------------------------------------- */

/* A pool's life, and one that another process made. */
void device_pools(void)
{
    CUpti_ActivityMemoryPool3 pool = {
        .kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
        .memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED,
        .memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
        .deviceId = 1,
        .minBytesToKeep = 777,
        .address = 0x7f0000002000,
        .releaseThreshold = UINT64_MAX,
        .timestamp = fake->time()};

    fake->put(0, &pool);
    pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
    pool.size = 2 << 20;
    pool.utilizedSize = 1 << 20;
    pool.releaseThreshold = 4096;
    fake->put(0, &pool);
    pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED;
    pool.isManagedPool = 1;
    pool.timestamp = 0;
    fake->put(0, &pool);
    pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED;
    pool.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED;
    pool.timestamp = fake->time();
    fake->put(0, &pool);
}

/* Of each kind one, and one of a later version; the last two at times that cannot be. */
void device_managed(void)
{
    CUpti_ActivityUnifiedMemoryCounter3 u = {.kind =
                                                 CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
                                             .address = 0x7f0000003000,
                                             .srcId = 2,
                                             .dstId = 1};
    uint64_t now;

    for (int tries = 0; tries < 1000 && !(fake->kinds() >> u.kind & 1); tries++)
        rest(10); /* CUPTI takes it when the driver is there */
    now = fake->time() - 1000000;
    for (int kind = 1; kind <= 9; kind++) {
        u.counterKind = (CUpti_ActivityUnifiedMemoryCounterKind)kind;
        u.value = 65536 + (uint64_t)kind;
        u.start = now + 10000 * (uint64_t)kind;
        u.end = u.start + 1000 * (uint64_t)kind;
        fake->put(0, &u);
    }
    u.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
    u.end = u.start - 1;
    fake->put(0, &u);
    u.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP;
    u.start = 0;
    fake->put(0, &u);
}

void device_unmanaged(void)
{
    uint64_t now = fake->time();

    fake->kernel(0, "beside", now - 2000, now - 1000);
    rest(300);
    CHECK(!(fake->kinds() >> CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER & 1));
}

/* ---- times that cannot be ----------------------------------------------------------- */

/* Six records whose times cannot be, among four good ones. */
void device_bad_times(void)
{
    uint64_t now = fake->time();

    for (int i = 0; i < 4; i++)
        fake->kernel(0, "good", now - 2000, now - 1000);
    fake->kernel(0, "bad", 0, 0);
    fake->kernel(0, "bad", now, 0);
    fake->kernel(0, "bad", now, now - 1);
    fake->kernel(0, "bad", now, now + 3600000000000ull);
    fake->kernel(0, "bad", now - 3600000000000ull, now);
    fake->copy(0, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 8, 0, now);
}

/* Of what takes no time: three of each, two of them at a time that cannot be. */
void device_bad_moments(void)
{
    const uint64_t now = fake->time(), times[] = {now, 0, now + 3600000000000ull};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        CUpti_ActivityMemory4 memory = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                                        .memoryOperationType =
                                            CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
                                        .bytes = 1024 + i,
                                        .timestamp = times[i]};
        CUpti_ActivityMarker2 mark = {.kind = CUPTI_ACTIVITY_KIND_MARKER,
                                      .flags = CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS,
                                      .name = "here",
                                      .timestamp = times[i]};

        fake->put(0, &memory);
        fake->put(0, &mark);
    }
}
