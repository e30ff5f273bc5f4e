/* SPDX-License-Identifier: Apache-2.0 */
/* Where a round looks.
 *
 * A GPU has a ring for each warp that can be resident, thousands of them, of which often
 * few are in use. Those that had something of late are hot and are read in each round; at
 * all others one word is looked at, a few times in a millisecond; and now and then each
 * ring is combed, for what shows elsewhere: messages dropped, records left unfinished.
 *
 * A ring that holds more than one visit takes is in flood. Its rows wait for those before
 * them, and for a store that is slower than thousands of warps: what else comes must not wait
 * behind it. So a round visits all others first, of these only some, in turn, and they fill a
 * batch less far. Panics are looked for between any two stretches of a few microseconds, and
 * one that is found ends the round, because someone waits for it. */
#include "drainpart.h"

#define LOOK_NS 200000ull
#define COMB_NS 250000000ull
#define HOT_NS  2000000ull
#define LIVE_NS ((GPURT_TIME_MASK + 1) / 2)
enum {
    SLICE = 256, /* rings between two looks for panics: a few microseconds */
    /* Rows of a round, of either kind of rings: what a row waits for its sinks. */
    CALM_ROWS = 4096,
    FLOOD_ROWS = 1024,
    FLOOD_VISITS = 32 /* of a round, where few rings are in flood: they fill its rows */
};

/* ---- panics -------------------------------------------------------------------------- */

static void panic_taken(gpurt_drain_t *d, uint32_t section, uint32_t slot)
{
    d->sections[section].slots[slot] = true;
    d->sections[section].taken++;
    d->batch->panics[d->batch->panic_count++] = drain_ring_name(section, slot);
    d->urgent = true;
    d->alarm = !d->final; /* at the end nobody waits, and what is left comes by time */
}

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
    d->urgent = true;
    return true;
}

/* The count is the first that anybody sees of a panic: on a GPU its record is whole some
 * microseconds later, or, beside warps that leave it no time, much later. */
static void sinks_alarm(gpurt_drain_t *d, uint32_t section, uint32_t raised)
{
    drain_section_t *own = &d->sections[section];
    uint32_t slots = d->map->sections[section].panic_count;
    uint32_t counted = raised < slots ? raised : slots;
    uint32_t coming = counted > own->taken ? counted - own->taken : 0;

    if (coming == own->coming)
        return;
    own->coming = coming;
    for (uint32_t i = 0; i < d->options.sink_count; i++)
        if (d->options.sinks[i].alarm)
            d->options.sinks[i].alarm(d->options.sinks[i].context, section, coming);
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

    sinks_alarm(d, section, raised);
    for (uint32_t i = own->next_panic; i < end && i < count; i++) {
        gpurt_panic_t copy;

        if (!own->slots[i]) {
            if (!slot_ready(d, section, i, &copy))
                continue;
            if (!drain_panic(d, section, &copy))
                return false;
            panic_taken(d, section, i);
            sinks_alarm(d, section, raised);
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
        if (own->slots[i])
            continue;
        if (!drain_loss(d, section, DRAIN_NO_RING, GPURT_LOSS_PANIC, 1, d->now_ns))
            return false;
        panic_taken(d, section, i);
        d->sum.torn++;
    }
    sinks_alarm(d, section, raised);
    return true;
}

bool drain_panics(gpurt_drain_t *d)
{
    const uint32_t rows = d->room_rows, bytes = d->room_bytes;
    bool room = true;

    drain_room(d, ROOM_PANIC);
    for (uint32_t i = 0; room && i < d->map->section_count; i++)
        room = panics_take(d, i) && (!d->over || panics_close(d, i));
    d->room_rows = rows;
    d->room_bytes = bytes;
    return room;
}

/* ---- rings --------------------------------------------------------------------------- */

static void list_add(gpurt_drain_t *d, uint8_t which, uint32_t name)
{
    drain_list_t *to = which == RING_HOT ? &d->hot : &d->flood;

    to->names[to->count++] = name;
    d->sections[drain_name_section(name)].cursors[drain_name_ring(name)].list = which;
}

/* The place is taken by the last one. */
static void list_drop(gpurt_drain_t *d, drain_list_t *list, uint32_t at)
{
    uint32_t name = list->names[at];

    list->names[at] = list->names[--list->count];
    d->sections[drain_name_section(name)].cursors[drain_name_ring(name)].list = RING_IDLE;
}

static bool ring_visit(gpurt_drain_t *d, uint32_t section, uint32_t ring)
{
    drain_cursor_t *c = &d->sections[section].cursors[ring];
    uint32_t before = d->sections[section].positions[ring];
    bool room = drain_ring(d, section, ring);

    if (d->sections[section].positions[ring] != before || c->wait_since)
        c->busy_ns = d->now_ns;
    return room;
}

/* Whether this stage has had its share of the round. At the end there are no shares. */
static bool stage_over(const gpurt_drain_t *d)
{
    return d->alarm || d->batch->count >= d->rows_end;
}

static void stage_begin(gpurt_drain_t *d, drain_room_t kept, uint32_t rows)
{
    drain_room(d, kept);
    d->rows_end = d->final ? UINT32_MAX : d->batch->count + rows;
}

/* One slice of the rings that are on no list. Thorough: each of them. */
static bool slice_look(gpurt_drain_t *d, uint32_t section, uint32_t end, bool thorough)
{
    const gpurt_group_t *groups = gpurt_boxmap_groups(d->map, section, 0);
    const uint32_t group_count = d->map->sections[section].ring_bytes / GPURT_GROUP_BYTES;
    const drain_section_t *own = &d->sections[section];

    for (; d->at_ring < end && !stage_over(d); d->at_ring++) {
        uint32_t ring = d->at_ring;
        const drain_cursor_t *c = &own->cursors[ring];

        if (!thorough && drain_ring_quiet(groups + (size_t)ring * group_count, group_count,
                                          own->positions[ring]))
            continue;
        if (c->list != RING_IDLE)
            continue;
        if (!ring_visit(d, section, ring))
            return false;
        if (c->busy_ns == d->now_ns)
            list_add(d, c->more ? RING_FLOOD : RING_HOT, drain_ring_name(section, ring));
    }
    return true;
}

/* What comes from now on was written after this look began. */
static void look_done(gpurt_drain_t *d)
{
    d->looking = false;
    d->at_section = d->at_ring = 0;
    if (d->looked_ns > LIVE_NS && d->looked_ns - LIVE_NS > d->floor_ns)
        d->floor_ns = d->looked_ns - LIVE_NS;
}

/* All rings once, from where the last look was broken off. */
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
            if (!drain_panics(d))
                return false;
            if (stage_over(d))
                return true;
        }
    }
    look_done(d);
    return true;
}

/* The rings that had something of late. One that has been quiet leaves, and one that has more
 * than a visit takes. */
static bool hot_look(gpurt_drain_t *d)
{
    drain_list_t *hot = &d->hot;

    while (hot->at < hot->count && !stage_over(d)) {
        uint32_t name = hot->names[hot->at];
        uint32_t section = drain_name_section(name), ring = drain_name_ring(name);
        const drain_cursor_t *c = &d->sections[section].cursors[ring];

        if (!ring_visit(d, section, ring) || !drain_panics(d))
            return false;
        if (c->more && !d->alarm) {
            list_drop(d, hot, hot->at);
            list_add(d, RING_FLOOD, name);
        } else if (d->now_ns - c->busy_ns >= HOT_NS) {
            list_drop(d, hot, hot->at);
        } else {
            hot->at++;
        }
    }
    if (hot->at >= hot->count)
        hot->at = 0;
    return true;
}

/* Some of the rings that hold more than a visit takes, from where the last round stopped; a few
 * rings several times, because a round costs as much as many rows. */
static bool flood_look(gpurt_drain_t *d)
{
    drain_list_t *flood = &d->flood;
    uint32_t once = flood->count; /* visits until each had one */
    uint32_t visits = once > FLOOD_VISITS ? once : FLOOD_VISITS;

    for (; flood->count && visits && !stage_over(d); visits--) {
        uint32_t name, section, ring;

        if (flood->at >= flood->count)
            flood->at = 0;
        name = flood->names[flood->at];
        section = drain_name_section(name);
        ring = drain_name_ring(name);
        if (!ring_visit(d, section, ring) || !drain_panics(d))
            return false;
        if (d->sections[section].cursors[ring].more) {
            flood->at++;
        } else {
            list_drop(d, flood, flood->at);
            list_add(d, RING_HOT, name);
        }
        if (once && --once == 0)
            d->cut = false;
    }
    return true;
}

static bool sinks_ready(const gpurt_drain_t *d)
{
    for (uint32_t i = 0; i < d->options.sink_count; i++)
        if (d->options.sinks[i].ready &&
            !d->options.sinks[i].ready(d->options.sinks[i].context))
            return false;
    return true;
}

static void look_begin(gpurt_drain_t *d)
{
    d->alarm = false;
    if (d->looking || (!d->final && !d->options.spin && d->now_ns - d->looked_ns < LOOK_NS))
        return;
    d->looking = true;
    d->looked_ns = d->now_ns;
    d->combing = d->now_ns - d->combed_ns >= COMB_NS;
    if (d->combing)
        d->combed_ns = d->now_ns;
}

bool drain_look(gpurt_drain_t *d)
{
    look_begin(d);
    d->cut = true;
    if (!drain_panics(d))
        return false;
    if (drain_shelf_left(d)) {
        drain_room(d, ROOM_CALM);
        return drain_shelf_look(d);
    }
    stage_begin(d, ROOM_CALM, CALM_ROWS);
    if (d->looking && !rings_look(d))
        return false;
    stage_begin(d, ROOM_CALM, CALM_ROWS);
    if (!hot_look(d))
        return false;
    d->held = !d->final && !sinks_ready(d);
    if (d->full || d->held)
        return true;
    d->cut = d->flood.count > 0;
    stage_begin(d, ROOM_FLOOD, FLOOD_ROWS);
    return flood_look(d);
}
