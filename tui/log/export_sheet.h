/* SPDX-License-Identifier: Apache-2.0 */
/* export_sheet.h - what the events of a row are put on: the tracks of the process that it is of,
 * and the format behind them. */
#ifndef GPURT_TUI_EXPORT_SHEET_H
#define GPURT_TUI_EXPORT_SHEET_H

#include "export_tracks.h"

/* Owner: the timeline; all that it points to is borrowed. */
typedef struct export_sheet {
    const export_writer_t *writer;
    export_out_t *out;
    export_tracks_t *tracks;
    uint16_t program; /* of the row that is taken now */
} export_sheet_t;

/* All numbers are those of the process that the row is of. */
export_key_t export_sheet_key(const export_sheet_t *s, uint32_t kind, uint32_t device,
                              uint32_t a, uint32_t b);
export_track_t *export_sheet_track(const export_sheet_t *s, uint32_t kind, uint32_t device,
                                   uint32_t a, uint32_t b);
/* Threads that nobody knows are the process's. */
export_track_t *export_sheet_thread(const export_sheet_t *s, uint32_t thread);

/* Where a row of no activity stands: its thread, or its warp; losses at least their device. */
export_track_t *export_sheet_place(const export_sheet_t *s, const gpurt_row_t *row);

void export_sheet_event(const export_sheet_t *s, const export_event_t *e);
/* which: EXPORT_COUNT_*. */
void export_sheet_counter(const export_sheet_t *s, uint32_t device, uint32_t which,
                          uint64_t time_ns, double value);

/* Another argument of an event: EXPORT_ARG_*, EXPORT_AS_*. */
export_arg_t *export_event_arg(export_event_t *e, uint8_t key, uint8_t as, uint64_t value);
void export_event_dims(export_event_t *e, uint8_t key, const uint32_t dims[3]);
void export_event_text(export_event_t *e, uint8_t key, const char *text, size_t bytes);

#endif
