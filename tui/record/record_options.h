/* SPDX-License-Identifier: Apache-2.0 */
/* record_options.h - the command line of gpurt-record. */
#ifndef GPURT_TUI_RECORD_OPTIONS_H
#define GPURT_TUI_RECORD_OPTIONS_H

#include "again.h"
#include "launchee.h"
#include "option.h"

enum {
    RECORD_FAILED = LAUNCHEE_FAILED
};

typedef struct record_options {
    const char *output, *rules, *cupti, *budget, *on_panic;
    bool append, spin, quiet, gpu_core, launch_sites, print;
    const char *print_level;
    uint64_t level, hang_ns, pid;
    again_t again;
} record_options_t;

extern const gpurt_option_program_t record_program;

#endif
