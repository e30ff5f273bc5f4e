/* SPDX-License-Identifier: Apache-2.0 */
#include "life.h"

#include "boxlink.h"
#include "channelkeep.h"
#include "forked.h"
#include "guards.h"
#include "heapmap.h"
#include "logunit.h"
#include "panicwait.h"
#include "panicwatch.h"
#include "refuse.h"
#include "serviceown.h"

#include <string.h>

/* Nothing is stored in it: its address is all there is to it. */
struct gpurt {
    char unused;
};

#define TOKEN_COUNT 4096
#define CACHE_LINE  64

/* Token i stands for a device of index i % GPURT_MAX_DEVICES. */
static gpurt_t tokens[TOKEN_COUNT];
GPURT_STATIC_ASSERT(TOKEN_COUNT % GPURT_MAX_DEVICES == 0, "each index has as many tokens");

/* Written by every call; alone on its line, because every call also reads `opened`. */
typedef struct door {
    gpurt_pin_t pin;
    char rest[CACHE_LINE - sizeof(gpurt_pin_t)];
} door_t;

/* What an open device has, by its index. Written under life_lock while nobody is inside. */
typedef struct place {
    gpurt_opened_t opened;
    uint32_t next_token;
    bool is_open;
    bool changes; /* it is being opened or closed */
} GPURT_ALIGN(CACHE_LINE) place_t;

static door_t doors[GPURT_MAX_DEVICES] GPURT_ALIGN(CACHE_LINE);
static place_t places[GPURT_MAX_DEVICES];

/* Generation of the process that was given the token last; 0: none. Written by: gpurt_open, under
 * life_lock. */
static uint32_t xgiven[TOKEN_COUNT];

static uint32_t xsettled; /* gpurt_process_first's */

/* life_lock: one open or close at a time, so an open waits for a close to end. idle: the
 * last call has left through a retired door. */
static gpurt_lock_t life_lock = GPURT_LOCK_INIT;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;

gpurt_handles_t gpurt_handles = {.lock = GPURT_LOCK_INIT};

/* TOKEN_COUNT for an address that is none. The arithmetic is on integers: on pointers it
 * would be undefined for just the ones to be found out. */
static uint32_t token_index(const gpurt_t *rt)
{
    uintptr_t index = ((uintptr_t)rt - (uintptr_t)tokens) / sizeof tokens[0];

    return index < TOKEN_COUNT ? (uint32_t)index : TOKEN_COUNT;
}

/* A door opens to the process that opened it: a child's word is another one. */
static uint64_t door_id(uint32_t token)
{
    return pin_id(gpurt_process_generation() * TOKEN_COUNT + token, 0);
}

/* Whether gpurt_open gave it before this process was forked. */
static bool is_forked(const gpurt_t *rt)
{
    uint32_t token = token_index(rt), given;

    if (token == TOKEN_COUNT)
        return false;
    given = gpurt_load_relaxed_sys_u32(&xgiven[token]); /* relaxed: the word is all */
    return given && given != gpurt_process_generation();
}

static GPURT_NOINLINE gpurt_status_t refuse(const gpurt_t *rt, gpurt_error_t *err)
{
    if (!rt)
        return REFUSE(err, GPURT_E_CLOSED,
                      "the runtime is NULL: call gpurt_open and look at its status");
    if (token_index(rt) == TOKEN_COUNT)
        return REFUSE(err, GPURT_E_INVALID,
                      "%p is no runtime: pass the pointer that gpurt_open gave",
                      (const void *)rt);
    if (is_forked(rt))
        return REFUSE(err, GPURT_E_FORKED,
                      "the runtime was opened before this process was forked and is its "
                      "parent's: gpurt_open here, use the new pointer");
    return REFUSE(err, GPURT_E_CLOSED,
                  "the runtime was closed: gpurt_open it again, use the new pointer");
}

gpurt_status_t gpurt_life_enter(const gpurt_t *rt, const gpurt_opened_t **out,
                                gpurt_error_t *err)
{
    uint32_t token = token_index(rt), index = token % GPURT_MAX_DEVICES;

    if (GPURT_UNLIKELY(!pin_take(&doors[index].pin, door_id(token))))
        return refuse(rt, err);
    *out = &places[index].opened;
    return GPURT_OK;
}

gpurt_status_t gpurt_life_leave(const gpurt_opened_t *opened, gpurt_status_t status)
{
    if (pin_drop(&doors[opened->index].pin)) {
        pthread_mutex_lock(&idle_lock);
        pthread_cond_broadcast(&idle);
        pthread_mutex_unlock(&idle_lock);
    }
    return status;
}

gpurt_status_t gpurt_life_check(const gpurt_t *rt, gpurt_error_t *err)
{
    const gpurt_opened_t *opened;
    gpurt_status_t st = gpurt_life_enter(rt, &opened, err);

    return st == GPURT_OK ? gpurt_life_leave(opened, GPURT_OK) : st;
}

uint32_t gpurt_life_index(const gpurt_t *rt)
{
    return token_index(rt) % GPURT_MAX_DEVICES;
}

/* The door was retired; from now on its users only get fewer. */
static void wait_until_idle(const door_t *door)
{
    pthread_mutex_lock(&idle_lock);
    while (pin_users(&door->pin) != 0)
        pthread_cond_wait(&idle, &idle_lock);
    pthread_mutex_unlock(&idle_lock);
}

/* Work first, so that its failure is told with all the back end knows about it. Events
 * before streams, because an event may be recorded in one. Returns: the first failure. */
static gpurt_status_t dismantle(gpurt_opened_t *o, gpurt_error_t *err)
{
    gpurt_status_t first = o->ops->sync(o->self, err), st;
    uint32_t cursor = 0;
    void *object;

    gpurt_panicwatch_stop(o);
    gpurt_guards_hear_all(o, first);
    st = gpurt_guards_settle(o, false, first == GPURT_OK ? err : NULL);
    first = first == GPURT_OK ? st : first;
    if (first == GPURT_OK)
        first = gpurt_panicwait_hear_all(o, err);
    while ((object = gpurt_handle_sweep(
                &gpurt_handles, gpurt_handle_of(o->index, GPURT_HANDLE_GUARD), &cursor)))
        gpurt_guard_free(o, object);
    cursor = 0;
    while ((object = gpurt_handle_sweep(
                &gpurt_handles, gpurt_handle_of(o->index, GPURT_HANDLE_EVENT), &cursor)))
        o->ops->event_destroy(o->self, object);
    cursor = 0;
    while ((object = gpurt_handle_sweep(
                &gpurt_handles, gpurt_handle_of(o->index, GPURT_HANDLE_STREAM), &cursor)))
        o->ops->stream_destroy(o->self, object);
    gpurt_services_closed(o);
    gpurt_channels_closed(o);
    gpurt_boxlink_close(o); /* no kernel runs any more */
    st = o->ops->close(o->self, first == GPURT_OK ? err : NULL);
    return first == GPURT_OK ? st : first;
}

/* Under life_lock. GPURT_MAX_DEVICES: all are taken. */
static uint32_t place_find(void)
{
    uint32_t i = 0;

    while (i < GPURT_MAX_DEVICES && places[i].is_open)
        i++;
    return i;
}

/* Under life_lock, as gpurt_open is. */
const gpurt_opened_t *gpurt_life_find(gpurt_backend_t backend, int32_t device)
{
    for (uint32_t i = 0; i < GPURT_MAX_DEVICES; i++)
        if (places[i].is_open && places[i].opened.info.backend == backend &&
            places[i].opened.info.device == device)
            return &places[i].opened;
    return NULL;
}

/* Under life_lock. */
static gpurt_status_t place_open(place_t *p, uint32_t index, const gpurt_options_t *options,
                                 gpurt_error_t *err)
{
    gpurt_status_t st;

    p->changes = true;
    st = gpurt_choice_open(options, index, &p->opened, err);
    if (st == GPURT_OK)
        gpurt_boxlink_open(&p->opened, options);
    p->is_open = st == GPURT_OK;
    p->changes = false;
    return st;
}

/* ---- after a fork -------------------------------------------------------------------- */

/* In a child: what its parent had open is let go. No thread of it is here. */
static void settle(void)
{
    if (!gpurt_process_first(&xsettled))
        return;
    if (gpurt_process_is_forked()) {
        pthread_mutex_init(&idle_lock, NULL);
        pthread_cond_init(&idle, NULL);
        for (uint32_t i = 0; i < GPURT_MAX_DEVICES; i++) {
            if (places[i].changes)
                gpurt_forked_changing(i);
            else if (places[i].is_open)
                gpurt_forked_device(&places[i].opened);
            places[i].is_open = places[i].changes = false;
        }
        gpurt_forked_tables();
    }
    gpurt_process_ready(&xsettled);
}

/* The parent's: settle has given back what was here. Once it answers as one that was closed. */
static void forked_close(const gpurt_t *rt)
{
    gpurt_store_relaxed_sys_u32(&xgiven[token_index(rt)],
                                gpurt_process_generation()); /* relaxed: as is_forked */
}

gpurt_status_t gpurt_open(const gpurt_options_t *options, gpurt_t **out, gpurt_error_t *err)
{
    gpurt_options_t read;
    gpurt_status_t st;
    uint32_t index;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID,
                      "gpurt_open: out is NULL; pass the address of a gpurt_t pointer");
    *out = NULL;
    settle();
    gpurt_log_unit_opened();
    st = gpurt_choice_options(options, &read, err);
    if (st != GPURT_OK)
        return st;
    gpurt_lock_take(&life_lock);
    index = place_find();
    if (index == GPURT_MAX_DEVICES)
        st = REFUSE(err, GPURT_E_OPEN, "%d devices are open, more cannot be: close one",
                    GPURT_MAX_DEVICES);
    else
        st = place_open(&places[index], index, &read, err);
    if (st == GPURT_OK) {
        uint32_t token = places[index].next_token * GPURT_MAX_DEVICES + index;

        places[index].next_token =
            (places[index].next_token + 1) % (TOKEN_COUNT / GPURT_MAX_DEVICES);
        gpurt_store_relaxed_sys_u32(&xgiven[token],
                                    gpurt_process_generation()); /* relaxed: as is_forked */
        pin_publish(&doors[index].pin, door_id(token));
        *out = &tokens[token];
    }
    gpurt_lock_give(&life_lock);
    if (st == GPURT_OK)
        gpurt_heapauto_open(*out);
    return st;
}

gpurt_status_t gpurt_close(gpurt_t *rt, gpurt_error_t *err)
{
    uint32_t index = gpurt_life_index(rt);
    place_t *p = &places[index];
    gpurt_status_t st, heaps, services;
    bool last;

    if (!rt)
        return GPURT_OK;
    settle();
    if (is_forked(rt)) {
        forked_close(rt);
        return GPURT_OK;
    }
    services = gpurt_services_closing(rt, err);
    if (services == GPURT_E_TIMEOUT)
        return services;
    gpurt_heapauto_close(rt);
    heaps = gpurt_heaps_closing(rt, services == GPURT_OK ? err : NULL);
    heaps = services == GPURT_OK ? heaps : services;
    gpurt_lock_take(&life_lock);
    if (pin_retire(&doors[index].pin, door_id(token_index(rt)), &last)) {
        if (!last)
            wait_until_idle(&doors[index]);
        p->changes = true;
        st = dismantle(&p->opened, heaps == GPURT_OK ? err : NULL);
        st = heaps == GPURT_OK ? st : heaps;
        p->is_open = p->changes = false;
    } else {
        st = refuse(rt, err);
    }
    gpurt_lock_give(&life_lock);
    return st;
}
