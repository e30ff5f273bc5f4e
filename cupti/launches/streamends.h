/* SPDX-License-Identifier: Apache-2.0 */
/* streamends.h - whether streams have come to their ends, where no record tells: the driver is asked,
 * by a thread that nothing else waits for, about those in which something has been for long.
 *
 * A stream or a context that ends must not be asked any more, and a capture of launches would be
 * spoilt by a question. So whoever is about to end or to capture comes here first. It waits for a
 * question that is under way, a second at most: a driver that hangs holds the program up anyway. */
#ifndef GPURT_CUPTI_STREAMENDS_H
#define GPURT_CUPTI_STREAMENDS_H

#include "inflight.h"
#include "launchhook.h"

/* asks: else captures alone are known. Returns: false: the driver lacks a call. Context: once, before
 * the hook tells. */
bool streamends_start(launchhook_find_t find, bool asks);

/* What was launched there is neither watched nor asked about any more. Context: any thread of the
 * program. */
void streamends_drop(const inflight_key_t *streams);

/* Captures that are open: one more or one less. Context: likewise. */
void streamends_captures(int more);

/* Whether a launch into a stream is kept for a graph instead of made. Context: likewise; costs a look
 * at a word where no capture is open. */
bool streamends_is_captured(CUstream stream, bool per_thread);

/* Whether a stream's end can be asked for: one of a thread's own answers to that thread alone, which a
 * note says. Context: likewise. */
bool streamends_answers(CUstream stream, bool per_thread);

/* Context: the program ends. */
void streamends_stop(void);

#endif
