/* SPDX-License-Identifier: Apache-2.0 */
#include "life.h"

#include "boxlink.h"
#include "guards.h"
#include "heapmap.h"
#include "logunit.h"
#include "panicwait.h"
#include "panicwatch.h"
#include "refuse.h"

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
} GPURT_ALIGN(CACHE_LINE) place_t;

static door_t doors[GPURT_MAX_DEVICES] GPURT_ALIGN(CACHE_LINE);
static place_t places[GPURT_MAX_DEVICES];

/* life_lock: one open or close at a time, so an open waits for a close to end. idle: the
 * last call has left through a retired door. */
static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;

gpurt_handles_t gpurt_handles = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* TOKEN_COUNT for an address that is none. The arithmetic is on integers: on pointers it
 * would be undefined for just the ones to be found out. */
static uint32_t token_index(const gpurt_t *rt)
{
    uintptr_t index = ((uintptr_t)rt - (uintptr_t)tokens) / sizeof tokens[0];

    return index < TOKEN_COUNT ? (uint32_t)index : TOKEN_COUNT;
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
    return REFUSE(err, GPURT_E_CLOSED,
                  "the runtime was closed: gpurt_open it again, use the new pointer");
}

gpurt_status_t gpurt_life_enter(const gpurt_t *rt, const gpurt_opened_t **out,
                                gpurt_error_t *err)
{
    uint32_t token = token_index(rt), index = token % GPURT_MAX_DEVICES;

    if (GPURT_UNLIKELY(!pin_take(&doors[index].pin, pin_id(token, 0))))
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
    gpurt_status_t st = gpurt_choice_open(options, index, &p->opened, err);

    if (st != GPURT_OK)
        return st;
    gpurt_boxlink_open(&p->opened, options);
    p->is_open = true;
    return GPURT_OK;
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
    gpurt_log_unit_opened();
    st = gpurt_choice_options(options, &read, err);
    if (st != GPURT_OK)
        return st;
    pthread_mutex_lock(&life_lock);
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
        pin_publish(&doors[index].pin, pin_id(token, 0));
        *out = &tokens[token];
    }
    pthread_mutex_unlock(&life_lock);
    if (st == GPURT_OK)
        gpurt_heapauto_open(*out);
    return st;
}

gpurt_status_t gpurt_close(gpurt_t *rt, gpurt_error_t *err)
{
    uint32_t index = gpurt_life_index(rt);
    place_t *p = &places[index];
    gpurt_status_t st, heaps;
    bool last;

    if (!rt)
        return GPURT_OK;
    gpurt_heapauto_close(rt);
    heaps = gpurt_heaps_closing(rt, err);
    pthread_mutex_lock(&life_lock);
    if (pin_retire(&doors[index].pin, pin_id(token_index(rt), 0), &last)) {
        if (!last)
            wait_until_idle(&doors[index]);
        st = dismantle(&p->opened, heaps == GPURT_OK ? err : NULL);
        st = heaps == GPURT_OK ? st : heaps;
        p->is_open = false;
    } else {
        st = refuse(rt, err);
    }
    pthread_mutex_unlock(&life_lock);
    return st;
}
