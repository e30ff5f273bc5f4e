/* SPDX-License-Identifier: Apache-2.0 */
/* threadwait.h - tells a device's black box which threads of the host wait for its kernels, and which
 * of them kernels may wait for (threadpage.h). Costs nothing where no box is read from outside.
 *
 * Context: host, any thread, inside a call that has entered the device (life.h). */
#ifndef GPURT_HOST_THREADWAIT_H
#define GPURT_HOST_THREADWAIT_H

#include "boxmap.h"
#include "choice.h"

/* An object that kernels wait at, or at which they are awaited. */
typedef struct gpurt_threadwait_at {
    const gpurt_waitable_t *waitable; /* in device memory: its address alone counts */
    uint32_t kind;                    /* GPURT_WAITABLE_* */
    const char *name;
} gpurt_threadwait_at_t;

/* The calling thread waits, since then by the steady clock. limited: it gives up by itself some time.
 * Returns: what end takes; 0: it is not told. */
uint32_t gpurt_threadwait_begin(const gpurt_opened_t *opened,
                                const gpurt_threadwait_at_t *at, uint32_t reason,
                                bool limited, uint64_t began_ns);
void gpurt_threadwait_end(const gpurt_opened_t *opened, uint32_t told);

/* A thread sends, receives or serves there; role: GPURT_HOLD_*. place: whoever calls owns it, and calls
 * by one thread at a time. */
enum {
    GPURT_THREADUSE_EACH = 3, /* places of an end: threads share them by their numbers */
    GPURT_THREADUSE_CALLS =
        GPURT_THREADUSE_EACH * 256 /* those of host calls; before: of channels */
};
void gpurt_threadwait_use(const gpurt_opened_t *opened, uint32_t place,
                          const gpurt_threadwait_at_t *at, uint32_t role, uint32_t thread);
void gpurt_threadwait_unuse(const gpurt_opened_t *opened, uint32_t place);

/* The calling thread, as the kernel counts. */
uint32_t gpurt_threadwait_self(void);

/* ---- logpart.c -------------------------------------------------------------------------- */
void gpurt_threadwait_connect(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                              uint32_t device, uint32_t host);
void gpurt_threadwait_disconnect(const gpurt_opened_t *opened);
void gpurt_threadwait_forked(uint32_t index);

#endif
