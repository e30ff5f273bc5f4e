/* SPDX-License-Identifier: Apache-2.0 */
/* part.h - the parts of an open device: streams, heaps, services, guards, the log and so on. Each
 * has one row in parts.c, and opening, closing and forking walk the rows in their order, so that
 * open.c knows none of them by name. What the log is told of a part's objects is declared with
 * their class (objectclass.h); what a checkpoint holds of it, with the checkpoint. */
#ifndef GPURT_HOST_PART_H
#define GPURT_HOST_PART_H

#include "choice.h"

/* NULL: there is nothing to do. */
typedef struct gpurt_part {
    const char *name;
    /* The back end is open, and nobody is inside. What a part cannot have it tells itself. */
    void (*open)(gpurt_opened_t *opened, const gpurt_options_t *options);
    /* Calls are let in. */
    void (*ready)(gpurt_t *rt);
    /* Calls may still be inside. Returns: GPURT_E_TIMEOUT, and the device stays open. */
    gpurt_status_t (*closing)(gpurt_t *rt, gpurt_error_t *err);
    /* Nobody is inside, and no kernel runs. status: of all that was closed before. */
    gpurt_status_t (*close)(gpurt_opened_t *opened, gpurt_status_t status,
                            gpurt_error_t *err);
    /* In a forked child: what was the parent's is let go. opened NULL: the fork came while the
     * device was opened or closed, and nothing else is known of it. */
    void (*forked)(uint32_t index, gpurt_opened_t *opened);
    /* Likewise, once, behind all devices. */
    void (*forked_all)(void);
} gpurt_part_t;

/* Each beside its part. */
extern const gpurt_part_t gpurt_part_services, gpurt_part_heaps, gpurt_part_viewer,
    gpurt_part_panicwatch, gpurt_part_guards, gpurt_part_panics, gpurt_part_streams,
    gpurt_part_hostcalls, gpurt_part_channels, gpurt_part_log;

/* In order; NULL ends them. */
extern const gpurt_part_t *const gpurt_parts[];

#endif
