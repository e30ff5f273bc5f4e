/* SPDX-License-Identifier: Apache-2.0 */
/* point.h - the preemption point: where the CPU back end may interrupt a lane.
 *
 * Each atomic of atomic.h passes one. It costs a decrement of a thread-local counter; when the
 * counter runs out the executor is asked. In the default schedule that happens every 1,024
 * atomics (so a loop that forgot gpurt_relax still lets others run), under a seeded schedule
 * at each. On a thread that runs no lane the counter is simply refilled. */
#ifndef GPURT_POINT_H
#define GPURT_POINT_H

#include <gpurt/base.h>

typedef struct gpurt_point {
    const void *addr; /* the word accessed */
    uint16_t bytes;
    uint8_t scope;      /* GPURT_SCOPE_* */
    uint8_t kind;       /* GPURT_POINT_* */
    const void *caller; /* return address into the device code, for reports */
} gpurt_point_t;

enum {
    GPURT_SCOPE_BLK = 1,
    GPURT_SCOPE_CLU = 2,
    GPURT_SCOPE_DEV = 3,
    GPURT_SCOPE_SYS = 4,
    GPURT_SCOPE_FAR = 5, /* the device's; of a word that is not in shared memory */
    GPURT_SCOPE_NEAR = 6 /* the block's; of a word in its shared memory */
};
enum {
    GPURT_POINT_LOAD,
    GPURT_POINT_STORE,
    GPURT_POINT_RMW,
    GPURT_POINT_SWAP, /* exchange, compare-exchange: what a loop may do and change nothing */
    GPURT_POINT_PLAIN /* an ordinary access, in a build instrumented for it */
};

/* What an executor installs; NULL while none exists in the process. */
typedef void (*gpurt_point_fn)(const gpurt_point_t *point);

GPURT_BEGIN_DECLS

#if !GPURT_ON_CUDA
extern GPURT_TLS uint32_t gpurt_point_budget; /* written by: its own thread */
#endif

/* Context: host start-up of an executor. Returns: the hook that was there before. */
gpurt_point_fn gpurt_point_install(gpurt_point_fn hook);

/* The slow path. Context: any thread, at an atomic. */
void gpurt_point_reached(const void *addr, uint32_t bytes, uint32_t scope, uint32_t kind);

GPURT_END_DECLS

#if !GPURT_ON_CUDA
/* Not for the race detector: lanes of one worker share the counter by design. */
__attribute__((no_sanitize("thread"))) static inline void
gpurt_point(const void *addr, uint32_t bytes, uint32_t scope, uint32_t kind)
{
    if (GPURT_UNLIKELY(--gpurt_point_budget == 0))
        gpurt_point_reached(addr, bytes, scope, kind);
}
#endif

#endif
