/* SPDX-License-Identifier: Apache-2.0 */
/* gccollect.h - what the host's files of the collector share. */
#ifndef GPURT_HOST_GCCOLLECT_H
#define GPURT_HOST_GCCOLLECT_H

#include "gc_kernels.h"

#include <gpurt/gpurt.h>

/* What gpurt_gc_create gave, if it still exists, and its heap: both stay until the drop,
 * whoever destroys them meanwhile. */
gpurt_status_t gpurt_gc_take(gpurt_t *rt, const gpurt_gc_t *gc, gpurt_error_t *err);
void gpurt_gc_drop(const gpurt_gc_t *gc);

/* A copy of all entries, to be freed. */
gpurt_status_t gpurt_gc_entries_read(gpurt_t *rt, const gpurt_gc_t *gc,
                                     gpurt_gc_entry_t **out, gpurt_error_t *err);

#endif
