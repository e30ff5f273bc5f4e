/* SPDX-License-Identifier: Apache-2.0 */
#include "record_options.h"

/* What is done as PROGRAM starts, or to who started it, is no use to one that runs. */
enum {
    START = 1 << 0,
    ATTACH = 1 << 1,
    AGAIN = 1 << 2
};

#define FIELD(kind_, field_) \
    .kind = GPURT_OPTION_##kind_, .offset = offsetof(record_options_t, field_)
static const gpurt_option_t rows[] = {
    {.section = "Log",
     .letter = 'o',
     .name = "output",
     .arg = "FILE",
     FIELD(STRING, output),
     .help = "the log file (default gpurt.gplog); must not exist, or be empty"},
    {.letter = 'a', .name = "append", FIELD(FLAG, append), .help = "append to FILE"},
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
     .uses = START,
     .help = "what PROGRAM records: a level, and levels of source files, as in "
             "'info,net/*=trace' (GPURT_LEVEL; rules as in gpurt-log level)"},
    {.name = "cupti",
     .arg = "WORDS",
     FIELD(STRING, cupti),
     .help =
         "GPU activity to record: off, kernels, default (full), all, or such words "
         "with commas; 'sampled' has launches by kernel, what runs, and source lines, "
         "without a record of each kernel; 'default,nodes' follows each kernel of a CUDA "
         "graph, which "
         "slows graphs down: without nodes each launch is one record; 'default,managed' "
         "adds unified memory, 'default,waits' the host's waits, 'default,launches' each "
         "launch with the calls that led "
         "there, 'default,lines' source lines of kernels while they run (gpurt-log lines), "
         "'default,running' what has not ended; 'live' is default, running and lines "
         "(GPURT_CUPTI)"},
    {.name = "budget",
     .arg = "PERCENT",
     FIELD(STRING, budget),
     .uses = START,
     .help = "what recording may take of PROGRAM's time, in place of --cupti: launches are "
             "counted, and kernels, copies and fills recorded in windows of 200 ms, as "
             "often as that allows; totals are estimates (~). --cupti graphs adds times of "
             "graphs, and slows each launch down; --cupti waits adds the host's waits, "
             "and slows each call of CUDA down"},
    {.section = "Failures",
     .name = "exec-on-panic",
     .arg = "CMD",
     FIELD(STRING, on_panic),
     .uses = START,
     .help = "run CMD with /bin/sh when device code panics, faults or stands in a "
             "deadlock: once for each "
             "place in the source, 16 times at most, 10 seconds at most"},
    {.name = "gpu-core",
     FIELD(FLAG, gpu_core),
     .uses = START,
     .help =
         "have the CUDA driver dump a failed GPU: it then ends PROGRAM with SIGABRT, and "
         "the log has the thread, the source line and the dump; it misses a bad store "
         "right before a kernel's end"},
    {.name = "launch-sites",
     FIELD(FLAG, launch_sites),
     .uses = START,
     .help = "record where PROGRAM launches kernels from: the line and the calls that led "
             "there, once for each way; gpurt-panic show prints it (GPURT_LAUNCH_SITES=1)"},
    {.name = "hang-after",
     .arg = "TIME",
     FIELD(SECONDS, hang_ns),
     .uses = START,
     .help =
         "how long device code may wait before a deadlock is reported (default 1; a "
         "circle of waits that code announces by gpurt/waits.h); when device code has "
         "recorded nothing for TIME, report all waits and the last record of each SM; "
         "of any CUDA program, a kernel that has not ended for TIME and where its warps "
         "stand. This turns --cupti live on, unless --cupti or GPURT_CUPTI says else: "
         "CUDA starts 0.13 s later, a launch takes 1 us more or less; "
         "with --gpu-core also dump where every warp stands, which ends PROGRAM's "
         "kernels"},
    {.section = "Starting again",
     .name = "restart",
     .arg = "N",
     FIELD(NUMBER, again.times),
     .uses = START,
     .min = 1,
     .max = 1000000,
     .help = "when PROGRAM fails, start it again, at most N times in a row; one log, which "
             "keeps the lives apart"},
    {.name = "restart-delay",
     .arg = "TIME",
     FIELD(SECONDS, again.delay_ns),
     .uses = AGAIN,
     .help =
         "wait before the first restart (default 0.1); it doubles with each in a row, to "
         "30 s at most"},
    {.name = "restart-window",
     .arg = "TIME",
     FIELD(SECONDS, again.window_ns),
     .uses = AGAIN,
     .help = "a life longer than TIME (default 60) resets N and the delay"},
    {.section = "Running",
     .letter = 'p',
     .name = "pid",
     .arg = "PID",
     FIELD(NUMBER, pid),
     .min = 1,
     .max = INT32_MAX,
     .help = "record GPU activity of a running program that was started with "
             "GPURT_CUPTI=later, until it ends or Ctrl-C is pressed"},
    {.name = "spin",
     FIELD(FLAG, spin),
     .help = "never sleep: uses a core, for the lowest latency"},
    {.name = "print",
     FIELD(FLAG, print),
     .help = "also print messages to standard error, as they come; the lines are those of "
             "gpurt-log cat, in colour on a terminal (NO_COLOR: not). A terminal that is "
             "slower than PROGRAM holds the log up"},
    {.name = "print-level",
     .arg = "LEVEL",
     FIELD(STRING, print_level),
     .help =
         "print only messages from this level on: trace, debug, info, warn, error, panic; "
         "the log has all of them"},
    {.letter = 'q',
     .name = "quiet",
     FIELD(FLAG, quiet),
     .help = "no summary at the end; its panics count faults and hangs, too, which "
             "gpurt-panic list tells apart"},
    {0},
};

static uint32_t use_find(const void *values, char *const *operands, int count)
{
    const record_options_t *o = values;

    (void)operands;
    return (o->pid ? ATTACH : count ? START : 0) | (o->again.times ? AGAIN : 0);
}

static const char *const use_names[] = {"a PROGRAM that gpurt-record starts", "-p PID",
                                        "--restart N"};
static const gpurt_option_uses_t uses = {use_names, use_find};

static const gpurt_option_text_t texts[] = {
    {"EXIT STATUS",
     "The application's; 128 and the number of the signal that ended it; 125 when "
     "gpurt-record itself failed, as where the log cannot be written, 126 when the "
     "application cannot be executed, 127 "
     "when there is none of that name."},
    {"STARTING AGAIN",
     "PROGRAM has failed when a signal ended it, when it ended with status 75 (a program's "
     "word for: try again; as for a device that is lost), or when its device code "
     "panicked, "
     "faulted or hung and it ended with any status but 0. It has not when it ended with 0, "
     "or when a signal that asks for its end (SIGINT, SIGTERM, SIGHUP, SIGQUIT) was passed "
     "on: such a signal also ends the waiting between two lives. All of a life's records "
     "are in the log before the next begins. What one life has read from standard input is "
     "gone for the next. The exit status is that of the last life."},
    {"ENVIRONMENT",
     "The application is started with GPURT_DRAIN set, by which gpurt_open finds "
     "its drainer, and with CUDA_INJECTION64_PATH, by which the CUDA driver loads "
     "the collector; so are the programs that it starts. GPURT_CUPTI says what is "
     "collected of kernels and copies: off, kernels, default or all; later lets the "
     "collector sleep until gpurt-record -p PID wakes it. Its standard "
     "streams are those of gpurt-record. With --gpu-core, and unless any of CUDA's "
     "variables for core "
     "dumps is there already, CUDA_ENABLE_COREDUMP_ON_EXCEPTION, "
     "CUDA_COREDUMP_GENERATION_FLAGS and CUDA_COREDUMP_FILE are set: when a GPU faults, "
     "the "
     "driver writes a small dump to a private folder, which goes into the log. CMD of "
     "--exec-on-panic finds "
     "GPURT_PANIC_KIND (panic, fault or hang), GPURT_PANIC_SITE, GPURT_PANIC_MESSAGE and "
     "GPURT_PANIC_FILE."},
    {"SEE ALSO", "gpurt-top -p PID, with the application's number, shows what is recorded "
                 "while it comes."},
    {"EXAMPLES",
     "  gpurt-record -o run.gplog -- ./app --size 64\n"
     "  export CUDA_INJECTION64_PATH=/usr/lib/libgpurt-inject.so\n"
     "  GPURT_CUPTI=later ./server &\n"
     "  gpurt-record -o now.gplog -p $!\n"
     "  gpurt-record --exec-on-panic 'notify-send \"$GPURT_PANIC_SITE\"' ./app"},
    {0},
};

const gpurt_option_program_t record_program = {
    .name = "gpurt-record",
    .summary = "run a program and write what it logs to a file",
    .synopsis = "[OPTION...] [--] PROGRAM [ARG...], or [OPTION...] -p PID",
    .description =
        "Runs PROGRAM and drains its black box, from another process, into a log "
        "file: whatever happens to PROGRAM, what it had logged is in the file.",
    .options = rows,
    .texts = texts,
    .uses = &uses,
    .operand_ends = true,
    .bad_status = RECORD_FAILED,
};
