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
 * Under a seeded schedule both count steps of the schedule, so that a run replays.
 * (defined in dialect_cuda.h and dialect_simt.h) */
#ifndef GPURT_CLOCK_H
#define GPURT_CLOCK_H

#include <gpurt/impl/dialect.h>

#endif
