/* SPDX-License-Identifier: Apache-2.0 */
/* who.h - the process that a row of a log is of, as words. Text names it where a log has more
 * than one; JSON always does. */
#ifndef GPURT_TUI_WHO_H
#define GPURT_TUI_WHO_H

#include "program.h"
#include "render.h"

#include <stdio.h>

/* "rank[4711]"; "process 4711" without a name; "process ?" of one that is not known. */
void who_text(const gplog_program_t *p, gpurt_text_t *out);

/* ,"pid":4711 - null where it is not known. */
void who_json_pid(uint32_t pid, FILE *out);
/* The same, and ,"program":"rank" */
void who_json(const gplog_program_t *p, FILE *out);

/* What is of one process. */
typedef struct who_count {
    uint64_t records, panics;
} who_count_t;

/* [{"number":0,"pid":4711,"name":"rank"},...], of a log or a box. counts: by number, told with
 * them; NULL: not known. */
void who_json_list(const gpurt_dictionary_t *d, const gplog_file_t *about,
                   const who_count_t *counts, FILE *out);

#endif
