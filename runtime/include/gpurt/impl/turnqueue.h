/* SPDX-License-Identifier: Apache-2.0 */
/* turnqueue.h - the one word under mutex.h, rwlock.h and semaphore.h: how much is taken, and numbers
 * of those who wait.
 *
 *   63    56 55     37 36     18   17     16  15     0
 *   [ holes ][ drawn  ][  turn  ][ended][died][ count ]
 *
 * Free is 0 as long as nobody waits: taking then is one compare-exchange, giving back one
 * subtraction. Who finds it taken draws a number and waits for its turn; nobody passes the queue.
 * When the queue is empty again, the last one sets its numbers to 0.
 *
 * A lane that leaves its wait (time, scope, cancelled block) may not be the next: then its number is
 * a hole, and counted. Where all numbers are holes there is no queue. Who sees the word stand still
 * for GPURT_TURN_PATIENCE looks, and nothing taken, passes over the next number; while holes are
 * counted, who would be content with what is left does, too.
 *
 * To pass over a number counts one hole less, whether it was one or its lane is only slow. That
 * lane counts it back as soon as it sees its number passed, and draws a new one or leaves. So
 * `holes` has a sign, and no number is forgotten while a lane still owes its count.
 *
 * On the CPU back end a waiter sleeps under its number, but never while it might have to pass over
 * another. Whoever makes room wakes the next one; all of them when nobody sleeps under that number,
 * which may be a hole. Context: device code, one lane. */
#ifndef GPURT_TURNQUEUE_H
#define GPURT_TURNQUEUE_H

#include <gpurt/ids.h>
#include <gpurt/impl/waithow.h>

enum {
    GPURT_TURN_PATIENCE = 64,
    GPURT_TURN_NUMBERS = (1 << 19) - 1, /* a mask; more than a GPU has threads at a time */
    GPURT_TURN_COUNT = (1 << 16) - 1,
    GPURT_TURN_MANY = 127,  /* holes: so many, or more */
    GPURT_TURN_OWED = -128, /* then no number is passed over until one is counted back */
    GPURT_TURN_TURN_AT = 18,
    GPURT_TURN_DRAWN_AT = 37,
    GPURT_TURN_HOLES_AT = 56
};
#define GPURT_TURN_DIED  (1ull << 16)
#define GPURT_TURN_ENDED (1ull << 17)
#define GPURT_TURN_FLAGS (GPURT_TURN_DIED | GPURT_TURN_ENDED)
#define GPURT_TURN_NONE  UINT32_MAX

/* Who may take: when at most so much is taken. Then so much more is. */
typedef struct gpurt_turn_want {
    uint32_t most, add;
    bool owned; /* by one lane, which is noted */
    const char *kind;
} gpurt_turn_want_t;

/* Owner: the program; zeroed at first. */
typedef struct gpurt_turns {
    uint64_t xword;   /* written by: all */
    uint64_t xholder; /* place of who holds it alone, or 0; written by: it */
    const char *held; /* where that took it; CPU back end; likewise */
    const char *name; /* NULL: none */
    uint32_t index;   /* behind the name */
    gpurt_waitable_t waitable;
    uint32_t xcontended;      /* had to wait; written by: who waits, as all below */
    uint32_t xlate, xstopped; /* left the wait: time, scope or cancelled */
    uint32_t xdied;           /* were held by a lane that left; written by: that one */
} gpurt_turns_t;

/* ---- the word ------------------------------------------------------------------------ */
GPURT_HD uint32_t gpurt_turn_now(uint64_t v)
{
    return (uint32_t)(v >> GPURT_TURN_TURN_AT) & GPURT_TURN_NUMBERS;
}
GPURT_HD uint32_t gpurt_turn_drawn(uint64_t v)
{
    return (uint32_t)(v >> GPURT_TURN_DRAWN_AT) & GPURT_TURN_NUMBERS;
}
GPURT_HD uint32_t gpurt_turn_count(uint64_t v)
{
    return (uint32_t)v & GPURT_TURN_COUNT;
}
/* How many numbers are out, holes with them. */
GPURT_HD uint32_t gpurt_turn_waiting(uint64_t v)
{
    return (gpurt_turn_drawn(v) - gpurt_turn_now(v)) & GPURT_TURN_NUMBERS;
}
GPURT_HD bool gpurt_turn_is_out(uint64_t v, uint32_t number)
{
    return number != GPURT_TURN_NONE &&
           ((number - gpurt_turn_now(v)) & GPURT_TURN_NUMBERS) < gpurt_turn_waiting(v);
}
/* Less those that lanes owe which were passed over: may be below 0. */
GPURT_HD int32_t gpurt_turn_holes(uint64_t v)
{
    return (int8_t)(v >> GPURT_TURN_HOLES_AT);
}
/* With other numbers; where nobody waits and nothing is owed, with none. */
GPURT_HD uint64_t gpurt_turn_with(uint64_t v, uint32_t now, int32_t holes)
{
    uint64_t low = v & (GPURT_TURN_COUNT | GPURT_TURN_FLAGS);
    int32_t out = (int32_t)((gpurt_turn_drawn(v) - now) & GPURT_TURN_NUMBERS);

    if (out == 0 ? holes >= 0 : out == holes && holes < GPURT_TURN_MANY)
        return low;
    return low | (uint64_t)(now & GPURT_TURN_NUMBERS) << GPURT_TURN_TURN_AT |
           (uint64_t)gpurt_turn_drawn(v) << GPURT_TURN_DRAWN_AT |
           (uint64_t)(uint8_t)holes << GPURT_TURN_HOLES_AT;
}
/* The next number is done, by its lane. */
GPURT_HD uint64_t gpurt_turn_passed(uint64_t v)
{
    return gpurt_turn_with(v, gpurt_turn_now(v) + 1, gpurt_turn_holes(v));
}
/* ... by another lane, because it seems to be a hole. */
GPURT_HD uint64_t gpurt_turn_skipped(uint64_t v)
{
    int32_t holes = gpurt_turn_holes(v);

    if (holes == GPURT_TURN_OWED)
        return v;
    return gpurt_turn_with(v, gpurt_turn_now(v) + 1, holes - (holes != GPURT_TURN_MANY));
}
/* One hole more. */
GPURT_HD uint64_t gpurt_turn_hole(uint64_t v)
{
    int32_t holes = gpurt_turn_holes(v);

    return gpurt_turn_with(v, gpurt_turn_now(v), holes + (holes != GPURT_TURN_MANY));
}
/* The lane with this number, or none, counts it back if others passed over it. A number that lies
 * ahead is of a queue that has ended. */
GPURT_HD uint64_t gpurt_turn_count_back(uint64_t v, uint32_t number)
{
    uint32_t behind = (gpurt_turn_now(v) - number) & GPURT_TURN_NUMBERS;

    if (number == GPURT_TURN_NONE || behind == 0 || behind > GPURT_TURN_NUMBERS / 2)
        return v;
    return gpurt_turn_hole(v);
}
/* The lane with this number, or none, waits no more. */
GPURT_HD uint64_t gpurt_turn_left(uint64_t v, uint32_t number)
{
    if (!gpurt_turn_is_out(v, number))
        return gpurt_turn_count_back(v, number);
    return number == gpurt_turn_now(v) ? gpurt_turn_passed(v) : gpurt_turn_hole(v);
}
/* One more number, for the lane whose number, or none, is not out. */
GPURT_HD uint64_t gpurt_turn_draw(uint64_t v, uint32_t number)
{
    uint64_t mask = (uint64_t)GPURT_TURN_NUMBERS << GPURT_TURN_DRAWN_AT;

    v = gpurt_turn_count_back(v, number);
    return (v & ~mask) | ((v + (1ull << GPURT_TURN_DRAWN_AT)) & mask);
}
/* By the lane with this number, whose turn it is; or nobody waits. */
GPURT_HD uint64_t gpurt_turn_taken(uint64_t v, const gpurt_turn_want_t *want,
                                   uint32_t number)
{
    return (gpurt_turn_left(v, number) & ~GPURT_TURN_DIED) + want->add;
}

/* Of the scope that the word's place allows; in shared memory it is the block's own. */
GPURT_DEV bool gpurt_turns_take(gpurt_turns_t *t, uint64_t *expected, uint64_t desired)
{
    return gpurt_is_shared(t)
               ? gpurt_cas_acquire_blk_u64(&t->xword, expected, desired)  /* TQ1.acq */
               : gpurt_cas_acquire_far_u64(&t->xword, expected, desired); /* TQ1.acq */
}
GPURT_DEV uint64_t gpurt_turns_give(gpurt_turns_t *t, uint64_t n)
{
    return gpurt_is_shared(t)
               ? gpurt_sub_release_blk_u64(&t->xword, n)         /* TQ1.rel */
               : gpurt_add_release_far_u64(&t->xword, 0ull - n); /* TQ1.rel */
}
GPURT_DEV bool gpurt_turns_put(gpurt_turns_t *t, uint64_t *expected, uint64_t desired)
{
    return gpurt_is_shared(t)
               ? gpurt_cas_release_blk_u64(&t->xword, expected, desired)  /* TQ1.rel */
               : gpurt_cas_release_far_u64(&t->xword, expected, desired); /* TQ1.rel */
}
/* Keeps what others released: no read-modify-write ends a release sequence. */
GPURT_DEV bool gpurt_turns_edit(gpurt_turns_t *t, uint64_t *expected, uint64_t desired)
{
    return gpurt_is_shared(t) ? gpurt_cas_relaxed_blk_u64(&t->xword, expected, desired)
                              : gpurt_cas_relaxed_far_u64(&t->xword, expected, desired);
}
GPURT_DEV uint64_t
gpurt_turns_look(const gpurt_turns_t *t) /* relaxed: who takes acquires */
{
    return gpurt_load_relaxed_dev_u64(&t->xword);
}

/* ---- who --------------------------------------------------------------------------- */
GPURT_DEV uint64_t gpurt_place_here(void)
{
    return gpurt_place_pack(gpurt_launch_number(), gpurt_block_rank(), gpurt_thread_rank());
}

/* relaxed, both: a lane's own place is there only while it holds */
GPURT_DEV bool gpurt_turns_is_mine(const gpurt_turns_t *t)
{
    return gpurt_load_relaxed_dev_u64(&t->xholder) == gpurt_place_here();
}
GPURT_DEV void gpurt_turns_own(gpurt_turns_t *t, const gpurt_turn_want_t *want,
                               const gpurt_wait_how_t *how)
{
    if (want->owned) {
        gpurt_store_relaxed_dev_u64(&t->xholder, gpurt_place_here());
        gpurt_taken_at(&t->held, how->here);
    }
    gpurt_hold(&t->waitable, want->owned ? GPURT_HOLD_ALONE : GPURT_HOLD_SHARED,
               how->place);
}
/* Before others can see it free. */
GPURT_DEV void gpurt_turns_disown(gpurt_turns_t *t, bool owned)
{
    gpurt_release(&t->waitable, owned ? GPURT_HOLD_ALONE : GPURT_HOLD_SHARED);
    if (owned)
        gpurt_store_relaxed_dev_u64(&t->xholder, 0);
}

/* ---- waiting --------------------------------------------------------------------------- */
GPURT_DEV void gpurt_turns_wake_all(gpurt_turns_t *t)
{
    (void)gpurt_unpark(&t->xword, GPURT_SPOT_ANY, UINT32_MAX);
}

/* Whoever is next looks again; all of them when nobody sleeps under that number. */
GPURT_DEV void gpurt_turns_wake(gpurt_turns_t *t, uint64_t v)
{
    if (gpurt_turn_waiting(v) &&
        gpurt_unpark(&t->xword, gpurt_turn_now(v), UINT32_MAX) == 0)
        gpurt_turns_wake_all(t);
}

/* A number is done. Where that ends the queue, all others were holes; should one live, it draws
 * anew. */
GPURT_DEV void gpurt_turns_moved(gpurt_turns_t *t, uint64_t before, uint64_t after)
{
    if (gpurt_turn_waiting(after))
        gpurt_turns_wake(t, after);
    else if (gpurt_turn_waiting(before) > 1)
        gpurt_turns_wake_all(t);
}

GPURT_DEV void gpurt_turns_put_back(gpurt_turns_t *t, uint32_t n)
{
    gpurt_turns_wake(t, gpurt_turns_give(t, n));
}

/* The lane waits no more and has not taken it. */
GPURT_DEVN void gpurt_turns_withdraw(gpurt_turns_t *t, uint32_t number)
{
    uint64_t v = gpurt_turns_look(t), next;

    do {
        next = gpurt_turn_left(v, number);
        if (next == v)
            return;
    } while (!gpurt_turns_edit(t, &v, next));
    gpurt_turns_moved(t, v, next);
}

/* Owner: a lane that waits. */
typedef struct gpurt_turn_wait {
    uint64_t begin, seen; /* seen: the word at the last look */
    uint32_t number, turn, still;
} gpurt_turn_wait_t;

/* Whether the next one could go on, were it there. */
GPURT_DEV bool gpurt_turn_could(uint64_t v, const gpurt_turn_want_t *want)
{
    return gpurt_turn_count(v) == 0 ||
           (gpurt_turn_holes(v) > 0 && gpurt_turn_count(v) <= want->most);
}

/* Returns: whether the lane is to pass over the next number, of who does not come. */
GPURT_DEV bool gpurt_turn_lost_patience(gpurt_turn_wait_t *w, uint64_t v)
{
    if (v != w->seen) {
        w->seen = v;
        w->still = 0;
    }
    return ++w->still > GPURT_TURN_PATIENCE;
}

/* It may live: then it draws a new number. */
GPURT_DEV void gpurt_turns_skip(gpurt_turns_t *t, uint64_t v)
{
    uint64_t after = gpurt_turn_skipped(v), seen = v;

    if (!gpurt_turns_edit(t, &seen, after))
        return;
    (void)gpurt_unpark(&t->xword, gpurt_turn_now(v), UINT32_MAX);
    gpurt_turns_moved(t, v, after);
}

GPURT_DEV void gpurt_turns_draw(gpurt_turns_t *t, gpurt_turn_wait_t *w, uint64_t v)
{
    uint64_t after = gpurt_turn_draw(v, w->number), seen = v;

    if (!gpurt_turns_edit(t, &seen, after))
        return;
    w->number = (gpurt_turn_drawn(after) - 1) & GPURT_TURN_NUMBERS;
    if (gpurt_turn_holes(after) > gpurt_turn_holes(v)) /* which others may pass over now */
        gpurt_turns_moved(t, v, after);
}

/* It is not the lane's turn, or too much is taken. */
GPURT_DEV void gpurt_turns_pause(gpurt_turns_t *t, const gpurt_turn_want_t *want,
                                 gpurt_turn_wait_t *w, uint64_t v, gpurt_spot_t *spot)
{
    if (gpurt_turn_now(v) != w->number && gpurt_turn_could(v, want)) {
        gpurt_pause(); /* and no sleep: nobody may come to wake it */
        if (gpurt_turn_lost_patience(w, v)) {
            w->still = 0;
            gpurt_turns_skip(t, v);
        }
        return;
    }
    spot->value = v;
    spot->key = w->number;
    gpurt_park(spot, w->turn++);
}

GPURT_DEV void gpurt_turns_spot(const gpurt_turns_t *t, const gpurt_wait_how_t *how,
                                gpurt_spot_t *spot)
{
    spot->word = &t->xword;
    spot->bytes = 8;
    /* relaxed: a name that comes meanwhile is seen or not */
    spot->name =
        (const char *)(uintptr_t)gpurt_load_relaxed_dev_u64((const uint64_t *)&t->name);
    spot->index = spot->name ? gpurt_load_relaxed_dev_u32(&t->index) : UINT32_MAX;
    spot->here = how->here;
    spot->stop = gpurt_wait_stop(how);
    spot->holder = &t->xholder;
    spot->held = &t->held;
}

/* One look. Returns: GPURT_E_NOT_READY: again. */
GPURT_DEV gpurt_status_t gpurt_turns_step(gpurt_turns_t *t, const gpurt_turn_want_t *want,
                                          const gpurt_wait_how_t *how, gpurt_turn_wait_t *w,
                                          gpurt_spot_t *spot)
{
    uint64_t v = gpurt_turns_look(t);
    bool mine = gpurt_turn_is_out(v, w->number);
    gpurt_status_t st;

    if (v & GPURT_TURN_ENDED)
        return GPURT_E_HANDLE;
    if ((mine ? gpurt_turn_now(v) == w->number : gpurt_turn_waiting(v) == 0) &&
        gpurt_turn_count(v) <= want->most) {
        uint64_t next = gpurt_turn_taken(v, want, w->number), seen = v;

        if (!gpurt_turns_take(t, &seen, next))
            return GPURT_E_NOT_READY;
        if (want->most || (mine && !gpurt_turn_waiting(next))) /* room for the next one? */
            gpurt_turns_moved(t, v, next);
        return v & GPURT_TURN_DIED ? GPURT_E_OWNER_DIED : GPURT_OK;
    }
    st = gpurt_wait_goes_on(how, w->begin, &spot->left_ns);
    if (st != GPURT_OK)
        return st;
    if (mine)
        gpurt_turns_pause(t, want, w, v, spot);
    else
        gpurt_turns_draw(t, w, v);
    return GPURT_E_NOT_READY;
}

GPURT_DEVN gpurt_status_t gpurt_turns_wait(gpurt_turns_t *t, const gpurt_turn_want_t *want,
                                           const gpurt_wait_how_t *how)
{
    gpurt_turn_wait_t w = {0, 0, GPURT_TURN_NONE, 0, 0};
    gpurt_spot_t spot = {};
    gpurt_status_t st;

    if (want->owned && gpurt_turns_is_mine(t))
        return GPURT_E_DEADLOCK;
    w.begin = gpurt_globaltimer();
    gpurt_turns_spot(t, how, &spot);
    spot.kind = want->kind;
    gpurt_wait_begin(&t->waitable, GPURT_WAIT_OWNER, how->place);
    for (;;) {
        st = gpurt_turns_step(t, want, how, &w, &spot);
        if (st != GPURT_E_NOT_READY)
            break;
        if (gpurt_cancelled()) {
            gpurt_turns_withdraw(t, w.number);
            gpurt_add_relaxed_dev_u32(&t->xstopped, 1);
            gpurt_wait_end(NULL);
        }
        gpurt_cancel_point();
    }
    if (w.number != GPURT_TURN_NONE)
        gpurt_add_relaxed_dev_u32(&t->xcontended, 1);
    if (st == GPURT_E_TIMEOUT || st == GPURT_E_CANCELLED) {
        gpurt_turns_withdraw(t, w.number);
        if (how->ns) /* a try is no wait */
            gpurt_add_relaxed_dev_u32(st == GPURT_E_TIMEOUT ? &t->xlate : &t->xstopped, 1);
    }
    gpurt_wait_end(how->place);
    return st;
}

/* ---- what is common to all three ------------------------------------------------------- */
/* Taken: GPURT_OK and GPURT_E_OWNER_DIED. */
GPURT_DEV bool gpurt_turns_has(gpurt_status_t st)
{
    return st == GPURT_OK || st == GPURT_E_OWNER_DIED;
}

GPURT_DEV gpurt_status_t gpurt_turns_acquire(gpurt_turns_t *t,
                                             const gpurt_turn_want_t *want,
                                             const gpurt_wait_how_t *how)
{
    uint64_t free = 0;
    gpurt_status_t st = GPURT_OK;

    if (!gpurt_turns_take(t, &free, want->add))
        st = gpurt_turns_wait(t, want, how);
    if (gpurt_turns_has(st))
        gpurt_turns_own(t, want, how);
    return st;
}

GPURT_DEV void gpurt_turns_init(gpurt_turns_t *t, uint32_t count)
{
    gpurt_store_relaxed_dev_u64(&t->xword, count); /* handed out by who calls */
    t->xholder = 0;
    t->held = NULL;
    t->name = NULL;
    t->index = UINT32_MAX;
    t->waitable.xnumber = 0;
    t->xcontended = t->xlate = t->xstopped = t->xdied = 0;
}

GPURT_DEV void gpurt_turns_name(gpurt_turns_t *t, uint32_t kind, const char *name,
                                uint32_t index)
{
    gpurt_store_relaxed_dev_u32(&t->index,
                                index); /* relaxed, both: others may wait already */
    gpurt_store_relaxed_dev_u64((uint64_t *)&t->name, (uint64_t)(uintptr_t)name);
    gpurt_waitable_name(&t->waitable, kind, name, index);
}

/* free: the count of one that nobody holds. */
GPURT_DEVN gpurt_status_t gpurt_turns_end(gpurt_turns_t *t, uint32_t free)
{
    uint64_t v = gpurt_turns_look(t);

    do {
        if (v & GPURT_TURN_ENDED)
            return GPURT_E_HANDLE;
        if (gpurt_turn_count(v) != free || gpurt_turn_waiting(v) || gpurt_turn_holes(v))
            return GPURT_E_HELD;
    } while (!gpurt_turns_take(t, &v, v | GPURT_TURN_ENDED));
    return GPURT_OK;
}

/* Who held it alone left in the middle: the next one is told. */
GPURT_DEVN void gpurt_turns_died(uint64_t turns, uint32_t n)
{
    gpurt_turns_t *t = (gpurt_turns_t *)(uintptr_t)turns;

    gpurt_add_relaxed_dev_u32(&t->xdied, 1);
    gpurt_turns_disown(t, true);
    /* a bit that is 0 while it is held, set by the same subtraction */
    gpurt_turns_wake(t, gpurt_turns_give(t, n - GPURT_TURN_DIED));
}

#if defined(GPURT_DEFER_DEPTH) && GPURT_DEFER_DEPTH > 0
GPURT_DEV gpurt_status_t gpurt_turns_note(uint32_t mask, void (*handler)(uint64_t),
                                          gpurt_turns_t *t)
{
    return gpurt_defer(mask, handler, (uint64_t)(uintptr_t)t);
}
/* One lane. */
GPURT_DEV void gpurt_turns_unnote(uint32_t mask, void (*handler)(uint64_t),
                                  gpurt_turns_t *t)
{
    gpurt_defer_forget(mask, handler, (uint64_t)(uintptr_t)t);
}
#else
GPURT_DEV gpurt_status_t gpurt_turns_note(uint32_t mask, void (*handler)(uint64_t),
                                          gpurt_turns_t *t)
{
    (void)mask;
    (void)handler;
    (void)t;
    return GPURT_OK;
}
GPURT_DEV void gpurt_turns_unnote(uint32_t mask, void (*handler)(uint64_t),
                                  gpurt_turns_t *t)
{
    (void)mask;
    (void)handler;
    (void)t;
}
#endif

/* Taken, and given back unused: what st told of the owner before is left for the next one. It is a
 * bit that is 0 while this lane has its part, as in gpurt_turns_died. */
GPURT_DEV void gpurt_turns_undo(gpurt_turns_t *t, uint32_t n, gpurt_status_t st)
{
    gpurt_turns_wake(
        t, gpurt_turns_give(t, st == GPURT_E_OWNER_DIED ? n - GPURT_TURN_DIED : n));
}

/* Taken, with a handler for the case that the lane leaves; or not taken. */
GPURT_DEV gpurt_status_t gpurt_turns_lock(gpurt_turns_t *t, const gpurt_turn_want_t *want,
                                          const gpurt_wait_how_t *how,
                                          void (*handler)(uint64_t))
{
    gpurt_status_t st = gpurt_turns_acquire(t, want, how), room;

    if (!gpurt_turns_has(st))
        return st;
    room = gpurt_turns_note(1u << gpurt_lane(), handler, t);
    if (room == GPURT_OK)
        return st;
    gpurt_turns_disown(t, want->owned);
    gpurt_turns_undo(t, want->add, st);
    return room;
}

#endif
