/* SPDX-License-Identifier: Apache-2.0 */
/* Where a round looks.
 *
 * A GPU has a ring for each warp that can be resident, thousands of them, of which often
 * few are in use. Those that had something of late are hot and are read in each round; at
 * all others one word is looked at, a few times in a millisecond; and now and then each
 * ring is combed, for what shows elsewhere: messages dropped, records left unfinished.
 * Panics are looked for in between, because someone waits for them. */
#include "drainpart.h"

#define LOOK_NS 200000ull
#define COMB_NS 250000000ull
#define HOT_NS  2000000ull
#define LIVE_NS ((GPURT_TIME_MASK + 1) / 2)
enum {
    SLICE = 256 /* rings between two looks for panics: a few microseconds */
};

/* ---- panics -------------------------------------------------------------------------- */

/* Whether a slot may be taken now. Its texts may be on their way, by another lane that panics at
 * the same site, and so may its windows: they are waited for, not for ever. */
static bool slot_ready(gpurt_drain_t *d, uint32_t section, uint32_t index,
                       gpurt_panic_t *copy)
{
    const gpurt_panic_t *slot = gpurt_boxmap_panic(d->map, section, index);
    uint32_t state = gpurt_load_acquire_sys_u32(&slot->xstate); /* B6.acq */
    uint64_t *since = &d->sections[section].slot_since[index];

    if (state != GPURT_PANIC_WRITTEN && state != GPURT_PANIC_COPYING)
        return false;
    *copy = *slot;
    if (state == GPURT_PANIC_COPYING)
        copy->window_count = 0;
    if (d->final || (state == GPURT_PANIC_WRITTEN && drain_panic_defined(d, section, copy)))
        return true;
    if (*since == 0)
        *since = d->now_ns;
    return d->now_ns - *since >= SITE_WAIT_NS;
}

/* Panics that found no slot. */
static bool slots_missing(gpurt_drain_t *d, uint32_t section, uint32_t raised)
{
    drain_section_t *own = &d->sections[section];
    uint32_t count = d->map->sections[section].panic_count;
    uint32_t missing = raised > count ? raised - count : 0;

    if ((int32_t)(missing - own->missing_told) <= 0)
        return true;
    if (!drain_loss(d, section, DRAIN_NO_RING, GPURT_LOSS_SLOTS,
                    missing - own->missing_told, d->now_ns))
        return false;
    own->missing_told = missing;
    d->panics_taken++;
    return true;
}

/* The first slot is looked at even when no panic was counted. A lane that died before its
 * slot was written must not hide those behind it. */
static bool panics_take(gpurt_drain_t *d, uint32_t section)
{
    drain_section_t *own = &d->sections[section];
    uint32_t count = d->map->sections[section].panic_count;
    /* relaxed: only says how far it is worth looking */
    uint32_t raised = gpurt_load_relaxed_sys_u32(&d->map->box->sections[section].xpanics);
    uint32_t end = raised > own->next_panic ? raised : own->next_panic + 1;

    for (uint32_t i = own->next_panic; i < end && i < count; i++) {
        gpurt_panic_t copy;

        if (own->slots[i] == SLOT_OPEN) {
            if (!slot_ready(d, section, i, &copy))
                continue;
            if (!drain_panic(d, section, &copy))
                return false;
            own->slots[i] = SLOT_TAKEN;
            d->panics_taken++;
            d->urgent = true;
        }
        own->next_panic += i == own->next_panic;
    }
    return slots_missing(d, section, raised);
}

/* Slots that were taken and never written, when nobody is left who could. */
static bool panics_close(gpurt_drain_t *d, uint32_t section)
{
    drain_section_t *own = &d->sections[section];
    uint32_t raised = gpurt_load_relaxed_sys_u32(/* relaxed: nobody writes it any more */
                                                 &d->map->box->sections[section].xpanics);

    for (uint32_t i = 0; i < raised && i < d->map->sections[section].panic_count; i++) {
        if (own->slots[i] != SLOT_OPEN)
            continue;
        if (!drain_loss(d, section, DRAIN_NO_RING, GPURT_LOSS_PANIC, 1, d->now_ns))
            return false;
        own->slots[i] = SLOT_TAKEN;
        d->panics_taken++;
        d->sum.torn++;
    }
    return true;
}

static bool panics_all(gpurt_drain_t *d)
{
    for (uint32_t i = 0; i < d->map->section_count; i++)
        if (!panics_take(d, i) || (d->over && !panics_close(d, i)))
            return false;
    return true;
}

/* ---- rings --------------------------------------------------------------------------- */

/* Whether nothing was stored at this position yet: the first look of gpurt_ring_read. */
static inline bool ring_quiet(const gpurt_group_t *groups, uint32_t group_count,
                              uint32_t position)
{
    /* relaxed: what the tag promises is then read whole */
    uint32_t tag = gpurt_load_relaxed_sys_u32(&groups[position & (group_count - 1)].tag);

    return !(tag & 0xffu) || (int16_t)(uint16_t)((tag >> 16) - position) < 0;
}

/* Takes what a ring holds and keeps it among the hot ones while something comes. */
static bool ring_visit(gpurt_drain_t *d, uint32_t section, uint32_t ring)
{
    drain_cursor_t *c = &d->sections[section].cursors[ring];
    uint32_t before = d->sections[section].positions[ring];
    bool room = drain_ring(d, section, ring);

    if (d->sections[section].positions[ring] != before || c->wait_since)
        c->busy_ns = d->now_ns;
    if (!c->hot && c->busy_ns == d->now_ns) {
        c->hot = true;
        d->hot[d->hot_count++] = drain_ring_name(section, ring);
    }
    return room;
}

/* One slice of the rings that are not hot. Thorough: each of them. */
static bool slice_look(gpurt_drain_t *d, uint32_t section, uint32_t end, bool thorough)
{
    const gpurt_group_t *groups = gpurt_boxmap_groups(d->map, section, 0);
    const uint32_t group_count = d->map->sections[section].ring_bytes / GPURT_GROUP_BYTES;
    const drain_section_t *own = &d->sections[section];

    for (; d->at_ring < end; d->at_ring++) {
        uint32_t ring = d->at_ring;

        if (!thorough && (ring_quiet(groups + (size_t)ring * group_count, group_count,
                                     own->positions[ring]) ||
                          own->cursors[ring].hot))
            continue;
        if (!ring_visit(d, section, ring))
            return false;
    }
    return true;
}

/* All rings once, from where the last look was interrupted. */
static bool rings_look(gpurt_drain_t *d)
{
    bool thorough = d->combing || d->final;

    for (; d->at_section < d->map->section_count; d->at_section++, d->at_ring = 0) {
        uint32_t rings = d->map->sections[d->at_section].ring_count;

        while (d->at_ring < rings) {
            uint32_t left = rings - d->at_ring;

            if (!slice_look(d, d->at_section, d->at_ring + (left < SLICE ? left : SLICE),
                            thorough))
                return false;
            if (!panics_all(d))
                return false;
        }
    }
    d->at_section = d->at_ring = 0;
    return true;
}

/* The rings that had something of late. One that has been quiet leaves. */
static bool hot_look(gpurt_drain_t *d)
{
    for (; d->at_hot < d->hot_count;) {
        uint32_t name = d->hot[d->at_hot];
        uint32_t section = drain_name_section(name), ring = drain_name_ring(name);
        drain_cursor_t *c = &d->sections[section].cursors[ring];

        if (!ring_visit(d, section, ring))
            return false;
        if (d->now_ns - c->busy_ns >= HOT_NS) {
            c->hot = false;
            d->hot[d->at_hot] = d->hot[--d->hot_count];
        } else {
            d->at_hot++;
        }
    }
    d->at_hot = 0;
    return true;
}

bool drain_look(gpurt_drain_t *d)
{
    if (!panics_all(d))
        return false;
    if (!d->looking &&
        (d->final || d->options.spin || d->now_ns - d->looked_ns >= LOOK_NS)) {
        d->looking = true;
        d->looked_ns = d->now_ns;
        d->combing = d->now_ns - d->combed_ns >= COMB_NS;
        if (d->combing)
            d->combed_ns = d->now_ns;
    }
    if (d->looking) {
        if (!rings_look(d))
            return false;
        d->looking = false;
        /* What comes from now on was written after this look began. */
        if (d->looked_ns > LIVE_NS && d->looked_ns - LIVE_NS > d->floor_ns)
            d->floor_ns = d->looked_ns - LIVE_NS;
    }
    return hot_look(d);
}
