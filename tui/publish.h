/* SPDX-License-Identifier: Apache-2.0 */
/* publish.h - what a drainer drains, for gpurt-top to look at: a model fed beside the log,
 * shown in shared memory. Where that cannot be had (no folder of ours, another process
 * publishes already) the drain goes on without. Used by the drain's thread alone. */
#ifndef GPURT_TUI_PUBLISH_H
#define GPURT_TUI_PUBLISH_H

#include "drain.h"
#include "modelshare.h"

/* Owner: the caller. Zeroed: publishes nothing. */
typedef struct publish {
    gpurt_model_t *model;
    gpurt_modelshare_t *share;
} publish_t;

/* Begins to publish the process that made the box, and appends the model to the drain's
 * sinks. dictionary: the drain's; borrowed until close. */
void publish_open(publish_t *p, const gpurt_boxmap_t *map, gpurt_drain_options_t *options);

/* After each round: shows what is new, ten times a second. */
void publish_tick(publish_t *p);

/* Shows the end, and takes the name away. Accepts a zeroed and a closed one. */
void publish_close(publish_t *p);

#endif
