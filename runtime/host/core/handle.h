/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - 64-bit handles for streams, events and the like: pointers with generations.
 *
 * A handle is generation << 32 | slot + 1. The generation grows each time a slot is used
 * again, so a handle that was released, or that was made up, or that names an object of
 * another kind is recognised and never followed. A slot comes round after 4,096 others
 * were used, and then repeats a generation after 2^32 rounds.
 *
 * When one thread releases a handle while another is in a call with it: the call goes on
 * with the object it took, every later call is refused, and the object is given for
 * destruction to whoever ends last, either the releaser at once or the last such call
 * when it returns. Nobody waits for anybody. */
#ifndef GPURT_HOST_HANDLE_H
#define GPURT_HOST_HANDLE_H

#include "pin.h"
#include "process.h"

#include <gpurt/status.h>

#define GPURT_HANDLE_COUNT 4096 /* streams and events alive at once */

typedef enum gpurt_handle_kind {
    GPURT_HANDLE_STREAM = 1,
    GPURT_HANDLE_EVENT = 2,
    GPURT_HANDLE_GUARD = 3,
    GPURT_HANDLE_SERVICE = 4
} gpurt_handle_kind_t;

/* What is taken, made and released: things of that kind, of one open device. */
typedef uint32_t gpurt_handle_class_t;

static inline gpurt_handle_class_t gpurt_handle_of(uint32_t device,
                                                   gpurt_handle_kind_t kind)
{
    return device << 3 | (uint32_t)kind;
}

/* Shared with: every thread. object and next are written under the table's lock while
 * the slot is not live and has no user. */
typedef struct gpurt_handle_slot {
    gpurt_pin_t pin;
    void *object;
    uint32_t next;   /* in the queue of free slots */
    bool forked;     /* the slot was used before a fork, */
    uint32_t parent; /* last with this generation */
} gpurt_handle_slot_t;

/* Owner: static storage; starts as zero with an initialised lock and lives as long as the
 * process, so that handles of an earlier runtime stay recognised. The lock is for creation
 * and for slots that become free: a take or a drop of a live handle never holds it. */
typedef struct gpurt_handles {
    gpurt_lock_t lock;
    uint32_t fresh;          /* slots before this one have been used */
    uint32_t oldest, newest; /* queue of free slots: index + 1, 0 when it is empty */
    gpurt_handle_slot_t slots[GPURT_HANDLE_COUNT];
} gpurt_handles_t;

/* Streams, events, guards and services of every device this process opens. */
extern gpurt_handles_t gpurt_handles;

/* An object nobody uses any more: the caller destroys it. object is NULL when there is
 * none. */
typedef struct gpurt_orphan {
    void *object;
    gpurt_handle_kind_t kind;
} gpurt_orphan_t;

/* Context: host, any thread, for all of these. */

/* Returns: 0 when the table is full. */
uint64_t gpurt_handle_create(gpurt_handles_t *t, gpurt_handle_class_t of, void *object);

/* Until drop, *object stays. Lock-free. Returns: false when the handle is not one of
 * that class. */
bool gpurt_handle_take(gpurt_handles_t *t, gpurt_handle_class_t of, uint64_t handle,
                       void **object);

/* Ends what take began. Lock-free unless it leaves an orphan. */
gpurt_orphan_t gpurt_handle_drop(gpurt_handles_t *t, uint64_t handle);

/* Returns: false when the handle is not one of that class. */
bool gpurt_handle_release(gpurt_handles_t *t, gpurt_handle_class_t of, uint64_t handle,
                          gpurt_orphan_t *orphan);

/* Releases the next handle of that class that is still there. *cursor starts at 0. Only
 * while no other call uses that class. Returns: its object; NULL when there is none left. */
void *gpurt_handle_sweep(gpurt_handles_t *t, gpurt_handle_class_t of, uint32_t *cursor);

/* Takes the next handle of that class, which is to be dropped. *cursor starts at 0. Returns: it; 0
 * when there is none left. */
uint64_t gpurt_handle_next(gpurt_handles_t *t, gpurt_handle_class_t of, uint32_t *cursor,
                           void **object);

/* In a forked child: all handles are its parent's. Context: no call is inside. */
void gpurt_handles_forked(gpurt_handles_t *t);

/* Why the handle was refused, as GPURT_E_HANDLE or GPURT_E_FORKED with one line. */
gpurt_status_t gpurt_handle_refuse(const gpurt_handles_t *t, gpurt_handle_class_t of,
                                   uint64_t handle, gpurt_error_t *err);

#endif
