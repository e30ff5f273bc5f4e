/* SPDX-License-Identifier: Apache-2.0 */
/* fault_join.h - takes a GPU core dump into a log: a row for each fault, among the records
 * of the same warps and SMs, and the dump itself as a blob, from which gpurt-panic tells
 * the rest later. */
#ifndef GPURT_TUI_FAULT_JOIN_H
#define GPURT_TUI_FAULT_JOIN_H

#include "panic_hook.h"
#include "writer.h"

typedef struct fault_joined {
    uint32_t faults;
    bool kept;       /* the dump is in the log */
    char first[512]; /* message of the first fault */
    char where[512]; /* its file and line, "" unknown */
} fault_joined_t;

/* hook: told of each fault; may be a zeroed one. about: who is recorded, NULL where its
 * program never opened gpurt; then the log is told of it here. pid: of the program. */
gpurt_status_t fault_join(gpurt_writer_t *writer, const char *path,
                          const gplog_file_t *about, uint32_t pid, const char *program,
                          panic_hook_t *hook, fault_joined_t *out, gpurt_error_t *err);

#endif
