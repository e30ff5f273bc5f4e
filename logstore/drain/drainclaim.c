/* SPDX-License-Identifier: Apache-2.0 */
/* Order. A flush has a number. Its plan is stored in the box, then the file is written,
 * then xfiled and the tails are stored, then the number is done. Wherever a drainer is killed, the
 * next one finds
 *   planned == done   all tails are true
 *   planned != done   the plan is whole; whether it was carried out, the file knows
 * and rings whose plan bears another number are not meant.
 *   DP1  planned.rel -> take_over.acq   the rings' plans and the place in the file
 *   DP2  done.rel -> take_over.acq      the tails */
#include "drainpart.h"

#include "procfs.h"

#include <unistd.h>

#define BEAT_NS  100000000ull
#define SLACK_NS 3600000000000ull /* real time may be set back, and fits have errors */

gpurt_status_t drain_claim(gpurt_drain_t *d, gpurt_error_t *err)
{
    gpurt_box_claim_t *c = &d->map->box->claim;
    uint64_t owner = gpurt_load_acquire_sys_u64(&c->xowner); /* B7.acq */
    uint32_t pid = (uint32_t)owner;

    if (!d->map->writable)
        return GPURT_OK;
    /* start_ticks of a claim that is being made right now may still be 0: then it is
     * alive. */
    if (pid && (c->start_ticks == 0 ? gpurt_process_start(pid) != 0
                                    : gpurt_process_alive(pid, c->start_ticks)))
        return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                          "the box is drained by process %u; end that one first", pid);
    d->epoch = (uint32_t)(owner >> 32) + 1;
    if (!gpurt_cas_acquire_sys_u64(
            &c->xowner, &owner, (uint64_t)d->epoch << 32 | (uint32_t)getpid())) /* B7.acq */
        return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                          "the box was just claimed by process %u", (uint32_t)owner);
    c->start_ticks = gpurt_process_start((uint32_t)getpid());
    d->sum.takeovers = d->epoch - 1;
    return GPURT_OK;
}

void drain_unclaim(gpurt_drain_t *d)
{
    gpurt_box_claim_t *c = &d->map->box->claim;
    uint64_t mine = (uint64_t)d->epoch << 32 | (uint32_t)getpid();

    if (!d->map->writable || d->epoch == 0)
        return;
    c->start_ticks = 0;
    gpurt_cas_release_sys_u64(&c->xowner, &mine, (uint64_t)d->epoch << 32); /* B7.rel */
}

void drain_beat(gpurt_drain_t *d)
{
    if (!d->map->writable || d->now_ns - d->beat_ns < BEAT_NS)
        return;
    d->beat_ns = d->now_ns;
    d->map->box->claim.xbeat_ns = d->now_ns;
}

/* ---- taking over --------------------------------------------------------------------- */

static void ring_take_over(gpurt_drain_t *d, uint32_t section, uint32_t ring, uint32_t plan,
                           bool adopt)
{
    const gpurt_ring_control_t *c = gpurt_boxmap_control(d->map, section, ring);
    drain_cursor_t *own = &d->sections[section].cursors[ring];
    uint32_t tail = c->xfiled; /* what the shelf has behind it comes first */

    own->seen = c->xseen | (uint64_t)c->xseen_high << 32;
    own->lost_told = c->xlost_told;
    if (adopt && c->xplan == plan) {
        tail = c->xplan_tail;
        own->seen = c->xplan_seen | (uint64_t)c->xplan_seen_high << 32;
        own->lost_told = c->xplan_lost_told;
        drain_touch(d, section, ring);
        d->sum.adopted++;
    }
    d->sections[section].positions[ring] = own->handed = tail;
}

/* done: the last flush that happened. A panic that a later one was to tell is told
 * again. */
static void panics_take_over(gpurt_drain_t *d, uint32_t section, uint64_t done)
{
    for (uint32_t i = 0; i < d->map->sections[section].panic_count; i++) {
        gpurt_panic_t *slot = gpurt_boxmap_panic(d->map, section, i);

        if (slot->xtold == 0)
            continue;
        if (slot->xtold <= done) {
            d->sections[section].slots[i] = true;
            d->sections[section].taken++;
        } else if (d->map->writable)
            slot->xtold = 0;
    }
}

/* adopt: the flush of that number happened, 0 none. */
static void missing_take_over(gpurt_drain_t *d, uint32_t section, uint32_t adopt)
{
    const gpurt_box_section_t *s = &d->map->box->sections[section];

    d->sections[section].missing_told =
        adopt && s->xplan == adopt ? s->xplan_panics_told : s->xpanics_told;
}

gpurt_status_t drain_take_over(gpurt_drain_t *d, gpurt_error_t *err)
{
    const gpurt_box_t *box = d->map->box;
    uint64_t planned = gpurt_load_acquire_sys_u64(&box->claim.xplanned); /* DP1.acq */
    uint64_t done = gpurt_load_acquire_sys_u64(&box->claim.xdone);       /* DP2.acq */
    gpurt_box_intent_t place = box->intent;
    uint64_t since = box->claim.xbeat_ns;
    gpurt_status_t st = drain_shelf_take_over(d, err);
    bool adopt =
        planned != done &&
        (place.inode == 0 || (d->store && d->store->holds(d->store->context, &place)));

    d->flush_number = planned; /* never used again, also when it did not happen */
    for (uint32_t i = 0; i < d->map->section_count; i++) {
        for (uint32_t r = 0; r < d->map->sections[i].ring_count; r++)
            ring_take_over(d, i, r, adopt ? (uint32_t)planned : 0, adopt);
        panics_take_over(d, i, adopt ? planned : done);
        missing_take_over(d, i, adopt ? (uint32_t)planned : 0);
    }
    if (since < box->identity.real_ns)
        since = box->identity.real_ns;
    d->floor_ns = since > SLACK_NS ? since - SLACK_NS : 0;
    if (!adopt || st != GPURT_OK)
        return st;
    d->batch->number = planned;
    drain_marks_set(d);
    drain_free(d->batch);
    drain_marks_drop(d);
    d->batch->mark_count = 0;
    return GPURT_OK;
}

/* ---- a flush ------------------------------------------------------------------------- */

void drain_plan(const drain_batch_t *b, const gpurt_box_intent_t *place)
{
    const gpurt_boxmap_t *map = b->drain->map;
    gpurt_box_intent_t *plan = &map->box->intent;

    if (!map->writable)
        return;
    for (uint32_t i = 0; i < b->mark_count; i++) {
        const drain_mark_t *m = &b->marks[i];
        gpurt_ring_control_t *c = gpurt_boxmap_control(map, drain_name_section(m->ring),
                                                       drain_name_ring(m->ring));

        c->xplan = (uint32_t)b->number;
        c->xplan_tail = m->tail;
        c->xplan_seen = (uint32_t)m->seen;
        c->xplan_seen_high = (uint32_t)(m->seen >> 32);
        c->xplan_lost_told = m->lost_told;
    }
    for (uint32_t i = 0; i < b->panic_count; i++)
        gpurt_boxmap_panic(map, drain_name_section(b->panics[i]),
                           drain_name_ring(b->panics[i]))
            ->xtold = b->number;
    for (uint32_t s = 0; s < map->section_count; s++) {
        map->box->sections[s].xplan = (uint32_t)b->number;
        map->box->sections[s].xplan_panics_told = b->missing_told[s];
    }
    plan->device = place->device;
    plan->inode = place->inode;
    plan->offset = place->offset;
    plan->check = place->check;
    gpurt_store_release_sys_u64(&map->box->claim.xplanned, b->number); /* DP1.rel */
}

void drain_free(const drain_batch_t *b)
{
    const gpurt_boxmap_t *map = b->drain->map;

    if (!map->writable)
        return;
    for (uint32_t i = 0; i < b->mark_count; i++) {
        const drain_mark_t *m = &b->marks[i];
        gpurt_ring_control_t *c = gpurt_boxmap_control(map, drain_name_section(m->ring),
                                                       drain_name_ring(m->ring));

        c->xlost_told = m->lost_told;
        c->xseen = (uint32_t)m->seen;
        c->xseen_high = (uint32_t)(m->seen >> 32);
        c->xfiled = m->tail;
        drain_tail_raise(c, m->tail);
    }
    for (uint32_t s = 0; s < map->section_count; s++)
        map->box->sections[s].xpanics_told = b->missing_told[s];
    gpurt_store_release_sys_u64(&map->box->claim.xdone, b->number); /* DP2.rel */
    drain_shelf_free(b);
}
