/* SPDX-License-Identifier: Apache-2.0 */
/* hang_join.h - what a watch of a box found, on its way into a log, to whoever looks on, and
 * to people. */
#ifndef GPURT_TUI_HANG_JOIN_H
#define GPURT_TUI_HANG_JOIN_H

#include "hang_watch.h"
#include "logsink.h"
#include "panic_hook.h"
#include "publish.h"

#include <stdio.h>

/* Owner: the caller. What is NULL is left out. */
typedef struct hang_sinks {
    const gpurt_logbox_t *log;
    publish_t *publish;
    panic_hook_t *hook;
    const char *name; /* of the program that tells it */
    FILE *out;        /* the report for people */
} hang_sinks_t;

/* Keeps the snapshot as a blob of the log and a row that names it, and flushes: a hang may be
 * the last that is heard of a program. Context: no frame of the writer's is prepared. */
gpurt_status_t hang_join(const hang_sinks_t *to, const gpurt_waitgraph_t *g, uint32_t pid,
                         gpurt_error_t *err);

#endif
