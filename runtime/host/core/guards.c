/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded launches: their words in memory that kernels reach, their handles, and the calls. */
#include "guardpart.h"

#include "boxwork.h"
#include "launch_check.h"
#include "launchlink.h"
#include "life.h"
#include "optionsize.h"
#include "part.h"
#include "process.h"
#include "refuse.h"

#include <gpurt/atomic.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_BLOCKS = 1 << 22
};

static gpurt_lock_t list_lock = GPURT_LOCK_INIT;
static guard_t *first; /* under list_lock */

size_t gpurt_guard_wrap(const gpurt_kernel_t *kernel, gpurt_ticket_t ticket,
                        const void *args, unsigned char out[GPURT_MAX_ARGS_BYTES])
{
    size_t bytes = kernel->args_offset + (size_t)kernel->args_bytes;

    memset(out, 0, kernel->args_offset);
    memcpy(out, &ticket, sizeof ticket);
    memcpy(out + kernel->args_offset, args, kernel->args_bytes);
    if (bytes < GPURT_MAX_ARGS_BYTES) /* the struct's tail: CUDA copies it too */
        memset(out + bytes, 0, GPURT_MAX_ARGS_BYTES - bytes);
    return bytes;
}

/* ---- life ---------------------------------------------------------------------------- */

static gpurt_status_t policy_read(const gpurt_recovery_t *from,
                                  const gpurt_kernel_t *kernel, gpurt_recovery_t *out,
                                  gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_options_copy(out, sizeof *out, from, "recovery", err);

    if (st != GPURT_OK)
        return st;
    if (!out->on_panic)
        out->on_panic = GPURT_ON_PANIC_BLOCK;
    if (!out->highest)
        out->highest = GPURT_ON_PANIC_KERNEL;
    if (out->on_panic > GPURT_ON_PANIC_TRAP || out->highest > GPURT_ON_PANIC_TRAP)
        return REFUSE(err, GPURT_E_INVALID, "recovery: no level %u: see GPURT_ON_PANIC_*",
                      out->on_panic > GPURT_ON_PANIC_TRAP ? out->on_panic : out->highest);
    if (!kernel->args_offset)
        return REFUSE(err, GPURT_E_KERNEL,
                      "kernel %s takes no guard: define it with GPURT_KERNEL_GUARDED",
                      kernel->name);
    if (out->fallback_kernel && (!out->fallback_kernel->args_offset ||
                                 out->fallback_kernel->args_bytes != kernel->args_bytes))
        return REFUSE(err, GPURT_E_KERNEL,
                      "fallback kernel %s: it must be guarded, too, and take the arguments "
                      "of %s",
                      out->fallback_kernel->name, kernel->name);
    return GPURT_OK;
}

static void words_fill(gpurt_guard_t *words, const gpurt_recovery_t *policy,
                       uint32_t blocks)
{
    memset(words, 0, sizeof *words + blocks * sizeof(uint32_t));
    words->xlevel = policy->on_panic;
    words->highest = policy->highest;
    words->escalate_after = policy->escalate_after;
    words->escalate_window_ns = policy->escalate_window_ns;
    words->degrade_after = policy->degrade_after;
    words->block_count = blocks;
}

static gpurt_status_t guard_create(const gpurt_opened_t *o, const gpurt_launch_t *launch,
                                   const gpurt_kernel_t *kernel, const void *args,
                                   const gpurt_recovery_t *policy, guard_t **out,
                                   gpurt_error_t *err)
{
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    guard_t *g;
    gpurt_status_t st;
    void *words;

    if (blocks > MAX_BLOCKS)
        return REFUSE(err, GPURT_E_GRID,
                      "%llu blocks: a guarded launch has at most %d; launch it in parts",
                      (unsigned long long)blocks, MAX_BLOCKS);
    g = (guard_t *)calloc(1, sizeof *g + kernel->args_bytes);
    if (!g)
        return REFUSE(err, GPURT_E_NOMEM, "no memory for a guard");
    st = o->ops->host_create(o->self, sizeof *g->words + blocks * sizeof(uint32_t), &words,
                             err);
    if (st != GPURT_OK) {
        free(g);
        return st;
    }
    pthread_mutex_init(&g->lock, NULL);
    g->words = (gpurt_guard_t *)words;
    g->device = o->index;
    g->launch = *launch;
    g->kernel = kernel;
    g->policy = *policy;
    g->args_bytes = kernel->args_bytes;
    memcpy(g->args, args, g->args_bytes);
    words_fill(g->words, policy, (uint32_t)blocks);
    *out = g;
    return GPURT_OK;
}

void gpurt_guard_free(const gpurt_opened_t *o, void *guard)
{
    guard_t *g = (guard_t *)guard;

    if (!g)
        return;
    gpurt_lock_take(&list_lock);
    for (guard_t **at = &first; *at; at = &(*at)->next)
        if (*at == g) {
            *at = g->next;
            break;
        }
    gpurt_lock_give(&list_lock);
    (void)o->ops->host_destroy(o->self, g->words);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

/* The next guard of a device, out of the list. One that was being changed is left alone. */
static guard_t *forked_next(uint32_t index)
{
    guard_t **at = &first, *g;

    if (gpurt_lock_was_held(&list_lock))
        first = NULL;
    while (*at && (*at)->device != index)
        at = &(*at)->next;
    g = *at;
    if (g)
        *at = g->next;
    return g;
}

/* They are the parent's. Their memory goes where it is the child's own. */
static void guards_forked(uint32_t index, gpurt_opened_t *o)
{
    guard_t *g;

    while ((g = forked_next(index))) {
        if (!o)
            continue; /* it stays */
        if (o->info.backend == GPURT_BACKEND_CPU)
            (void)o->ops->host_destroy(o->self, g->words);
        free(g);
    }
}

/* ---- what a wait heard --------------------------------------------------------------- */

static void guard_hear(guard_t *g, gpurt_status_t status)
{
    int32_t nothing = GPURT_OK;

    if (status != GPURT_OK && status != GPURT_E_NOT_READY) /* relaxed: the word is all */
        (void)gpurt_cas_relaxed_sys_i32(&g->xheard, &nothing, status);
}

void gpurt_guards_hear(const gpurt_opened_t *o, gpurt_stream_t stream,
                       gpurt_status_t status)
{
    gpurt_lock_take(&list_lock);
    for (guard_t *g = first; g; g = g->next)
        if (g->device == o->index && g->launch.stream == stream)
            guard_hear(g, status);
    gpurt_lock_give(&list_lock);
}

void gpurt_guards_hear_all(const gpurt_opened_t *o, gpurt_status_t status)
{
    gpurt_lock_take(&list_lock);
    for (guard_t *g = first; g; g = g->next)
        if (g->device == o->index)
            guard_hear(g, status);
    gpurt_lock_give(&list_lock);
}

bool gpurt_guards_news(const gpurt_opened_t *o, gpurt_panic_news_t *out)
{
    bool found = false;

    gpurt_lock_take(&list_lock);
    for (guard_t *g = first; g && !found; g = g->next) {
        uint32_t panics = gpurt_load_relaxed_sys_u32(&g->words->xpanics); /* a count */

        found = g->device == o->index && panics != g->told;
        if (found) {
            g->told = panics;
            out->guard = g->handle;
            out->panics = panics;
        }
    }
    gpurt_lock_give(&list_lock);
    return found;
}

/* ---- one launch ---------------------------------------------------------------------- */

/* The stream may be gone: what is left goes into the default one. */
static void *stream_take(const gpurt_opened_t *o, const guard_t *g, gpurt_stream_t *taken)
{
    gpurt_handle_class_t of = gpurt_handle_of(o->index, GPURT_HANDLE_STREAM);
    void *s = NULL;

    *taken = g->launch.stream;
    if (*taken != GPURT_STREAM_DEFAULT &&
        !gpurt_handle_take(&gpurt_handles, of, *taken, &s))
        *taken = GPURT_STREAM_DEFAULT;
    return *taken == GPURT_STREAM_DEFAULT ? NULL : s;
}

static void stream_drop(const gpurt_opened_t *o, gpurt_stream_t taken)
{
    gpurt_orphan_t orphan = {0};

    if (taken != GPURT_STREAM_DEFAULT)
        orphan = gpurt_handle_drop(&gpurt_handles, taken);
    if (orphan.object)
        (void)o->ops->stream_destroy(o->self, orphan.object);
}

gpurt_status_t gpurt_guard_launch(const gpurt_opened_t *o, guard_t *g,
                                  const gpurt_kernel_t *kernel, gpurt_error_t *err)
{
    unsigned char whole[GPURT_MAX_ARGS_BYTES] GPURT_ALIGN(64);
    gpurt_ticket_t ticket = {.guard = g->words, .attempt = g->attempt};
    size_t bytes = gpurt_guard_wrap(kernel, ticket, g->args, whole);
    gpurt_stream_t taken;
    void *s = stream_take(o, g, &taken);
    gpurt_status_t st;

    gpurt_launchlink_tell(o, &g->launch, kernel, g->caller);
    gpurt_boxwork_begin(o->box);
    st = o->ops->launch(o->self, s, &g->launch, kernel, whole, bytes, err);
    stream_drop(o, taken);
    g->outcome.launches += st == GPURT_OK;
    return st;
}

gpurt_status_t gpurt_guard_stream_wait(const gpurt_opened_t *o, guard_t *g,
                                       gpurt_error_t *err)
{
    gpurt_stream_t taken;
    void *s = stream_take(o, g, &taken);
    gpurt_status_t st = o->ops->stream_sync(o->self, s, err);

    stream_drop(o, taken);
    if (st != GPURT_OK)
        gpurt_guards_hear(o, g->launch.stream, st);
    return (gpurt_status_t)gpurt_load_relaxed_sys_i32(&g->xheard);
}

/* ---- handles ------------------------------------------------------------------------- */

static gpurt_handle_class_t guard_of(const gpurt_opened_t *o)
{
    return gpurt_handle_of(o->index, GPURT_HANDLE_GUARD);
}

/* Returns: NULL where *st says why not; else guard_leave ends it. */
static guard_t *guard_enter(gpurt_t *rt, gpurt_guard_handle_t handle,
                            const gpurt_opened_t **o, gpurt_status_t *st,
                            gpurt_error_t *err)
{
    void *object;

    *st = gpurt_life_enter(rt, o, err);
    if (*st != GPURT_OK)
        return NULL;
    if (gpurt_handle_take(&gpurt_handles, guard_of(*o), handle, &object))
        return (guard_t *)object;
    *st = gpurt_life_leave(*o,
                           gpurt_handle_refuse(&gpurt_handles, guard_of(*o), handle, err));
    return NULL;
}

static void guard_drop(const gpurt_opened_t *o, gpurt_guard_handle_t handle)
{
    gpurt_guard_free(o, gpurt_handle_drop(&gpurt_handles, handle).object);
}

static gpurt_status_t guard_leave(const gpurt_opened_t *o, gpurt_guard_handle_t handle,
                                  gpurt_status_t st)
{
    guard_drop(o, handle);
    return gpurt_life_leave(o, st);
}

/* The next guard nobody has waited for, kept by its handle: it may be destroyed meanwhile. */
static guard_t *next_unsettled(const gpurt_opened_t *o)
{
    guard_t *g;
    void *object;

    gpurt_lock_take(&list_lock);
    for (g = first; g; g = g->next)
        if (!gpurt_load_relaxed_sys_u32(&g->xsettled) && /* a hint: guard_settle looks */
            gpurt_handle_take(&gpurt_handles, guard_of(o), g->handle, &object))
            break;
    gpurt_lock_give(&list_lock);
    return g;
}

gpurt_status_t gpurt_guards_settle(const gpurt_opened_t *o, bool again, gpurt_error_t *err)
{
    gpurt_status_t status = GPURT_OK;
    guard_t *g;

    while ((g = next_unsettled(o))) {
        gpurt_status_t st =
            gpurt_guard_settle(o, g, again, NULL, status == GPURT_OK ? err : NULL);

        status = status == GPURT_OK ? st : status;
        guard_drop(o, g->handle);
    }
    return status;
}

/* ---- calls --------------------------------------------------------------------------- */

/* In the list before it runs, so that news of it find it; under its lock, so that nobody waits
 * for what has not been launched. What it panics with may
 * be heard, and its guard destroyed, while this still launches: the handle is kept. */
static gpurt_status_t guarded_launch(const gpurt_opened_t *o, guard_t *g,
                                     gpurt_guard_handle_t *handle, gpurt_error_t *err)
{
    gpurt_orphan_t orphan;
    void *object;
    gpurt_status_t st;

    *handle = g->handle = gpurt_handle_create(&gpurt_handles, guard_of(o), g);
    if (!g->handle) {
        gpurt_guard_free(o, g);
        return REFUSE(
            err, GPURT_E_NOMEM,
            "%d streams, events, guards and services exist, the limit: destroy some",
            GPURT_HANDLE_COUNT);
    }
    (void)gpurt_handle_take(&gpurt_handles, guard_of(o), g->handle, &object);
    pthread_mutex_lock(&g->lock);
    gpurt_lock_take(&list_lock);
    g->next = first;
    first = g;
    gpurt_lock_give(&list_lock);
    st = gpurt_guard_launch(o, g, g->kernel, err);
    if (st != GPURT_OK) {
        g->outcome.status = st;
        gpurt_store_relaxed_sys_u32(&g->xsettled, 1); /* as in settle */
    }
    pthread_mutex_unlock(&g->lock);
    if (st != GPURT_OK &&
        gpurt_handle_release(&gpurt_handles, guard_of(o), *handle, &orphan))
        gpurt_guard_free(o, orphan.object); /* none: the drop brings it */
    guard_drop(o, *handle);
    return st;
}

static gpurt_status_t stream_check(const gpurt_opened_t *o, gpurt_stream_t stream,
                                   gpurt_error_t *err)
{
    gpurt_handle_class_t of = gpurt_handle_of(o->index, GPURT_HANDLE_STREAM);
    void *s;

    if (stream == GPURT_STREAM_DEFAULT)
        return GPURT_OK;
    if (!gpurt_handle_take(&gpurt_handles, of, stream, &s))
        return gpurt_handle_refuse(&gpurt_handles, of, stream, err);
    stream_drop(o, stream);
    return GPURT_OK;
}

gpurt_status_t gpurt_launch_guarded_kernel(gpurt_t *rt, const gpurt_launch_t *launch,
                                           const gpurt_kernel_t *kernel, const void *args,
                                           size_t args_bytes,
                                           const gpurt_recovery_t *recovery,
                                           gpurt_guard_handle_t *out, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_launch_t checked;
    gpurt_recovery_t policy;
    gpurt_guard_handle_t handle;
    guard_t *g = NULL;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID,
                      "out is NULL: pass the address of a gpurt_guard_handle_t");
    *out = 0;
    st = gpurt_life_enter(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_launch_check_shape(&o->info, launch, &checked, err);
    if (st == GPURT_OK)
        st = gpurt_launch_check_kernel(&o->info, kernel, err);
    if (st == GPURT_OK)
        st = gpurt_launch_check_args(kernel, args, args_bytes, err);
    if (st == GPURT_OK)
        st = policy_read(recovery, kernel, &policy, err);
    if (st == GPURT_OK && policy.fallback_kernel)
        st = gpurt_launch_check_kernel(&o->info, policy.fallback_kernel, err);
    if (st == GPURT_OK)
        st = stream_check(o, checked.stream, err);
    if (st == GPURT_OK)
        st = guard_create(o, &checked, kernel, args, &policy, &g, err);
    if (st == GPURT_OK) {
        g->caller = __builtin_return_address(0);
        st = guarded_launch(o, g, &handle, err);
    }
    if (st == GPURT_OK)
        *out = handle;
    return gpurt_life_leave(o, st);
}

gpurt_status_t gpurt_guard_wait(gpurt_t *rt, gpurt_guard_handle_t guard,
                                gpurt_outcome_t *outcome, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    guard_t *g;
    gpurt_status_t st;

    if (outcome)
        memset(outcome, 0, sizeof *outcome);
    g = guard_enter(rt, guard, &o, &st, err);
    if (!g)
        return st;
    return guard_leave(o, guard, gpurt_guard_settle(o, g, true, outcome, err));
}

/* relaxed, in the next three: words without data */
gpurt_status_t gpurt_guard_cancel(gpurt_t *rt, gpurt_guard_handle_t guard)
{
    const gpurt_opened_t *o;
    gpurt_status_t st;
    guard_t *g = guard_enter(rt, guard, &o, &st, NULL);

    if (!g)
        return st;
    gpurt_store_relaxed_sys_u32(&g->words->xstop, GPURT_STOP_HOST);
    return guard_leave(o, guard, GPURT_OK);
}

gpurt_status_t gpurt_guard_on_panic(gpurt_t *rt, gpurt_guard_handle_t guard,
                                    uint32_t on_panic)
{
    const gpurt_opened_t *o;
    gpurt_status_t st;
    guard_t *g = guard_enter(rt, guard, &o, &st, NULL);

    if (!g)
        return st;
    if (on_panic > GPURT_ON_PANIC_TRAP)
        return guard_leave(o, guard, GPURT_E_INVALID);
    gpurt_store_relaxed_sys_u32(&g->words->xlevel,
                                on_panic ? on_panic : GPURT_ON_PANIC_BLOCK);
    return guard_leave(o, guard, GPURT_OK);
}

gpurt_status_t gpurt_guard_degrade(gpurt_t *rt, gpurt_guard_handle_t guard, bool degraded)
{
    const gpurt_opened_t *o;
    gpurt_status_t st;
    guard_t *g = guard_enter(rt, guard, &o, &st, NULL);

    if (!g)
        return st;
    gpurt_store_relaxed_sys_u32(&g->words->xdegraded, degraded);
    return guard_leave(o, guard, GPURT_OK);
}

uint32_t gpurt_guard_failed(gpurt_t *rt, gpurt_guard_handle_t guard, uint32_t *blocks,
                            uint32_t room)
{
    const gpurt_opened_t *o;
    uint32_t found = 0;
    gpurt_status_t st;
    guard_t *g;

    g = guard_enter(rt, guard, &o, &st, NULL);
    if (!g)
        return 0;
    pthread_mutex_lock(&g->lock);
    for (uint32_t i = 0; g->xsettled && i < g->words->block_count; i++)
        if (gpurt_guard_block_failed(g, i)) {
            if (blocks && found < room)
                blocks[found] = i;
            found++;
        }
    pthread_mutex_unlock(&g->lock);
    (void)guard_leave(o, guard, GPURT_OK);
    return found;
}

gpurt_status_t gpurt_guard_destroy(gpurt_t *rt, gpurt_guard_handle_t guard)
{
    const gpurt_opened_t *o;
    gpurt_orphan_t orphan;
    guard_t *g;
    gpurt_status_t st;

    if (guard == 0)
        return gpurt_life_check(rt, NULL);
    g = guard_enter(rt, guard, &o, &st, NULL);
    if (!g)
        return st;
    (void)gpurt_guard_settle(o, g, false, NULL, NULL); /* kernels read its words */
    if (!gpurt_handle_release(&gpurt_handles, guard_of(o), guard, &orphan))
        st = GPURT_E_HANDLE; /* another thread was faster */
    return guard_leave(o, guard, st);
}

/* ---- as a part ------------------------------------------------------------------------ */

static gpurt_status_t guards_close(gpurt_opened_t *o, gpurt_status_t status,
                                   gpurt_error_t *err)
{
    gpurt_handle_class_t of = gpurt_handle_of(o->index, GPURT_HANDLE_GUARD);
    uint32_t cursor = 0;
    void *guard;

    gpurt_guards_hear_all(o, status);
    status = gpurt_guards_settle(o, false, err);
    while ((guard = gpurt_handle_sweep(&gpurt_handles, of, &cursor)))
        gpurt_guard_free(o, guard);
    return status;
}

const gpurt_part_t gpurt_part_guards = {
    .name = "guards", .close = guards_close, .forked = guards_forked};
