/* SPDX-License-Identifier: Apache-2.0 */
#include "life.h"

#include "boxlink.h"
#include "guards.h"
#include "heapmap.h"
#include "panicwatch.h"
#include "refuse.h"

#include <string.h>

/* Nothing is stored in it: its address is all there is to it. */
struct gpurt {
    char unused;
};

#define TOKEN_COUNT 4096
#define CACHE_LINE  64

static gpurt_t tokens[TOKEN_COUNT];

/* Written by every call; alone on its line, because every call also reads `opened`. */
static struct {
    gpurt_pin_t pin;
} GPURT_ALIGN(CACHE_LINE) door;

/* Written under life_lock while nobody is inside. */
static gpurt_opened_t opened GPURT_ALIGN(CACHE_LINE);
static uint32_t next_token;
static bool is_open;

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
    if (GPURT_UNLIKELY(!pin_take(&door.pin, pin_id(token_index(rt), 0))))
        return refuse(rt, err);
    *out = &opened;
    return GPURT_OK;
}

gpurt_status_t gpurt_life_leave(gpurt_status_t status)
{
    if (pin_drop(&door.pin)) {
        pthread_mutex_lock(&idle_lock);
        pthread_cond_broadcast(&idle);
        pthread_mutex_unlock(&idle_lock);
    }
    return status;
}

/* The door was retired; from now on its users only get fewer. */
static void wait_until_idle(void)
{
    pthread_mutex_lock(&idle_lock);
    while (pin_users(&door.pin) != 0)
        pthread_cond_wait(&idle, &idle_lock);
    pthread_mutex_unlock(&idle_lock);
}

/* Work first, so that its failure is told with all the back end knows about it. Events
 * before streams, because an event may be recorded in one. Returns: the first failure. */
static gpurt_status_t dismantle(gpurt_error_t *err)
{
    gpurt_status_t first = opened.ops->sync(opened.self, err), st;
    uint32_t cursor = 0;
    void *object;

    gpurt_panicwatch_stop();
    gpurt_guards_hear_all(first);
    st = gpurt_guards_settle(&opened, false, first == GPURT_OK ? err : NULL);
    first = first == GPURT_OK ? st : first;
    while ((object = gpurt_handle_sweep(&gpurt_handles, GPURT_HANDLE_GUARD, &cursor)))
        gpurt_guard_free(&opened, object);
    cursor = 0;
    while ((object = gpurt_handle_sweep(&gpurt_handles, GPURT_HANDLE_EVENT, &cursor)))
        opened.ops->event_destroy(opened.self, object);
    cursor = 0;
    while ((object = gpurt_handle_sweep(&gpurt_handles, GPURT_HANDLE_STREAM, &cursor)))
        opened.ops->stream_destroy(opened.self, object);
    gpurt_boxlink_close(&opened); /* no kernel runs any more */
    st = opened.ops->close(opened.self, first == GPURT_OK ? err : NULL);
    return first == GPURT_OK ? st : first;
}

gpurt_status_t gpurt_open(const gpurt_options_t *options, gpurt_t **out, gpurt_error_t *err)
{
    gpurt_options_t read;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID,
                      "gpurt_open: out is NULL; pass the address of a gpurt_t pointer");
    *out = NULL;
    st = gpurt_choice_options(options, &read, err);
    if (st != GPURT_OK)
        return st;
    pthread_mutex_lock(&life_lock);
    if (is_open)
        st = REFUSE(err, GPURT_E_OPEN,
                    "gpurt is open already (%s): share its pointer, or close it first",
                    opened.info.why);
    else
        st = gpurt_choice_open(&read, &opened, err);
    if (st == GPURT_OK) {
        gpurt_boxlink_open(&opened, &read.log);
        is_open = true;
        pin_publish(&door.pin, pin_id(next_token, 0));
        *out = &tokens[next_token];
        next_token = (next_token + 1) % TOKEN_COUNT;
    }
    pthread_mutex_unlock(&life_lock);
    return st;
}

gpurt_status_t gpurt_close(gpurt_t *rt, gpurt_error_t *err)
{
    gpurt_status_t st, heaps;
    bool last;

    if (!rt)
        return GPURT_OK;
    heaps = gpurt_heaps_closing(rt, err);
    pthread_mutex_lock(&life_lock);
    if (pin_retire(&door.pin, pin_id(token_index(rt), 0), &last)) {
        if (!last)
            wait_until_idle();
        st = dismantle(heaps == GPURT_OK ? err : NULL);
        st = heaps == GPURT_OK ? st : heaps;
        memset(&opened, 0, sizeof opened);
        is_open = false;
    } else {
        st = refuse(rt, err);
    }
    pthread_mutex_unlock(&life_lock);
    return st;
}
