/* SPDX-License-Identifier: Apache-2.0 */
/* who.h - the process that a row of a log is of, as words. Text names it where a log has more
 * than one; JSON always does. */
#ifndef GPURT_TUI_WHO_H
#define GPURT_TUI_WHO_H

#include "json.h"
#include "program.h"
#include "render.h"

#include <stdio.h>

/* "rank[4711]"; "process 4711" without a name; "process ?" of one that is not known. */
void who_text(const gplog_program_t *p, gpurt_text_t *out);

/* pid: null where it is not known. */
void who_json_pid(gpurt_json_t *j, uint32_t pid);
/* pid and program. */
void who_json(gpurt_json_t *j, const gplog_program_t *p);

/* What is of one process. */
typedef struct who_count {
    uint64_t records, panics;
} who_count_t;

/* [{"number":0,"pid":4711,"name":"rank"},...], of a log or a box. counts: by number, told with
 * them; NULL: not known. */
void who_json_list(gpurt_json_t *j, const char *key, const gpurt_dictionary_t *d,
                   const gplog_file_t *about, const who_count_t *counts);

#endif
