/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt-record - runs an application and writes what it logs to a file. */
#include "again.h"
#include "exittext.h"
#include "fault_join.h"
#include "gpu_capture.h"
#include "gpuwords.h"
#include "handover.h"
#include "hosttime.h"
#include "injection.h"
#include "launchee.h"
#include "levelset.h"
#include "lives.h"
#include "record_attach.h"
#include "record_options.h"
#include "recording.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    OWN_ERROR = RECORD_FAILED,
    HEIRS_MS = 1000, /* how long a program that left others behind is given to open gpurt */
    HEIRS_STEP_MS = 5,
    DUMPS_STEP_MS = 200,
    CATCH_UP_ROUNDS = 64, /* without a row: by then every ring was looked at */
    FEW_ROWS = 256        /* a round of less is worth waiting, where nobody waits for it */
};
#define LOOK_NS           1000000ull
#define CATCH_UP_LEAST_NS 2000000ull
#define CATCH_UP_MOST_NS  200000000ull

static liveprint_to_t live; /* out NULL: nothing is printed */

/* A daemon outlives the process we started and opens its box after that. before: boxes seen
 * before it was started. */
static void record_late_comers(launchee_t *app, record_boxes_t *boxes, uint32_t before)
{
    const struct timespec step = {.tv_nsec = HEIRS_STEP_MS * 1000000L};

    for (int ms = 0; ms < HEIRS_MS && boxes->seen == before && launchee_has_heirs(app);
         ms += HEIRS_STEP_MS) {
        nanosleep(&step, NULL);
        record_boxes_accept(boxes);
    }
}

/* --print, --print-level. Returns: 0, or the status to exit with. */
static int print_begin(const record_options_t *o)
{
    uint32_t level = GPURT_LEVEL_NONE;

    if (!o->print && !o->print_level)
        return 0;
    if (o->print_level && !gpurt_level_find(o->print_level, &level))
        return gpurt_option_refuse(&record_program, "no level is called '%s'",
                                   o->print_level);
    return liveprint_open(&live, level) ? 0
                                        : gpurt_option_refuse(&record_program, "no memory");
}

/* ---- GPU core dumps ------------------------------------------------------------------ */
typedef struct dumps {
    gpu_capture_t capture;
    panic_hook_t hook;
    stall_t stall;
    const char *program_name, *output;
    uint64_t looked_ns;
    uint32_t asked; /* number of the silence that a dump was asked for last */
    uint32_t faults;
} dumps_t;

/* What a process wrote before its fault is read before that is joined: by its time the fault is known
 * to be later. Others go on writing. */
static void boxes_catch_up(record_boxes_t *boxes)
{
    uint64_t begin = gpurt_steady_ns(), now = begin;
    uint32_t quiet = 0;

    record_boxes_accept(boxes);
    while (record_boxes_count(boxes) && now - begin < CATCH_UP_MOST_NS &&
           (quiet < CATCH_UP_ROUNDS || now - begin < CATCH_UP_LEAST_NS)) {
        quiet = record_boxes_round(boxes) ? 0 : quiet + 1;
        now = gpurt_steady_ns();
    }
    record_boxes_settle(boxes);
}

static void dump_take(dumps_t *d, record_boxes_t *boxes, const char *path, pid_t pid)
{
    fault_joined_t joined;
    gplog_file_t about;
    gpurt_error_t err;

    boxes_catch_up(boxes);
    if (fault_join(boxes->writer, path,
                   record_boxes_about(boxes, (uint32_t)pid, &about) ? &about : NULL,
                   (uint32_t)pid, d->program_name, &d->hook, &joined, &err) != GPURT_OK)
        gpurt_option_refuse(&record_program, "GPU core dump of process %d: %s", (int)pid,
                            err.text);
    else if (joined.faults)
        gpurt_option_refuse(
            &record_program, "process %d: %s%s%s; see gpurt-panic show %s%s", (int)pid,
            joined.first, joined.where[0] ? " at " : "", joined.where, d->output,
            joined.kept ? "" : " (its dump is too large for a log)");
    d->faults += joined.faults;
    unlink(path);
}

static void dumps_take(dumps_t *d, record_boxes_t *boxes)
{
    char path[PATH_MAX];
    pid_t pid;

    while (gpu_capture_next(&d->capture, path, &pid))
        dump_take(d, boxes, path, pid);
}

static void dump_ask(dumps_t *d)
{
    if (gpu_capture_ask(&d->capture))
        fputs("gpurt-record: the driver was asked for a dump\n", stderr);
}

/* A dump ends the kernels: who waits is told before it is asked for. */
static void silence_look(dumps_t *d, record_boxes_t *boxes)
{
    uint32_t silence;

    if (!record_boxes_count(boxes))
        return;
    if (!stall_is_of_records(&d->stall) && record_boxes_kernels(boxes, d->capture.asking))
        dump_ask(d);
    if (stall_check(&d->stall, gpurt_steady_ns()))
        stall_print(&d->stall, record_program.name, stderr);
    silence = stall_silence(&d->stall);
    if (!silence || record_boxes_waits(boxes, silence) || d->asked == silence ||
        !stall_is_of_records(&d->stall))
        return;
    d->asked = silence;
    dump_ask(d);
}

static void dumps_look(dumps_t *d, record_boxes_t *boxes)
{
    uint64_t now = gpurt_steady_ns();

    panic_hook_poll(&d->hook);
    silence_look(d, boxes);
    if (!d->capture.folder[0] || now - d->looked_ns < DUMPS_STEP_MS * 1000000ull)
        return;
    d->looked_ns = now;
    dumps_take(d, boxes);
}

/* Signals and new boxes: asking costs as much as a round, so where there are boxes to read it
 * is done a thousand times a second. */
static void others_look(launchee_t *app, record_boxes_t *boxes, uint64_t *looked_ns)
{
    uint64_t now = gpurt_steady_ns();

    if (record_boxes_count(boxes) && now - *looked_ns < LOOK_NS)
        return;
    *looked_ns = now;
    launchee_signals(app);
    record_boxes_accept(boxes);
}

/* Until the application has ended and every box is read to its end. */
static void record(launchee_t *app, record_boxes_t *boxes, dumps_t *dumps)
{
    uint32_t before = boxes->seen;
    uint64_t looked_ns = 0;

    do {
        others_look(app, boxes, &looked_ns);
        if (record_boxes_round(boxes) < FEW_ROWS)
            record_boxes_rest(boxes);
        dumps_look(dumps, boxes);
    } while (!app->ended || record_boxes_count(boxes) > 0);
    record_boxes_accept(boxes); /* handed over with its last breath */
    record_late_comers(app, boxes, before);
    record_boxes_end(boxes);
    dumps_take(dumps, boxes);
}

/* What is done about failures, before the application starts. */
static void dumps_open(dumps_t *d, const record_options_t *o, gpurt_writer_t *writer)
{
    gpurt_error_t err;

    if (!panic_hook_init(&d->hook, o->on_panic, o->output))
        gpurt_option_refuse(&record_program, "--exec-on-panic: no memory");
    stall_init(&d->stall, o->hang_ns, gpurt_writer_dictionary(writer));
    if (o->gpu_core && (o->hang_ns ? gpu_capture_open_asking
                                   : gpu_capture_open)(&d->capture, &err) != GPURT_OK)
        gpurt_option_refuse(&record_program, "%s; goes on without GPU core dumps",
                            err.text);
    if (d->capture.set_by_user)
        gpurt_option_refuse(&record_program, "%s is set already: dumps stay where it says",
                            d->capture.set_by_user);
}

static void dumps_close(dumps_t *d)
{
    panic_hook_fini(&d->hook);
    stall_fini(&d->stall);
    gpu_capture_close(&d->capture);
}

/* ---- lives --------------------------------------------------------------------------- */
/* A run of the program and what is around it. */
typedef struct run {
    launchee_plan_t plan;
    launchee_t app;
    record_boxes_t boxes;
    dumps_t dumps;
    gpurt_writer_t *writer;
    again_t again;
} run_t;

static uint64_t panics_so_far(const run_t *r)
{
    gpurt_writer_figures_t sum;

    gpurt_writer_figures(r->writer, &sum);
    return sum.panics;
}

/* A log that takes no row says so at its end. */
static void life_mark(const run_t *r, const gpurt_life_t *life, bool begins)
{
    gpurt_dictionary_t *d = gpurt_writer_dictionary(r->writer);
    gpurt_life_row_t row;

    if (r->again.times)
        gpurt_writer_put(
            r->writer, (begins ? gpurt_life_begins : gpurt_life_ends)(d, life, &row), NULL);
}

/* One life from its begin to its end. Returns: 0, or errno where it could not begin. */
static int life_run(run_t *r, gpurt_life_t *life, again_end_t *end)
{
    uint64_t panics = panics_so_far(r), begin = gpurt_steady_ns();
    int code = launchee_start(&r->app, &r->plan);

    gpu_capture_stop(&r->dumps.capture);
    if (code)
        return code;
    life->number++;
    life->pid = (uint32_t)r->app.pid;
    life->begin_ns = gpurt_real_ns();
    life_mark(r, life, true);
    record(&r->app, &r->boxes, &r->dumps);
    life->end_ns = gpurt_real_ns();
    life->wait_status = r->app.wait_status;
    life_mark(r, life, false);
    gpurt_writer_flush(r->writer, NULL);
    *end = (again_end_t){.wait_status = r->app.wait_status,
                         .lived_ns = gpurt_steady_ns() - begin,
                         .panics = panics_so_far(r) - panics,
                         .asked = r->app.stop_signal != 0};
    return 0;
}

/* Returns: false when a signal asked us to stop meanwhile. */
static bool pause_between(run_t *r, uint64_t wait_ns)
{
    uint64_t until = gpurt_steady_ns() + wait_ns, now;

    while ((now = gpurt_steady_ns()) < until && !r->app.stop_signal) {
        struct pollfd signals = {r->app.signal_fd, POLLIN, 0};

        poll(&signals, 1, (int)((until - now) / 1000000 + 1));
        launchee_signals(&r->app);
        panic_hook_poll(&r->dumps.hook);
    }
    return !r->app.stop_signal;
}

/* Returns: 0, or errno where the program could not be started. */
static int lives_run(run_t *r)
{
    gpurt_life_t life = {0};
    again_end_t end;
    uint64_t wait_ns;
    int code;

    for (;;) {
        char text[48];

        code = life_run(r, &life, &end);
        if (code || !again_is_due(&r->again, &end, &wait_ns)) {
            if (!code && r->again.times && again_reason(&end))
                gpurt_option_refuse(&record_program,
                                    "%llu times in a row it failed; no more",
                                    (unsigned long long)r->again.in_a_row + 1);
            return code;
        }
        gpurt_exit_text(end.wait_status, text, sizeof text);
        gpurt_option_refuse(&record_program, "life %u: %s (%s); the next begins in %.1f s",
                            life.number, text, again_reason(&end), (double)wait_ns / 1e9);
        if (!pause_between(r, wait_ns) || !gpu_capture_again(&r->dumps.capture))
            return 0;
    }
}

/* A shell says nothing of a signal that ended somebody else's child. */
static void end_tell(const launchee_t *app, const char *name)
{
    char text[48];

    if (!WIFSIGNALED(app->wait_status) || app->stop_signal)
        return;
    gpurt_exit_text(app->wait_status, text, sizeof text);
    gpurt_option_refuse(&record_program, "%s: %s", name, text);
}

/* Returns: the status to exit with. */
static int run_and_record(char **argv, const record_options_t *o, recording_t *log)
{
    static run_t run;
    launchee_t *app = &run.app;
    record_boxes_t *boxes = &run.boxes;
    dumps_t *dumps = &run.dumps;
    gpurt_error_t err;
    bool whole;
    int code;

    run.plan = (launchee_plan_t){.argv = argv, .name = GPURT_HANDOVER_ENV, .adopt = true};
    run.writer = log->writer;
    run.again = o->again;
    *dumps = (dumps_t){.program_name = argv[0], .output = o->output};
    if (record_boxes_open(boxes, log->writer, o->spin, &err) != GPURT_OK)
        return gpurt_option_refuse(&record_program, "%s", err.text);
    dumps_open(dumps, o, log->writer);
    boxes->tap.hook = o->on_panic ? &dumps->hook : NULL;
    boxes->tap.sites = gpurt_writer_dictionary(log->writer);
    boxes->stall = o->hang_ns ? &dumps->stall : NULL;
    boxes->hang_ns = o->hang_ns;
    boxes->print = &live;
    boxes->teller = record_program.name;
    gpurt_injection_name();
    run.plan.value = boxes->lobby.name;
    code = launchee_open(app);
    if (code == 0)
        code = lives_run(&run);
    dumps_close(dumps);
    launchee_close(app);
    record_boxes_close(boxes);
    if (code) {
        gpurt_option_refuse(&record_program, "%s: %s", argv[0], strerror(code));
        return launchee_refusal(code);
    }
    end_tell(app, argv[0]);
    whole = recording_close(log, boxes->seen, o->quiet, boxes->unread ? &boxes->err : NULL);
    code = launchee_status(app);
    return code == 0 && !whole ? OWN_ERROR : code;
}

/* Returns: the status to exit with. */
static int attach_and_record(const record_options_t *o, recording_t *log)
{
    static record_boxes_t boxes;
    gpurt_error_t err;
    gpurt_status_t st;
    int held;

    if (record_boxes_open(&boxes, log->writer, o->spin, &err) != GPURT_OK)
        return gpurt_option_refuse(&record_program, "%s", err.text);
    boxes.teller = record_program.name;
    boxes.print = &live;
    st = record_attach(&boxes, (uint32_t)o->pid, &held, &err);
    record_boxes_close(&boxes);
    if (held >= 0)
        close(held);
    if (st != GPURT_OK)
        return gpurt_option_refuse(&record_program, "%s", err.text);
    log->joined = true;
    return recording_close(log, boxes.seen, o->quiet, boxes.unread ? &boxes.err : NULL)
               ? 0
               : OWN_ERROR;
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

/* Returns: 0, or the status to exit with. */
static int attach_check(const record_options_t *o)
{
    const char *words = o->cupti ? o->cupti : getenv("GPURT_CUPTI");

    if (words && strcmp(words, "off") == 0)
        return gpurt_option_refuse(&record_program, "%s: there is nothing to record",
                                   o->cupti ? "--cupti off" : "GPURT_CUPTI=off");
    return 0;
}

int main(int argc, char **argv)
{
    record_options_t o = {.output = "gpurt.gplog", .level = 1};
    int operands, status = gpurt_option_parse(&record_program, argc, argv, &o, &operands);
    gpurt_writer_options_t wo = {.struct_size = sizeof wo};
    recording_t log = {0};
    gpurt_error_t err;

    if (status >= 0)
        return status;
    if ((operands < 1) == (o.pid == 0))
        return gpurt_option_refuse(&record_program,
                                   o.pid ? "say a program to run, or -p, not both"
                                         : "say which program to run");
    if (o.rules && rules_hand_on(o.rules, &err) != GPURT_OK)
        return gpurt_option_refuse(&record_program, "%s", err.text);
    status = gpuwords_check(&record_program, o.cupti);
    if (!status)
        status = gpuwords_budget(&record_program, o.budget, &o.cupti);
    if (!status && o.pid)
        status = attach_check(&o);
    if (!status)
        status = print_begin(&o);
    if (!status) /* a hang is explained by what runs, and where */
        status = gpuwords_set(&record_program, o.cupti, o.hang_ns ? "live" : NULL);
    if (status)
        return status;
    if (o.launch_sites && setenv("GPURT_LAUNCH_SITES", "1", 1) != 0)
        return gpurt_option_refuse(&record_program, "environment: %s", strerror(errno));
    wo.append = o.append;
    wo.level = (int32_t)o.level;
    status = recording_open(&log, &record_program, o.output, &wo);
    if (status < 0)
        status = o.pid ? attach_and_record(&o, &log) : run_and_record(argv + 1, &o, &log);
    recording_drop(&log);
    liveprint_close(&live);
    return gpurt_option_end(&record_program, status, OWN_ERROR);
}
