/* SPDX-License-Identifier: Apache-2.0 */
/* recording.h - the log file that a program of ours writes beside its work: made before
 * the watched program starts, and told of when it is done. */
#ifndef GPURT_TUI_RECORDING_H
#define GPURT_TUI_RECORDING_H

#include "option.h"
#include "writer.h"

/* Owner: the program. */
typedef struct recording {
    const gpurt_option_program_t *program; /* in whose name it speaks */
    const char *path;
    gpurt_writer_t *writer; /* NULL: nothing is recorded */
    bool joined;            /* the program ran already */
} recording_t;

/* options: NULL, the defaults. Returns: -1, or the status to exit with. */
int recording_open(recording_t *r, const gpurt_option_program_t *program, const char *path,
                   const gpurt_writer_options_t *options);

/* Ends a file that was not closed. Where no record was to be written, it is as before: one that we
 * made is taken away. */
void recording_drop(recording_t *r);

/* Ends the file. seen: boxes there were; quiet: no line if all is well; failure: why rows
 * did not come here, or NULL. Returns: whether the file holds all rows. */
bool recording_close(recording_t *r, uint32_t seen, bool quiet,
                     const gpurt_error_t *failure);

#endif
