/* SPDX-License-Identifier: Apache-2.0 */
#include "life.h"

#include "refuse.h"

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

static door_t doors[GPURT_MAX_DEVICES] GPURT_ALIGN(CACHE_LINE);
static gpurt_place_t places[GPURT_MAX_DEVICES];

/* Generation of the process that was given the token last; 0: none. Written by: gpurt_open, under
 * the lock of places. */
static uint32_t xgiven[TOKEN_COUNT];

/* life_lock: one open or close at a time, so an open waits for a close to end. idle: the
 * last call has left through a retired door. */
static gpurt_lock_t life_lock = GPURT_LOCK_INIT;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;

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

bool gpurt_life_is_forked(const gpurt_t *rt)
{
    uint32_t token = token_index(rt), given;

    if (token == TOKEN_COUNT)
        return false;
    given = gpurt_load_relaxed_sys_u32(&xgiven[token]); /* relaxed: the word is all */
    return given && given != gpurt_process_generation();
}

GPURT_NOINLINE gpurt_status_t gpurt_life_refuse(const gpurt_t *rt, gpurt_error_t *err)
{
    if (!rt)
        return REFUSE(err, GPURT_E_CLOSED,
                      "the runtime is NULL: call gpurt_open and look at its status");
    if (token_index(rt) == TOKEN_COUNT)
        return REFUSE(err, GPURT_E_INVALID,
                      "%p is no runtime: pass the pointer that gpurt_open gave",
                      (const void *)rt);
    if (gpurt_life_is_forked(rt))
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
        return gpurt_life_refuse(rt, err);
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

/* ---- places -------------------------------------------------------------------------- */

void gpurt_life_lock(void)
{
    gpurt_lock_take(&life_lock);
}

void gpurt_life_unlock(void)
{
    gpurt_lock_give(&life_lock);
}

gpurt_place_t *gpurt_life_place(uint32_t index)
{
    return &places[index];
}

const gpurt_opened_t *gpurt_life_find(gpurt_backend_t backend, int32_t device)
{
    for (uint32_t i = 0; i < GPURT_MAX_DEVICES; i++)
        if (places[i].is_open && places[i].opened.info.backend == backend &&
            places[i].opened.info.device == device)
            return &places[i].opened;
    return NULL;
}

uint32_t gpurt_life_vacant(void)
{
    uint32_t i = 0;

    while (i < GPURT_MAX_DEVICES && places[i].is_open)
        i++;
    return i;
}

gpurt_t *gpurt_life_let_in(uint32_t index)
{
    gpurt_place_t *p = &places[index];
    uint32_t token = p->next_token * GPURT_MAX_DEVICES + index;

    p->next_token = (p->next_token + 1) % (TOKEN_COUNT / GPURT_MAX_DEVICES);
    gpurt_store_relaxed_sys_u32(
        &xgiven[token], gpurt_process_generation()); /* relaxed: as gpurt_life_is_forked */
    pin_publish(&doors[index].pin, door_id(token));
    return &tokens[token];
}

bool gpurt_life_shut(const gpurt_t *rt)
{
    uint32_t token = token_index(rt);
    door_t *door = &doors[token % GPURT_MAX_DEVICES];
    bool last;

    if (!pin_retire(&door->pin, door_id(token), &last))
        return false;
    if (!last)
        wait_until_idle(door);
    return true;
}

void gpurt_life_forked(void)
{
    pthread_mutex_init(&idle_lock, NULL);
    pthread_cond_init(&idle, NULL);
}

/* The parent's: what was here has been given back. Once it answers as one that was closed. */
void gpurt_life_forked_close(const gpurt_t *rt)
{
    gpurt_store_relaxed_sys_u32(
        &xgiven[token_index(rt)],
        gpurt_process_generation()); /* relaxed: as gpurt_life_is_forked */
}
