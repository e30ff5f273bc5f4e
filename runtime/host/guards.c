/* SPDX-License-Identifier: Apache-2.0 */
/* A guarded launch from its words in shared memory to its verdict: wait, look which blocks failed,
 * launch those again, and at last let the fallbacks have them. */
#include "guards.h"

#include "boxwork.h"
#include "launch_check.h"
#include "launchlink.h"
#include "life.h"
#include "refuse.h"

#include <gpurt/atomic.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_BLOCKS = 1 << 22,
    MAX_BACKOFF_US = 1000000
};

/* Owner: its handle. */
typedef struct guard {
    struct guard *next; /* under list_lock */
    pthread_mutex_t lock;
    gpurt_guard_t *words; /* in memory that kernels reach */
    gpurt_launch_t launch;
    const gpurt_kernel_t *kernel;
    gpurt_recovery_t policy;
    gpurt_guard_handle_t handle;
    /* under lock */
    uint32_t attempt;
    gpurt_outcome_t outcome;
    /* shared */
    uint32_t xsettled; /* the outcome stands; written under lock */
    int32_t xheard;    /* first failure of its stream's work; written by: whoever waits */
    size_t args_bytes;
    unsigned char args[];
} guard_t;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
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
    size_t bytes = from && from->struct_size ? from->struct_size : sizeof *out;

    memset(out, 0, sizeof *out);
    if (bytes > sizeof *out)
        return REFUSE(err, GPURT_E_INVALID,
                      "recovery.struct_size is %zu, this library knows %zu bytes: rebuild "
                      "with its headers",
                      bytes, sizeof *out);
    if (from)
        memcpy(out, from, bytes);
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
    pthread_mutex_lock(&list_lock);
    for (guard_t **at = &first; *at; at = &(*at)->next)
        if (*at == g) {
            *at = g->next;
            break;
        }
    pthread_mutex_unlock(&list_lock);
    (void)o->ops->host_destroy(o->self, g->words);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

/* ---- what a wait heard --------------------------------------------------------------- */

static void guard_hear(guard_t *g, gpurt_status_t status)
{
    int32_t nothing = GPURT_OK;

    if (status != GPURT_OK && status != GPURT_E_NOT_READY) /* relaxed: the word is all */
        (void)gpurt_cas_relaxed_sys_i32(&g->xheard, &nothing, status);
}

void gpurt_guards_hear(gpurt_stream_t stream, gpurt_status_t status)
{
    pthread_mutex_lock(&list_lock);
    for (guard_t *g = first; g; g = g->next)
        if (g->launch.stream == stream)
            guard_hear(g, status);
    pthread_mutex_unlock(&list_lock);
}

void gpurt_guards_hear_all(gpurt_status_t status)
{
    pthread_mutex_lock(&list_lock);
    for (guard_t *g = first; g; g = g->next)
        guard_hear(g, status);
    pthread_mutex_unlock(&list_lock);
}

/* ---- one launch ---------------------------------------------------------------------- */

/* The stream may be gone: what is left goes into the default one. */
static void *stream_take(const guard_t *g, gpurt_stream_t *taken)
{
    void *s = NULL;

    *taken = g->launch.stream;
    if (*taken != GPURT_STREAM_DEFAULT &&
        !gpurt_handle_take(&gpurt_handles, GPURT_HANDLE_STREAM, *taken, &s))
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

static gpurt_status_t guard_launch(const gpurt_opened_t *o, guard_t *g,
                                   const gpurt_kernel_t *kernel, gpurt_error_t *err)
{
    unsigned char whole[GPURT_MAX_ARGS_BYTES] GPURT_ALIGN(64);
    gpurt_ticket_t ticket = {.guard = g->words, .attempt = g->attempt};
    size_t bytes = gpurt_guard_wrap(kernel, ticket, g->args, whole);
    gpurt_stream_t taken;
    void *s = stream_take(g, &taken);
    gpurt_status_t st;

    gpurt_launchlink_tell(&g->launch, kernel);
    gpurt_boxwork_begin();
    st = o->ops->launch(o->self, s, &g->launch, kernel, whole, bytes, err);
    stream_drop(o, taken);
    g->outcome.launches += st == GPURT_OK;
    return st;
}

static gpurt_status_t guard_stream_wait(const gpurt_opened_t *o, guard_t *g,
                                        gpurt_error_t *err)
{
    gpurt_stream_t taken;
    void *s = stream_take(g, &taken);
    gpurt_status_t st = o->ops->stream_sync(o->self, s, err);

    stream_drop(o, taken);
    if (st != GPURT_OK)
        gpurt_guards_hear(g->launch.stream, st);
    return (gpurt_status_t)gpurt_load_relaxed_sys_i32(&g->xheard);
}

/* ---- which blocks -------------------------------------------------------------------- */

static bool block_failed(const guard_t *g, uint32_t rank)
{
    return gpurt_load_relaxed_sys_u32(&gpurt_guard_blocks(g->words)[rank]) ==
           g->attempt + 1; /* relaxed, as all here: the kernel has ended */
}

static uint32_t failed_count(const guard_t *g)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < g->words->block_count; i++)
        count += block_failed(g, i);
    return count;
}

static gpurt_dim3_t place_of(uint32_t rank, gpurt_dim3_t in)
{
    return (gpurt_dim3_t){rank % in.x, rank / in.x % in.y, rank / in.x / in.y};
}

/* Number of the cluster that a block is of. */
static uint32_t cluster_of(const gpurt_launch_t *l, uint32_t rank)
{
    gpurt_dim3_t at = place_of(rank, l->grid), c = l->cluster;

    return (at.z / c.z * (l->grid.y / c.y) + at.y / c.y) * (l->grid.x / c.x) + at.x / c.x;
}

/* Blocks that meet each other run again together: a cluster's, a cooperative grid's. */
static gpurt_status_t failed_widen(const guard_t *g)
{
    const gpurt_launch_t *l = &g->launch;
    uint32_t cluster_blocks = l->cluster.x * l->cluster.y * l->cluster.z;
    uint32_t blocks = g->words->block_count, *words = gpurt_guard_blocks(g->words);
    uint32_t units = l->cooperative ? 1 : blocks / cluster_blocks;
    bool *unit;

    if (units == blocks)
        return GPURT_OK;
    unit = (bool *)calloc(units, sizeof *unit);
    if (!unit)
        return GPURT_E_NOMEM;
    for (uint32_t i = 0; i < blocks; i++)
        unit[l->cooperative ? 0 : cluster_of(l, i)] |= block_failed(g, i);
    for (uint32_t i = 0; i < blocks; i++)
        if (unit[l->cooperative ? 0 : cluster_of(l, i)])
            gpurt_store_relaxed_sys_u32(&words[i], g->attempt + 1);
    free(unit);
    return GPURT_OK;
}

/* ---- the verdict --------------------------------------------------------------------- */

static uint32_t stop_of(const guard_t *g)
{
    return gpurt_load_relaxed_sys_u32(&g->words->xstop); /* relaxed: a word without data */
}

static void backoff(const guard_t *g, uint32_t retry)
{
    uint64_t us = (uint64_t)g->policy.backoff_us << (retry < 20 ? retry : 20);
    struct timespec t;

    us = us < MAX_BACKOFF_US ? us : MAX_BACKOFF_US;
    t = (struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    if (us)
        nanosleep(&t, NULL);
}

/* Launches what failed again. Returns: how that ended. */
static gpurt_status_t redo(const gpurt_opened_t *o, guard_t *g,
                           const gpurt_kernel_t *kernel, gpurt_error_t *err)
{
    uint32_t by_panic = GPURT_STOP_PANIC;
    gpurt_status_t st = failed_widen(g);

    if (st != GPURT_OK)
        return st;
    /* relaxed: a stop by the host stays */
    (void)gpurt_cas_relaxed_sys_u32(&g->words->xstop, &by_panic, GPURT_STOP_NOT);
    g->attempt++;
    st = guard_launch(o, g, kernel, err);
    return st == GPURT_OK ? guard_stream_wait(o, g, err) : st;
}

/* Retries, then the fallback kernel. Returns: OK, or why a launch failed. */
static gpurt_status_t repair(const gpurt_opened_t *o, guard_t *g, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    for (uint32_t i = 0; st == GPURT_OK && i < g->policy.retries; i++) {
        if (!failed_count(g) || stop_of(g) > GPURT_STOP_PANIC)
            return GPURT_OK;
        backoff(g, i);
        st = redo(o, g, g->kernel, err);
    }
    if (st == GPURT_OK && g->policy.fallback_kernel && failed_count(g) &&
        stop_of(g) <= GPURT_STOP_PANIC)
        st = redo(o, g, g->policy.fallback_kernel, err);
    return st;
}

/* The host's fallback, a block at a time. */
static void fall_back(guard_t *g)
{
    uint32_t *words = gpurt_guard_blocks(g->words);

    for (uint32_t i = 0; g->policy.fallback && i < g->words->block_count; i++)
        if (block_failed(g, i) && stop_of(g) <= GPURT_STOP_PANIC &&
            g->policy.fallback(g->policy.context, place_of(i, g->launch.grid)) ==
                GPURT_OK) {
            words[i] = 0;
            g->outcome.fallbacks++;
        }
}

static gpurt_status_t verdict(const guard_t *g, gpurt_error_t *err)
{
    const gpurt_outcome_t *out = &g->outcome;

    if (!out->failed)
        return GPURT_OK;
    if (stop_of(g) > GPURT_STOP_PANIC)
        return REFUSE(err, GPURT_E_CANCELLED,
                      "kernel %s was cancelled: %u of its %u blocks did not come to their "
                      "end",
                      g->kernel->name, out->failed, g->words->block_count);
    return REFUSE(err, GPURT_E_PANIC,
                  "kernel %s: %u of %u blocks failed, %u panic%s in %u launch%s; "
                  "gpurt-panic tells what they said",
                  g->kernel->name, out->failed, g->words->block_count, out->panics,
                  out->panics == 1 ? "" : "s", out->launches,
                  out->launches == 1 ? "" : "es");
}

/* Under the guard's lock. */
static void settle(const gpurt_opened_t *o, guard_t *g, bool again, gpurt_error_t *err)
{
    gpurt_outcome_t *out = &g->outcome;
    const gpurt_guard_t *w = g->words;
    gpurt_status_t st = guard_stream_wait(o, g, err);

    out->failed_first = failed_count(g);
    if (st == GPURT_OK && again) {
        st = repair(o, g, err);
        if (st == GPURT_OK)
            fall_back(g);
    }
    out->failed = failed_count(g);
    out->panics = gpurt_load_relaxed_sys_u32(&w->xpanics); /* relaxed: all have ended */
    out->nested = gpurt_load_relaxed_sys_u32(&w->xnested);
    out->escalated = gpurt_load_relaxed_sys_u32(&w->xescalated);
    out->degraded = gpurt_load_relaxed_sys_u32(&w->xdegraded) != 0;
    out->status = st == GPURT_OK ? verdict(g, err) : st;
    gpurt_store_relaxed_sys_u32(&g->xsettled, 1); /* read under lock, or as a hint */
}

static gpurt_status_t guard_settle(const gpurt_opened_t *o, guard_t *g, bool again,
                                   gpurt_outcome_t *outcome, gpurt_error_t *err)
{
    gpurt_status_t st;

    pthread_mutex_lock(&g->lock);
    if (!gpurt_load_relaxed_sys_u32(&g->xsettled)) /* relaxed: under the lock */
        settle(o, g, again, err);
    else if (g->outcome.status != GPURT_OK)
        (void)REFUSE(err, g->outcome.status, "kernel %s: %s, as was told before",
                     g->kernel->name, gpurt_status_text(g->outcome.status));
    st = g->outcome.status;
    if (outcome)
        *outcome = g->outcome;
    pthread_mutex_unlock(&g->lock);
    return st;
}

/* ---- handles ------------------------------------------------------------------------- */

static gpurt_status_t guard_enter(gpurt_t *rt, gpurt_guard_handle_t handle,
                                  const gpurt_opened_t **o, guard_t **g, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_life_enter(rt, o, err);
    void *object;

    if (st != GPURT_OK)
        return st;
    if (!gpurt_handle_take(&gpurt_handles, GPURT_HANDLE_GUARD, handle, &object))
        return gpurt_life_leave(
            gpurt_handle_refuse(&gpurt_handles, GPURT_HANDLE_GUARD, handle, err));
    *g = (guard_t *)object;
    return GPURT_OK;
}

static void guard_drop(const gpurt_opened_t *o, gpurt_guard_handle_t handle)
{
    gpurt_guard_free(o, gpurt_handle_drop(&gpurt_handles, handle).object);
}

static gpurt_status_t guard_leave(const gpurt_opened_t *o, gpurt_guard_handle_t handle,
                                  gpurt_status_t st)
{
    guard_drop(o, handle);
    return gpurt_life_leave(st);
}

/* The next guard nobody has waited for, kept by its handle: it may be destroyed meanwhile. */
static guard_t *next_unsettled(void)
{
    guard_t *g;
    void *object;

    pthread_mutex_lock(&list_lock);
    for (g = first; g; g = g->next)
        if (!gpurt_load_relaxed_sys_u32(&g->xsettled) && /* a hint: guard_settle looks */
            gpurt_handle_take(&gpurt_handles, GPURT_HANDLE_GUARD, g->handle, &object))
            break;
    pthread_mutex_unlock(&list_lock);
    return g;
}

gpurt_status_t gpurt_guards_settle(const gpurt_opened_t *o, bool again, gpurt_error_t *err)
{
    gpurt_status_t status = GPURT_OK;
    guard_t *g;

    while ((g = next_unsettled())) {
        gpurt_status_t st =
            guard_settle(o, g, again, NULL, status == GPURT_OK ? err : NULL);

        status = status == GPURT_OK ? st : status;
        guard_drop(o, g->handle);
    }
    return status;
}

/* ---- calls --------------------------------------------------------------------------- */

static gpurt_status_t guarded_launch(const gpurt_opened_t *o, const gpurt_launch_t *launch,
                                     const gpurt_kernel_t *kernel, const void *args,
                                     const gpurt_recovery_t *policy, guard_t **out,
                                     gpurt_error_t *err)
{
    gpurt_status_t st = guard_create(o, launch, kernel, args, policy, out, err);
    guard_t *g = *out;

    if (st != GPURT_OK)
        return st;
    g->handle = gpurt_handle_create(&gpurt_handles, GPURT_HANDLE_GUARD, g);
    st = g->handle ? guard_launch(o, g, kernel, err)
                   : REFUSE(err, GPURT_E_NOMEM,
                            "%d streams, events and guards are alive, more cannot be: "
                            "destroy some",
                            GPURT_HANDLE_COUNT);
    if (st == GPURT_OK) {
        pthread_mutex_lock(&list_lock);
        g->next = first;
        first = g;
        pthread_mutex_unlock(&list_lock);
        return GPURT_OK;
    }
    if (g->handle) {
        gpurt_orphan_t orphan;

        (void)gpurt_handle_release(&gpurt_handles, GPURT_HANDLE_GUARD, g->handle, &orphan);
    }
    gpurt_guard_free(o, g);
    return st;
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
    guard_t *g = NULL;
    gpurt_status_t st;
    void *s;

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
    if (st == GPURT_OK && checked.stream != GPURT_STREAM_DEFAULT) {
        if (gpurt_handle_take(&gpurt_handles, GPURT_HANDLE_STREAM, checked.stream, &s))
            stream_drop(o, checked.stream);
        else
            st = gpurt_handle_refuse(&gpurt_handles, GPURT_HANDLE_STREAM, checked.stream,
                                     err);
    }
    if (st == GPURT_OK)
        st = guarded_launch(o, &checked, kernel, args, &policy, &g, err);
    if (st == GPURT_OK)
        *out = g->handle;
    return gpurt_life_leave(st);
}

gpurt_status_t gpurt_guard_wait(gpurt_t *rt, gpurt_guard_handle_t guard,
                                gpurt_outcome_t *outcome, gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    guard_t *g;
    gpurt_status_t st;

    if (outcome)
        memset(outcome, 0, sizeof *outcome);
    st = guard_enter(rt, guard, &o, &g, err);
    if (st != GPURT_OK)
        return st;
    return guard_leave(o, guard, guard_settle(o, g, true, outcome, err));
}

/* relaxed, in the next three: words without data */
gpurt_status_t gpurt_guard_cancel(gpurt_t *rt, gpurt_guard_handle_t guard)
{
    const gpurt_opened_t *o;
    guard_t *g;
    gpurt_status_t st = guard_enter(rt, guard, &o, &g, NULL);

    if (st != GPURT_OK)
        return st;
    gpurt_store_relaxed_sys_u32(&g->words->xstop, GPURT_STOP_HOST);
    return guard_leave(o, guard, GPURT_OK);
}

gpurt_status_t gpurt_guard_on_panic(gpurt_t *rt, gpurt_guard_handle_t guard,
                                    uint32_t on_panic)
{
    const gpurt_opened_t *o;
    guard_t *g;
    gpurt_status_t st = guard_enter(rt, guard, &o, &g, NULL);

    if (st != GPURT_OK)
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
    guard_t *g;
    gpurt_status_t st = guard_enter(rt, guard, &o, &g, NULL);

    if (st != GPURT_OK)
        return st;
    gpurt_store_relaxed_sys_u32(&g->words->xdegraded, degraded);
    return guard_leave(o, guard, GPURT_OK);
}

uint32_t gpurt_guard_failed(gpurt_t *rt, gpurt_guard_handle_t guard, uint32_t *blocks,
                            uint32_t room)
{
    const gpurt_opened_t *o;
    uint32_t found = 0;
    guard_t *g;

    if (guard_enter(rt, guard, &o, &g, NULL) != GPURT_OK)
        return 0;
    pthread_mutex_lock(&g->lock);
    for (uint32_t i = 0; g->xsettled && i < g->words->block_count; i++)
        if (block_failed(g, i)) {
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
        return gpurt_life_enter(rt, &o, NULL) == GPURT_OK ? gpurt_life_leave(GPURT_OK)
                                                          : GPURT_E_CLOSED;
    st = guard_enter(rt, guard, &o, &g, NULL);
    if (st != GPURT_OK)
        return st;
    (void)guard_settle(o, g, false, NULL, NULL); /* kernels read its words */
    if (!gpurt_handle_release(&gpurt_handles, GPURT_HANDLE_GUARD, guard, &orphan))
        st = GPURT_E_HANDLE; /* another thread was faster */
    return guard_leave(o, guard, st);
}
