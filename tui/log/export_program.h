/* SPDX-License-Identifier: Apache-2.0 */
/* export_program.h - the processes of a log as an export has them: the pid that each row's is,
 * and in a trace a process of its own for each.
 *
 * A viewer takes what has one pid for one process. So the first of a pid keeps it; who has it
 * again, and who has none that is known, gets a number that Linux gives nobody. */
#ifndef GPURT_TUI_EXPORT_PROGRAM_H
#define GPURT_TUI_EXPORT_PROGRAM_H

#include "program.h"

#include <stddef.h>

enum {
    EXPORT_PROGRAMS = GPLOG_PROGRAM_OTHERS + 1,
    EXPORT_DEVICES = 8,       /* of one, that are known by more than their numbers */
    EXPORT_PID_FREE = 1 << 22 /* PID_MAX_LIMIT of Linux; as many as there are programs */
};

/* By number, for each row to look up. Owner: the export; what it points to is borrowed. */
typedef struct export_programs {
    const gpurt_dictionary_t *dictionary;
    const gplog_file_t *about;
    uint32_t count; /* that the log names; 0: it is from before such names */
    uint32_t pids[EXPORT_PROGRAMS];  /* 0: not known */
    uint32_t shown[EXPORT_PROGRAMS]; /* in a trace; no two are equal */
} export_programs_t;

void export_programs_init(export_programs_t *p, const gpurt_dictionary_t *dictionary,
                          const gplog_file_t *about);

/* Whose a row is. Logs from before are of one process, whatever stands in their rows. */
static inline uint32_t export_program_of(const export_programs_t *p, const gpurt_row_t *row)
{
    return p->count ? row->program : 0;
}

/* Whether that process is not the log's only one. */
static inline bool export_program_shares(const export_programs_t *p, uint32_t program)
{
    return p->count > 1 || program != 0;
}

/* As snprintf: what a process is called, "trainer"; with_pid: "trainer (pid 4242)". Where the
 * trace cannot show its pid, that stands here in any case, and what tells it from others. */
int export_program_name(const export_programs_t *p, uint32_t program, bool with_pid,
                        char *room, size_t size);

#endif
