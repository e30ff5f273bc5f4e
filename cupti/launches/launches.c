/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "launches.h"

#include "callers.h"
#include "hosttime.h"
#include "launchcall.h"
#include "names.h"
#include "nativecalls.h"
#include "outlet.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SITE_SLOTS = 1024, /* a power of two */
    SITES = 512,       /* ways to a launch; what comes later is "(no room for more ways)" */
    STEPS = 250, /* that a launch waits for room: 50 ms, twice what a drainer sleeps */
    STEP_NS = 200000
};

/* One process. */
static struct {
    const cupti_api_t *api;
    bool on; /* fixed before the first callback */
    uint64_t
        xmissed; /* launches without a box; written by: any thread (adds), the reader */
    uint32_t xstalled;    /* the last wait for room was in vain; written by: any thread */
    pthread_mutex_t lock; /* guards what is below; never held while anything else is */
    uint64_t box;         /* whose numbers they are */
    names_t names;
    uint64_t site_hash[SITE_SLOTS]; /* 0: free */
    uint32_t site_number[SITE_SLOTS];
    uint32_t site_count;
} launches = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- numbers, under the lock --------------------------------------------------------- */

static void numbers_of(uint64_t box)
{
    if (launches.box == box)
        return;
    names_clear(&launches.names);
    memset(launches.site_hash, 0, sizeof launches.site_hash);
    launches.site_count = 0;
    launches.box = box;
}

/* The slot of a way: its own, or the free one that it would have. */
static uint32_t site_slot(uint64_t hash)
{
    uint32_t at = (uint32_t)(hash % SITE_SLOTS);

    while (launches.site_hash[at] && launches.site_hash[at] != hash)
        at = (at + 1) % SITE_SLOTS;
    return at;
}

/* Returns: 0, not known yet. */
static uint32_t site_find(uint64_t box, uint64_t hash)
{
    uint32_t at, number;

    pthread_mutex_lock(&launches.lock);
    numbers_of(box);
    at = site_slot(hash);
    number = launches.site_hash[at] ? launches.site_number[at] : 0;
    pthread_mutex_unlock(&launches.lock);
    return number;
}

static uint32_t site_define(const gpurt_hostring_t *ring, uint64_t hash, const char *text)
{
    uint32_t at = site_slot(hash), number;

    if (launches.site_hash[at])
        return launches.site_number[at]; /* another thread came the same way */
    if (launches.site_count == SITES)
        return names_number(&launches.names, ring, "(no room for more ways)", false);
    number = names_number(&launches.names, ring, text, false);
    launches.site_hash[at] = hash;
    launches.site_number[at] = number;
    launches.site_count++;
    return number;
}

/* Names are as the driver has them: to make them readable takes memory. */
static void numbers_fill(const gpurt_hostring_t *ring, uint64_t box, const char *name,
                         uint64_t site, const char *site_text, const char *python,
                         gpurt_activity_driver_launch_t *out)
{
    pthread_mutex_lock(&launches.lock);
    numbers_of(box);
    out->name = names_number(&launches.names, ring, name, false);
    if (out->calls == 0)
        out->calls = site_define(ring, site, site_text);
    out->python =
        names_number(&launches.names, ring, python ? python : "(not known)", false);
    pthread_mutex_unlock(&launches.lock);
}

/* ---- the record ---------------------------------------------------------------------- */

static const char *name_of(const launchcall_t *told, const CUpti_CallbackData *call,
                           char room[32], uint32_t *graph)
{
    if (!told->graph)
        return call->symbolName;
    if (launches.api->cuptiGetGraphExecId(told->graph, graph) != CUPTI_SUCCESS)
        *graph = 0;
    snprintf(room, 32, "graph %u", *graph);
    return room;
}

static uint32_t device_of(CUcontext context)
{
    uint32_t device = 0;

    return context && launches.api->cuptiGetDeviceId(context, &device) == CUPTI_SUCCESS
               ? device
               : 0;
}

/* A burst of launches fills the ring while the drainer sleeps, and the last of them is the one
 * that matters: it waits, for a drainer that is there. When that was in vain nobody waits again
 * until there is room. */
static void put(const gpurt_hostring_t *ring, uint32_t device, uint64_t now,
                const gpurt_activity_driver_launch_t *out)
{
    const struct timespec step = {.tv_nsec = STEP_NS};
    bool stalled = gpurt_load_relaxed_dev_u32(&launches.xstalled); /* relaxed: a hint */
    int steps = stalled ? 0 : STEPS;
    bool done = gpurt_hostring_put(ring, GPURT_KIND_DRIVER_LAUNCH, device, now, out);

    for (; !done && steps > 0; steps--) {
        nanosleep(&step, NULL);
        done = gpurt_hostring_put(ring, GPURT_KIND_DRIVER_LAUNCH, device, now, out);
    }
    if (!done)
        gpurt_hostring_lose(ring, 1, GPURT_LOSS_FULL, now);
    if (stalled == done)
        gpurt_store_relaxed_dev_u32(&launches.xstalled, !done); /* relaxed: likewise */
}

/* The loader is asked of the modules before the lock is taken: whoever holds the loader's may
 * be about to launch. */
static void tell(const gpurt_hostring_t *ring, uint64_t box, const launchcall_t *told,
                 const CUpti_CallbackData *call)
{
    gpurt_activity_driver_launch_t out = {
        .grid = {told->grid[0], told->grid[1], told->grid[2]},
        .block = {told->block[0], told->block[1], told->block[2]},
        .shared_bytes = told->shared_bytes,
        .stream = gpurt_pair((uint64_t)(uintptr_t)told->stream),
        .correlation = call->correlationId,
        .thread = (uint32_t)gettid()};
    char text[NATIVECALLS_TEXT], room[32];
    nativecalls_t calls;
    callers_text_t who;
    uint64_t site, now = gpurt_real_ns();

    nativecalls_take(&calls);
    site = nativecalls_hash(&calls);
    out.calls = site_find(box, site);
    if (out.calls == 0)
        nativecalls_write(&calls, text);
    callers_tell(callers_turn(CALLERS_OFTEN, now) ? callers_take(false) : 0, &who);
    out.whose = who.whose;
    numbers_fill(ring, box, name_of(told, call, room, &out.graph), site, text, who.python,
                 &out);
    put(ring, device_of(call->context), now, &out);
}

void launches_told(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const gpurt_hostring_t *ring;
    uint64_t box;
    launchcall_t told;

    if (call->callbackSite != CUPTI_API_ENTER ||
        !launchcall_read(id, call->functionParams, &told))
        return;
    ring = outlet_borrow(&box);
    if (!ring) {
        gpurt_add_relaxed_dev_u64(&launches.xmissed, 1); /* relaxed: a count */
        return;
    }
    tell(ring, box, &told, call);
    outlet_return();
}

uint64_t launches_missed(void)
{
    return gpurt_xchg_relaxed_dev_u64(&launches.xmissed, 0); /* relaxed: a count */
}

/* ---- start --------------------------------------------------------------------------- */

bool launches_watch(const cupti_api_t *api, CUpti_SubscriberHandle subscriber)
{
    launches.api = api;
    callers_begin(api);
    for (size_t i = 0; i < LAUNCHCALLS; i++)
        launches.on |= api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                                launchcall_ids[i]) == CUPTI_SUCCESS;
    return launches.on;
}

bool launches_are_watched(void)
{
    return launches.on;
}
