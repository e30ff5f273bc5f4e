/* SPDX-License-Identifier: Apache-2.0 */
/* export_tracks.h - the tracks of an export, each made when something first lies on it.
 * Bounded: what comes when the table is full lies on a track of its own, called others.
 *
 * Slices of a track must lie beside or inside each other. Kernels of one stream can overlap
 * (programmatic launches, graphs), calls of one thread nest: a slice that crosses another
 * one goes to a lane of its own. */
#ifndef GPURT_TUI_EXPORT_TRACKS_H
#define GPURT_TUI_EXPORT_TRACKS_H

#include "export_event.h"

enum {
    EXPORT_TRACKS = 1 << 17, /* 8 devices of 132 SMs with 64 slots are 68,640 */
    EXPORT_LANES = 16
};

typedef struct export_tracks export_tracks_t;

/* Returns: NULL without memory. writer and out are told of each new track; borrowed. */
export_tracks_t *export_tracks_create(const export_writer_t *writer, export_out_t *out);
void export_tracks_destroy(export_tracks_t *t); /* NULL is allowed */

export_track_t *export_tracks_get(export_tracks_t *t, export_key_t key);

/* The lane of `key` on which a slice fits, taken for it: beside the others or, where
 * `nests`, also inside one. Slices come by time of their beginning, longer ones first. */
export_track_t *export_tracks_lane(export_tracks_t *t, export_key_t key, bool nests,
                                   uint64_t start, uint64_t end);

#endif
