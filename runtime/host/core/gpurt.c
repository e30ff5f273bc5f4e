/* SPDX-License-Identifier: Apache-2.0 */
/* The host API: each call enters the runtime, takes the objects its handles name, checks
 * what needs no device, forwards through the back end's table, and gives all back on the
 * way out. */
#include <gpurt/gpurt.h>

#include "boxwork.h"
#include "guards.h"
#include "launch_check.h"
#include "launchlink.h"
#include "life.h"
#include "memat.h"
#include "ownwait.h"
#include "panicwait.h"
#include "part.h"
#include "refuse.h"
#include "serviceown.h"

#include <string.h>

uint32_t gpurt_version(void)
{
    return GPURT_VERSION;
}

bool gpurt_has(const char *feature)
{
    static const char *const always[] = {"cpu", "schedule", "scope-check"};

    if (!feature)
        return false;
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (strcmp(feature, always[i]) == 0)
            return true;
    return strcmp(feature, "cuda") == 0 && gpurt_choice_has_cuda();
}

/* ---- handles in a call --------------------------------------------------------------- */

/* The default stream has no slot: for the back ends it is NULL. */
static inline bool is_default_stream(gpurt_handle_kind_t kind, uint64_t handle)
{
    return kind == GPURT_HANDLE_STREAM && handle == GPURT_STREAM_DEFAULT;
}

static inline gpurt_status_t take(const gpurt_opened_t *o, gpurt_handle_kind_t kind,
                                  uint64_t handle, void **object, gpurt_error_t *err)
{
    gpurt_handle_class_t of = gpurt_handle_of(o->index, kind);

    *object = NULL;
    if (is_default_stream(kind, handle) ||
        gpurt_handle_take(&gpurt_handles, of, handle, object))
        return GPURT_OK;
    return gpurt_handle_refuse(&gpurt_handles, of, handle, err);
}

static gpurt_status_t destroy(const gpurt_opened_t *o, gpurt_orphan_t orphan)
{
    if (!orphan.object)
        return GPURT_OK;
    if (orphan.kind == GPURT_HANDLE_EVENT)
        return o->ops->event_destroy(o->self, orphan.object);
    return o->ops->stream_destroy(o->self, orphan.object);
}

/* Ends what a successful take began. When the handle was released meanwhile and this
 * call was the last with it, its object goes here; the status of that has no one left to
 * hear it. */
static inline void drop(const gpurt_opened_t *o, uint64_t handle)
{
    if (handle != 0)
        (void)destroy(o, gpurt_handle_drop(&gpurt_handles, handle));
}

static gpurt_status_t enter_with(gpurt_t *rt, gpurt_handle_kind_t kind, uint64_t handle,
                                 const gpurt_opened_t **o, void **object,
                                 gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_life_enter(rt, o, err);

    if (st != GPURT_OK)
        return st;
    st = take(*o, kind, handle, object, err);
    return st == GPURT_OK ? st : gpurt_life_leave(*o, st);
}

static gpurt_status_t leave_with(const gpurt_opened_t *o, uint64_t handle,
                                 gpurt_status_t st)
{
    drop(o, handle);
    return gpurt_life_leave(o, st);
}

/* Gives a new back-end object its handle, or destroys it. */
static gpurt_status_t hand_out(const gpurt_opened_t *o, gpurt_orphan_t made, uint64_t *out,
                               gpurt_error_t *err)
{
    *out = gpurt_handle_create(&gpurt_handles, gpurt_handle_of(o->index, made.kind),
                               made.object);
    if (*out != 0)
        return GPURT_OK;
    (void)destroy(o, made);
    return REFUSE(err, GPURT_E_NOMEM,
                  "%d streams, events, guards and services exist, the limit: destroy some",
                  GPURT_HANDLE_COUNT);
}

static gpurt_status_t release(gpurt_t *rt, gpurt_handle_kind_t kind, uint64_t handle)
{
    const gpurt_opened_t *o;
    gpurt_orphan_t orphan;
    gpurt_status_t st = gpurt_life_enter(rt, &o, NULL);

    if (st != GPURT_OK)
        return st;
    /* Like NULL: what never came to be; and the default stream, which stays. */
    if (handle == 0)
        return gpurt_life_leave(o, GPURT_OK);
    if (!gpurt_handle_release(&gpurt_handles, gpurt_handle_of(o->index, kind), handle,
                              &orphan))
        return gpurt_life_leave(o, GPURT_E_HANDLE);
    return gpurt_life_leave(o, destroy(o, orphan));
}

/* ---- what is open -------------------------------------------------------------------- */

gpurt_status_t gpurt_info(gpurt_t *rt, gpurt_info_t *out)
{
    const gpurt_opened_t *o;
    gpurt_status_t st;

    if (!out)
        return GPURT_E_INVALID;
    memset(out, 0, sizeof *out);
    st = gpurt_life_enter(rt, &o, NULL);
    if (st != GPURT_OK)
        return st;
    *out = o->info;
    return gpurt_life_leave(o, GPURT_OK);
}

gpurt_status_t gpurt_counters(gpurt_t *rt, gpurt_counters_t *out)
{
    const gpurt_opened_t *o;
    gpurt_status_t st;

    if (!out)
        return GPURT_E_INVALID;
    memset(out, 0, sizeof *out);
    st = gpurt_life_enter(rt, &o, NULL);
    if (st != GPURT_OK)
        return st;
    o->ops->counters(o->self, out);
    return gpurt_life_leave(o, GPURT_OK);
}

size_t gpurt_report(gpurt_t *rt, char *text, size_t bytes)
{
    const gpurt_opened_t *o;
    size_t length;

    if (!text)
        bytes = 0;
    if (bytes > 0)
        text[0] = '\0';
    if (gpurt_life_enter(rt, &o, NULL) != GPURT_OK)
        return 0;
    length = o->ops->report(o->self, text, bytes);
    gpurt_life_leave(o, GPURT_OK);
    return length;
}

/* ---- memory -------------------------------------------------------------------------- */

typedef enum memory_kind {
    MEMORY_DEVICE,
    MEMORY_HOST
} memory_kind_t;

static gpurt_status_t memory_create(gpurt_t *rt, memory_kind_t kind, size_t bytes,
                                    void **out, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass the address of a pointer");
    *out = NULL;
    st = gpurt_life_enter(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    if (bytes == 0) /* nothing, found at NULL: an empty array needs no special case */
        return gpurt_life_leave(o, GPURT_OK);
    if (kind == MEMORY_DEVICE)
        return gpurt_life_leave(o, o->ops->mem_create(o->self, bytes, out, err));
    return gpurt_life_leave(o, o->ops->host_create(o->self, bytes, out, err));
}

static gpurt_status_t memory_destroy(gpurt_t *rt, memory_kind_t kind, void *memory)
{
    const gpurt_opened_t *o;
    gpurt_status_t st = gpurt_life_enter(rt, &o, NULL);

    if (st != GPURT_OK)
        return st;
    if (!memory)
        return gpurt_life_leave(o, GPURT_OK);
    if (kind == MEMORY_DEVICE)
        return gpurt_life_leave(o, o->ops->mem_destroy(o->self, memory));
    return gpurt_life_leave(o, o->ops->host_destroy(o->self, memory));
}

gpurt_status_t gpurt_mem_create(gpurt_t *rt, size_t bytes, void **out, gpurt_error_t *err)
{
    return memory_create(rt, MEMORY_DEVICE, bytes, out, err);
}

gpurt_status_t gpurt_mem_create_at(gpurt_t *rt, size_t bytes, void *at, void **out,
                                   gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_status_t st = gpurt_life_enter(rt, &o, err);

    *out = NULL;
    if (st != GPURT_OK)
        return st;
    if (!o->ops->mem_create_at)
        return gpurt_life_leave(o, GPURT_E_UNSUPPORTED);
    return gpurt_life_leave(o, o->ops->mem_create_at(o->self, bytes, at, out, err));
}

gpurt_status_t gpurt_mem_destroy(gpurt_t *rt, void *memory)
{
    return memory_destroy(rt, MEMORY_DEVICE, memory);
}

gpurt_status_t gpurt_host_create(gpurt_t *rt, size_t bytes, void **out, gpurt_error_t *err)
{
    return memory_create(rt, MEMORY_HOST, bytes, out, err);
}

gpurt_status_t gpurt_host_destroy(gpurt_t *rt, void *memory)
{
    return memory_destroy(rt, MEMORY_HOST, memory);
}

gpurt_status_t gpurt_copy(gpurt_t *rt, gpurt_stream_t stream, void *to, const void *from,
                          size_t bytes, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    void *s;
    gpurt_status_t st = enter_with(rt, GPURT_HANDLE_STREAM, stream, &o, &s, err);

    if (st != GPURT_OK)
        return st;
    if (bytes > 0 && (!to || !from))
        st = REFUSE(err, GPURT_E_INVALID, "copy of %zu bytes: %s is NULL", bytes,
                    to ? "from" : "to");
    else if (bytes > 0)
        st = o->ops->copy(o->self, s, to, from, bytes, err);
    return leave_with(o, stream, st);
}

gpurt_status_t gpurt_fill(gpurt_t *rt, gpurt_stream_t stream, void *memory, uint8_t byte,
                          size_t bytes, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    void *s;
    gpurt_status_t st = enter_with(rt, GPURT_HANDLE_STREAM, stream, &o, &s, err);

    if (st != GPURT_OK)
        return st;
    if (bytes > 0 && !memory)
        st = REFUSE(err, GPURT_E_INVALID, "fill of %zu bytes: memory is NULL", bytes);
    else if (bytes > 0)
        st = o->ops->fill(o->self, s, memory, byte, bytes, err);
    return leave_with(o, stream, st);
}

/* ---- launches ------------------------------------------------------------------------ */

/* A guarded kernel without a guard. */
static GPURT_NOINLINE gpurt_status_t launch_alone(const gpurt_opened_t *o, void *s,
                                                  const gpurt_launch_t *launch,
                                                  const gpurt_kernel_t *kernel,
                                                  const void *args, gpurt_error_t *err)
{
    unsigned char whole[GPURT_MAX_ARGS_BYTES] GPURT_ALIGN(64);
    gpurt_ticket_t none = {0};
    size_t bytes = gpurt_guard_wrap(kernel, none, args, whole);

    return o->ops->launch(o->self, s, launch, kernel, whole, bytes, err);
}

gpurt_status_t gpurt_launch_kernel(gpurt_t *rt, const gpurt_launch_t *launch,
                                   const gpurt_kernel_t *kernel, const void *args,
                                   size_t args_bytes, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_launch_t checked;
    void *s;
    gpurt_status_t st = gpurt_life_enter(rt, &o, err);

    if (GPURT_UNLIKELY(st != GPURT_OK))
        return st;
    st = gpurt_launch_check_shape(&o->info, launch, &checked, err);
    if (GPURT_LIKELY(st == GPURT_OK))
        st = gpurt_launch_check_kernel(&o->info, kernel, err);
    if (GPURT_LIKELY(st == GPURT_OK))
        st = gpurt_launch_check_args(kernel, args, args_bytes, err);
    if (GPURT_LIKELY(st == GPURT_OK))
        st = take(o, GPURT_HANDLE_STREAM, checked.stream, &s, err);
    if (GPURT_UNLIKELY(st != GPURT_OK))
        return gpurt_life_leave(o, st);
    gpurt_launchlink_tell(o, &checked, kernel, __builtin_return_address(0));
    gpurt_boxwork_begin(o->box);
    gpurt_panicwait_launch(o, checked.stream);
    if (GPURT_LIKELY(!kernel->args_offset))
        st = o->ops->launch(o->self, s, &checked, kernel, args, args_bytes, err);
    else
        st = launch_alone(o, s, &checked, kernel, args, err);
    return leave_with(o, checked.stream, st);
}

gpurt_status_t gpurt_occupancy(gpurt_t *rt, const gpurt_launch_t *launch,
                               const gpurt_kernel_t *kernel, uint32_t *blocks,
                               gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_launch_t checked;
    gpurt_status_t st;

    if (!blocks)
        return REFUSE(err, GPURT_E_INVALID, "blocks is NULL: the answer needs a place");
    *blocks = 0;
    st = gpurt_life_enter(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_launch_check_block(&o->info, launch, &checked, err);
    if (st == GPURT_OK)
        st = gpurt_launch_check_kernel(&o->info, kernel, err);
    if (st == GPURT_OK)
        st = o->ops->occupancy(o->self, &checked, kernel, blocks, err);
    return gpurt_life_leave(o, st);
}

/* ---- streams ------------------------------------------------------------------------- */

gpurt_status_t gpurt_stream_create(gpurt_t *rt, gpurt_stream_t *out, gpurt_error_t *err)
{
    gpurt_orphan_t made = {.kind = GPURT_HANDLE_STREAM};
    const gpurt_opened_t *o;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID,
                      "out is NULL: pass the address of a gpurt_stream_t");
    *out = 0;
    st = gpurt_life_enter(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    st = o->ops->stream_create(o->self, &made.object, err);
    if (st == GPURT_OK)
        st = hand_out(o, made, out, err);
    if (st == GPURT_OK)
        gpurt_panicwait_fresh(*out);
    return gpurt_life_leave(o, st);
}

gpurt_status_t gpurt_stream_destroy(gpurt_t *rt, gpurt_stream_t stream)
{
    return release(rt, GPURT_HANDLE_STREAM, stream);
}

gpurt_status_t gpurt_own_stream_sync(gpurt_t *rt, gpurt_stream_t stream, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    void *s;
    gpurt_status_t st = enter_with(rt, GPURT_HANDLE_STREAM, stream, &o, &s, err);

    if (st != GPURT_OK)
        return st;
    st = o->ops->stream_sync(o->self, s, err);
    if (GPURT_UNLIKELY(st != GPURT_OK))
        gpurt_guards_hear(o, stream, st);
    return leave_with(o, stream, st);
}

gpurt_status_t gpurt_stream_sync(gpurt_t *rt, gpurt_stream_t stream, gpurt_error_t *err)
{
    gpurt_panicwait_t launched;
    const gpurt_opened_t *o;
    void *s;
    gpurt_status_t st = enter_with(rt, GPURT_HANDLE_STREAM, stream, &o, &s, err);

    if (st != GPURT_OK)
        return st;
    launched = gpurt_panicwait_take(o, stream);
    st = o->ops->stream_sync(o->self, s, err);
    if (GPURT_LIKELY(st == GPURT_OK))
        st = gpurt_panicwait_hear(o, launched, err);
    else
        gpurt_guards_hear(o, stream, st);
    return leave_with(o, stream, st);
}

gpurt_status_t gpurt_stream_query(gpurt_t *rt, gpurt_stream_t stream, gpurt_error_t *err)
{
    gpurt_panicwait_t launched;
    const gpurt_opened_t *o;
    void *s;
    gpurt_status_t st = enter_with(rt, GPURT_HANDLE_STREAM, stream, &o, &s, err);

    if (st != GPURT_OK)
        return st;
    launched = gpurt_panicwait_take(o, stream);
    st = o->ops->stream_query(o->self, s, err);
    if (st == GPURT_OK)
        st = gpurt_panicwait_hear(o, launched, err);
    else if (st == GPURT_E_NOT_READY)
        gpurt_panicwait_return(o, stream, launched);
    else
        gpurt_guards_hear(o, stream, st);
    return leave_with(o, stream, st);
}

/* Each stream that there is, and what is in none of ours: the device as a whole would wait for
 * services, too. Returns: the first failure. */
static gpurt_status_t streams_sync(const gpurt_opened_t *o, gpurt_error_t *err)
{
    gpurt_status_t first = o->ops->stream_sync(o->self, NULL, err), st;
    gpurt_handle_class_t of = gpurt_handle_of(o->index, GPURT_HANDLE_STREAM);
    uint32_t cursor = 0;
    uint64_t handle;
    void *s;

    while ((handle = gpurt_handle_next(&gpurt_handles, of, &cursor, &s)) != 0) {
        st = o->ops->stream_sync(o->self, s, first == GPURT_OK ? err : NULL);
        first = first == GPURT_OK ? st : first;
        drop(o, handle);
    }
    if (first == GPURT_OK && o->ops->strays_sync)
        first = o->ops->strays_sync(o->self, err);
    return first;
}

static gpurt_status_t all_sync(gpurt_t *rt, bool panics, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_status_t st = gpurt_life_enter(rt, &o, err);
    uint32_t work;
    bool serves;

    if (st != GPURT_OK)
        return st;
    work = gpurt_boxwork_count(o->box);
    serves = gpurt_services_run(o);
    st = serves && !o->ops->sync_skips_services ? streams_sync(o, err)
                                                : o->ops->sync(o->self, err);
    if (st != GPURT_OK)
        gpurt_guards_hear_all(o, st);
    else if (!serves) /* a service may log at any time */
        gpurt_boxwork_ended(o->box, work);
    if (st == GPURT_OK)
        st = gpurt_guards_settle(o, true, err);
    if (st == GPURT_OK && panics)
        st = gpurt_panicwait_hear_all(o, err);
    return gpurt_life_leave(o, st);
}

gpurt_status_t gpurt_sync(gpurt_t *rt, gpurt_error_t *err)
{
    return all_sync(rt, true, err);
}

gpurt_status_t gpurt_own_sync(gpurt_t *rt, gpurt_error_t *err)
{
    return all_sync(rt, false, err);
}

/* ---- events -------------------------------------------------------------------------- */

gpurt_status_t gpurt_event_create(gpurt_t *rt, gpurt_event_t *out, gpurt_error_t *err)
{
    gpurt_orphan_t made = {.kind = GPURT_HANDLE_EVENT};
    const gpurt_opened_t *o;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID,
                      "out is NULL: pass the address of a gpurt_event_t");
    *out = 0;
    st = gpurt_life_enter(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    st = o->ops->event_create(o->self, &made.object, err);
    if (st == GPURT_OK)
        st = hand_out(o, made, out, err);
    return gpurt_life_leave(o, st);
}

gpurt_status_t gpurt_event_destroy(gpurt_t *rt, gpurt_event_t event)
{
    return release(rt, GPURT_HANDLE_EVENT, event);
}

/* Recording and waiting differ in the function of the table only. */
static gpurt_status_t event_in_stream(gpurt_t *rt, gpurt_event_t event,
                                      gpurt_stream_t stream, bool record)
{
    const gpurt_opened_t *o;
    void *e, *s;
    gpurt_status_t st = enter_with(rt, GPURT_HANDLE_EVENT, event, &o, &e, NULL);

    if (st != GPURT_OK)
        return st;
    st = take(o, GPURT_HANDLE_STREAM, stream, &s, NULL);
    if (st == GPURT_OK) {
        st = record ? o->ops->event_record(o->self, e, s)
                    : o->ops->event_wait(o->self, e, s);
        drop(o, stream);
    }
    return leave_with(o, event, st);
}

gpurt_status_t gpurt_event_record(gpurt_t *rt, gpurt_event_t event, gpurt_stream_t stream)
{
    return event_in_stream(rt, event, stream, true);
}

gpurt_status_t gpurt_event_wait(gpurt_t *rt, gpurt_event_t event, gpurt_stream_t stream)
{
    return event_in_stream(rt, event, stream, false);
}

gpurt_status_t gpurt_event_sync(gpurt_t *rt, gpurt_event_t event, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    void *e;
    gpurt_status_t st = enter_with(rt, GPURT_HANDLE_EVENT, event, &o, &e, err);

    if (st != GPURT_OK)
        return st;
    return leave_with(o, event, o->ops->event_sync(o->self, e, err));
}

gpurt_status_t gpurt_event_query(gpurt_t *rt, gpurt_event_t event, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    void *e;
    gpurt_status_t st = enter_with(rt, GPURT_HANDLE_EVENT, event, &o, &e, err);

    if (st != GPURT_OK)
        return st;
    return leave_with(o, event, o->ops->event_query(o->self, e, err));
}

gpurt_status_t gpurt_event_elapsed_ns(gpurt_t *rt, gpurt_event_t from, gpurt_event_t to,
                                      uint64_t *ns, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    void *begin, *end;
    gpurt_status_t st;

    if (!ns)
        return REFUSE(err, GPURT_E_INVALID, "ns is NULL: the answer needs a place");
    *ns = 0;
    st = enter_with(rt, GPURT_HANDLE_EVENT, from, &o, &begin, err);
    if (st != GPURT_OK)
        return st;
    st = take(o, GPURT_HANDLE_EVENT, to, &end, err);
    if (st == GPURT_OK) {
        st = o->ops->event_elapsed_ns(o->self, begin, end, ns, err);
        drop(o, to);
    }
    return leave_with(o, from, st);
}

/* ---- streams and events as a part ----------------------------------------------------- */

/* Events first, because one may be recorded in a stream. */
static gpurt_status_t streams_close(gpurt_opened_t *o, gpurt_status_t status,
                                    gpurt_error_t *err)
{
    uint32_t cursor = 0;
    void *object;

    (void)status;
    (void)err;
    while ((object = gpurt_handle_sweep(
                &gpurt_handles, gpurt_handle_of(o->index, GPURT_HANDLE_EVENT), &cursor)))
        o->ops->event_destroy(o->self, object);
    cursor = 0;
    while ((object = gpurt_handle_sweep(
                &gpurt_handles, gpurt_handle_of(o->index, GPURT_HANDLE_STREAM), &cursor)))
        o->ops->stream_destroy(o->self, object);
    return GPURT_OK;
}

static void handles_forked(void)
{
    gpurt_handles_forked(&gpurt_handles);
}

const gpurt_part_t gpurt_part_streams = {
    .name = "streams", .close = streams_close, .forked_all = handles_forked};
