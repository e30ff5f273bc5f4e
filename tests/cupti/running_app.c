/* SPDX-License-Identifier: Apache-2.0 */
#include "running_app.h"

#include "cupti_app.h"
#include "device_app.h"
#include "lines_app.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    ENDS_NOT = 0, /* of the stand-in's launches */
    ENDS = 1,
    FAILS = 3
};

/* Returns: the number of the call. */
static uint32_t launch(uintptr_t stream, const char *name, int ends)
{
    const cuLaunchKernel_params kernel = {.gridDimX = 4,
                                          .gridDimY = 3,
                                          .gridDimZ = 2,
                                          .blockDimX = 96,
                                          .blockDimY = 2,
                                          .blockDimZ = 1,
                                          .hStream = (CUstream)stream};

    return fake->launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &kernel, name, ends);
}

void running_ends(long ms)
{
    const cuStreamSynchronize_params wait = {.hStream = (CUstream)0x55};

    launch(0x77, "ended_by_record", ENDS);
    launch(0x77, "ended_by_later", ENDS_NOT);
    launch(0x77, "ended_later", ENDS);
    launch(0x55, "ended_by_wait", ENDS_NOT);
    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, &wait, NULL, ENDS_NOT);
    launch(0x66, "ended_by_context", ENDS_NOT);
    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, NULL, NULL, ENDS_NOT);
    launch(0x44, "failed", FAILS);
    launch(0x77, "_Z5staysi", ENDS_NOT);
    launch(0x77, "middle", ENDS_NOT);
    launch(0x77, "behind_it", ENDS_NOT);
    launch(0x99, "elsewhere", ENDS_NOT);
    rest(ms);
}

/* A clock that a busy machine does not stretch as it does short sleeps. */
static void spin_until(uint64_t ns)
{
    while (fake->time() < ns)
        ;
}

void running_windows(long ms)
{
    enum {
        EACH_NS = 100000,
        SLOWER_NS = 50000
    };
    const uint64_t end = fake->time() + (uint64_t)ms * 1000000;
    long count = 0;

    for (uint64_t at = fake->time(); at < end; count++) {
        const bool slow = fake->kinds() >> CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL & 1;

        launch(0x77, count % 3 ? "_Z6oftenxi" : "seldom", ENDS);
        at += EACH_NS + (slow ? SLOWER_NS : 0);
        if (at < fake->time())
            at = fake->time(); /* what is late is not made up for */
        spin_until(at);
    }
    printf("%ld launches\n", count);
}

/* Copies, fills and waits, too. */
void running_mixed(long ms)
{
    const uint64_t end = fake->time() + (uint64_t)ms * 1000000;

    for (uint64_t at = fake->time(); at < end; at += 1000000) {
        launch(0x77, "among_others", ENDS);
        device_mixed();
        spin_until(at);
    }
}

void running_graphs(long ms)
{
    static fake_graph_t made = {.id = 3, .nodes = 2};
    const cuGraphLaunch_params graph = {.hGraph = (CUgraphExec)(void *)&made,
                                        .hStream = (CUstream)0x77};
    const uint64_t end = fake->time() + (uint64_t)ms * 1000000;
    long count = 0;

    for (uint64_t at = fake->time(); at < end; at += 100000, count++) {
        fake->launch(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &graph, NULL, ENDS);
        launch(0x77, "alone", ENDS);
        spin_until(at);
    }
    printf("%ld graphs\n", count);
}

void running_late(long ms)
{
    CUpti_ActivityKernel10 record = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                     .name = "_Z5staysi",
                                     .contextId = 1,
                                     .deviceId = 1};

    record.correlationId = launch(0x77, "_Z5staysi", ENDS_NOT);
    rest(ms);
    record.end = fake->time();
    record.start = record.end - 1000;
    fake->put(0, &record);
    rest(ms);
}

void running_last(long ms)
{
    CUpti_ActivityKernel10 record = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                     .name = "_Z4lasti",
                                     .contextId = 1,
                                     .deviceId = 1};

    record.correlationId = launch(0x77, "_Z4lasti", ENDS_NOT);
    rest(ms);
    record.end = fake->time();
    record.start = record.end - 1000;
    fake->put(0, &record); /* which is given out as the program ends */
}

void running_many(long count)
{
    for (long i = 0; i < count; i++)
        launch(0x1000 + i % 64 * 16, names[i % APP_NAMES], ENDS_NOT);
    rest(900);
}

void running_busy(long count)
{
    fake->context(2, 1);
    running_many(count);
}

void running_hang(long ms)
{
    fake->context(2, 1);
    launch(0x77, "_Z4spinPj", ENDS_NOT);
    lines_spin(2);
    launch(0x77, "waits_behind", ENDS_NOT);
    rest(ms);
}
