/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.h - many readers, or one writer.
 *
 *   void gpurt_rwlock_init(l)            one lane, before others use it; memory of zeros is one too
 *   gpurt_rwlock_name(l, name, index)    for reports (waits.h)
 *   gpurt_rwlock_read(l)   _read_for(l, ns)   _read_in(l, ns, scope)
 *   gpurt_rwlock_write(l)  _write_for(l, ns)  _write_in(l, ns, scope)
 *       as gpurt_mutex_lock (mutex.h). A writer that left in the middle is told to the next one that
 *       gets in, reader or writer: GPURT_E_OWNER_DIED. A reader that left is just taken off
 *   gpurt_rwlock_read_done(l)            GPURT_E_NOT_OWNER: nobody reads
 *   gpurt_rwlock_write_done(l)           GPURT_E_NOT_OWNER: this lane does not write
 *   gpurt_rwlock_destroy(l)              GPURT_E_HELD, GPURT_E_HANDLE
 *
 * One queue for both: a reader that comes behind a waiting writer waits for it, so neither starves;
 * readers that stand beside each other in the queue get in together. Which lanes read is not kept:
 * read_done of a lane that does not read is not noticed while others do, and a reader that wants to
 * write too waits for itself. Context: device code, any lane. */
#ifndef GPURT_RWLOCK_H
#define GPURT_RWLOCK_H

#include <gpurt/impl/turnqueue.h>

enum {
    GPURT_RWLOCK_WRITER = 1 << 15 /* what a writer takes; a reader takes 1 */
};

/* Owner: the program. */
typedef struct gpurt_rwlock {
    gpurt_turns_t turns;
} gpurt_rwlock_t;

GPURT_DEV void gpurt_rwlock_init(gpurt_rwlock_t *l)
{
    gpurt_turns_init(&l->turns, 0);
}

GPURT_DEV void gpurt_rwlock_name(gpurt_rwlock_t *l, const char *name, uint32_t index)
{
    gpurt_turns_name(&l->turns, GPURT_WAITABLE_LOCK, name, index);
}

GPURT_DEV void gpurt_rwlock_give_read(gpurt_turns_t *t)
{
    gpurt_turns_disown(t, false);
    gpurt_turns_put_back(t, 1);
}
GPURT_DEV void gpurt_rwlock_give_write(gpurt_turns_t *t)
{
    gpurt_turns_disown(t, true);
    gpurt_turns_put_back(t, GPURT_RWLOCK_WRITER);
}

/* Handlers of defer.h. */
GPURT_DEVN void gpurt_rwlock_reader_died(uint64_t turns)
{
    gpurt_rwlock_give_read((gpurt_turns_t *)(uintptr_t)turns);
}
GPURT_DEVN void gpurt_rwlock_writer_died(uint64_t turns)
{
    gpurt_turns_died(turns, GPURT_RWLOCK_WRITER);
}

GPURT_DEV gpurt_status_t gpurt_rwlock_read_at(gpurt_rwlock_t *l,
                                              const gpurt_wait_how_t *how)
{
    const gpurt_turn_want_t want = {GPURT_RWLOCK_WRITER - 2, 1, false, "rwlock"};
    gpurt_status_t st = gpurt_turns_acquire(&l->turns, &want, how), room;

    if (!gpurt_turns_has(st))
        return st;
    room = gpurt_turns_note(1u << gpurt_lane(), gpurt_rwlock_reader_died, &l->turns);
    if (room == GPURT_OK)
        return st;
    gpurt_rwlock_give_read(&l->turns);
    return room;
}

GPURT_DEV gpurt_status_t gpurt_rwlock_write_at(gpurt_rwlock_t *l,
                                               const gpurt_wait_how_t *how)
{
    const gpurt_turn_want_t want = {0, GPURT_RWLOCK_WRITER, true, "rwlock"};
    gpurt_status_t st = gpurt_turns_acquire(&l->turns, &want, how), room;

    if (!gpurt_turns_has(st))
        return st;
    room = gpurt_turns_note(1u << gpurt_lane(), gpurt_rwlock_writer_died, &l->turns);
    if (room == GPURT_OK)
        return st;
    gpurt_rwlock_give_write(&l->turns);
    return room;
}

GPURT_DEV gpurt_status_t gpurt_rwlock_read_done(gpurt_rwlock_t *l)
{
    uint32_t count = gpurt_turn_count(gpurt_turns_look(&l->turns));

    if (count == 0 || count >= GPURT_RWLOCK_WRITER)
        return GPURT_E_NOT_OWNER;
    gpurt_turns_unnote(1u << gpurt_lane(), gpurt_rwlock_reader_died, &l->turns);
    gpurt_rwlock_give_read(&l->turns);
    return GPURT_OK;
}

GPURT_DEV gpurt_status_t gpurt_rwlock_write_done(gpurt_rwlock_t *l)
{
    if (!gpurt_turns_is_mine(&l->turns))
        return GPURT_E_NOT_OWNER;
    gpurt_turns_unnote(1u << gpurt_lane(), gpurt_rwlock_writer_died, &l->turns);
    gpurt_rwlock_give_write(&l->turns);
    return GPURT_OK;
}

GPURT_DEV gpurt_status_t gpurt_rwlock_destroy(gpurt_rwlock_t *l)
{
    return gpurt_turns_end(&l->turns, 0);
}

#define gpurt_rwlock_read_in(l, ns, scope) \
    GPURT_WAIT_CALL_(gpurt_rwlock_read_at, "reads under a lock", ns, scope, l)
#define gpurt_rwlock_read_for(l, ns) gpurt_rwlock_read_in(l, ns, NULL)
#define gpurt_rwlock_read(l)         gpurt_rwlock_read_in(l, GPURT_FOREVER, NULL)
#define gpurt_rwlock_write_in(l, ns, scope) \
    GPURT_WAIT_CALL_(gpurt_rwlock_write_at, "writes under a lock", ns, scope, l)
#define gpurt_rwlock_write_for(l, ns) gpurt_rwlock_write_in(l, ns, NULL)
#define gpurt_rwlock_write(l)         gpurt_rwlock_write_in(l, GPURT_FOREVER, NULL)

#endif
