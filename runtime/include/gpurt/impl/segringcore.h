/* SPDX-License-Identifier: Apache-2.0 */
/* segringcore.h - how lanes reserve, fill, commit and read segments. Verbs: segring.h; layout:
 * segringmap.h.
 *
 *     reserve   one compare-exchange of xhead draws units, for all lanes of a group if there is
 *               room for all; then the spot of the first unit says who has them
 *     commit    the header is stored, then a compare-exchange of the spot's state
 *     read      the segment at xtail is copied, then a compare-exchange of xtail takes it: only
 *               then is the copy the reader's. What was overwritten meanwhile fails there
 *     give up   a compare-exchange of the spot's state, which its writer's commit then loses
 *
 * Data is stored and loaded in lines of 16 bytes, by atomics: a reader may look at a segment
 * that is being overwritten, and finds out behind it. */
#ifndef GPURT_SEGRINGCORE_H
#define GPURT_SEGRINGCORE_H

#include <gpurt/impl/channelslot.h>
#include <gpurt/impl/channelwait.h>
#include <gpurt/impl/segringmap.h>

enum {
    GPURT_SEGRING_AT_ONCE = 4 /* lines that are loaded before the first is used */
};

/* Owner: a lane, for one call. */
typedef struct gpurt_segring_call {
    const gpurt_segring_t *r;
    uint64_t ns; /* 0: never waits; UINT64_MAX: by the policy */
    gpurt_site_t *place;
    const char *here;
} gpurt_segring_call_t;

/* ---- places -------------------------------------------------------------------------- */

GPURT_DEV gpurt_spot_row_t *gpurt_segring_spot(const gpurt_segring_t *r, uint64_t at)
{
    return r->spots + (at & (r->units - 1));
}

/* Line i of the segment at `at`; 0 is its header. */
GPURT_DEV gpurt_u128_t *gpurt_segring_line(const gpurt_segring_t *r, uint64_t at,
                                           uint64_t i)
{
    uint64_t lines = gpurt_segring_bytes(r) / GPURT_SEGRING_LINE;
    uint64_t first = at * (GPURT_SEGRING_UNIT / GPURT_SEGRING_LINE);

    return (gpurt_u128_t *)(void *)r->data + ((first + i) & (lines - 1));
}

GPURT_DEV uint64_t gpurt_spot_word(uint64_t at, uint32_t state)
{
    return at << GPURT_SPOT_BITS | state;
}

GPURT_DEV uint32_t gpurt_segring_now(void)
{
    return (uint32_t)(gpurt_globaltimer() >> GPURT_SEGRING_PATIENCE_SHIFT);
}

/* ---- checksum ------------------------------------------------------------------------ */

/* Each bit of x reaches each of the sum. */
GPURT_DEV uint64_t gpurt_segring_mix(uint64_t x)
{
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
    return x ^ x >> 32;
}

/* What line i adds to the sum: the same bytes in another place add something else. */
GPURT_DEV uint64_t gpurt_segring_sum(gpurt_u128_t line, uint64_t i)
{
    return gpurt_segring_mix(line.lo + i * 0x9e3779b97f4a7c15ull) +
           gpurt_segring_mix(line.hi + ~i * 0x9e3779b97f4a7c15ull);
}

/* A header: generation and length, and the sum of both and of all lines. */
GPURT_DEV gpurt_u128_t gpurt_segring_header(uint64_t at, uint64_t bytes, uint64_t sum)
{
    gpurt_u128_t h;

    h.lo = at << 32 | bytes;
    h.hi = gpurt_segring_mix(h.lo ^ gpurt_segring_mix(at)) + sum;
    return h;
}

/* ---- writing ------------------------------------------------------------------------- */

/* relaxed: the commit orders it */
GPURT_DEV void gpurt_segment_flush(gpurt_segment_t *s, gpurt_u128_t line)
{
    uint64_t i = s->put / GPURT_SEGRING_LINE + 1;

    gpurt_store_relaxed_dev_u128(gpurt_segring_line(&s->of, s->at, i), line);
    s->sum += gpurt_segring_sum(line, i);
}

/* A byte into the line that is not whole. */
GPURT_DEV void gpurt_segment_byte(gpurt_segment_t *s, uint8_t byte)
{
    uint32_t o = (uint32_t)s->put % GPURT_SEGRING_LINE;

    if (o < 8)
        s->line.lo |= (uint64_t)byte << 8 * o;
    else
        s->line.hi |= (uint64_t)byte << 8 * (o - 8);
    if (o == GPURT_SEGRING_LINE - 1) {
        gpurt_segment_flush(s, s->line);
        s->line.lo = s->line.hi = 0;
    }
    s->put++;
}

/* from: aligned as the shape says. */
GPURT_DEV void gpurt_segment_fill(gpurt_segment_t *s, const void *data, uint64_t shape,
                                  uint64_t bytes)
{
    const char *from = gpurt_channel_aligned(data, shape);
    uint64_t i = 0;

    while (i < bytes && s->put % GPURT_SEGRING_LINE)
        gpurt_segment_byte(s, (uint8_t)from[i++]);
    if (i == 0)
        for (; bytes - i >= GPURT_SEGRING_LINE; i += GPURT_SEGRING_LINE) {
            gpurt_u128_t line;

            __builtin_memcpy(&line, from + i, sizeof line);
            gpurt_segment_flush(s, line);
            s->put += GPURT_SEGRING_LINE;
        }
    while (i < bytes)
        gpurt_segment_byte(s, (uint8_t)from[i++]);
}

/* Its writer was given up, or the ring is gone. */
GPURT_DEVN int32_t gpurt_segment_late(const gpurt_segment_t *s)
{
    int32_t gone = gpurt_channel_gone(&s->of.words->desk, s->of.id);

    return gone == GPURT_E_HANDLE ? gone : (int32_t)GPURT_E_DROPPED;
}

/* relaxed: a look, so that a writer that was given up spoils little of what came after it */
GPURT_DEV bool gpurt_segment_is_mine(const gpurt_segment_t *s)
{
    return gpurt_load_relaxed_dev_u64(&gpurt_segring_spot(&s->of, s->at)->xstate) ==
           gpurt_spot_word(s->at, GPURT_SPOT_RESERVED);
}

GPURT_DEV gpurt_status_t gpurt_segment_write(gpurt_segment_t *s, const void *from,
                                             uint64_t shape, uint64_t bytes)
{
    if (!s->of.words)
        return GPURT_E_HANDLE;
    if (bytes > s->room - s->put)
        return GPURT_E_INVALID;
    if (!gpurt_segment_is_mine(s))
        return gpurt_segment_late(s);
    gpurt_segment_fill(s, from, shape, bytes);
    return GPURT_OK;
}

/* The header, behind all of the data. relaxed: it is data */
GPURT_DEV void gpurt_segment_close(gpurt_segment_t *s)
{
    if (s->put % GPURT_SEGRING_LINE)
        gpurt_segment_flush(s, s->line);
    gpurt_store_relaxed_dev_u128(gpurt_segring_line(&s->of, s->at, 0),
                                 gpurt_segring_header(s->at, s->put, s->sum));
}

/* All of it is there from now on, or none. */
GPURT_DEV gpurt_status_t gpurt_segment_end(gpurt_segment_t *s)
{
    uint64_t was = gpurt_spot_word(s->at, GPURT_SPOT_RESERVED);
    int32_t answer = GPURT_OK;

    if (!s->of.words)
        return GPURT_E_HANDLE;
    if (gpurt_segment_is_mine(s))
        gpurt_segment_close(s);
    if (!gpurt_cas_release_dev_u64(&gpurt_segring_spot(&s->of, s->at)->xstate,
                                   &was, /* SR1.rel */
                                   gpurt_spot_word(s->at, GPURT_SPOT_COMMITTED)))
        answer = gpurt_segment_late(s);
    s->of.words = NULL;
    return answer;
}

/* relaxed: nobody reads what is in it */
GPURT_DEV gpurt_status_t gpurt_segment_drop(gpurt_segment_t *s)
{
    uint64_t was = gpurt_spot_word(s->at, GPURT_SPOT_RESERVED);
    int32_t answer = GPURT_OK;

    if (!s->of.words)
        return GPURT_E_HANDLE;
    if (!gpurt_cas_relaxed_dev_u64(&gpurt_segring_spot(&s->of, s->at)->xstate, &was,
                                   gpurt_spot_word(s->at, GPURT_SPOT_ABORTED)))
        answer = gpurt_segment_late(s);
    s->of.words = NULL;
    return answer;
}

/* ---- room ---------------------------------------------------------------------------- */

/* Units, if they are free. *at: where, or where it is full. Returns: GPURT_CHANNEL_GO,
 * GPURT_E_FULL, or GPURT_E_CHANNEL_CLOSED. The tail is read behind the head: full is true at the
 * moment of the second. */
GPURT_DEV int32_t gpurt_segring_draw(const gpurt_segring_t *r, uint64_t units, uint64_t *at)
{
    uint64_t head = gpurt_load_acquire_dev_u64(&r->words->xhead); /* SR3.acq */

    while (!(head & GPURT_SEGRING_CLOSED)) {
        uint64_t tail = gpurt_load_acquire_dev_u64(&r->words->xtail); /* SR2.acq */

        if ((int64_t)((head >> 1) + units - tail) > (int64_t)r->units) {
            *at = tail;
            return GPURT_E_FULL;
        }
        *at = head >> 1;
        if (gpurt_cas_acquire_dev_u64(&r->words->xhead, &head,
                                      head + 2 * units)) /* SR3.acq, of a failure */
            return GPURT_CHANNEL_GO;
    }
    return GPURT_E_CHANNEL_CLOSED;
}

/* The units are this lane's. relaxed: who sees the state has seen the two words before it */
GPURT_DEV void gpurt_segring_claim(const gpurt_segring_t *r, uint64_t at, uint32_t units)
{
    gpurt_spot_row_t *spot = gpurt_segring_spot(r, at);

    gpurt_store_relaxed_dev_u32(&spot->xunits, units);
    gpurt_store_relaxed_dev_u32(&spot->xsince, gpurt_segring_now());
    gpurt_store_release_dev_u64(&spot->xstate, /* SR4.rel */
                                gpurt_spot_word(at, GPURT_SPOT_RESERVED));
}

/* Units of the lanes below this one in its group; *all: of all. */
GPURT_DEV uint64_t gpurt_segring_below(uint32_t group, uint32_t units, uint64_t *all)
{
    uint64_t below = 0;

    *all = units;
    if (gpurt_channel_is_alone(group))
        return 0;
    *all = 0;
    for (uint32_t left = group; left; left &= left - 1) {
        uint32_t lane = gpurt_leader(left), n = gpurt_shfl_u32(group, units, lane);

        below += lane < gpurt_lane() ? n : 0;
        *all += n;
    }
    return below;
}

/* All lanes of a group at once, with one compare-exchange. Returns: GPURT_CHANNEL_GO, or why not
 * all of them have theirs. */
GPURT_DEV int32_t gpurt_segring_draw_all(const gpurt_segring_t *r, uint32_t units,
                                         uint64_t *at)
{
    uint32_t group = gpurt_channel_alike((uint64_t)(uintptr_t)r->words);
    uint64_t all, below = gpurt_segring_below(group, units, &all), first = 0;
    int32_t answer = GPURT_E_FULL;

    if (gpurt_is_leader(group))
        answer = gpurt_segring_draw(r, all, &first);
    answer = (int32_t)gpurt_channel_led_u32(group, (uint32_t)answer);
    *at = gpurt_channel_led_u64(group, first) + below;
    return answer;
}

/* ---- segments that nobody commits ----------------------------------------------------- */

/* A reservation that is too old: its writer has lost it from here on. relaxed: nothing is handed
 * over. Returns: whether the state is another one now. */
GPURT_DEV bool gpurt_segring_give_up(const gpurt_segring_t *r, uint64_t at)
{
    gpurt_spot_row_t *spot = gpurt_segring_spot(r, at);
    uint64_t was = gpurt_spot_word(at, GPURT_SPOT_RESERVED);
    uint32_t age = gpurt_segring_now() - gpurt_load_relaxed_dev_u32(&spot->xsince);

    if (!r->patience || age < r->patience)
        return false;
    (void)gpurt_cas_relaxed_dev_u64(&spot->xstate, &was,
                                    gpurt_spot_word(at, GPURT_SPOT_TORN));
    return true;
}

/* Over the oldest segment, which is nobody's then; counted as one more of *count. relaxed: what
 * was read before has been released into xtail, and this goes on with it */
GPURT_DEV bool gpurt_segring_pass(const gpurt_segring_t *r, uint64_t at, uint64_t *count)
{
    uint32_t units = gpurt_load_relaxed_dev_u32(&gpurt_segring_spot(r, at)->xunits);

    if (!gpurt_cas_relaxed_dev_u64(&r->words->xtail, &at, at + units))
        return false;
    gpurt_red_add_relaxed_dev_u64(count, 1); /* relaxed: a statistic */
    return true;
}

/* A writer without room looks at the oldest segment. Returns: whether there may be more room. */
GPURT_DEVN bool gpurt_segring_make_room(const gpurt_segring_t *r, uint64_t at)
{
    gpurt_segring_words_t *w = r->words;
    uint64_t v =
        gpurt_load_acquire_dev_u64(&gpurt_segring_spot(r, at)->xstate); /* SR4.acq */

    if (v >> GPURT_SPOT_BITS != at) /* who has it is about to say so, or it was passed */
        return gpurt_load_relaxed_dev_u64(&w->xtail) != at; /* relaxed: a look */
    if (v == gpurt_spot_word(at, GPURT_SPOT_ABORTED))
        return gpurt_segring_pass(r, at, &w->xaborted), true;
    if (r->policy != GPURT_SEGRING_OVERWRITE)
        return false;
    if (v == gpurt_spot_word(at, GPURT_SPOT_RESERVED))
        return gpurt_segring_give_up(r, at);
    return gpurt_segring_pass(r, at, &w->xlost), true;
}

/* One lane waits for its own room. */
GPURT_DEVN int32_t gpurt_segring_await_room(gpurt_segring_call_t *call, uint32_t units,
                                            uint64_t *at)
{
    const gpurt_segring_t *r = call->r;
    gpurt_channel_desk_t *desk = &r->words->desk;
    uint64_t begin = 0;
    gpurt_channel_wait_t w = {desk, call->ns, &begin, call->place, call->here,
                              NULL, 1,        0,      true,        false};
    bool waits = call->ns > 0 && (call->ns < UINT64_MAX || r->policy != GPURT_SEGRING_FAIL);
    int32_t answer = GPURT_CHANNEL_AGAIN;

    while (answer == GPURT_CHANNEL_AGAIN) {
        answer = gpurt_segring_draw(r, units, at);
        if (answer == GPURT_E_CHANNEL_CLOSED)
            answer = gpurt_channel_gone(desk, r->id);
        else if (answer == GPURT_E_FULL && gpurt_segring_make_room(r, *at))
            answer = GPURT_CHANNEL_AGAIN;
        else if (answer == GPURT_E_FULL && waits)
            answer = gpurt_channel_wait_pass(&w);
    }
    gpurt_channel_wait_end(&w);
    if (answer == GPURT_E_FULL || answer == GPURT_E_CHANNEL_CLOSED)
        gpurt_red_add_relaxed_dev_u64(&desk->xrefused, 1); /* relaxed: a statistic */
    return answer;
}

GPURT_DEV gpurt_status_t gpurt_segring_take_room(gpurt_segring_call_t *call, uint64_t bytes,
                                                 gpurt_segment_t *s)
{
    const gpurt_segring_t *r = call->r;
    uint32_t units;
    int32_t answer;

    s->of.words = NULL;
    if (!r->words)
        return GPURT_E_HANDLE;
    if (bytes > gpurt_segring_room(r))
        return GPURT_E_INVALID;
    units = gpurt_segring_units(bytes);
    answer = gpurt_segring_draw_all(r, units, &s->at);
    if (answer != GPURT_CHANNEL_GO)
        answer = GPURT_FAR(gpurt_segring_await_room)(call, units, &s->at);
    if (answer == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    if (answer != GPURT_CHANNEL_GO)
        return answer;
    gpurt_segring_claim(r, s->at, units);
    gpurt_red_add_relaxed_dev_u64(&r->words->xsegments, 1); /* relaxed: a statistic */
    s->of = *r;
    s->room = bytes;
    s->put = s->sum = s->line.lo = s->line.hi = 0;
    return GPURT_OK;
}

/* ---- reading ------------------------------------------------------------------------- */

/* The last bytes of a segment, fewer than a line. */
GPURT_DEV void gpurt_segring_tail_bytes(char *to, gpurt_u128_t line, uint64_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (char)(uint8_t)((i < 8 ? line.lo : line.hi) >> 8 * (i % 8));
}

/* Copies it, and adds up what it copied. relaxed: its state was acquired, and who overwrites it
 * meanwhile has moved xtail before */
GPURT_DEV uint64_t gpurt_segring_copy(const gpurt_segring_t *r, uint64_t at, char *to,
                                      uint64_t bytes)
{
    uint64_t lines = (bytes + GPURT_SEGRING_LINE - 1) / GPURT_SEGRING_LINE, sum = 0;

    for (uint64_t i = 0; i < lines; i += GPURT_SEGRING_AT_ONCE) {
        gpurt_u128_t got[GPURT_SEGRING_AT_ONCE];

        for (uint32_t j = 0; j < GPURT_SEGRING_AT_ONCE; j++)
            if (i + j < lines)
                got[j] = gpurt_load_relaxed_dev_u128(gpurt_segring_line(r, at, i + j + 1));
        for (uint32_t j = 0; j < GPURT_SEGRING_AT_ONCE; j++) {
            uint64_t done = (i + j) * GPURT_SEGRING_LINE;

            if (done >= bytes)
                break;
            sum += gpurt_segring_sum(got[j], i + j + 1);
            if (bytes - done >= GPURT_SEGRING_LINE)
                __builtin_memcpy(to + done, &got[j], sizeof got[j]);
            else
                gpurt_segring_tail_bytes(to + done, got[j], bytes - done);
        }
    }
    return sum;
}

/* The oldest segment, which is committed. Returns: GPURT_CHANNEL_AGAIN, another one has it, or it
 * was overwritten. */
GPURT_DEV int32_t gpurt_segring_take(const gpurt_segring_t *r, uint64_t at, void *message,
                                     uint64_t shape, uint64_t room, uint64_t *bytes)
{
    gpurt_segring_words_t *w = r->words;
    char *to = (char *)gpurt_channel_aligned(message, shape);
    /* relaxed: as gpurt_segring_copy. A later number of units comes with a later tail */
    uint32_t units = gpurt_load_relaxed_dev_u32(&gpurt_segring_spot(r, at)->xunits);
    gpurt_u128_t head = gpurt_load_relaxed_dev_u128(gpurt_segring_line(r, at, 0));
    uint64_t size = (uint32_t)head.lo;
    bool whole = head.lo >> 32 == (uint32_t)at && gpurt_segring_units(size) <= units;

    if (whole && size > room) {
        if (gpurt_load_acquire_dev_u64(&w->xtail) != at) /* SR2.acq */
            return GPURT_CHANNEL_AGAIN;
        *bytes = size;
        return GPURT_E_INVALID;
    }
    whole =
        whole &&
        gpurt_segring_header(at, size, gpurt_segring_copy(r, at, to, size)).hi == head.hi;
    if (!gpurt_cas_release_dev_u64(&w->xtail, &at, at + units)) /* SR2.rel */
        return GPURT_CHANNEL_AGAIN;
    gpurt_red_add_relaxed_dev_u64(whole ? &w->xread : &w->xtorn,
                                  1); /* relaxed: statistics */
    if (!whole)
        return GPURT_E_DAMAGED;
    *bytes = size;
    return GPURT_OK;
}

/* What was overwritten is told once, to one reader. relaxed: numbers */
GPURT_DEV bool gpurt_segring_tells(const gpurt_segring_t *r, uint64_t *lost)
{
    gpurt_segring_words_t *w = r->words;
    uint64_t told, all;

    if (r->policy != GPURT_SEGRING_OVERWRITE)
        return false;
    told = gpurt_load_relaxed_dev_u64(&w->xtold);
    all = gpurt_load_relaxed_dev_u64(&w->xlost);
    *lost = all - told;
    return all > told && gpurt_cas_relaxed_dev_u64(&w->xtold, &told, all);
}

/* Why there is no segment for the taking. GPURT_CHANNEL_GO: there is one, at *at. */
GPURT_DEV int32_t gpurt_segring_look(const gpurt_segring_t *r, uint64_t *at)
{
    gpurt_segring_words_t *w = r->words;
    uint64_t tail = gpurt_load_acquire_dev_u64(&w->xtail); /* SR2.acq: before the head */
    uint64_t v = gpurt_load_acquire_dev_u64(
        &gpurt_segring_spot(r, tail)->xstate); /* SR1.acq SR4.acq */

    *at = tail;
    if (v == gpurt_spot_word(tail, GPURT_SPOT_COMMITTED))
        return GPURT_CHANNEL_GO;
    if (v == gpurt_spot_word(tail, GPURT_SPOT_RESERVED))
        return gpurt_segring_give_up(r, tail) ? (int32_t)GPURT_CHANNEL_AGAIN
                                              : (int32_t)GPURT_E_NOT_READY;
    if (v == gpurt_spot_word(tail, GPURT_SPOT_ABORTED))
        return gpurt_segring_pass(r, tail, &w->xaborted), (int32_t)GPURT_CHANNEL_AGAIN;
    if (v == gpurt_spot_word(tail, GPURT_SPOT_TORN))
        return gpurt_segring_pass(r, tail, &w->xtorn) ? (int32_t)GPURT_E_DAMAGED
                                                      : (int32_t)GPURT_CHANNEL_AGAIN;
    v = gpurt_load_acquire_dev_u64(&w->xhead); /* SR3.acq */
    if (v >> 1 != tail) { /* whose it is will be said at once, or others were quicker */
        gpurt_pause();
        return GPURT_CHANNEL_AGAIN;
    }
    return v & GPURT_SEGRING_CLOSED ? gpurt_channel_gone(&w->desk, r->id)
                                    : (int32_t)GPURT_E_EMPTY;
}

/* Returns: GPURT_CHANNEL_GO, a segment may be read at *at, or why there is none. */
GPURT_DEVN int32_t gpurt_segring_await_data(gpurt_segring_call_t *call,
                                            gpurt_channel_wait_t *w, uint64_t *at,
                                            uint64_t *bytes)
{
    int32_t answer;

    do {
        if (gpurt_segring_tells(call->r, bytes))
            return GPURT_E_DROPPED;
        answer = gpurt_segring_look(call->r, at);
        if ((answer == GPURT_E_EMPTY || answer == GPURT_E_NOT_READY) && call->ns > 0)
            answer = gpurt_channel_wait_pass(w);
    } while (answer == GPURT_CHANNEL_AGAIN);
    return answer;
}

GPURT_DEV gpurt_status_t gpurt_segring_run(gpurt_segring_call_t *call, void *to,
                                           uint64_t shape, uint64_t room, uint64_t *bytes)
{
    const gpurt_segring_t *r = call->r;
    uint64_t begin = 0, at = 0;
    int32_t answer;

    *bytes = 0;
    if (!r->words)
        return GPURT_E_HANDLE;
    gpurt_channel_wait_t w = {&r->words->desk, call->ns, &begin, call->place,
                              call->here,      NULL,     1,      0,
                              false,           false};
    do {
        answer = GPURT_FAR(gpurt_segring_await_data)(call, &w, &at, bytes);
        if (answer == GPURT_CHANNEL_GO)
            answer = gpurt_segring_take(r, at, to, shape, room, bytes);
    } while (answer == GPURT_CHANNEL_AGAIN);
    gpurt_channel_wait_end(&w);
    if (answer == GPURT_E_CANCELLED)
        gpurt_cancel_point();
    return answer;
}

#endif
