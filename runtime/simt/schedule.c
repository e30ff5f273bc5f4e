/* SPDX-License-Identifier: Apache-2.0 */
/* Which lane runs next, and where a running lane may be interrupted.
 *
 * Default: the lowest ready lane of the current warp, then the next warp; a lane that relaxed
 * waits for the next pass over all warps. Seeded: one worker, every choice drawn from the seed.
 * RANDOM picks any ready lane and interrupts with chance rate/256 at each preemption point; PCT
 * runs the lane of highest priority and lowers it at depth - 1 random points. */
#include "simt.h"

#include "hostact.h"
#include "hosttime.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/point.h>

enum {
    PCT_MAX_DEPTH = 16,
    PCT_STEPS = 200,
    PROBE_POINTS = 16,
    WATCH_PASSES = 64,
    SEEDED_PASS = 1 << 16 /* choices, at most: who goes round a barrier for ever keeps no
                             parked lane from going on */
};

uint64_t simt_schedule_random(simt_worker_t *k)
{
    uint64_t z = (k->rng += 0x9e3779b97f4a7c15u);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint32_t simt_schedule_budget(const simt_worker_t *k)
{
    return k->device->config.seeded || k->device->scope || k->watch ? 1 : SIMT_BUDGET;
}

/* A worker of a seeded schedule begins: the same numbers in every run. */
void simt_schedule_begin(simt_worker_t *k)
{
    k->rng = k->device->config.cpu.seed * 0x9e3779b97f4a7c15u + 1;
    k->xhash = 0xcbf29ce484222325u;
}

/* Change points lie near the start of what begins now: bugs need few steps. */
void simt_schedule_wakeup(simt_worker_t *k)
{
    const gpurt_cpu_options_t *c = &k->device->config.cpu;

    if (c->schedule != GPURT_SCHEDULE_PCT)
        return;
    for (uint32_t i = 0; i + 1 < c->depth && i < PCT_MAX_DEPTH; i++)
        k->change_at[i] = k->steps + 1 + simt_schedule_random(k) % PCT_STEPS;
}

static void priority_set(simt_lane_t *lane, uint64_t priority)
{
    simt_warp_t *w = lane->warp;

    w->priority[lane->self.lane] = priority;
    w->ranked = 0; /* it may have been the highest */
}

/* High bit: above every priority that a change point can give. */
void simt_schedule_lane(simt_worker_t *k, simt_lane_t *lane)
{
    if (k->device->config.cpu.schedule == GPURT_SCHEDULE_PCT)
        priority_set(lane, simt_schedule_random(k) | 1ull << 63);
}

/* ---- in order ----------------------------------------------------------------------------- */
/* All warps had their turn: each lane relaxed, waits or ended. Progress is a lane that began or
 * ended, a barrier that completed, a word that was written; what lanes do in a loop that waits
 * (relax, read, vote) is none. Writes are seen only while points are watched, so a pass
 * without progress turns that on. Returns: whether main has to look. */
static bool pass_end(simt_worker_t *k)
{
    bool spun = !k->progress, due = simt_acts_due(k);

    k->progress = false;
    k->watch -= k->watch > 0;
    simt_grid_poll(k);
    simt_park_poll(k);
    if (k->progress)
        return due;
    if (spun) {
        k->idle = true;
        k->watch = WATCH_PASSES;
        return true;
    }
    k->idle_rounds = 0;
    if (k->xidle_since)
        gpurt_store_relaxed_dev_u64(&k->xidle_since, 0); /* a hint to other workers */
    return due || gpurt_load_relaxed_dev_u32(&k->device->xchanges) != k->seen_changes;
}

static simt_lane_t *pick_in_order(simt_worker_t *k)
{
    for (uint32_t seen = 0; seen <= k->warp_count; seen++) {
        simt_warp_t *w = k->warps[k->cursor];
        uint32_t fresh = w->ready & ~w->yielded;

        if (!fresh && simt_warp_release_parked(k, w))
            fresh = w->ready & ~w->yielded;
        if (fresh)
            return &w->lanes[__builtin_ctz(fresh)];
        w->yielded = 0;
        if (++k->cursor == k->warp_count) {
            k->cursor = 0;
            if (pass_end(k))
                return NULL;
        }
    }
    return NULL;
}

/* ---- seeded ---------------------------------------------------------------------------------- */
static uint32_t fresh_lanes(const simt_warp_t *w)
{
    return w->ready & ~w->yielded;
}

/* Not the builtin: where the processor may lack an instruction for it, gcc calls a library, and
 * this is asked for each warp at each choice. */
static uint32_t bit_count(uint32_t v)
{
    v -= v >> 1 & 0x55555555u;
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    return ((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

static uint32_t count_fresh(const simt_worker_t *k)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->warp_count; i++)
        n += bit_count(fresh_lanes(k->warps[i]));
    return n;
}

static simt_lane_t *fresh_at(const simt_worker_t *k, uint32_t index)
{
    for (uint32_t i = 0; i < k->warp_count; i++) {
        uint32_t m = fresh_lanes(k->warps[i]);
        uint32_t n = bit_count(m);

        if (index >= n) {
            index -= n;
            continue;
        }
        while (index--)
            m &= m - 1;
        return &k->warps[i]->lanes[__builtin_ctz(m)];
    }
    return NULL;
}

static bool is_any_fresh(const simt_worker_t *k)
{
    uint32_t i = 0;

    while (i < k->warp_count && !fresh_lanes(k->warps[i]))
        i++;
    return i < k->warp_count;
}

/* Of lanes alike the first counts. Between two choices few lanes come and go: only those that came
 * are looked at, unless the highest one went. */
static void warp_rank(simt_warp_t *w)
{
    const uint32_t fresh = fresh_lanes(w);
    uint32_t came = fresh & ~w->ranked;

    if (!(fresh & w->ranked & 1u << w->highest)) {
        w->highest = (uint32_t)__builtin_ctz(fresh);
        came = fresh;
    }
    for (; came; came &= came - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(came);
        uint64_t one = w->priority[at], highest = w->priority[w->highest];

        if (one > highest || (one == highest && at < w->highest))
            w->highest = at;
    }
    w->ranked = fresh;
}

static simt_lane_t *fresh_highest(const simt_worker_t *k)
{
    simt_warp_t *best = NULL;

    for (uint32_t i = 0; i < k->warp_count; i++) {
        simt_warp_t *w = k->warps[i];

        if (!fresh_lanes(w))
            continue;
        warp_rank(w);
        if (!best || w->priority[w->highest] > best->priority[best->highest])
            best = w;
    }
    return best ? &best->lanes[best->highest] : NULL;
}

/* Nobody fresh: a pass is over. Spinners may go again, parked lanes go on. */
static bool seeded_pass_end(simt_worker_t *k)
{
    for (uint32_t i = 0; i < k->warp_count; i++) {
        k->warps[i]->yielded = 0;
        simt_warp_release_parked(k, k->warps[i]);
    }
    return pass_end(k);
}

/* A pass that does not end by itself: somebody stays on top without relaxing. */
static bool pass_is_too_long(simt_worker_t *k)
{
    if (++k->choices < SEEDED_PASS)
        return false;
    for (uint32_t i = 0; i < k->block_count; i++)
        for (uint32_t t = 0; t < k->blocks[i]->threads; t++)
            simt_schedule_lane(k, &k->blocks[i]->lanes[t]); /* PCT: the cards anew */
    return true;
}

static simt_lane_t *pick_seeded(simt_worker_t *k)
{
    if (!is_any_fresh(k) || pass_is_too_long(k)) {
        k->choices = 0;
        if (seeded_pass_end(k) || !is_any_fresh(k))
            return NULL;
    }
    if (k->device->config.cpu.schedule == GPURT_SCHEDULE_PCT)
        return fresh_highest(k);
    return fresh_at(k, (uint32_t)(simt_schedule_random(k) % count_fresh(k)));
}

simt_lane_t *simt_schedule_pick(simt_worker_t *k)
{
    if (!k->warp_count)
        return NULL;
    return k->device->config.seeded ? pick_seeded(k) : pick_in_order(k);
}

/* ---- points of interruption -------------------------------------------------------------------- */
static const char loop_site[] = "a loop without gpurt_relax";

/* A wait whose time is over goes on by itself, and others may wait for just that: progress. */
static void lane_looks_at_limit(simt_worker_t *k, simt_lane_t *me)
{
    if (gpurt_simt_globaltimer() < me->until_ns)
        return;
    me->until_ns = UINT64_MAX;
    k->progress = true;
}

static void lane_relaxed(simt_worker_t *k, simt_lane_t *me, const char *site)
{
    if (site == loop_site && me->spins)
        site = me->site; /* it does relax, and there */
    me->spins++;
    me->site = site;
    me->warp->yielded |= 1u << me->self.lane;
    if (k->device->config.cpu.schedule == GPURT_SCHEDULE_PCT)
        priority_set(me,
                     simt_schedule_random(k) >> 32); /* a spinner must not stay on top */
    simt_lane_yield(me);
    if (GPURT_UNLIKELY(me->until_ns != UINT64_MAX))
        lane_looks_at_limit(k, me);
}

void simt_schedule_looked(simt_worker_t *k, simt_lane_t *me)
{
    static const char look_site[] = "a loop that asks whether it is cancelled";

    if (++me->looks % SIMT_BUDGET == 0)
        lane_relaxed(k, me, look_site);
}

/* until_ns: the limit of its wait, or UINT64_MAX. It stands until the lane relaxes elsewhere: a wait
 * may also be interrupted at its looks. A limit that is over already is none: the lane does not
 * look at it. */
static simt_lane_t *lane_that_relaxes(simt_worker_t *k, uint64_t until_ns, const char *site)
{
    simt_lane_t *me = k->current;

    me->seen = 0;
    me->until_ns = until_ns != UINT64_MAX && gpurt_simt_globaltimer() < until_ns
                       ? until_ns
                       : UINT64_MAX;
    lane_relaxed(k, me, site);
    return me;
}

/* The same without a safe point. */
void gpurt_simt_pause(const char *site)
{
    simt_worker_t *k = simt_worker_self;

    if (GPURT_UNLIKELY(!k || !k->current))
        return;
    (void)lane_that_relaxes(k, UINT64_MAX, site);
}

/* ... and a report says what it waits for. */
void gpurt_simt_pause_until(const char *kind, const char *name, uint64_t until_ns,
                            const char *site)
{
    simt_worker_t *k = simt_worker_self;

    if (GPURT_UNLIKELY(!k || !k->current))
        return;
    k->current->awaits = kind;
    k->current->awaits_name = name;
    lane_that_relaxes(k, until_ns, site)->awaits = NULL;
}

void gpurt_simt_relax_until(uint64_t until_ns, const char *site)
{
    simt_worker_t *k = simt_worker_self;

    if (GPURT_UNLIKELY(!k || !k->current))
        return;
    simt_cancel_point(lane_that_relaxes(k, until_ns, site));
}

void gpurt_simt_relax(const char *site)
{
    simt_worker_t *k = simt_worker_self;

    if (GPURT_UNLIKELY(!k || !k->current))
        return;
    simt_cancel_point(lane_that_relaxes(k, UINT64_MAX, site));
}

static bool seeded_interrupts(simt_worker_t *k)
{
    const gpurt_cpu_options_t *c = &k->device->config.cpu;

    k->steps++;
    if (c->schedule == GPURT_SCHEDULE_RANDOM)
        return (simt_schedule_random(k) & 255u) < c->rate;
    for (uint32_t i = 0; i + 1 < c->depth && i < PCT_MAX_DEPTH; i++)
        if (k->steps == k->change_at[i]) {
            priority_set(k->current, i);
            return true;
        }
    return false;
}

/* Whether this access is what a loop that waits does: reading a word. */
static bool looks_like_waiting(const gpurt_point_t *p)
{
    return p->kind == GPURT_POINT_LOAD || p->kind == GPURT_POINT_SWAP;
}

/* Default schedule: a lane used up its turn of atomics. A few more are watched; if all of them
 * read one word, it is a loop that forgot gpurt_relax, and is treated as if it had not.
 * Otherwise it works, and others get a turn all the same. */
static void turn_ended(simt_worker_t *k, const gpurt_point_t *p)
{
    simt_lane_t *me = k->current;

    if (!k->probe_left) {
        k->probe_left = PROBE_POINTS;
        k->probe_addr = p->addr;
    }
    if (looks_like_waiting(p) && p->addr == k->probe_addr) {
        if (--k->probe_left)
            gpurt_point_budget = 1;
        else
            lane_relaxed(k, me, loop_site);
        return;
    }
    k->probe_left = 0;
    me->warp->yielded |= 1u << me->self.lane;
    simt_lane_yield(me);
}

/* Where every point is seen, the lane itself counts how often in a row it read one word: other
 * lanes come between. Returns: whether it was made to relax. */
static bool lane_spins(simt_worker_t *k, const gpurt_point_t *p)
{
    simt_lane_t *me = k->current;

    if (!looks_like_waiting(p) || p->addr != me->seen_addr) {
        me->seen_addr = p->addr;
        me->seen = 0;
        return false;
    }
    if (++me->seen < SIMT_BUDGET)
        return false;
    me->seen -= PROBE_POINTS;
    lane_relaxed(k, me, loop_site);
    return true;
}

/* Every point is seen (scope checker, or a look at who still writes); turns are as long as if
 * none was. */
static void watched_point(simt_worker_t *k, const gpurt_point_t *p)
{
    if (lane_spins(k, p) || ++k->steps % SIMT_BUDGET)
        return;
    k->current->warp->yielded |= 1u << k->current->self.lane;
    simt_lane_yield(k->current);
}

static void seeded_point(simt_worker_t *k, const gpurt_point_t *p)
{
    if (lane_spins(k, p) || !seeded_interrupts(k))
        return;
    k->xpreemptions++; /* no progress: a spinner is interrupted too */
    simt_lane_yield(k->current);
}

static void look_at_scope(simt_worker_t *k, const gpurt_point_t *p)
{
    const char *what = NULL;

    if (simt_scope_is_astray(k->current, p, &k->narrow))
        what = k->narrow.missing ? "an atomic looks in shared memory for a word elsewhere"
                                 : "an atomic looks elsewhere for a word in shared memory";
    else if (k->device->scope && p->kind != GPURT_POINT_PLAIN &&
             simt_scope_breaks(k->device->scope, k->current, p->addr, p->scope, &k->narrow))
        what = "an atomic's scope is too narrow";
    if (!what)
        return;
    k->current->site = NULL;
    simt_lane_misuse(k->current, GPURT_E_SCOPE, what, NULL);
}

static void point_reached(const gpurt_point_t *p)
{
    simt_worker_t *k = simt_worker_self;

    if (!k || !k->current)
        return;
    gpurt_point_budget = simt_schedule_budget(k);
    if (p->kind == GPURT_POINT_STORE || p->kind == GPURT_POINT_RMW)
        k->progress = true; /* somebody may wait for just that */
    look_at_scope(k, p);
    if (k->device->config.seeded)
        seeded_point(k, p);
    else if (k->device->scope || k->watch)
        watched_point(k, p);
    else
        turn_ended(k, p);
}

void simt_schedule_install(void)
{
    gpurt_point_install(point_reached);
}

/* ---- time: steps under a seed, so that a run that looks at it replays --------------------------- */
uint64_t gpurt_simt_clock(void)
{
    simt_worker_t *k = simt_worker_self;

    if (k && k->device->config.seeded)
        return k->steps + k->xswitches * 16;
    return gpurt_steady_ns();
}

uint64_t gpurt_simt_globaltimer(void)
{
    simt_worker_t *k = simt_worker_self;

    if (k && k->device->config.seeded)
        return gpurt_simt_clock();
    return gpurt_real_ns();
}
