/* SPDX-License-Identifier: Apache-2.0 */
/* log_options.h - the command line of gpurt-log: its commands, and what each of them heeds. */
#ifndef GPURT_TUI_LOG_OPTIONS_H
#define GPURT_TUI_LOG_OPTIONS_H

#include "option.h"

/* What stat and lines print. */
enum {
    LOG_TEXT,
    LOG_JSON,
    LOG_FOLDED,
    LOG_SPEEDSCOPE
};

typedef struct log_options {
    uint32_t form;
    bool jsonl, follow, no_pager;
    uint64_t lines;
    const char *level, *output, *to, *color, *filter, *kernel, *code;
    uint64_t pid, last_s;
} log_options_t;

enum {
    LOG_BAD_USE = 2
};

extern const gpurt_option_program_t log_program;

/* The commands; NULL: the end. */
extern const char *const log_commands[];

#endif
