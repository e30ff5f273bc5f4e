/* SPDX-License-Identifier: Apache-2.0 */
/* One service: its launch, its commands, its end. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "serviceown.h"

#include "boxwork.h"
#include "guards.h"
#include "hostpoll.h"
#include "injection.h"
#include "launch_check.h"
#include "launchlink.h"
#include "life.h"
#include "optionsize.h"
#include "ownword.h"
#include "panicwait.h"
#include "plural.h"
#include "refuse.h"
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

GPURT_CLASS(service);

enum {
    NS_A_MS = 1000000
};

/* ---- what its blocks say --------------------------------------------------------------- */

gpurt_service_count_t gpurt_service_count(const gpurt_service_own_t *s)
{
    gpurt_service_count_t c = {.first = s->blocks};

    for (uint32_t i = 0; i < s->blocks; i++) {
        uint32_t answer = gpurt_ownword_load(s->opened, &s->words->xblocks[i]);

        c.coming += answer == GPURT_SERVICE_COMING;
        c.left += answer == GPURT_SERVICE_LEFT;
        c.resting += answer & GPURT_SERVICE_REST && answer != GPURT_SERVICE_LEFT;
        if (answer != GPURT_SERVICE_LEFT && c.first == s->blocks)
            c.first = i;
    }
    c.running = s->blocks - c.coming - c.resting - c.left;
    return c;
}

/* Under the service's lock, as the next. */
static void state_set(gpurt_service_own_t *s, gpurt_service_state_t state)
{
    gpurt_store_relaxed_sys_u32(&s->xstate, state); /* relaxed: for reports */
}

gpurt_service_state_t gpurt_service_state(const gpurt_service_own_t *s,
                                          const gpurt_service_count_t *count)
{
    uint32_t state = gpurt_load_relaxed_sys_u32(&s->xstate); /* relaxed: for reports */

    return state == GPURT_SERVICE_IS_RUNNING && count->coming
               ? GPURT_SERVICE_IS_STARTING
               : (gpurt_service_state_t)state;
}

bool gpurt_service_has_ended(gpurt_service_own_t *s)
{
    const gpurt_opened_t *o = s->opened;
    gpurt_status_t st;
    bool ended;

    pthread_mutex_lock(&s->lock);
    if (!s->ended) {
        st = o->ops->stream_query(o->self, s->stream, &s->error);
        s->ended = st != GPURT_E_NOT_READY;
        if (st == GPURT_OK)
            st = gpurt_panicwait_hear(o, gpurt_panicwait_take(o, s->handle), &s->error);
        s->status = s->ended ? st : GPURT_OK;
        if (s->ended)
            state_set(s, GPURT_SERVICE_IS_ENDED);
    }
    ended = s->ended;
    pthread_mutex_unlock(&s->lock);
    return ended;
}

/* ---- life ------------------------------------------------------------------------------ */

/* Accepts one that is half built. */
static void service_free(const gpurt_opened_t *o, gpurt_service_own_t *s)
{
    if (!s)
        return;
    if (s->stream) {
        (void)o->ops->stream_destroy(o->self, s->stream);
        if (o->ops->service_end)
            o->ops->service_end(o->self);
    }
    gpurt_service_words_give(o, s->words);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void service_drop(const gpurt_opened_t *o, gpurt_service_t handle)
{
    service_free(o, gpurt_handle_drop(&gpurt_handles, handle).object);
}

gpurt_service_own_t *gpurt_service_hold(const gpurt_opened_t *o, gpurt_service_t handle)
{
    gpurt_handle_class_t of = gpurt_handle_of(o->index, GPURT_HANDLE_SERVICE);
    void *object;

    return gpurt_handle_take(&gpurt_handles, of, handle, &object) ? object : NULL;
}

void gpurt_service_let(const gpurt_opened_t *o, const gpurt_service_own_t *s)
{
    service_drop(o, s->handle);
}

/* Returns: with *s NULL when it is refused. */
static gpurt_status_t service_take(gpurt_t *rt, gpurt_service_t handle,
                                   const gpurt_opened_t **o, gpurt_service_own_t **s,
                                   gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_life_enter(rt, o, err);
    gpurt_handle_class_t of;

    *s = NULL;
    if (st != GPURT_OK)
        return st;
    *s = gpurt_service_hold(*o, handle);
    if (*s)
        return GPURT_OK;
    of = gpurt_handle_of((*o)->index, GPURT_HANDLE_SERVICE);
    return gpurt_life_leave(*o, gpurt_handle_refuse(&gpurt_handles, of, handle, err));
}

static gpurt_status_t service_leave(const gpurt_opened_t *o, gpurt_service_t handle,
                                    gpurt_status_t st)
{
    service_drop(o, handle);
    return gpurt_life_leave(o, st);
}

/* Calls of CUDA wait for it, which the collector tells. */
static void serve_tell(const gpurt_opened_t *o, const gpurt_service_own_t *s, bool begins)
{
    if (o->info.backend == GPURT_BACKEND_CUDA)
        gpurt_injection_serve((uint32_t)o->info.device, s->name, begins);
}

/* It has ended: nobody finds it any more. Whoever is in a call with it frees it. */
static void service_release(const gpurt_opened_t *o, gpurt_service_own_t *s)
{
    gpurt_orphan_t orphan;

    gpurt_service_book_strike(o, s);
    gpurt_watch_end(s->rt, &gpurt_class_service, s->id);
    if (gpurt_handle_release(&gpurt_handles,
                             gpurt_handle_of(o->index, GPURT_HANDLE_SERVICE), s->handle,
                             &orphan))
        service_free(o, orphan.object);
}

/* ---- launches -------------------------------------------------------------------------- */

typedef struct order {
    gpurt_t *rt;
    const void *from; /* the caller's arguments */
    size_t port_offset;
    const void *caller; /* where the call that launches returns to */
    gpurt_service_options_t options;
    gpurt_launch_t launch;
    const gpurt_kernel_t *kernel;
    uint32_t capacity; /* blocks of that shape that fit on the device */
    size_t args_bytes;
    unsigned char args[GPURT_MAX_ARGS_BYTES] GPURT_ALIGN(64);
} order_t;

static gpurt_status_t options_read(const gpurt_service_options_t *given,
                                   gpurt_service_options_t *out, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_options_copy(out, sizeof *out, given, "options", err);

    if (st != GPURT_OK)
        return st;
    if (!out->stop_ms)
        out->stop_ms = GPURT_SERVICE_STOP_MS;
    if (out->heap_count > GPURT_SERVICE_HEAPS)
        return REFUSE(err, GPURT_E_INVALID, "service options: %u heaps, at most %d",
                      out->heap_count, GPURT_SERVICE_HEAPS);
    for (uint32_t i = 0; i < out->heap_count; i++)
        if (!out->heaps || !out->heaps[i])
            return REFUSE(err, GPURT_E_INVALID, "service options: heaps[%u] is NULL", i);
    return GPURT_OK;
}

static gpurt_status_t order_check(const gpurt_opened_t *o, const gpurt_launch_t *launch,
                                  order_t *w, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_launch_check_shape(&o->info, launch, &w->launch, err);
    uint64_t blocks;

    if (st == GPURT_OK)
        st = gpurt_launch_check_kernel(&o->info, w->kernel, err);
    if (st == GPURT_OK)
        st = gpurt_launch_check_args(w->kernel, w->from, w->args_bytes, err);
    if (st != GPURT_OK)
        return st;
    w->launch.stream = 0; /* its own */
    blocks = (uint64_t)w->launch.grid.x * w->launch.grid.y * w->launch.grid.z;
    if (blocks > GPURT_SERVICE_BLOCKS)
        return REFUSE(err, GPURT_E_GRID, "a service of %llu blocks: it may have %d",
                      (unsigned long long)blocks, GPURT_SERVICE_BLOCKS);
    return o->ops->occupancy(o->self, &w->launch, w->kernel, &w->capacity, err);
}

/* The caller's arguments with the port filled in; of a guarded kernel, without a guard. */
static gpurt_status_t args_fill(order_t *w, const gpurt_service_own_t *s,
                                gpurt_error_t *err)
{
    gpurt_service_port_t port = {s->words};
    unsigned char own[GPURT_MAX_ARGS_BYTES];
    gpurt_ticket_t none = {0};

    if (w->port_offset + sizeof port > w->args_bytes)
        return REFUSE(err, GPURT_E_ARGS,
                      "service %s: a port at byte %zu is not within %zu byte%s of "
                      "arguments",
                      s->name, w->port_offset, w->args_bytes,
                      gpurt_plural(w->args_bytes, "s"));
    memcpy(own, w->from, w->args_bytes);
    memcpy(own + w->port_offset, &port, sizeof port);
    if (w->kernel->args_offset)
        w->args_bytes = gpurt_guard_wrap(w->kernel, none, own, w->args);
    else
        memcpy(w->args, own, w->args_bytes);
    return GPURT_OK;
}

static uint32_t xlast; /* service's number; written by: who launches */

static void service_describe(gpurt_service_own_t *s, const gpurt_opened_t *o,
                             const order_t *w)
{
    const char *name = w->options.name;

    s->rt = w->rt;
    s->opened = o;
    s->id = gpurt_add_relaxed_sys_u32(&xlast, 1) + 1; /* relaxed: only to differ */
    s->kernel = w->kernel->name;
    snprintf(s->name, sizeof s->name, "%s", name ? name : s->kernel);
    s->blocks = w->launch.grid.x * w->launch.grid.y * w->launch.grid.z;
    if (w->capacity)
        s->share_percent = (uint32_t)((uint64_t)s->blocks * 100 / w->capacity);
    s->stop_ms = w->options.stop_ms;
    s->heap_count = w->options.heap_count;
    for (uint32_t i = 0; i < s->heap_count; i++)
        s->heaps[i] = w->options.heaps[i]->id;
    s->started_ns = gpurt_real_ns();
    state_set(s, GPURT_SERVICE_IS_RUNNING);
}

static gpurt_status_t service_make(const gpurt_opened_t *o, const order_t *w,
                                   gpurt_service_own_t **out, gpurt_error_t *err)
{
    gpurt_service_own_t *s = calloc(1, sizeof *s);
    gpurt_status_t st;

    *out = NULL;
    if (!s)
        return REFUSE(err, GPURT_E_NOMEM, "no memory for a service");
    pthread_mutex_init(&s->lock, NULL);
    service_describe(s, o, w);
    st = gpurt_service_words_take(o, &s->words, err);
    if (st == GPURT_OK)
        st = o->ops->stream_create(o->self, &s->stream, err);
    if (st != GPURT_OK) {
        service_free(o, s);
        return st;
    }
    if (o->ops->service_begin)
        o->ops->service_begin(o->self, s->stream);
    *out = s;
    return GPURT_OK;
}

static gpurt_status_t service_begin(const gpurt_opened_t *o, gpurt_service_own_t *s,
                                    const order_t *w, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_service_book_open(o, s, w->capacity, err);

    if (st != GPURT_OK)
        return st;
    gpurt_panicwait_fresh(s->handle);
    gpurt_launchlink_tell(o, &w->launch, w->kernel, w->caller);
    gpurt_boxwork_begin(o->box);
    gpurt_panicwait_launch(o, s->handle);
    st = o->ops->launch(o->self, s->stream, &w->launch, w->kernel, w->args, w->args_bytes,
                        err);
    gpurt_service_book_close(o, s, w->capacity, st == GPURT_OK);
    return st;
}

/* It gets its handle, and is in a call with it until service_drop. */
static gpurt_status_t handle_give(const gpurt_opened_t *o, gpurt_service_own_t *s,
                                  gpurt_error_t *err)
{
    s->handle = gpurt_handle_create(&gpurt_handles,
                                    gpurt_handle_of(o->index, GPURT_HANDLE_SERVICE), s);
    if (!s->handle)
        return REFUSE(err, GPURT_E_NOMEM,
                      "%d streams, events, guards and services exist, the limit: destroy "
                      "some",
                      GPURT_HANDLE_COUNT);
    (void)gpurt_service_hold(o, s->handle);
    return GPURT_OK;
}

static gpurt_status_t service_launch(const gpurt_opened_t *o, order_t *w,
                                     gpurt_service_t *out, gpurt_error_t *err)
{
    gpurt_service_own_t *s;
    gpurt_status_t st = service_make(o, w, &s, err);

    if (st != GPURT_OK)
        return st;
    st = args_fill(w, s, err);
    if (st == GPURT_OK)
        st = handle_give(o, s, err);
    if (st != GPURT_OK) {
        service_free(o, s);
        return st;
    }
    *out = s->handle;
    st = service_begin(o, s, w, err);
    if (st == GPURT_OK) {
        serve_tell(o, s, true);
        gpurt_watch_begin(w->rt, &gpurt_class_service, s->id, s, 0);
    } else {
        service_release(o, s);
    }
    service_drop(o, *out);
    if (st != GPURT_OK)
        *out = 0;
    return st;
}

gpurt_status_t gpurt_service_launch_kernel(gpurt_t *rt, const gpurt_launch_t *launch,
                                           const gpurt_kernel_t *kernel, const void *args,
                                           size_t args_bytes, size_t port_offset,
                                           const gpurt_service_options_t *options,
                                           gpurt_service_t *out, gpurt_error_t *err)
{
    order_t w = {.rt = rt,
                 .from = args,
                 .port_offset = port_offset,
                 .caller = __builtin_return_address(0),
                 .kernel = kernel,
                 .args_bytes = args_bytes};
    const gpurt_opened_t *o;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID,
                      "out is NULL: pass the address of a gpurt_service_t");
    *out = 0;
    st = gpurt_life_enter(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    st = options_read(options, &w.options, err);
    if (st == GPURT_OK)
        st = order_check(o, launch, &w, err);
    if (st == GPURT_OK)
        st = service_launch(o, &w, out, err);
    return gpurt_life_leave(o, st);
}

/* ---- commands -------------------------------------------------------------------------- */

void gpurt_service_command(gpurt_service_own_t *s, uint32_t command)
{
    uint32_t bell =
        gpurt_load_relaxed_sys_u32(&s->xrings) + 1; /* relaxed: under the lock */

    if (command != s->command)
        gpurt_ownword_store(s->opened, &s->words->xcommand, command);
    s->command = command;
    if (!s->ended)
        state_set(s, command & GPURT_SERVICE_STOP   ? GPURT_SERVICE_IS_STOPPING
                     : command & GPURT_SERVICE_REST ? GPURT_SERVICE_IS_RESTING
                                                    : GPURT_SERVICE_IS_RUNNING);
    gpurt_store_relaxed_sys_u32(&s->xrings, bell); /* relaxed: under the lock */
    gpurt_ownword_store(s->opened, &s->words->xbell, bell);
}

/* Sets bits of the command, if any, and rings: idle blocks look at both. */
static void command_give(gpurt_service_own_t *s, uint32_t bits)
{
    pthread_mutex_lock(&s->lock);
    gpurt_service_command(s, s->command | bits);
    pthread_mutex_unlock(&s->lock);
}

gpurt_status_t gpurt_service_ring(gpurt_t *rt, gpurt_service_t service)
{
    const gpurt_opened_t *o;
    gpurt_service_own_t *s;
    gpurt_status_t st = service_take(rt, service, &o, &s, NULL);

    if (!s)
        return st;
    command_give(s, 0);
    return service_leave(o, service, GPURT_OK);
}

static gpurt_status_t runs_on(const gpurt_service_own_t *s, gpurt_error_t *err)
{
    gpurt_service_count_t c = gpurt_service_count(s);

    if (c.first == s->blocks)
        return REFUSE(err, GPURT_E_TIMEOUT,
                      "service %s has not ended %u ms after it was told to stop: its "
                      "blocks have left the loop of gpurt_service_go and run on",
                      s->name, s->stop_ms);
    return REFUSE(
        err, GPURT_E_TIMEOUT,
        "service %s has not stopped within %u ms: %u of its %u block%s have "
        "not come to gpurt_service_go since, the first is block %u; it stays told "
        "to stop, and the runtime stays open",
        s->name, s->stop_ms, s->blocks - c.left, s->blocks, gpurt_plural(s->blocks, "s"),
        c.first);
}

/* Returns: whether it has. */
static bool end_await(gpurt_service_own_t *s)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin((uint64_t)s->stop_ms * NS_A_MS);

    while (!gpurt_service_has_ended(s))
        if (!gpurt_hostpoll_next(&poll))
            return false;
    return true;
}

gpurt_status_t gpurt_service_stop(gpurt_t *rt, gpurt_service_t service, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_service_own_t *s;
    gpurt_status_t st = service_take(rt, service, &o, &s, err);

    if (!s)
        return st;
    command_give(s, GPURT_SERVICE_STOP);
    if (!end_await(s))
        return service_leave(o, service, runs_on(s, err));
    serve_tell(o, s, false);
    st = s->status; /* fixed now, as its error is */
    if (st != GPURT_OK && err)
        *err = s->error;
    service_release(o, s);
    return service_leave(o, service, st);
}

bool gpurt_service_has_left(gpurt_t *rt, gpurt_service_t service)
{
    const gpurt_opened_t *o;
    gpurt_service_own_t *s;
    bool left;

    (void)service_take(rt, service, &o, &s, NULL);
    if (!s)
        return false;
    left = gpurt_service_count(s).left == s->blocks;
    (void)service_leave(o, service, GPURT_OK);
    return left;
}

gpurt_status_t gpurt_service_status(gpurt_t *rt, gpurt_service_t service,
                                    gpurt_service_status_t *out)
{
    const gpurt_opened_t *o;
    gpurt_service_count_t c;
    gpurt_service_own_t *s;
    gpurt_status_t st;

    if (!out)
        return GPURT_E_INVALID;
    memset(out, 0, sizeof *out);
    st = service_take(rt, service, &o, &s, NULL);
    if (!s)
        return st;
    (void)gpurt_service_has_ended(s);
    c = gpurt_service_count(s);
    out->state = gpurt_service_state(s, &c);
    out->blocks = s->blocks;
    out->coming = c.coming;
    out->running = c.running;
    out->resting = c.resting;
    out->left = c.left;
    out->ended = s->status;
    memcpy(out->name, s->name, sizeof out->name);
    return service_leave(o, service, GPURT_OK);
}
