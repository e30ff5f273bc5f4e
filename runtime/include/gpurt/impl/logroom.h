/* SPDX-License-Identifier: Apache-2.0 */
/* logroom.h - who logs, and room for the message in its warp's ring.
 *
 * The common case, a whole warp with room at hand, is inlined and small: the ring's head is read
 * through the cache. A diverged warp, a ring that must look at its tail and the end of a lap are
 * functions of their own, out of the way of the kernel's code. What is then written there:
 * logput.h, which includes this; not for users. */
#ifndef GPURT_LOGROOM_H
#define GPURT_LOGROOM_H

#include <gpurt/block.h>
#include <gpurt/clock.h>
#include <gpurt/ids.h>
#include <gpurt/impl/logport.h>
#include <gpurt/impl/logturn.h>
#include <gpurt/warp.h>

/* ---- who logs -------------------------------------------------------------------------- */

/* Where the calling warp writes, and who it is. On a GPU gathered before the site's gate is
 * known: special registers take as long to come as the gate does. */
typedef struct gpurt_log_aim {
    uint32_t ring; /* or a number that is none */
    uint32_t head; /* its offset, likewise */
    uint32_t block;
    uint32_t
        mark; /* warp << 24 | salt << 8: groups of records of one writer are alike in it */
    uint32_t lane;
} gpurt_log_aim_t;

GPURT_DEV gpurt_log_aim_t gpurt_log_aim_at(uint32_t ring, uint32_t head)
{
    uint32_t rank = gpurt_thread_rank(), warp = rank / GPURT_WARP_SIZE;
    gpurt_log_aim_t a;

    a.ring = ring;
    a.head = head;
    a.block = gpurt_block_rank();
    a.mark = warp << 24 | ((a.block * 31u + warp) & 0xffu) << 8;
    a.lane = rank % GPURT_WARP_SIZE; /* as gpurt_lane, out of what is there */
#if GPURT_ON_CUDA
    /* Here, and not where they are used. */
    asm volatile("" : "+r"(a.ring), "+r"(a.block), "+r"(a.mark), "+r"(a.lane));
#endif
    return a;
}
GPURT_DEV gpurt_log_aim_t gpurt_log_aim(void)
{
    uint32_t sm = gpurt_sm(), slot = gpurt_warp_slot(); /* the head waits for them */

    return gpurt_log_aim_at(gpurt_log_ring_at(sm, slot), gpurt_log_head_at(sm, slot));
}

/* A warp without a ring gets the head behind the last one, which never has room. */
GPURT_DEV gpurt_ring_head_t *gpurt_log_head_of(const gpurt_log_aim_t *a)
{
    uint32_t head = a->head < gpurt_log_port.heads_end ? a->head : gpurt_log_port.heads_end;

    return (gpurt_ring_head_t *)(gpurt_log_port.heads + head);
}

/* One message, or one of each lane. */
typedef struct gpurt_log_call {
    gpurt_log_aim_t aim;
    uint32_t gate, form; /* of the site and of its macro */
    uint32_t words;      /* of arguments, of each lane */
    uint32_t mask;       /* the lanes that came together */
    uint32_t position;   /* where it has room */
} gpurt_log_call_t;

/* mask: of gpurt_activemask in the macro itself. In a function it would stand at one
 * source line for all calls, and the CPU back end would take lanes at different calls
 * for one group. */
GPURT_DEV gpurt_log_call_t gpurt_log_call(const gpurt_site_t *site, uint32_t form,
                                          uint32_t words)
{
    gpurt_log_call_t c;

    c.gate = gpurt_log_gate(site);
    c.aim = gpurt_log_aim();
    c.form = form == GPURT_FORM_LANES && words == 0 ? (uint32_t)GPURT_FORM_WARP : form;
    c.words = words;
    c.mask = c.position = 0;
    return c;
}

/* ---- room ------------------------------------------------------------------------------ */

/* Room near at hand for a whole warp, if its ring's head says by itself that there is some.
 * Returns: false when the warp is not whole, or the ring must be looked at; else the
 * position, in every lane. relaxed: the head is this warp's alone.
 *
 * On a GPU all lanes read the head by one access and all store it by one, so that none waits for
 * another: what each reads is at least what it stored itself. That it is the same in all of them
 * does not follow from PTX, but from how a warp runs: the lanes that the mask shows together read
 * together, and nothing lies between the two that could part them. A vote to make sure takes
 * ten cycles, a syncwarp before the access another 22. */
GPURT_DEV bool gpurt_log_room_near(gpurt_log_call_t *c, bool ready)
{
    bool lanes = c->form == GPURT_FORM_LANES;
    uint32_t groups = gpurt_record_groups(lanes ? c->words * GPURT_WARP_SIZE : c->words);
    gpurt_ring_head_t *head = gpurt_log_head_of(&c->aim);
#if GPURT_ON_CUDA
    gpurt_u128_t raw = gpurt_load_relaxed_blk_u128((const gpurt_u128_t *)head);
    uint32_t at = (uint32_t)raw.lo, limit = (uint32_t)(raw.lo >> 32);

    ready = ready && c->mask == GPURT_FULL_MASK;
    if (GPURT_UNLIKELY(!ready || (int32_t)(limit - (at + groups)) < 0))
        return false;
    raw.lo = (at + groups) | (uint64_t)limit << 32;
    raw.hi += lanes ? GPURT_WARP_SIZE : 1;
    gpurt_store_relaxed_blk_u128((gpurt_u128_t *)head, raw);
    c->position = at;
    return true;
#else
    uint32_t at = 0;

    if (!ready || c->mask != GPURT_FULL_MASK || c->aim.ring >= gpurt_log_port.ring_count)
        return false;
    if (c->aim.lane == 0) {
        uint32_t limit = gpurt_load_relaxed_blk_u32(&head->xlimit);

        at = gpurt_load_relaxed_blk_u32(&head->xhead);
        if ((int32_t)(limit - (at + groups)) < 0)
            at = 1;
        else
            gpurt_ring_move(head, at + groups, lanes ? GPURT_WARP_SIZE : 1);
    }
    c->position = gpurt_shfl_u32(GPURT_FULL_MASK, at, 0);
    return !(c->position & 1u); /* records begin at even ones */
#endif
}

#define GPURT_LOG_NOWHERE 1u /* records begin at even positions */

/* Counts messages of a warp that are not written: where it has no ring, with those of the first. */
GPURT_DEVN void gpurt_log_lose(uint32_t head, uint32_t messages, uint32_t reason)
{
    gpurt_ring_port_t port;

    if (!gpurt_log_port.heads_end) /* not connected */
        return;
    port = gpurt_log_ring(head < gpurt_log_port.heads_end ? head : 0);
    gpurt_ring_lose(&port, messages, reason, gpurt_globaltimer());
}

/* A full ring: whether to ask again. If not, the messages are counted. since: low half of a time not
 * long ago, because whoever keeps it has few registers. */
GPURT_DEVN bool gpurt_log_patient(uint32_t head, uint32_t messages, uint32_t since)
{
    gpurt_ring_port_t port = gpurt_log_ring(head);
    uint64_t now_ns = gpurt_globaltimer();

    if (port.policy != GPURT_POLICY_BLOCK ||
        !gpurt_ring_patient(&port, messages, now_ns - ((uint32_t)now_ns - since), now_ns))
        return false;
    if (gpurt_cancelled()) {
        gpurt_ring_lose(&port, messages, GPURT_LOSS_FULL, now_ns);
        return false;
    }
    return true;
}

enum {
    GPURT_LOG_FULL = GPURT_LOG_NOWHERE, /* counted, unless the policy is to wait */
    GPURT_LOG_TURN = 3                  /* another group of the warp has the turn */
};

/* Room for a record, by the lane that asks and at once. A whole warp is its ring's only producer;
 * groups of lanes of a warp that diverged take turns. The turn is given back where it was taken,
 * because lanes of several groups may run through here together.
 * Returns: its position, FULL or TURN. */
GPURT_DEVN uint32_t gpurt_log_try(uint32_t head, bool whole, uint32_t groups,
                                  uint32_t messages)
{
    gpurt_ring_port_t port = gpurt_log_ring(head);
    uint64_t time_ns = gpurt_globaltimer();
    uint32_t at = 0;
    bool ok;

    if (!GPURT_TURNS && !whole) {
        ok = gpurt_ring_take_shared(&port, groups, messages, time_ns, &at);
    } else {
        if (!whole && !gpurt_turn_try())
            return GPURT_LOG_TURN;
        ok = gpurt_ring_take(&port, groups, messages, time_ns, &at);
        if (!whole)
            gpurt_turn_give();
    }
    return ok ? at : (uint32_t)GPURT_LOG_FULL;
}

/* ... and asks again where that is worth it. Does not leave: others may count on it. Safe points
 * are behind the record, and on the far way alone: in the near one they would be a third of its
 * cost. Returns: its position, or NOWHERE. */
GPURT_DEVN uint32_t gpurt_log_take(uint32_t head, uint32_t mask, uint32_t groups,
                                   uint32_t messages)
{
    uint32_t since = (uint32_t)gpurt_globaltimer();

    if (head >= gpurt_log_port.heads_end) {
        gpurt_log_lose(head, messages, GPURT_LOSS_RINGLESS);
        return GPURT_LOG_NOWHERE;
    }
    for (uint32_t passes = 1;; passes++) {
        uint32_t at = gpurt_log_try(head, mask == GPURT_FULL_MASK, groups, messages);

        if (!(at & 1u))
            return at;
        if (at == GPURT_LOG_FULL) {
            if (!gpurt_log_patient(head, messages, since))
                return GPURT_LOG_NOWHERE;
            passes = 0;
        } else if (passes == GPURT_TURN_PASSES) { /* nobody has it */
            gpurt_turn_give();
            gpurt_log_lose(head, messages, GPURT_LOSS_SHARED);
            return GPURT_LOG_NOWHERE;
        }
        gpurt_pause(); /* and not relax: others may wait for this lane */
    }
}

/* ... by one lane for all of a mask. Returns: true and the position, in every lane. */
GPURT_DEV bool gpurt_log_room_far(uint32_t head, uint32_t mask, uint32_t groups,
                                  uint32_t messages, uint32_t *position)
{
    uint32_t at = 0;

    if (gpurt_is_leader(mask))
        at = gpurt_log_take(head, mask, groups, messages);
    *position = gpurt_shfl_u32(mask, at, gpurt_leader(mask));
    return *position != GPURT_LOG_NOWHERE;
}

/* Room for a whole warp's record at the end of a lap, or in a full ring. */
GPURT_DEVN uint32_t gpurt_log_room_whole(uint32_t head, uint32_t groups)
{
    uint32_t at;

    gpurt_log_room_far(head, GPURT_FULL_MASK, groups, GPURT_WARP_SIZE, &at);
    return at;
}

#endif
