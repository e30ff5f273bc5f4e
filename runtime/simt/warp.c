/* SPDX-License-Identifier: Apache-2.0 */
/* Warp operations are meetings: a lane writes down what it brings and waits; the lane that
 * completes the mask computes every result and wakes the others. Lanes that ended drop out of
 * masks, as on a GPU. Disjoint masks of one warp meet independently. */
#include "simt.h"

#include <string.h>

#include "sanitizer.h"

/* What a shuffle from a lane outside the mask yields: undefined on a GPU, visible here. */
#define SHUFFLE_POISON 0xdeaddeaddeaddeadu

#define FOR_LANES(i, mask)                                          \
    for (uint32_t i##_left = (mask), i;                             \
         i##_left && (i = (uint32_t)__builtin_ctz(i##_left), true); \
         i##_left &= i##_left - 1)

static uint32_t lanes_needed(const simt_warp_t *w, uint32_t mask)
{
    return mask & w->all & ~w->done;
}

/* ---- reductions ------------------------------------------------------------------------- */
#define FOLD_AS(T, a, b, kind)                            \
    ((kind) == GPURT_SIMT_ADD   ? (T)((a) + (b))          \
     : (kind) == GPURT_SIMT_MIN ? ((b) < (a) ? (b) : (a)) \
                                : ((b) > (a) ? (b) : (a)))

static uint64_t fold_bits(uint32_t kind, uint64_t a, uint64_t b)
{
    return kind == GPURT_SIMT_AND ? (a & b) : kind == GPURT_SIMT_OR ? (a | b) : (a ^ b);
}

/* Minimum and maximum as a GPU takes them: a NaN loses against a number, and -0 < +0. */
#define FOLD_FLOAT(kind, a, b)                                                            \
    ((kind) == GPURT_SIMT_ADD                    ? (a) + (b)                              \
     : (a) != (a)                                ? (b)                                    \
     : (b) != (b)                                ? (a)                                    \
     : (a) == (b) && !__builtin_signbit(a)       ? ((kind) == GPURT_SIMT_MIN ? (b) : (a)) \
     : (a) == (b)                                ? ((kind) == GPURT_SIMT_MIN ? (a) : (b)) \
     : ((a) < (b)) == ((kind) == GPURT_SIMT_MIN) ? (a)                                    \
                                                 : (b))

static double fold_double(uint32_t kind, double a, double b)
{
    return FOLD_FLOAT(kind, a, b);
}

static float fold_float(uint32_t kind, float a, float b)
{
    return FOLD_FLOAT(kind, a, b);
}

static uint64_t fold(uint32_t kind, uint32_t type, uint64_t a, uint64_t b)
{
    if (kind >= GPURT_SIMT_AND)
        return fold_bits(kind, a, b);
    switch (type) {
    case GPURT_SIMT_U32:
        return FOLD_AS(uint32_t, (uint32_t)a, (uint32_t)b, kind);
    case GPURT_SIMT_I32:
        if (kind == GPURT_SIMT_ADD) /* wraps, as device arithmetic does */
            return (uint32_t)((uint32_t)a + (uint32_t)b);
        return (uint32_t)FOLD_AS(int32_t, (int32_t)a, (int32_t)b, kind);
    case GPURT_SIMT_U64:
        return FOLD_AS(uint64_t, a, b, kind);
    case GPURT_SIMT_I64:
        if (kind == GPURT_SIMT_ADD)
            return a + b;
        return (uint64_t)FOLD_AS(int64_t, (int64_t)a, (int64_t)b, kind);
    case GPURT_SIMT_F32:
        return gpurt_simt_put_f32(
            fold_float(kind, gpurt_simt_get_f32(a), gpurt_simt_get_f32(b)));
    default:
        return gpurt_simt_put_f64(
            fold_double(kind, gpurt_simt_get_f64(a), gpurt_simt_get_f64(b)));
    }
}

/* The order of combination is part of the contract (warp.h): floats must agree with a GPU. */
static uint64_t reduce(const simt_warp_t *w, uint32_t mask, uint32_t code)
{
    uint32_t kind = (code - GPURT_SIMT_REDUCE) / 8, type = (code - GPURT_SIMT_REDUCE) % 8;
    uint64_t v[GPURT_WARP_SIZE], total = 0;
    bool first = true;

    if (mask == GPURT_FULL_MASK) {
        for (uint32_t i = 0; i < GPURT_WARP_SIZE; i++)
            v[i] = w->lanes[i].value;
        for (uint32_t step = GPURT_WARP_SIZE / 2; step; step /= 2)
            for (uint32_t i = 0; i < step; i++)
                v[i] = fold(kind, type, v[i], v[i + step]);
        return v[0];
    }
    FOR_LANES (i, mask) {
        total = first ? w->lanes[i].value : fold(kind, type, total, w->lanes[i].value);
        first = false;
    }
    return total;
}

/* ---- shuffles ---------------------------------------------------------------------------- */
/* The lane a shuffle reads; past the edge of its group of `width` lanes it reads itself. */
static uint32_t shuffle_source(const simt_lane_t *me)
{
    uint32_t lane = me->self.lane, by = me->arg & 31u, width = me->arg >> 8;
    uint32_t group = lane & ~(width - 1u), inside = lane & (width - 1u);

    switch (me->op) {
    case GPURT_SIMT_SHFL_IDX:
        return group | (by & (width - 1u));
    case GPURT_SIMT_SHFL_UP:
        return inside >= by ? lane - by : lane;
    case GPURT_SIMT_SHFL_DOWN:
        return inside + by < width ? lane + by : lane;
    default: /* xor may reach into earlier groups, never into later ones */
        return (lane ^ by) < group + width ? lane ^ by : lane;
    }
}

/* ---- one meeting --------------------------------------------------------------------------- */
static uint32_t ballot(const simt_warp_t *w, uint32_t need)
{
    uint32_t bits = 0;

    FOR_LANES (i, need)
        if (w->lanes[i].value)
            bits |= 1u << i;
    return bits;
}

static uint32_t lanes_alike(const simt_warp_t *w, uint32_t need, uint64_t value)
{
    uint32_t bits = 0;

    FOR_LANES (i, need)
        if (w->lanes[i].value == value)
            bits |= 1u << i;
    return bits;
}

static void results_per_lane(simt_warp_t *w, uint32_t need, uint32_t op)
{
    FOR_LANES (i, need) {
        simt_lane_t *l = &w->lanes[i];
        uint32_t from;

        if (op == GPURT_SIMT_MATCH_ANY) {
            l->result = lanes_alike(w, need, l->value);
            continue;
        }
        from = shuffle_source(l);
        l->result = need >> from & 1u ? w->lanes[from].value : SHUFFLE_POISON;
    }
}

static void compute_results(simt_warp_t *w, uint32_t need, const simt_lane_t *first)
{
    uint64_t all = 0;

    switch (first->op) {
    case GPURT_SIMT_SYNCWARP:
        break;
    case GPURT_SIMT_BALLOT:
        all = ballot(w, need);
        break;
    case GPURT_SIMT_MATCH_ALL:
        all = lanes_alike(w, need, first->value) == need ? need : 0;
        break;
    case GPURT_SIMT_MATCH_ANY:
    case GPURT_SIMT_SHFL_IDX:
    case GPURT_SIMT_SHFL_UP:
    case GPURT_SIMT_SHFL_DOWN:
    case GPURT_SIMT_SHFL_XOR:
        results_per_lane(w, need, first->op);
        return;
    default:
        all = reduce(w, need, first->op);
        break;
    }
    FOR_LANES (i, need)
        w->lanes[i].result = all;
}

/* Lanes that wait for each other must agree on who and what. One that waits for others first, as
 * a lane does that works for its group meanwhile, comes later. */
static bool meeting_agrees(simt_warp_t *w, uint32_t need, simt_lane_t *me)
{
    FOR_LANES (i, need) {
        simt_lane_t *l = &w->lanes[i];

        if (l->mask != me->mask && !(l->mask >> me->self.lane & 1u))
            return false;
        if (l->mask != me->mask)
            simt_lane_misuse(me, GPURT_E_SYNC,
                             "lanes that wait for each other name different masks", l);
        if (l->op != me->op)
            simt_lane_misuse(me, GPURT_E_SYNC,
                             "lanes of one mask execute different warp operations", l);
    }
    return true;
}

/* Completes the meeting of `mask` if everybody has come. me: the lane whose arrival, or one
 * waiting lane whose missing partner ended. */
static void meeting_try(simt_warp_t *w, uint32_t mask, simt_lane_t *me)
{
    uint32_t need = lanes_needed(w, mask);
    simt_lane_t *first;

    if (!need || (w->waiting & need) != need || !meeting_agrees(w, need, me))
        return;
    first = &w->lanes[__builtin_ctz(need)];
    compute_results(w, need, first);
    w->waiting &= ~need;
    if (first->op == GPURT_SIMT_SYNCWARP)
        w->sync_parity ^= 1u << __builtin_ctz(mask);
    FOR_LANES (i, need)
        simt_lane_wake(&w->lanes[i]);
    simt_worker_self->xrendezvous++;
}

static bool width_is_legal(uint32_t op, uint32_t width)
{
    if (op < GPURT_SIMT_SHFL_IDX || op > GPURT_SIMT_SHFL_XOR)
        return true;
    return width && width <= GPURT_WARP_SIZE && (width & (width - 1)) == 0;
}

uint64_t gpurt_simt_warp_op(uint32_t op, uint32_t mask, uint64_t value, uint32_t arg,
                            const char *site)
{
    simt_worker_t *k = simt_worker_self;
    simt_lane_t *me;
    simt_warp_t *w;
    char *word = NULL;

    if (GPURT_UNLIKELY(!k || !k->current)) /* a warp of one, outside a kernel */
        return op == GPURT_SIMT_MATCH_ANY || op == GPURT_SIMT_MATCH_ALL ? 1 : value;
    me = k->current;
    w = me->warp;
    me->site = site;
    me->op = (uint8_t)op;
    me->mask = mask;
    me->value = value;
    me->arg = arg;
    if (GPURT_UNLIKELY(!(mask >> me->self.lane & 1u)))
        simt_lane_misuse(me, GPURT_E_SYNC, "a lane is not in the mask it names", NULL);
    if (GPURT_UNLIKELY(k->device->config.cpu.strict && (mask & w->done) &&
                       !w->block->cancelled))
        simt_lane_misuse(me, GPURT_E_SYNC, "a mask names a lane that has ended",
                         &w->lanes[__builtin_ctz(mask & w->done)]);
    if (GPURT_UNLIKELY(!width_is_legal(op, arg >> 8)))
        simt_lane_misuse(me, GPURT_E_SYNC,
                         "the width of a shuffle is not 1, 2, 4, 8, 16 or 32", NULL);
    if (op == GPURT_SIMT_SYNCWARP) { /* the one operation that orders memory */
        uint32_t lowest = (uint32_t)__builtin_ctz(mask);

        word = &w->sync_word[lowest][w->sync_parity >> lowest & 1u];
        simt_order_release(word);
    }
    simt_lane_block(me, SIMT_AT_WARP);
    w->waiting |= 1u << me->self.lane;
    meeting_try(w, mask, me);
    simt_lane_wait(me);
    if (word)
        simt_order_acquire(word);
    return me->result;
}

void simt_warp_lane_ended(simt_lane_t *lane)
{
    simt_warp_t *w = lane->warp;
    uint32_t bit = 1u << lane->self.lane, named = 0;

    FOR_LANES (i, w->waiting)
        if (w->lanes[i].mask & bit)
            named |= 1u << i;
    if (!named)
        return;
    if (lane->warp->block->worker->device->config.cpu.strict &&
        !lane->warp->block->cancelled) {
        simt_lane_t *other = &w->lanes[__builtin_ctz(named)];

        simt_lane_misuse(lane, GPURT_E_SYNC,
                         "a lane ended while others wait for it in a warp operation",
                         other);
    }
    /* one try a mask: completing one meeting takes its lanes out of `waiting` */
    FOR_LANES (i, named)
        if (w->waiting >> i & 1u)
            meeting_try(w, w->lanes[i].mask, &w->lanes[i]);
}

/* ---- activemask ---------------------------------------------------------------------------- */
uint32_t gpurt_simt_activemask(const char *site)
{
    simt_worker_t *k = simt_worker_self;
    simt_lane_t *me;

    if (GPURT_UNLIKELY(!k || !k->current))
        return 1;
    me = k->current;
    me->site = site;
    me->warp->parked |= 1u << me->self.lane;
    simt_lane_block(me, SIMT_PARKED);
    simt_lane_yield(me);
    return (uint32_t)me->result;
}

/* Lanes that parked at one site go on together, as hardware reconverges them; under a seed any
 * part of them, since every subset is a legal answer. */
bool simt_warp_release_parked(simt_worker_t *k, simt_warp_t *w)
{
    uint32_t group = 0;
    const char *site;

    if (!w->parked)
        return false;
    site = w->lanes[__builtin_ctz(w->parked)].site;
    FOR_LANES (i, w->parked)
        if (w->lanes[i].site == site)
            group |= 1u << i;
    if (k->device->config.seeded) {
        uint32_t part = group & (uint32_t)simt_schedule_random(k);

        group = part ? part : group;
    }
    w->parked &= ~group;
    FOR_LANES (i, group) {
        w->lanes[i].result = group;
        simt_lane_wake(&w->lanes[i]);
    }
    return true;
}
