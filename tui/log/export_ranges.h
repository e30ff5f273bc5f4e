/* SPDX-License-Identifier: Apache-2.0 */
/* export_ranges.h - the ranges (NVTX) of a program that have begun and not ended.
 *
 * A log tells of a beginning and of an end, each with an identifier. Ranges that a thread
 * pushes and pops lie in each other; others end in any order, and only their end tells. So a
 * range is written when it ends: on its thread's track when it is the innermost one that is
 * open, else on a lane of its own. */
#ifndef GPURT_TUI_EXPORT_RANGES_H
#define GPURT_TUI_EXPORT_RANGES_H

#include <gpurt/impl/activity.h>

enum {
    EXPORT_RANGES_OPEN = 4096 /* the oldest gives way, and has no end then */
};

typedef struct export_range {
    gpurt_activity_range_t row; /* of its beginning */
    uint64_t time_ns;
    bool opened; /* its beginning is written */
} export_range_t;

/* Owner: the timeline; zeroed at first. In order of their beginning. */
typedef struct export_ranges {
    uint32_t count;
    export_range_t list[EXPORT_RANGES_OPEN];
} export_ranges_t;

/* Returns: whether one had to give way; it is *out then. */
bool export_ranges_begin(export_ranges_t *r, const gpurt_activity_range_t *row,
                         uint64_t time_ns, export_range_t *out);

/* The range that ends; *inner: no other of its thread began later and is open. Returns:
 * false: its beginning is not known. */
bool export_ranges_end(export_ranges_t *r, uint32_t id, export_range_t *out, bool *inner);

/* Those of the thread, other than itself, that began in the same moment and before: their
 * beginnings must be written first. Returns: NULL: none, or no more. */
export_range_t *export_ranges_same(export_ranges_t *r, uint32_t thread, uint64_t time_ns);

#endif
