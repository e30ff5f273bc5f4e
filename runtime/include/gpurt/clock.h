/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - time as a kernel sees it.
 *
 * Context: device code.
 *
 *   uint64_t gpurt_clock()          cycles of this multiprocessor: differences only, and only
 *                                   between readings of one warp. On the CPU: nanoseconds
 *   uint64_t gpurt_globaltimer()    nanoseconds, the same on every multiprocessor; it steps in
 *                                   units of the device (32 ns on an H200). On the CPU the
 *                                   realtime clock
 *   uint64_t gpurt_until(begin, ns) that time of gpurt_globaltimer; UINT64_MAX: never
 * Under a seeded schedule both count steps of the schedule, so that a run replays.
 * (defined in dialect_cuda.h and dialect_simt.h) */
#ifndef GPURT_CLOCK_H
#define GPURT_CLOCK_H

#include <gpurt/impl/dialect.h>

/* begin_ns: 0: the wait has not begun. */
GPURT_HD uint64_t gpurt_until(uint64_t begin_ns, uint64_t ns)
{
    return begin_ns && ns < UINT64_MAX - begin_ns ? begin_ns + ns : UINT64_MAX;
}

#endif
