/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of the host API reaches its function of the back end with its arguments, and
 * the answer comes back as it is; what needs no back end does not reach it. */
#include "../check.h"
#include "fake_backend.h"

#include <gpurt/heap.h>
#include <string.h>

static gpurt_t *rt;
static gpurt_stream_t stream;
static gpurt_event_t event, later;
static gpurt_error_t err;

/* The call went to op once, and returned what op returned, with its text. */
#define REACHES(op, call)                                       \
    do {                                                        \
        uint32_t reach_before_ = fake_calls(&fake_cpu, op);     \
        memset(&err, 0, sizeof err);                            \
        CHECK_EQ(call, GPURT_OK);                               \
        CHECK_EQ(fake_calls(&fake_cpu, op), reach_before_ + 1); \
        fake_cpu.answer[op] = GPURT_E_DEVICE_LOST;              \
        CHECK_EQ(call, GPURT_E_DEVICE_LOST);                    \
        fake_cpu.answer[op] = GPURT_OK;                         \
        CHECK_EQ(fake_calls(&fake_cpu, op), reach_before_ + 2); \
    } while (0)
#define REACHES_TELLS(op, call)                    \
    do {                                           \
        REACHES(op, call);                         \
        CHECK_EQ(err.status, GPURT_E_DEVICE_LOST); \
        CHECK_STR(err.text, "stand-in");           \
    } while (0)
#define STOPS(status, part, call)                          \
    do {                                                   \
        uint32_t stop_before_ = fake_calls_all(&fake_cpu); \
        memset(&err, 0, sizeof err);                       \
        CHECK_EQ(call, status);                            \
        CHECK_CONTAINS(err.text, part);                    \
        CHECK_EQ(fake_calls_all(&fake_cpu), stop_before_); \
    } while (0)

static void memory(void)
{
    void *p = &err;

    REACHES_TELLS(FAKE_MEM_CREATE, gpurt_mem_create(rt, 4096, &p, &err));
    CHECK(p == NULL); /* the second one failed */
    CHECK_EQ(fake_cpu.bytes, 4096);
    REACHES_TELLS(FAKE_HOST_CREATE, gpurt_host_create(rt, SIZE_MAX, &p, &err));
    CHECK_EQ(fake_cpu.bytes, SIZE_MAX);
    CHECK_EQ(gpurt_host_create(rt, 1, &p, NULL), GPURT_OK);
    CHECK(p == &fake_cpu);
    REACHES(FAKE_MEM_DESTROY, gpurt_mem_destroy(rt, p));
    REACHES(FAKE_HOST_DESTROY, gpurt_host_destroy(rt, p));

    STOPS(GPURT_OK, "", gpurt_mem_create(rt, 0, &p, &err)); /* no bytes: no memory */
    CHECK(p == NULL);
    STOPS(GPURT_OK, "", gpurt_mem_destroy(rt, NULL));
    STOPS(GPURT_OK, "", gpurt_host_destroy(rt, NULL));
    STOPS(GPURT_E_INVALID, "out is NULL", gpurt_mem_create(rt, 1, NULL, &err));
    STOPS(GPURT_E_INVALID, "out is NULL", gpurt_host_create(rt, 1, NULL, &err));
}

/* What the back end refuses a heap is told with what to do about it, and nothing is kept. */
static void heap_memory(void)
{
    gpurt_heap_options_t options = {.bytes = 8 << 20};
    gpurt_heap_t heap;

    fake_cpu.answer[FAKE_MEM_CREATE] = GPURT_E_NOMEM;
    for (uint32_t i = 0; i < 2 * GPURT_HEAPS; i++) {
        CHECK_EQ(gpurt_heap_create(rt, &options, &heap, &err), GPURT_E_NOMEM);
        CHECK_MSG(strstr(err.text, "8388608 bytes") && strstr(err.text, "give it less"),
                  "%s", err.text);
        CHECK(heap.chunks == NULL);
        CHECK_EQ(gpurt_heap_create(rt, &options, &heap, NULL), GPURT_E_NOMEM);
    }
    fake_cpu.answer[FAKE_MEM_CREATE] = GPURT_E_CUDA; /* anything else in its own words */
    CHECK_EQ(gpurt_heap_create(rt, &options, &heap, &err), GPURT_E_CUDA);
    CHECK_MSG(!strstr(err.text, "give it less"), "%s", err.text);
    fake_cpu.answer[FAKE_MEM_CREATE] = GPURT_OK;
}

static void copy_and_fill(void)
{
    char to[8], from[8];

    REACHES_TELLS(FAKE_COPY, gpurt_copy(rt, stream, to, from, 5, &err));
    CHECK(fake_cpu.to == to && fake_cpu.from == from && fake_cpu.bytes == 5);
    CHECK(fake_cpu.stream != NULL);
    REACHES_TELLS(FAKE_COPY, gpurt_copy(rt, GPURT_STREAM_DEFAULT, to, from, 5, &err));
    CHECK(fake_cpu.stream == NULL);
    REACHES_TELLS(FAKE_FILL, gpurt_fill(rt, stream, to, 0xab, 6, &err));
    CHECK(fake_cpu.to == to && fake_cpu.byte == 0xab && fake_cpu.bytes == 6);

    STOPS(GPURT_OK, "", gpurt_copy(rt, stream, NULL, NULL, 0, &err));
    STOPS(GPURT_OK, "", gpurt_fill(rt, stream, NULL, 0, 0, &err));
    STOPS(GPURT_E_INVALID, "to is NULL", gpurt_copy(rt, stream, NULL, from, 1, &err));
    STOPS(GPURT_E_INVALID, "from is NULL", gpurt_copy(rt, stream, to, NULL, 1, &err));
    STOPS(GPURT_E_INVALID, "memory is NULL", gpurt_fill(rt, stream, NULL, 1, 1, &err));
}

static void streams(void)
{
    gpurt_stream_t other = 1;

    REACHES_TELLS(FAKE_STREAM_SYNC, gpurt_stream_sync(rt, stream, &err));
    REACHES_TELLS(FAKE_STREAM_SYNC, gpurt_stream_sync(rt, GPURT_STREAM_DEFAULT, &err));
    REACHES_TELLS(FAKE_STREAM_QUERY, gpurt_stream_query(rt, stream, &err));
    REACHES_TELLS(FAKE_SYNC, gpurt_sync(rt, &err));
    fake_cpu.answer[FAKE_STREAM_CREATE] = GPURT_E_NOMEM;
    CHECK_EQ(gpurt_stream_create(rt, &other, &err), GPURT_E_NOMEM);
    CHECK_EQ(other, 0);
    fake_cpu.answer[FAKE_STREAM_CREATE] = GPURT_OK;
    STOPS(GPURT_OK, "", gpurt_stream_destroy(rt, GPURT_STREAM_DEFAULT));
    STOPS(GPURT_E_INVALID, "out is NULL", gpurt_stream_create(rt, NULL, &err));

    /* The status of a destruction is told too. */
    CHECK_EQ(gpurt_stream_create(rt, &other, &err), GPURT_OK);
    fake_cpu.answer[FAKE_STREAM_DESTROY] = GPURT_E_CUDA;
    CHECK_EQ(gpurt_stream_destroy(rt, other), GPURT_E_CUDA);
    fake_cpu.answer[FAKE_STREAM_DESTROY] = GPURT_OK;
}

static void events(void)
{
    uint64_t ns = 1;
    gpurt_event_t other = 1;

    REACHES(FAKE_EVENT_RECORD, gpurt_event_record(rt, event, stream));
    CHECK(fake_cpu.stream != NULL);
    REACHES(FAKE_EVENT_RECORD, gpurt_event_record(rt, event, GPURT_STREAM_DEFAULT));
    CHECK(fake_cpu.stream == NULL);
    REACHES(FAKE_EVENT_WAIT, gpurt_event_wait(rt, event, stream));
    CHECK(fake_cpu.stream != NULL && fake_cpu.other != fake_cpu.stream);
    REACHES_TELLS(FAKE_EVENT_SYNC, gpurt_event_sync(rt, event, &err));
    REACHES_TELLS(FAKE_EVENT_QUERY, gpurt_event_query(rt, event, &err));
    REACHES_TELLS(FAKE_EVENT_ELAPSED, gpurt_event_elapsed_ns(rt, event, later, &ns, &err));
    CHECK_EQ(ns, 5000);
    CHECK(fake_cpu.stream != fake_cpu.other);
    fake_cpu.answer[FAKE_EVENT_CREATE] = GPURT_E_NOMEM;
    CHECK_EQ(gpurt_event_create(rt, &other, &err), GPURT_E_NOMEM);
    CHECK_EQ(other, 0);
    fake_cpu.answer[FAKE_EVENT_CREATE] = GPURT_OK;
    STOPS(GPURT_OK, "", gpurt_event_destroy(rt, 0));
    STOPS(GPURT_E_INVALID, "out is NULL", gpurt_event_create(rt, NULL, &err));
    STOPS(GPURT_E_INVALID, "ns is NULL",
          gpurt_event_elapsed_ns(rt, event, later, NULL, &err));
}

static void reports(void)
{
    gpurt_counters_t counters;
    char text[16] = "before";

    CHECK_EQ(gpurt_counters(rt, &counters), GPURT_OK);
    CHECK_EQ(counters.launches, 17);
    CHECK_EQ(counters.switches, 0);
    STOPS(GPURT_E_INVALID, "", gpurt_counters(rt, NULL));
    STOPS(GPURT_E_INVALID, "", gpurt_info(rt, NULL));
    CHECK_EQ(gpurt_report(rt, text, sizeof text), 6);
    CHECK_STR(text, "report");
    CHECK_EQ(gpurt_report(rt, text, 4), 6);
    CHECK_STR(text, "rep");
    CHECK_EQ(gpurt_report(rt, NULL, 0), 6);
    CHECK_EQ(gpurt_report(rt, NULL, 100), 6);
    CHECK_EQ(gpurt_report(rt, text, 0), 6);
    CHECK_STR(text, "rep");
}

int main(void)
{
    gpurt_options_t cpu = {.struct_size = sizeof cpu, .backend = GPURT_BACKEND_CPU};

    fake_reset();
    fake_cpu.keep = true;
    CHECK(gpurt_has("cuda"));
    rt = fake_gpurt_open(&cpu);
    CHECK_EQ(gpurt_stream_create(rt, &stream, &err), GPURT_OK);
    CHECK_EQ(gpurt_event_create(rt, &event, &err), GPURT_OK);
    CHECK_EQ(gpurt_event_create(rt, &later, &err), GPURT_OK);
    memory();
    heap_memory();
    copy_and_fill();
    streams();
    events();
    reports();
    CHECK_EQ(gpurt_event_destroy(rt, event), GPURT_OK);
    CHECK_EQ(gpurt_stream_destroy(rt, stream), GPURT_OK);
    CHECK_EQ(fake_alive(), 1);
    CHECK_EQ(gpurt_close(rt, &err), GPURT_OK);
    return 0;
}
