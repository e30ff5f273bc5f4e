/* SPDX-License-Identifier: Apache-2.0 */
/* The services of a device, in the order of their launches, and how much of it they hold. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "serviceown.h"

#include "plural.h"
#include "process.h"
#include "refuse.h"

#include <gpurt/atomic.h>

#include <string.h>

enum {
    WHOLE = 1 << 16, /* a device, as the sum of shares */
    ROOM = WHOLE / 8 /* that other kernels keep */
};

typedef struct row {
    gpurt_service_t handle;
    uint32_t share; /* of WHOLE: its blocks in those that fit, of that shape */
} row_t;

/* Of an open device, under `lock`, which also writes xcount. */
typedef struct book {
    row_t rows[GPURT_SERVICES];
    uint32_t xcount; /* written by: who holds the lock */
    bool closing;
    /* Giving pinned memory back waits for kernels, so words are kept until the device closes. */
    gpurt_service_words_t *spare[GPURT_SERVICES];
    uint32_t spare_count;
} book_t;

static gpurt_lock_t lock = GPURT_LOCK_INIT;
static book_t books[GPURT_MAX_DEVICES];

bool gpurt_services_run(const gpurt_opened_t *o)
{
    /* relaxed: a sync that begins beside a launch is before it */
    return gpurt_load_relaxed_sys_u32(&books[o->index].xcount) != 0;
}

static void count_set(book_t *b, uint32_t count)
{
    gpurt_store_relaxed_sys_u32(&b->xcount, count); /* relaxed: as above */
}

/* ---- words ----------------------------------------------------------------------------- */

gpurt_status_t gpurt_service_words_take(const gpurt_opened_t *o,
                                        gpurt_service_words_t **out, gpurt_error_t *err)
{
    book_t *b = &books[o->index];
    void *memory = NULL;
    gpurt_status_t st = GPURT_OK;

    gpurt_lock_take(&lock);
    if (b->spare_count)
        memory = b->spare[--b->spare_count];
    gpurt_lock_give(&lock);
    if (!memory)
        st = o->ops->host_create(o->self, sizeof **out, &memory, err);
    *out = st == GPURT_OK ? (gpurt_service_words_t *)memory : NULL;
    if (*out)
        memset(*out, 0, sizeof **out);
    return st;
}

void gpurt_service_words_give(const gpurt_opened_t *o, gpurt_service_words_t *words)
{
    book_t *b = &books[o->index];
    bool kept = false;

    if (!words)
        return;
    gpurt_lock_take(&lock);
    if (b->spare_count < GPURT_SERVICES) {
        b->spare[b->spare_count++] = words;
        kept = true;
    }
    gpurt_lock_give(&lock);
    if (!kept)
        (void)o->ops->host_destroy(o->self, words);
}

static void spare_free(book_t *b, const gpurt_opened_t *o)
{
    while (b->spare_count)
        (void)o->ops->host_destroy(o->self, b->spare[--b->spare_count]);
}

/* ---- launches -------------------------------------------------------------------------- */

static uint32_t share_of(const gpurt_service_own_t *s, uint32_t capacity)
{
    uint64_t share = capacity ? ((uint64_t)s->blocks * WHOLE + capacity - 1) / capacity
                              : (uint64_t)2 * WHOLE;

    return share < 2 * WHOLE ? (uint32_t)share : 2 * WHOLE;
}

static uint32_t taken(const book_t *b)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < b->xcount; i++)
        sum += b->rows[i].share;
    return sum;
}

static gpurt_status_t room_check(const book_t *b, const gpurt_service_own_t *s,
                                 uint32_t capacity, gpurt_error_t *err)
{
    uint32_t used = taken(b), left = used < WHOLE - ROOM ? WHOLE - ROOM - used : 0;
    uint32_t room = (uint32_t)((uint64_t)left * capacity / WHOLE);

    if (b->closing)
        return REFUSE(err, GPURT_E_CLOSED,
                      "service %s: the runtime is being closed, no service can be "
                      "launched any more",
                      s->name);
    if (b->xcount == GPURT_SERVICES)
        return REFUSE(err, GPURT_E_NOMEM,
                      "service %s: %d services run on the device, more cannot: stop one",
                      s->name, GPURT_SERVICES);
    if (share_of(s, capacity) > left)
        return REFUSE(err, GPURT_E_ROOM,
                      "service %s: %u block%s would leave no room for other kernels: %u "
                      "fit on the device, services may have seven eighths of it, and those "
                      "that run leave %u block%s: launch so many, or smaller ones",
                      s->name, s->blocks, gpurt_plural(s->blocks, "s"), capacity, room,
                      gpurt_plural(room, "s"));
    return GPURT_OK;
}

gpurt_status_t gpurt_service_book_open(const gpurt_opened_t *o,
                                       const gpurt_service_own_t *s, uint32_t capacity,
                                       gpurt_error_t *err)
{
    gpurt_status_t st;

    gpurt_lock_take(&lock);
    st = room_check(&books[o->index], s, capacity, err);
    if (st != GPURT_OK)
        gpurt_lock_give(&lock);
    return st;
}

void gpurt_service_book_close(const gpurt_opened_t *o, const gpurt_service_own_t *s,
                              uint32_t capacity, bool launched)
{
    book_t *b = &books[o->index];

    if (launched) {
        b->rows[b->xcount] = (row_t){s->handle, share_of(s, capacity)};
        count_set(b, b->xcount + 1);
    }
    gpurt_lock_give(&lock);
}

void gpurt_service_book_strike(const gpurt_opened_t *o, const gpurt_service_own_t *s)
{
    book_t *b = &books[o->index];
    uint32_t kept = 0;

    gpurt_lock_take(&lock);
    for (uint32_t i = 0; i < b->xcount; i++)
        if (b->rows[i].handle != s->handle)
            b->rows[kept++] = b->rows[i];
    count_set(b, kept);
    gpurt_lock_give(&lock);
}

uint32_t gpurt_service_book_list(const gpurt_opened_t *o,
                                 gpurt_service_t to[GPURT_SERVICES])
{
    const book_t *b = &books[o->index];
    uint32_t count;

    gpurt_lock_take(&lock);
    count = b->xcount;
    for (uint32_t i = 0; i < count; i++)
        to[i] = b->rows[i].handle;
    gpurt_lock_give(&lock);
    return count;
}

/* ---- the end --------------------------------------------------------------------------- */

void gpurt_service_book_shut(const gpurt_opened_t *o, bool shut)
{
    gpurt_lock_take(&lock);
    books[o->index].closing = shut;
    gpurt_lock_give(&lock);
}

void gpurt_service_book_end(uint32_t index, const gpurt_opened_t *o)
{
    book_t *b = &books[index];

    if (o)
        spare_free(b, o);
    memset(b, 0, sizeof *b);
}
