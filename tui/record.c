/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-record - runs an application and writes what it logs to a file. */
#include "fault_join.h"
#include "gpu_capture.h"
#include "handover.h"
#include "option.h"
#include "procfs.h"
#include "record_box.h"
#include "record_run.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum {
    OWN_ERROR = 125,
    NOT_EXECUTABLE = 126,
    NOT_FOUND = 127,
    HEIRS_MS = 1000, /* how long a program that left others behind is given to open gpurt */
    HEIRS_STEP_MS = 5,
    DUMPS_STEP_MS = 200
};

typedef struct record_options {
    const char *output, *on_panic;
    bool append, spin, quiet, gpu_core;
    uint64_t level, hang_seconds;
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
    {.section = "Failures",
     .name = "exec-on-panic",
     .arg = "CMD",
     FIELD(STRING, on_panic),
     .help = "run CMD with /bin/sh when device code panics or faults: once for each "
             "place in the source, 16 times at most, 10 seconds at most"},
    {.name = "gpu-core",
     FIELD(FLAG, gpu_core),
     .help =
         "have the CUDA driver tell where a GPU failed: it then ends PROGRAM with "
         "SIGABRT, and the log has the thread, the source line and the dump; a bad store "
         "right before a kernel's end is then missed"},
    {.name = "hang-after",
     .arg = "N",
     FIELD(NUMBER, hang_seconds),
     .min = 1,
     .max = 86400,
     .help = "when PROGRAM's device code has recorded nothing for N seconds, tell the last "
             "record of each SM; with --gpu-core also ask the driver for a dump of where "
             "every warp stands, which ends PROGRAM's kernels"},
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
     "gpurt-record itself failed, 126 when the application cannot be executed, 127 "
     "when there is none of that name."},
    {"ENVIRONMENT",
     "The application is started with GPURT_DRAIN set, by which gpurt_open finds "
     "its drainer; so are the programs that it starts. Its standard streams are "
     "those of gpurt-record. With --gpu-core, and unless any of CUDA's variables for core "
     "dumps is there already, CUDA_ENABLE_COREDUMP_ON_EXCEPTION, "
     "CUDA_COREDUMP_GENERATION_FLAGS and CUDA_COREDUMP_FILE are set: when a GPU faults, "
     "the "
     "driver writes a small dump to a private folder, which goes into the log. CMD of "
     "--exec-on-panic finds "
     "GPURT_PANIC_KIND (panic or fault), GPURT_PANIC_SITE, GPURT_PANIC_MESSAGE and "
     "GPURT_PANIC_FILE."},
    {"EXAMPLES",
     "  gpurt-record -o run.gplog -- ./app --size 64\n"
     "  gpurt-record --exec-on-panic 'notify-send \"$GPURT_PANIC_MESSAGE\"' ./app"},
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

static int refuse_start(const char *path, int code)
{
    gpurt_option_refuse(&program, "%s: %s", path, strerror(code));
    return code == ENOENT || code == ENOTDIR                     ? NOT_FOUND
           : code == EACCES || code == ENOEXEC || code == EISDIR ? NOT_EXECUTABLE
                                                                 : OWN_ERROR;
}

/* A daemon outlives the process we started and opens its box after that. */
static void record_late_comers(record_run_t *run, record_boxes_t *boxes)
{
    const struct timespec step = {.tv_nsec = HEIRS_STEP_MS * 1000000L};

    for (int ms = 0; ms < HEIRS_MS && boxes->seen == 0 && record_run_has_heirs(run);
         ms += HEIRS_STEP_MS) {
        nanosleep(&step, NULL);
        record_boxes_accept(boxes);
    }
}

/* ---- GPU core dumps ------------------------------------------------------------------ */
typedef struct dumps {
    gpu_capture_t capture;
    panic_hook_t hook;
    stall_t stall;
    const char *program_name, *output;
    uint64_t looked_ns;
    uint32_t faults;
} dumps_t;

static void dump_take(dumps_t *d, const record_boxes_t *boxes, const char *path, pid_t pid)
{
    fault_joined_t joined;
    gpurt_error_t err;

    if (fault_join(boxes->writer, path, record_boxes_about(boxes, (uint32_t)pid),
                   (uint32_t)pid, d->program_name, &d->hook, &joined, &err) != GPURT_OK)
        gpurt_option_refuse(&program, "GPU core dump of process %d: %s", (int)pid,
                            err.text);
    else if (joined.faults)
        fprintf(stderr, "gpurt-record: process %d: %s%s%s; see gpurt-panic show %s%s\n",
                (int)pid, joined.first, joined.where[0] ? " at " : "", joined.where,
                d->output, joined.kept ? "" : " (its dump is too large for a log)");
    d->faults += joined.faults;
    unlink(path);
}

static void dumps_take(dumps_t *d, const record_boxes_t *boxes)
{
    char path[PATH_MAX];
    pid_t pid;

    while (gpu_capture_next(&d->capture, path, &pid))
        dump_take(d, boxes, path, pid);
}

static void dumps_look(dumps_t *d, const record_boxes_t *boxes)
{
    uint64_t now = gpurt_real_ns();

    panic_hook_poll(&d->hook);
    if (record_boxes_count(boxes) && stall_check(&d->stall, stall_clock_ns())) {
        stall_print(&d->stall, program.name, stderr);
        if (gpu_capture_ask(&d->capture))
            fputs("gpurt-record: the driver was asked for a dump\n", stderr);
    }
    if (!d->capture.folder[0] || now - d->looked_ns < DUMPS_STEP_MS * 1000000ull)
        return;
    d->looked_ns = now;
    dumps_take(d, boxes);
}

/* Until the application has ended and every box is read to its end. */
static void record(record_run_t *run, record_boxes_t *boxes, dumps_t *dumps)
{
    do {
        record_run_poll(run);
        record_boxes_accept(boxes);
        if (record_boxes_round(boxes) == 0)
            record_boxes_rest(boxes);
        dumps_look(dumps, boxes);
    } while (!run->ended || record_boxes_count(boxes) > 0);
    record_boxes_accept(boxes); /* handed over with its last breath */
    record_late_comers(run, boxes);
    while (record_boxes_count(boxes) > 0)
        if (record_boxes_round(boxes) == 0)
            record_boxes_rest(boxes);
    dumps_take(dumps, boxes);
}

static void summary(const record_boxes_t *boxes, const char *path,
                    const gpurt_writer_figures_t *sum)
{
    if (boxes->seen == 0 && sum->panics == 0)
        fprintf(stderr,
                "gpurt-record: the program never opened gpurt; %s holds no records\n",
                path);
    else
        fprintf(stderr,
                "gpurt-record: %llu records, %llu lost, %llu panics in %s (%llu bytes)\n",
                (unsigned long long)sum->messages, (unsigned long long)sum->lost,
                (unsigned long long)sum->panics, path, (unsigned long long)sum->bytes);
}

/* Returns: the status to exit with. */
static int run_and_record(char **argv, const record_options_t *o, gpurt_writer_t *writer)
{
    dumps_t dumps = {.program_name = argv[0], .output = o->output};
    gpurt_writer_figures_t sum;
    record_boxes_t boxes;
    record_run_t run;
    gpurt_error_t err;
    int code;

    if (record_boxes_open(&boxes, writer, o->spin, &err) != GPURT_OK)
        return gpurt_option_refuse(&program, "%s", err.text);
    if (!panic_hook_init(&dumps.hook, o->on_panic, o->output))
        gpurt_option_refuse(&program, "--exec-on-panic: no memory");
    boxes.tap.hook = o->on_panic ? &dumps.hook : NULL;
    boxes.tap.sites = gpurt_writer_dictionary(writer);
    stall_init(&dumps.stall, o->hang_seconds * 1000000000ull,
               gpurt_writer_dictionary(writer));
    boxes.stall = o->hang_seconds ? &dumps.stall : NULL;
    if (o->gpu_core && (o->hang_seconds ? gpu_capture_open_asking : gpu_capture_open)(
                           &dumps.capture, &err) != GPURT_OK)
        gpurt_option_refuse(&program, "%s; goes on without GPU core dumps", err.text);
    if (dumps.capture.set_by_user)
        gpurt_option_refuse(&program, "%s is set already: dumps stay where it says",
                            dumps.capture.set_by_user);
    code = record_run_start(&run, argv, GPURT_HANDOVER_ENV, boxes.name);
    gpu_capture_stop(&dumps.capture);
    if (code == 0) {
        record(&run, &boxes, &dumps);
        gpurt_writer_flush(writer, NULL);
        gpurt_writer_figures(writer, &sum);
        if (!o->quiet)
            summary(&boxes, o->output, &sum);
    }
    panic_hook_fini(&dumps.hook);
    stall_fini(&dumps.stall);
    gpu_capture_close(&dumps.capture);
    record_run_fini(&run);
    record_boxes_close(&boxes);
    if (code)
        return refuse_start(argv[0], code);
    if (boxes.sink_errors)
        gpurt_option_refuse(&program, "%s", boxes.err.text);
    return run.status;
}

int main(int argc, char **argv)
{
    record_options_t o = {.output = "gpurt.gplog", .level = 1};
    int operands, status = gpurt_option_parse(&program, argc, argv, &o, &operands);
    gpurt_writer_options_t wo = {.struct_size = sizeof wo};
    gpurt_writer_t *writer;
    gpurt_error_t err;

    if (status >= 0)
        return status;
    if (operands < 1)
        return gpurt_option_refuse(&program, "say which program to run");
    wo.append = o.append;
    wo.level = (int32_t)o.level;
    if (gpurt_writer_open(o.output, &wo, &writer, &err) != GPURT_OK)
        return gpurt_option_refuse(&program, "%s", err.text);
    status = run_and_record(argv + 1, &o, writer);
    if (gpurt_writer_close(writer, &err) != GPURT_OK)
        gpurt_option_refuse(&program, "%s", err.text);
    return status;
}
