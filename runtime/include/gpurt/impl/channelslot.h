/* SPDX-License-Identifier: Apache-2.0 */
/* channelslot.h - how a message gets into its slot and out of it. Who may do so: channelcore.h.
 *
 * A message of up to four lines carries its turn in each of them: 12 bytes beside 4, stored and
 * loaded as 16. Nothing has to be ordered for it. A larger one is plain memory, in units of 16
 * bytes, with one turn that stands apart. Large ones are copied by all lanes of a group, one
 * message after the other, so that neighbours touch neighbouring memory. */
#ifndef GPURT_CHANNELSLOT_H
#define GPURT_CHANNELSLOT_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/ids.h>
#include <gpurt/impl/channelmap.h>
#include <gpurt/impl/spot.h>
#include <gpurt/warp.h>

enum {
    GPURT_CHANNEL_UNIT = 16,      /* bytes of one access */
    GPURT_CHANNEL_AT_ONCE = 4,    /* units that are loaded before the first is stored */
    GPURT_CHANNEL_WIDE_FROM = 512 /* bytes: a unit for each lane of a warp */
};

/* ---- groups -------------------------------------------------------------------------- */

/* A lane alone asks nobody, and a full warp has a mask that the compiler knows: with another one
 * each question to the warp costs a match first. */
GPURT_DEV bool gpurt_channel_is_alone(uint32_t group)
{
    return (group & (group - 1)) == 0;
}
GPURT_DEV uint32_t gpurt_channel_votes(uint32_t group, bool yes)
{
    if (gpurt_channel_is_alone(group))
        return yes ? group : 0;
    return group == GPURT_FULL_MASK ? gpurt_ballot(GPURT_FULL_MASK, yes)
                                    : gpurt_ballot(group, yes);
}
GPURT_DEV uint32_t gpurt_channel_led_u32(uint32_t group, uint32_t v)
{
    if (gpurt_channel_is_alone(group))
        return v;
    return group == GPURT_FULL_MASK ? gpurt_shfl_u32(GPURT_FULL_MASK, v, 0)
                                    : gpurt_shfl_u32(group, v, gpurt_leader(group));
}
GPURT_DEV uint64_t gpurt_channel_led_u64(uint32_t group, uint64_t v)
{
    if (gpurt_channel_is_alone(group))
        return v;
    return group == GPURT_FULL_MASK ? gpurt_shfl_u64(GPURT_FULL_MASK, v, 0)
                                    : gpurt_shfl_u64(group, v, gpurt_leader(group));
}

/* The active lanes that say the same. */
GPURT_DEV uint32_t gpurt_channel_alike(uint64_t what)
{
    uint32_t active = gpurt_activemask();
    bool same = false;

    if (gpurt_channel_is_alone(active))
        return active;
    if (active == GPURT_FULL_MASK) {
        (void)gpurt_match_all_u64(GPURT_FULL_MASK, what, &same);
        if (same)
            return GPURT_FULL_MASK;
    }
    return gpurt_match_any_u64(active, what);
}

/* ---- places -------------------------------------------------------------------------- */

/* A ticket's slot. turn: what its sender finds there. */
typedef struct gpurt_channel_place {
    char *slot;
    uint32_t *xturn; /* of a larger message */
    uint32_t turn;
} gpurt_channel_place_t;

GPURT_DEV gpurt_channel_place_t gpurt_channel_place(const gpurt_channel_t *c,
                                                    uint64_t ticket)
{
    size_t at = (size_t)(ticket & (c->capacity - 1));
    gpurt_channel_place_t place;

    place.slot = c->slots + at * c->stride;
    place.xturn = (uint32_t *)(void *)(c->slots + (size_t)c->capacity * c->stride +
                                       at * gpurt_channel_turn_bytes(c->bytes));
    place.turn = gpurt_channel_turn(c, ticket);
    return place;
}

/* The compiler knows no more of a message that came as void *. */
GPURT_DEV const char *gpurt_channel_aligned(const void *message, uint64_t shape)
{
    const uint32_t align = GPURT_CHANNEL_SHAPE_ALIGN_(shape);

    if (align >= 16)
        return (const char *)__builtin_assume_aligned(message, 16);
    if (align == 8)
        return (const char *)__builtin_assume_aligned(message, 8);
    if (align == 4)
        return (const char *)__builtin_assume_aligned(message, 4);
    return (const char *)message;
}

/* ---- lines --------------------------------------------------------------------------- */

GPURT_DEV gpurt_u128_t gpurt_channel_line(uint32_t turn, uint32_t a, uint32_t b, uint32_t c)
{
    gpurt_u128_t line;

    line.lo = turn | (uint64_t)a << 32;
    line.hi = b | (uint64_t)c << 32;
    return line;
}

/* relaxed: what is read is compared with the turn, and a line is whole. */
GPURT_DEV bool gpurt_channel_lines_are(const gpurt_u128_t *line, uint32_t lines,
                                       uint32_t turn)
{
    bool all = true;

    for (uint32_t i = 0; i < lines; i++)
        all &= (uint32_t)gpurt_load_relaxed_dev_u128(line + i).lo == turn;
    return all;
}

/* The turn goes with each line, so none waits for another; the first one is stored last, and says
 * for the order of everything else. The sender of a pair knows that the slot was read. */
GPURT_DEV bool gpurt_channel_put_lines(const gpurt_channel_t *c,
                                       const gpurt_channel_place_t *place,
                                       const void *message, uint64_t shape)
{
    const uint32_t bytes = GPURT_CHANNEL_SHAPE_BYTES_(shape), lines = (bytes + 11) / 12;
    gpurt_u128_t *line = (gpurt_u128_t *)(void *)place->slot;
    uint32_t w[3 * GPURT_CHANNEL_LINES_MOST] = {0}, turn = place->turn;

    if (!GPURT_CHANNEL_SHAPE_PAIR_(shape) && !gpurt_channel_lines_are(line, lines, turn))
        return false;
    __builtin_memcpy(w, gpurt_channel_aligned(message, shape), bytes);
    for (uint32_t i = lines - 1; i > 0; i--) /* relaxed: its turn goes with it */
        gpurt_store_relaxed_dev_u128(
            line + i, gpurt_channel_line(turn + 1, w[3 * i], w[3 * i + 1], w[3 * i + 2]));
    if (c->flags & GPURT_CHANNEL_ALONE) /* relaxed: as above, and no other memory counts */
        gpurt_store_relaxed_dev_u128(line, gpurt_channel_line(turn + 1, w[0], w[1], w[2]));
    else
        gpurt_store_release_dev_u128(line, /* CH1.rel */
                                     gpurt_channel_line(turn + 1, w[0], w[1], w[2]));
    return true;
}

/* Line by line the slot is the next sender's: who stores there has seen that it was read. In a
 * pair the receiver's count of tickets tells. next: turn of that sender. */
GPURT_DEV bool gpurt_channel_get_lines(const gpurt_channel_t *c,
                                       const gpurt_channel_place_t *place, uint32_t next,
                                       void *message, uint64_t shape)
{
    const uint32_t bytes = GPURT_CHANNEL_SHAPE_BYTES_(shape), lines = (bytes + 11) / 12;
    gpurt_u128_t *line = (gpurt_u128_t *)(void *)place->slot;
    gpurt_u128_t got[GPURT_CHANNEL_LINES_MOST];
    uint32_t w[3 * GPURT_CHANNEL_LINES_MOST], turn = place->turn + 1;
    bool all;

    if (c->flags & GPURT_CHANNEL_ALONE) /* relaxed: its turn goes with it */
        got[0] = gpurt_load_relaxed_dev_u128(line);
    else
        got[0] = gpurt_load_acquire_dev_u128(line); /* CH1.acq */
    all = (uint32_t)got[0].lo == turn;
    for (uint32_t i = 1; i < lines; i++) { /* relaxed: as above */
        got[i] = gpurt_load_relaxed_dev_u128(line + i);
        all &= (uint32_t)got[i].lo == turn;
    }
    if (!all)
        return false;
    for (uint32_t i = 0; i < lines; i++) {
        w[3 * i] = (uint32_t)(got[i].lo >> 32);
        w[3 * i + 1] = (uint32_t)got[i].hi;
        w[3 * i + 2] = (uint32_t)(got[i].hi >> 32);
        if (!GPURT_CHANNEL_SHAPE_PAIR_(
                shape)) /* relaxed: behind the load of the same word */
            gpurt_store_relaxed_dev_u128(line + i, gpurt_channel_line(next, 0, 0, 0));
    }
    if (message)
        __builtin_memcpy((char *)gpurt_channel_aligned(message, shape), w, bytes);
    return true;
}

/* ---- larger messages ------------------------------------------------------------------ */

/* to, from: one of them the slot, which lies at multiples of 16. */
GPURT_DEV void gpurt_channel_copy_units(char *to, const char *from, uint32_t units)
{
    for (uint32_t i = 0; i < units; i += GPURT_CHANNEL_AT_ONCE) {
        gpurt_u128_t v[GPURT_CHANNEL_AT_ONCE];

        for (uint32_t k = 0; k < GPURT_CHANNEL_AT_ONCE && i + k < units; k++)
            __builtin_memcpy(&v[k], from + (i + k) * GPURT_CHANNEL_UNIT, sizeof v[k]);
        for (uint32_t k = 0; k < GPURT_CHANNEL_AT_ONCE && i + k < units; k++)
            __builtin_memcpy(to + (i + k) * GPURT_CHANNEL_UNIT, &v[k], sizeof v[k]);
    }
}

/* A lane for itself. */
GPURT_DEV void gpurt_channel_copy(char *to, const char *from, uint32_t bytes)
{
    uint32_t units = bytes / GPURT_CHANNEL_UNIT;

    gpurt_channel_copy_units(to, from, units);
    __builtin_memcpy(to + units * GPURT_CHANNEL_UNIT, from + units * GPURT_CHANNEL_UNIT,
                     bytes % GPURT_CHANNEL_UNIT);
}

/* All lanes of a group, a unit each and then the next; both at multiples of 16. */
GPURT_DEV void gpurt_channel_copy_wide(uint32_t group, char *to, const char *from,
                                       uint32_t units)
{
    const uint32_t lanes = gpurt_popc(group), most = units - units % GPURT_CHANNEL_AT_ONCE;
    gpurt_u128_t *out = (gpurt_u128_t *)(void *)to;
    const gpurt_u128_t *in = (const gpurt_u128_t *)(const void *)from;
    uint32_t i = gpurt_popc(group & gpurt_lanes_below());

    for (; i + (GPURT_CHANNEL_AT_ONCE - 1) * lanes < most;
         i += GPURT_CHANNEL_AT_ONCE * lanes) {
        gpurt_u128_t v[GPURT_CHANNEL_AT_ONCE];

        for (uint32_t k = 0; k < GPURT_CHANNEL_AT_ONCE; k++)
            v[k] = in[i + k * lanes];
        for (uint32_t k = 0; k < GPURT_CHANNEL_AT_ONCE; k++)
            out[i + k * lanes] = v[k];
    }
    for (; i < units; i += lanes)
        out[i] = in[i];
}

/* Whether the lanes of a group copy each message together: each can reach the others' then. */
GPURT_DEV bool gpurt_channel_is_wide(uint32_t group, const void *message, uint64_t shape)
{
    bool fits = ((uintptr_t)message & (GPURT_CHANNEL_UNIT - 1)) == 0;

    if (GPURT_CHANNEL_SHAPE_BYTES_(shape) < GPURT_CHANNEL_WIDE_FROM ||
        gpurt_channel_is_alone(group))
        return false;
    return gpurt_all(group, fits && !gpurt_is_local(message));
}

/* For each lane that is ready; the others help. */
GPURT_DEV void gpurt_channel_copy_all(uint32_t group, bool ready, char *to,
                                      const char *from, uint32_t bytes)
{
    const uint32_t units = bytes / GPURT_CHANNEL_UNIT, rest = bytes % GPURT_CHANNEL_UNIT;

    gpurt_syncwarp(group); /* the others' messages, and what they acquired */
    for (uint32_t left = gpurt_ballot(group, ready); left; left &= left - 1) {
        uint32_t lane = gpurt_ctz(left);
        uint64_t out = gpurt_shfl_u64(group, (uint64_t)(uintptr_t)to, lane);
        uint64_t in = gpurt_shfl_u64(group, (uint64_t)(uintptr_t)from, lane);

        gpurt_channel_copy_wide(group, (char *)(uintptr_t)out, (const char *)(uintptr_t)in,
                                units);
    }
    if (ready)
        __builtin_memcpy(to + units * GPURT_CHANNEL_UNIT, from + units * GPURT_CHANNEL_UNIT,
                         rest);
    gpurt_syncwarp(group); /* all of it is there before a lane says so */
}

/* Plain memory behind its turn. Returns: whether the lane is through. */
GPURT_DEV bool gpurt_channel_put_large(uint32_t group, bool mine,
                                       const gpurt_channel_place_t *place,
                                       const void *message, uint64_t shape)
{
    const uint32_t bytes = GPURT_CHANNEL_SHAPE_BYTES_(shape);
    const char *from = gpurt_channel_aligned(message, shape);
    char *to = (char *)__builtin_assume_aligned(place->slot, GPURT_CHANNEL_UNIT);
    bool ready = mine;

    if (ready && !GPURT_CHANNEL_SHAPE_PAIR_(shape))
        ready = gpurt_load_acquire_dev_u32(place->xturn) == place->turn; /* CH2.acq */
    if (gpurt_channel_is_wide(group, message, shape))
        gpurt_channel_copy_all(group, ready, to, from, bytes);
    else if (ready)
        gpurt_channel_copy(to, from, bytes);
    if (ready)
        gpurt_store_release_dev_u32(place->xturn, place->turn + 1); /* CH1.rel */
    return ready;
}

/* In a pair the receiver's count of tickets frees the slot, with the same order. */
GPURT_DEV bool gpurt_channel_get_large(uint32_t group, bool mine,
                                       const gpurt_channel_place_t *place, uint32_t next,
                                       void *message, uint64_t shape)
{
    const uint32_t bytes = GPURT_CHANNEL_SHAPE_BYTES_(shape);
    const char *from =
        (const char *)__builtin_assume_aligned(place->slot, GPURT_CHANNEL_UNIT);
    char *to = (char *)gpurt_channel_aligned(message, shape);
    bool ready = mine;

    if (ready)
        ready = gpurt_load_acquire_dev_u32(place->xturn) == place->turn + 1; /* CH1.acq */
    if (message && gpurt_channel_is_wide(group, message, shape))
        gpurt_channel_copy_all(group, ready, to, from, bytes);
    else if (message && ready)
        gpurt_channel_copy(to, from, bytes);
    if (ready && !GPURT_CHANNEL_SHAPE_PAIR_(shape))
        gpurt_store_release_dev_u32(place->xturn, next); /* CH2.rel */
    return ready;
}

/* ---- of both kinds -------------------------------------------------------------------- */

/* Returns: whether the lane is through; one without `mine` helps the others. */
GPURT_DEV bool gpurt_channel_put_once(const gpurt_channel_t *c, uint32_t group, bool mine,
                                      const gpurt_channel_place_t *place,
                                      const void *message, uint64_t shape)
{
    if (gpurt_channel_lines(GPURT_CHANNEL_SHAPE_BYTES_(shape)) == 0)
        return gpurt_channel_put_large(group, mine, place, message, shape);
    return mine && gpurt_channel_put_lines(c, place, message, shape);
}

GPURT_DEV bool gpurt_channel_get_once(const gpurt_channel_t *c, uint32_t group, bool mine,
                                      const gpurt_channel_place_t *place, void *message,
                                      uint64_t shape)
{
    uint32_t next = (place->turn + 2) % (2 * GPURT_CHANNEL_LAPS);

    if (gpurt_channel_lines(GPURT_CHANNEL_SHAPE_BYTES_(shape)) == 0)
        return gpurt_channel_get_large(group, mine, place, next, message, shape);
    return mine && gpurt_channel_get_lines(c, place, next, message, shape);
}

#endif
