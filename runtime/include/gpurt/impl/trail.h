/* SPDX-License-Identifier: Apache-2.0 */
/* trail.h - what a warp has noted for the case that it panics. context.h has the words for
 * users; this is where their notes lie, and how a panic reads them.
 *
 * One for each warp slot, in device memory, so that a note is a few stores and no kernel
 * carries it along. It belongs to the warp whose key it bears: what an earlier warp of the slot
 * left is nobody's. A warp's own lanes write and read it, with relaxed accesses.
 *
 * Hooks of the runtime's own parts (a scheduler, locks, channels), one lane a call:
 *   gpurt_trail_task(task, parent)          the warp works for a task now; 0: for none
 *   gpurt_trail_hold(kind, name, object)    it has taken a GPURT_HELD_* object
 *   gpurt_trail_release(object)             and given it back */
#ifndef GPURT_TRAIL_H
#define GPURT_TRAIL_H

#include <gpurt/block.h>
#include <gpurt/ids.h>
#include <gpurt/impl/logport.h>
#include <gpurt/warp.h>

/* Texts are addresses of constants. */
typedef struct gpurt_trail_context {
    uint64_t xname, xvalue, xtype; /* written by: a lane of the warp, as all below */
} gpurt_trail_context_t;

typedef struct gpurt_trail_window {
    uint64_t xname, xbase, xsize;
} gpurt_trail_window_t;

typedef struct gpurt_trail_held {
    uint64_t xkind, xname, xobject;
} gpurt_trail_held_t;

struct gpurt_trail {
    uint64_t xowner; /* key of the warp */
    uint64_t xtask, xparent;
    uint64_t xcontexts, xcontexts_left_out; /* counts */
    uint64_t xwindows, xheld, xheld_left_out;
    gpurt_trail_context_t contexts[GPURT_PANIC_CONTEXTS];
    gpurt_trail_window_t windows[GPURT_PANIC_WINDOWS];
    gpurt_trail_held_t held[GPURT_PANIC_HELD];
    /* of each lane: key of the warp, and how deep in its lowest byte; sites of the last ones */
    uint64_t xdepth[GPURT_WARP_SIZE];
    uint64_t xframes[GPURT_PANIC_FRAMES][GPURT_WARP_SIZE];
};

/* Where a frame begins. Owner: the program, one object a use of GPURT_FRAME. */
typedef struct gpurt_frame_site {
    const char *function, *file;
    uint32_t line;
} gpurt_frame_site_t;

/* relaxed: the notes of one warp, which orders its lanes by itself */
GPURT_DEV uint64_t gpurt_trail_load(const uint64_t *word)
{
    return gpurt_load_relaxed_blk_u64(word);
}
GPURT_DEV void gpurt_trail_store(uint64_t *word, uint64_t value)
{
    gpurt_store_relaxed_blk_u64(word, value);
}

/* Different for warps that share a slot one after the other. The lowest byte is 0. */
GPURT_DEV uint64_t gpurt_trail_key(void)
{
    uint64_t place = gpurt_block_rank() * 64ull + gpurt_warp() + 1;

    return (place * 0x9e3779b97f4a7c15ull + gpurt_launch_number() * 0xc2b2ae3d27d4eb4full)
           << 8;
}

/* The warp's; NULL where there is none. */
GPURT_DEV gpurt_trail_t *gpurt_trail_of_warp(void)
{
    uint32_t ring = gpurt_log_ring_at(gpurt_sm(), gpurt_warp_slot());

    if (!gpurt_log_port.trails || ring >= gpurt_log_port.ring_count)
        return NULL;
    return gpurt_log_port.trails + ring;
}

/* Empties what another warp has left. */
GPURT_DEV void gpurt_trail_own(gpurt_trail_t *t)
{
    uint64_t key = gpurt_trail_key();

    if (gpurt_trail_load(&t->xowner) == key)
        return;
    gpurt_trail_store(&t->xtask, 0);
    gpurt_trail_store(&t->xparent, 0);
    gpurt_trail_store(&t->xcontexts, 0);
    gpurt_trail_store(&t->xcontexts_left_out, 0);
    gpurt_trail_store(&t->xwindows, 0);
    gpurt_trail_store(&t->xheld, 0);
    gpurt_trail_store(&t->xheld_left_out, 0);
    gpurt_trail_store(&t->xowner, key);
}

/* The same text may have an address in each file. */
GPURT_DEV bool gpurt_trail_same(uint64_t a, const char *b)
{
    const char *text = (const char *)(uintptr_t)a;

    if (text == b)
        return true;
    GPURT_ROLLED
    while (*text && *text == *b) {
        text++;
        b++;
    }
    return *text == *b;
}

/* ---- notes, by one lane ---------------------------------------------------------------- */

/* The note of that name; count when there is none. */
GPURT_DEV uint64_t gpurt_trail_find(gpurt_trail_t *t, uint64_t count, const char *name)
{
    uint64_t i = 0;

    GPURT_ROLLED
    while (i < count && !gpurt_trail_same(gpurt_trail_load(&t->contexts[i].xname), name))
        i++;
    return i;
}

GPURT_DEVN void gpurt_trail_note(const char *name, uint32_t type, uint64_t value)
{
    gpurt_trail_t *t = gpurt_trail_of_warp();
    uint64_t count, i;

    if (!t)
        return;
    gpurt_trail_own(t);
    count = gpurt_trail_load(&t->xcontexts);
    i = gpurt_trail_find(t, count, name);
    if (i == GPURT_PANIC_CONTEXTS) {
        gpurt_trail_store(&t->xcontexts_left_out,
                          gpurt_trail_load(&t->xcontexts_left_out) + 1);
        return;
    }
    gpurt_trail_store(&t->contexts[i].xname, (uint64_t)(uintptr_t)name);
    gpurt_trail_store(&t->contexts[i].xvalue, value);
    gpurt_trail_store(&t->contexts[i].xtype, type);
    if (i == count)
        gpurt_trail_store(&t->xcontexts, count + 1);
}

/* Takes the last one's place. */
GPURT_DEVN void gpurt_trail_forget(const char *name)
{
    gpurt_trail_t *t = gpurt_trail_of_warp();
    uint64_t count, i;

    if (!t)
        return;
    gpurt_trail_own(t);
    count = gpurt_trail_load(&t->xcontexts);
    i = gpurt_trail_find(t, count, name);
    if (i == count)
        return;
    GPURT_ROLLED
    for (; i + 1 < count; i++) {
        gpurt_trail_context_t *to = &t->contexts[i], *from = to + 1;

        gpurt_trail_store(&to->xname, gpurt_trail_load(&from->xname));
        gpurt_trail_store(&to->xvalue, gpurt_trail_load(&from->xvalue));
        gpurt_trail_store(&to->xtype, gpurt_trail_load(&from->xtype));
    }
    gpurt_trail_store(&t->xcontexts, count - 1);
}

/* bytes 0: no more. The fifth takes the place of the first. */
GPURT_DEVN void gpurt_trail_look(const char *name, const void *base, uint64_t bytes)
{
    gpurt_trail_t *t = gpurt_trail_of_warp();
    uint64_t count, i = 0;

    if (!t)
        return;
    gpurt_trail_own(t);
    count = gpurt_trail_load(&t->xwindows);
    GPURT_ROLLED
    while (i < count && i < GPURT_PANIC_WINDOWS &&
           !gpurt_trail_same(gpurt_trail_load(&t->windows[i].xname), name))
        i++;
    if (i == count || i == GPURT_PANIC_WINDOWS) {
        if (bytes == 0)
            return;
        i = count % GPURT_PANIC_WINDOWS;
        gpurt_trail_store(&t->xwindows, count + 1);
    }
    gpurt_trail_store(&t->windows[i].xsize, 0);
    gpurt_trail_store(&t->windows[i].xname, (uint64_t)(uintptr_t)name);
    gpurt_trail_store(&t->windows[i].xbase, (uint64_t)(uintptr_t)base);
    gpurt_trail_store(&t->windows[i].xsize, bytes);
}

GPURT_DEVN void gpurt_trail_task(uint64_t task, uint64_t parent)
{
    gpurt_trail_t *t = gpurt_trail_of_warp();

    if (!t)
        return;
    gpurt_trail_own(t);
    gpurt_trail_store(&t->xtask, task);
    gpurt_trail_store(&t->xparent, parent);
}

GPURT_DEVN void gpurt_trail_hold(uint32_t kind, const char *name, const void *object)
{
    gpurt_trail_t *t = gpurt_trail_of_warp();
    uint64_t count;

    if (!t)
        return;
    gpurt_trail_own(t);
    count = gpurt_trail_load(&t->xheld);
    if (count == GPURT_PANIC_HELD) {
        gpurt_trail_store(&t->xheld_left_out, gpurt_trail_load(&t->xheld_left_out) + 1);
        return;
    }
    gpurt_trail_store(&t->held[count].xkind, kind);
    gpurt_trail_store(&t->held[count].xname, (uint64_t)(uintptr_t)name);
    gpurt_trail_store(&t->held[count].xobject, (uint64_t)(uintptr_t)object);
    gpurt_trail_store(&t->xheld, count + 1);
}

GPURT_DEVN void gpurt_trail_release(const void *object)
{
    gpurt_trail_t *t = gpurt_trail_of_warp();
    uint64_t count, i, left_out;

    if (!t)
        return;
    gpurt_trail_own(t);
    count = i = gpurt_trail_load(&t->xheld);
    GPURT_ROLLED
    while (i > 0 &&
           gpurt_trail_load(&t->held[i - 1].xobject) != (uint64_t)(uintptr_t)object)
        i--;
    left_out = gpurt_trail_load(&t->xheld_left_out);
    if (i == 0) { /* one that found no room */
        gpurt_trail_store(&t->xheld_left_out, left_out ? left_out - 1 : 0);
        return;
    }
    GPURT_ROLLED
    for (; i < count; i++) {
        gpurt_trail_held_t *to = &t->held[i - 1], *from = to + 1;

        gpurt_trail_store(&to->xkind, gpurt_trail_load(&from->xkind));
        gpurt_trail_store(&to->xname, gpurt_trail_load(&from->xname));
        gpurt_trail_store(&to->xobject, gpurt_trail_load(&from->xobject));
    }
    gpurt_trail_store(&t->xheld, count - 1);
}

/* ---- frames, by each lane -------------------------------------------------------------- */

/* What gpurt_frame_leave puts back. */
typedef struct gpurt_frame_mark {
    uint64_t *word; /* NULL: nowhere */
    uint64_t before;
} gpurt_frame_mark_t;

GPURT_DEVN gpurt_frame_mark_t gpurt_frame_enter(const gpurt_frame_site_t *site)
{
    gpurt_trail_t *t = gpurt_trail_of_warp();
    gpurt_frame_mark_t mark = {NULL, 0};
    uint64_t key = gpurt_trail_key(), depth;
    uint32_t lane = gpurt_lane();

    if (!t)
        return mark;
    depth = gpurt_trail_load(&t->xdepth[lane]);
    if ((depth & ~0xffull) != key)
        depth = key;
    mark.word = &t->xdepth[lane];
    mark.before = depth;
    if ((depth & 0xff) == 0xff) /* deeper is not counted */
        return mark;
    gpurt_trail_store(&t->xframes[(depth & 0xff) % GPURT_PANIC_FRAMES][lane],
                      (uint64_t)(uintptr_t)site);
    gpurt_trail_store(mark.word, depth + 1);
    return mark;
}

GPURT_DEV void gpurt_frame_leave(gpurt_frame_mark_t *mark)
{
    if (mark->word)
        gpurt_trail_store(mark->word, mark->before);
}

/* ---- into a panic's slot, by its leader ------------------------------------------------ */

/* The warp's own notes; NULL where there are none. */
GPURT_DEV const gpurt_trail_t *gpurt_trail_notes(void)
{
    const gpurt_trail_t *t = gpurt_trail_of_warp();

    return t && gpurt_trail_load(&t->xowner) == gpurt_trail_key() ? t : NULL;
}

/* Whether the warp has named memory. */
GPURT_DEV bool gpurt_trail_windows(void)
{
    const gpurt_trail_t *t = gpurt_trail_notes();

    return t && gpurt_trail_load(&t->xwindows) != 0;
}

GPURT_DEVN void gpurt_trail_tell_contexts(gpurt_panic_t *p)
{
    const gpurt_trail_t *t = gpurt_trail_notes();
    uint32_t count = t ? (uint32_t)gpurt_trail_load(&t->xcontexts) : 0;

    p->context_count = count;
    if (t)
        p->contexts_left_out = (uint32_t)gpurt_trail_load(&t->xcontexts_left_out);
    GPURT_ROLLED
    while (count-- > 0) {
        p->contexts[count].type = (uint32_t)gpurt_trail_load(&t->contexts[count].xtype);
        p->contexts[count].value = gpurt_trail_load(&t->contexts[count].xvalue);
    }
}

/* The site of a frame, 0 the innermost; NULL: not so many. */
GPURT_DEV const gpurt_frame_site_t *gpurt_trail_frame(uint32_t index)
{
    const gpurt_trail_t *t = gpurt_trail_of_warp();
    uint64_t word = t ? gpurt_trail_load(&t->xdepth[gpurt_lane()]) : 0;
    uint32_t depth = (uint32_t)word & 0xffu;

    if (!t || (word & ~0xffull) != gpurt_trail_key() || index >= depth ||
        index >= GPURT_PANIC_FRAMES)
        return NULL;
    return (const gpurt_frame_site_t *)(uintptr_t)gpurt_trail_load(
        &t->xframes[(depth - 1 - index) % GPURT_PANIC_FRAMES][gpurt_lane()]);
}

GPURT_DEVN void gpurt_trail_tell_frames(gpurt_panic_t *p)
{
    const gpurt_trail_t *t = gpurt_trail_of_warp();
    const gpurt_frame_site_t *site;
    uint32_t count = 0;

    GPURT_ROLLED
    while ((site = gpurt_trail_frame(count)) != NULL)
        p->frames[count++].line = site->line;
    p->frame_count = count;
    if (count == GPURT_PANIC_FRAMES)
        p->frames_left_out =
            ((uint32_t)gpurt_trail_load(&t->xdepth[gpurt_lane()]) & 0xffu) - count;
}

GPURT_DEVN void gpurt_trail_tell_held(gpurt_panic_t *p)
{
    const gpurt_trail_t *t = gpurt_trail_notes();
    uint32_t count;

    if (!t)
        return;
    count = (uint32_t)gpurt_trail_load(&t->xheld);
    p->task = gpurt_trail_load(&t->xtask);
    p->parent_task = gpurt_trail_load(&t->xparent);
    p->held_left_out = (uint32_t)gpurt_trail_load(&t->xheld_left_out);
    p->held_count = count;
    GPURT_ROLLED
    while (count-- > 0) {
        p->held[count].kind = (uint32_t)gpurt_trail_load(&t->held[count].xkind);
        p->held[count].object = gpurt_trail_load(&t->held[count].xobject);
    }
}

/* ---- texts of a slot, by number -------------------------------------------------------- */

/* Rows of eight: names of contexts, their values, functions and files of frames, names of what
 * is held, names of windows. */
enum {
    GPURT_TRAIL_NAMES,
    GPURT_TRAIL_VALUES,
    GPURT_TRAIL_FUNCTIONS,
    GPURT_TRAIL_FILES,
    GPURT_TRAIL_HELD,
    GPURT_TRAIL_WINDOWS,
    GPURT_TRAIL_ROWS
};

/* A window of the slot bears the name of what was named there. */
GPURT_DEV uint64_t gpurt_trail_window_name(const gpurt_trail_t *t, uint64_t base)
{
    GPURT_ROLLED
    for (uint32_t i = 0; i < GPURT_PANIC_WINDOWS; i++)
        if (i < gpurt_trail_load(&t->xwindows) &&
            gpurt_trail_load(&t->windows[i].xbase) == base)
            return gpurt_trail_load(&t->windows[i].xname);
    return 0;
}

/* Returns: the text's address, 0 none; *to: where its number belongs. Notes are asked, not the slot:
 * that lies behind the bus, on a GPU a microsecond away. */
GPURT_DEVN uint64_t gpurt_trail_text(gpurt_panic_t *p, uint32_t row, uint32_t i,
                                     uint32_t **to)
{
    const gpurt_trail_t *t = gpurt_trail_notes();
    const gpurt_frame_site_t *site;

    if (row == GPURT_TRAIL_FUNCTIONS || row == GPURT_TRAIL_FILES) {
        site = gpurt_trail_frame(i);
        *to = row == GPURT_TRAIL_FILES ? &p->frames[i].file : &p->frames[i].function;
        return site ? (uint64_t)(uintptr_t)(row == GPURT_TRAIL_FILES ? site->file
                                                                     : site->function)
                    : 0;
    }
    if (!t)
        return 0;
    if (row == GPURT_TRAIL_HELD) {
        *to = &p->held[i].name;
        return i < gpurt_trail_load(&t->xheld) ? gpurt_trail_load(&t->held[i].xname) : 0;
    }
    if (row == GPURT_TRAIL_WINDOWS) {
        *to = &p->windows[i % GPURT_PANIC_WINDOWS].name;
        return i < p->window_count ? gpurt_trail_window_name(t, p->windows[i].base) : 0;
    }
    if (i >= gpurt_trail_load(&t->xcontexts))
        return 0;
    *to = row == GPURT_TRAIL_NAMES ? &p->contexts[i].name
                                   : (uint32_t *)(void *)&p->contexts[i].value;
    if (row == GPURT_TRAIL_NAMES)
        return gpurt_trail_load(&t->contexts[i].xname);
    return gpurt_trail_load(&t->contexts[i].xtype) == GPURT_TYPE_STRING
               ? gpurt_trail_load(&t->contexts[i].xvalue)
               : 0;
}

#endif
