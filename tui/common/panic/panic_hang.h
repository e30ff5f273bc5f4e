/* SPDX-License-Identifier: Apache-2.0 */
/* panic_hang.h - deadlocks as failures of a source: out of the state pages of a box, or of
 * what a log keeps of them. */
#ifndef GPURT_TUI_PANIC_HANG_H
#define GPURT_TUI_PANIC_HANG_H

#include "panic_source.h"
#include "waitgraph.h"

/* A row for the deadlock that a box stands in, if it does. Returns: GPURT_OK, too, where
 * there is none. */
gpurt_status_t panic_hang_each(panic_source_t *source, panic_row_fn *take, void *context,
                               gpurt_error_t *err);

/* Who waited for whom, of a HANG row. Owner: the caller; fini both. */
gpurt_status_t panic_hang_of(panic_source_t *source, const panic_facts_t *f,
                             gpurt_waits_t *waits, gpurt_waitgraph_t *graph,
                             gpurt_error_t *err);

/* The same of a box where nothing failed: who waits now. */
gpurt_status_t panic_hang_now(panic_source_t *source, gpurt_waits_t *waits,
                              gpurt_waitgraph_t *graph, gpurt_error_t *err);

#endif
