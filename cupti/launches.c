/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "launches.h"

#include "hosttime.h"
#include "launchcall.h"
#include "names.h"
#include "outlet.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FRAMES = 24,       /* walked, ours and the driver's among them */
    KEPT = 6,          /* of the program's, innermost first */
    SITE_SLOTS = 1024, /* a power of two */
    SITES = 512,       /* ways to a launch; what comes later is "(no room for more ways)" */
    STEPS = 250, /* that a launch waits for room: 50 ms, twice what a drainer sleeps */
    STEP_NS = 200000,
    SITE_TEXT = 640 /* at most three slots of definitions each */
};

/* One process. */
static struct {
    const cupti_api_t *api;
    bool on; /* fixed before the first callback */
    uint64_t
        xmissed; /* launches without a box; written by: any thread (adds), the reader */
    uint32_t xstalled; /* the last wait for room was in vain; written by: any thread */
    const void *ours, *cupti; /* modules whose calls are not the program's */
    char program[PATH_MAX];
    pthread_mutex_t lock; /* guards what is below; never held while anything else is */
    uint64_t box;         /* whose numbers they are */
    names_t names;
    uint64_t site_hash[SITE_SLOTS]; /* 0: free */
    uint32_t site_number[SITE_SLOTS];
    uint32_t site_count;
} launches = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- from where ---------------------------------------------------------------------- */

/* The module that holds an address. Takes the loader's lock. */
static struct link_map *module_of(const void *at)
{
    struct link_map *map = NULL;
    Dl_info info;

    return dladdr1(at, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Ours, CUPTI's, the driver's, the runtime's where it is a library of its own. */
static bool is_between(const struct link_map *map)
{
    const char *base = base_of(map->l_name);

    return map == launches.ours || map == launches.cupti ||
           strncmp(base, "libcuda.so", 10) == 0 || strncmp(base, "libcudart.so", 12) == 0;
}

/* " < /usr/lib/libfoo.so+0x1f2a": a return address, from the module's beginning on. */
static size_t frame_add(char *text, size_t used, const struct link_map *map, const void *pc)
{
    const char *path = map && map->l_name[0] ? map->l_name : launches.program;
    uintptr_t base = map ? (uintptr_t)map->l_addr : 0;
    int written = snprintf(text + used, SITE_TEXT - used, "%s%s+0x%llx", used ? " < " : "",
                           map ? path : "?", (unsigned long long)((uintptr_t)pc - base));

    if (written < 0 || used + (size_t)written >= SITE_TEXT) {
        text[used] = '\0'; /* a frame is there whole or not at all */
        return used;
    }
    return used + (size_t)written;
}

/* Where we are on the stack: a sanitizer's backtrace puts itself before. */
static int own_frame(void *const *frames, int count)
{
    int i = 0;

    while (i < count && module_of((const char *)frames[i] - 1) != launches.ours)
        i++;
    return i < count ? i : 0;
}

static void site_write(void *const *frames, int count, char text[SITE_TEXT])
{
    size_t used = 0;
    int kept = 0;

    text[0] = '\0';
    for (int i = own_frame(frames, count); i < count && kept < KEPT; i++) {
        const struct link_map *map = module_of((const char *)frames[i] - 1);

        if (kept == 0 && map && is_between(map))
            continue;
        used = frame_add(text, used, map, frames[i]);
        kept++;
    }
    if (used == 0)
        snprintf(text, SITE_TEXT, "(not known)");
}

static uint64_t hash_of(void *const *frames, int count)
{
    uint64_t h = 0x9e3779b97f4a7c15ull;

    for (int i = 0; i < count; i++)
        h = (h ^ (uint64_t)(uintptr_t)frames[i]) * 0xff51afd7ed558ccdull ^ h >> 31;
    return h ? h : 1;
}

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
                         uint64_t site, const char *site_text,
                         gpurt_activity_driver_launch_t *out)
{
    pthread_mutex_lock(&launches.lock);
    numbers_of(box);
    out->name = names_number(&launches.names, ring, name, false);
    if (out->calls == 0)
        out->calls = site_define(ring, site, site_text);
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
    char text[SITE_TEXT], room[32];
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES);
    uint64_t site = hash_of(frames, count), now = gpurt_real_ns();

    out.calls = site_find(box, site);
    if (out.calls == 0)
        site_write(frames, count, text);
    numbers_fill(ring, box, name_of(told, call, room, &out.graph), site, text, &out);
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
    ssize_t bytes = readlink("/proc/self/exe", launches.program, PATH_MAX - 1);
    void *frames[1], *entry;

    launches.program[bytes > 0 ? bytes : 0] = '\0';
    launches.api = api;
    launches.ours = module_of(&launches);
    memcpy(&entry, &api->cuptiGetVersion, sizeof entry);
    launches.cupti = module_of(entry);
    backtrace(frames, 1); /* the first one loads what it needs */
    for (size_t i = 0; i < LAUNCHCALLS; i++)
        launches.on |= api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                                launchcall_ids[i]) == CUPTI_SUCCESS;
    return launches.on;
}

bool launches_are_watched(void)
{
    return launches.on;
}
