/* SPDX-License-Identifier: Apache-2.0 */
/* Every call on a runtime that is not open returns its status, clears what it would
 * fill, and reaches no back end: before the first open, after close, after another open,
 * and with NULL or a pointer that never was a runtime. */
#include "../check.h"
#include "fake_backend.h"

#include <string.h>

static gpurt_stream_t stream;
static gpurt_event_t event;

static void half(const void *args)
{
    (void)args;
}
static const gpurt_kernel_t kernel = {"k", 4, 4, half, NULL, 0};
static const gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};

/* Expects `status` from every call that takes err. */
static void with_error(gpurt_t *rt, gpurt_status_t status, const char *text)
{
    static char a[4], b[4];
    gpurt_error_t err;
    uint64_t handle = 1, ns = 1;
    uint32_t blocks = 1;
    void *p = a;

#define REFUSED(call)                   \
    do {                                \
        memset(&err, 0, sizeof err);    \
        CHECK_EQ(call, status);         \
        CHECK_EQ(err.status, status);   \
        CHECK_CONTAINS(err.text, text); \
    } while (0)
    REFUSED(gpurt_mem_create(rt, 4, &p, &err));
    CHECK(!p);
    p = a;
    REFUSED(gpurt_host_create(rt, 4, &p, &err));
    CHECK(!p);
    REFUSED(gpurt_copy(rt, stream, a, b, 4, &err));
    REFUSED(gpurt_copy(rt, GPURT_STREAM_DEFAULT, a, b, 4, &err));
    REFUSED(gpurt_fill(rt, stream, a, 0, 4, &err));
    REFUSED(gpurt_launch_kernel(rt, &launch, &kernel, a, 4, &err));
    REFUSED(gpurt_occupancy(rt, &launch, &kernel, &blocks, &err));
    CHECK_EQ(blocks, 0);
    REFUSED(gpurt_stream_create(rt, &handle, &err));
    CHECK_EQ(handle, 0);
    REFUSED(gpurt_stream_sync(rt, stream, &err));
    REFUSED(gpurt_stream_query(rt, stream, &err));
    REFUSED(gpurt_sync(rt, &err));
    handle = 1;
    REFUSED(gpurt_event_create(rt, &handle, &err));
    CHECK_EQ(handle, 0);
    REFUSED(gpurt_event_sync(rt, event, &err));
    REFUSED(gpurt_event_query(rt, event, &err));
    REFUSED(gpurt_event_elapsed_ns(rt, event, event, &ns, &err));
    CHECK_EQ(ns, 0);
    if (rt)
        REFUSED(gpurt_close(rt, &err));
#undef REFUSED
}

static void without_error(gpurt_t *rt, gpurt_status_t status)
{
    gpurt_info_t info = {.sm_count = 1};
    gpurt_counters_t counters = {.launches = 1};
    char text[8] = "before";

    CHECK_EQ(gpurt_info(rt, &info), status);
    CHECK_EQ(info.sm_count, 0);
    CHECK_EQ(gpurt_counters(rt, &counters), status);
    CHECK_EQ(counters.launches, 0);
    CHECK_EQ(gpurt_mem_destroy(rt, text), status);
    CHECK_EQ(gpurt_mem_destroy(rt, NULL), status);
    CHECK_EQ(gpurt_host_destroy(rt, text), status);
    CHECK_EQ(gpurt_stream_destroy(rt, stream), status);
    CHECK_EQ(gpurt_stream_destroy(rt, 0), status);
    CHECK_EQ(gpurt_event_destroy(rt, event), status);
    CHECK_EQ(gpurt_event_record(rt, event, stream), status);
    CHECK_EQ(gpurt_event_wait(rt, event, stream), status);
    CHECK_EQ(gpurt_report(rt, text, sizeof text), 0);
    CHECK_STR(text, "");
    CHECK_EQ(gpurt_report(rt, NULL, 0), 0);
}

static void refused(gpurt_t *rt, gpurt_status_t status, const char *text)
{
    uint32_t before = fake_calls_all(&fake_cpu) + fake_calls_all(&fake_cuda);

    with_error(rt, status, text);
    without_error(rt, status);
    CHECK_EQ(fake_calls_all(&fake_cpu) + fake_calls_all(&fake_cuda), before);
}

static void never_a_runtime(void)
{
    char here;

    refused(NULL, GPURT_E_CLOSED, "call gpurt_open");
    refused((gpurt_t *)&here, GPURT_E_INVALID, "is no runtime");
    refused((gpurt_t *)8, GPURT_E_INVALID,
            "is no runtime"); /* nothing is there to be read */
    refused((gpurt_t *)UINTPTR_MAX, GPURT_E_INVALID, "is no runtime");
}

int main(void)
{
    gpurt_t *rt, *next;

    fake_reset();
    never_a_runtime();
    rt = fake_gpurt_open(NULL);
    CHECK_EQ(gpurt_stream_create(rt, &stream, NULL), GPURT_OK);
    CHECK_EQ(gpurt_event_create(rt, &event, NULL), GPURT_OK);
    never_a_runtime();
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
    refused(rt, GPURT_E_CLOSED, "was closed");
    never_a_runtime();

    next =
        fake_gpurt_open(NULL); /* the old pointer does not come to mean the new runtime */
    refused(rt, GPURT_E_CLOSED, "was closed");
    CHECK_EQ(gpurt_sync(next, NULL), GPURT_OK);
    CHECK_EQ(gpurt_close(next, NULL), GPURT_OK);
    for (int i = 0; i < 5000; i++) { /* more than there are addresses */
        gpurt_t *again = fake_gpurt_open(NULL);

        CHECK(again != next);
        CHECK_EQ(gpurt_sync(next, NULL), GPURT_E_CLOSED);
        CHECK_EQ(gpurt_close(again, NULL), GPURT_OK);
        next = again;
    }
    refused(next, GPURT_E_CLOSED, "was closed");
    return 0;
}
