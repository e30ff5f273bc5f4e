/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_backend.h"

#include "../check.h"

#include <gpurt/atomic.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A place is used again only after this many others. */
enum {
    OBJECT_COUNT = 1 << 16
};
#define BODY 0x600df00du

static fake_object_t objects[OBJECT_COUNT];
static uint32_t xmade, xalive; /* written by: any thread */

fake_t fake_cpu, fake_cuda;

static void reset_one(fake_t *f, const char *name, uint32_t max_grid_yz)
{
    memset(f, 0, sizeof *f);
    snprintf(f->info.name, sizeof f->info.name, "%s", name);
    f->info.sm_count = 4;
    f->info.max_block_threads = 1024;
    f->info.max_block = (gpurt_dim3_t){1024, 1024, 64};
    f->info.max_grid = (gpurt_dim3_t){0x7fffffff, max_grid_yz, max_grid_yz};
    f->info.max_cluster = 8;
    f->info.max_shared = 232448;
}

void fake_reset(void)
{
    reset_one(&fake_cpu, "stand-in CPU", 0xffffffff);
    reset_one(&fake_cuda, "NVIDIA Stand-in", 65535);
    unsetenv("GPURT_BACKEND");
}

uint32_t fake_calls(const fake_t *f, fake_op_t op)
{
    return gpurt_load_relaxed_sys_u32(&f->xcalls[op]); /* relaxed: a count */
}

uint32_t fake_calls_all(const fake_t *f)
{
    uint32_t sum = 0;

    for (int op = 0; op < FAKE_OP_COUNT; op++)
        sum += fake_calls(f, (fake_op_t)op);
    return sum;
}

uint32_t fake_alive(void)
{
    return gpurt_load_relaxed_sys_u32(&xalive); /* relaxed: a count */
}

gpurt_t *fake_gpurt_open(const gpurt_options_t *options)
{
    gpurt_error_t err = {0};
    gpurt_t *rt;
    gpurt_status_t st = gpurt_open(options, &rt, &err);

    CHECK_MSG(st == GPURT_OK && rt, "gpurt_open: %s: %s", gpurt_status_name(st), err.text);
    return rt;
}

/* ---- what every call does ------------------------------------------------------------ */
static gpurt_status_t called(fake_t *f, fake_op_t op, gpurt_error_t *err)
{
    if (op != FAKE_PROBE && op != FAKE_OPEN)
        CHECK_MSG(f->is_open, "back end called while it is not open: call %d", op);
    gpurt_add_relaxed_sys_u32(&f->xcalls[op], 1); /* relaxed: a count */
    if (f->inside)
        f->inside(op);
    if (op != FAKE_PROBE && op != FAKE_OPEN)
        CHECK_MSG(f->is_open, "back end closed during call %d", op);
    if (f->answer[op] != GPURT_OK)
        gpurt_fail(err, f->answer[op], GPURT_FROM_GPURT, 0, "%s",
                   f->text ? f->text : "stand-in");
    return f->answer[op];
}

/* A stream of NULL is the default one. */
static void object_check(const void *object, fake_op_t made_by)
{
    const fake_object_t *o = (const fake_object_t *)object;

    if (!object && made_by == FAKE_STREAM_CREATE)
        return;
    CHECK(o >= objects && o < objects + OBJECT_COUNT);
    CHECK_EQ(o->made_by, made_by);
    CHECK_MSG(gpurt_load_relaxed_sys_u32(&o->xalive) == 1 && o->body == BODY,
              "object %d was destroyed while in use", (int)(o - objects));
}

static gpurt_status_t used(fake_t *f, fake_op_t op, const void *object, fake_op_t made_by,
                           gpurt_error_t *err)
{
    gpurt_status_t st;

    object_check(object, made_by);
    st = called(f, op, err);
    object_check(object, made_by); /* whatever happened in between */
    return st;
}

static gpurt_status_t made(fake_t *f, fake_op_t op, void **out, gpurt_error_t *err)
{
    gpurt_status_t st = called(f, op, err);
    fake_object_t *o;

    if (st != GPURT_OK)
        return st;
    do /* one may live while all the others come and go */
        o = &objects[gpurt_add_relaxed_sys_u32(&xmade, 1) % OBJECT_COUNT];
    while (gpurt_xchg_acquire_sys_u32(&o->xalive, 1) != 0);
    o->made_by = op;
    o->body = BODY;
    gpurt_add_relaxed_sys_u32(&xalive, 1); /* relaxed: a count */
    *out = o;
    return GPURT_OK;
}

static gpurt_status_t destroyed(fake_t *f, fake_op_t op, void *object, fake_op_t made_by)
{
    fake_object_t *o = (fake_object_t *)object;
    gpurt_status_t st = used(f, op, object, made_by, NULL);

    CHECK(o);
    o->body = 0;
    CHECK_EQ(gpurt_xchg_release_sys_u32(&o->xalive, 0), 1);
    gpurt_sub_relaxed_sys_u32(&xalive, 1); /* relaxed: a count */
    return st;
}

/* ---- the table ----------------------------------------------------------------------- */
static gpurt_status_t open_one(fake_t *f, const gpurt_options_t *options,
                               gpurt_info_t *info, void **out, gpurt_error_t *err)
{
    gpurt_status_t st = called(f, FAKE_OPEN, err);

    f->options = *options;
    if (st != GPURT_OK)
        return st;
    CHECK(!fake_cpu.is_open && !fake_cuda.is_open);
    f->is_open = true;
    *info = f->info;
    *out = f;
    return GPURT_OK;
}

static gpurt_status_t op_close(void *self, gpurt_error_t *err)
{
    fake_t *f = (fake_t *)self;
    gpurt_status_t st = called(f, FAKE_CLOSE, err);

    CHECK_EQ(fake_alive(), 0);
    f->is_open = false;
    return st;
}

static void op_counters(void *self, gpurt_counters_t *out)
{
    called((fake_t *)self, FAKE_COUNTERS, NULL);
    out->launches = 17;
}

static size_t op_report(void *self, char *text, size_t bytes)
{
    called((fake_t *)self, FAKE_REPORT, NULL);
    return (size_t)snprintf(text, bytes, "report");
}

static gpurt_status_t op_memory_create(void *self, size_t bytes, void **out, fake_op_t op,
                                       gpurt_error_t *err)
{
    fake_t *f = (fake_t *)self;
    gpurt_status_t st = called(f, op, err);

    if (f->keep)
        f->bytes = bytes;
    if (st == GPURT_OK)
        *out = f;
    return st;
}

static gpurt_status_t op_mem_create(void *self, size_t bytes, void **out,
                                    gpurt_error_t *err)
{
    return op_memory_create(self, bytes, out, FAKE_MEM_CREATE, err);
}

static gpurt_status_t op_host_create(void *self, size_t bytes, void **out,
                                     gpurt_error_t *err)
{
    return op_memory_create(self, bytes, out, FAKE_HOST_CREATE, err);
}

static gpurt_status_t op_mem_destroy(void *self, void *memory)
{
    CHECK(memory);
    return called((fake_t *)self, FAKE_MEM_DESTROY, NULL);
}

static gpurt_status_t op_host_destroy(void *self, void *memory)
{
    CHECK(memory);
    return called((fake_t *)self, FAKE_HOST_DESTROY, NULL);
}

static gpurt_status_t op_copy(void *self, void *stream, void *to, const void *from,
                              size_t bytes, gpurt_error_t *err)
{
    fake_t *f = (fake_t *)self;

    if (f->keep) {
        f->stream = stream;
        f->to = to;
        f->from = from;
        f->bytes = bytes;
    }
    return used(f, FAKE_COPY, stream, FAKE_STREAM_CREATE, err);
}

static gpurt_status_t op_fill(void *self, void *stream, void *memory, uint8_t byte,
                              size_t bytes, gpurt_error_t *err)
{
    fake_t *f = (fake_t *)self;

    if (f->keep) {
        f->stream = stream;
        f->to = memory;
        f->byte = byte;
        f->bytes = bytes;
    }
    return used(f, FAKE_FILL, stream, FAKE_STREAM_CREATE, err);
}

static gpurt_status_t op_launch(void *self, void *stream, const gpurt_launch_t *launch,
                                const gpurt_kernel_t *kernel, const void *args,
                                size_t args_bytes, gpurt_error_t *err)
{
    fake_t *f = (fake_t *)self;

    if (f->keep) {
        f->stream = stream;
        f->launch = *launch;
        f->kernel = kernel;
        f->args = args;
        f->bytes = args_bytes;
    }
    return used(f, FAKE_LAUNCH, stream, FAKE_STREAM_CREATE, err);
}

static gpurt_status_t op_occupancy(void *self, const gpurt_launch_t *launch,
                                   const gpurt_kernel_t *kernel, uint32_t *blocks,
                                   gpurt_error_t *err)
{
    fake_t *f = (fake_t *)self;

    if (f->keep) {
        f->launch = *launch;
        f->kernel = kernel;
    }
    *blocks = 99;
    return called(f, FAKE_OCCUPANCY, err);
}

static gpurt_status_t op_stream_create(void *self, void **out, gpurt_error_t *err)
{
    return made((fake_t *)self, FAKE_STREAM_CREATE, out, err);
}

static gpurt_status_t op_stream_destroy(void *self, void *stream)
{
    return destroyed((fake_t *)self, FAKE_STREAM_DESTROY, stream, FAKE_STREAM_CREATE);
}

static gpurt_status_t op_stream_sync(void *self, void *stream, gpurt_error_t *err)
{
    return used((fake_t *)self, FAKE_STREAM_SYNC, stream, FAKE_STREAM_CREATE, err);
}

static gpurt_status_t op_stream_query(void *self, void *stream, gpurt_error_t *err)
{
    return used((fake_t *)self, FAKE_STREAM_QUERY, stream, FAKE_STREAM_CREATE, err);
}

static gpurt_status_t op_sync(void *self, gpurt_error_t *err)
{
    return called((fake_t *)self, FAKE_SYNC, err);
}

static gpurt_status_t op_event_create(void *self, void **out, gpurt_error_t *err)
{
    return made((fake_t *)self, FAKE_EVENT_CREATE, out, err);
}

static gpurt_status_t op_event_destroy(void *self, void *event)
{
    return destroyed((fake_t *)self, FAKE_EVENT_DESTROY, event, FAKE_EVENT_CREATE);
}

static gpurt_status_t event_in_stream(fake_t *f, fake_op_t op, void *event, void *stream)
{
    if (f->keep) {
        f->other = event;
        f->stream = stream;
    }
    object_check(stream, FAKE_STREAM_CREATE);
    return used(f, op, event, FAKE_EVENT_CREATE, NULL);
}

static gpurt_status_t op_event_record(void *self, void *event, void *stream)
{
    return event_in_stream((fake_t *)self, FAKE_EVENT_RECORD, event, stream);
}

static gpurt_status_t op_event_wait(void *self, void *event, void *stream)
{
    return event_in_stream((fake_t *)self, FAKE_EVENT_WAIT, event, stream);
}

static gpurt_status_t op_event_sync(void *self, void *event, gpurt_error_t *err)
{
    return used((fake_t *)self, FAKE_EVENT_SYNC, event, FAKE_EVENT_CREATE, err);
}

static gpurt_status_t op_event_query(void *self, void *event, gpurt_error_t *err)
{
    return used((fake_t *)self, FAKE_EVENT_QUERY, event, FAKE_EVENT_CREATE, err);
}

static gpurt_status_t op_event_elapsed(void *self, void *from, void *to, uint64_t *ns,
                                       gpurt_error_t *err)
{
    fake_t *f = (fake_t *)self;

    if (f->keep) {
        f->stream = from;
        f->other = to;
    }
    *ns = 5000;
    object_check(to, FAKE_EVENT_CREATE);
    return used(f, FAKE_EVENT_ELAPSED, from, FAKE_EVENT_CREATE, err);
}

#define OPS_AFTER_OPEN                                                               \
    .close = op_close, .counters = op_counters, .report = op_report,                 \
    .mem_create = op_mem_create, .mem_destroy = op_mem_destroy,                      \
    .host_create = op_host_create, .host_destroy = op_host_destroy, .copy = op_copy, \
    .fill = op_fill, .launch = op_launch, .occupancy = op_occupancy,                 \
    .stream_create = op_stream_create, .stream_destroy = op_stream_destroy,          \
    .stream_sync = op_stream_sync, .stream_query = op_stream_query, .sync = op_sync, \
    .event_create = op_event_create, .event_destroy = op_event_destroy,              \
    .event_record = op_event_record, .event_wait = op_event_wait,                    \
    .event_sync = op_event_sync, .event_query = op_event_query,                      \
    .event_elapsed_ns = op_event_elapsed

static gpurt_status_t cpu_probe(const gpurt_options_t *options, gpurt_error_t *err)
{
    (void)options;
    return called(&fake_cpu, FAKE_PROBE, err);
}

static gpurt_status_t cpu_open(const gpurt_options_t *options, uint32_t index,
                               gpurt_info_t *info, void **out, gpurt_error_t *err)
{
    (void)index;
    return open_one(&fake_cpu, options, info, out, err);
}

const gpurt_backend_ops_t gpurt_backend_simt = {
    .kind = GPURT_BACKEND_CPU, .probe = cpu_probe, .open = cpu_open, OPS_AFTER_OPEN};

#ifndef FAKE_WITHOUT_CUDA
static gpurt_status_t cuda_probe(const gpurt_options_t *options, gpurt_error_t *err)
{
    (void)options;
    return called(&fake_cuda, FAKE_PROBE, err);
}

static gpurt_status_t cuda_open(const gpurt_options_t *options, uint32_t index,
                                gpurt_info_t *info, void **out, gpurt_error_t *err)
{
    (void)index;
    return open_one(&fake_cuda, options, info, out, err);
}

const gpurt_backend_ops_t gpurt_backend_cuda = {
    .kind = GPURT_BACKEND_CUDA, .probe = cuda_probe, .open = cuda_open, OPS_AFTER_OPEN};
#endif
