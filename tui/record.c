/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-record - runs an application and writes what it logs to a file. */
#include "handover.h"
#include "injection.h"
#include "launchee.h"
#include "levelset.h"
#include "option.h"
#include "record_box.h"
#include "recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    OWN_ERROR = LAUNCHEE_FAILED,
    HEIRS_MS = 1000, /* how long a program that left others behind is given to open gpurt */
    HEIRS_STEP_MS = 5
};

typedef struct record_options {
    const char *output, *rules;
    bool append, spin, quiet;
    uint64_t level;
} record_options_t;

#define FIELD(kind_, field_) \
    .kind = GPURT_OPTION_##kind_, .offset = offsetof(record_options_t, field_)
static const gpurt_option_t rows[] = {
    {.section = "Log",
     .letter = 'o',
     .name = "output",
     .arg = "FILE",
     FIELD(STRING, output),
     .help = "the log file (default gpurt.gplog); must not exist, or be empty"},
    {.letter = 'a',
     .name = "append",
     FIELD(FLAG, append),
     .help = "go on behind what FILE holds"},
    {.name = "compress",
     .arg = "N",
     FIELD(NUMBER, level),
     .min = 1,
     .max = 19,
     .help = "level of zstd (default 1)"},
    {.letter = 'l',
     .name = "level",
     .arg = "RULES",
     FIELD(STRING, rules),
     .help = "what PROGRAM records: a level, and levels of source files, as in "
             "'info,net/*=trace' (GPURT_LEVEL; rules as in gpurt-log level)"},
    {.section = "Running",
     .name = "spin",
     FIELD(FLAG, spin),
     .help = "never sleep: a core for the shortest delay"},
    {.letter = 'q', .name = "quiet", FIELD(FLAG, quiet), .help = "no summary at the end"},
    {0},
};

static const gpurt_option_text_t texts[] = {
    {"EXIT STATUS",
     "The application's; 128 and the number of the signal that ended it; 125 when "
     "gpurt-record itself failed, as where the log cannot be written, 126 when the "
     "application cannot be executed, 127 "
     "when there is none of that name."},
    {"ENVIRONMENT",
     "The application is started with GPURT_DRAIN set, by which gpurt_open finds "
     "its drainer, and with CUDA_INJECTION64_PATH, by which the CUDA driver loads "
     "the collector; so are the programs that it starts. GPURT_CUPTI says what is "
     "collected of kernels and copies: off, kernels, default or all. Its standard "
     "streams are those of gpurt-record."},
    {"SEE ALSO", "gpurt-top -p PID, with the application's number, shows what is recorded "
                 "while it comes."},
    {"EXAMPLES", "  gpurt-record -o run.gplog -- ./app --size 64"},
    {0},
};

static const gpurt_option_program_t program = {
    .name = "gpurt-record",
    .summary = "run a program and write what it logs to a file",
    .synopsis = "[OPTION...] [--] PROGRAM [ARG...]",
    .description =
        "Runs PROGRAM and drains its black box, from another process, into a log "
        "file: whatever happens to PROGRAM, what it had logged is in the file.",
    .options = rows,
    .texts = texts,
    .operand_ends = true,
    .bad_status = OWN_ERROR,
};

/* A daemon outlives the process we started and opens its box after that. */
static void record_late_comers(launchee_t *app, record_boxes_t *boxes)
{
    const struct timespec step = {.tv_nsec = HEIRS_STEP_MS * 1000000L};

    for (int ms = 0; ms < HEIRS_MS && boxes->seen == 0 && launchee_has_heirs(app);
         ms += HEIRS_STEP_MS) {
        nanosleep(&step, NULL);
        record_boxes_accept(boxes);
    }
}

/* Until the application has ended and every box is read to its end. */
static void record(launchee_t *app, record_boxes_t *boxes)
{
    do {
        launchee_signals(app);
        record_boxes_accept(boxes);
        if (record_boxes_round(boxes) == 0)
            record_boxes_rest(boxes);
    } while (!app->ended || record_boxes_count(boxes) > 0);
    record_boxes_accept(boxes); /* handed over with its last breath */
    record_late_comers(app, boxes);
    while (record_boxes_count(boxes) > 0)
        if (record_boxes_round(boxes) == 0)
            record_boxes_rest(boxes);
}

/* Returns: the status to exit with. */
static int run_and_record(char **argv, const record_options_t *o, recording_t *log)
{
    launchee_plan_t plan = {.argv = argv, .name = GPURT_HANDOVER_ENV, .adopt = true};
    record_boxes_t boxes;
    launchee_t app;
    gpurt_error_t err;
    bool whole;
    int code;

    if (record_boxes_open(&boxes, log->writer, o->spin, &err) != GPURT_OK)
        return gpurt_option_refuse(&program, "%s", err.text);
    gpurt_injection_name();
    plan.value = boxes.name;
    code = launchee_open(&app);
    if (code == 0)
        code = launchee_start(&app, &plan);
    if (code == 0)
        record(&app, &boxes);
    launchee_close(&app);
    record_boxes_close(&boxes);
    if (code) {
        gpurt_option_refuse(&program, "%s: %s", argv[0], strerror(code));
        return launchee_refusal(code);
    }
    whole = recording_close(log, boxes.seen, o->quiet, boxes.unread ? &boxes.err : NULL);
    code = launchee_status(&app);
    return code == 0 && !whole ? OWN_ERROR : code;
}

/* For the application's gpurt_open; wrong rules are told now and not by it. */
static gpurt_status_t rules_hand_on(const char *rules, gpurt_error_t *err)
{
    gpurt_levelset_t set;
    gpurt_status_t st = gpurt_levelset_parse(rules, &set, err);

    if (st == GPURT_OK && setenv("GPURT_LEVEL", rules, 1) != 0)
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "GPURT_LEVEL");
    return st;
}

int main(int argc, char **argv)
{
    record_options_t o = {.output = "gpurt.gplog", .level = 1};
    int operands, status = gpurt_option_parse(&program, argc, argv, &o, &operands);
    gpurt_writer_options_t wo = {.struct_size = sizeof wo};
    recording_t log = {0};
    gpurt_error_t err;

    if (status >= 0)
        return status;
    if (operands < 1)
        return gpurt_option_refuse(&program, "say which program to run");
    if (o.rules && rules_hand_on(o.rules, &err) != GPURT_OK)
        return gpurt_option_refuse(&program, "%s", err.text);
    wo.append = o.append;
    wo.level = (int32_t)o.level;
    status = recording_open(&log, &program, o.output, &wo);
    if (status < 0)
        status = run_and_record(argv + 1, &o, &log);
    recording_drop(&log);
    return status;
}
