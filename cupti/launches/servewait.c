/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "servewait.h"

#include "hosttime.h"
#include "launches.h"
#include "process.h"
#include "trouble.h"
#include "vigil.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATIENCE_NS 1000000000ull

enum {
    SERVICES = 64,
    CALLS = 64, /* threads inside one at a time; of more nothing is told */
    NAME_BYTES = 32,
    UNKNOWN = UINT32_MAX /* of a call: its GPU */
};

typedef struct service {
    char name[NAME_BYTES]; /* empty: a free place */
    uint32_t device;
    uint64_t since_ns;
} service_t;

typedef struct call {
    uint32_t thread; /* 0: a free place */
    uint32_t device, depth;
    const char *name;
    uint64_t since_ns;
    bool told;
} call_t;

static gpurt_lock_t lock = GPURT_LOCK_INIT;
static service_t services[SERVICES]; /* under the lock */
static call_t calls[CALLS];          /* likewise */

static struct {
    const cupti_api_t *api; /* NULL: CUPTI is not ours */
    CUpti_SubscriberHandle subscriber;
    uint32_t xon; /* written by: the flusher */
} asked;

/* Which wait was measured (docs/SERVICES.md); a launch does where it is the first of a kernel that
 * needs more stack than any before. */
typedef struct row {
    CUpti_CallbackId id;
    const char *name; /* as the program says it, by the runtime or by the driver */
    bool launches;    /* vigil.c and launches.c ask for it, too */
} row_t;
#define ROW(id_, name_)                                                  \
    {                                                                    \
        .id = CUPTI_DRIVER_TRACE_CBID_##id_, .name = name_ " (" #id_ ")" \
    }
#define LAUNCH(id_)                                                               \
    {                                                                             \
        .id = CUPTI_DRIVER_TRACE_CBID_##id_, .name = "a launch", .launches = true \
    }
static const row_t rows[] = {
    ROW(cuMemFree_v2, "cudaFree"),
    ROW(cuMemFreeHost, "cudaFreeHost"),
    ROW(cuMemHostUnregister, "cudaHostUnregister"),
    ROW(cuArrayDestroy, "cudaFreeArray"),
    ROW(cuCtxSynchronize, "cudaDeviceSynchronize"),
    ROW(cuCtxSetLimit, "cudaDeviceSetLimit"),
    ROW(cuModuleLoadData, "a module that is loaded"),
    ROW(cuModuleLoadDataEx, "a module that is loaded"),
    ROW(cuModuleUnload, "a module that is unloaded"),
    ROW(cuLibraryLoadData, "a library that is loaded"),
    ROW(cuLibraryUnload, "a library that is unloaded"),
    LAUNCH(cuLaunchKernel),
    LAUNCH(cuLaunchKernel_ptsz),
    LAUNCH(cuLaunchKernelEx),
    LAUNCH(cuLaunchKernelEx_ptsz),
};

static const row_t *row_of(CUpti_CallbackId id)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

/* ---- services ------------------------------------------------------------------------- */

/* Under the lock. */
static service_t *service_find(uint32_t device, const char *name)
{
    for (uint32_t i = 0; i < SERVICES; i++)
        if (strncmp(services[i].name, name, NAME_BYTES - 1) == 0 &&
            (!*name || services[i].device == device))
            return &services[i];
    return NULL;
}

void servewait_serve(uint32_t device, const char *name, bool begins)
{
    service_t *s;

    gpurt_lock_take(&lock);
    s = service_find(device, begins ? "" : name);
    if (s && begins) {
        snprintf(s->name, sizeof s->name, "%s", name);
        s->device = device;
        s->since_ns = gpurt_steady_ns();
    } else if (s) {
        s->name[0] = '\0';
    }
    gpurt_lock_give(&lock);
}

static bool any_serves(void)
{
    bool any = false;

    gpurt_lock_take(&lock);
    for (uint32_t i = 0; i < SERVICES; i++)
        any |= services[i].name[0] != '\0';
    gpurt_lock_give(&lock);
    return any;
}

/* ---- calls ---------------------------------------------------------------------------- */

static uint32_t device_of(CUcontext context)
{
    uint32_t device;

    return context && asked.api->cuptiGetDeviceId(context, &device) == CUPTI_SUCCESS
               ? device
               : UNKNOWN;
}

/* Under the lock. thread 0: a free place. */
static call_t *call_find(uint32_t thread)
{
    for (uint32_t i = 0; i < CALLS; i++)
        if (calls[i].thread == thread)
            return &calls[i];
    return NULL;
}

/* A call within another is that one's. */
static void call_enter(uint32_t thread, const row_t *row, uint32_t device)
{
    call_t *c = call_find(thread);

    if (c) {
        c->depth++;
        return;
    }
    c = call_find(0);
    if (c)
        *c = (call_t){.thread = thread,
                      .device = device,
                      .name = row->name,
                      .since_ns = gpurt_steady_ns()};
}

static void call_exit(uint32_t thread)
{
    call_t *c = call_find(thread);

    if (c && c->depth-- == 0)
        c->thread = 0;
}

void servewait_told(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const row_t *row = row_of(id);
    uint32_t thread = (uint32_t)syscall(SYS_gettid), device;

    /* relaxed: a call that is missed is not told */
    if (!row || !gpurt_load_relaxed_dev_u32(&asked.xon))
        return;
    device = call->callbackSite == CUPTI_API_ENTER ? device_of(call->context) : UNKNOWN;
    gpurt_lock_take(&lock);
    if (call->callbackSite == CUPTI_API_ENTER)
        call_enter(thread, row, device);
    else
        call_exit(thread);
    gpurt_lock_give(&lock);
}

/* ---- looking -------------------------------------------------------------------------- */

void servewait_start(const cupti_api_t *api, CUpti_SubscriberHandle subscriber)
{
    asked.subscriber = subscriber;
    asked.api = api;
}

/* vigil.c turns those of launches off when it has counted enough: they are asked for anew. */
void servewait_ask(void)
{
    bool on = asked.api && any_serves();

    if (!on && !gpurt_load_relaxed_dev_u32(&asked.xon)) /* relaxed: our own */
        return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (on || !rows[i].launches || !(launches_are_watched() || vigil_counts()))
            asked.api->cuptiEnableCallback(on, asked.subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                           rows[i].id);
    gpurt_store_relaxed_dev_u32(&asked.xon, on); /* relaxed: as servewait_told reads it */
    if (on)
        return;
    gpurt_lock_take(&lock);
    memset(calls, 0, sizeof calls); /* their exits are not told any more */
    gpurt_lock_give(&lock);
}

/* The service that has run longest of those that the call may wait for. Under the lock. */
static const service_t *waited_for(const call_t *c)
{
    const service_t *found = NULL;

    for (uint32_t i = 0; i < SERVICES; i++) {
        const service_t *s = &services[i];

        if (s->name[0] && (c->device == UNKNOWN || s->device == c->device) &&
            s->since_ns <= c->since_ns && (!found || s->since_ns < found->since_ns))
            found = s;
    }
    return found;
}

void servewait_look(uint64_t now_ns)
{
    gpurt_lock_take(&lock);
    for (uint32_t i = 0; i < CALLS; i++) {
        call_t *c = &calls[i];
        const service_t *s = NULL;

        if (c->thread && !c->told && now_ns > c->since_ns + PATIENCE_NS)
            s = waited_for(c);
        if (!s)
            continue;
        c->told = true;
        trouble_say(
            TROUBLE_NOTE,
            "%s of thread %u has not returned for a second while service %s runs on "
            "GPU %u: CUDA may wait in it until that service has ended; "
            "docs/SERVICES.md says what to do instead",
            c->name, c->thread, s->name, s->device);
    }
    gpurt_lock_give(&lock);
}
