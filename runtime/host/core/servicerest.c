/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "servicerest.h"

#include "hostpoll.h"
#include "life.h"
#include "ownword.h"
#include "refuse.h"

enum {
    NS_A_MS = 1000000
};

/* ---- one service ----------------------------------------------------------------------- */

static bool declares(const gpurt_service_own_t *s, const uint32_t *heaps, uint32_t count)
{
    for (uint32_t i = 0; i < s->heap_count; i++)
        for (uint32_t j = 0; j < count; j++)
            if (s->heaps[i] == heaps[j])
                return true;
    return false;
}

static void rest_begin(gpurt_service_own_t *s)
{
    pthread_mutex_lock(&s->lock);
    if (s->rests++ == 0)
        gpurt_service_command(s,
                              (s->command + GPURT_SERVICE_REST_ONE) | GPURT_SERVICE_REST);
    pthread_mutex_unlock(&s->lock);
}

static void rest_end(gpurt_service_own_t *s)
{
    pthread_mutex_lock(&s->lock);
    if (--s->rests == 0)
        gpurt_service_command(s, s->command & ~(uint32_t)GPURT_SERVICE_REST);
    pthread_mutex_unlock(&s->lock);
}

/* One that was told to stop may write behind its last safe point, until its kernel ends. */
static bool is_at_rest(const gpurt_service_own_t *s, uint32_t command, uint32_t *block)
{
    bool stops = command & GPURT_SERVICE_STOP;

    for (*block = 0; *block < s->blocks; ++*block) {
        uint32_t answer = gpurt_ownword_load(s->opened, &s->words->xblocks[*block]);

        if (answer != (command & ~(uint32_t)GPURT_SERVICE_STOP) &&
            (answer != GPURT_SERVICE_LEFT || stops))
            return false;
    }
    return true;
}

static gpurt_status_t rest_await(gpurt_service_own_t *s, gpurt_error_t *err)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin((uint64_t)s->stop_ms * NS_A_MS);
    uint32_t command, block;

    pthread_mutex_lock(&s->lock);
    command = s->command;
    pthread_mutex_unlock(&s->lock);
    while (!is_at_rest(s, command, &block) && !gpurt_service_has_ended(s))
        if (!gpurt_hostpoll_next(&poll))
            return REFUSE(err, GPURT_E_TIMEOUT,
                          "service %s declared a heap that is to be at rest and has not "
                          "come to gpurt_service_go within %u ms: block %u of %u is the "
                          "first that has not",
                          s->name, s->stop_ms, block, s->blocks);
    return GPURT_OK;
}

/* ---- all that declared a heap ---------------------------------------------------------- */

static void those_take(gpurt_service_rest_t *rest, const uint32_t *heaps, uint32_t count)
{
    const gpurt_opened_t *o = rest->opened;
    gpurt_service_t handles[GPURT_SERVICES];
    uint32_t found = gpurt_service_book_list(o, handles);

    for (uint32_t i = 0; i < found; i++) {
        gpurt_service_own_t *s = gpurt_service_hold(o, handles[i]);

        if (s && declares(s, heaps, count))
            rest->services[rest->count++] = s;
        else if (s)
            gpurt_service_let(o, s);
    }
}

gpurt_status_t gpurt_services_rest(gpurt_t *rt, const uint32_t *heaps, uint32_t heap_count,
                                   gpurt_service_rest_t *rest, gpurt_error_t *err)
{
    gpurt_status_t st;

    rest->opened = NULL;
    rest->count = 0;
    st = gpurt_life_enter(rt, &rest->opened, err);
    if (st != GPURT_OK)
        return st;
    those_take(rest, heaps, heap_count);
    for (uint32_t i = 0; i < rest->count; i++)
        rest_begin(rest->services[i]);
    for (uint32_t i = 0; i < rest->count && st == GPURT_OK; i++)
        st = rest_await(rest->services[i], err);
    if (st != GPURT_OK)
        gpurt_services_resume(rest);
    return st;
}

void gpurt_services_resume(gpurt_service_rest_t *rest)
{
    const gpurt_opened_t *o = rest->opened;

    if (!o)
        return;
    while (rest->count) {
        gpurt_service_own_t *s = rest->services[--rest->count];

        rest_end(s);
        gpurt_service_let(o, s);
    }
    rest->opened = NULL;
    (void)gpurt_life_leave(o, GPURT_OK);
}
