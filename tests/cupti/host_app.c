/* SPDX-License-Identifier: Apache-2.0 */
#include "host_app.h"

#include "cupti_app.h"

static uint64_t now;

static void call(CUpti_ActivityKind kind, uint64_t from, uint64_t to, uint32_t result)
{
    CUpti_ActivityAPI c = {.kind = kind,
                           .start = now + from,
                           .end = now + to,
                           .threadId = 77,
                           .returnValue = result};

    fake->put(0, &c);
}

/* lane: the thread that it happens in. name: NULL of an end, which has its number alone. */
static void range(int lane, const char *name, uint32_t id, uint64_t at)
{
    CUpti_ActivityMarker2 m = {.kind = CUPTI_ACTIVITY_KIND_MARKER,
                               .flags = name ? CUPTI_ACTIVITY_FLAG_MARKER_START
                                             : CUPTI_ACTIVITY_FLAG_MARKER_END,
                               .name = name,
                               .domain = name ? "torch" : NULL,
                               .id = id,
                               .timestamp = now + at};

    fake->put(lane, &m);
}

static void memory(int lane, CUpti_ActivityMemoryKind kind, uint64_t address,
                   uint64_t bytes, uint64_t at)
{
    CUpti_ActivityMemory4 m = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                               .memoryOperationType =
                                   bytes ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
                                         : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
                               .memoryKind = kind,
                               .deviceId = 1,
                               .address = address,
                               .bytes = bytes,
                               .timestamp = now + at};

    fake->put(lane, &m);
}

void host_calls(void)
{
    const uint64_t address = 0x7f0000004000;

    now = fake->time() - 1000000;
    call(CUPTI_ACTIVITY_KIND_RUNTIME, 0, 3000, 0);
    call(CUPTI_ACTIVITY_KIND_RUNTIME, 4000, 5000, 2);
    call(CUPTI_ACTIVITY_KIND_DRIVER, 100, 200, 0);
    range(0, "step", 1, 0); /* pushed and popped */
    range(0, "load", 2, 1000);
    range(0, NULL, 2, 3000);
    range(0, NULL, 1, 10000);
    range(0, "load", 3, 20000); /* started here, ended by another thread */
    range(1, NULL, 3, 25000);
    range(0, "left", 4, 30000);
    memory(0, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, address, 1 << 20, 0);
    memory(0, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 2 * address, 3 << 20, 10);
    memory(1, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 2 * address, 0, 20);
    memory(0, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, 3 * address, 4096, 30);
    memory(0, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, 4 * address, 0, 40);
}
