/* SPDX-License-Identifier: Apache-2.0 */
/* panicwait.h - waits that fail because a kernel panicked.
 *
 * A GPU says of a panic neither its launch nor its stream. So the box counts panics that nobody
 * handles (no guard, no scope), each stream keeps what that count was at its first launch since
 * the last wait for it, and a wait that finds more fails with GPURT_E_PANIC. It may have been
 * another stream's launch at that time; a stream whose own launch panicked is always told.
 * gpurt_sync and gpurt_close, which wait for all, tell what no wait has told.
 *
 * Context: host, any thread, inside the runtime. */
#ifndef GPURT_HOST_PANICWAIT_H
#define GPURT_HOST_PANICWAIT_H

#include "boxmap.h"
#include "choice.h"

/* What was launched into a stream since its last wait; 0: nothing. */
typedef uint64_t gpurt_panicwait_t;

/* The map stays until close; `more` too: where a reader finds more. Context: gpurt_open, and
 * gpurt_close. */
void gpurt_panicwait_open(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                          uint32_t section, const char *more);
void gpurt_panicwait_close(const gpurt_opened_t *opened);
void gpurt_panicwait_forked(uint32_t index); /* a child's, instead */

/* A stream is new; something is being launched into it. */
void gpurt_panicwait_fresh(gpurt_stream_t stream);
void gpurt_panicwait_launch(const gpurt_opened_t *opened, gpurt_stream_t stream);

/* Around a wait for a stream: what it waits for; that it has not ended. */
gpurt_panicwait_t gpurt_panicwait_take(const gpurt_opened_t *opened, gpurt_stream_t stream);
void gpurt_panicwait_return(const gpurt_opened_t *opened, gpurt_stream_t stream,
                            gpurt_panicwait_t taken);

/* Behind a wait that went well. Returns: GPURT_E_PANIC, or GPURT_OK. */
gpurt_status_t gpurt_panicwait_hear(const gpurt_opened_t *opened, gpurt_panicwait_t taken,
                                    gpurt_error_t *err);
/* ... for all streams. */
gpurt_status_t gpurt_panicwait_hear_all(const gpurt_opened_t *opened, gpurt_error_t *err);

#endif
