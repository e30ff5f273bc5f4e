/* SPDX-License-Identifier: Apache-2.0 */
/* logsink.h - a log file as the store of a drain. The drain's dictionary must be the
 * writer's. */
#ifndef GPURT_LOGSINK_H
#define GPURT_LOGSINK_H

#include "drain.h"
#include "writer.h"

/* For a file of one box. The writer is borrowed. */
gpurt_drain_sink_t gpurt_logsink(gpurt_writer_t *w);

/* For one of several boxes of a file, or a file that was there before; it was named to the
 * writer. Owner: the caller, as long as the drain. */
typedef struct gpurt_logbox {
    gpurt_writer_t *writer; /* borrowed */
    gplog_numbers_t numbers;
} gpurt_logbox_t;

gpurt_drain_sink_t gpurt_logsink_of(gpurt_logbox_t *box);

#endif
