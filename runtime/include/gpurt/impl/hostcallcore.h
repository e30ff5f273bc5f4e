/* SPDX-License-Identifier: Apache-2.0 */
/* hostcallcore.h - how lanes ask the host. Verbs: hostcall.h; layout: hostcallmap.h.
 *
 *     claim    a bit of xfree
 *     ask      the question into the port, then its turn into xasked
 *     await    looks at the host's answers in turn, for all who wait; else at xseen
 *     read     the answer out of the port
 *     give     the bit of xfree back
 *
 * The lanes that make the same call go through this as one. Nothing in between ends a lane. One
 * that gives up behind the question sets the port's bit in xleft: the port is the host's still,
 * and whoever sees its answer gives it back.
 *
 * Looks. A read of host memory takes a microsecond, those of one word come one after the other, and
 * fences wait behind them. So one lane at a time reads, one line for all ports, and what it saw
 * lies in device memory for the others. Its reads wait beside each other, and it reads again a few
 * times before it lets go: each trip less is half a microsecond of a call.
 *
 * xseen never goes back: looks come one after the other, and a look stores before it frees. So
 * who has a port sees no answer older than that to the question before its own, and one bit is
 * enough. For the same reason a look reads xleft before the answers. */
#ifndef GPURT_HOSTCALLCORE_H
#define GPURT_HOSTCALLCORE_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/clock.h>
#include <gpurt/hostword.h>
#include <gpurt/ids.h>
#include <gpurt/impl/hostcallmap.h>
#include <gpurt/status.h>
#include <gpurt/waits.h>
#include <gpurt/warp.h>

#define GPURT_HOSTCALL_NO_PORT UINT32_MAX
enum {
    GPURT_HOSTCALL_TURNS =
        4 /* reads of a look, of a microsecond each, while nothing is new */
};

/* Owner: a lane, for one call. */
typedef struct gpurt_hostcall {
    const gpurt_hostcalls_t *calls;
    const void *ask;
    void *answer;
    uint32_t function, ask_bytes, answer_bytes;
    bool alone;        /* the lane has a port for itself */
    uint64_t argument; /* of a lane alone */
    uint64_t ns;       /* so long at most; UINT64_MAX: for ever */
    uint64_t begin;    /* gpurt_globaltimer */
    gpurt_site_t *place;
    const char *here;
} gpurt_hostcall_t;

/* ---- ports --------------------------------------------------------------------------- */

/* Multiprocessors begin at different ports. The first is tried without a look whether it is free. */
GPURT_DEV uint32_t gpurt_hostcall_claim(const gpurt_hostcalls_t *c)
{
    const uint32_t count = (c->port_count + 31) / 32, sm = gpurt_sm();
    uint32_t some = 1u << sm / count % 32;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (sm + i) % count;
        uint32_t *word = &c->words->xfree[at];

        if (i > 0)
            some = gpurt_load_relaxed_dev_u32(word); /* relaxed: a hint */
        while (some) {
            uint32_t bit = some & (0u - some);

            some = gpurt_and_acquire_far_u32(word, ~bit); /* HC1.acq */
            if (some & bit)
                return at * 32 + gpurt_ctz(bit);
        }
    }
    return GPURT_HOSTCALL_NO_PORT;
}

GPURT_DEV void gpurt_hostcall_give(const gpurt_hostcalls_t *c, uint32_t port)
{
    gpurt_or_release_far_u32(&c->words->xfree[port / 32], 1u << port % 32); /* HC1.rel */
    gpurt_host_wake();
}

GPURT_DEV void gpurt_hostcall_leave(const gpurt_hostcalls_t *c, uint32_t port)
{
    gpurt_or_release_far_u32(&c->words->xleft[port / 32], 1u << port % 32); /* HC4.rel */
}

/* ---- looks --------------------------------------------------------------------------- */

GPURT_DEV bool gpurt_hostcall_bit_is(uint32_t answered, uint32_t port, uint32_t turn)
{
    return (((answered >> port % 32) ^ turn) & 1u) == 0;
}

GPURT_DEV bool gpurt_hostcall_is_answered(const gpurt_hostcalls_t *c, uint32_t port,
                                          uint32_t turn)
{
    return gpurt_hostcall_bit_is(gpurt_load_acquire_dev_u32(&c->words->xseen[port / 32]),
                                 port, turn); /* HC2.acq */
}

/* Of ports whose owners left, as far as they are answered. Context: as the look; `left` was read
 * before `answered`. */
GPURT_DEVN void gpurt_hostcall_reclaim(const gpurt_hostcalls_t *c, uint32_t at,
                                       uint32_t left, uint32_t answered)
{
    for (; left; left &= left - 1) {
        uint32_t bit = left & (0u - left), port = at * 32 + gpurt_ctz(bit);

        if (!gpurt_hostcall_bit_is(answered, port, c->words->turns[port]))
            continue;
        /* relaxed: nobody else sees this port before it is given back */
        gpurt_and_relaxed_far_u32(&c->words->xleft[at], ~bit);
        gpurt_hostcall_give(c, port);
    }
}

/* Owner: a lane, from a look to its end. */
typedef struct gpurt_hostcall_sight {
    bool holds; /* it looks, and no other does */
    uint32_t left[GPURT_HOSTCALL_WORDS], seen[GPURT_HOSTCALL_WORDS];
    uint32_t answered[GPURT_HOSTCALL_WORDS];
    bool news; /* xseen has not all of `answered` */
} gpurt_hostcall_sight_t;

/* Only what somebody left needs an order before the answers. relaxed: acquired behind them; our own */
GPURT_DEV void gpurt_hostcall_read_near(const gpurt_hostcalls_t *c,
                                        gpurt_hostcall_sight_t *s)
{
    uint32_t some = 0;

    for (uint32_t i = 0; i < GPURT_HOSTCALL_WORDS; i++) {
        s->left[i] = gpurt_load_relaxed_dev_u32(&c->words->xleft[i]);
        s->seen[i] = gpurt_load_relaxed_dev_u32(&c->words->xseen[i]);
    }
    for (uint32_t i = 0; i < GPURT_HOSTCALL_WORDS; i++)
        some |= s->left[i] ? 1u << i : 0;
    gpurt_acquire_behind_dev_u32(c->words->xleft, some); /* HC4.acq */
}

/* One read: several of one line of the host come one after the other, each a microsecond.
 * relaxed: acquired behind it */
GPURT_DEV void gpurt_hostcall_read_answers(const gpurt_hostcalls_t *c,
                                           gpurt_hostcall_sight_t *s)
{
    gpurt_load_four_relaxed_sys(c->side->xanswered, s->answered);
    s->news = false;
    for (uint32_t i = 0; i < GPURT_HOSTCALL_WORDS; i++)
        s->news |= s->answered[i] != s->seen[i];
}
GPURT_STATIC_ASSERT(GPURT_HOSTCALL_WORDS == 4, "what one read has");

/* Reads what the host has answered, if no other lane does so now. Whoever holds a look ends it soon:
 * the others see nothing until then. */
GPURT_DEV void gpurt_hostcall_look(const gpurt_hostcalls_t *c, gpurt_hostcall_sight_t *s)
{
    gpurt_hostcall_words_t *w = c->words;
    uint32_t none = 0;

    s->holds = !gpurt_load_relaxed_dev_u32(&w->xlooking) &&       /* relaxed: a hint */
               gpurt_cas_acquire_far_u32(&w->xlooking, &none, 1); /* HC3.acq */
    if (!s->holds)
        return;
    gpurt_red_add_relaxed_dev_u64(&w->xlooks, 1); /* relaxed: a statistic */
    gpurt_hostcall_read_near(c, s);
    for (uint32_t turn = 0; turn < GPURT_HOSTCALL_TURNS; turn++) {
        gpurt_hostcall_read_answers(c, s);
        if (s->news)
            break;
    }
    gpurt_acquire_behind_sys_u32(c->side->xanswered,
                                 (1u << GPURT_HOSTCALL_WORDS) - 1); /* HW2.acq */
}

/* What a look saw, for all who wait. */
GPURT_DEV void gpurt_hostcall_publish(const gpurt_hostcalls_t *c,
                                      const gpurt_hostcall_sight_t *s)
{
    for (uint32_t i = 0; i < GPURT_HOSTCALL_WORDS; i++) {
        if (s->answered[i] != s->seen[i])
            gpurt_store_release_dev_u32(&c->words->xseen[i], s->answered[i]); /* HC2.rel */
        if (s->left[i])
            gpurt_hostcall_reclaim(c, i, s->left[i], s->answered[i]);
    }
}

/* Ends a look that is held, and gives a port back: one wait for both. */
GPURT_DEV void gpurt_hostcall_end(const gpurt_hostcalls_t *c,
                                  const gpurt_hostcall_sight_t *s, uint32_t port)
{
    bool gives = port != GPURT_HOSTCALL_NO_PORT;

    if (s->holds)
        gpurt_hostcall_publish(c, s);
    gpurt_release_ahead_dev();
    if (s->holds)
        gpurt_store_ahead_dev_u32(&c->words->xlooking, 0); /* HC3.rel */
    if (gives)                                             /* HC1.rel */
        (void)gpurt_or_ahead_far_u32(&c->words->xfree[port / 32], 1u << port % 32);
    if (gives || (s->holds && s->news))
        gpurt_host_wake();
}

/* Whether a question is answered, as far as a look or another's shows. */
GPURT_DEV bool gpurt_hostcall_sees(const gpurt_hostcalls_t *c,
                                   const gpurt_hostcall_sight_t *s, uint32_t port,
                                   uint32_t turn)
{
    uint32_t mine = 0;

    if (!s->holds)
        return gpurt_hostcall_is_answered(c, port, turn);
    for (uint32_t i = 0; i < GPURT_HOSTCALL_WORDS; i++) /* it stays in registers */
        mine = port / 32 == i ? s->answered[i] : mine;
    return gpurt_hostcall_bit_is(mine, port, turn);
}

/* ---- waiting ------------------------------------------------------------------------- */

/* Owner: the lowest lane of a group. */
typedef struct gpurt_hostcall_wait {
    gpurt_hostcall_t *call;
    uint32_t turns;
    bool told;
} gpurt_hostcall_wait_t;

/* One more turn. relaxed: the number of a thing that ended.
 * Returns: GPURT_OK, or why the wait is over. */
GPURT_DEV gpurt_status_t gpurt_hostcall_wait_pass(gpurt_hostcall_wait_t *w)
{
    gpurt_hostcall_t *call = w->call;
    gpurt_hostcall_words_t *words = call->calls->words;
    uint64_t left = UINT64_MAX;

    if (!w->told && w->turns + 1 >= GPURT_HOST_TURNS_TOLD) {
        gpurt_waitable_name(&words->waitable, GPURT_WAITABLE_OTHER, words->name,
                            GPURT_WAITABLE_SINGLE);
        gpurt_wait_begin(&words->waitable, GPURT_WAIT_WORD, call->place);
        w->told = true;
    }
    if (gpurt_cancelled())
        return GPURT_E_CANCELLED;
    if (gpurt_load_relaxed_dev_u32(&words->xstate) == GPURT_HOSTCALLS_DESTROYED)
        return GPURT_E_HANDLE;
    if (call->ns != UINT64_MAX) {
        uint64_t gone = gpurt_globaltimer() - call->begin;

        if (gone >= call->ns)
            return GPURT_E_TIMEOUT;
        left = call->ns - gone;
    }
    gpurt_host_pause_held(w->turns++, left, call->here);
    return GPURT_OK;
}

GPURT_DEV void gpurt_hostcall_wait_end(const gpurt_hostcall_wait_t *w)
{
    if (w->told)
        gpurt_wait_end(w->call->place);
}

/* A look may free a port that somebody left. relaxed: statistics.
 * Returns: GPURT_OK and *port, or why there is none. */
GPURT_DEVN gpurt_status_t gpurt_hostcall_await_port(gpurt_hostcall_t *call, uint32_t lanes,
                                                    uint32_t *port)
{
    gpurt_hostcall_words_t *words = call->calls->words;
    gpurt_hostcall_wait_t w = {call, 0, false};
    gpurt_hostcall_sight_t sight;
    gpurt_status_t st = GPURT_OK;

    gpurt_red_add_relaxed_dev_u64(&words->xwaits, 1);
    gpurt_red_add_relaxed_dev_u32(&words->xwaiting, lanes);
    for (;;) {
        gpurt_hostcall_look(call->calls, &sight);
        if (sight.holds)
            gpurt_hostcall_end(call->calls, &sight, GPURT_HOSTCALL_NO_PORT);
        *port = gpurt_hostcall_claim(call->calls);
        if (*port != GPURT_HOSTCALL_NO_PORT)
            break;
        st = gpurt_hostcall_wait_pass(&w);
        if (st != GPURT_OK)
            break;
    }
    gpurt_hostcall_wait_end(&w);
    gpurt_red_add_relaxed_dev_u32(&words->xwaiting, 0u - lanes);
    if (st != GPURT_OK)
        gpurt_red_add_relaxed_dev_u64(
            st == GPURT_E_CANCELLED ? &words->xcancelled : &words->xrefused, lanes);
    return st == GPURT_E_TIMEOUT ? (gpurt_status_t)GPURT_E_FULL : st;
}

/* relaxed: statistics */
GPURT_DEV void gpurt_hostcall_count(gpurt_hostcall_words_t *words, uint64_t asked)
{
    uint64_t ns = gpurt_globaltimer() - asked;
    uint32_t bucket = 63 - gpurt_clz64(ns | 1);

    if (bucket >= GPURT_HOSTCALL_BUCKETS)
        bucket = GPURT_HOSTCALL_BUCKETS - 1;
    gpurt_red_add_relaxed_dev_u64(&words->xlatency[bucket], 1);
}

/* Who gives up leaves the port to who sees its answer. relaxed: statistics
 * Returns: GPURT_OK, and the look may be held still: the answer is read before it ends. */
GPURT_DEV gpurt_status_t gpurt_hostcall_await_answer(gpurt_hostcall_t *call, uint32_t lanes,
                                                     uint32_t port, uint32_t turn,
                                                     gpurt_hostcall_sight_t *sight)
{
    gpurt_hostcall_words_t *words = call->calls->words;
    gpurt_hostcall_wait_t w = {call, 0, false};
    uint64_t asked = gpurt_globaltimer();
    gpurt_status_t st = GPURT_OK;

    for (;;) {
        gpurt_hostcall_look(call->calls, sight);
        if (gpurt_hostcall_sees(call->calls, sight, port, turn))
            break;
        if (sight->holds)
            gpurt_hostcall_end(call->calls, sight, GPURT_HOSTCALL_NO_PORT);
        st = gpurt_hostcall_wait_pass(&w);
        if (st != GPURT_OK)
            break;
    }
    gpurt_hostcall_wait_end(&w);
    if (st == GPURT_OK) {
        gpurt_hostcall_count(words, asked);
        return st;
    }
    gpurt_red_add_relaxed_dev_u64(
        st == GPURT_E_CANCELLED ? &words->xcancelled : &words->xlate, lanes);
    gpurt_hostcall_leave(call->calls, port);
    return st;
}

/* ---- questions and answers ----------------------------------------------------------- */

GPURT_DEV void gpurt_hostcall_put(gpurt_hostcall_port_t *port, const gpurt_hostcall_t *call,
                                  uint32_t rank, uint32_t lanes)
{
    const char *from = (const char *)call->ask;
    uint32_t bytes = call->ask_bytes;

    for (uint32_t unit = 0; bytes; unit++) {
        uint32_t n = bytes < GPURT_HOSTCALL_UNIT ? bytes : (uint32_t)GPURT_HOSTCALL_UNIT;
        gpurt_u128_t v = {0, 0};

        __builtin_memcpy(&v, from, n);
        *(gpurt_u128_t *)(void *)(port->area + gpurt_hostcall_unit_at(unit, rank, lanes)) =
            v;
        from += n;
        bytes -= n;
    }
}

/* Returns: the answer's status. */
GPURT_DEV gpurt_status_t gpurt_hostcall_get(const gpurt_hostcall_port_t *port,
                                            const gpurt_hostcall_t *call, uint32_t rank,
                                            uint32_t lanes)
{
    char *to = (char *)call->answer;
    uint32_t bytes = call->answer_bytes, skip = GPURT_HOSTCALL_HEAD;
    gpurt_status_t st = GPURT_OK;

    for (uint32_t unit = 0; unit == 0 || bytes; unit++) {
        uint32_t n = GPURT_HOSTCALL_UNIT - skip;
        gpurt_u128_t v =
            *(const gpurt_u128_t *)(const void *)(port->area + gpurt_hostcall_unit_at(
                                                                   unit, rank, lanes));

        if (unit == 0)
            st = (gpurt_status_t)(int32_t)(uint32_t)v.lo;
        n = n < bytes ? n : bytes;
        if (n == 0)
            break; /* a status alone */
        __builtin_memcpy(to, (const char *)&v + skip, n);
        to += n;
        bytes -= n;
        skip = 0;
    }
    return st;
}

GPURT_DEV void gpurt_hostcall_head(gpurt_hostcall_port_t *port,
                                   const gpurt_hostcall_t *call, uint32_t lanes)
{
    port->function = call->function;
    port->lanes = lanes;
    port->ask_bytes = call->ask_bytes;
    port->answer_bytes = call->answer_bytes;
    port->argument = call->argument;
}

/* ---- calls --------------------------------------------------------------------------- */

/* The lanes that make the same call with this one. */
GPURT_DEV uint32_t gpurt_hostcall_group(const gpurt_hostcall_t *call)
{
    uint32_t group;

    if (call->alone || !gpurt_hostcall_shares(call->ask_bytes, call->answer_bytes))
        return 1u << gpurt_lane();
    group =
        gpurt_match_any_u64(gpurt_activemask(), (uint64_t)(uintptr_t)call->calls->words);
    return gpurt_match_any_u64(group, (uint64_t)call->function << 32 |
                                          call->ask_bytes << 16 | call->answer_bytes);
}

/* relaxed: the number of a thing that ended */
GPURT_DEV gpurt_status_t gpurt_hostcall_refused(const gpurt_hostcall_t *call)
{
    const gpurt_hostcalls_t *c = call->calls;
    uint32_t id, state;

    if (!c->words)
        return GPURT_E_HANDLE;
    id = gpurt_load_relaxed_dev_u32(&c->words->id);
    state = gpurt_load_relaxed_dev_u32(&c->words->xstate);
    if (id != c->id || state == GPURT_HOSTCALLS_DESTROYED)
        return GPURT_E_HANDLE;
    if (call->ask_bytes <= GPURT_HOSTCALL_ASK_MOST &&
        call->answer_bytes <= GPURT_HOSTCALL_ANSWER_MOST)
        return GPURT_OK;
    gpurt_red_add_relaxed_dev_u64(&c->words->xrefused, 1); /* relaxed: a statistic */
    return GPURT_E_INVALID;
}

/* The lowest lane of the group, with its port. Counted behind it: the release would wait. */
GPURT_DEV void gpurt_hostcall_tell(const gpurt_hostcalls_t *c, uint32_t port, uint32_t turn,
                                   uint32_t lanes)
{
    gpurt_hostword_tell(&c->side->xasked[port], turn);
    gpurt_red_add_relaxed_dev_u64(&c->words->xcalls, lanes); /* relaxed: a statistic */
    gpurt_red_add_relaxed_dev_u64(&c->words->xgroups, 1);    /* relaxed: likewise */
}

GPURT_DEV gpurt_status_t gpurt_hostcall_led(uint32_t group, gpurt_status_t st)
{
    return (gpurt_status_t)(int32_t)gpurt_shfl_u32(group, (uint32_t)st,
                                                   gpurt_leader(group));
}

/* The lanes of a group have a port. Returns: this lane's answer. */
GPURT_DEV gpurt_status_t gpurt_hostcall_ask(gpurt_hostcall_t *call, uint32_t group,
                                            uint32_t port)
{
    const gpurt_hostcalls_t *c = call->calls;
    const uint32_t lanes = gpurt_popc(group),
                   rank = gpurt_popc(group & gpurt_lanes_below());
    gpurt_hostcall_sight_t sight = {0};
    gpurt_status_t st = GPURT_OK;
    uint32_t turn = 0;

    gpurt_syncwarp(group); /* what the leader acquired with the port */
    if (rank == 0) {
        turn = ++c->words->turns[port];
        gpurt_hostcall_head(&c->ports[port], call, lanes);
    }
    gpurt_hostcall_put(&c->ports[port], call, rank, lanes);
    gpurt_syncwarp(group); /* all questions are there before the leader says so */
    if (rank == 0) {
        gpurt_hostcall_tell(c, port, turn, lanes);
        st = gpurt_hostcall_await_answer(call, lanes, port, turn, &sight);
    }
    st = gpurt_hostcall_led(group, st);
    if (st != GPURT_OK)
        return st;
    gpurt_syncwarp(group); /* what the leader acquired with the answer */
    st = gpurt_hostcall_get(&c->ports[port], call, rank, lanes);
    gpurt_syncwarp(group); /* all have read before the port is another's */
    if (rank == 0)
        gpurt_hostcall_end(c, &sight, port);
    return st;
}

/* Not inlined: a call takes microseconds, and its registers are not the caller's. */
GPURT_DEVN gpurt_status_t gpurt_hostcall_run(gpurt_hostcall_t *call)
{
    gpurt_status_t st = gpurt_hostcall_refused(call);
    uint32_t group, port = GPURT_HOSTCALL_NO_PORT;

    if (st != GPURT_OK)
        return st;
    call->begin = gpurt_globaltimer();
    group = gpurt_hostcall_group(call);
    if (gpurt_is_leader(group)) {
        port = gpurt_hostcall_claim(call->calls);
        if (port == GPURT_HOSTCALL_NO_PORT)
            st = gpurt_hostcall_await_port(call, gpurt_popc(group), &port);
    }
    st = gpurt_hostcall_led(group, st);
    if (st == GPURT_OK) {
        port = gpurt_shfl_u32(group, port, gpurt_leader(group));
        st = gpurt_hostcall_ask(call, group, port);
    }
    if (st == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    return st;
}

#endif
