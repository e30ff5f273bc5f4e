/* SPDX-License-Identifier: Apache-2.0 */
/* alloctell.h - what a heap tells the log: what it found wrong, and in trace mode every call.
 *
 * Its records name the place in the program that asked for memory or freed it, as if that
 * line had logged them. Such a place is defined in the box when it is first told of.
 * Context: device code, any lanes. For allocrecord.h and alloccheck.h only. */
#ifndef GPURT_ALLOCTELL_H
#define GPURT_ALLOCTELL_H

#include <gpurt/impl/alloc/allocrow.h>
#include <gpurt/impl/alloc/allocwatch.h>
#include <gpurt/log.h>

/* A place as a site of the log. here: "file:line". Returns: its number; 0: no room. */
GPURT_DEVN uint32_t gpurt_tell_define(const gpurt_alloc_form_t *form, const char *here)
{
    uint32_t format = 0, file = 0, colon = 0, line = 0, number;
    gpurt_def_t *def;

    while (form->format[format])
        format++;
    for (uint32_t i = 0; here[i]; i++)
        colon = here[i] == ':' ? i : colon;
    for (uint32_t i = colon + 1; here[i]; i++)
        line = line * 10 + (uint32_t)(here[i] - '0');
    file = colon < 1024 ? colon : 1024;
    number = gpurt_log_take_def(format + file, &def);
    if (number == 0)
        return 0;
    def->level = form->level;
    def->arg_count = form->args;
    def->line = line;
    def->kind = form->kind;
    def->flags = 0;
    def->types = form->types;
    def->gate = 0; /* at any level */
    def->format_bytes = (uint16_t)format;
    def->file_bytes = (uint16_t)file;
    def->module_bytes = 0;
    gpurt_log_copy(gpurt_def_text(def), form->format, format);
    gpurt_log_copy(gpurt_def_text(def) + format, here + colon - file, file);
    gpurt_store_release_sys_u32(&def->xstate, GPURT_DEF_SITE); /* B3.rel */
    return number;
}

/* The number that a place has for records of a form. */
GPURT_DEVN uint32_t gpurt_tell_number(gpurt_alloc_site_t *site, uint32_t form)
{
    uint32_t *def = &site->xdefs[form], number = gpurt_load_relaxed_dev_u32(def);

    /* relaxed: the number is all there is to know; the drainer waits for the definition */
    if (number == 0 && gpurt_cas_relaxed_far_u32(def, &number, GPURT_GATE_CLAIMED)) {
        number = gpurt_tell_define(
            &gpurt_alloc_forms[form],
            (const char *)(uintptr_t)gpurt_load_relaxed_dev_u64(&site->xkey));
        number = number ? number : GPURT_GATE_OFF;
        gpurt_store_relaxed_dev_u32(def, number);
    }
    while (number == GPURT_GATE_CLAIMED) { /* one trip to memory of another lane */
        gpurt_pause();
        number = gpurt_load_relaxed_dev_u32(def);
    }
    return number & GPURT_GATE_NUMBER;
}

/* The lane of a mask that `rank` others lie below. */
GPURT_DEV uint32_t gpurt_tell_lane(uint32_t mask, uint32_t rank)
{
    for (; rank && mask; rank--)
        mask &= mask - 1;
    return mask ? gpurt_ctz(mask) : 0;
}

/* One record of the lanes of a mask, each with `count` words of its own. Context: those lanes
 * together, with the same number and form. Returns: whether there was room. */
GPURT_DEVN bool gpurt_tell_put(uint32_t mask, uint32_t number, uint32_t kind,
                               const uint32_t *words, uint32_t count)
{
    uint32_t lanes = gpurt_popc(mask), rank = gpurt_popc(mask & gpurt_lanes_below());
    uint32_t first = GPURT_RECORD_HEAD_WORDS + 1, total = count * lanes, position;
    uint32_t groups = gpurt_record_groups(total + 1);
    uint32_t what = gpurt_record_what(number, kind, GPURT_FORM_LANES_PART, gpurt_warp());
    uint64_t time_ns = gpurt_globaltimer();
    gpurt_log_aim_t aim = gpurt_log_aim();

    if (!gpurt_log_room_far(aim.head, mask, groups, lanes, &position))
        return false;
    for (uint32_t begin = 0; begin < groups; begin += lanes) {
        uint32_t g = begin + rank, v[GPURT_GROUP_WORDS];

        gpurt_log_head(g, what, aim.block, 0, time_ns, v);
        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++) {
            uint32_t i = g * GPURT_GROUP_WORDS + t, k = i - first;
            uint32_t column = i < first ? count : k / lanes;
            uint32_t from = gpurt_tell_lane(mask, i < first ? 0 : k % lanes);

            v[t] = i == first - 1 ? mask : v[t];
            for (uint32_t j = 0; j < count; j++) {
                uint32_t other = gpurt_shfl_u32(mask, words[j], from);

                v[t] = column == j ? other : v[t];
            }
        }
        if (g < groups)
            gpurt_log_store(&aim, position, g, groups, v);
    }
    gpurt_syncwarp(mask);
    return true;
}

/* There is no room for the place's definition: the log says how many messages that cost. */
GPURT_DEVN void gpurt_tell_lose(uint32_t mask)
{
    if (gpurt_is_leader(mask))
        gpurt_log_lose(gpurt_log_head_here(), gpurt_popc(mask), GPURT_LOSS_SITES);
}

/* The lanes that call together, each its own words and place: a record a place.
 * A call that is not told is counted. */
GPURT_DEVN void gpurt_tell(gpurt_heap_watch_t *w, uint32_t site, uint32_t form,
                           const uint32_t *words, uint32_t count)
{
    uint32_t all = gpurt_activemask();
    uint32_t mask = gpurt_match_any_u32(all, site << 8 | form), number = 0;

    if (!gpurt_log_port.groups)
        return;
    if (gpurt_is_leader(mask))
        number = gpurt_tell_number(&w->sites[site], form);
    number = gpurt_shfl_u32(mask, number, gpurt_leader(mask));
    if (number == 0)
        gpurt_tell_lose(mask);
    if (number == 0 ||
        !gpurt_tell_put(mask, number, gpurt_alloc_forms[form].kind, words, count)) {
        if (gpurt_is_leader(mask)) /* relaxed: a statistic */
            gpurt_red_add_relaxed_dev_u64(&w->xuntold, gpurt_popc(mask));
    }
}

GPURT_DEV void gpurt_tell_pair(uint32_t *words, uint64_t value)
{
    words[0] = (uint32_t)value;
    words[1] = (uint32_t)(value >> 32);
}

/* A place as an argument of a record. */
GPURT_DEV uint32_t gpurt_tell_string(const gpurt_heap_watch_t *w, uint32_t site)
{
    /* relaxed: a number that reached us with the record of an object */
    return gpurt_log_string(
        (const char *)(uintptr_t)gpurt_load_relaxed_dev_u64(&w->sites[site].xkey));
}

/* What was found wrong, as the row that the host keeps too. place: the line that the record
 * names. Without a record of the object nothing is known but the pointer. */
GPURT_DEVN void gpurt_tell_found(gpurt_heap_watch_t *w, const gpurt_heap_found_t *f,
                                 uint32_t place)
{
    uint32_t words[GPURT_ALLOC_FOUND_WORDS];

    if (!gpurt_log_port.groups)
        return;
    words[0] = w->id;
    gpurt_tell_pair(words + 1, f->object);
    gpurt_tell_pair(words + 3, f->size);
    words[5] = gpurt_tell_string(w, f->site);
    words[6] = f->block;
    words[7] = f->thread;
    words[8] = gpurt_tell_string(w, f->free_site);
    words[9] = f->free_block;
    words[10] = f->free_thread;
    gpurt_tell_pair(words + 11, (uint64_t)f->at);
    if (f->size)
        gpurt_tell(w, place, f->what, words, GPURT_ALLOC_FOUND_WORDS);
    else
        gpurt_tell(w, place, GPURT_WRONG_FOREIGN, words, GPURT_ALLOC_ALIEN_WORDS);
}

#endif
