/* SPDX-License-Identifier: Apache-2.0 */
/* ringput.h - the producer's end of a ring: room, marks, losses.
 *
 * One body for all producers: lanes of a GPU, lanes of the CPU back end, host threads
 * and the generators of the tests. It finds the position at which a record may be
 * written; the caller then stores the record's groups there, in any order, from as many
 * lanes as it likes. Two ways in: gpurt_ring_take for a ring with one producer at a
 * time, gpurt_ring_take_shared where several may meet (threads of a process; lanes of one
 * warp that diverged, in files without logturn.h). Nothing here waits: under
 * GPURT_POLICY_BLOCK the caller asks again, as gpurt_ring_patient says. */
#ifndef GPURT_RINGPUT_H
#define GPURT_RINGPUT_H

#include <gpurt/impl/box.h>

typedef struct gpurt_ring_port {
    gpurt_group_t *groups;
    uint32_t group_count; /* a power of two */
    uint32_t policy;
    gpurt_ring_control_t *control;
    gpurt_ring_head_t *head;
} gpurt_ring_port_t;

/* Positions begin here, so that their wrap is met within the first records. */
#define GPURT_RING_START (0u - 8u)

enum {
    GPURT_MARK_GROUPS = 4, /* of a lap mark */
    GPURT_WAIT_NS =
        1000000000,       /* blocking: a drainer that frees nothing for so long is gone */
    GPURT_LOOK_NS = 20000 /* full ring: xtail is read at most this often, it costs 1-100 us
                              across the link and lets the drainer breathe */
};

GPURT_HD gpurt_group_t *gpurt_ring_at(const gpurt_ring_port_t *port, uint32_t position)
{
    return &port->groups[position & (port->group_count - 1)];
}

GPURT_HD void gpurt_ring_show_loss(const gpurt_ring_port_t *port, uint32_t sum,
                                   uint32_t reason, uint64_t time_ns)
{
    gpurt_group_t loss;

    loss.tag = sum;
    loss.word[0] = reason;
    loss.word[1] = (uint32_t)time_ns;
    loss.word[2] = (uint32_t)(time_ns >> 32);
    gpurt_group_store((gpurt_group_t *)&port->control->xloss, loss);
}

/* Counts messages that found no room and shows the sum at once: it survives the producer. Of several
 * producers one may overtake another between its sum and its store, so each looks again. Its store
 * is out before it looks: else it could come behind the store of one who counted after the look. */
GPURT_HD void gpurt_ring_lose(const gpurt_ring_port_t *port, uint32_t messages,
                              uint32_t reason, uint64_t time_ns)
{
    uint32_t sum = gpurt_add_relaxed_dev_u32(&port->head->xlost, messages) + messages,
             shown;

    do {
        gpurt_ring_show_loss(port, sum, reason, time_ns);
        gpurt_fence_seq_cst_sys();
        shown = sum;
        sum = gpurt_load_relaxed_dev_u32(&port->head->xlost);
    } while (sum != shown);
}

/* By the only producer, whose stores to one place keep their order. Atomic all the same: a first
 * warp's ring counts for those that have none. */
GPURT_HD void gpurt_ring_lose_alone(const gpurt_ring_port_t *port, uint32_t messages,
                                    uint32_t reason, uint64_t time_ns)
{
    gpurt_ring_show_loss(port,
                         gpurt_add_relaxed_dev_u32(&port->head->xlost, messages) + messages,
                         reason, time_ns);
}

/* The mark at the end of a lap: counts for a drainer that lost the thread. */
GPURT_HD void gpurt_ring_mark(const gpurt_ring_port_t *port, uint32_t position,
                              uint64_t time_ns)
{
    const gpurt_ring_head_t *head = port->head;
    uint64_t records = gpurt_load_relaxed_blk_u64(&head->xrecords);
    uint32_t lap = (position - GPURT_RING_START) / port->group_count + 1;
    gpurt_group_t g;

    g.tag = gpurt_tag_first(position, 0, GPURT_MARK_GROUPS);
    g.word[0] = gpurt_record_what(0, GPURT_KIND_LAP, GPURT_FORM_BLOCK, 0);
    g.word[1] = (uint32_t)time_ns;
    g.word[2] = (uint32_t)(time_ns >> 32) & 0xffffu;
    gpurt_group_store(gpurt_ring_at(port, position), g);
    g.tag = gpurt_tag_rest(position + 1, 0, 1);
    g.word[0] = 0;
    g.word[1] = lap;
    g.word[2] = (uint32_t)records;
    gpurt_group_store(gpurt_ring_at(port, position + 1), g);
    g.tag = gpurt_tag_rest(position + 2, 0, 2);
    g.word[0] = (uint32_t)(records >> 32);
    g.word[1] = position;
    g.word[2] = 0;
    gpurt_group_store(gpurt_ring_at(port, position + 2), g);
    g.tag = gpurt_tag_rest(position + 3, 0, 3);
    gpurt_group_store(gpurt_ring_at(port, position + 3), g);
}

/* How far the producer may go now: to `end`, or to the tail, one lap on, if that is
 * nearer. */
GPURT_HD uint32_t gpurt_ring_limit(const gpurt_ring_port_t *port, uint32_t end)
{
    uint32_t free_end;

    if (port->policy == GPURT_POLICY_OVERWRITE)
        return end;
    free_end =
        gpurt_load_acquire_sys_u32(&port->control->xtail) + port->group_count; /* B2.acq */
    return (int32_t)(free_end - end) < 0 ? free_end : end;
}

/* Looks at the tail for a record that would end at `end`, lap mark included.
 * Returns: whether it fits. */
GPURT_HD bool gpurt_ring_fits(const gpurt_ring_port_t *port, uint32_t end, uint64_t time_ns)
{
    gpurt_ring_head_t *head = port->head;
    uint32_t free_end;

    if (port->policy == GPURT_POLICY_OVERWRITE)
        return true;
    if (time_ns < gpurt_load_relaxed_blk_u64(&head->xlook_ns))
        return false;
    free_end =
        gpurt_load_acquire_sys_u32(&port->control->xtail) + port->group_count; /* B2.acq */
    if ((int32_t)(free_end - end) >= 0)
        return true;
    if (port->policy == GPURT_POLICY_DROP_NEWEST)
        gpurt_store_relaxed_blk_u64(&head->xlook_ns, time_ns + GPURT_LOOK_NS);
    return false;
}

/* Beyond xlimit: the end of a lap, or a ring that looked full when last asked. Returns:
 * whether the record has room; then *position is moved past a mark if one was due. */
GPURT_HD bool gpurt_ring_look(const gpurt_ring_port_t *port, uint32_t *position,
                              uint32_t groups, uint64_t time_ns)
{
    gpurt_ring_head_t *head = port->head;
    uint32_t lap = gpurt_load_relaxed_blk_u32(&head->xlap);
    bool crosses = (int32_t)(lap - (*position + groups)) < 0;
    uint32_t end = *position + groups + (crosses ? GPURT_MARK_GROUPS : 0);

    if (!gpurt_ring_fits(port, end, time_ns))
        return false;
    if (crosses) {
        gpurt_ring_mark(port, *position, time_ns);
        *position += GPURT_MARK_GROUPS;
        lap = (end + port->group_count - 1) & ~(port->group_count - 1);
        gpurt_store_relaxed_blk_u32(&head->xlap, lap);
    }
    gpurt_store_relaxed_blk_u32(&head->xlimit, gpurt_ring_limit(port, lap));
    return true;
}

/* The producer's own step, by one lane. */
GPURT_HD void gpurt_ring_move(gpurt_ring_head_t *head, uint32_t to, uint32_t messages)
{
    uint64_t records = gpurt_load_relaxed_blk_u64(&head->xrecords);

    gpurt_store_relaxed_blk_u32(&head->xhead, to);
    gpurt_store_relaxed_blk_u64(&head->xrecords, records + messages);
}

/* Under GPURT_POLICY_BLOCK, when take has found no room: whether to ask again. A message
 * waits for GPURT_WAIT_NS; then its drainer is taken for dead, and for ten times as long
 * messages that find no room are dropped and counted at once. */
GPURT_HD bool gpurt_ring_patient(const gpurt_ring_port_t *port, uint32_t messages,
                                 uint64_t since_ns, uint64_t now_ns)
{
    bool over = now_ns - since_ns >= GPURT_WAIT_NS;

    if (!over && now_ns >= gpurt_load_relaxed_dev_u64(&port->head->xwait_ns))
        return true;
    if (over)
        gpurt_store_relaxed_dev_u64(&port->head->xwait_ns, now_ns + 10ull * GPURT_WAIT_NS);
    gpurt_ring_lose(port, messages, GPURT_LOSS_FULL, now_ns);
    return false;
}

/* One producer at a time. messages: how many one record stands for (lanes with own
 * values). Returns: true and the position of the record's first group, or false when it
 * is dropped and has been counted. */
GPURT_HD bool gpurt_ring_take(const gpurt_ring_port_t *port, uint32_t groups,
                              uint32_t messages, uint64_t time_ns, uint32_t *position)
{
    gpurt_ring_head_t *head = port->head;
    uint32_t at = gpurt_load_relaxed_blk_u32(&head->xhead);
    uint32_t limit = gpurt_load_relaxed_blk_u32(&head->xlimit);

    if ((int32_t)(limit - (at + groups)) < 0 &&
        !gpurt_ring_look(port, &at, groups, time_ns)) {
        if (port->policy != GPURT_POLICY_BLOCK)
            gpurt_ring_lose_alone(port, messages, GPURT_LOSS_FULL, time_ns);
        return false;
    }
    gpurt_ring_move(head, at + groups, messages);
    *position = at;
    return true;
}

/* The same without marks, for several producers. */
GPURT_HD bool gpurt_ring_look_shared(const gpurt_ring_port_t *port, uint32_t end,
                                     uint64_t time_ns)
{
    if (!gpurt_ring_fits(port, end, time_ns))
        return false;
    /* Up to the tail, past the end of the lap: whoever comes second stores no less. */
    if (port->policy != GPURT_POLICY_OVERWRITE)
        gpurt_store_relaxed_dev_u32(&port->head->xlimit, gpurt_ring_limit(port, end));
    return true;
}

/* Several producers. Laps are not marked by them: a ring that lanes of a diverged warp
 * share so is marked by the next whole warp, and the host's ring never overwrites. */
GPURT_HD bool gpurt_ring_take_shared(const gpurt_ring_port_t *port, uint32_t groups,
                                     uint32_t messages, uint64_t time_ns,
                                     uint32_t *position)
{
    gpurt_ring_head_t *head = port->head;
    /* A guess: old ones come out in the exchange. */
    uint32_t at = gpurt_load_relaxed_blk_u32(&head->xhead);

    for (;;) {
        uint32_t limit = gpurt_load_relaxed_blk_u32(&head->xlimit); /* old: looks again */

        if ((int32_t)(limit - (at + groups)) < 0 &&
            !gpurt_ring_look_shared(port, at + groups, time_ns)) {
            if (port->policy != GPURT_POLICY_BLOCK)
                gpurt_ring_lose(port, messages, GPURT_LOSS_FULL, time_ns);
            return false;
        }
        if (gpurt_cas_relaxed_dev_u32(&head->xhead, &at, at + groups))
            break;
    }
    gpurt_red_add_relaxed_dev_u64(&head->xrecords, messages);
    *position = at;
    return true;
}

#endif
