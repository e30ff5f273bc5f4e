/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that sleep at a word until another lane has changed it and wakes them (spot.h). A lane asleep
 * costs nothing: it is in no pass, and a worker whose lanes all sleep, sleeps too.
 *
 * All lanes asleep on a device stand in rows, by their word and by who they are, under one lock. The
 * sleeper looks at the word under it, the waker takes it after the change: so none sleeps past its
 * wake. A lane of another worker goes to that worker's inbox.
 *
 * Deadlocks. A lane that closes a circle of holders fails at once: each of them sleeps, holds and
 * waits without a deadline. Where no lane of the device can run and none sleeps for a time only, no
 * word changes any more; under a seed that is all, for its launches wait until the host does. Else
 * the host may launch another kernel yet, and has the time limit of a livelock for it. */
#include "simt.h"

#include "hostact.h"
#include "hosttime.h"
#include "hostwait.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/spot.h>

enum {
    CIRCLE_SHOWN = 32 /* lanes of it in a report */
};

/* ---- the lock and the rows ---------------------------------------------------------------- */
static void spots_lock(simt_spots_t *s)
{
    uint32_t none = 0;

    while (!gpurt_cas_acquire_dev_u32(&s->xlock, &none, 1)) /* SP1.acq */
        none = 0;
}

static void spots_unlock(simt_spots_t *s)
{
    gpurt_store_release_dev_u32(&s->xlock, 0); /* SP1.rel */
}

static uint32_t row_of(uint64_t what)
{
    return (uint32_t)((what * 0x9e3779b97f4a7c15u) >> 32) % SIMT_SPOTS;
}

static simt_lane_t **row_of_word(simt_spots_t *s, const void *word)
{
    return &s->words[row_of((uint64_t)(uintptr_t)word)];
}

static uint64_t word_now(const gpurt_spot_t *p) /* relaxed: the lane itself acquires */
{
    return p->bytes == 8 ? gpurt_load_relaxed_dev_u64((const uint64_t *)p->word)
                         : gpurt_load_relaxed_dev_u32((const uint32_t *)p->word);
}

static void rows_enter(simt_spots_t *s, simt_lane_t *lane)
{
    simt_lane_t **row = row_of_word(s, lane->sleep.spot->word);

    lane->sleep.next_word = NULL;
    while (*row)
        row = &(*row)->sleep.next_word; /* who came first is woken first */
    *row = lane;
    row = &s->places[row_of(lane->sleep.place)];
    lane->sleep.next_place = *row;
    *row = lane;
}

static void rows_leave(simt_spots_t *s, simt_lane_t *lane)
{
    simt_lane_t **row = row_of_word(s, lane->sleep.spot->word);

    while (*row && *row != lane)
        row = &(*row)->sleep.next_word;
    if (*row)
        *row = lane->sleep.next_word;
    row = &s->places[row_of(lane->sleep.place)];
    while (*row && *row != lane)
        row = &(*row)->sleep.next_place;
    if (*row)
        *row = lane->sleep.next_place;
}

static void inbox_leave(simt_worker_t *k, simt_lane_t *lane)
{
    simt_lane_t **at = &k->xwoken;

    while (*at && *at != lane)
        at = &(*at)->sleep.next_woken;
    if (*at)
        *at = lane->sleep.next_woken;
}

/* The lane's worker, about to wake it. */
static void lane_rises(simt_lane_t *lane)
{
    simt_block_t *b = lane->warp->block;

    b->asleep--;
    b->worker->asleep--;
    b->worker->timed -= lane->sleep.until_ns != UINT64_MAX;
    lane->sleep.spot = NULL;
}

void simt_park_leave(simt_lane_t *lane)
{
    simt_worker_t *k = lane->warp->block->worker;
    simt_spots_t *s = &k->device->spots;

    if (!lane->sleep.spot)
        return;
    spots_lock(s);
    rows_leave(s, lane);
    inbox_leave(k, lane);
    spots_unlock(s);
    lane_rises(lane);
}

/* ---- circles ------------------------------------------------------------------------------ */
static const simt_lane_t *sleeper_at(const simt_spots_t *s, uint64_t place)
{
    const simt_lane_t *lane = s->places[row_of(place)];

    while (lane && lane->sleep.place != place)
        lane = lane->sleep.next_place;
    return lane;
}

const simt_lane_t *simt_park_holder(const simt_lane_t *lane)
{
    const gpurt_spot_t *p = lane->sleep.spot;
    const simt_device_t *d = lane->warp->block->worker->device;

    if (!p || !p->holder || lane->sleep.until_ns != UINT64_MAX)
        return NULL;
    return sleeper_at(&d->spots, gpurt_load_relaxed_dev_u64(p->holder));
}

/* Who sleeps lets nothing go, so what each of them holds stays as it is. Bounded: a circle that the
 * lane is not in was told by whoever closed it. */
static bool closes_circle(const simt_lane_t *me)
{
    const simt_lane_t *at = me;

    for (uint32_t steps = 0; steps < 1u << 16; steps++) {
        at = simt_park_holder(at);
        if (!at || at == me)
            return at != NULL;
    }
    return false;
}

void simt_park_walk(const simt_lane_t *lane, void (*add)(void *to, const simt_lane_t *lane),
                    void *to)
{
    simt_spots_t *s = &lane->warp->block->worker->device->spots;
    const simt_lane_t *at = lane;

    spots_lock(s);
    for (uint32_t steps = 0; at && steps < CIRCLE_SHOWN; steps++) {
        add(to, at);
        at = simt_park_holder(at);
        if (at == lane)
            break;
    }
    spots_unlock(s);
}

/* ---- lanes -------------------------------------------------------------------------------- */
static uint64_t lane_place(const simt_lane_t *lane)
{
    const simt_block_t *b = lane->warp->block;

    return gpurt_place_pack(b->self.launch, b->rank, lane->rank);
}

bool gpurt_simt_is_shared(const void *p)
{
    simt_worker_t *k = simt_worker_self;
    const simt_block_t *b;

    if (GPURT_UNLIKELY(!k || !k->current))
        return false;
    b = k->current->warp->block;
    return (const char *)p >= b->shared && (const char *)p < b->shared + b->shared_bytes;
}

static void lane_sleeps(simt_worker_t *k, simt_lane_t *me, const gpurt_spot_t *spot)
{
    uint64_t now = gpurt_simt_globaltimer();

    me->site = spot->here;
    me->sleep.spot = spot;
    me->sleep.next_woken = NULL;
    me->sleep.place = lane_place(me);
    me->sleep.until_ns =
        spot->left_ns < UINT64_MAX - now ? now + spot->left_ns : UINT64_MAX;
    me->warp->block->asleep++;
    k->asleep++;
    k->timed += me->sleep.until_ns != UINT64_MAX;
}

void gpurt_simt_park(const gpurt_spot_t *spot)
{
    simt_worker_t *k = simt_worker_self;
    simt_spots_t *s;
    simt_lane_t *me;
    bool circle;

    if (GPURT_UNLIKELY(!k || !k->current))
        return;
    me = k->current;
    s = &k->device->spots;
    simt_block_look(me->warp->block);
    if (me->warp->block->cancelled && !me->in_deferred)
        return; /* the caller looks */
    spots_lock(s);
    if (word_now(spot) != spot->value ||
        (spot->stop && gpurt_load_relaxed_dev_i32(spot->stop))) {
        spots_unlock(s);
        return;
    }
    lane_sleeps(k, me, spot);
    rows_enter(s, me);
    circle = closes_circle(me);
    simt_lane_block(me, SIMT_AT_WORD);
    spots_unlock(s);
    if (circle)
        simt_lane_misuse(me, GPURT_E_DEADLOCK, "deadlock: lanes wait for each other", NULL);
    k->progress = true; /* others have their turn, and it cannot come back by itself */
    simt_lane_wait(me);
}

/* Under the lock: of another worker's lane only the inbox is touched. */
static bool lane_unpark(simt_worker_t *k, simt_lane_t *lane)
{
    simt_worker_t *w = lane->warp->block->worker;

    rows_leave(&k->device->spots, lane);
    if (w == k) {
        lane_rises(lane);
        simt_lane_wake(lane);
        k->progress = true;
        return false;
    }
    lane->sleep.next_woken = w->xwoken;
    w->xwoken = lane;
    w->xquiet = 0;
    return true;
}

uint32_t gpurt_simt_unpark(const void *word, uint32_t key, uint32_t most)
{
    simt_worker_t *k = simt_worker_self;
    uint32_t woken = 0;
    bool others = false;
    simt_spots_t *s;

    if (GPURT_UNLIKELY(!k || !k->current))
        return 0;
    s = &k->device->spots;
    gpurt_fence_seq_cst_dev(); /* the change of the word comes before the look for sleepers */
    spots_lock(s);
    for (simt_lane_t *l = *row_of_word(s, word), *next; l && woken < most; l = next) {
        next = l->sleep.next_word;
        if (l->sleep.spot->word != word ||
            (key != GPURT_SPOT_ANY && l->sleep.spot->key != key))
            continue;
        woken++;
        others |= lane_unpark(k, l);
    }
    spots_unlock(s);
    if (others)
        simt_host_news(k->device);
    return woken;
}

/* All rows: such a wait is rare, and its end rarer. */
void gpurt_simt_unpark_stopped(const int32_t *stop)
{
    simt_worker_t *k = simt_worker_self;
    bool others = false;
    simt_spots_t *s;

    if (GPURT_UNLIKELY(!k || !k->current))
        return;
    s = &k->device->spots;
    gpurt_fence_seq_cst_dev(); /* as in gpurt_simt_unpark */
    spots_lock(s);
    for (uint32_t i = 0; i < SIMT_SPOTS; i++)
        for (simt_lane_t *l = s->words[i], *next; l; l = next) {
            next = l->sleep.next_word;
            if (l->sleep.spot->stop == stop)
                others |= lane_unpark(k, l);
        }
    spots_unlock(s);
    if (others)
        simt_host_news(k->device);
}

/* ---- workers ------------------------------------------------------------------------------ */
static simt_lane_t *inbox_take(simt_worker_t *k)
{
    simt_lane_t *first;

    spots_lock(&k->device->spots);
    first = k->xwoken;
    k->xwoken = NULL;
    spots_unlock(&k->device->spots);
    return first;
}

static void lane_wakes(simt_worker_t *k, simt_lane_t *lane)
{
    simt_park_leave(lane);
    simt_lane_wake(lane);
    k->progress = true;
}

/* Lanes whose time is over; or whose launch the host or another block has stopped. */
static void sleepers_look(simt_worker_t *k)
{
    uint64_t now = k->timed ? gpurt_simt_globaltimer() : 0;

    for (uint32_t i = 0; i < k->block_count; i++) {
        simt_block_t *b = k->blocks[i];

        if (!b->asleep)
            continue;
        simt_block_look(b);
        for (uint32_t t = 0; k->timed && b->asleep && t < b->threads; t++)
            if (b->lanes[t].state == SIMT_AT_WORD && b->lanes[t].sleep.until_ns <= now)
                lane_wakes(k, &b->lanes[t]);
    }
}

bool simt_park_poll(simt_worker_t *k)
{
    bool some = k->asleep != 0;

    if (!some)
        return false;
    for (simt_lane_t *l = inbox_take(k), *next; l; l = next) {
        next = l->sleep.next_woken;
        lane_rises(l);
        simt_lane_wake(l);
        k->progress = true;
    }
    if (k->asleep)
        sleepers_look(k);
    return k->progress;
}

uint64_t simt_park_deadline(const simt_worker_t *k)
{
    uint64_t until = UINT64_MAX;

    for (uint32_t i = 0; k->timed && i < k->block_count; i++)
        for (uint32_t t = 0; t < k->blocks[i]->threads; t++) {
            const simt_lane_t *l = &k->blocks[i]->lanes[t];

            if (l->state == SIMT_AT_WORD && l->sleep.until_ns < until)
                until = l->sleep.until_ns;
        }
    return until;
}

uint64_t simt_park_until(simt_worker_t *k)
{
    uint64_t until = simt_park_deadline(k), now = gpurt_simt_globaltimer();

    if (k->device->config.seeded && until != UINT64_MAX && until > now)
        k->steps += until - now;
    return until;
}

bool simt_park_is_own(const simt_lane_t *lane)
{
    const simt_block_t *b = lane->warp->block;
    const char *word = (const char *)lane->sleep.spot->word;

    return lane->sleep.until_ns == UINT64_MAX && word >= b->shared &&
           word < b->shared + b->shared_bytes;
}

void simt_park_busy(simt_worker_t *k, bool busy)
{
    spots_lock(&k->device->spots);
    k->xquiet = !busy;
    spots_unlock(&k->device->spots);
}

/* Under the device's mutex: a unit that is not taken yet may wake whoever sleeps. */
static bool units_are_left(const simt_device_t *d)
{
    for (const simt_launch_t *l = d->active; l; l = l->next)
        if (l->next_unit < l->unit_count && l->resident < l->residents)
            return true;
    return false;
}

static bool can_run(const simt_worker_t *k)
{
    for (uint32_t i = 0; i < k->warp_count; i++)
        if (k->warps[i]->ready | k->warps[i]->parked)
            return true;
    return false;
}

void simt_park_news(simt_device_t *d)
{
    spots_lock(&d->spots);
    for (uint32_t i = 0; i < d->worker_count; i++)
        d->workers[i].xquiet = 0;
    spots_unlock(&d->spots);
}

static bool device_is_quiet(simt_worker_t *k)
{
    simt_device_t *d = k->device;
    bool quiet = true;

    pthread_mutex_lock(&d->mutex);
    spots_lock(&d->spots);
    k->xquiet = !can_run(k) && k->timed == 0 && !k->xwoken;
    for (uint32_t i = 0; i < d->worker_count; i++)
        quiet &= d->workers[i].xquiet != 0;
    spots_unlock(&d->spots);
    quiet = quiet && !units_are_left(d) && !simt_acts_ahead(d) && !simt_acts_wait(d);
    pthread_mutex_unlock(&d->mutex);
    return quiet;
}

bool simt_park_is_stuck(simt_worker_t *k)
{
    const gpurt_cpu_options_t *c = &k->device->config.cpu;
    uint64_t now;

    if (!device_is_quiet(k)) {
        k->quiet_since = 0;
        return false;
    }
    if (!k->asleep)
        return false; /* a worker with sleepers tells */
    if (k->device->config.seeded || c->spin_limit)
        return true;
    now = gpurt_steady_ns();
    if (!k->quiet_since)
        k->quiet_since = now;
    return c->spin_limit_ms != UINT32_MAX &&
           now - k->quiet_since >= c->spin_limit_ms * 1000000ull;
}
