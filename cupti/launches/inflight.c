/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "inflight.h"

#include "callers.h"
#include "duty.h"
#include "hosttime.h"
#include "launchcall.h"
#include "outlet.h"
#include "trouble.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/activity.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SHARDS = 64, /* powers of two */
    SLOTS = 256, /* of a shard */
    PROBES = 8,
    SHARD_NAMES = 16,
    MARKS = 512,
    NAMES = 2048, /* a power of two; half of them are used */
    NAME_BYTES = 512 << 10,
    LOOK_MS = 250,
    OLD_MS = 500, /* what is younger may have ended: its record is on its way */
    OLD_ROOM = 1024,
    STREAMS = 16, /* that are told of */
    SHOWN = 4,    /* launches of each */
    STOP_MS = 1000
};
#define UNKNOWN_TEXT "(not known)"
#define NO_ROOM_TEXT "(no room for more names)"
#define SEEK_NS      2000000000ull
#define PER_THREAD   ((CUstream)(uintptr_t)2) /* as CUDA has it */

/* What runs one behind another. */
typedef struct stream_key {
    CUcontext context;
    uint64_t stream;
    uint32_t thread; /* 0, or whose stream it is */
} stream_key_t;

typedef struct launch {
    uint32_t correlation; /* 0: free */
    uint32_t thread, device, graph;
    uint32_t callers; /* number of its stack, 0: not known */
    uint64_t self;    /* pthread_self */
    uint32_t grid[3], block[3];
    uint64_t ns; /* real time */
    const char *name;
    stream_key_t key;
} launch_t;

/* A name that was seen at an address. A module that is unloaded gives that to another, so the text
 * is compared. */
typedef struct seen_name {
    const char *at, *copy;
} seen_name_t;

typedef struct shard {
    pthread_mutex_t lock;
    launch_t of[SLOTS];
    seen_name_t names[SHARD_NAMES];
    CUcontext context; /* the last one, and its device */
    uint32_t device;
} shard_t;

/* All launches of a stream (or, with ALL, of a context) up to this one have ended. Two streams of
 * one place share it by turns: then less is known. */
#define ALL UINT64_MAX
typedef struct mark {
    stream_key_t key;
    uint32_t correlation;
} mark_t;

static struct {
    const cupti_api_t *api;
    bool on, graphs;  /* fixed before the first callback */
    uint32_t xleft;   /* a forked child; written by: it */
    uint64_t xmissed; /* launches without a slot; written by: any thread (adds) */
    shard_t shards[SHARDS];
    pthread_mutex_t marks_lock; /* guards the marks */
    mark_t marks[MARKS];
    pthread_mutex_t names_lock; /* guards what is below; taken within a shard's */
    const char *names[NAMES];
    uint32_t name_count, name_bytes;
    char name_room[NAME_BYTES];
    duty_t looker; /* its thread's are all below */
    launch_t old[OLD_ROOM];
    bool told, missed_told;
    uint64_t sought_ns; /* callers */
} inflight = {.marks_lock = PTHREAD_MUTEX_INITIALIZER,
              .names_lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- names --------------------------------------------------------------------------- */

static uint32_t text_hash(const char *text)
{
    uint32_t h = 2166136261u;

    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 16777619u;
    return h;
}

static const char *name_add(const char *text, const char **to)
{
    size_t bytes = strlen(text) + 1;
    char *copy = inflight.name_room + inflight.name_bytes;

    if (inflight.name_count == NAMES / 2 || bytes > NAME_BYTES - inflight.name_bytes)
        return NO_ROOM_TEXT;
    memcpy(copy, text, bytes);
    inflight.name_bytes += (uint32_t)bytes;
    inflight.name_count++;
    return *to = copy;
}

/* The same text has the same copy, for ever. */
static const char *name_find(const char *text)
{
    uint32_t at = text_hash(text);
    const char *found;

    pthread_mutex_lock(&inflight.names_lock);
    while (inflight.names[at % NAMES] && strcmp(inflight.names[at % NAMES], text) != 0)
        at++;
    found = inflight.names[at % NAMES];
    if (!found)
        found = name_add(text, &inflight.names[at % NAMES]);
    pthread_mutex_unlock(&inflight.names_lock);
    return found;
}

/* Under the shard's lock. */
static const char *name_of(shard_t *s, const char *text)
{
    seen_name_t *seen = &s->names[((uintptr_t)text >> 4) % SHARD_NAMES];

    if (seen->at != text || strcmp(seen->copy, text) != 0)
        *seen = (seen_name_t){text, name_find(text)};
    return seen->copy;
}

/* ---- a launch ------------------------------------------------------------------------ */

static uint32_t thread_number(void)
{
    static __thread uint32_t number __attribute__((tls_model("initial-exec")));

    if (number == 0)
        number = (uint32_t)gettid();
    return number;
}

static stream_key_t key_of(CUcontext context, CUstream stream, bool per_thread)
{
    const bool own = stream == PER_THREAD || (!stream && per_thread);

    return (stream_key_t){
        context, own ? (uint64_t)(uintptr_t)PER_THREAD : (uint64_t)(uintptr_t)stream,
        own ? thread_number() : 0};
}

static bool key_same(const stream_key_t *a, const stream_key_t *b)
{
    return a->context == b->context && a->stream == b->stream && a->thread == b->thread;
}

static shard_t *shard_of(uint32_t correlation)
{
    return &inflight.shards[correlation % SHARDS];
}

/* The slot of a launch, or of 0 a free one that it may have. NULL: there is none. Under the lock. */
static launch_t *slot_of(shard_t *s, uint32_t correlation, uint32_t wanted)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        launch_t *l = &s->of[(correlation / SHARDS + i) % SLOTS];

        if (l->correlation == wanted)
            return l;
    }
    return NULL;
}

static uint32_t device_of(shard_t *s, CUcontext context)
{
    if (s->context != context &&
        inflight.api->cuptiGetDeviceId(context, &s->device) == CUPTI_SUCCESS)
        s->context = context;
    return s->context == context ? s->device : 0;
}

static void launch_fill(shard_t *s, launch_t *to, const launchcall_t *told,
                        const CUpti_CallbackData *call, uint64_t now_ns, uint32_t callers)
{
    memcpy(to->grid, told->grid, sizeof to->grid);
    memcpy(to->block, told->block, sizeof to->block);
    to->correlation = call->correlationId;
    to->thread = thread_number();
    to->self = (uint64_t)pthread_self();
    to->callers = callers;
    to->ns = now_ns;
    to->key = key_of(call->context, told->stream, told->per_thread);
    to->device = call->context ? device_of(s, call->context) : 0;
    to->name = told->graph ? NULL : name_of(s, call->symbolName ? call->symbolName : "?");
    to->graph = 0;
    if (told->graph)
        inflight.api->cuptiGetGraphExecId(told->graph, &to->graph);
}

static void launch_begins(const launchcall_t *told, const CUpti_CallbackData *call)
{
    shard_t *s = shard_of(call->correlationId);
    const uint64_t now = gpurt_real_ns();
    const uint32_t callers = callers_turn(CALLERS_SELDOM, now) ? callers_take(true) : 0;
    launch_t *slot;

    pthread_mutex_lock(&s->lock);
    slot = slot_of(s, call->correlationId, 0);
    if (slot)
        launch_fill(s, slot, told, call, now, callers);
    pthread_mutex_unlock(&s->lock);
    if (!slot)
        gpurt_add_relaxed_dev_u64(&inflight.xmissed, 1); /* relaxed: a count */
}

/* Returns: whether it was there; *key: of its stream. */
static bool launch_ends(uint32_t correlation, stream_key_t *key)
{
    shard_t *s = shard_of(correlation);
    launch_t *slot;

    pthread_mutex_lock(&s->lock);
    slot = slot_of(s, correlation, correlation);
    if (slot) {
        *key = slot->key;
        slot->correlation = 0;
    }
    pthread_mutex_unlock(&s->lock);
    return slot != NULL;
}

/* ---- ends that follow from others ---------------------------------------------------- */

static mark_t *mark_of(const stream_key_t *key)
{
    uint64_t h = ((uint64_t)(uintptr_t)key->context ^ key->stream * 31 ^ key->thread) *
                 0xff51afd7ed558ccdull;

    return &inflight.marks[(h >> 32) % MARKS];
}

static void mark_put(const stream_key_t *key, uint32_t correlation)
{
    mark_t *m = mark_of(key);

    pthread_mutex_lock(&inflight.marks_lock);
    if (!key_same(&m->key, key) || (int32_t)(correlation - m->correlation) > 0)
        *m = (mark_t){*key, correlation};
    pthread_mutex_unlock(&inflight.marks_lock);
}

static bool is_behind(const stream_key_t *key, uint32_t correlation)
{
    const mark_t *m = mark_of(key);

    return m->correlation && key_same(&m->key, key) &&
           (int32_t)(m->correlation - correlation) >= 0;
}

static bool has_ended(const launch_t *l)
{
    const stream_key_t all = {l->key.context, ALL, 0};
    bool ended;

    pthread_mutex_lock(&inflight.marks_lock);
    ended = is_behind(&l->key, l->correlation) || is_behind(&all, l->correlation);
    pthread_mutex_unlock(&inflight.marks_lock);
    return ended;
}

void inflight_ended(uint32_t correlation)
{
    stream_key_t key;

    if (inflight.on && launch_ends(correlation, &key))
        mark_put(&key, correlation);
}

/* ---- calls of the driver ------------------------------------------------------------- */

static const CUpti_CallbackId waits[] = {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
                                         CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz,
                                         CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize};

/* The host has waited for all that it launched before. */
static void wait_ended(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const cuStreamSynchronize_params *p = call->functionParams;
    stream_key_t key = {call->context, ALL, 0};

    if (id != CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize)
        key = key_of(call->context, p->hStream,
                     id == CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz);
    mark_put(&key, call->correlationId);
}

static bool is_wait(CUpti_CallbackId id)
{
    return id == waits[0] || id == waits[1] || id == waits[2];
}

static bool has_failed(const CUpti_CallbackData *call)
{
    return call->functionReturnValue &&
           *(const CUresult *)call->functionReturnValue != CUDA_SUCCESS;
}

void inflight_told(CUpti_CallbackId id, const CUpti_CallbackData *call)
{
    const bool enters = call->callbackSite == CUPTI_API_ENTER;
    launchcall_t told;
    stream_key_t key;

    /* relaxed: of this very thread */
    if (gpurt_load_relaxed_dev_u32(&inflight.xleft) || call->correlationId == 0)
        return;
    if (is_wait(id)) {
        if (!enters && !has_failed(call))
            wait_ended(id, call);
    } else if (!enters) {
        if (has_failed(call))
            launch_ends(call->correlationId, &key);
    } else if (launchcall_read(id, call->functionParams, &told) &&
               (!told.graph || inflight.graphs))
        launch_begins(&told, call);
}

/* ---- looking: the thread ------------------------------------------------------------- */

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_stream(const stream_key_t *a, const stream_key_t *b)
{
    int order = by_number((uint64_t)(uintptr_t)a->context, (uint64_t)(uintptr_t)b->context);

    order = order ? order : by_number(a->stream, b->stream);
    return order ? order : by_number(a->thread, b->thread);
}

static int compare_launches(const void *a, const void *b)
{
    const launch_t *x = a, *y = b;
    int order = by_stream(&x->key, &y->key);

    return order ? order : (int32_t)(x->correlation - y->correlation);
}

/* Copies of those that have been there for long. Returns: how many. */
static uint32_t old_collect(uint64_t now_ns)
{
    uint32_t count = 0, kept = 0;

    for (uint32_t i = 0; i < SHARDS; i++) {
        shard_t *s = &inflight.shards[i];

        pthread_mutex_lock(&s->lock);
        for (uint32_t k = 0; k < SLOTS && count < OLD_ROOM; k++)
            if (s->of[k].correlation && now_ns > s->of[k].ns &&
                now_ns - s->of[k].ns >= OLD_MS * 1000000ull)
                inflight.old[count++] = s->of[k];
        pthread_mutex_unlock(&s->lock);
    }
    for (uint32_t i = 0; i < count; i++) {
        stream_key_t key;

        if (has_ended(&inflight.old[i]))
            launch_ends(inflight.old[i].correlation, &key);
        else
            inflight.old[kept++] = inflight.old[i];
    }
    if (kept)
        qsort(inflight.old, kept, sizeof inflight.old[0], compare_launches);
    return kept;
}

/* All launches of a stream, young ones too. */
static uint32_t stream_count(const stream_key_t *key)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < SHARDS; i++) {
        shard_t *s = &inflight.shards[i];

        pthread_mutex_lock(&s->lock);
        for (uint32_t k = 0; k < SLOTS; k++)
            count += s->of[k].correlation && key_same(&s->of[k].key, key);
        pthread_mutex_unlock(&s->lock);
    }
    return count;
}

/* Its stack; where that is not known, and its thread is still there, where Python stands now. A
 * thread that has ended may have left its pthread_self to another. */
static void callers_put(const launch_t *l, gpurt_activity_running_t *out)
{
    callers_text_t who;
    callers_text_t now;

    callers_tell(l->callers, &who);
    if (!who.python && tgkill(getpid(), (pid_t)l->thread, 0) == 0) {
        callers_tell(callers_of(l->self), &now);
        who.python = now.python;
        who.whose = now.whose;
    }
    out->calls = outlet_name(who.calls ? who.calls : UNKNOWN_TEXT, false);
    out->python = outlet_name(who.python ? who.python : UNKNOWN_TEXT, false);
    out->whose = who.whose;
}

static void launch_put(const launch_t *l, uint32_t place, uint32_t queued, uint64_t now_ns)
{
    gpurt_activity_running_t out = {.stream = gpurt_pair(l->key.stream),
                                    .age = gpurt_pair(now_ns - l->ns),
                                    .queued = queued,
                                    .place = place,
                                    .correlation = l->correlation,
                                    .thread = l->thread};
    char graph[32];

    memcpy(out.grid, l->grid, sizeof out.grid);
    memcpy(out.block, l->block, sizeof out.block);
    snprintf(graph, sizeof graph, "graph %u", l->graph);
    out.name = outlet_name(l->name ? l->name : graph, l->name != NULL);
    callers_put(l, &out);
    outlet_put(GPURT_KIND_RUNNING, l->device, now_ns, &out);
}

/* The oldest ones and the newest: which of them runs others know. */
static void stream_put(const launch_t *first, uint32_t count, uint64_t now_ns)
{
    const uint32_t queued = stream_count(&first->key);

    for (uint32_t i = 0; i < count; i++)
        if (i < SHOWN / 2 || count - i <= SHOWN / 2)
            launch_put(&first[i], i, queued > count ? queued : count, now_ns);
}

static void streams_put(uint32_t count, uint64_t now_ns)
{
    uint32_t streams = 0;

    for (uint32_t i = 0, end; i < count && streams < STREAMS; i = end, streams++) {
        for (end = i; end < count && key_same(&inflight.old[end].key, &inflight.old[i].key);
             end++)
            ;
        stream_put(&inflight.old[i], end - i, now_ns);
    }
}

/* Nothing runs any more of what was told. */
static void none_put(uint64_t now_ns)
{
    const uint32_t unknown = outlet_name(UNKNOWN_TEXT, false);
    gpurt_activity_running_t out = {
        .name = outlet_name("(none)", false), .calls = unknown, .python = unknown};

    outlet_put(GPURT_KIND_RUNNING, 0, now_ns, &out);
}

static void missed_tell(void)
{
    /* relaxed: a count */
    if (inflight.missed_told || !gpurt_load_relaxed_dev_u64(&inflight.xmissed))
        return;
    inflight.missed_told = true;
    trouble_say(TROUBLE_NOTE,
                "what runs is not known of each launch: more than %d were under way",
                SHARDS * SLOTS / 2);
}

static void look(bool last)
{
    const uint64_t now = gpurt_real_ns();
    const uint32_t count = old_collect(now);

    missed_tell();
    if (count == 0 && now - inflight.sought_ns >= SEEK_NS) { /* the loader may wait */
        inflight.sought_ns = now;
        callers_look();
    }
    if ((count == 0 && !inflight.told) || !outlet_enter(last))
        return;
    if (count)
        streams_put(count, now);
    else
        none_put(now);
    outlet_exit();
    inflight.told = count != 0;
}

static void look_run(duty_t *duty)
{
    while (duty_wait(duty, LOOK_MS))
        look(false);
    look(true);
}

/* ---- start and stop ------------------------------------------------------------------ */

bool inflight_watch(const cupti_api_t *api, CUpti_SubscriberHandle subscriber, bool graphs)
{
    bool told = false;

    inflight.api = api;
    inflight.graphs = graphs;
    callers_begin(api);
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&inflight.shards[i].lock, NULL);
    if (!duty_start(&inflight.looker, "gpurt-running", look_run, NULL))
        return false;
    inflight.on = true;
    for (size_t i = 0; i < LAUNCHCALLS; i++)
        told |= api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                         launchcall_ids[i]) == CUPTI_SUCCESS;
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
        api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, waits[i]);
    return told;
}

bool inflight_is_on(void)
{
    return inflight.on;
}

void inflight_stop(void)
{
    duty_stop(&inflight.looker, STOP_MS);
}

void inflight_leave(void)
{
    gpurt_store_relaxed_dev_u32(&inflight.xleft, 1); /* relaxed: of this very thread */
}
