/* SPDX-License-Identifier: Apache-2.0 */
/* logput.h - how a message gets into its warp's ring.
 *
 * The common case, a whole warp with room at hand, is inlined and small: the ring's head is
 * read through the cache, the record goes out in one store. Everything else (a diverged
 * warp, a ring that must look at its tail, the end of a lap) is one function a translation
 * unit, out of the way of the kernel's registers. Included by log.h; not for users. */
#ifndef GPURT_LOGPUT_H
#define GPURT_LOGPUT_H

#include <gpurt/block.h>
#include <gpurt/clock.h>
#include <gpurt/ids.h>
#include <gpurt/logport.h>
#include <gpurt/warp.h>

/* Where the calling warp writes, and who it is. On a GPU gathered before the site's gate is
 * known: special registers take as long to come as the gate does. */
typedef struct gpurt_log_aim {
    uint32_t ring; /* or a number that is none */
    uint32_t block;
    uint32_t
        mark; /* warp << 24 | salt << 8: groups of records of one writer are alike in it */
    uint32_t lane;
} gpurt_log_aim_t;

GPURT_DEV gpurt_log_aim_t gpurt_log_aim(void)
{
    gpurt_log_aim_t a;
    uint32_t rank = gpurt_thread_rank(), warp = rank / GPURT_WARP_SIZE;

    a.ring = gpurt_sm() * gpurt_log_port.warp_slots + gpurt_warp_slot();
    a.block = gpurt_block_rank();
    a.mark = warp << 24 | ((a.block * 31u + warp) & 0xffu) << 8;
    a.lane = rank % GPURT_WARP_SIZE; /* as gpurt_lane, out of what is there */
#if GPURT_ON_CUDA
    /* Here, and not where they are used. */
    asm volatile("" : "+r"(a.ring), "+r"(a.block), "+r"(a.mark), "+r"(a.lane));
#endif
    return a;
}

GPURT_DEV uint32_t gpurt_log_what(const gpurt_log_aim_t *a, uint32_t gate, uint32_t form)
{
    return gpurt_record_what(gate, GPURT_KIND_LOG, form, 0) | (a->mark & 0x1f000000u);
}

GPURT_DEV gpurt_ring_head_t *gpurt_log_head_of(const gpurt_log_aim_t *a)
{
    return (gpurt_ring_head_t *)(gpurt_log_port.heads +
                                 (size_t)a->ring * GPURT_LOG_HEAD_STRIDE);
}

GPURT_DEV char *gpurt_log_data_of(const gpurt_log_aim_t *a)
{
    return (char *)gpurt_log_port.groups + (size_t)a->ring * gpurt_log_port.ring_bytes;
}

/* One message, or one of each lane. */
typedef struct gpurt_log_call {
    gpurt_log_aim_t aim;
    uint32_t gate, form; /* of the site and of its macro */
    uint32_t mask;       /* the lanes that came together */
} gpurt_log_call_t;

/* mask: of gpurt_activemask in the macro itself. In a function it would stand at one
 * source line for all calls, and the CPU back end would take lanes at different calls
 * for one group. */
GPURT_DEV gpurt_log_call_t gpurt_log_call(gpurt_log_aim_t aim, uint32_t gate, uint32_t form,
                                          uint32_t mask)
{
    gpurt_log_call_t c;

    c.aim = aim;
    c.gate = gate;
    c.form = form;
    c.mask = mask;
    return c;
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

/* Words 3 * index .. of a record's head, into v; zeros behind it. */
GPURT_DEV void gpurt_log_head(uint32_t index, uint32_t what, uint32_t block, uint32_t lane,
                              uint64_t time_ns, uint32_t *v)
{
    v[0] = index == 0 ? what : index == 1 ? block : 0;
    v[1] = index == 0 ? (uint32_t)time_ns : 0;
    v[2] = index == 0 ? ((uint32_t)(time_ns >> 32) & 0xffffu) | lane << 16 : 0;
}

/* ---- room ------------------------------------------------------------------------------ */

/* Whether the warp is whole and its ring exists. */
GPURT_DEV bool gpurt_log_is_near(const gpurt_log_call_t *c)
{
    return GPURT_LIKELY(c->mask == GPURT_FULL_MASK &&
                        c->aim.ring < gpurt_log_port.ring_count);
}

/* Room near at hand for a whole warp, if its ring's head says by itself that there is some.
 * Returns: false when the ring must be looked at; else the position, in every lane.
 * relaxed: the head is this warp's alone.
 *
 * On a GPU all lanes read the head, by one access, so that none waits for another's shuffle.
 * The first syncwarp puts that behind what lane 0 stored in the call before, the second
 * lane 0's store behind it. */
GPURT_DEV bool gpurt_log_room_near(const gpurt_log_aim_t *a, uint32_t groups,
                                   uint32_t messages, uint32_t *position)
{
    gpurt_ring_head_t *head = gpurt_log_head_of(a);
#if GPURT_ON_CUDA
    gpurt_u128_t raw;
    uint32_t at, limit;

    gpurt_syncwarp(GPURT_FULL_MASK);
    raw = gpurt_load_relaxed_blk_u128((const gpurt_u128_t *)head);
    at = (uint32_t)raw.lo;
    limit = (uint32_t)(raw.lo >> 32);
    if (GPURT_UNLIKELY((int32_t)(limit - (at + groups)) < 0))
        return false;
    raw.lo = (at + groups) | (uint64_t)limit << 32;
    raw.hi += messages;
    gpurt_syncwarp(GPURT_FULL_MASK);
    if (a->lane == 0)
        gpurt_store_relaxed_blk_u128((gpurt_u128_t *)head, raw);
    *position = at;
    return true;
#else
    uint32_t at = 0;

    if (a->lane == 0) {
        uint32_t limit = gpurt_load_relaxed_blk_u32(&head->xlimit);

        at = gpurt_load_relaxed_blk_u32(&head->xhead);
        if ((int32_t)(limit - (at + groups)) < 0)
            at = 1;
        else
            gpurt_ring_move(head, at + groups, messages);
    }
    *position = gpurt_shfl_u32(GPURT_FULL_MASK, at, 0);
    return !(*position & 1u); /* records begin at even ones */
#endif
}

/* One lane takes room for all. A whole warp is its ring's only producer; lanes of a warp
 * that diverged may meet others of the same warp half way through, so they use atomics.
 * No lane may leave in here: the others count on it. Safe points are behind the record, and
 * on the far way alone: in the near one they would be a third of its cost.
 * Returns: true and the position, in every lane. */
GPURT_DEV bool gpurt_log_room_far(uint32_t ring, uint32_t mask, uint32_t groups,
                                  uint32_t messages, uint64_t time_ns, uint32_t *position)
{
    uint32_t at = 0, ok = 0;

    if (gpurt_is_leader(mask) && ring < gpurt_log_port.ring_count) {
        gpurt_ring_port_t port = gpurt_log_ring(ring);

        for (;;) {
            ok = mask == GPURT_FULL_MASK
                     ? gpurt_ring_take(&port, groups, messages, time_ns, &at)
                     : gpurt_ring_take_shared(&port, groups, messages, time_ns, &at);
            if (ok || port.policy != GPURT_POLICY_BLOCK ||
                !gpurt_ring_patient(&port, messages, time_ns, gpurt_globaltimer()))
                break;
            if (gpurt_cancelled()) {
                gpurt_ring_lose(&port, messages, GPURT_LOSS_FULL, time_ns);
                break;
            }
            gpurt_pause(); /* and not relax: the others wait for this lane */
        }
    }
    *position = gpurt_shfl_u32(mask, at, gpurt_leader(mask));
    return gpurt_shfl_u32(mask, ok, gpurt_leader(mask)) != 0;
}

/* ---- one set of values, those of the first lane ---------------------------------------- */

/* Out of line: its callers are, and need no more registers for it. */
GPURT_DEVN void gpurt_log_safe_point(void)
{
    gpurt_safe_point();
}

/* Any warp, any room. Out of line: its registers are not the kernel's. */
GPURT_DEVN void gpurt_log_uniform_far(gpurt_log_call_t c, const uint32_t *args,
                                      uint32_t words)
{
    bool part = c.form == GPURT_FORM_WARP && c.mask != GPURT_FULL_MASK;
    uint32_t first = GPURT_RECORD_HEAD_WORDS + (part ? 1u : 0u), position;
    uint32_t groups = gpurt_record_groups(words + (part ? 1u : 0u));
    uint32_t what =
        gpurt_log_what(&c.aim, c.gate, part ? (uint32_t)GPURT_FORM_WARP_PART : c.form);
    uint64_t time_ns = gpurt_globaltimer();
    uint32_t own[2 * GPURT_MAX_ARGS] = {0};

    for (uint32_t j = 0; j < words; j++)
        own[j] = gpurt_shfl_u32(c.mask, args[j], gpurt_leader(c.mask));
    if (!gpurt_log_room_far(c.aim.ring, c.mask, groups, 1, time_ns, &position)) {
        gpurt_log_safe_point();
        return;
    }
    for (uint32_t g = gpurt_popc(c.mask & gpurt_lanes_below()); g < groups;
         g += gpurt_popc(c.mask)) {
        uint32_t v[GPURT_GROUP_WORDS];

        gpurt_log_head(g, what, c.aim.block, 0, time_ns, v);
        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++) {
            uint32_t i = g * GPURT_GROUP_WORDS + t;

            if (part && i == GPURT_RECORD_HEAD_WORDS)
                v[t] = c.mask;
            else if (i >= first && i - first < words)
                v[t] = own[i - first];
        }
        gpurt_log_store(&c.aim, position, g, groups, v);
    }
    gpurt_syncwarp(c.mask);
    gpurt_log_safe_point();
}

/* The arguments are put into memory here and not before. */
GPURT_DEV void gpurt_log_uniform_away(gpurt_log_call_t c, const uint32_t *args,
                                      uint32_t words)
{
    uint32_t copy[2 * GPURT_MAX_ARGS] = {0};

    for (uint32_t j = 0; j < words; j++)
        copy[j] = args[j];
    gpurt_log_uniform_far(c, copy, words);
}

/* The smallest record: lane 1 writes the head, lane 0 the first arguments, its own. */
GPURT_DEV void gpurt_log_uniform_small(const gpurt_log_call_t *c, uint32_t position,
                                       uint64_t time_ns, const uint32_t *args,
                                       uint32_t words)
{
    bool first = c->aim.lane != 0;
    uint32_t at = position + !first;
    gpurt_group_t g;

    g.tag = first ? gpurt_tag_first(at, c->aim.mark >> 8, 2)
                  : gpurt_tag_rest(at, c->aim.mark >> 8, 1);
    g.word[0] = first ? gpurt_log_what(&c->aim, c->gate, c->form) : c->aim.block;
    g.word[1] = first ? (uint32_t)time_ns : words > 0 ? args[0] : 0;
    g.word[2] = first ? (uint32_t)(time_ns >> 32) & 0xffffu : words > 1 ? args[1] : 0;
    if (c->aim.lane < 2)
        gpurt_group_store(gpurt_log_group(&c->aim, at), g);
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

GPURT_DEV void gpurt_log_uniform(gpurt_log_call_t c, const uint32_t *args, uint32_t words)
{
    uint32_t groups = gpurt_record_groups(words), position;

    if (gpurt_log_is_near(&c)) {
        uint64_t time_ns = gpurt_globaltimer(); /* comes while the head does */

        if (GPURT_LIKELY(gpurt_log_room_near(&c.aim, groups, 1, &position))) {
            if (groups == 2)
                gpurt_log_uniform_small(&c, position, time_ns, args, words);
            else
                gpurt_log_uniform_long(&c, position, time_ns, args, words);
            return;
        }
    }
    gpurt_log_uniform_away(c, args, words);
}

/* ---- own values of every lane ---------------------------------------------------------- */

/* Lanes of a diverged warp, or too many values for one record: a record a lane, in one
 * stretch of the ring. Out of line, as above. */
GPURT_DEVN void gpurt_log_lanes_far(gpurt_log_call_t c, const uint32_t *args,
                                    uint32_t words)
{
    uint32_t groups = gpurt_record_groups(words), count = gpurt_popc(c.mask), position;
    uint32_t what = gpurt_log_what(&c.aim, c.gate, GPURT_FORM_LANE);
    uint64_t time_ns = gpurt_globaltimer();

    if (!gpurt_log_room_far(c.aim.ring, c.mask, groups * count, count, time_ns,
                            &position)) {
        gpurt_log_safe_point();
        return;
    }
    position += groups * gpurt_popc(c.mask & gpurt_lanes_below());
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t v[GPURT_GROUP_WORDS];

        gpurt_log_head(g, what, c.aim.block, c.aim.lane, time_ns, v);
        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++) {
            uint32_t i = g * GPURT_GROUP_WORDS + t;

            if (i >= GPURT_RECORD_HEAD_WORDS && i - GPURT_RECORD_HEAD_WORDS < words)
                v[t] = args[i - GPURT_RECORD_HEAD_WORDS];
        }
        gpurt_log_store(&c.aim, position, g, groups, v);
    }
    gpurt_syncwarp(c.mask);
    gpurt_log_safe_point();
}

GPURT_DEV void gpurt_log_lanes_away(gpurt_log_call_t c, const uint32_t *args,
                                    uint32_t words)
{
    uint32_t copy[2 * GPURT_MAX_ARGS] = {0};

    for (uint32_t j = 0; j < words; j++)
        copy[j] = args[j];
    gpurt_log_lanes_far(c, copy, words);
}

/* Room for a whole warp's record at the end of a lap, or in a full ring. */
GPURT_DEVN bool gpurt_log_room_whole(uint32_t ring, uint32_t groups, uint32_t *position)
{
    return gpurt_log_room_far(ring, GPURT_FULL_MASK, groups, GPURT_WARP_SIZE,
                              gpurt_globaltimer(), position);
}

/* A whole warp: one record, its words dealt out to the groups by shuffles. */
GPURT_DEV void gpurt_log_lanes(gpurt_log_call_t c, const uint32_t *args, uint32_t words)
{
    uint32_t what, position;
    uint32_t groups = gpurt_record_groups(words * GPURT_WARP_SIZE);
    uint64_t time_ns;

    if (words * GPURT_WARP_SIZE > GPURT_RECORD_MAX_WORDS || !gpurt_log_is_near(&c)) {
        gpurt_log_lanes_away(c, args, words);
        return;
    }
    if (GPURT_UNLIKELY(!gpurt_log_room_near(&c.aim, groups, GPURT_WARP_SIZE, &position)) &&
        !gpurt_log_room_whole(c.aim.ring, groups, &position)) {
        gpurt_log_safe_point();
        return;
    }
    time_ns = gpurt_globaltimer();
    what = gpurt_log_what(&c.aim, c.gate, GPURT_FORM_LANES);
    for (uint32_t from = 0; from < groups; from += GPURT_WARP_SIZE) {
        uint32_t index = from + c.aim.lane, v[GPURT_GROUP_WORDS];

        gpurt_log_head(index, what, c.aim.block, 0, time_ns, v);
        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++) {
            uint32_t i = index * GPURT_GROUP_WORDS + t, k = i - GPURT_RECORD_HEAD_WORDS;

            for (uint32_t j = 0; j < words; j++) {
                uint32_t other = gpurt_shfl_u32(GPURT_FULL_MASK, args[j], k & 31u);

                v[t] = i >= GPURT_RECORD_HEAD_WORDS && k >> 5 == j ? other : v[t];
            }
        }
        if (index < groups)
            gpurt_log_store(&c.aim, position, index, groups, v);
    }
}

#endif
