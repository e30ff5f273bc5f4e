/* SPDX-License-Identifier: Apache-2.0 */
#include "object_kernels.h"

#include "../../kernels/gcsteps.h"

#include <gpurt/device.h>
#include <gpurt/object.h>

GPURT_DEV uint32_t object_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

GPURT_DEV uint32_t object_seed(const struct object_args *p)
{
    uint32_t state = gpurt_global_id() * 747796405u + p->seed * 2891336453u + 1;

    state = (state >> 15 ^ state) * 2246822519u;
    return state ? state : 1;
}

GPURT_DEV void object_count(uint32_t *word)
{
    gpurt_red_add_relaxed_dev_u32(word, 1); /* relaxed: the host looks */
}

GPURT_DEV uint64_t object_check_of(uint64_t serial)
{
    return serial * 0x9e3779b97f4a7c15ull + 1;
}

/* ---- objects ------------------------------------------------------------------------- */

GPURT_DEVN gpurt_object_t object_make(const struct object_args *p, gpurt_section_t in,
                                      uint32_t type, uint32_t bytes)
{
    uint32_t answer, at = type == OBJECT_NODE ? OBJECT_NODE_SERIAL : OBJECT_ARRAY_SERIAL;
    gpurt_object_t o = gpurt_object_alloc(&p->gc, in, type, bytes, &answer);
    uint64_t *words = (uint64_t *)gpurt_object_get(&p->gc, o), serial;

    if (!words) {
        object_count(answer == GPURT_GC_OK ? &p->verdict->xgone : &p->verdict->xnull);
        return 0;
    }
    serial = gpurt_add_relaxed_dev_u64(&p->verdict->xserial, 1);
    words[at] = serial;
    words[at + 1] = object_check_of(serial);
    for (uint32_t i = 4; type == OBJECT_NODE && i < bytes / 8; i++)
        words[i] = object_check_of(serial + i);
    return o;
}

/* An object that a section got to: it must be there, with all its words. */
GPURT_DEVN void object_look(const struct object_args *p, gpurt_object_t o)
{
    const uint64_t *words = (const uint64_t *)gpurt_object_get(&p->gc, o);
    uint64_t wrong;

    object_count(&p->verdict->xsteps);
    if (!words) {
        object_count(&p->verdict->xgone);
        return;
    }
    if (gpurt_load_relaxed_dev_u32(&p->gc.entries[(uint32_t)o].xmeta) >> 16 ==
        OBJECT_NODE) {
        uint32_t count = gpurt_object_size(&p->gc, o) / 8;

        wrong = words[3] ^ object_check_of(words[2]);
        for (uint32_t i = 4; i < count; i++)
            wrong |= words[i] ^ object_check_of(words[2] + i);
    } else {
        wrong = words[1] ^ object_check_of(words[0]);
    }
    if (wrong)
        object_count(&p->verdict->xwrong);
}

/* Some word of an object that is a handle. */
GPURT_DEV uint32_t object_word(const struct object_args *p, gpurt_object_t o,
                               uint32_t *state)
{
    uint32_t words = gpurt_object_size(&p->gc, o) / 8;

    if (gpurt_load_relaxed_dev_u32(&p->gc.entries[(uint32_t)o].xmeta) >> 16 == OBJECT_NODE)
        return object_random(state) % 2;
    return words > 2 ? 2 + object_random(state) % (words - 2) : 0;
}

/* Some object that can be reached; 0 when a way ended at once. */
GPURT_DEVN gpurt_object_t object_walk(const struct object_args *p, uint32_t *state)
{
    gpurt_object_t o = gpurt_gc_root_read(&p->gc, object_random(state) % p->gc.root_count);

    for (uint32_t steps = object_random(state) % 6; o; steps--) {
        gpurt_object_t next;

        object_look(p, o);
        if (!steps)
            break;
        next = gpurt_gc_read(&p->gc, o, object_word(p, o, state));
        if (!next)
            break;
        o = next;
    }
    return o;
}

GPURT_DEV void object_dawdle(const struct object_args *p, uint32_t *state)
{
    for (uint32_t turns = object_random(state) % (p->dawdle + 1); turns; turns--)
        gpurt_relax();
}

GPURT_DEV void object_put(const struct object_args *p, gpurt_section_t in, gpurt_object_t o,
                          uint32_t *state, gpurt_object_t value)
{
    if (gpurt_gc_write(&p->gc, in, o, object_word(p, o, state), value) != GPURT_GC_OK)
        object_count(&p->verdict->xanswers);
}

/* Takes an object out of where it is, holds on to it for a while, and puts it elsewhere:
 * what a collector must not lose. */
GPURT_DEVN void object_carry(const struct object_args *p, gpurt_section_t in,
                             uint32_t *state)
{
    gpurt_object_t from = object_walk(p, state), to, held;
    uint32_t word;

    if (!from)
        return;
    word = object_word(p, from, state);
    held = gpurt_gc_read(&p->gc, from, word);
    if (!held)
        return;
    if (gpurt_gc_write(&p->gc, in, from, word, 0) != GPURT_GC_OK)
        object_count(&p->verdict->xanswers);
    object_dawdle(p, state);
    object_look(p, held);
    to = object_walk(p, state);
    if (to)
        object_put(p, in, to, state, held);
}

/* Something new, in front of what a root names. */
GPURT_DEVN void object_grow(const struct object_args *p, gpurt_section_t in,
                            uint32_t *state)
{
    uint32_t root = object_random(state) % p->gc.root_count;
    uint32_t type = object_random(state) % 4 ? OBJECT_NODE : OBJECT_ARRAY;
    uint32_t bytes = 40 + object_random(state) % (p->bytes + 1);
    gpurt_object_t o = object_make(p, in, type, bytes);

    if (!o)
        return;
    object_dawdle(p, state);
    object_put(p, in, o, state, gpurt_gc_root_read(&p->gc, root));
    object_look(p, o);
    if (gpurt_gc_root_write(&p->gc, in, root, o) != GPURT_GC_OK)
        object_count(&p->verdict->xanswers);
}

GPURT_DEVN void object_change(const struct object_args *p, gpurt_section_t in,
                              uint32_t *state)
{
    gpurt_object_t a, b;

    switch (object_random(state) % 8) {
    case 0:
    case 1:
        object_grow(p, in, state);
        break;
    case 2:
    case 3:
        object_carry(p, in, state);
        break;
    case 4: /* another way to the same, maybe a ring */
        a = object_walk(p, state);
        b = object_walk(p, state);
        if (a)
            object_put(p, in, a, state, b);
        break;
    case 5:
        a = object_walk(p, state);
        if (gpurt_gc_root_write(&p->gc, in, object_random(state) % p->gc.root_count, a))
            object_count(&p->verdict->xanswers);
        break;
    case 6: /* cuts something off */
        a = object_walk(p, state);
        if (a)
            object_put(p, in, a, state, 0);
        break;
    default:
        object_walk(p, state);
    }
}

GPURT_DEVN void object_mutate(const struct object_args *p)
{
    uint32_t lanes = p->alone ? 1u << gpurt_lane() : GPURT_FULL_MASK;
    uint32_t state = object_seed(p);

    for (uint32_t round = 0; round < p->rounds && gpurt_lane() < p->active; round++) {
        gpurt_section_t in = gpurt_gc_enter(&p->gc, lanes);

        for (uint32_t op = 0; op < p->ops && in.slot != GPURT_SLOT_NONE; op++)
            object_change(p, in, &state);
        gpurt_syncwarp(lanes);
        gpurt_gc_leave(&p->gc, in, lanes);
        if (in.slot == GPURT_SLOT_NONE)
            gpurt_relax();
    }
}

/* What a handle names that was kept beyond its section: nothing any more, or an object that is there,
 * as it was, to the end of this one. Returns: whether there was one. */
GPURT_DEVN bool object_hold(const struct object_args *p, gpurt_object_t kept,
                            uint32_t *state)
{
    const uint64_t *words = (const uint64_t *)gpurt_object_get(&p->gc, kept);

    if (!words)
        return false;
    object_dawdle(p, state);
    /* relaxed: a look */
    if (gpurt_load_relaxed_dev_u64(&p->gc.entries[(uint32_t)kept].xaddress) !=
        (uint64_t)(uintptr_t)words)
        object_count(&p->verdict->xgone);
    return true;
}

/* Keeps handles where no collector looks, until their objects have gone; while it collects. */
GPURT_DEVN void object_watch(const struct object_args *p)
{
    uint32_t lanes = p->alone ? 1u << gpurt_lane() : GPURT_FULL_MASK;
    uint32_t state = object_seed(p);
    gpurt_object_t kept = 0;

    /* relaxed: a look */
    while (gpurt_lane() < p->active &&
           gpurt_load_relaxed_dev_u32(&p->verdict->xcycles) < p->cycles) {
        gpurt_section_t in = gpurt_gc_enter(&p->gc, lanes);

        if (in.slot != GPURT_SLOT_NONE && !object_hold(p, kept, &state)) {
            if (kept)
                object_count(&p->verdict->xdied);
            kept = object_walk(p, &state);
        }
        gpurt_syncwarp(lanes);
        gpurt_gc_leave(&p->gc, in, lanes);
        if (in.slot == GPURT_SLOT_NONE)
            gpurt_relax();
    }
}

GPURT_KERNEL(object_mutators, struct object_args, p)
{
    object_mutate(p);
}

/* ---- a collector in the same launch -------------------------------------------------- */

/* The steps of gc.c by the lanes of a block. */
GPURT_DEVN void object_wait(const struct object_args *p, struct gpurt_gc_args *a,
                            uint64_t flags)
{
    bool reached = false;

    gpurt_block_barrier();
    a->control = (uint64_t)a->cycle << 32 | flags;
    if (gpurt_warp() == 0) {
        a->begins = 1;
        for (uint32_t i = 0; i < 100000 && !reached; i++) {
            reached = gpurt_gc_wait_warp(a);
            a->begins = 0;
        }
        if (!reached)
            object_count(&p->verdict->xlost);
    }
    gpurt_block_barrier();
}

GPURT_DEVN void object_cycle(const struct object_args *p, struct gpurt_gc_args *a,
                             uint32_t cycle, bool minor)
{
    a->gc = p->gc;
    a->polls = 16;
    a->cycle = cycle & GPURT_GC_CYCLES;
    a->flags = minor ? GPURT_GC_MINOR : 0;
    a->marked = 0;
    gpurt_gc_reset_all(a, gpurt_thread_rank(), gpurt_block_threads());
}

GPURT_DEVN void object_collect(const struct object_args *p, struct gpurt_gc_args *a)
{
    uint32_t rank = gpurt_thread_rank(), step = gpurt_block_threads(), found;
    gpurt_gc_control_t *c = p->gc.control;

    object_wait(p, a, GPURT_GC_ACTIVE | GPURT_GC_ARMING | a->flags);
    object_wait(p, a, GPURT_GC_ACTIVE | a->flags);
    gpurt_gc_begin_all(a, rank, step);
    do {
        gpurt_block_barrier();
        gpurt_gc_mark_all(a);
        a->marked = 1;
        object_wait(p, a, GPURT_GC_ACTIVE | a->flags);
        if (rank == 0)
            gpurt_store_relaxed_dev_u32(&c->course.xfound, 0);
        gpurt_block_barrier();
        gpurt_gc_seek_all(a, rank, step);
        gpurt_block_barrier();
        found = gpurt_load_relaxed_dev_u32(&c->course.xfound);
        gpurt_block_barrier();
    } while (found);
    gpurt_gc_condemn_all(a, rank, step);
    object_wait(p, a, 0);
    gpurt_gc_free_all(a, rank, step);
    gpurt_block_barrier();
}

/* Whether a mutator is still at work: the same answer for all threads of block 0. */
GPURT_DEV bool object_goes_on(const struct object_args *p)
{
    uint32_t active = p->active < GPURT_WARP_SIZE ? p->active : (uint32_t)GPURT_WARP_SIZE;
    uint32_t all = (gpurt_grid_blocks() - 1) * gpurt_warps() * active;

    /* relaxed: a look */
    return gpurt_block_barrier_or(gpurt_load_relaxed_dev_u32(&p->verdict->xended) < all);
}

/* Block 0 collects as long as the others change the graph, and at least so often. mode 1: all but
 * one of those watch. */
GPURT_KERNEL(object_storm, struct object_args, p)
{
    struct gpurt_gc_args a;

    if (gpurt_block_x() > 0) {
        if (p->mode == 1 && gpurt_block_x() > 1)
            object_watch(p);
        else
            object_mutate(p);
        if (gpurt_lane() < p->active)
            object_count(&p->verdict->xended);
        return;
    }
    for (uint32_t i = 0; (object_goes_on(p) && i < 100) || i < p->cycles; i++) {
        uint64_t control = gpurt_load_relaxed_dev_u64(&p->gc.control->course.xcontrol);

        gpurt_block_barrier(); /* all have read */
        object_cycle(p, &a, (uint32_t)(control >> 32) + 1, (p->seed + i) % 3 > 0);
        object_collect(p, &a);
        if (gpurt_thread_rank() == 0)
            object_count(&p->verdict->xcycles);
    }
}

/* Each wait of a cycle lasts while a section of before it is open, and no longer. One warp. */
GPURT_KERNEL(object_waits, struct object_args, p)
{
    const uint64_t flags[] = {GPURT_GC_ACTIVE | GPURT_GC_ARMING, GPURT_GC_ACTIVE,
                              GPURT_GC_ACTIVE, 0};
    struct gpurt_gc_args a;

    object_cycle(p, &a, 1, false);
    for (uint32_t i = 0; i < 4; i++) {
        gpurt_section_t in = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);
        bool early, late;

        a.control = (uint64_t)a.cycle << 32 | flags[i];
        a.marked = i >= 2;
        a.begins = 1;
        early = gpurt_gc_wait_warp(&a);
        gpurt_gc_leave(&p->gc, in, GPURT_FULL_MASK);
        a.begins = 0;
        late = gpurt_gc_wait_warp(&a);
        if ((early || !late) && gpurt_lane() == 0)
            object_count(&p->verdict->xlost);
    }
}

/* A section from before a cycle, which shades nothing, takes out of root 0 what one that began while
 * the cycle arms has hung onto a new object, in root 1. Both are reached when marking begins. One
 * warp. */
GPURT_KERNEL(object_armed, struct object_args, p)
{
    uint64_t control = gpurt_load_relaxed_dev_u64(&p->gc.control->course.xcontrol);
    gpurt_section_t before = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK), meanwhile;
    struct gpurt_gc_args a;

    object_cycle(p, &a, (uint32_t)(control >> 32) + 1, false);
    a.control = (uint64_t)a.cycle << 32 | GPURT_GC_ACTIVE | GPURT_GC_ARMING;
    a.begins = 1;
    if (gpurt_gc_wait_warp(&a) && gpurt_lane() == 0)
        object_count(&p->verdict->xlost); /* one is open */
    meanwhile = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);
    if (gpurt_lane() == 0) {
        gpurt_object_t o = object_make(p, meanwhile, OBJECT_NODE, 40);

        gpurt_gc_write(&p->gc, meanwhile, o, 0, gpurt_gc_root_read(&p->gc, 0));
        gpurt_gc_root_write(&p->gc, meanwhile, 1, o);
        gpurt_gc_root_write(&p->gc, before, 0, 0);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    gpurt_gc_leave(&p->gc, meanwhile, GPURT_FULL_MASK);
    gpurt_gc_leave(&p->gc, before, GPURT_FULL_MASK);
    object_collect(p, &a);
}

/* ---- single things ------------------------------------------------------------------- */

/* cells[i] becomes an object, each in front of the last: one list, from root 0. One lane.
 * mode: every so many stay; others are only made. */
GPURT_KERNEL(object_list, struct object_args, p)
{
    for (uint32_t i = 0; i < p->cell_count; i++) {
        gpurt_section_t in = gpurt_gc_enter(&p->gc, 1);
        gpurt_object_t o = object_make(p, in, OBJECT_NODE, 40 + p->bytes);

        p->cells[i] = o;
        if (o && i % p->mode == 0) {
            gpurt_gc_write(&p->gc, in, o, 0, gpurt_gc_root_read(&p->gc, 0));
            gpurt_gc_root_write(&p->gc, in, 0, o);
        }
        gpurt_gc_leave(&p->gc, in, 1);
    }
}

/* Follows the list and looks at each. One lane. cells[0]: how many there were. */
GPURT_KERNEL(object_follow, struct object_args, p)
{
    gpurt_section_t in = gpurt_gc_enter(&p->gc, 1);
    uint64_t n = 0;

    for (gpurt_object_t o = gpurt_gc_root_read(&p->gc, 0); o;
         o = gpurt_gc_read(&p->gc, o, 0), n++)
        object_look(p, o);
    gpurt_gc_leave(&p->gc, in, 1);
    p->cells[0] = n;
}

/* The object of root 0 gets a new one at its second handle. One lane. */
GPURT_KERNEL(object_hang, struct object_args, p)
{
    gpurt_section_t in = gpurt_gc_enter(&p->gc, 1);
    gpurt_object_t o = object_make(p, in, OBJECT_NODE, 40);

    p->cells[0] = gpurt_gc_write(&p->gc, in, gpurt_gc_root_read(&p->gc, 0), 1, o);
    gpurt_gc_leave(&p->gc, in, 1);
}

/* cells: handles and numbers of calls become their answers. One lane. */
GPURT_KERNEL(object_answers, struct object_args, p)
{
    gpurt_section_t in = gpurt_gc_enter(&p->gc, 1), none = in;
    gpurt_object_t dead = p->cells[0], o = gpurt_gc_root_read(&p->gc, 0), far = o;
    uint64_t *out = p->cells;
    uint32_t why;

    none.slot = GPURT_SLOT_NONE;
    far |= 0xffffff;
    *out++ = gpurt_gc_write(&p->gc, in, o, 0, dead);
    *out++ = gpurt_gc_write(&p->gc, in, dead, 0, o);
    *out++ = gpurt_gc_write(&p->gc, in, o, 0, far);
    *out++ = gpurt_gc_write(&p->gc, in, far, 0, o);
    *out++ = gpurt_gc_write(&p->gc, in, 0, 0, o);
    *out++ = gpurt_gc_write(&p->gc, none, o, 0, 0);
    *out++ = gpurt_gc_write(&p->gc, in, o, OBJECT_NODE_SERIAL, o);
    *out++ = gpurt_gc_write(&p->gc, in, o, 1000000, o);
    *out++ = gpurt_gc_root_write(&p->gc, in, p->gc.root_count, o);
    *out++ = gpurt_gc_root_write(&p->gc, none, 0, o);
    *out++ = gpurt_gc_root_write(&p->gc, in, 0, dead);
    gpurt_object_alloc(&p->gc, none, OBJECT_NODE, 64, &why);
    *out++ = why;
    gpurt_object_alloc(&p->gc, in, OBJECT_TYPES, 64, &why);
    *out++ = why;
    gpurt_object_alloc(&p->gc, in, OBJECT_NODE, 8, &why);
    *out++ = why;
    gpurt_object_alloc(&p->gc, in, OBJECT_NODE, 1u << 31, &why);
    *out++ = why;
    *out++ = gpurt_object_get(&p->gc, dead) || gpurt_object_get(&p->gc, far) ||
             gpurt_object_get(&p->gc, 0) || gpurt_gc_read(&p->gc, dead, 0) ||
             gpurt_gc_read(&p->gc, o, 1000000) || gpurt_gc_root_read(&p->gc, 1u << 30) ||
             gpurt_object_size(&p->gc, dead);
    gpurt_gc_leave(&p->gc, in, 1);
}

/* Ends in a section. */
GPURT_KERNEL(object_cancelled, struct object_args, p)
{
    gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);
    gpurt_cancel_block();
    gpurt_relax(); /* here the lane ends */
    object_count(&p->verdict->xwrong);
}
