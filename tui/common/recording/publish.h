/* SPDX-License-Identifier: Apache-2.0 */
/* publish.h - what a drainer drains, for gpurt-top to look at: a model fed beside the log,
 * shown in shared memory. Adding up rows takes half as long as writing them, so it is done
 * by a thread of its own, which gets copies; the drain waits for it only when it is a whole
 * buffer behind. Rows of a box whose writers can wait are added up at once instead, while they
 * are in the drain's cache: a copy, and fetching it, costs as much. Where nothing can be published (no folder of ours, another process does
 * it already) the drain goes on without. */
#ifndef GPURT_TUI_PUBLISH_H
#define GPURT_TUI_PUBLISH_H

#include "drain.h"

typedef struct publish publish_t;

/* Begins to publish the box, and appends a watcher to the drain's
 * sinks. dictionary: the drain's; borrowed until close. Returns: NULL when nothing can be
 * published. Context: of all calls, the drain's thread. */
publish_t *publish_open(const gpurt_boxmap_t *map, gpurt_drain_options_t *options);

/* After each round: shows what is new, ten times a second. NULL is allowed. */
void publish_tick(publish_t *p);

/* A row that is not the drain's. Both NULL are allowed. */
void publish_row(publish_t *p, const gpurt_row_t *row);

/* Shows the end, and takes the name away. NULL is allowed. */
void publish_close(publish_t *p);

#endif
