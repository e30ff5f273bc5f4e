/* SPDX-License-Identifier: Apache-2.0 */
/* guards.h - guarded launches: what the rest of the host API needs to know of them (recover.h).
 *
 * Owner: the handle table; a guard is also in a list, so that gpurt_sync and gpurt_close find
 * those that nobody has waited for. Context: host, any thread, inside the runtime. */
#ifndef GPURT_HOST_GUARDS_H
#define GPURT_HOST_GUARDS_H

#include "choice.h"

#include <gpurt/recover.h>

/* Puts a guarded kernel's arguments behind a ticket. Returns: how many bytes that makes. */
size_t gpurt_guard_wrap(const gpurt_kernel_t *kernel, gpurt_ticket_t ticket,
                        const void *args, unsigned char out[GPURT_MAX_ARGS_BYTES]);

/* The stream's work failed: so may have those launches in it that nobody has waited for. A wait
 * hears of a failure only once. */
void gpurt_guards_hear(const gpurt_opened_t *o, gpurt_stream_t stream,
                       gpurt_status_t status);
void gpurt_guards_hear_all(const gpurt_opened_t *o, gpurt_status_t status);

/* Waits for every guard of it nobody has waited for. again: with retries and fallbacks.
 * Returns: the first failure. */
gpurt_status_t gpurt_guards_settle(const gpurt_opened_t *o, bool again, gpurt_error_t *err);

/* The next guard of it whose launch panicked since this was asked last. Context: one thread. */
bool gpurt_guards_news(const gpurt_opened_t *o, gpurt_panic_news_t *out);

/* A guard out of the handle table, which nobody uses any more. */
void gpurt_guard_free(const gpurt_opened_t *o, void *guard);

#endif
