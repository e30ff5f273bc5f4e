/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - the processes that one log file was recorded from. Each numbers its heaps, its
 * streams and its calls for itself, so a row says whose it is: `program` is a number of the
 * file, which a definition in the dictionary gives a pid and a name to.
 *
 * A file of one process has number 0 alone, and so have logs from before such definitions: they
 * name their process in FILE. A dictionary that is no file's has no programs. */
#ifndef GPURT_LOG_PROGRAM_H
#define GPURT_LOG_PROGRAM_H

#include "dictionary.h"

typedef struct gplog_program {
    uint32_t number, pid;
    uint64_t start_ticks; /* as /proc/PID/stat counts: pid reuse is noticed */
    char name[GPURT_BOX_NAME];
} gplog_program_t;

/* Of a definition: its process's number; GPLOG_PROGRAM_OTHERS: it is of none. */
uint32_t gplog_program_number(const gpurt_site_info_t *info);

/* Adds a process or finds it: one that became another program by exec is another. Returns: its
 * number; GPLOG_PROGRAM_OTHERS, which many may share, when none is left. */
uint32_t gplog_program_add(gpurt_dictionary_t *d, const gpurt_box_identity_t *id);

/* How many numbers are in use, from 0 on. */
uint32_t gplog_program_count(const gpurt_dictionary_t *d);

/* Returns: whether there is one under the number; what is not known of it is 0 and empty. */
bool gplog_program_get(const gpurt_dictionary_t *d, uint32_t number, gplog_program_t *out);

/* Whether it must be said whose a row is. */
bool gplog_program_several(const gpurt_dictionary_t *d);

/* The last that came under a pid. Returns: whether one did; else all is 0 and empty. */
bool gplog_program_find(const gpurt_dictionary_t *d, uint32_t pid, gplog_program_t *out);

/* As get, also where the dictionary knows of no process: `about`, of the same file or box, does. */
bool gplog_program_known(const gpurt_dictionary_t *d, const gplog_file_t *about,
                         uint32_t number, gplog_program_t *out);

/* The process that a row is of; of a LIFE, which a recorder writes, the one that it is about.
 * Returns: its pid; 0: not known. about: of the row's source. */
uint32_t gplog_program_pid(const gpurt_dictionary_t *d, const gplog_file_t *about,
                           const gpurt_row_t *row);

#endif
