/* SPDX-License-Identifier: Apache-2.0 */
/* repair.h - copies what is whole in a damaged log into a new one, with a new index.
 * Blocks are copied as they are; nothing is compressed again. */
#ifndef GPURT_LOG_REPAIR_H
#define GPURT_LOG_REPAIR_H

#include "reader.h"

typedef struct gpurt_repair_figures {
    uint64_t frames_kept, frames_lost, bytes_skipped;
} gpurt_repair_figures_t;

/* to must not exist. */
gpurt_status_t gpurt_log_repair(const char *from, const char *to,
                                gpurt_repair_figures_t *out, gpurt_error_t *err);

#endif
