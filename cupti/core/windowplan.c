/* SPDX-License-Identifier: Apache-2.0 */
#include "windows.h"

enum {
    COUNT_NS = 80,   /* of a launch in a loop, while none was timed: docs/SAMPLED.md */
    HOOK_NS = 100,   /* what timing a launch does not see: the way to it, and cold caches */
    STAYS_NS = 120,  /* what a launch costs more for good, once records were on: at least */
    STAYS_FROM = 80, /* where caches are cold: so much, */
    STAYS_TIMES = 4, /* and so many times what counting it took */
    CUPTI_NS = 1700, /* of one that CUPTI tells of: docs/SAMPLED.md */
    RECORD_NS = 1320, /* `kernels`: docs/SAMPLED.md */
    WHOLE = 1000000,
    SURE = 4, /* windows, before the measured slowdown is believed below the known one */
    LEAST = 2500, /* a slowdown of less is taken for as much: two slices differ by that */
    FEW = 200     /* launches say nothing of a slowdown */
};

static uint32_t parts(double share)
{
    return share <= 0 ? 0 : share >= 0.9 ? WHOLE / 10 * 9 : (uint32_t)(share * WHOLE);
}

static double rate_of(const windows_slice_t *s)
{
    return s->ns ? (double)s->launches / (double)s->ns : 0;
}

static double timed_ns(const windows_slice_t *s)
{
    return s->counted ? (double)s->counting_ns / (double)s->counted : COUNT_NS;
}

/* To count a launch. */
static double counting_ns(const windows_slice_t *s)
{
    return s->by_cupti ? CUPTI_NS : HOOK_NS + timed_ns(s);
}

/* What records cost a launch that has none, once they were on. */
static double stays_ns(const windows_slice_t *s)
{
    const double ns = s->counted ? STAYS_FROM + STAYS_TIMES * timed_ns(s) : 0;

    return s->by_cupti ? 0 : ns < STAYS_NS ? STAYS_NS : ns;
}

/* What would break the budget goes, and comes back when it takes three quarters of it. Where none was
 * seen to be watched, because nobody asks or because CUPTI tells, nothing goes. */
static void watching_see(windows_plan_t *p, const windows_slice_t *s)
{
    uint32_t both;

    if (s->watched)
        p->watch_ns = (uint32_t)(s->watching_ns / s->watched);
    both = p->counting + parts(rate_of(s) * p->watch_ns);
    p->unwatched = p->watch_ns && both > (p->unwatched ? p->budget / 4 * 3 : p->budget);
    p->counting = p->unwatched ? p->counting : both;
}

/* Of the last windows. Before there are some, what the number of launches says is believed. */
static uint32_t measured_of(const windows_plan_t *p)
{
    double launches = 0, expected = 0;

    for (uint32_t i = 0; i < WINDOWS_PAST && i < p->count; i++) {
        launches += p->past[i].launches;
        expected += p->past[i].expected;
    }
    return expected > FEW ? parts(1 - launches / expected) : 0;
}

void windows_plan_see(windows_plan_t *p, const windows_slice_t *slice)
{
    const double rate = rate_of(slice);
    const uint32_t measured = measured_of(p);

    p->stays = parts(rate * stays_ns(slice));
    p->counting = parts(rate * counting_ns(slice)) + (p->opened ? p->stays : 0);
    watching_see(p, slice);
    p->known = parts(rate * RECORD_NS);
    p->slowdown = p->count < SURE && measured < p->known ? p->known : measured;
    p->slowdown = p->slowdown < LEAST ? (uint32_t)LEAST : p->slowdown;
}

/* The launches that slices lack, beside those that there would be. */
static double missing(const windows_slice_t *s, double rate)
{
    return rate * (double)s->ns - (double)s->launches;
}

void windows_plan_learn(windows_plan_t *p, const windows_slice_t *window,
                        const windows_slice_t *behind, const windows_slice_t *beside)
{
    const double rate = rate_of(beside), expected = rate * (double)window->ns,
                 left = expected - missing(window, rate) - missing(behind, rate);

    p->past[p->count % WINDOWS_PAST].launches = left > 0 ? left : 0;
    p->past[p->count % WINDOWS_PAST].expected = expected;
    p->count++;
    windows_plan_see(p, beside);
}

uint32_t windows_plan_pause(const windows_plan_t *p)
{
    const uint32_t all = p->counting + (p->opened ? 0 : p->stays),
                   left = p->budget > all ? p->budget - all : 0;
    uint64_t turn;

    if (left == 0)
        return 0;
    turn = (uint64_t)p->slowdown * WINDOWS_MS / left;
    if (turn < WINDOWS_MS + WINDOWS_PAUSE_LEAST)
        turn = WINDOWS_MS + WINDOWS_PAUSE_LEAST;
    return turn - WINDOWS_MS > WINDOWS_PAUSE_MOST ? 0 : (uint32_t)(turn - WINDOWS_MS);
}

uint32_t windows_plan_cost(const windows_plan_t *p, uint32_t pause_ms)
{
    uint64_t windows =
        pause_ms ? (uint64_t)p->slowdown * WINDOWS_MS / (WINDOWS_MS + pause_ms) : 0;

    return p->counting + (uint32_t)windows;
}
