/* SPDX-License-Identifier: Apache-2.0 */
/* locks.h - the host's side of locks: the log and gpurt-top are told of one.
 *
 *     gpurt_lock_watch_t watch;
 *     gpurt_lock_watch(rt, GPURT_LOCK_MUTEX, &args.desk->mutex, "queue", &watch, &err);
 *     ...
 *     gpurt_lock_unwatch(rt, &watch, &err);    before the memory goes, and before gpurt_close
 *
 * A lock that nobody watches costs nothing for it, and one that is watched no instruction of a
 * kernel: the viewer's thread copies its words twice a second. Kernels use mutex.h, rwlock.h,
 * semaphore.h, latch.h, phaser.h, tasklock.h. Context: host, any thread. */
#ifndef GPURT_LOCKS_H
#define GPURT_LOCKS_H

#include <gpurt/gpurt.h>

enum {
    GPURT_LOCK_WATCHES = 256 /* in a process */
};

typedef enum gpurt_lock_kind {
    GPURT_LOCK_MUTEX = 0,
    GPURT_LOCK_RWLOCK = 1,
    GPURT_LOCK_SEMAPHORE = 2,
    GPURT_LOCK_LATCH = 3,
    GPURT_LOCK_PHASER = 4, /* phaser.h; an object of the class `phaser` */
    GPURT_LOCK_TASK = 5    /* tasklock.h; an object of the class `tasklock` */
} gpurt_lock_kind_t;

typedef struct gpurt_lock_watch {
    const void *object;
    uint32_t id;
} gpurt_lock_watch_t;

GPURT_BEGIN_DECLS

/* object: in memory of the device, not in shared memory, which the host does not see. name: copied;
 * NULL: the lock's number. Returns: GPURT_E_INVALID; GPURT_E_NOMEM when GPURT_LOCK_WATCHES are
 * watched. */
gpurt_status_t gpurt_lock_watch(gpurt_t *rt, uint32_t kind, const void *object,
                                const char *name, gpurt_lock_watch_t *out,
                                gpurt_error_t *err);

/* NULL and zeros: nothing. Returns: GPURT_E_HANDLE, a second time. */
gpurt_status_t gpurt_lock_unwatch(gpurt_t *rt, gpurt_lock_watch_t *watch,
                                  gpurt_error_t *err);

GPURT_END_DECLS

#endif
