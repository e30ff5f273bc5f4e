/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "inflight_inside.h"

#include "callers.h"
#include "hosttime.h"

#include <gpurt/atomic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SHARDS = 64, /* powers of two */
    SLOTS = 256, /* of a shard */
    ROW = 16,    /* launches with numbers in sequence that lie side by side */
    PROBES = 8,
    SHARD_NAMES = 16,
    MARKS = 512,
    COUNTED_STREAMS = 512, /* a power of two */
    DEPTH = 2048 /* launches of a stream: a driver lets fewer wait (1,024 on an H200) */
};
#define PER_THREAD ((CUstream)(uintptr_t)2) /* as CUDA has it */
GPURT_STATIC_ASSERT(INFLIGHT_SLOTS == SHARDS * SLOTS, "as it is told");

/* A name that was seen at an address. A module that is unloaded gives that to another, so the text
 * is compared. */
typedef struct seen_name {
    const char *at;
    const launchname_t *name;
} seen_name_t;

/* A launch touches the first line, one of `of` and a word of `streams`. */
typedef struct shard {
    pthread_mutex_t lock;
    uint32_t device; /* of the context: the last one */
    CUcontext context;
    inflight_row_t of[SLOTS];
    uint64_t
        streams[SLOTS]; /* of the launch that is or was there: a short walk for a look */
    seen_name_t names[SHARD_NAMES];
} shard_t;

/* How many were launched into a stream. It stays at its place. */
typedef struct stream_count {
    inflight_key_t key; /* written once, under the lock */
    bool used;          /* likewise */
    uint32_t xcount;    /* written by: any thread (adds) */
} stream_count_t;

/* All launches of a key up to this place in the order have ended. Two keys share a place of the
 * table by turns: then less is known. */
typedef struct mark {
    inflight_key_t key;
    uint32_t order;
} mark_t;

static struct {
    uint32_t xleft;   /* a forked child; written by: it */
    uint32_t xmade;   /* launches that came back; written by: any thread (adds) */
    uint64_t xmissed; /* launches without a slot; written by: any thread (adds) */
    shard_t shards[SHARDS];
    pthread_mutex_t marks_lock; /* guards the marks */
    mark_t marks[MARKS];
    pthread_mutex_t counts_lock; /* guards the counts */
    stream_count_t counts[COUNTED_STREAMS];
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

bool inflight_same(const inflight_key_t *a, const inflight_key_t *b)
{
    return a->context == b->context && a->stream == b->stream && a->thread == b->thread;
}

static uint32_t key_hash(const inflight_key_t *key)
{
    uint64_t h = ((uint64_t)(uintptr_t)key->context ^ key->stream * 31 ^ key->thread) *
                 0xff51afd7ed558ccdull;

    return (uint32_t)(h >> 32);
}

/* NULL: there are too many streams. Under the lock. */
static stream_count_t *count_find(const inflight_key_t *key)
{
    const uint32_t at = key_hash(key);

    for (uint32_t i = 0; i < PROBES; i++) {
        stream_count_t *c = &inflight.counts[(at + i) % COUNTED_STREAMS];

        if (!c->used) {
            c->key = *key;
            c->used = true;
        }
        if (inflight_same(&c->key, key))
            return c;
    }
    return NULL;
}

static stream_count_t *count_of(const inflight_key_t *key)
{
    stream_count_t *c;

    pthread_mutex_lock(&inflight.counts_lock);
    c = count_find(key);
    pthread_mutex_unlock(&inflight.counts_lock);
    return c;
}

/* The launch's number in its stream, from 1 on; 0: not known. A thread mostly launches into the
 * stream that it launched into before. */
static uint32_t index_take(const inflight_key_t *key)
{
    static __thread stream_count_t *last __attribute__((tls_model("initial-exec")));

    if (!last || !inflight_same(&last->key, key))
        last = count_of(key);
    return last ? gpurt_add_relaxed_dev_u32(&last->xcount, 1) + 1
                : 0; /* relaxed: a count */
}

/* Of the newest one. */
static uint32_t index_of(const inflight_key_t *key)
{
    stream_count_t *c = count_of(key);

    return c ? gpurt_load_relaxed_dev_u32(&c->xcount) : 0; /* relaxed: a count */
}

static shard_t *shard_of(uint32_t number)
{
    return &inflight.shards[number / ROW % SHARDS];
}

static inflight_row_t *place_of(shard_t *s, uint32_t number, uint32_t probe)
{
    return &s->of[(number / (ROW * SHARDS) * ROW + number % ROW + probe) % SLOTS];
}

/* The slot of a launch. NULL: it has none. Under the lock. */
static inflight_row_t *slot_of(shard_t *s, uint32_t number)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        inflight_row_t *l = place_of(s, number, i);

        if (l->number == number)
            return l;
    }
    return NULL;
}

/* Whether it must have ended, because the driver has taken so many behind it. */
static bool is_outrun(const inflight_row_t *l, const inflight_key_t *key, uint32_t index)
{
    return l->order && l->index && index && inflight_same(&l->key, key) &&
           index - l->index > DEPTH;
}

/* A slot for one more. NULL: there is none. The first one mostly: each is a line or two that no cache
 * holds. Under the lock. */
static inflight_row_t *slot_take(shard_t *s, uint32_t number, const inflight_key_t *key,
                                 uint32_t index)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        inflight_row_t *l = place_of(s, number, i);

        if (!l->number || is_outrun(l, key, index))
            return l;
    }
    return NULL;
}

static uint32_t device_of(shard_t *s, const inflight_launch_t *launch)
{
    if (s->context != launch->context) {
        s->context = launch->context;
        s->device = launch->context ? launch->device_of(launch->context) : 0;
    }
    return s->device;
}

LAUNCHHOOK_PATH static void launch_fill(shard_t *s, inflight_row_t *to,
                                        const inflight_launch_t *launch, uint64_t now_ns,
                                        uint32_t callers)
{
    const launchcall_t *call = launch->call;

    memcpy(to->grid, call->grid, sizeof to->grid);
    memcpy(to->block, call->block, sizeof to->block);
    to->number = launch->number;
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

LAUNCHHOOK_PATH void inflight_begins(const inflight_launch_t *launch)
{
    const launchcall_t *call = launch->call;
    const inflight_key_t key = key_of(launch->context, call->stream, call->per_thread);
    shard_t *s = shard_of(launch->number);
    const uint64_t now = gpurt_real_ns();
    uint32_t callers, index;
    inflight_row_t *slot;

    if (gpurt_load_relaxed_dev_u32(&inflight.xleft)) /* relaxed: of this very thread */
        return;
    callers = callers_turn(CALLERS_SELDOM, now) ? callers_take(true) : 0;
    index = index_take(&key);
    pthread_mutex_lock(&s->lock);
    slot = slot_take(s, launch->number, &key, index);
    if (slot) {
        slot->key = key;
        slot->index = index;
        slot->order = 0;
        s->streams[slot - s->of] = key.stream;
        launch_fill(s, slot, launch, now, callers);
    }
    pthread_mutex_unlock(&s->lock);
    if (!slot)
        gpurt_add_relaxed_dev_u64(&inflight.xmissed, 1); /* relaxed: a count */
}

/* Returns: whether it was there; *was: what it was. */
static bool launch_ends(uint32_t number, inflight_row_t *was)
{
    shard_t *s = shard_of(number);
    inflight_row_t *slot;

    pthread_mutex_lock(&s->lock);
    slot = slot_of(s, number);
    if (slot) {
        *was = *slot;
        slot->number = 0;
    }
    pthread_mutex_unlock(&s->lock);
    return slot != NULL;
}

void inflight_fails(uint32_t number)
{
    inflight_row_t was;

    launch_ends(number, &was);
}

static uint32_t order_take(void)
{
    const uint32_t order =
        gpurt_add_relaxed_dev_u32(&inflight.xmade, 1) + 1; /* relaxed: a ticket */

    return order ? order : order_take();
}

/* What the next launch will write comes into the cache while the program prepares it. */
static void next_fetch(uint32_t number)
{
    shard_t *s = shard_of(number);
    inflight_row_t *next = place_of(s, number, 0);

    __builtin_prefetch(&s->lock, 1);
    __builtin_prefetch(next, 1);
    __builtin_prefetch((const char *)next + sizeof *next / 2, 1);
    __builtin_prefetch(&s->streams[next - s->of], 1);
}

LAUNCHHOOK_PATH void inflight_made(uint32_t number)
{
    const uint32_t order = order_take();
    shard_t *s = shard_of(number);
    inflight_row_t *slot;

    pthread_mutex_lock(&s->lock);
    slot = slot_of(s, number);
    if (slot)
        slot->order = order;
    pthread_mutex_unlock(&s->lock);
    next_fetch(number + 1);
}

/* ---- ends that follow from others ---------------------------------------------------- */

uint32_t inflight_now(void)
{
    /* relaxed: launches of other threads that this one knows of are ordered by how it does */
    return gpurt_load_relaxed_dev_u32(&inflight.xmade);
}

static mark_t *mark_of(const inflight_key_t *key)
{
    return &inflight.marks[key_hash(key) % MARKS];
}

void inflight_emptied(const inflight_key_t *stream, uint32_t before)
{
    mark_t *m = mark_of(stream);

    pthread_mutex_lock(&inflight.marks_lock);
    if (!inflight_same(&m->key, stream) || (int32_t)(before - m->order) > 0)
        *m = (mark_t){*stream, before};
    pthread_mutex_unlock(&inflight.marks_lock);
}

static bool is_behind(const inflight_key_t *key, uint32_t order)
{
    const mark_t *m = mark_of(key);

    return m->order && inflight_same(&m->key, key) && (int32_t)(m->order - order) >= 0;
}

static bool has_ended(const inflight_row_t *l)
{
    const inflight_key_t all = {l->key.context, INFLIGHT_ALL, 0};
    bool ended;

    if (!l->order)
        return false;
    if (is_outrun(l, &l->key, index_of(&l->key)))
        return true;
    pthread_mutex_lock(&inflight.marks_lock);
    ended = is_behind(&l->key, l->order) || is_behind(&all, l->order);
    pthread_mutex_unlock(&inflight.marks_lock);
    return ended;
}

void inflight_ended(uint32_t number)
{
    inflight_row_t was;

    if (launch_ends(number, &was) && was.order)
        inflight_emptied(&was.key, was.order);
}

void inflight_waited(CUcontext context, CUstream stream, bool per_thread, bool whole,
                     uint32_t before)
{
    inflight_key_t key = {context, INFLIGHT_ALL, 0};

    if (gpurt_load_relaxed_dev_u32(&inflight.xleft)) /* relaxed: of this very thread */
        return;
    if (!whole)
        key = key_of(context, stream, per_thread);
    inflight_emptied(&key, before);
}

/* Under the lock. */
static void shard_drop(shard_t *s, const inflight_key_t *streams)
{
    const bool all = streams->stream == INFLIGHT_ALL;

    for (uint32_t i = 0; i < SLOTS; i++)
        if ((all || s->streams[i] == streams->stream) &&
            (!streams->context || s->of[i].key.context == streams->context))
            s->of[i].number = 0;
}

/* One by one: a mark may be lost to another one of its place. */
void inflight_drop(const inflight_key_t *streams)
{
    for (uint32_t i = 0; i < SHARDS; i++) {
        shard_t *s = &inflight.shards[i];

        pthread_mutex_lock(&s->lock);
        shard_drop(s, streams);
        pthread_mutex_unlock(&s->lock);
    }
}

/* ---- looking ------------------------------------------------------------------------- */

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
    const inflight_row_t *x = a, *y = b;
    int order = by_stream(&x->key, &y->key);

    return order ? order : (int32_t)(x->number - y->number);
}

/* Copies of those that have been there for long. Returns: how many. */
static uint32_t old_copy(inflight_row_t old[INFLIGHT_OLD], uint64_t now_ns, uint32_t ms)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < SHARDS; i++) {
        shard_t *s = &inflight.shards[i];

        pthread_mutex_lock(&s->lock);
        for (uint32_t k = 0; k < SLOTS && count < INFLIGHT_OLD; k++)
            if (s->of[k].number && now_ns > s->of[k].ns &&
                now_ns - s->of[k].ns >= ms * 1000000ull)
                old[count++] = s->of[k];
        pthread_mutex_unlock(&s->lock);
    }
    return count;
}

uint32_t inflight_old(inflight_row_t old[INFLIGHT_OLD], uint64_t now_ns, uint32_t ms)
{
    const uint32_t count = old_copy(old, now_ns, ms);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        inflight_row_t was;

        if (has_ended(&old[i]))
            launch_ends(old[i].number, &was);
        else
            old[kept++] = old[i];
    }
    if (kept)
        qsort(old, kept, sizeof old[0], compare_launches);
    return kept;
}

uint32_t inflight_streams(inflight_key_t *streams, uint32_t room, uint32_t ms)
{
    static inflight_row_t old[INFLIGHT_OLD];
    const uint32_t count = inflight_old(old, gpurt_real_ns(), ms);
    uint32_t found = 0;

    for (uint32_t i = 0; i < count && found < room; i++)
        if (i == 0 || !inflight_same(&old[i].key, &old[i - 1].key))
            streams[found++] = old[i].key;
    return found;
}

uint32_t inflight_count(const inflight_key_t *key)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < SHARDS; i++) {
        shard_t *s = &inflight.shards[i];

        pthread_mutex_lock(&s->lock);
        for (uint32_t k = 0; k < SLOTS; k++)
            count += s->of[k].number && inflight_same(&s->of[k].key, key);
        pthread_mutex_unlock(&s->lock);
    }
    return count;
}

uint64_t inflight_missed(void)
{
    return gpurt_load_relaxed_dev_u64(&inflight.xmissed); /* relaxed: a count */
}

/* ---- start --------------------------------------------------------------------------- */

void inflight_start(void)
{
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&inflight.shards[i].lock, NULL);
}

void inflight_leave(void)
{
    gpurt_store_relaxed_dev_u32(&inflight.xleft, 1); /* relaxed: of this very thread */
}
