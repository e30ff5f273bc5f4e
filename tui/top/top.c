/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-top - shows what kernels do: runs a program, looks at one that runs, or replays
 * a log. */
#include "gputable.h"
#include "gpuwords.h"
#include "handover.h"
#include "hosttime.h"
#include "injection.h"
#include "objecttable.h"
#include "option.h"
#include "reader.h"
#include "screen.h"
#include "top_batch.h"
#include "top_leave.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define SECOND_NS 1000000000ull
#define CODE_NS   (60 * SECOND_NS) /* for cuobjdump */
#define FOLDER_NS \
    (10 * SECOND_NS) /* likewise: the screen waits for it, and what was read stays */
enum {
    OWN_ERROR = LAUNCHEE_FAILED,
    HERTZ = 10
};

typedef struct top_options {
    const char *replay, *record, *output, *view, *filter, *color, *on_panic, *cupti,
        *budget, *code;
    uint64_t pid, pictures, delay_ns;
    bool batch, once, json, exit_at_end, play, ascii, gpu_core;
} top_options_t;

/* What it looks at, and what it makes of that: bits, as they stand in use_names. */
enum {
    PROGRAM = 1 << 0,
    REPLAY = 1 << 1,
    SCREEN = 1 << 2,
    SERIES = 1 << 3,
    PICTURES = 1 << 4,
    LIVE = 1 << 5
};
static const char *const use_names[] = {"a PROGRAM",
                                        "--replay FILE",
                                        "the screen",
                                        "several pictures (not -1)",
                                        "pictures (not --json)",
                                        "several pictures of what runs (not --replay)"};

#define FIELD(kind_, field_) \
    .kind = GPURT_OPTION_##kind_, .offset = offsetof(top_options_t, field_)
static const gpurt_option_t rows[] = {
    {.section = "What to look at",
     .letter = 'p',
     .name = "pid",
     .arg = "PID",
     FIELD(NUMBER, pid),
     .min = 1,
     .max = UINT32_MAX,
     .help = "a running process, with all its open devices (key p)"},
    {.letter = 'r',
     .name = "replay",
     .arg = "FILE",
     FIELD(STRING, replay),
     .help = "a log file; a growing one is followed"},
    {.name = "play",
     FIELD(FLAG, play),
     .uses = REPLAY,
     .help = "replay from the start (default: show the end)"},
    {.name = "record",
     .arg = "FILE",
     FIELD(STRING, record),
     .uses = PROGRAM,
     .help = "with a PROGRAM: also write its log to FILE, which must not exist or must be "
             "empty"},
    {.name = "cupti",
     .arg = "WORDS",
     FIELD(STRING, cupti),
     .uses = PROGRAM,
     .help =
         "GPU activity to watch: sampled (default: launches by kernel, what runs, source "
         "lines by samples; costs a launch about 1 us), full (each kernel and copy "
         "with its times; 1.3 us and more), or words of gpurt-record --cupti"},
    {.name = "budget",
     .arg = "PERCENT",
     FIELD(STRING, budget),
     .uses = PROGRAM,
     .help =
         "what watching may take of PROGRAM's time: launches are counted, and kernels, "
         "copies and fills recorded in windows of 200 ms, as often as that allows; "
         "totals are estimates (~). In place of --cupti, which may name graphs and waits"},
    {.section = "Screen",
     .letter = 'd',
     .name = "delay",
     .arg = "TIME",
     FIELD(SECONDS, delay_ns),
     .uses = SCREEN | LIVE,
     .help = "between two pictures (default 100ms, with -b 1s)"},
    {.letter = 'v',
     .name = "view",
     .arg = "NAME",
     FIELD(STRING, view),
     .uses = SCREEN | PICTURES,
     .help = "first view, with -b the printed one: " VIEW_LIST(
         VIEW_NAME) "or a table of the view gpu (kernels, calls, ranges, memory, pools), "
                    "or objects:CLASS"},
    {.letter = 'F',
     .name = "filter",
     .arg = "FILTER",
     FIELD(STRING, filter),
     .uses = SCREEN | PICTURES,
     .help = "show matching lines, as typed after /: words, !word, level>=warn, sm=7 or "
             "block=3; "
             "syntax in gpurt-log --help"},
    {.letter = 'x',
     .name = "exit",
     FIELD(FLAG, exit_at_end),
     .uses = PROGRAM,
     .help = "leave the screen when the program ends (default: stay until q)"},
    {.letter = 'C',
     .name = "color",
     .arg = "WHEN",
     FIELD(STRING, color),
     .uses = SCREEN,
     .help = "auto, always or never (default auto: NO_COLOR turns it off)"},
    {.name = "code",
     .arg = "FILE",
     FIELD(STRING, code),
     .uses = SCREEN,
     .help = "text of instructions (view 9, key d) out of FILE, the program, library or "
             "cubin that has the kernels; cuobjdump and nvdisasm of CUDA's toolkit read "
             "it before the screen comes"},
    {.name = "ascii",
     FIELD(FLAG, ascii),
     .uses = SCREEN | PICTURES,
     .help = "draw with ASCII only"},
    {.section = "Failures",
     .name = "gpu-core",
     FIELD(FLAG, gpu_core),
     .uses = PROGRAM,
     .help =
         "have the CUDA driver dump a failed GPU: it then ends PROGRAM with SIGABRT and "
         "leaves ./gpurt-PID.gpucore for gpurt-panic show; it misses a bad store right "
         "before a kernel's end"},
    {.name = "exec-on-panic",
     .arg = "CMD",
     FIELD(STRING, on_panic),
     .uses = PROGRAM,
     .help = "run CMD with /bin/sh when PROGRAM's device code panics or faults: once for "
             "each place in the source, 16 times at most, 10 seconds at most"},
    {.section = "Without a screen",
     .letter = 'b',
     .name = "batch",
     FIELD(FLAG, batch),
     .help = "print plain pictures; the default without a terminal"},
    {.letter = 'n',
     .name = "pictures",
     .arg = "N",
     FIELD(NUMBER, pictures),
     .uses = SERIES,
     .min = 1,
     .help =
         "number of pictures; implies -b (default: until the end); a replay spaces them "
         "equally"},
    {.letter = '1',
     .name = "once",
     FIELD(FLAG, once),
     .help = "print one picture a device: at the program's end, the log's end, or now"},
    {.letter = 'j',
     .name = "json",
     FIELD(FLAG, json),
     .help = "print JSON objects, one a line, instead of pictures, to standard output; "
             "PROGRAM then prints to standard error, unless -o names a file for JSON"},
    {.letter = 'o',
     .name = "output",
     .arg = "FILE",
     FIELD(STRING, output),
     .help = "print to FILE; implies -b (default: standard output, with a PROGRAM standard "
             "error)"},
    {0},
};

/* Made of the table that the screen's own help is made of. */
static char keys_text[4096];

static void keys_write(void)
{
    size_t used = 0;

    for (const key_row_t *k = key_rows; k->action != ACTION_NONE; k++)
        used += (size_t)snprintf(keys_text + used, sizeof keys_text - used, "%s  %-10s %s",
                                 used ? "\n" : "", k->keys, k->help);
}

static const gpurt_option_text_t texts[] = {
    {"SCREEN",
     "The screen is drawn on /dev/tty. PROGRAM's terminal output is kept, shown in "
     "a view of its own and printed after the screen closes; output to a file or a "
     "pipe is not touched. If PROGRAM reads the terminal, its input is empty, because "
     "gpurt-top reads the keys. It has a process group of its own. When the terminal hangs "
     "up, PROGRAM gets SIGHUP, and gpurt-top ends with it.\n\n"
     "Key q asks what to do with a running PROGRAM. With d it keeps running: "
     "gpurt-top ends with 0, and a process of it stays with PROGRAM. That process "
     "writes the log of --record, and PROGRAM's output to gpurt-PID.out. Without "
     "--record nothing is recorded from then on, and gpurt-drain -p PID can begin. "
     "SIGTERM ends that process and not PROGRAM."},
    {"KEYS", keys_text},
    {"EXIT STATUS",
     "PROGRAM's; 0 if it keeps running; 128 and the number of the signal that ended it; "
     "125 when "
     "gpurt-top itself failed, 126 when PROGRAM cannot be executed, 127 when "
     "there is none of that name. Without a PROGRAM: 0, and 125 where the log of a replay "
     "is "
     "damaged."},
    {"FIELDS",
     "A program with several devices open, or several processes, has an object for each of "
     "them, in the order in which they were opened. Objects of --json have: schema (1), "
     "state, status (once PROGRAM ended), program, "
     "pid, host, back_end, device, time_ns, first_ns, last_ns, records, dropped, panics, "
     "sites, rows, per_second, dropped_per_second, "
     "levels, losses, devices, site_list, panic_list; where they are known activity, "
     "objects (LOG_FORMAT.md in share/doc/gpurt), lines, lines_recent (as of gpurt-log "
     "lines --json; of "
     "the last two seconds) and lines_left_out. Times are nanoseconds since 1970, "
     "rates are of the last second."},
    {"ENVIRONMENT",
     "NO_COLOR, TERM, the locale, and COLUMNS and LINES of what is printed as usual. "
     "PROGRAM is started with GPURT_DRAIN "
     "set, by which gpurt_open finds its drainer, and with CUDA_INJECTION64_PATH, by "
     "which the CUDA driver loads the collector (GPURT_CUPTI, as --cupti). sampled needs "
     "each launch as it is made, so LD_PRELOAD names libgpurt-launch.so for PROGRAM. Its "
     "source lines, where counters are open to users, cost some 0.13 s as CUDA starts; "
     "'counted,running' leaves them out. What is drained is "
     "published in "
     "$XDG_RUNTIME_DIR/gpurt/PID (or /dev/shm/gpurt-UID/PID), a second device of the "
     "process in PID.1, readable by its user "
     "alone: there -p finds it. CMD of --exec-on-panic finds GPURT_PANIC_KIND (panic or "
     "fault), GPURT_PANIC_SITE and GPURT_PANIC_MESSAGE."},
    {"EXAMPLES", "  gpurt-top -- ./app --size 64\n"
                 "  gpurt-top --record run.gplog -- ./app\n"
                 "  gpurt-top -p 4711\n"
                 "  gpurt-top --replay run.gplog\n"
                 "  gpurt-top --once --json --replay run.gplog | jq .panics"},
    {0},
};

/* -n and -o are of what is printed, and so ask for it. */
static bool is_plain(const top_options_t *o)
{
    return o->batch || o->once || o->json || o->pictures || o->output;
}

static uint32_t use_find(const void *values, char *const *operands, int count)
{
    const top_options_t *o = values;

    (void)operands;
    return (count ? PROGRAM : 0) | (o->replay ? REPLAY : 0) |
           (!is_plain(o) ? SCREEN
                         : (o->once     ? 0
                            : o->replay ? SERIES
                                        : SERIES | LIVE) |
                               (o->json ? 0 : PICTURES));
}

static const gpurt_option_uses_t uses = {use_names, use_find};

static const gpurt_option_program_t program = {
    .name = "gpurt-top",
    .summary = "show GPU kernels, live or from a log",
    .synopsis = "[OPTION...] [--] [PROGRAM [ARG...]]",
    .description =
        "Runs PROGRAM and shows its kernels' messages, their places and rates, and "
        "failures. Or shows a running process, or replays a log file.",
    .options = rows,
    .texts = texts,
    .uses = &uses,
    .operand_ends = true,
    .bad_status = OWN_ERROR,
};

/* ---- starting ------------------------------------------------------------------------ */

/* A table of the GPU view has a name, too, and a class of objects. */
static bool view_named(const char *name, picture_t *p)
{
    for (int i = 0; i < VIEW_COUNT; i++)
        if (strcasecmp(name, picture_view((view_id_t)i)->name) == 0) {
            p->shown = (view_id_t)i;
            return true;
        }
    if (strncasecmp(name, "objects:", 8) == 0) {
        p->object_wanted = name + 8; /* which there are is known when a log is read */
        p->shown = VIEW_OBJECTS;
        return true;
    }
    if (!gputable_named(name, &p->table))
        return false;
    p->shown = VIEW_GPU;
    return true;
}

static bool color_named(const char *name, screen_color_t *color)
{
    static const char *const names[] = {"auto", "always", "never"};

    *color = SCREEN_COLOR_AUTO;
    for (int i = 0; name && i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            *color = (screen_color_t)i;
            return true;
        }
    return name == NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Returns: -1, or the status to exit with. */
static int picture_begin(top_t *t, const top_options_t *o, char *const *argv)
{
    picture_t *p = &t->picture;
    filter_error_t wrong;

    t->fresh = calloc(1, sizeof *t->fresh);
    t->held = calloc(1, sizeof *t->held);
    if (!t->fresh || !t->held)
        return gpurt_option_refuse(&program, "no memory");
    p->view = t->fresh;
    p->source = &t->source_text;
    if (o->code) {
        p->sass = t->sass = sasstext_read(
            o->code, NULL, sasstext_is_folder(o->code) ? FOLDER_NS : CODE_NS, t->sass_why);
        p->sass_why = t->sass_why[0] ? t->sass_why : NULL;
    }
    p->speed = 1;
    p->replay = o->replay != NULL;
    p->playing = o->play;
    p->hertz =
        o->delay_ns && o->delay_ns < SECOND_NS ? (uint32_t)(SECOND_NS / o->delay_ns) : 1;
    if (!o->delay_ns)
        p->hertz = HERTZ;
    p->hertz = p->hertz > 30 ? 30 : p->hertz;
    p->name = o->replay ? base_name(o->replay) : argv[0] ? base_name(argv[0]) : "process";
    p->log = o->record;
    p->launched = t->launched = argv[0] != NULL;
    t->exit_at_end = o->exit_at_end;
    if (o->filter && !filter_parse(&p->filter, o->filter, &wrong)) {
        gpurt_option_refuse(&program, "--filter: %s", wrong.why);
        filter_point(stderr, o->filter, &wrong);
        return program.bad_status;
    }
    if (o->view && !view_named(o->view, p))
        return gpurt_option_refuse(
            &program,
            "no view %s; there are " VIEW_LIST(
                VIEW_NAME) "of gpu kernels, calls, ranges, memory, pools, and "
                           "objects:CLASS",
            o->view);
    return -1;
}

/* Returns: -1, or the status to exit with. */
static int capture_begin(top_t *t)
{
    gpurt_error_t err;

    if (gpu_capture_open(&t->capture, &err) != GPURT_OK)
        return gpurt_option_refuse(&program, "%s", err.text);
    if (t->capture.set_by_user)
        return gpurt_option_refuse(&program, "--gpu-core: %s is set already",
                                   t->capture.set_by_user);
    return -1;
}

/* Returns: -1, or the status to exit with. handover: what PROGRAM is told, if there is
 * one. */
static int source_begin(top_t *t, const top_options_t *o, const char **handover)
{
    source_failures_t failures = {.capture = &t->capture, .command = o->on_panic};
    gpurt_error_t err = {0};
    gpurt_status_t st;

    if (o->replay)
        st = source_replay_open(o->replay, o->play, &t->source, &err);
    else if (o->pid)
        st = source_process_open((uint32_t)o->pid, &t->source, &err);
    else
        st = source_live_open(&failures, t->recording.writer, &t->source, handover, &err);
    if (st != GPURT_OK)
        return gpurt_option_refuse(&program, "%s", err.text);
    /* sums need no lines */
    if (o->replay && (o->view || !(o->batch || o->once || o->json)) &&
        logwindow_open(o->replay, &t->window, &err) != GPURT_OK)
        return gpurt_option_refuse(&program, "%s", err.text);
    if (o->replay && o->play)
        t->source->class->play(t->source, true, 1);
    return -1;
}

/* Whether somebody has named a log where a program is to be named. */
static bool is_log(const char *path)
{
    gpurt_log_t *log = NULL;

    if (gpurt_log_open(path, &log, NULL) != GPURT_OK)
        return false;
    gpurt_log_close(log);
    return true;
}

/* Returns: -1, or the status to exit with. */
static int program_begin(top_t *t, char *const *argv, const char *handover, bool screen,
                         bool to_error)
{
    launchee_plan_t plan = {.argv = argv,
                            .name = GPURT_HANDOVER_ENV,
                            .value = handover,
                            .output_to_error = to_error,
                            .own_group = screen,
                            .hold_terminal = screen};
    int code;

    if (screen) {
        int lines, columns;

        screen_size(&lines, &columns);
        plan.rows = (uint16_t)lines;
        plan.columns = (uint16_t)columns;
    }
    gpurt_injection_name();
    code = launchee_start(&t->child, &plan);
    if (code == 0) {
        if (t->child.output_fd >= 0)
            t->picture.output = &t->output;
        return -1;
    }
    screen_close();
    if (is_log(argv[0]))
        gpurt_option_refuse(&program, "%s is a log: gpurt-top --replay %s", argv[0],
                            argv[0]);
    else
        gpurt_option_refuse(&program, "%s: %s", argv[0], strerror(code));
    return launchee_refusal(code);
}

/* ---- the end ------------------------------------------------------------------------- */

/* The screen is gone: what was held is printed. */
static void held_print(top_t *t)
{
    if (t->output.written)
        output_print(&t->output, isatty(STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO);
    output_fini(&t->output);
}

/* A program that runs on, having been asked to end, is waited for, with its output going where
 * it would have gone. */
static int leave(top_t *t)
{
    while (t->launched && !t->child.ended)
        top_wait(t, -1, isatty(STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO, SECOND_NS);
    while (t->child.output_fd >= 0 && top_wait(t, -1, STDOUT_FILENO, 0))
        ;
    top_dumps_keep(t);
    if (t->launched)
        return launchee_status(&t->child);
    return t->child.stop_signal ? 128 + t->child.stop_signal : 0;
}

/* What the screen's last line said would be gone with it. All that the program left is
 * read before the log ends. Returns: the status to exit with. */
static int tell_end(top_t *t, int status)
{
    source_t *s = t->source;
    const gpurt_error_t *log_failure;

    if (t->launched) { /* a replay may be far from where it was sent */
        s->class->finish(s);
        s->class->refresh(s, t->fresh);
    }
    log_failure = s->log_failure.status ? &s->log_failure : NULL;
    if (s->problem.status && !log_failure)
        gpurt_option_refuse(&program, "%s", s->problem.text);
    if (t->picture.replay && s->problem.status == GPURT_E_DAMAGED && status == 0)
        status = OWN_ERROR;
    return recording_close(&t->recording, s->processes, false, log_failure) || status
               ? status
               : OWN_ERROR;
}

/* Which classes there are is known when all is read. A program that runs may make objects of that
 * class another time; a log has all that it ever has. Returns: the status to exit with. */
static int class_missing_tell(top_t *t)
{
    const picture_t *p = &t->picture;
    const gpurt_model_objects_t *all = &t->fresh->objects;
    char names[512] = "";
    size_t used = 0;

    if (!p->object_wanted || p->shown != VIEW_OBJECTS ||
        objecttable_wanted(all, p->object_wanted) >= 0)
        return 0;
    for (uint32_t i = 0; i < all->class_count && i < GPURT_MODEL_CLASSES; i++)
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     i ? ", " : "", all->classes[i].def.name);
    gpurt_option_refuse(&program, "no class %s was recorded; %s%s", p->object_wanted,
                        names[0] ? "there are " : "no object was", names);
    return p->replay ? program.bad_status : 0;
}

static void top_fini(top_t *t)
{
    if (t->source)
        t->source->class->close(t->source);
    logwindow_close(t->window);
    recording_drop(&t->recording);
    launchee_close(&t->child);
    gpu_capture_close(&t->capture);
    scrub_fini(&t->scrub);
    output_fini(&t->output);
    sourcetext_fini(&t->source_text);
    sasstext_close(t->sass);
    free(t->fresh);
    free(t->held);
}

/* Where there is a terminal, whoever asked for a screen is told why pictures come instead. Returns:
 * whether it is open. */
static bool screen_begin(const top_options_t *o, screen_color_t color)
{
    const char *problem = screen_open("/dev/tty", color);

    screen_ascii(o->ascii);
    if (problem && isatty(STDERR_FILENO))
        gpurt_option_refuse(&program, "no screen: %s", problem);
    return !problem;
}

/* Before the program starts: nobody would stay with it when that fails. Returns: -1, or the status
 * to exit with. */
static int output_begin(batch_plan_t *plan, const top_options_t *o)
{
    gpurt_error_t err;

    if (besidelog_open(&plan->output, o->output, o->replay, o->record, &err) != GPURT_OK)
        return gpurt_option_refuse(&program, "%s", err.text);
    return -1;
}

/* All that can fail before there is a screen or a program. Returns: -1, or the status to exit with. */
static int run_begin(top_t *t, const top_options_t *o, char **argv, batch_plan_t *plan,
                     const char **handover, screen_color_t *color)
{
    int status = picture_begin(t, o, argv);

    if (status < 0 && !color_named(o->color, color))
        status =
            gpurt_option_refuse(&program, "--color=%s: auto, always or never", o->color);
    if (status < 0 && o->record)
        status = recording_open(&t->recording, &program, o->record, NULL);
    if (status < 0 && o->gpu_core && argv[0])
        status = capture_begin(t);
    if (status < 0)
        status = source_begin(t, o, handover);
    if (status < 0 && o->output)
        status = output_begin(plan, o);
    return status;
}

/* Returns: the status to exit with. */
static int run(top_t *t, const top_options_t *o, char **argv, batch_plan_t *plan)
{
    bool plain = is_plain(o);
    const char *handover = NULL;
    screen_color_t color;
    int status = run_begin(t, o, argv, plan, &handover, &color), ended;

    if (status >= 0)
        return status;
    if (plain)
        screen_ascii(o->ascii);
    else
        plain = !screen_begin(o, color);
    if (argv[0]) {
        const bool to_error = batch_takes_stdout(plan, true);

        if (to_error)
            gpurt_option_refuse(&program,
                                "JSON goes to standard output, what %s prints there to "
                                "standard error; -o FILE writes JSON to FILE instead",
                                argv[0]);
        status = program_begin(t, argv, handover, !plain, to_error);
        gpu_capture_stop(&t->capture);
        if (status >= 0)
            return status;
    }
    if (plain) {
        status = batch_run(t, plan);
    } else {
        bool runs = top_screen(t) == TOP_END_LEAVE && t->child.pid;

        screen_close();
        held_print(t);
        launchee_signals(&t->child); /* it may have ended meanwhile */
        if (runs && t->child.pid)
            return top_leave(
                t, &(leave_plan_t){&program, t->picture.name, o->record, o->on_panic});
        status = 0;
    }
    ended = leave(t); /* of a program that failed its own status counts, as with a log */
    if (ended == 0 && status == 0 && plain)
        status = class_missing_tell(t);
    return tell_end(t, ended ? ended : status);
}

int main(int argc, char **argv)
{
    top_options_t o = {0};
    batch_plan_t plan;
    top_t t = {0};
    int operands, status;

    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* JSON wants points */
    keys_write();
    status = gpurt_option_parse(&program, argc, argv, &o, &operands);
    if (status >= 0)
        return status;
    if ((operands > 0) + (o.pid != 0) + (o.replay != NULL) != 1)
        return gpurt_option_refuse(&program,
                                   "say one of: a PROGRAM, -p PID, --replay FILE");
    status = gpuwords_check(&program, o.cupti);
    if (status == 0)
        status = gpuwords_budget(&program, o.budget, &o.cupti);
    if (status == 0 && operands)
        status = gpuwords_set(&program, o.cupti, "sampled");
    if (status)
        return status;
    if (launchee_open(&t.child) != 0)
        return gpurt_option_refuse(&program, "signals: %s", strerror(errno));
    plan = (batch_plan_t){.program = &program,
                          .json = o.json,
                          .once = o.once,
                          .view = o.view,
                          .pictures = o.pictures,
                          .delay_ns = o.delay_ns};
    status = gpurt_option_end(&program, run(&t, &o, argv + 1, &plan), OWN_ERROR);
    besidelog_drop(&plan.output);
    top_fini(&t);
    return status;
}
