/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "hooked.h"

#include "counted.h"
#include "hosttime.h"
#include "hostwaits.h"
#include "inflight.h"
#include "streamends.h"
#include "trouble.h"

#include <dlfcn.h>
#include <gpurt/atomic.h>
#include <string.h>

enum {
    SEEN = 4096,       /* functions whose names are at hand */
    SETS = 1024,       /* of places */
    WAYS = 8,          /* places in a set: a line */
    TIMED = 64,        /* launches, of which one is timed */
    SPENT_MOST = 20000 /* ns of one: what is more, the thread did not run */
};

/* A function, and what it is called; never changed once it is there. */
typedef struct seen {
    CUfunction function;
    launchname_t *name;
    uint32_t era; /* of the code that is loaded */
} seen_t;

/* One process. */
static struct {
    CUresult (*context_get)(CUcontext *context);
    CUresult (*context_device)(CUdevice *device);
    CUresult (*function_name)(const char **name, CUfunction function);
    CUresult (*kernel_name)(const char **name, CUkernel kernel);
    bool on, running, counted; /* all fixed by start */
    uint32_t xleft;            /* a forked child; written by: it */
    uint32_t xnumber;          /* launches that began; written by: any thread (adds) */
    uint32_t xunwatched; /* 1: what runs is not watched for now; written by: one thread */
    uint32_t xera;       /* one more when code goes; written by: any thread (adds) */
    uint32_t xseen;      /* of `seen`; written by: any thread (adds) */
    /* of launches that are timed; written by: any thread (adds) */
    uint64_t xcounting_ns, xcounted, xwatching_ns, xwatched;
    /* By function: part of its hash << 32 | place in `seen` + 1; written by: any thread */
    uint64_t xplaces[SETS][WAYS] GPURT_ALIGN(64);
    seen_t seen[SEEN];
} hooked;

/* ---- names --------------------------------------------------------------------------- */

/* What a program launches may be a function or a kernel of a library: it does not say. */
static launchname_t *name_ask(CUfunction function)
{
    const char *name = NULL;

    if (hooked.function_name && hooked.function_name(&name, function) == CUDA_SUCCESS &&
        name)
        return launchnames_find(name);
    if (hooked.kernel_name &&
        hooked.kernel_name(&name, (CUkernel)(void *)function) == CUDA_SUCCESS && name)
        return launchnames_find(name);
    return launchnames_find("?");
}

static uint64_t hash_of(CUfunction function)
{
    return (uint64_t)(uintptr_t)function * 0xff51afd7ed558ccdull;
}

/* What a place says; its upper half is that of the hash, but for the bits that chose the set. */
static uint64_t place_word(uint64_t hash, uint32_t at)
{
    return ((hash << 10) & ~(uint64_t)UINT32_MAX) | (at + 1);
}
static uint64_t *set_of(uint64_t hash)
{
    return hooked.xplaces[hash >> 54];
}
GPURT_STATIC_ASSERT(SETS == 1 << (64 - 54), "set_of");

/* Returns: NULL: it is none of that hash. */
static const seen_t *seen_of(uint64_t word, uint64_t hash)
{
    const uint32_t at = (uint32_t)word;

    return at && word == place_word(hash, at - 1) ? &hooked.seen[at - 1] : NULL;
}

/* The place of what is gone, one that is free, or any. */
static uint64_t *place_for(uint64_t hash, uint32_t era, uint32_t any)
{
    uint64_t *set = set_of(hash);

    for (uint32_t i = 0; i < WAYS; i++) {
        const uint64_t word = gpurt_load_acquire_dev_u64(&set[i]); /* LH3.acq */

        if (!word || hooked.seen[(uint32_t)word - 1].era != era)
            return &set[i];
    }
    return &set[any % WAYS];
}

static void seen_put(uint64_t hash, CUfunction function, launchname_t *name, uint32_t era)
{
    const uint32_t at = gpurt_add_relaxed_dev_u32(&hooked.xseen, 1); /* relaxed: a ticket */

    if (at >= SEEN) { /* modules came and went: each launch of those asks */
        gpurt_store_relaxed_dev_u32(&hooked.xseen, SEEN); /* relaxed: no wrap */
        return;
    }
    hooked.seen[at] = (seen_t){function, name, era};
    gpurt_store_release_dev_u64(place_for(hash, era, at), /* LH3.rel */
                                place_word(hash, at));
}

LAUNCHHOOK_PATH static launchname_t *name_of(CUfunction function)
{
    const uint64_t hash = hash_of(function), *set = set_of(hash);
    /* relaxed: a function that is launched is not unloaded meanwhile */
    const uint32_t era = gpurt_load_relaxed_dev_u32(&hooked.xera);
    launchname_t *name;

    if (!function)
        return launchnames_graphs();
    for (uint32_t i = 0; i < WAYS; i++) {
        const seen_t *seen =
            seen_of(gpurt_load_acquire_dev_u64(&set[i]), hash); /* LH3.acq */

        if (seen && seen->function == function && seen->era == era)
            return seen->name;
    }
    name = name_ask(function);
    seen_put(hash, function, name, era);
    return name;
}

/* ---- what the hook tells ------------------------------------------------------------- */

static bool has_left(void)
{
    return gpurt_load_relaxed_dev_u32(&hooked.xleft); /* relaxed: of this very thread */
}

static uint32_t next_number(void)
{
    const uint32_t number =
        gpurt_add_relaxed_dev_u32(&hooked.xnumber, 1) + 1; /* relaxed: a ticket */

    return number ? number : next_number();
}

static uint32_t device_of(CUcontext context)
{
    CUdevice device = 0;

    (void)context; /* the current one */
    return hooked.context_device(&device) == CUDA_SUCCESS ? (uint32_t)device : 0;
}

static CUcontext context_now(void)
{
    CUcontext context = NULL;

    hooked.context_get(&context);
    return context;
}

static bool is_watched(void)
{
    return hooked.running &&
           !gpurt_load_relaxed_dev_u32(&hooked.xunwatched); /* relaxed: a wish */
}

/* Returns: the launch's number; 0: it does not count. */
LAUNCHHOOK_PATH static uint32_t launch_count(const launchcall_t *call, CUfunction function,
                                             launchname_t **name)
{
    if (has_left() || streamends_is_captured(call->stream, call->per_thread))
        return 0;
    *name = name_of(function);
    if (hooked.counted)
        counted_add(*name, 1);
    return next_number();
}

/* Returns: whether it is watched. */
LAUNCHHOOK_PATH static bool launch_watch(const launchcall_t *call, const launchname_t *name,
                                         uint32_t number)
{
    inflight_launch_t launch = {.call = call, .device_of = device_of, .number = number};

    if (!is_watched() || !streamends_answers(call->stream, call->per_thread))
        return false;
    launch.context = context_now();
    launch.name = call->graph ? NULL : name;
    inflight_begins(&launch);
    return true;
}

static void spent_add(uint64_t *sum, uint64_t ns)
{
    gpurt_add_relaxed_dev_u64(sum, ns < SPENT_MOST ? ns : SPENT_MOST); /* relaxed: so */
}

hooked_spent_t hooked_spent(void)
{
    /* relaxed: numbers */
    return (hooked_spent_t){gpurt_load_relaxed_dev_u64(&hooked.xcounting_ns),
                            gpurt_load_relaxed_dev_u64(&hooked.xcounted),
                            gpurt_load_relaxed_dev_u64(&hooked.xwatching_ns),
                            gpurt_load_relaxed_dev_u64(&hooked.xwatched)};
}

static uint32_t launch_time(const launchcall_t *call, CUfunction function)
{
    const uint64_t begin = gpurt_steady_ns();
    launchname_t *name = NULL;
    const uint32_t launch = launch_count(call, function, &name);
    const uint64_t is = gpurt_steady_ns();

    if (!launch)
        return 0;
    spent_add(&hooked.xcounting_ns, is - begin);
    gpurt_add_relaxed_dev_u64(&hooked.xcounted, 1); /* relaxed: a count */
    if (launch_watch(call, name, launch)) {
        spent_add(&hooked.xwatching_ns, gpurt_steady_ns() - is);
        gpurt_add_relaxed_dev_u64(&hooked.xwatched, 1); /* relaxed: as above */
    }
    return launch;
}

LAUNCHHOOK_PATH static uint32_t launches(const launchcall_t *call, CUfunction function)
{
    launchname_t *name = NULL;
    uint32_t launch;

    /* relaxed: any one in so many */
    if (gpurt_load_relaxed_dev_u32(&hooked.xnumber) % TIMED == 0)
        return launch_time(call, function);
    launch = launch_count(call, function, &name);
    if (launch)
        (void)launch_watch(call, name, launch);
    return launch;
}

LAUNCHHOOK_PATH static void launched(uint32_t launch, CUfunction function, CUresult result)
{
    const bool failed = result != CUDA_SUCCESS;
    const uint64_t begin = launch % TIMED == 0 ? gpurt_steady_ns() : 0;

    if (failed && hooked.counted)
        counted_add(name_of(function), -1);
    if (!is_watched())
        return;
    if (failed)
        inflight_fails(launch);
    else
        inflight_made(launch);
    if (begin)
        spent_add(&hooked.xwatching_ns, gpurt_steady_ns() - begin);
}

static void waits(launchhook_wait_t *wait)
{
    wait->before = inflight_now();
    wait->since_ns = hostwaits_now();
}

static void waited(const launchhook_wait_t *wait)
{
    CUcontext context;

    if (has_left() || (!wait->since_ns && !is_watched()))
        return;
    context = context_now();
    if (wait->context && wait->context != context)
        return; /* of what is current nothing has ended */
    if (wait->since_ns)
        hostwaits_ended(wait->what, device_of(context), wait->since_ns);
    if (is_watched() && wait->what != LAUNCHHOOK_EVENT)
        inflight_waited(context, wait->stream, wait->per_thread,
                        wait->what == LAUNCHHOOK_CONTEXT, wait->before);
}

void hooked_watch(bool watches)
{
    const inflight_key_t all = {NULL, INFLIGHT_ALL, 0};

    gpurt_store_relaxed_dev_u32(&hooked.xunwatched,
                                !watches); /* relaxed: as in is_watched */
    if (!watches && hooked.running)
        inflight_drop(&all);
}

static void stream_ends(CUstream stream)
{
    const inflight_key_t key = {NULL, (uint64_t)(uintptr_t)stream, 0};

    if (hooked.running && !has_left())
        streamends_drop(&key);
}

static void context_ends(CUcontext context)
{
    const inflight_key_t key = {context, INFLIGHT_ALL, 0};

    if (hooked.running && !has_left())
        streamends_drop(&key);
}

static void captures(int more)
{
    if (!has_left())
        streamends_captures(more);
}

static void code_goes(void)
{
    gpurt_add_relaxed_dev_u32(&hooked.xera, 1); /* relaxed: as in name_of */
}

/* Launches are told only where something is made of them (start). */
static launchhook_client_t client = {.waits = waits,
                                     .waited = waited,
                                     .stream_ends = stream_ends,
                                     .context_ends = context_ends,
                                     .captures = captures,
                                     .code_goes = code_goes};

/* ---- start and stop ------------------------------------------------------------------ */

#define FIND(to_, name_)                              \
    do {                                              \
        void *at_ = find(name_);                      \
        memcpy(&hooked.to_, &at_, sizeof hooked.to_); \
    } while (0)

bool hooked_start(bool running, bool counted)
{
    void *entry = dlsym(RTLD_DEFAULT, LAUNCHHOOK_CONNECT);
    launchhook_find_t (*connect)(const launchhook_client_t *);
    launchhook_find_t find;

    if (!entry)
        return false;
    memcpy(&connect, &entry, sizeof connect);
    find = connect(NULL);
    FIND(context_get, "cuCtxGetCurrent");
    FIND(context_device, "cuCtxGetDevice");
    FIND(function_name, "cuFuncGetName");
    FIND(kernel_name, "cuKernelGetName");
    if (!hooked.context_get || !hooked.context_device ||
        (!hooked.function_name && !hooked.kernel_name) || !streamends_start(find, running))
        return false;
    hooked.running = running;
    hooked.counted = counted;
    hooked.on = true;
    if (running || counted) {
        client.launches = launches;
        client.launched = launched;
    }
    connect(&client);
    return true;
}

bool hooked_is_on(void)
{
    return hooked.on;
}

void hooked_stop(void)
{
    if (hooked.on)
        streamends_stop();
}

void hooked_leave(void)
{
    gpurt_store_relaxed_dev_u32(&hooked.xleft, 1); /* relaxed: of this very thread */
}
