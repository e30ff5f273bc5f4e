/* SPDX-License-Identifier: Apache-2.0 */
/* segring.h - a ring buffer of segments: pieces of bytes of any length, whole or not at all.
 *
 *     struct args { gpurt_segring_t notes; ... };     made by the host (segrings.h)
 *
 *     gpurt_segring_write(&p->notes, text, length)    reserves, copies and commits
 *
 *     gpurt_segment_t s;                              the same in pieces
 *     gpurt_segring_reserve(&p->notes, most, &s)
 *     gpurt_segment_put(&s, &head, sizeof head)       ... and so on, `most` bytes in all
 *     gpurt_segment_commit(&s)                        readers see it, with what was put
 *
 *     while (gpurt_segring_read(&p->notes, to, room, &bytes) == GPURT_OK) ...
 *
 *   gpurt_segring_write(r, from, bytes), _write_for(r, from, bytes, ns), gpurt_segring_try_write
 *   gpurt_segring_reserve(r, most, s), _reserve_for(r, most, s, ns), gpurt_segring_try_reserve
 *   gpurt_segment_put(s, from, bytes)    gpurt_segment_commit(s)    gpurt_segment_abort(s)
 *   gpurt_segring_read(r, to, room, &bytes), _read_for(r, to, room, &bytes, ns),
 *   gpurt_segring_try_read(r, to, room, &bytes)
 *   gpurt_segring_close(r)          nothing can be reserved any more; readers read what is left
 *
 *   policy                      when readers leave no room
 *   GPURT_SEGRING_BLOCK         write and reserve wait for them
 *   GPURT_SEGRING_FAIL          GPURT_E_FULL
 *   GPURT_SEGRING_OVERWRITE     the oldest segments are lost; a read says GPURT_E_DROPPED, and
 *                               how many in *bytes. They wait for one that is being written
 *
 *   GPURT_OK
 *   GPURT_E_FULL
 *   GPURT_E_EMPTY             of a try: nothing is in it
 *   GPURT_E_NOT_READY         of a try: the next segment is being written
 *   GPURT_E_DAMAGED           of a read: a segment was reserved and never became whole, or does
 *                             not fit its checksum. It is passed, and nothing of it is shown
 *   GPURT_E_DROPPED           of a read: see above. Of put, commit and abort: the writer was
 *                             given up, and its segment is gone
 *   GPURT_E_CHANNEL_CLOSED    of a read: closed, and all was read
 *   GPURT_E_TIMEOUT
 *   GPURT_E_CANCELLED         the caller's block was
 *   GPURT_E_HANDLE            none, or destroyed; a segment that was committed before
 *   GPURT_E_INVALID           more bytes than the ring holds, or than were reserved. Of a read:
 *                             the segment has *bytes, more than `room`; it stays
 *
 * Each segment goes to one reader, in the order of their reservations. What is in `to` is defined
 * for GPURT_OK alone. One lane writes a segment; lanes that reserve together draw room together.
 * A copy of a gpurt_segment_t is the same segment: use one of them. Between reserve and commit a
 * lane may be cancelled: others wait, for the ring's patience, and then its segment counts as
 * torn. Let it note gpurt_segment_left with GPURT_DEFER, and nobody waits.
 *
 * A reader sees what the writer wrote elsewhere before it committed, a writer what a reader
 * did before it read the segment whose room it gets.
 * Context: device code, any lane. docs/SEGMENTS.md tells how. */
#ifndef GPURT_SEGRING_H
#define GPURT_SEGRING_H

#include <gpurt/impl/segringcore.h>

#define GPURT_SEGRING_CALL_(text, function, r, ns, ...)                        \
    __extension__({                                                            \
        GPURT_PLACE(gpurt_place_, text);                                       \
        gpurt_segring_call_t gpurt_call_ = {r, ns, &gpurt_place_, GPURT_HERE}; \
        function(&gpurt_call_, __VA_ARGS__);                                   \
    })
#define gpurt_segring_write_for(r, from, bytes, ns)                     \
    GPURT_SEGRING_CALL_("writes", gpurt_segring_write_one, r, ns, from, \
                        GPURT_CHANNEL_SHAPE_(from), bytes)
#define gpurt_segring_write(r, from, bytes) \
    gpurt_segring_write_for(r, from, bytes, UINT64_MAX)
#define gpurt_segring_try_write(r, from, bytes) gpurt_segring_write_for(r, from, bytes, 0)
#define gpurt_segring_reserve_for(r, most, s, ns) \
    GPURT_SEGRING_CALL_("reserves", gpurt_segring_take_room, r, ns, most, s)
#define gpurt_segring_reserve(r, most, s)     gpurt_segring_reserve_for(r, most, s, UINT64_MAX)
#define gpurt_segring_try_reserve(r, most, s) gpurt_segring_reserve_for(r, most, s, 0)
#define gpurt_segment_put(s, from, bytes) \
    gpurt_segment_write(s, from, GPURT_CHANNEL_SHAPE_(from), bytes)
#define gpurt_segring_read_for(r, to, room, bytes, ns)                                   \
    GPURT_SEGRING_CALL_("reads", gpurt_segring_run, r, ns, to, GPURT_CHANNEL_SHAPE_(to), \
                        room, bytes)
#define gpurt_segring_read(r, to, room, bytes) \
    gpurt_segring_read_for(r, to, room, bytes, UINT64_MAX)
#define gpurt_segring_try_read(r, to, room, bytes) \
    gpurt_segring_read_for(r, to, room, bytes, 0)

/* Readers see the segment, all of it. */
GPURT_DEV gpurt_status_t gpurt_segment_commit(gpurt_segment_t *s)
{
    return gpurt_segment_end(s);
}

/* Readers pass it without a word. */
GPURT_DEV gpurt_status_t gpurt_segment_abort(gpurt_segment_t *s)
{
    return gpurt_segment_drop(s);
}

/* A handler for GPURT_DEFER: aborts the segment at that address, unless it was committed. */
GPURT_DEVN void gpurt_segment_left(uint64_t segment)
{
    (void)gpurt_segment_drop((gpurt_segment_t *)(uintptr_t)segment);
}

/* No lane is cancelled between its reservation and its commit. */
GPURT_DEV gpurt_status_t gpurt_segring_write_one(gpurt_segring_call_t *call,
                                                 const void *from, uint64_t shape,
                                                 uint64_t bytes)
{
    gpurt_segment_t s;
    gpurt_status_t st = gpurt_segring_take_room(call, bytes, &s);

    if (st != GPURT_OK)
        return st;
    gpurt_segment_fill(&s, from, shape, bytes);
    return gpurt_segment_end(&s);
}

/* One lane. Returns: GPURT_E_CHANNEL_CLOSED when it was closed before. */
GPURT_DEVN gpurt_status_t gpurt_segring_close(const gpurt_segring_t *r)
{
    gpurt_segring_words_t *w = r->words;

    if (!w || gpurt_load_relaxed_dev_u32(&w->desk.id) != r->id) /* relaxed: only compared */
        return GPURT_E_HANDLE;
    if (gpurt_or_release_dev_u64(&w->xhead, GPURT_SEGRING_CLOSED) & /* SR3.rel */
        GPURT_SEGRING_CLOSED)
        return gpurt_channel_gone(&w->desk, r->id);
    /* relaxed: for who watches, and what says more stands in xhead */
    gpurt_store_relaxed_dev_u32(&w->desk.xstate, GPURT_CHANNEL_SHUT);
    return GPURT_OK;
}

#endif
