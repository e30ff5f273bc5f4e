/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - reads log files: whole, torn, damaged, hostile, or still growing.
 *
 * Opening takes the index when the file ends with one and walks the blocks otherwise.
 * Nothing in the file is believed: every offset is bounded, every block and frame has
 * its checksum, every row its form. What is damaged is stepped over and counted; every
 * intact frame is read. One thread uses a reader. */
#ifndef GPURT_LOG_READER_H
#define GPURT_LOG_READER_H

#include "dictionary.h"
#include "judge.h"
#include "pulse.h"

typedef struct gpurt_log gpurt_log_t;

/* What the blocks of the file say, and what is wrong with them. */
typedef struct gpurt_log_summary {
    uint64_t frames, messages, lost, panics, bytes;
    uint64_t first_ns, last_ns;
    uint64_t torn_frames;   /* frames known to be damaged, so far: damage.torn */
    uint64_t skipped_bytes; /* between sound blocks: damage.stray_bytes */
    gplog_damage_t damage;  /* so far: all of it once each frame was read */
    uint64_t told_messages; /* as its END has them; 0: it does not say */
    uint32_t sites, runs;
    bool closed;        /* ends with an END block */
    bool indexed;       /* opened by the index */
    gplog_file_t about; /* of the last run; texts are terminated */
} gpurt_log_summary_t;

/* The rows of one frame. Owner: the log; valid until the next read. */
typedef struct gpurt_log_rows {
    const uint8_t *bytes;
    uint32_t size, count;
} gpurt_log_rows_t;

gpurt_status_t gpurt_log_open(const char *path, gpurt_log_t **out, gpurt_error_t *err);
/* Believes no index: walks the blocks. */
gpurt_status_t gpurt_log_open_walked(const char *path, gpurt_log_t **out,
                                     gpurt_error_t *err);
/* Takes the descriptor over, also on failure. name: for messages. */
gpurt_status_t gpurt_log_open_fd(int fd, const char *name, gpurt_log_t **out,
                                 gpurt_error_t *err);
void gpurt_log_close(gpurt_log_t *log); /* NULL is allowed */

/* Looks for what was appended since. Returns: whether there are more frames. */
bool gpurt_log_refresh(gpurt_log_t *log);

/* Whether more is to be expected of a log that is not closed. *pid: of LEFT, a program that was
 * recorded and runs. */
gplog_pulse_state_t gpurt_log_pulse(const gpurt_log_t *log, uint32_t *pid);

/* Frames that count, in the order of their numbers. */
uint64_t gpurt_log_frames(const gpurt_log_t *log);
const gplog_index_entry_t *gpurt_log_entry(const gpurt_log_t *log, uint64_t frame);

/* Whether the frame that lies at an offset is one of them. */
bool gpurt_log_counts(const gpurt_log_t *log, uint64_t number, uint64_t offset);

/* Reads and checks one frame. Returns: GPURT_E_INVALID for a damaged one, which is then
 * counted in the summary once. */
gpurt_status_t gpurt_log_read(gpurt_log_t *log, uint64_t frame, gpurt_log_rows_t *out,
                              gpurt_error_t *err);

/* The same by the checksum alone: nothing is unpacked. */
gpurt_status_t gpurt_log_check(gpurt_log_t *log, uint64_t frame, gpurt_error_t *err);

/* The row at `at` bytes, or NULL at the end; *next is where the one behind it starts. */
const gpurt_row_t *gpurt_log_row(const gpurt_log_rows_t *rows, uint32_t at, uint32_t *next);

/* The bytes of a blob (GPLOG_BLOB_*) that a row names. Owner: the caller; free(*bytes). Walks
 * the file. */
gpurt_status_t gpurt_log_blob(gpurt_log_t *log, uint64_t id, uint32_t kind, void **bytes,
                              size_t *size, gpurt_error_t *err);

const gpurt_dictionary_t *gpurt_log_dictionary(const gpurt_log_t *log);
void gpurt_log_summary(const gpurt_log_t *log, gpurt_log_summary_t *out);

enum {
    GPURT_DAMAGE_TEXT = 400
};
/* What of the file is damaged and left out, in one line without an end: "2 frames damaged, 1
 * missing: 4380 of 4532 records are here; gpurt-log repair makes a whole log of them". Returns:
 * false where nothing is that is known so far. */
bool gpurt_log_damage_text(const gpurt_log_summary_t *sum, char out[GPURT_DAMAGE_TEXT]);

#endif
