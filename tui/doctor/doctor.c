/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-doctor - looks at the machine and says what gpurt lacks, each with its remedy. */
#include "doctor.h"
#include "option.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BAD_USE = 2
};

typedef struct doctor_options {
    bool json;
    uint64_t timeout_ns, box_bytes;
    const char *root;
} doctor_options_t;

#define FIELD(kind_, field_) \
    .kind = GPURT_OPTION_##kind_, .offset = offsetof(doctor_options_t, field_)
static const gpurt_option_t rows[] = {
    {.section = "Output", .name = "json", FIELD(FLAG, json), .help = "one JSON object"},
    {.section = "Checking",
     .name = "timeout",
     .arg = "TIME",
     FIELD(SECONDS, timeout_ns),
     .help = "how long the driver, or a compiler asked for its version, may take "
             "(default 10)"},
    {.name = "box-bytes",
     .arg = "N",
     FIELD(NUMBER, box_bytes),
     .help = "bytes of a black box (default: as for this machine's devices)"},
    {.name = "root",
     .arg = "DIR",
     FIELD(STRING, root),
     .help = "check the machine described below DIR: DIR/proc, DIR/dev, DIR/lib and "
             "DIR/facts; for tests"},
    {0},
};

static const gpurt_option_text_t texts[] = {
    {"EXIT STATUS", "0: no problem; 1: a problem; 2: wrong use."},
    {"STATES", "  ok       as it should be\n"
               "  note     gpurt works; something is missing, slower or worth knowing\n"
               "  problem  something that gpurt needs does not work"},
    {"FIELDS",
     "--json: an object with schema \"gpurt-doctor\", version 1, problems, notes, and "
     "findings: objects with topic, state, found and remedy (null where nothing is to "
     "be done). A topic may come several times."},
    {"EXAMPLES", "  gpurt-doctor\n"
                 "  gpurt-doctor --json | jq '.findings[] | select(.state != \"ok\")'"},
    {0},
};

static const gpurt_option_program_t program = {
    .name = "gpurt-doctor",
    .summary = "say what this machine lacks for gpurt, and the remedy",
    .synopsis = "[OPTION...]",
    .description =
        "Checks driver, GPUs, CUPTI, shared memory, limits, compilers and the terminal. "
        "Changes nothing. It asks the driver in another process, so a driver that hangs "
        "does not hang gpurt-doctor.",
    .options = rows,
    .texts = texts,
    .bad_status = BAD_USE,
};

typedef void doctor_check_t(const doctor_machine_t *m, doctor_report_t *report);
static doctor_check_t *const checks[] = {
    doctor_check_driver,    doctor_check_gpus,      doctor_check_nvcc,
    doctor_check_cupti,     doctor_check_profiling, doctor_check_loading,
    doctor_check_injection, doctor_check_collector, doctor_check_mps,
    doctor_check_wsl,       doctor_check_cpu,       doctor_check_memory,
    doctor_check_memlock,   doctor_check_filesize,  doctor_check_logging,
    doctor_check_maps,      doctor_check_aslr,      doctor_check_compilers,
    doctor_check_debugger,  doctor_check_terminal,
};

/* ---- the report ---------------------------------------------------------------------- */
void doctor_find(doctor_report_t *report, const char *topic, doctor_state_t state,
                 const char *fmt, ...)
{
    doctor_finding_t *f = &report->list[report->count];
    va_list args;

    if (report->count == DOCTOR_FINDINGS)
        return;
    report->count++;
    f->topic = topic;
    f->state = state;
    f->remedy[0] = '\0';
    va_start(args, fmt);
    vsnprintf(f->found, sizeof f->found, fmt, args);
    va_end(args);
}

void doctor_remedy(doctor_report_t *report, const char *fmt, ...)
{
    doctor_finding_t *f;
    va_list args;

    if (report->count == 0)
        return;
    f = &report->list[report->count - 1];
    va_start(args, fmt);
    vsnprintf(f->remedy, sizeof f->remedy, fmt, args);
    va_end(args);
}

uint32_t doctor_count(const doctor_report_t *report, doctor_state_t state)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < report->count; i++)
        count += report->list[i].state == state;
    return count;
}

/* ---- main ---------------------------------------------------------------------------- */
static bool colour_wanted(void)
{
    const char *terminal = doctor_env("TERM");

    return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0 &&
           !doctor_env("NO_COLOR");
}

static int examine(const doctor_options_t *o, const char *self)
{
    static doctor_report_t report;
    static doctor_machine_t m;
    child_watch_t watch;

    if (child_watch_open(&watch) != 0)
        return gpurt_option_refuse(&program, "no descriptor for signals");
    m.root = o->root ? o->root : "";
    m.self = self;
    m.timeout_ns = o->timeout_ns;
    m.box_bytes = o->box_bytes;
    m.watch = &watch;
    doctor_ask_driver(&m);
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && !watch.stop_signal; i++)
        checks[i](&m, &report);
    if (watch.stop_signal)
        return 128 + watch.stop_signal;
    if (o->json)
        doctor_print_json(&report, stdout);
    else
        doctor_print_text(&report, colour_wanted(), stdout);
    child_watch_close(&watch);
    return gpurt_option_end(&program, doctor_count(&report, DOCTOR_PROBLEM) ? 1 : 0,
                            program.bad_status);
}

int main(int argc, char **argv)
{
    doctor_options_t o = {.timeout_ns = 10000000000};
    char self[PATH_MAX];
    int operands, status;
    ssize_t length;

    if (argc == 3 && strcmp(argv[1], DOCTOR_PROBE_WORD) == 0)
        return doctor_probe(argv[2]);
    status = gpurt_option_parse(&program, argc, argv, &o, &operands);
    if (status >= 0)
        return status;
    if (operands)
        return gpurt_option_refuse(&program,
                                   "looks at this machine: it takes options alone");
    length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    return examine(&o, self);
}
