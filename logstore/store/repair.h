/* SPDX-License-Identifier: Apache-2.0 */
/* repair.h - copies what is whole in a damaged log into a new one, with a new index.
 * Blocks are copied as they are; nothing is compressed again. Frames come in the order of
 * their numbers, each once, and are counted anew. */
#ifndef GPURT_LOG_REPAIR_H
#define GPURT_LOG_REPAIR_H

#include "reader.h"

typedef struct gpurt_repair_figures {
    uint64_t frames_kept, frames_lost, bytes_skipped; /* lost: damaged or double */
    gplog_damage_t damage;                            /* of what was read */
} gpurt_repair_figures_t;

/* to must not exist. */
gpurt_status_t gpurt_log_repair(const char *from, const char *to,
                                gpurt_repair_figures_t *out, gpurt_error_t *err);

#endif
