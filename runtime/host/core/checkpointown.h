/* SPDX-License-Identifier: Apache-2.0 */
/* checkpointown.h - what parts of the runtime need to become parts of a checkpoint. */
#ifndef GPURT_HOST_CHECKPOINTOWN_H
#define GPURT_HOST_CHECKPOINTOWN_H

#include <gpurt/checkpoint.h>

/* Adds a part whose context is a copy of *context, which ends with the checkpoint. */
gpurt_status_t gpurt_checkpoint_add_owned(gpurt_checkpoint_t *c, const char *name,
                                          gpurt_checkpoint_part_t *part,
                                          const void *context, size_t bytes,
                                          gpurt_error_t *err);

#endif
