/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - what gpurt-doctor finds: a list of findings, each with its remedy.
 *
 * A check looks at a machine (doctor_machine.h) and adds findings; it decides nothing else.
 * Topics are words of the JSON output and stay what they are. */
#ifndef GPURT_TUI_DOCTOR_H
#define GPURT_TUI_DOCTOR_H

#include "doctor_machine.h"

enum {
    DOCTOR_FINDINGS = 64,
    DOCTOR_TEXT = 320
};

typedef enum doctor_state {
    DOCTOR_OK,
    DOCTOR_NOTE,    /* something is slower, missing or worth knowing; gpurt works */
    DOCTOR_PROBLEM, /* something that gpurt needs, or that was set up, does not work */
} doctor_state_t;

typedef struct doctor_finding {
    const char *topic; /* static */
    doctor_state_t state;
    char found[DOCTOR_TEXT];
    char remedy[DOCTOR_TEXT]; /* "" where nothing is to be done */
} doctor_finding_t;

/* Owner: the caller. */
typedef struct doctor_report {
    doctor_finding_t list[DOCTOR_FINDINGS];
    uint32_t count;
} doctor_report_t;

/* Adds a finding without a remedy; beyond the last place it is left out. */
void doctor_find(doctor_report_t *report, const char *topic, doctor_state_t state,
                 const char *fmt, ...) GPURT_PRINTF(4, 5);
/* Gives the last finding its remedy. */
void doctor_remedy(doctor_report_t *report, const char *fmt, ...) GPURT_PRINTF(2, 3);

/* How many are in that state. */
uint32_t doctor_count(const doctor_report_t *report, doctor_state_t state);

void doctor_print_text(const doctor_report_t *report, bool colour, FILE *out);
void doctor_print_json(const doctor_report_t *report, FILE *out);

/* ---- checks: doctor_gpu.c ------------------------------------------------------------ */
void doctor_check_driver(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_gpus(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_mps(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_wsl(const doctor_machine_t *m, doctor_report_t *report);

/* ---- doctor_cuda.c ------------------------------------------------------------------- */
void doctor_check_nvcc(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_cupti(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_profiling(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_loading(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_injection(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_collector(const doctor_machine_t *m, doctor_report_t *report);

/* ---- doctor_host.c ------------------------------------------------------------------- */
void doctor_check_cpu(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_memory(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_memlock(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_filesize(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_logging(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_maps(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_aslr(const doctor_machine_t *m, doctor_report_t *report);

/* ---- doctor_tools.c ------------------------------------------------------------------ */
void doctor_check_compilers(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_debugger(const doctor_machine_t *m, doctor_report_t *report);
void doctor_check_terminal(const doctor_machine_t *m, doctor_report_t *report);

#endif
