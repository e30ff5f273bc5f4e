/* SPDX-License-Identifier: Apache-2.0 */
#include "export_program.h"

#include <inttypes.h>
#include <stdio.h>

/* Whether nobody before has it. */
static bool is_first(const export_programs_t *p, uint32_t program)
{
    for (uint32_t i = 0; i < program; i++)
        if (p->pids[i] == p->pids[program])
            return false;
    return p->pids[program] != 0 && p->pids[program] < EXPORT_PID_FREE;
}

void export_programs_init(export_programs_t *p, const gpurt_dictionary_t *dictionary,
                          const gplog_file_t *about)
{
    p->dictionary = dictionary;
    p->about = about;
    p->count = gplog_program_count(dictionary);
    for (uint32_t i = 0; i < EXPORT_PROGRAMS; i++) {
        const gpurt_row_t row = {.program = (uint8_t)i};

        p->pids[i] = gplog_program_pid(dictionary, about, &row);
        p->shown[i] = is_first(p, i) ? p->pids[i] : EXPORT_PID_FREE + i;
    }
    if (p->count <= 1)
        p->shown[0] = about->identity.pid;
}

int export_program_name(const export_programs_t *p, uint32_t program, bool with_pid,
                        char *room, size_t size)
{
    gplog_program_t known;

    if (!export_program_shares(p, program))
        return snprintf(room, size, "%.*s", GPURT_BOX_NAME, p->about->identity.program);
    if (program == GPLOG_PROGRAM_OTHERS)
        return snprintf(room, size, "other processes");
    if (!gplog_program_get(p->dictionary, program, &known))
        return snprintf(room, size, "process %" PRIu32 " of the log", program);
    if (known.pid == 0 || (!with_pid && known.pid == p->shown[program]))
        return snprintf(room, size, "%s", known.name);
    if (known.pid == p->shown[program])
        return snprintf(room, size, "%s (pid %" PRIu32 ")", known.name, known.pid);
    return snprintf(room, size, "%s (pid %" PRIu32 ", process %" PRIu32 " of the log)",
                    known.name, known.pid, program);
}
