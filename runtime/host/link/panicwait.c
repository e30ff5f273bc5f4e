/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "panicwait.h"

#include "handle.h"
#include "panictell.h"
#include "panictext.h"
#include "part.h"
#include "process.h"
#include "refuse.h"
#include "tell.h"

enum {
    TEXT_BYTES = 200 /* of the error's, for where and what */
};
#define LAUNCHED ((uint64_t)1 << 32) /* beside the count at the first launch */

/* Of an open device. Written by: open and close; told_raised: under lock. */
typedef struct hearing {
    const gpurt_boxmap_t *map; /* NULL: waits say nothing of panics */
    uint32_t section;
    const char *more;
    uint32_t told_raised; /* by waits, as the next two: counts of the box */
    uint32_t xtold;       /* failed ones; written by: who waits, under lock */
    uint32_t xsynced;     /* of them, by waits for all; likewise */
} hearing_t;

static hearing_t hearings[GPURT_MAX_DEVICES];
static gpurt_lock_t lock = GPURT_LOCK_INIT; /* a panic was found, or open */

/* LAUNCHED and a count, or 0. By handle, behind them the default streams. Written by: any
 * thread that launches or waits. */
static uint64_t xmarks[GPURT_HANDLE_COUNT + GPURT_MAX_DEVICES];

static uint64_t *mark_of(uint32_t device, gpurt_stream_t stream)
{
    return &xmarks[stream == GPURT_STREAM_DEFAULT
                       ? GPURT_HANDLE_COUNT + device
                       : ((uint32_t)stream - 1) % GPURT_HANDLE_COUNT];
}

/* relaxed, here and below: counts, which the end of a kernel orders for who waited for it */
static uint32_t failed(const hearing_t *h)
{
    return gpurt_load_relaxed_sys_u32(&h->map->box->sections[h->section].xfailed);
}
static uint32_t raised(const hearing_t *h)
{
    return gpurt_load_relaxed_sys_u32(&h->map->box->sections[h->section].xpanics);
}

/* ---- life ---------------------------------------------------------------------------- */

void gpurt_panicwait_open(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                          uint32_t section, const char *more)
{
    hearing_t *h = &hearings[opened->index];

    *h = (hearing_t){.map = map, .section = section, .more = more};
    gpurt_store_relaxed_sys_u64(mark_of(opened->index, GPURT_STREAM_DEFAULT),
                                0); /* relaxed: nobody launches yet */
}

void gpurt_panicwait_close(const gpurt_opened_t *opened)
{
    hearings[opened->index].map = NULL;
}

void gpurt_panicwait_forked(uint32_t index)
{
    hearings[index].map = NULL;
}

/* ---- marks: relaxed, all of them, because the word is all there is ----------------------- */

void gpurt_panicwait_fresh(gpurt_stream_t stream)
{
    gpurt_store_relaxed_sys_u64(mark_of(0, stream), 0);
}

void gpurt_panicwait_launch(const gpurt_opened_t *opened, gpurt_stream_t stream)
{
    const hearing_t *h = &hearings[opened->index];
    uint64_t *mark = mark_of(opened->index, stream), none = 0;

    if (h->map && gpurt_load_relaxed_sys_u64(mark) == 0)
        (void)gpurt_cas_relaxed_sys_u64(mark, &none, LAUNCHED | failed(h));
}

gpurt_panicwait_t gpurt_panicwait_take(const gpurt_opened_t *opened, gpurt_stream_t stream)
{
    uint64_t *mark = mark_of(opened->index, stream);

    return gpurt_load_relaxed_sys_u64(mark) ? gpurt_xchg_relaxed_sys_u64(mark, 0) : 0;
}

/* A launch may have come meanwhile: the lower count is the older one. */
void gpurt_panicwait_return(const gpurt_opened_t *opened, gpurt_stream_t stream,
                            gpurt_panicwait_t taken)
{
    uint64_t *mark = mark_of(opened->index, stream);
    uint64_t found = gpurt_load_relaxed_sys_u64(mark);

    while (taken && (found == 0 || (int32_t)((uint32_t)taken - (uint32_t)found) < 0) &&
           !gpurt_cas_relaxed_sys_u64(mark, &found, taken))
        ;
}

/* ---- what a wait says ---------------------------------------------------------------- */

/* Where the first panic since the last word was, if it is one of those that failed; cut. */
static void first_text(const hearing_t *h, uint32_t number, char to[TEXT_BYTES])
{
    char whole[GPURT_PANICTEXT_BYTES];

    if (number >= h->map->sections[h->section].panic_count) {
        gpurt_tell_plain(to, TEXT_BYTES,
                         "a kernel that was launched since the last wait panicked");
        return;
    }
    gpurt_panictext_put(h->map, h->section, number, whole);
    gpurt_tell_plain(to, TEXT_BYTES, whole);
}

/* Under the lock. count: of those that failed, at least one; now: all of them. */
static gpurt_status_t say(hearing_t *h, uint32_t now, uint32_t count, gpurt_error_t *err)
{
    uint32_t all = raised(h), first = h->told_raised;
    uint32_t fresh = now - gpurt_load_relaxed_sys_u32(&h->xtold);
    char text[TEXT_BYTES];

    /* Some are a guard's, or were told of: then it is not known which. */
    if (fresh != all - first || fresh != count)
        first = UINT32_MAX;
    first_text(h, first, text);
    if ((int32_t)fresh > 0)
        gpurt_store_relaxed_sys_u32(&h->xtold, now);
    h->told_raised = all;
    if (count == 1)
        return REFUSE(err, GPURT_E_PANIC, "%s; see more: %s", text, h->more);
    return REFUSE(err, GPURT_E_PANIC, "%s (the first of %u); see more: %s", text, count,
                  h->more);
}

gpurt_status_t gpurt_panicwait_hear(const gpurt_opened_t *opened, gpurt_panicwait_t taken,
                                    gpurt_error_t *err)
{
    hearing_t *h = &hearings[opened->index];
    uint32_t since = (uint32_t)taken, synced, now;
    gpurt_status_t st;

    if (!h->map || !taken)
        return GPURT_OK;
    now = failed(h);
    synced = gpurt_load_relaxed_sys_u32(&h->xsynced);
    since = (int32_t)(synced - since) > 0 ? synced : since;
    if (GPURT_LIKELY((int32_t)(now - since) <= 0))
        return GPURT_OK;
    gpurt_panictell_look(opened);
    gpurt_lock_take(&lock);
    st = say(h, now, now - since, err);
    gpurt_lock_give(&lock);
    return st;
}

gpurt_status_t gpurt_panicwait_hear_all(const gpurt_opened_t *opened, gpurt_error_t *err)
{
    hearing_t *h = &hearings[opened->index];
    gpurt_status_t st = GPURT_OK;
    uint32_t now, told;

    if (!h->map)
        return GPURT_OK;
    now = failed(h);
    if (GPURT_LIKELY(now == gpurt_load_relaxed_sys_u32(&h->xsynced)))
        return GPURT_OK;
    gpurt_panictell_look(opened);
    gpurt_lock_take(&lock);
    told = gpurt_load_relaxed_sys_u32(&h->xtold);
    if ((int32_t)(now - told) > 0)
        st = say(h, now, now - told, err);
    gpurt_store_relaxed_sys_u32(&h->xsynced, now);
    gpurt_lock_give(&lock);
    return st;
}

/* What no wait has told, unless the close tells something else. */
static gpurt_status_t panics_close(gpurt_opened_t *opened, gpurt_status_t status,
                                   gpurt_error_t *err)
{
    return status == GPURT_OK ? gpurt_panicwait_hear_all(opened, err) : GPURT_OK;
}

const gpurt_part_t gpurt_part_panics = {.name = "panics", .close = panics_close};
