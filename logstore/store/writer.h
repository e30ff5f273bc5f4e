/* SPDX-License-Identifier: Apache-2.0 */
/* writer.h - appends rows to a log file.
 *
 * Rows gather in a frame; a frame is compressed and written when it is full or when asked.
 * One write call a frame, so that a killed writer leaves whole frames in nearly every case;
 * a short write (full disk) is taken back. Buffers are allocated at open, except for new
 * definitions. One thread uses a writer; or one adds definitions and notes them, and another
 * prepares and commits (scribe.h): all else wants that other one at rest. */
#ifndef GPURT_LOG_WRITER_H
#define GPURT_LOG_WRITER_H

#include "collected.h"
#include "dictionary.h"
#include "fileabout.h"

typedef struct gpurt_writer gpurt_writer_t;

typedef struct gpurt_writer_options {
    uint32_t struct_size;
    int32_t level;        /* of zstd; default 1 */
    uint32_t frame_rows;  /* default 32,768 */
    uint32_t frame_bytes; /* of rows; default 2 MiB, at most GPLOG_RAW_MAX */
    bool append;          /* go on behind the last whole frame; else the file must be new */
    const gplog_file_t *about; /* who is recorded; NULL: unknown */
} gpurt_writer_options_t;

/* What was written since open. */
typedef struct gpurt_writer_figures {
    uint64_t frames, rows, messages, lost, panics, bytes;
    uint64_t first_ns, last_ns;
} gpurt_writer_figures_t;

/* path "-" is refused: a log is appended to, and its index needs offsets. */
gpurt_status_t gpurt_writer_open(const char *path, const gpurt_writer_options_t *options,
                                 gpurt_writer_t **out, gpurt_error_t *err);

/* Adds a definition; once noted, it reaches the file before the next frame. Returns: its id, 0 if
 * full. */
uint32_t gpurt_writer_define(gpurt_writer_t *w, const gpurt_site_info_t *info);

/* The writer's own; whoever adds to it need not call define. */
gpurt_dictionary_t *gpurt_writer_dictionary(gpurt_writer_t *w);

/* Says who is recorded from here on, beside those that were named before. */
gpurt_status_t gpurt_writer_about(gpurt_writer_t *w, const gplog_file_t *about,
                                  gpurt_error_t *err);

/* What the file calls the sections of one that was named: rows must name them so. */
void gpurt_writer_numbers(gpurt_writer_t *w, const gplog_file_t *about,
                          gplog_numbers_t *out);

/* Copies a row with its words. May write a frame first. numbers: of the box that it is from;
 * NULL: it has the file's. */
gpurt_status_t gpurt_writer_put(gpurt_writer_t *w, const gpurt_row_t *row,
                                gpurt_error_t *err);
gpurt_status_t gpurt_writer_put_of(gpurt_writer_t *w, const gplog_numbers_t *numbers,
                                   const gpurt_row_t *row, gpurt_error_t *err);

/* Notes what was added to the dictionary: before prepare, by the thread that adds. The other
 * calls that write note by themselves. */
gpurt_status_t gpurt_writer_note(gpurt_writer_t *w, gpurt_error_t *err);

/* A frame of rows that lie one after another elsewhere, at most GPLOG_RAW_MAX bytes, in two
 * steps, so that the caller can note *place before anything of the frame is in the file.
 * commit writes what was prepared last; a frame that was not committed was never there.
 * numbers: as above. */
gpurt_status_t gpurt_writer_prepare(gpurt_writer_t *w, const gplog_numbers_t *numbers,
                                    const gpurt_row_t *rows, uint32_t bytes,
                                    gpurt_box_intent_t *place, gpurt_error_t *err);
gpurt_status_t gpurt_writer_commit(gpurt_writer_t *w, gpurt_error_t *err);
/* Whether this file holds that frame, whole, whoever wrote it. */
bool gpurt_writer_holds(gpurt_writer_t *w, const gpurt_box_intent_t *place);
/* Keeps bytes (GPLOG_BLOB_*) beside the rows, packed. *id: for rows to name them. */
gpurt_status_t gpurt_writer_blob(gpurt_writer_t *w, uint32_t kind, const void *bytes,
                                 size_t size, uint64_t *id, gpurt_error_t *err);

/* Writes the frame at hand, if it holds a row. After a failure the rows are kept and the
 * next flush tries again. */
gpurt_status_t gpurt_writer_flush(gpurt_writer_t *w, gpurt_error_t *err);

/* Whether the log is still the file of that name. Returns: GPURT_OK, or what became of it and of
 * the records written since open. */
gpurt_status_t gpurt_writer_stands(gpurt_writer_t *w, gpurt_error_t *err);

/* Rows in memory that no file holds yet. */
uint32_t gpurt_writer_pending(const gpurt_writer_t *w);

void gpurt_writer_figures(const gpurt_writer_t *w, gpurt_writer_figures_t *out);
/* The same of what the collector saw. Borrowed until close. */
const gplog_collected_t *gpurt_writer_collected(const gpurt_writer_t *w);

/* Flushes, writes index and end, frees. NULL is allowed. Returns: the first failure; the
 * writer is gone in any case. */
gpurt_status_t gpurt_writer_close(gpurt_writer_t *w, gpurt_error_t *err);

/* In place of close, where nothing was to be recorded: takes back what was written since open, and
 * removes a file that open made. So does open itself when it fails. NULL is allowed. */
void gpurt_writer_drop(gpurt_writer_t *w);

#endif
