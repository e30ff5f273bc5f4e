/* SPDX-License-Identifier: Apache-2.0 */
/* logput.h - how a message gets into its warp's ring, where there is room for it (logroom.h).
 *
 * The common case, a whole warp with room at hand, is inlined and small: the record goes out in
 * one store. Everything else (a site's first use, a diverged warp, a ring that must look at its
 * tail, the end of a lap) is one function a translation unit, out of the way of the kernel's
 * code. Included by log.h; not for users. */
#ifndef GPURT_LOGPUT_H
#define GPURT_LOGPUT_H

#include <gpurt/clock.h>
#include <gpurt/impl/logroom.h>
#include <gpurt/warp.h>

/* ---- groups of a record ---------------------------------------------------------------- */

GPURT_DEV uint32_t gpurt_log_what(const gpurt_log_aim_t *a, uint32_t gate, uint32_t form)
{
    return gpurt_record_what(gate, GPURT_KIND_LOG, form, 0) | (a->mark & 0x1f000000u);
}

GPURT_DEV char *gpurt_log_data_of(const gpurt_log_aim_t *a)
{
    return (char *)gpurt_log_port.groups + (size_t)a->ring * gpurt_log_port.ring_bytes;
}

GPURT_DEV gpurt_group_t *gpurt_log_group(const gpurt_log_aim_t *a, uint32_t position)
{
    return (gpurt_group_t *)(gpurt_log_data_of(a) + (position * GPURT_GROUP_BYTES &
                                                     (gpurt_log_port.ring_bytes - 1)));
}

GPURT_DEV void gpurt_log_store(const gpurt_log_aim_t *a, uint32_t position, uint32_t index,
                               uint32_t groups, const uint32_t *v)
{
    uint32_t at = position + index;
    gpurt_group_t g;

    g.tag = index == 0 ? gpurt_tag_first(at, a->mark >> 8, groups)
                       : gpurt_tag_rest(at, a->mark >> 8, index);
    g.word[0] = v[0];
    g.word[1] = v[1];
    g.word[2] = v[2];
    gpurt_group_store(gpurt_log_group(a, at), g);
}

/* All lanes have it ready, so that a store by some of them is an instruction and no branch. */
#if GPURT_ON_CUDA
#    define GPURT_LOG_READY_(to, g)                                                   \
        asm volatile(""                                                               \
                     : "+l"(to), "+r"((g).tag), "+r"((g).word[0]), "+r"((g).word[1]), \
                       "+r"((g).word[2]))
#else
#    define GPURT_LOG_READY_(to, g) ((void)0)
#endif

/* Words 3 * index .. of a record's head, into v; zeros behind it. */
GPURT_DEV void gpurt_log_head(uint32_t index, uint32_t what, uint32_t block, uint32_t lane,
                              uint64_t time_ns, uint32_t *v)
{
    v[0] = index == 0 ? what : index == 1 ? block : 0;
    v[1] = index == 0 ? (uint32_t)time_ns : 0;
    v[2] = index == 0 ? ((uint32_t)(time_ns >> 32) & 0xffffu) | lane << 16 : 0;
}

/* ---- one set of values, those of the first lane ---------------------------------------- */

/* Out of line: its callers are, and need no more registers for it. */
GPURT_DEVN void gpurt_log_safe_point(void)
{
    gpurt_safe_point();
}

/* By one lane, all groups. */
GPURT_DEVN void gpurt_log_uniform_write(uint32_t head, uint32_t position, uint32_t what,
                                        uint32_t mask, uint64_t time_ns,
                                        const uint32_t *args, uint32_t words)
{
    /* Not before there is room: it would have to be kept. */
    gpurt_log_aim_t aim = gpurt_log_aim_at(gpurt_log_ring_of(head), head);
    bool part = gpurt_record_form(what) == GPURT_FORM_WARP_PART;
    uint32_t first = GPURT_RECORD_HEAD_WORDS + part;
    uint32_t groups = gpurt_record_groups(words + part);

    GPURT_ROLLED
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t v[GPURT_GROUP_WORDS];

        gpurt_log_head(g, what, aim.block, 0, time_ns, v);
        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++) {
            uint32_t i = g * GPURT_GROUP_WORDS + t;

            if (i >= first && i - first < words)
                v[t] = args[i - first];
            else if (i >= GPURT_RECORD_HEAD_WORDS && i < first)
                v[t] = mask;
        }
        gpurt_log_store(&aim, position, g, groups, v);
    }
}

/* By one lane: room for a message of the lanes of `mask`, and all its groups. */
GPURT_DEVN void gpurt_log_uniform_one(uint32_t gate, uint32_t form, uint32_t mask,
                                      const uint32_t *args, uint32_t words)
{
    uint32_t part = form == GPURT_FORM_WARP && mask != GPURT_FULL_MASK;
    uint32_t position =
        gpurt_log_take(gpurt_log_head_here(), mask, gpurt_record_groups(words + part), 1);

    if (position == GPURT_LOG_NOWHERE)
        return;
    form = part ? (uint32_t)GPURT_FORM_WARP_PART : form;
    gpurt_log_uniform_write(gpurt_log_head_here(), position,
                            gpurt_record_what(gate, GPURT_KIND_LOG, form, gpurt_warp()),
                            mask, gpurt_globaltimer(), args, words);
}

/* Any lanes, any room: the first lane does all by itself, because a shuffle among lanes of a mask
 * that is not a constant costs 200 cycles. The others wait for it: lanes that came to one message
 * together would come to the next apart, and log it once each. */
GPURT_DEVN void gpurt_log_uniform_far(uint32_t gate, uint32_t form, uint32_t mask,
                                      const uint32_t *args, uint32_t words)
{
    if (gpurt_is_leader(mask))
        gpurt_log_uniform_one(gate, form, mask, args, words);
    gpurt_syncwarp(mask);
    gpurt_log_safe_point();
}

/* The arguments are put into memory here and not before. */
GPURT_DEV void gpurt_log_uniform_away(const gpurt_log_call_t *c, const uint32_t *args,
                                      uint32_t words)
{
    uint32_t copy[2 * GPURT_MAX_ARGS];

    copy[0] = 0;
    for (uint32_t j = 0; j < words; j++)
        copy[j] = args[j];
    gpurt_log_uniform_far(c->gate, c->form, c->mask, copy, words);
}

/* The smallest record: lane 1 writes the head, lane 0 the first arguments, its own. */
GPURT_DEV void gpurt_log_uniform_small(const gpurt_log_call_t *c, uint32_t position,
                                       uint64_t time_ns, const uint32_t *args,
                                       uint32_t words)
{
    bool first = c->aim.lane != 0;
    uint32_t at = position + !first;
    gpurt_group_t *to = gpurt_log_group(&c->aim, at), g;

    g.tag = first ? gpurt_tag_first(at, c->aim.mark >> 8, 2)
                  : gpurt_tag_rest(at, c->aim.mark >> 8, 1);
    g.word[0] = first ? gpurt_log_what(&c->aim, c->gate, c->form) : c->aim.block;
    g.word[1] = first ? (uint32_t)time_ns : words > 0 ? args[0] : 0;
    g.word[2] = first ? (uint32_t)(time_ns >> 32) & 0xffffu : words > 1 ? args[1] : 0;
    GPURT_LOG_READY_(to, g);
    if (c->aim.lane < 2)
        gpurt_group_store(to, g);
}

/* A longer one: each lane a group. */
GPURT_DEV void gpurt_log_uniform_long(const gpurt_log_call_t *c, uint32_t position,
                                      uint64_t time_ns, const uint32_t *args,
                                      uint32_t words)
{
    uint32_t v[GPURT_GROUP_WORDS];

    gpurt_log_head(c->aim.lane, gpurt_log_what(&c->aim, c->gate, c->form), c->aim.block, 0,
                   time_ns, v);
    for (uint32_t j = 0; j < words; j++) {
        uint32_t i = GPURT_RECORD_HEAD_WORDS + j;
        uint32_t arg = gpurt_shfl_u32(GPURT_FULL_MASK, args[j], 0);

        /* A select each: a dynamic index would put the arguments into local memory. */
        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++)
            if (i % GPURT_GROUP_WORDS == t)
                v[t] = c->aim.lane == i / GPURT_GROUP_WORDS ? arg : v[t];
    }
    if (c->aim.lane < gpurt_record_groups(words))
        gpurt_log_store(&c->aim, position, c->aim.lane, gpurt_record_groups(words), v);
}

/* ---- own values of every lane ---------------------------------------------------------- */

/* Lanes of a diverged warp, or too many values for one record: a record a lane, in one
 * stretch of the ring. Out of line, as above. */
GPURT_DEVN void gpurt_log_lanes_far(uint32_t gate, uint32_t mask, const uint32_t *args,
                                    uint32_t words)
{
    gpurt_log_aim_t aim = gpurt_log_aim();
    uint32_t groups = gpurt_record_groups(words), count = gpurt_popc(mask), position;
    uint32_t what = gpurt_log_what(&aim, gate, GPURT_FORM_LANE);
    uint64_t time_ns = gpurt_globaltimer();

    if (!gpurt_log_room_far(aim.head, mask, groups * count, count, &position)) {
        gpurt_log_safe_point();
        return;
    }
    position += groups * gpurt_popc(mask & gpurt_lanes_below());
    GPURT_ROLLED
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t v[GPURT_GROUP_WORDS];

        gpurt_log_head(g, what, aim.block, aim.lane, time_ns, v);
        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++) {
            uint32_t i = g * GPURT_GROUP_WORDS + t;

            if (i >= GPURT_RECORD_HEAD_WORDS && i - GPURT_RECORD_HEAD_WORDS < words)
                v[t] = args[i - GPURT_RECORD_HEAD_WORDS];
        }
        gpurt_log_store(&aim, position, g, groups, v);
    }
    gpurt_syncwarp(mask);
    gpurt_log_safe_point();
}

GPURT_DEV void gpurt_log_lanes_away(const gpurt_log_call_t *c, const uint32_t *args,
                                    uint32_t words)
{
    uint32_t copy[2 * GPURT_MAX_ARGS];

    copy[0] = 0;
    for (uint32_t j = 0; j < words; j++)
        copy[j] = args[j];
    gpurt_log_lanes_far(c->gate, c->mask, copy, words);
}

/* A whole warp: one record, its words dealt out to the groups by shuffles. */
GPURT_DEV void gpurt_log_lanes(const gpurt_log_call_t *c, uint32_t position,
                               uint64_t time_ns, const uint32_t *args, uint32_t words)
{
    uint32_t groups = gpurt_record_groups(words * GPURT_WARP_SIZE);
    uint32_t what = gpurt_log_what(&c->aim, c->gate, GPURT_FORM_LANES);

    for (uint32_t from = 0; from < groups; from += GPURT_WARP_SIZE) {
        uint32_t index = from + c->aim.lane, v[GPURT_GROUP_WORDS];

        gpurt_log_head(index, what, c->aim.block, 0, time_ns, v);
        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++) {
            uint32_t i = index * GPURT_GROUP_WORDS + t, k = i - GPURT_RECORD_HEAD_WORDS;

            for (uint32_t j = 0; j < words; j++) {
                uint32_t other = gpurt_shfl_u32(GPURT_FULL_MASK, args[j], k & 31u);

                v[t] = i >= GPURT_RECORD_HEAD_WORDS && k >> 5 == j ? other : v[t];
            }
        }
        if (index < groups)
            gpurt_log_store(&c->aim, position, index, groups, v);
    }
}

/* ---- the steps of a call --------------------------------------------------------------- */

/* Whether one record can hold it. */
GPURT_DEV bool gpurt_log_fits(const gpurt_log_call_t *c)
{
    return c->form != GPURT_FORM_LANES ||
           c->words * GPURT_WARP_SIZE <= GPURT_RECORD_MAX_WORDS;
}

/* Ahead of the arguments, on a GPU: evaluating them calls nothing, so that the record which has its
 * place now will be written. Saves the wait for the gate, which comes while the head does. */
GPURT_DEV bool gpurt_log_early(gpurt_log_call_t *c)
{
    c->mask = gpurt_activemask();
    return gpurt_log_room_near(c, gpurt_log_fits(c) && !gpurt_log_is_rare(c->gate));
}

/* A whole warp's record at the position that it has. */
GPURT_DEV void gpurt_log_put_near(const gpurt_log_call_t *c, const uint32_t *args)
{
    uint64_t time_ns = gpurt_globaltimer();

    if (c->form == GPURT_FORM_LANES)
        gpurt_log_lanes(c, c->position, time_ns, args, c->words);
    else if (gpurt_record_groups(c->words) == 2)
        gpurt_log_uniform_small(c, c->position, time_ns, args, c->words);
    else
        gpurt_log_uniform_long(c, c->position, time_ns, args, c->words);
}

/* First use, or a site that is off. On a GPU it is a call, of which the compiler draws nothing into
 * the common way; lanes come out of a definition one by one, and should go on as they came. On the
 * CPU they park for the record's mask anyway, and a second gpurt_activemask of the same source line
 * would take lanes of the two for one group. */
#if GPURT_ON_CUDA
GPURT_DEVN uint32_t gpurt_log_rare(gpurt_site_t *site, uint32_t gate)
{
    if ((int32_t)gate >= 0) {
        uint32_t all = gpurt_activemask();

        gate = gpurt_log_define(site);
        gpurt_syncwarp(all);
    }
    return gate;
}
#else
GPURT_DEV uint32_t gpurt_log_rare(gpurt_site_t *site, uint32_t gate)
{
    return (int32_t)gate >= 0 ? gpurt_log_define(site) : gate;
}
#endif

/* ---- a call in one piece, on a GPU ------------------------------------------------------ */

#if GPURT_ON_CUDA
/* The smallest record. What it needs from afar is asked for first and at once: gate, head, time.
 * Then whether the warp is whole, while they are on their way; then all that does not hang on the
 * position; and the stores are predicated, because a branch costs 20 to 30 cycles and the cache
 * 41. Who reads and who stores the head: as in gpurt_log_room_near. */
typedef struct gpurt_log_quick {
    gpurt_log_call_t call;
    gpurt_ring_head_t *head;
    gpurt_u128_t raw; /* what it holds */
    uint64_t time_ns;
} gpurt_log_quick_t;

/* Returns: whether it was written, in every lane the same. */
GPURT_DEV bool gpurt_log_quick_near(const gpurt_log_quick_t *q, const uint32_t *args)
{
    const gpurt_log_call_t *c = &q->call;
    uint32_t at = (uint32_t)q->raw.lo, limit = (uint32_t)(q->raw.lo >> 32);
    uint32_t first = c->aim.lane != 0, tag, what, low, high;
    char *to = gpurt_log_data_of(&c->aim) + (first ? 0 : GPURT_GROUP_BYTES);
    gpurt_u128_t raw;
    gpurt_group_t g;
    bool near = !gpurt_log_is_rare(c->gate) && (int32_t)(limit - (at + 2)) >= 0;

    tag = first ? gpurt_tag_first(0, c->aim.mark >> 8, 2)
                : gpurt_tag_rest(1, c->aim.mark >> 8, 1);
    what = first ? gpurt_log_what(&c->aim, c->gate, c->form) : c->aim.block;
    low = first ? (uint32_t)q->time_ns : c->words > 0 ? args[0] : 0;
    high = first ? (uint32_t)(q->time_ns >> 32) & 0xffffu : c->words > 1 ? args[1] : 0;
    asm volatile("" : "+r"(tag), "+r"(what), "+r"(low), "+r"(high), "+l"(to));
    g.tag = tag + (at << 16); /* at is even */
    g.word[0] = what;
    g.word[1] = low;
    g.word[2] = high;
    to += at * GPURT_GROUP_BYTES & (gpurt_log_port.ring_bytes - 1);
    raw.lo = (at + 2) | (uint64_t)limit << 32;
    raw.hi = q->raw.hi + 1;
    GPURT_LOG_READY_(to, g);
    asm volatile("" : "+l"(raw.lo), "+l"(raw.hi));
    if (near && c->aim.lane < 2)
        gpurt_group_store((gpurt_group_t *)to, g);
    if (near)
        gpurt_store_relaxed_blk_u128((gpurt_u128_t *)q->head, raw);
    return near;
}

/* Whatever is not near at hand, the site's definition too; by the first lane alone for a part of a
 * warp, in files with turns. The mask is the caller's: in here lanes of several calls may run together, and would be one
 * message of one of them. */
GPURT_DEVN void gpurt_log_quick_away(gpurt_site_t *site, uint32_t mask, uint32_t first,
                                     uint32_t second, uint32_t words)
{
    uint32_t gate = gpurt_log_gate(site), args[2];

    mask |= 1u << gpurt_lane(); /* as gpurt_activemask */
    args[0] = first;
    args[1] = second;
    if (gpurt_log_is_rare(gate))
        gate = gpurt_log_rare(site, gate);
    if ((int32_t)gate < 0)
        return;
    if (mask == GPURT_FULL_MASK || !GPURT_TURNS) {
        gpurt_log_uniform_far(gate, GPURT_FORM_WARP, mask, args, words);
        return;
    }
    gpurt_log_uniform_one(gate, GPURT_FORM_WARP, mask, args, words);
    gpurt_log_safe_point(); /* of this lane alone: each end of a lap lets one more go */
}

/* By one lane for a part of its warp, if the turn is free and room near at hand. No step of it waits
 * for the second cache, and the head is on its way while the turn is. In line: a call costs 175
 * cycles there. Returns: whether it was written. */
GPURT_DEV bool gpurt_log_quick_part(const gpurt_log_quick_t *q, gpurt_turn_t turn,
                                    uint32_t mask, const uint32_t *args)
{
    const gpurt_log_call_t *c = &q->call;
    uint32_t key = gpurt_turn_key(c->aim.block), found = gpurt_turn_xchg(turn, key);
    gpurt_u128_t raw = gpurt_load_relaxed_blk_u128((const gpurt_u128_t *)q->head);
    uint32_t at = (uint32_t)raw.lo, limit = (uint32_t)(raw.lo >> 32);
    uint32_t groups = c->words == 2 ? 4 : 2, salt = c->aim.mark >> 8, rest;
    uint32_t offset = at * GPURT_GROUP_BYTES & (gpurt_log_port.ring_bytes - 1);
    bool in_one = /* a limit behind a lap's end is left by files without turns */
        (at & (gpurt_log_port.group_count - 1)) <= gpurt_log_port.group_count - groups;
    bool near = (int32_t)(limit - (at + groups)) >= 0, used = !gpurt_log_is_rare(c->gate);
    char *data = gpurt_log_data_of(&c->aim);
    gpurt_group_t g, *to;

    asm volatile("" : "+l"(data)); /* meanwhile */
    /* One branch, because each takes as long as five of these. */
    if (GPURT_UNLIKELY(!(used & near & in_one & (found != key)))) {
        if (found != key)
            gpurt_turn_store(turn, 0);
        return false;
    }
    raw.lo = (at + groups) | (uint64_t)limit << 32;
    raw.hi += 1;
    gpurt_store_relaxed_blk_u128((gpurt_u128_t *)q->head, raw);
    gpurt_turn_store(turn, 0);
    to = (gpurt_group_t *)(data + offset);
    g.tag = gpurt_tag_first(0, salt, groups) + (at << 16); /* at is even */
    g.word[0] = gpurt_log_what(&c->aim, c->gate, GPURT_FORM_WARP_PART);
    g.word[1] = (uint32_t)q->time_ns;
    g.word[2] = (uint32_t)(q->time_ns >> 32) & 0xffffu;
    gpurt_group_store(to, g);
    rest = gpurt_tag_rest(1, salt, 1) + (at << 16);
    g.tag = rest;
    g.word[0] = c->aim.block;
    g.word[1] = mask;
    g.word[2] = c->words > 0 ? args[0] : 0;
    gpurt_group_store(to + 1, g);
    if (groups == 2)
        return true;
    g.tag = rest + gpurt_tag_rest(1, 0, 1);
    g.word[0] = args[1];
    g.word[1] = g.word[2] = 0;
    gpurt_group_store(to + 2, g);
    g.tag = rest + 2 * gpurt_tag_rest(1, 0, 1);
    g.word[0] = 0;
    gpurt_group_store(to + 3, g);
    return true;
}

GPURT_DEV void gpurt_log_quick(gpurt_site_t *site, uint32_t form, const uint32_t *args,
                               uint32_t words)
{
    gpurt_log_quick_t q;
    uint32_t mask;

    GPURT_OFTEN(64);
    q.call = gpurt_log_call(site, form, words);
    q.head = gpurt_log_head_of(&q.call.aim);
    q.raw = gpurt_load_relaxed_blk_u128((const gpurt_u128_t *)q.head);
    q.time_ns = gpurt_globaltimer();
    mask = gpurt_activemask_now();
    if (GPURT_UNLIKELY(mask != GPURT_FULL_MASK || !gpurt_log_quick_near(&q, args))) {
        GPURT_SELDOM();
        if (GPURT_TURNS && mask != GPURT_FULL_MASK) {
            gpurt_turn_t turn = gpurt_turn_of(q.call.aim.mark >> 24);

            asm volatile("" : "+r"(turn)); /* before the branch, which takes as long */
            /* The first lane writes, and where its branch ends the others meet it again:
             * gpurt_syncwarp asks all of them for a mask that is no constant, which takes long. */
            if ((mask & gpurt_lanes_below()) != 0 ||
                gpurt_log_quick_part(&q, turn, mask, args))
                return;
        }
        gpurt_log_quick_away(site, mask, words > 0 ? args[0] : 0, words > 1 ? args[1] : 0,
                             words);
    }
}
#endif

/* Lanes that were told of each other before something else may have parted them since. */
GPURT_DEV void gpurt_log_meet(uint32_t mask)
{
#if GPURT_ON_CUDA
    gpurt_syncwarp(mask);
#else
    (void)mask; /* there they meet in the shuffle that brings the position */
#endif
}

/* Any lanes, any room. tried: there was none near at hand. */
GPURT_DEV void gpurt_log_put(gpurt_log_call_t *c, const uint32_t *args, bool tried)
{
    bool lanes = c->form == GPURT_FORM_LANES, fits = gpurt_log_fits(c);

    if (!tried)
        gpurt_log_meet(c->mask);
    if (!tried && GPURT_LIKELY(gpurt_log_room_near(c, fits))) {
        gpurt_log_put_near(c, args);
        return;
    }
    if (lanes && fits && c->mask == GPURT_FULL_MASK) {
        c->position = gpurt_log_room_whole(c->aim.head,
                                           gpurt_record_groups(c->words * GPURT_WARP_SIZE));
        if (c->position != GPURT_LOG_NOWHERE)
            gpurt_log_put_near(c, args);
        else
            gpurt_log_safe_point();
    } else if (lanes) {
        gpurt_log_lanes_away(c, args, c->words);
    } else if (tried) {
        gpurt_log_uniform_far(c->gate, c->form, c->mask, args, c->words);
    } else {
        gpurt_log_uniform_away(c, args, c->words);
    }
}

#endif
