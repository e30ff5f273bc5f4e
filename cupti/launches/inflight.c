/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "inflight.h"

#include "callers.h"
#include "duty.h"
#include "hosttime.h"
#include "launchcall.h"
#include "launchnames.h"
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
    COUNTED_STREAMS = 512, /* a power of two */
    DEPTH = 2048, /* launches of a stream: a driver lets fewer wait (1,024 on an H200) */
    LOOK_MS = 250,
    OLD_MS = 500, /* what is younger may have ended: its record is on its way */
    OLD_ROOM = 4096,
    STREAMS = 16, /* that are told of */
    SHOWN = 12,   /* launches of each, */
    OLDEST = 2,   /* of them the oldest ones */
    STOP_MS = 1000
};
#define UNKNOWN_TEXT "(not known)"
#define SEEK_NS      2000000000ull
#define PER_THREAD   ((CUstream)(uintptr_t)2) /* as CUDA has it */

typedef struct launch {
    uint32_t correlation; /* 0: free */
    uint32_t thread, device, graph;
    uint32_t index;   /* of its stream, 0: not counted */
    uint32_t callers; /* number of its stack, 0: not known */
    uint64_t self;    /* pthread_self */
    uint32_t grid[3], block[3];
    uint64_t ns;              /* real time */
    const launchname_t *name; /* NULL: a graph */
    inflight_key_t key;
} launch_t;

/* A name that was seen at an address. A module that is unloaded gives that to another, so the text
 * is compared. */
typedef struct seen_name {
    const char *at;
    const launchname_t *name;
} seen_name_t;

typedef struct shard {
    pthread_mutex_t lock;
    launch_t of[SLOTS];
    seen_name_t names[SHARD_NAMES];
    CUcontext context; /* the last one, and its device */
    uint32_t device;
} shard_t;

/* How many were launched into a stream. */
typedef struct stream_count {
    inflight_key_t key;
    uint32_t count; /* 0: free */
} stream_count_t;

/* All launches of a key up to this one have ended. Two keys of one place share it by turns: then
 * less is known. */
typedef struct mark {
    inflight_key_t key;
    uint32_t correlation;
} mark_t;

static struct {
    bool on;          /* fixed before the first launch */
    uint32_t xleft;   /* a forked child; written by: it */
    uint64_t xmissed; /* launches without a slot; written by: any thread (adds) */
    shard_t shards[SHARDS];
    pthread_mutex_t marks_lock; /* guards the marks */
    mark_t marks[MARKS];
    pthread_mutex_t counts_lock; /* guards the counts */
    stream_count_t counts[COUNTED_STREAMS];
    duty_t looker; /* its thread's are all below */
    launch_t old[OLD_ROOM];
    bool told, missed_told;
    uint64_t sought_ns; /* callers */
} inflight = {.marks_lock = PTHREAD_MUTEX_INITIALIZER,
              .counts_lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- names --------------------------------------------------------------------------- */

/* Under the shard's lock. */
static const launchname_t *name_of(shard_t *s, const char *text)
{
    seen_name_t *seen = &s->names[((uintptr_t)text >> 4) % SHARD_NAMES];

    if (seen->at != text || strcmp(seen->name->text, text) != 0)
        *seen = (seen_name_t){text, launchnames_find(text)};
    return seen->name;
}

/* ---- a launch ------------------------------------------------------------------------ */

static uint32_t thread_number(void)
{
    static __thread uint32_t number __attribute__((tls_model("initial-exec")));

    if (number == 0)
        number = (uint32_t)gettid();
    return number;
}

static inflight_key_t key_of(CUcontext context, CUstream stream, bool per_thread)
{
    const bool own = stream == PER_THREAD || (!stream && per_thread);

    return (inflight_key_t){
        context, own ? (uint64_t)(uintptr_t)PER_THREAD : (uint64_t)(uintptr_t)stream,
        own ? thread_number() : 0};
}

static bool key_same(const inflight_key_t *a, const inflight_key_t *b)
{
    return a->context == b->context && a->stream == b->stream && a->thread == b->thread;
}

static uint32_t key_hash(const inflight_key_t *key)
{
    uint64_t h = ((uint64_t)(uintptr_t)key->context ^ key->stream * 31 ^ key->thread) *
                 0xff51afd7ed558ccdull;

    return (uint32_t)(h >> 32);
}

/* The launch's number in its stream, from 1 on; 0: there are too many streams. Under the lock. */
static uint32_t index_add(const inflight_key_t *key, uint32_t more)
{
    const uint32_t at = key_hash(key);

    for (uint32_t i = 0; i < PROBES; i++) {
        stream_count_t *c = &inflight.counts[(at + i) % COUNTED_STREAMS];

        if (c->count == 0)
            c->key = *key;
        if (key_same(&c->key, key))
            return c->count += more;
    }
    return 0;
}

/* Of one more launch. */
static uint32_t index_take(const inflight_key_t *key)
{
    uint32_t index;

    pthread_mutex_lock(&inflight.counts_lock);
    index = index_add(key, 1);
    pthread_mutex_unlock(&inflight.counts_lock);
    return index;
}

/* Of the newest one. */
static uint32_t index_of(const inflight_key_t *key)
{
    uint32_t index;

    pthread_mutex_lock(&inflight.counts_lock);
    index = index_add(key, 0);
    pthread_mutex_unlock(&inflight.counts_lock);
    return index;
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

/* Whether it must have ended, because the driver has taken so many behind it. */
static bool is_outrun(const launch_t *l, const inflight_key_t *key, uint32_t index)
{
    return l->index && index && key_same(&l->key, key) && index - l->index > DEPTH;
}

/* A slot for one more. NULL: there is none. Under the lock. */
static launch_t *slot_take(shard_t *s, uint32_t number, const inflight_key_t *key,
                           uint32_t index)
{
    launch_t *slot = slot_of(s, number, 0);

    for (uint32_t i = 0; i < PROBES && !slot; i++) {
        launch_t *l = &s->of[(number / SHARDS + i) % SLOTS];

        if (is_outrun(l, key, index))
            slot = l;
    }
    return slot;
}

static uint32_t device_of(shard_t *s, const inflight_launch_t *launch)
{
    if (s->context != launch->context) {
        s->context = launch->context;
        s->device = launch->context ? launch->device_of(launch->context) : 0;
    }
    return s->device;
}

static void launch_fill(shard_t *s, launch_t *to, const inflight_launch_t *launch,
                        uint64_t now_ns, uint32_t callers)
{
    const launchcall_t *call = launch->call;

    memcpy(to->grid, call->grid, sizeof to->grid);
    memcpy(to->block, call->block, sizeof to->block);
    to->correlation = launch->number;
    to->thread = thread_number();
    to->self = (uint64_t)pthread_self();
    to->callers = callers;
    to->ns = now_ns;
    to->device = device_of(s, launch);
    to->graph = launch->graph;
    to->name = launch->name;
    if (!call->graph && !to->name)
        to->name = name_of(s, launch->symbol ? launch->symbol : "?");
}

void inflight_begins(const inflight_launch_t *launch)
{
    const launchcall_t *call = launch->call;
    const inflight_key_t key = key_of(launch->context, call->stream, call->per_thread);
    shard_t *s = shard_of(launch->number);
    const uint64_t now = gpurt_real_ns();
    uint32_t callers, index;
    launch_t *slot;

    if (gpurt_load_relaxed_dev_u32(&inflight.xleft)) /* relaxed: of this very thread */
        return;
    callers = callers_turn(CALLERS_SELDOM, now) ? callers_take(true) : 0;
    index = index_take(&key);
    pthread_mutex_lock(&s->lock);
    slot = slot_take(s, launch->number, &key, index);
    if (slot) {
        slot->key = key;
        slot->index = index;
        launch_fill(s, slot, launch, now, callers);
    }
    pthread_mutex_unlock(&s->lock);
    if (!slot)
        gpurt_add_relaxed_dev_u64(&inflight.xmissed, 1); /* relaxed: a count */
}

/* Returns: whether it was there; *key: of its stream. */
static bool launch_ends(uint32_t correlation, inflight_key_t *key)
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

static mark_t *mark_of(const inflight_key_t *key)
{
    return &inflight.marks[key_hash(key) % MARKS];
}

static void mark_put(const inflight_key_t *key, uint32_t correlation)
{
    mark_t *m = mark_of(key);

    pthread_mutex_lock(&inflight.marks_lock);
    if (!key_same(&m->key, key) || (int32_t)(correlation - m->correlation) > 0)
        *m = (mark_t){*key, correlation};
    pthread_mutex_unlock(&inflight.marks_lock);
}

static bool is_behind(const inflight_key_t *key, uint32_t correlation)
{
    const mark_t *m = mark_of(key);

    return m->correlation && key_same(&m->key, key) &&
           (int32_t)(m->correlation - correlation) >= 0;
}

static bool has_ended(const launch_t *l)
{
    const inflight_key_t all = {l->key.context, INFLIGHT_ALL, 0},
                         anywhere = {NULL, l->key.stream, 0},
                         each = {NULL, INFLIGHT_ALL, 0};
    bool ended;

    if (is_outrun(l, &l->key, index_of(&l->key)))
        return true;
    pthread_mutex_lock(&inflight.marks_lock);
    ended = is_behind(&l->key, l->correlation) || is_behind(&all, l->correlation) ||
            is_behind(&anywhere, l->correlation) || is_behind(&each, l->correlation);
    pthread_mutex_unlock(&inflight.marks_lock);
    return ended;
}

void inflight_ended(uint32_t correlation)
{
    inflight_key_t key;

    if (inflight.on && launch_ends(correlation, &key))
        mark_put(&key, correlation);
}

void inflight_fails(uint32_t number)
{
    inflight_key_t key;

    launch_ends(number, &key);
}

void inflight_waited(CUcontext context, CUstream stream, bool per_thread, bool whole,
                     uint32_t number)
{
    inflight_key_t key = {context, INFLIGHT_ALL, 0};

    if (gpurt_load_relaxed_dev_u32(&inflight.xleft)) /* relaxed: of this very thread */
        return;
    if (!whole)
        key = key_of(context, stream, per_thread);
    mark_put(&key, number);
}

void inflight_drop(const inflight_key_t *streams, uint32_t number)
{
    if (!gpurt_load_relaxed_dev_u32(&inflight.xleft)) /* relaxed: as above */
        mark_put(streams, number);
}

/* ---- looking: the thread ------------------------------------------------------------- */

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_stream(const inflight_key_t *a, const inflight_key_t *b)
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
static uint32_t old_copy(launch_t old[OLD_ROOM], uint64_t now_ns, uint32_t ms)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < SHARDS; i++) {
        shard_t *s = &inflight.shards[i];

        pthread_mutex_lock(&s->lock);
        for (uint32_t k = 0; k < SLOTS && count < OLD_ROOM; k++)
            if (s->of[k].correlation && now_ns > s->of[k].ns &&
                now_ns - s->of[k].ns >= ms * 1000000ull)
                old[count++] = s->of[k];
        pthread_mutex_unlock(&s->lock);
    }
    return count;
}

/* Those that have not ended, by stream. Returns: how many. */
static uint32_t old_collect(launch_t old[OLD_ROOM], uint64_t now_ns, uint32_t ms)
{
    const uint32_t count = old_copy(old, now_ns, ms);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        inflight_key_t key;

        if (has_ended(&old[i]))
            launch_ends(old[i].correlation, &key);
        else
            old[kept++] = old[i];
    }
    if (kept)
        qsort(old, kept, sizeof old[0], compare_launches);
    return kept;
}

uint32_t inflight_streams(inflight_key_t *streams, uint32_t room, uint32_t ms)
{
    static launch_t old[OLD_ROOM];
    const uint32_t count = old_collect(old, gpurt_real_ns(), ms);
    uint32_t found = 0;

    for (uint32_t i = 0; i < count && found < room; i++)
        if (i == 0 || !key_same(&old[i].key, &old[i - 1].key))
            streams[found++] = old[i].key;
    return found;
}

/* All launches of a stream, young ones too. */
static uint32_t stream_count(const inflight_key_t *key)
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
    char graph[32] = "a graph";

    memcpy(out.grid, l->grid, sizeof out.grid);
    memcpy(out.block, l->block, sizeof out.block);
    if (l->graph)
        snprintf(graph, sizeof graph, "graph %u", l->graph);
    out.name = outlet_name(l->name ? l->name->text : graph, l->name && !l->name->plain);
    callers_put(l, &out);
    outlet_put(GPURT_KIND_RUNNING, l->device, now_ns, &out);
}

/* Which of those picked has that name; `count`: none. */
static uint32_t place_in(const launch_t *first, const uint32_t *picked, uint32_t count,
                         const launchname_t *name)
{
    uint32_t i = 0;

    while (i < count && first[picked[i]].name != name)
        i++;
    return i;
}

/* Of each name the newest launch; but the newest whose stack is known, where there is one. Returns: how
 * many. */
static uint32_t names_pick(const launch_t *first, uint32_t count,
                           uint32_t picked[SHOWN - OLDEST])
{
    uint32_t names = 0;

    for (uint32_t i = count; i-- > OLDEST;) {
        const uint32_t place = place_in(first, picked, names, first[i].name);

        if (place == names && names == SHOWN - OLDEST)
            continue;
        if (place == names || (!first[picked[place]].callers && first[i].callers))
            picked[place] = i;
        names += place == names;
    }
    return names;
}

static int compare_places(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* The oldest ones, and one of each name: which of them runs others know. Returns: how many, in the
 * order of launches. */
static uint32_t shown_pick(const launch_t *first, uint32_t count, uint32_t shown[SHOWN])
{
    const uint32_t oldest = count < OLDEST ? count : OLDEST,
                   names = names_pick(first, count, shown + oldest);

    for (uint32_t i = 0; i < oldest; i++)
        shown[i] = i;
    qsort(shown, oldest + names, sizeof shown[0], compare_places);
    return oldest + names;
}

static void stream_put(const launch_t *first, uint32_t count, uint64_t now_ns)
{
    const uint32_t queued = stream_count(&first->key);
    uint32_t shown[SHOWN];
    const uint32_t all = shown_pick(first, count, shown);

    for (uint32_t i = 0; i < all; i++)
        launch_put(&first[shown[i]], shown[i], queued > count ? queued : count, now_ns);
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
    const uint32_t count = old_collect(inflight.old, now, OLD_MS);

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

bool inflight_start(void)
{
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&inflight.shards[i].lock, NULL);
    inflight.on = duty_start(&inflight.looker, "gpurt-running", look_run, NULL);
    return inflight.on;
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
