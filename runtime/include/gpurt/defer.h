/* SPDX-License-Identifier: Apache-2.0 */
/* defer.h - what is to be put in order when work ends before its end.
 *
 *     #define GPURT_DEFER_DEPTH 4        // before any include: room for so many a warp
 *     #include <gpurt/device.h>
 *
 *   gpurt_status_t gpurt_defer(mask, handler, arg)
 *       The lanes of `mask` together note one handler, `void handler(uint64_t arg)`; arg is
 *       the lowest lane's. Returns: GPURT_E_NOMEM when the warp's stack is full.
 *   GPURT_DEFER(handler, arg)         the calling lane alone
 *   gpurt_undefer(mask, run)          takes back the newest that just these lanes noted, and
 *                                     calls it first when `run`. Returns: whether there was one
 *   bool gpurt_in_deferred()          whether this lane runs handlers because it leaves
 *
 * Context: device code; every lane of `mask` calls, with the same mask.
 *
 * A handler runs once, in one lane, newest first, when the last lane of its mask leaves because
 * of a panic or a cancellation. It does not run when lanes return or call gpurt_thread_exit:
 * take it back before. While a lane runs handlers it is not cancelled: its safe points let it
 * pass. A panic in a handler is told and counted, ends that handler, and the next one runs.
 * After a trap, or when the launch fails, none runs.
 *
 * Cost: nothing in a file without GPURT_DEFER_DEPTH; on a GPU otherwise 32 * (16 + 24 * DEPTH)
 * bytes of shared memory a block, and an indirect call where lanes leave. All units of an
 * -rdc=true program say the same depth. */
#ifndef GPURT_DEFER_H
#define GPURT_DEFER_H

#include <gpurt/block.h>
#include <gpurt/ids.h>
#include <gpurt/status.h>
#include <gpurt/warp.h>

#if defined(GPURT_DEFER_DEPTH) && GPURT_DEFER_DEPTH > 0
GPURT_STATIC_ASSERT(GPURT_DEFER_DEPTH <= 32, "GPURT_DEFER_DEPTH: at most 32");

/* scope: of scope.h, 0 for none. */
GPURT_DEV gpurt_status_t gpurt_defer_in(uint32_t mask, uint32_t scope,
                                        void (*handler)(uint64_t), uint64_t arg)
{
    uint32_t room = 0;

    if (gpurt_is_leader(mask))
        room = gpurt_defer_note(mask, scope, handler, arg);
    /* nobody goes on, and perhaps leaves, before it is noted */
    return gpurt_shfl_u32(mask, room, gpurt_leader(mask)) ? GPURT_OK : GPURT_E_NOMEM;
}

GPURT_DEV gpurt_status_t gpurt_defer(uint32_t mask, void (*handler)(uint64_t), uint64_t arg)
{
    return gpurt_defer_in(mask, 0, handler, arg);
}
#    define GPURT_DEFER(handler, arg) gpurt_defer(1u << gpurt_lane(), handler, arg)

GPURT_DEV bool gpurt_undefer(uint32_t mask, bool run)
{
    uint32_t found = 0;

    if (gpurt_is_leader(mask))
        found = gpurt_defer_drop(mask, 0, 1, run);
    return gpurt_shfl_u32(mask, found, gpurt_leader(mask)) != 0;
}
#endif

#endif
