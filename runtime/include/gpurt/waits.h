/* SPDX-License-Identifier: Apache-2.0 */
/* waits.h - who waits for whom: device code says so, and a watchdog outside the process
 * finds the circle in which everybody waits (docs/FAULTS.md, "Hangs").
 *
 *   gpurt_waitable_t                              in each lock, queue, barrier: zeroed at first
 *   gpurt_waitable_name(o, kind, name, index)     GPURT_WAITABLE_LOCK ...; "fork", 3 is fork[3];
 *                                               GPURT_WAITABLE_SINGLE: no index. Again: nothing
 *
 *   GPURT_PLACE(place, text)                    declares a place in the source: file, line
 *   gpurt_wait_begin(o, reason, &place)         before a loop that waits; o NULL: no name
 *   gpurt_wait_relax()                          in it, in the place of gpurt_relax
 *   gpurt_wait_end(&place)                      behind it
 *   gpurt_hold(o, role, &place)                 the caller holds it from here on
 *   gpurt_release(o, role)                      ... no longer; before the others can see it
 *   GPURT_AT(text)                              the caller is here: a sign of life
 *
 * Context: device code, one lane for itself (or for its warp). Each call is one plain
 * store of 16 bytes into the black box, and none where no box is connected. A lock that
 * many use is told with the places of its callers: pass the place in.
 *
 * gpurt_grid_barrier tells by itself (thread 0 of each block). Block and named barriers do
 * where GPURT_TELL_BARRIERS is defined as 1 before any include: two stores a warp. */
#ifndef GPURT_WAITS_H
#define GPURT_WAITS_H

#include <gpurt/impl/state.h>
#include <gpurt/log.h>

#ifndef GPURT_TELL_BARRIERS
#    define GPURT_TELL_BARRIERS 0
#endif

#define GPURT_WAITABLE_NAMING 0xfffeu
#define GPURT_WAITABLE_LOOKS  (1u << 20)

/* A place says nothing of itself: its text is shown where a lane waits there. */
#define GPURT_PLACE(place, text) GPURT_SITE(place, GPURT_LEVEL_PANIC, GPURT_KIND_HANG, text)

GPURT_DEV uint32_t gpurt_place_number(gpurt_site_t *place)
{
    uint32_t gate;

    if (!place)
        return 0;
    gate = gpurt_log_gate(place);
    if (gpurt_log_is_rare(gate) && (int32_t)gate >= 0)
        gate = gpurt_log_define(place);
    return gate & GPURT_GATE_NUMBER;
}

/* 0: it has none in this box. relaxed: who names it says nothing else by it */
GPURT_DEV uint32_t gpurt_waitable_number(const gpurt_waitable_t *o)
{
    uint32_t v = o ? gpurt_load_relaxed_dev_u32(&o->xnumber) : 0;

    return v >> 16 == gpurt_log_port.epoch && (v & 0xffffu) != GPURT_WAITABLE_NAMING
               ? v & 0xffffu
               : 0;
}

/* Whoever comes while another lane takes the number goes on with it: what it holds behind
 * this is told. Bounded, for a lane may end on its way: then there is no name. */
GPURT_DEVN void gpurt_waitable_await(const gpurt_waitable_t *o, uint32_t epoch)
{
    uint32_t looks = 0;

    while (gpurt_load_relaxed_dev_u32(&o->xnumber) == (epoch | GPURT_WAITABLE_NAMING) &&
           looks++ < GPURT_WAITABLE_LOOKS && !gpurt_cancelled())
        gpurt_relax();
}

/* One lane does it. Behind the call the object has its number, whoever took it. */
GPURT_DEVN void gpurt_waitable_name(gpurt_waitable_t *o, uint32_t kind, const char *name,
                                    uint32_t index)
{
    uint32_t epoch = gpurt_log_port.epoch << 16, number;
    gpurt_waitable_entry_t *e;
    uint32_t found;

    if (!gpurt_log_port.waits)
        return;
    found = gpurt_load_relaxed_dev_u32(&o->xnumber); /* relaxed: as gpurt_waitable_number */
    if ((found & 0xffff0000u) == epoch ||
        !gpurt_cas_relaxed_dev_u32(&o->xnumber, &found, epoch | GPURT_WAITABLE_NAMING)) {
        gpurt_waitable_await(o, epoch);
        return;
    }
    number = gpurt_add_relaxed_sys_u32(gpurt_log_port.xobjects, 1); /* relaxed: a ticket */
    if (number >= gpurt_log_port.object_count) {
        gpurt_store_relaxed_dev_u32(&o->xnumber, epoch); /* relaxed: no room, told so */
        return;
    }
    /* relaxed: as above. Before the name is there: a reader looks at xstate first. */
    gpurt_store_relaxed_dev_u32(&o->xnumber, epoch | (number + 1));
    e = gpurt_log_port.objects + number;
    e->name = (uint16_t)gpurt_log_string(name);
    e->index = index;
    e->key = gpurt_waitable_key(o);
    gpurt_store_release_sys_u32(&e->xstate, kind + 1); /* W1.rel */
}

/* The caller's ring; a number that is none where the hardware has more than was said. */
GPURT_DEV uint32_t gpurt_wait_ring(void)
{
    return gpurt_log_ring_at(gpurt_sm(), gpurt_warp_slot());
}

GPURT_DEV uint32_t gpurt_wait_launch(void)
{
#if GPURT_ON_CUDA
    return (uint32_t)gpurt_cuda_grid() & 0xffu;
#else
    return 0;
#endif
}

GPURT_DEVN void gpurt_wait_tell(uint32_t object, uint32_t reason, uint32_t site)
{
    uint32_t ring = gpurt_wait_ring();
    gpurt_state_wait_t w;

    if (ring >= gpurt_log_port.ring_count)
        return;
    w.object = object;
    w.reason = reason;
    w.site = site;
    w.block = gpurt_block_rank();
    w.warp = gpurt_warp();
    w.launch = gpurt_wait_launch();
    w.time48 = gpurt_globaltimer() & GPURT_TIME_MASK;
    gpurt_group_store(gpurt_log_port.waits + (size_t)ring * GPURT_WARP_SIZE + gpurt_lane(),
                      gpurt_state_wait_pack(&w));
}

GPURT_DEV void gpurt_wait_begin(const gpurt_waitable_t *o, uint32_t reason,
                                gpurt_site_t *place)
{
    if (GPURT_UNLIKELY(gpurt_log_port.waits != NULL))
        gpurt_wait_tell(gpurt_waitable_number(o), reason, gpurt_place_number(place));
}

GPURT_DEV void gpurt_wait_end(gpurt_site_t *place)
{
    if (GPURT_UNLIKELY(gpurt_log_port.waits != NULL))
        gpurt_wait_tell(0, GPURT_WAIT_NONE, gpurt_place_number(place));
}

#define GPURT_AT(text)                                                           \
    do {                                                                         \
        GPURT_PLACE(gpurt_at_, text);                                            \
                                                                                 \
        if (GPURT_UNLIKELY(gpurt_log_port.waits != NULL))                        \
            gpurt_wait_tell(0, GPURT_WAIT_NONE, gpurt_place_number(&gpurt_at_)); \
    } while (0)

GPURT_DEVN void gpurt_hold_tell(uint32_t number, uint32_t role, uint32_t site, bool held)
{
    uint32_t ring = gpurt_wait_ring();
    gpurt_state_owner_t w;

    if (number == 0 || number > gpurt_log_port.object_count ||
        ring >= gpurt_log_port.ring_count)
        return;
    w.place = held ? ring * GPURT_WARP_SIZE + gpurt_lane() + 1 : 0;
    w.site = site;
    w.block = gpurt_block_rank();
    w.warp = gpurt_warp();
    w.time48 = gpurt_globaltimer() & GPURT_TIME_MASK;
    gpurt_group_store(
        &gpurt_log_port.objects[number - 1].xowners[gpurt_state_owner_at(role, ring)],
        gpurt_state_owner_pack(&w));
}

GPURT_DEV void gpurt_hold(const gpurt_waitable_t *o, uint32_t role, gpurt_site_t *place)
{
    if (GPURT_UNLIKELY(gpurt_log_port.waits != NULL))
        gpurt_hold_tell(gpurt_waitable_number(o), role, gpurt_place_number(place), true);
}

GPURT_DEV void gpurt_release(const gpurt_waitable_t *o, uint32_t role)
{
    if (GPURT_UNLIKELY(gpurt_log_port.waits != NULL))
        gpurt_hold_tell(gpurt_waitable_number(o), role, 0, false);
}

/* A lane that leaves here because its block was cancelled waits no more. A macro, so that
 * the CPU back end knows the line. */
#define gpurt_wait_relax() gpurt_wait_relax_until(UINT64_MAX)
/* The same where the wait has a limit, at that time of gpurt_globaltimer. */
#define gpurt_wait_relax_until(until_ns) \
    do {                                 \
        if (gpurt_cancelled())           \
            gpurt_wait_end(NULL);        \
        gpurt_relax_until(until_ns);     \
    } while (0)

/* ---- the barriers of block.h ---------------------------------------------------------------
 * Behind this point they are macros that tell. On the CPU they were macros already. */
#define GPURT_BARRIER_TOLD_(teller, number, text, barrier)                           \
    do {                                                                             \
        GPURT_PLACE(gpurt_s_, text);                                                 \
        bool gpurt_told_ = GPURT_UNLIKELY(gpurt_log_port.waits != NULL) && (teller); \
                                                                                     \
        if (gpurt_told_)                                                             \
            gpurt_wait_tell(number, GPURT_WAIT_ALL, gpurt_place_number(&gpurt_s_));  \
        barrier;                                                                     \
        if (gpurt_told_)                                                             \
            gpurt_wait_tell(0, GPURT_WAIT_NONE, gpurt_place_number(&gpurt_s_));      \
    } while (0)

#if GPURT_ON_CUDA
#    define GPURT_BARE_GRID_BARRIER_         (gpurt_grid_barrier)()
#    define GPURT_BARE_BLOCK_BARRIER_        (gpurt_block_barrier)()
#    define GPURT_BARE_NAMED_BARRIER_(id, n) (gpurt_named_barrier)(id, n)
#else
#    define GPURT_BARE_GRID_BARRIER_ gpurt_simt_grid_barrier(GPURT_HERE)
#    define GPURT_BARE_BLOCK_BARRIER_ \
        ((void)gpurt_simt_block_barrier(GPURT_SIMT_COUNT, false, GPURT_HERE))
#    define GPURT_BARE_NAMED_BARRIER_(id, n) \
        gpurt_simt_named_barrier(id, n, true, GPURT_HERE)
#    undef gpurt_grid_barrier
#endif
#define gpurt_grid_barrier()                                                           \
    GPURT_BARRIER_TOLD_(gpurt_thread_rank() == 0, GPURT_WAITABLE_GRID, "grid barrier", \
                        GPURT_BARE_GRID_BARRIER_)
#if GPURT_TELL_BARRIERS
#    undef gpurt_block_barrier
#    undef gpurt_named_barrier
#    define gpurt_block_barrier()                                                     \
        GPURT_BARRIER_TOLD_(gpurt_lane() == 0, GPURT_WAITABLE_BLOCK, "block barrier", \
                            GPURT_BARE_BLOCK_BARRIER_)
#    define gpurt_named_barrier(id, threads)                                \
        GPURT_BARRIER_TOLD_(gpurt_lane() == 0, GPURT_WAITABLE_NAMED + (id), \
                            "named barrier", GPURT_BARE_NAMED_BARRIER_(id, threads))
#endif

#endif
